"""Configuration of the site: `make docs` builds it into build/site."""

import os
import re
import types
import urllib.request
from datetime import date
from importlib.metadata import version as installed
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

HERE = Path(__file__).parent

project = "hedgerow"
author = "the hedgerow developers"
project_copyright = f"{date.today():%Y}, {author}"
version = release = installed("hedgerow")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["README.md", "gallery/**.ipynb", "gallery/**.py", "gallery/**.md5", "inventories"]
templates_path = ["templates"]
root_doc = "index"
smartquotes = False  # values such as "gini" and --options are copied from the pages

# Pages in Markdown.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The reference.
autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
bibtex_reference_style = "author_year"

# The gallery.
os.environ.setdefault("MPLBACKEND", "agg")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/gallery/{part}" for part in ("deciding", "reading", "rules", "boundary", "errors", "around")
    ],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("hedgerow",),
    "reference_url": {"hedgerow": None},
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 10,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "parallel": 2,
}

html_math_renderer = "mathml"  # browsers know it: equations need no script and no network
toc_object_entries_show_parents = "hide"
html_theme = "pydata_sphinx_theme"
html_title = f"hedgerow {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": []}
html_show_sourcelink = False
html_context = {"default_mode": "auto"}

# Names of other libraries become links if their inventories are at hand: in docs/inventories (NAME.inv), or on the
# network. A build without either has the same pages without these links.
_INVENTORIES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "pandas": "https://pandas.pydata.org/docs/",
    "sklearn": "https://scikit-learn.org/stable/",
    "matplotlib": "https://matplotlib.org/stable/",
}


def _inventory(name: str, url: str) -> tuple[str, str | None] | None:
    kept = HERE / "inventories" / f"{name}.inv"
    if kept.exists():
        return url, str(kept)
    if os.environ.get("HEDGEROW_DOCS_OFFLINE"):
        return None
    try:
        with urllib.request.urlopen(f"{url}objects.inv", timeout=2):
            return url, None
    except OSError:
        return None


intersphinx_mapping = {
    name: found for name, url in _INVENTORIES.items() if (found := _inventory(name, url)) is not None
}

_BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType)

# Pages of the repository that stand outside docs/ are included in pages of the site.
_ELSEWHERE = {
    "../benchmarks/README.md": "benchmarks.md",
    "../CHANGELOG.md": "changelog.md",
    "../README.md": "index.md",
    "README.md": "index.md",
}


def _links_into_the_site(app, docname, source):
    """Links between files of the repository become links between pages of the site."""
    del app, docname
    for outside, page in _ELSEWHERE.items():
        source[0] = source[0].replace(f"]({outside}", f"]({page}")


def _pages_not_listed(app, docname, source):
    """List pages that no table of contents names at the end of the guide: a new page needs no entry to be found."""
    del app
    if docname == "guide":
        listed = "\n".join(page.read_text(encoding="utf-8") for page in HERE.rglob("*.md"))
        pages = {page.stem for page in HERE.glob("*.md")} - {"README", "index"}
        rest = sorted(page for page in pages if not re.search(rf"^{page}$", listed, re.MULTILINE))
        if rest:
            source[0] += "\n```{toctree}\n:maxdepth: 1\n:caption: More\n\n" + "\n".join(rest) + "\n```\n"


def _include_links(app, relative_path, parent_docname, content):
    """The same in included files: they link to docs/ from where they stand."""
    del app, relative_path, parent_docname
    content[0] = re.sub(r"\]\((?:\.\./)?docs/", "](", content[0])


def _skip(app, what, name, member, skip, options):
    """Leave out what scikit-learn generates for metadata routing, and the methods of int, str and tuple."""
    del app, what, options
    generated = re.fullmatch(r"set_\w+_request|get_metadata_routing", name)
    built_in = isinstance(member, _BUILT_IN) or getattr(member, "__module__", None) == "enum"
    return True if generated or built_in else skip


def _as_rest(app, what, name, obj, options, lines):
    """Keep the words of references to scikit-learn's guide in inherited docstrings, and bars as bars in ours."""
    del app, what, name, options
    if str(getattr(obj, "__module__", "")).startswith("sklearn."):
        lines[:] = [re.sub(r":ref:`([^`<]+?)\s*<[^`>]+>`", r"\1", line) for line in lines]
        return
    example = False
    for number, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:  # |x| is an absolute value, no substitution of reStructuredText
            lines[number] = "``".join(
                part if inside % 2 else re.sub(r"(?<!\\)\|", r"\|", part)
                for inside, part in enumerate(line.split("``"))
            )


def _remove_pages_of_names_that_are_gone(app, config):
    """Remove generated pages of the reference that no page lists any more: they would be warnings."""
    del app, config
    listed = set()
    for page in (HERE / "reference").glob("*.md"):
        for module, names in re.findall(r"\.\. currentmodule:: (\S+)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            listed |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", names, re.MULTILINE)}
    for page in (HERE / "reference" / "generated").glob("*.rst"):
        if page.stem not in listed:
            page.unlink()


def _inline_equation(translator, node):
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _equation(translator, node):
    found = tex2mathml(node.astext()).replace("<math ", '<math display="block" ', 1)
    translator.body.append(f'<div class="math">{found}</div>')
    raise SkipNode


def setup(app):
    """Connect the functions above."""
    app.add_html_math_renderer("mathml", (_inline_equation, None), (_equation, None))
    app.connect("config-inited", _remove_pages_of_names_that_are_gone)
    app.connect("source-read", _links_into_the_site)
    app.connect("source-read", _pages_not_listed)
    app.connect("include-read", _include_links)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _as_rest)
