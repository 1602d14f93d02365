"""Columns of a table: what they hold, how their values are spread, and what a reader should be warned of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import TreeClassifier, TreeRegressor
from hedgerow.data.columns import Column, Kind
from hedgerow.report.numbers import rounded, to_label

__all__ = ["describe_columns"]

Floats = NDArray[np.float64]

_BINS = 18
_MOST_CATEGORIES = 12  # that are drawn
_MOST_CLASSES = 8  # by which bars are divided
_MOST_ROWS = 4000  # that a column is tried alone on
_TELLS_ALL = 0.97  # share of the errors of guessing that a column alone avoids
_LIKE_AN_IDENTIFIER = 0.9  # share of rows with a category of their own
_LEAST_ROWS = 20  # for warnings about identifiers and leaks
_SEED = 0


def describe_columns(
    rows: Floats, columns: Sequence[Column], truth: NDArray[Any], n_classes: int
) -> list[dict[str, Any]]:
    """Describe the columns of converted rows, (n, n_columns).

    `truth` are class codes, or numbers where `n_classes` is 0. Every column is also tried alone: the share of the
    errors of guessing that a small tree on it, or a table of its categories, avoids on the other half of at most 4,000
    rows.
    """
    alone = _tell_alone(rows, columns, truth, n_classes)
    stacked = truth if 0 < n_classes <= _MOST_CLASSES else None
    return [
        _describe(column, rows[:, j], stacked, n_classes if stacked is not None else 1, alone[j])
        for j, column in enumerate(columns)
    ]


def _describe(column: Column, values: Floats, codes: Any, n_parts: int, alone: float) -> dict[str, Any]:
    present = ~np.isnan(values)
    known = values[present]
    parts = np.zeros(len(known), np.intp) if codes is None else codes[present]
    found: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind.value,
        "missing": int(len(values) - len(known)),
        "distinct": len(np.unique(known)),
        "alone": rounded(alone),
    }
    if column.categories:
        found |= _categories(column, known.astype(np.intp), parts, n_parts)
    elif len(known):
        found |= _numbers(known, parts, n_parts)
    return found | {"warnings": _warnings(column, len(values), known, alone)}


def _numbers(known: Floats, parts: NDArray[np.intp], n_parts: int) -> dict[str, Any]:
    quantiles = np.quantile(known, [0, 0.25, 0.5, 0.75, 1])
    low, high = float(quantiles[0]), float(quantiles[-1])
    if high == low:
        edges = np.array([low, high])
        bins = np.zeros(len(known), np.intp)
    else:
        whole = bool((known == np.round(known)).all()) and high - low < _BINS
        edges = np.arange(low - 0.5, high + 1) if whole else np.linspace(low, high, _BINS + 1)
        bins = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(bins * n_parts + parts, minlength=(len(edges) - 1) * n_parts)
    return {
        "quantiles": [rounded(value) for value in quantiles],
        "mean": rounded(float(known.mean())),
        "edges": [rounded(edge) for edge in edges],
        "counts": counts.reshape(-1, n_parts).tolist(),
    }


def _categories(column: Column, codes: NDArray[np.intp], parts: NDArray[np.intp], n_parts: int) -> dict[str, Any]:
    n_categories = len(column.categories)
    counts = np.bincount(codes * n_parts + parts, minlength=n_categories * n_parts).reshape(-1, n_parts)
    order = np.arange(n_categories)
    if column.kind == Kind.NOMINAL:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
    shown, others = order[:_MOST_CATEGORIES], order[_MOST_CATEGORIES:]
    found: dict[str, Any] = {
        "categories": [to_label(column.categories[code]) for code in shown],
        "counts": counts[shown].tolist(),
    }
    if len(others):
        found |= {"others": len(others), "other_counts": counts[others].sum(axis=0).tolist()}
    return found


def _warnings(column: Column, n_rows: int, known: Floats, alone: float) -> list[dict[str, str]]:
    found = []
    distinct = len(np.unique(known))
    if not len(known):
        found.append(("empty", "has no values"))
    elif distinct == 1:
        found.append(("constant", "has one value only: it says nothing"))
    if len(known) < n_rows / 2 and len(known):
        found.append(("missing", f"has no value in {1 - len(known) / n_rows:.0%} of the rows"))
    if n_rows >= _LEAST_ROWS and column.kind == Kind.NOMINAL and distinct > _LIKE_AN_IDENTIFIER * n_rows:
        found.append(("identifier", "has a value of its own in nearly every row: an identifier?"))
    if n_rows >= _LEAST_ROWS and alone >= _TELLS_ALL:
        text = (
            f"alone avoids {alone:.1%} of the errors of guessing: is it made from the target, or known only after it?"
        )
        found.append(("leak", text))
    return [{"kind": kind, "text": text} for kind, text in found]


# --- One column at a time -----------------------------------------------------------------------------------


def _tell_alone(rows: Floats, columns: Sequence[Column], truth: NDArray[Any], n_classes: int) -> list[float]:
    """Share of the errors of guessing that each column alone avoids; 0 where that is not defined."""
    order = np.random.default_rng(_SEED).permutation(len(rows))[:_MOST_ROWS]
    fit, new = order[::2], order[1::2]
    guessed = _guessing_error(truth[fit], truth[new], n_classes) if len(new) else 0.0
    if not guessed > 0:
        return [0.0] * len(columns)
    shares = []
    for j, column in enumerate(columns):
        values = rows[:, [j]]
        if np.isnan(values[fit]).all() or (n_classes and len(np.unique(truth[fit])) < 2):
            shares.append(0.0)
            continue
        if column.kind == Kind.NOMINAL:
            answers = _by_category(values[:, 0], truth, fit, new, n_classes)
        else:
            kind: Any = TreeClassifier if n_classes else TreeRegressor
            tree = kind(max_leaf_nodes=max(8, 2 * n_classes), min_samples_leaf=3)
            answers = tree.fit(values[fit], truth[fit]).predict(values[new])
        wrong = np.mean(answers != truth[new]) if n_classes else np.mean((answers - truth[new]) ** 2)
        shares.append(max(0.0, 1.0 - float(wrong) / guessed))
    return shares


def _by_category(
    values: Floats, truth: NDArray[Any], fit: NDArray[np.intp], new: NDArray[np.intp], n_classes: int
) -> NDArray[Any]:
    """Most frequent class, or mean, of each category, with missing values as one; that of all rows for a new one."""
    codes = np.unique(values, return_inverse=True)[1]
    n_codes = int(codes.max()) + 1
    if n_classes:
        counts = np.bincount(codes[fit] * n_classes + truth[fit], minlength=n_codes * n_classes)
        counts = counts.reshape(n_codes, n_classes)
        return np.where(counts.any(axis=1), counts.argmax(axis=1), counts.sum(axis=0).argmax())[codes[new]]
    n_rows, sums = np.bincount(codes[fit], minlength=n_codes), np.bincount(codes[fit], truth[fit], minlength=n_codes)
    found: Floats = np.where(n_rows > 0, sums / np.maximum(n_rows, 1), truth[fit].mean())[codes[new]]
    return found


def _guessing_error(fit: NDArray[Any], new: NDArray[Any], n_classes: int) -> float:
    if n_classes:
        return float(np.mean(new != np.argmax(np.bincount(fit))))
    return float(np.mean((new - fit.mean()) ** 2))
