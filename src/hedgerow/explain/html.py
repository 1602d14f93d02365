"""Explanations as HTML for notebooks: no scripts, the page's own colours, names escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.explain.reasons.record import ReasonForDoubt, Reasons
from hedgerow.forest.names import number_text

__all__ = ["explanation_html", "explanations_html"]

_MOST_ROWS = 20

# Text keeps the colour of the page; the bars have one that both light and dark pages show.
_STYLE = (
    "<style>.hedgerow-why{font:13px/1.5 system-ui,sans-serif;border-collapse:collapse}"
    ".hedgerow-why th,.hedgerow-why td{padding:2px 10px;text-align:left;vertical-align:top;"
    "border-bottom:1px solid rgba(128,128,128,.3);background:none}"
    ".hedgerow-why .bar{display:inline-block;height:.7em;margin-right:6px;background:#3b82c4;border-radius:2px}"
    ".hedgerow-why .n{font-variant-numeric:tabular-nums;text-align:right}"
    ".hedgerow-said{font:13px/1.5 ui-monospace,monospace;white-space:pre-wrap;margin:0 0 6px}</style>"
)


def explanations_html(
    answers: NDArray[Any], sets: NDArray[np.bool_] | None, classes: NDArray[Any] | None, reasons: Reasons
) -> str:
    """Table of the first rows: answer, doubt, and the shares of the reasons as bars."""
    n = len(reasons)
    lines = [_STYLE, '<table class="hedgerow-why"><thead><tr><th>row</th><th>answer</th>']
    lines += ["<th>set</th>"] if sets is not None else []
    lines.append("<th>doubt</th><th>reasons</th></tr></thead><tbody>")
    for i in range(min(n, _MOST_ROWS)):
        lines.append(f'<tr><td class="n">{i}</td><td>{_text(answers[i])}</td>')
        if sets is not None and classes is not None:
            lines.append(f"<td>{', '.join(map(_text, classes[sets[i]].tolist()))}</td>")
        lines.append(f'<td class="n">{reasons.doubt[i]:.3g}</td><td>{_bars(reasons.of_row(i))}</td></tr>')
    lines.append("</tbody></table>")
    if n > _MOST_ROWS:
        lines.append(f"<p>{n - _MOST_ROWS} more rows</p>")
    return "".join(lines)


def explanation_html(text: str, why: Sequence[ReasonForDoubt]) -> str:
    """The text of an explanation, and a table of its reasons."""
    lines = [_STYLE, f'<pre class="hedgerow-said">{escape(text)}</pre>']
    if why:
        lines.append('<table class="hedgerow-why"><tbody>')
        lines += [
            f"<tr><td>{_bars({one.name: one.share})}</td><td>{escape(one.text)}.<br>{escape(one.remedy)}.</td></tr>"
            for one in why
        ]
        lines.append("</tbody></table>")
    return "".join(lines)


def _bars(shares: Mapping[str, float]) -> str:
    return "<br>".join(
        f'<span class="bar" style="width:{80 * share:.0f}px"></span>{escape(name)} {share:.0%}'
        for name, share in shares.items()
    )


def _text(value: Any) -> str:
    return escape(number_text(float(value)) if isinstance(value, float | np.floating) else printable(value))
