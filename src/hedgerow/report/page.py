"""The page: templates, scripts and styles put together, under a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from hedgerow.drawing.palette import blend, class_color
from hedgerow.scoring.metric_table import METRICS

__all__ = ["render", "script_data"]

# Classic scripts in this order share one namespace: modules within a page could not import each other.
_SCRIPTS = (
    *("dom.js", "tooltip.js", "charts.js", "columns.js", "quality.js", "groups.js", "tree.js", "rows.js"),
    *("walker.js", "whatif.js", "page.js"),
)
_IN_UNITS = {metric.name: metric.in_units for metric in METRICS}
_LIGHTER = 0.22  # share of white in the colours of classes on a dark page
_STYLES = ("page.css", "whatif.css")
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render(figures: dict[str, Any], details: dict[str, Any], whatif: dict[str, Any] | None) -> str:
    """Return the whole document. Its policy names the hashes of its own script and style and allows nothing else."""
    try:
        import jinja2
    except ImportError as absent:
        raise ImportError("reports need jinja2: pip install 'hedgerow[report]'") from absent
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hedgerow.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": _percent, "number": _number, "score": _score, "counted": _counted}
    safe = environment.filters["safe"]
    script = "\n".join(filter(None, map(_asset, _SCRIPTS)))
    style = "\n".join([*filter(None, map(_asset, _STYLES)), _class_colors(len(figures["classes"]))])
    return environment.get_template("page.html.j2").render(
        figures=figures,
        sentence=figures["headline"]["sentence"].replace(" %", "\u00a0%"),
        details=details,
        best_of=_best_scores(figures["models"]),
        version=version("hedgerow"),
        policy=_policy(script, style),
        script=safe(script),
        style=safe(style),
        data=safe(script_data({"figures": figures, **details})),
        whatif=None if whatif is None else safe(script_data(whatif)),
    )


def script_data(content: Any) -> str:
    """JSON for a script element: no character of it can end the element or open a comment.

    >>> script_data({"name": "</script><!--"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003c!--"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _asset(name: str) -> str:
    found = files("hedgerow.report") / "assets" / name
    return found.read_text(encoding="utf-8") if found.is_file() else ""


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _best_scores(models: list[dict[str, Any]]) -> dict[str, Any]:
    """The best score of each metric among the models."""
    better = {metric.name: metric.better for metric in METRICS}
    found: dict[str, Any] = {}
    for name, sign in better.items():
        scores = [model["scores"][name] for model in models if name in model["scores"]]
        known = [score for score in scores if score["value"] is not None]
        found[name] = max(known, key=lambda score: sign * score["value"], default=None)
    return found


def _class_colors(n_classes: int) -> str:
    """Rules that give the classes their colours; on a dark page all are lightened a little."""
    light = "".join(f"--class-{i}:{class_color(i)};" for i in range(n_classes))
    dark = "".join(f"--class-{i}:{blend(class_color(i), '#ffffff', _LIGHTER)};" for i in range(n_classes))
    named = "".join(f".c{i}{{--c:var(--class-{i})}}" for i in range(n_classes))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{named}"


# --- Filters of the templates ---------------------------------------------------------------------------------


def _percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}\u00a0%"


def _number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits, and thousands apart."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    short = float(f"{value:.{digits}g}")
    return f"{short:,.0f}" if abs(short) >= 10**digits else f"{short:.{digits}g}"


def _score(value: float | None, metric: str) -> str:
    """A score with three decimals, or in the units of the target with four significant digits."""
    return _number(value) if _IN_UNITS[metric] or value is None else f"{value:.3f}"


def _counted(n: int, noun: str, plural: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
