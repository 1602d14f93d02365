"""Reasons for doubt about one row, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.explain.reached_leaves import ClassLeaf
from hedgerow.explain.records import FEW_ROWS, say
from hedgerow.explain.row_paths import RowPaths
from hedgerow.explain.sentences import listed
from hedgerow.forest.names import number_text

__all__ = ["doubt_of_leaf", "doubt_of_mixture", "doubt_of_number", "doubt_of_set", "doubt_of_spread", "doubt_of_votes"]

Floats = NDArray[np.float64]


def doubt_of_set(allowed: tuple[Any, ...] | None) -> list[str]:
    if allowed is None or len(allowed) == 1:
        return []
    return [f"the evidence does not tell {listed(list(map(printable, allowed)))} apart"]


def doubt_of_leaf(counts: Floats, code: int) -> list[str]:
    total, other = float(counts.sum()), float(counts.sum() - counts[code])
    if total == 0:
        return ["no training row reached this leaf, and the answer is that of its parent node"]
    reasons = []
    if other > 0:
        reasons.append(f"{number_text(other)} of {number_text(total)} rows in its leaf are of another class")
    if total < FEW_ROWS:
        reasons.append(f"its leaf has only {number_text(total)} {'row' if total == 1 else 'rows'}")
    return reasons


def doubt_of_mixture(leaves: tuple[ClassLeaf, ...], code: int, labels: tuple[Any, ...]) -> list[str]:
    otherwise = sum(leaf.weight for leaf in leaves if int(np.argmax(leaf.probabilities or leaf.counts)) != code)
    if otherwise > 0:
        return [f"{otherwise:.0%} of it is in leaves where another class is more probable"]
    return [f"in all its leaves {printable(labels[code])} is the most probable class"]


def doubt_of_votes(votes: NDArray[np.intp], code: int, labels: tuple[Any, ...], counts: Floats) -> list[str]:
    n_trees, n_for = int(votes.sum()), int(votes[code])
    other = 1.0 - float(counts[code] / counts.sum()) if counts.sum() > 0 else 0.0
    reasons = []
    if n_for < n_trees:
        others = np.where(np.arange(len(votes)) == code, 0, votes)
        rival = printable(labels[int(np.argmax(others))])
        one_rival = np.count_nonzero(others) == 1
        said = f"{say(n_trees - n_for)} {rival}" if one_rival else f"say otherwise, most of them {rival}"
        reasons.append(f"{n_trees - n_for} of {n_trees} trees {said}")
    elif other > 0:
        reasons.append(f"all trees agree, but {other:.0%} of the rows in their leaves are of another class")
    return reasons


def doubt_of_number(means: Floats, within: float, n_rows: Floats, n_leaves: int) -> list[str]:
    if n_leaves > 1:
        return [f"within its leaves ± {_rounded(within)}"]
    if len(means) == 1:
        few = [f"its leaf has only {number_text(n_rows[0])} {'row' if n_rows[0] == 1 else 'rows'}"]
        return [f"within its leaf ± {_rounded(within)}", *(few if n_rows[0] < FEW_ROWS else [])]
    return [f"between trees ± {_rounded(float(means.std()))}, within leaves ± {_rounded(within)}"]


def _rounded(value: float) -> str:
    """Three significant digits, with separators of thousands: "63,300", "0.0123"."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if 1000 <= float(text) < 1e9 else text


def doubt_of_spread(row_paths: RowPaths) -> list[str]:
    reasons = []
    if len(row_paths.leaves) > 1:
        reasons.append(f"it is spread over {len(row_paths.leaves)} leaves")
    if row_paths.missing:
        reasons.append(f"missing or new: {listed(list(row_paths.missing))}")
    return reasons
