"""Importances of columns as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable

__all__ = ["importance_html"]

_MOST = 10
_WIDTH = 160  # pixels of the longest bar


def importance_html(names: Sequence[str], importances: NDArray[np.float64]) -> str:
    """Table of the columns that gain most, with bars in a colour that light and dark pages show."""
    order = np.argsort(-importances, kind="stable")[:_MOST]
    most = max(float(importances[order[0]]), np.finfo(float).tiny)
    lines = [
        f'<tr><td style="text-align:left">{escape(printable(names[j]))}</td><td style="text-align:left">'
        f'<span style="display:inline-block;height:.7em;width:{_WIDTH * max(float(importances[j]), 0.0) / most:.0f}px;'
        f'margin-right:6px;background:#3b82c4;border-radius:2px"></span>{importances[j]:.3f}</td></tr>'
        for j in order.tolist()
    ]
    others = len(names) - len(order)
    rest = f"<tr><td colspan=2>and {others:,} others</td></tr>" if others else ""
    head = "<thead><tr><th>column</th><th>importance</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(lines)}{rest}</tbody></table>"
