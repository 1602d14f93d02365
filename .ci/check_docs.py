"""Checks the built site: links within it that lead nowhere, and public names without a page of the reference."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

import hedgerow

# Packages whose names are those of others: homes that names had, and the command line, which has a page of its own.
NOT_DOCUMENTED_BY_NAME = {"adapt", "building", "cli", "estimators", "onnx_export", "probability"}


class Page(HTMLParser):
    """Anchors of a page, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids, and the targets of links, pictures and styles."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name == ("href" if tag in ("a", "link") else "src") and value:
                self.links.add(value)


def dead_links(site: Path) -> Iterator[str]:
    """Yield every link to a file or an anchor that the site does not have."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(site)}: {link}: no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(site)}: {link}: no such anchor"


def names_without_page(site: Path) -> Iterator[str]:
    """Yield every public name that the inventory of the site does not list."""
    listed = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    documented = {name for kind, entries in listed.items() if kind.startswith("py:") for name in entries}
    things = {id(_thing(name)) for name in documented}
    packages = [found.name for found in pkgutil.iter_modules(hedgerow.__path__) if not found.name.startswith("_")]
    for package in ["", *sorted(set(packages) - NOT_DOCUMENTED_BY_NAME)]:
        module = importlib.import_module(f"hedgerow.{package}".rstrip("."))
        for name in getattr(module, "__all__", []):
            full = f"{module.__name__}.{name}"
            if not name.startswith("__") and full not in documented and id(getattr(module, name)) not in things:
                yield f"{full}: no page in docs/reference"


def _thing(name: str) -> object:
    home, _, own = name.rpartition(".")
    try:
        return getattr(importlib.import_module(home), own)
    except (AttributeError, ImportError, ValueError):  # a method, or an attribute
        return None


def main(site: Path) -> int:
    """Print every fault; the exit status says whether there was one."""
    faults = [*dead_links(site), *names_without_page(site)]
    print("\n".join(faults), file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
