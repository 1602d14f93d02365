"""Answers about rows by models that were fitted without them: folds, and parts of the arguments of `fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_whole, is_whole
from hedgerow.estimators.fitting.held_out import select

__all__ = ["answer_by_folds", "hold_out_folds", "hold_out_rows", "part_of_params"]

Bools = NDArray[np.bool_]


def hold_out_folds(cv: Any, X: Any, y: NDArray[Any], strata: NDArray[np.int32] | None, seed: int) -> Iterator[Bools]:
    """Which rows each fold holds out. `cv` is a number of folds, or a splitter of scikit-learn.

    For a number, shuffled rows are dealt to the folds in turn, those of each stratum one after the other, so that folds
    have the same share of each as nearly as can be.
    """
    n_rows = len(y)
    if not is_whole(cv):
        from sklearn.model_selection import check_cv  # a quarter of the time that importing estimators takes

        for _, held_out in check_cv(cv).split(X, y):
            mask = np.zeros(n_rows, dtype=bool)
            mask[held_out] = True
            yield mask
        return
    n_folds = _check_n_folds(cv, n_rows)
    order = np.random.default_rng(seed).permutation(n_rows)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(n_rows, dtype=np.intp)
    fold[order] = np.arange(n_rows) % n_folds
    for number in range(n_folds):
        yield fold == number


def hold_out_rows(n_held_out: int, strata: NDArray[np.int32] | None, n_rows: int, seed: int) -> Bools:
    """Mask of so many shuffled rows; of each stratum the same share, as nearly as can be."""
    if n_held_out >= n_rows:
        raise ValueError(
            f"validation_fraction holds out {n_held_out} of {n_rows} rows, and none are left (n_samples={n_rows}): "
            "give more rows, or set n_iter_no_change=None"
        )
    order = np.random.default_rng(seed).permutation(n_rows)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    mask = np.zeros(n_rows, dtype=bool)
    mask[order[(np.arange(n_held_out) * n_rows) // n_held_out]] = True
    return mask


def _check_n_folds(cv: Any, n_rows: int) -> int:
    """Return a number of folds, at least 2, and at most one for each row."""
    n_folds = check_whole("cv", cv, 2, hint=" folds, or a splitter of sklearn.model_selection")
    if n_rows < 2:
        raise ValueError(f"rows must be held out for calibration, and there is only one (n_samples={n_rows})")
    return min(n_folds, n_rows)


def answer_by_folds(
    folds: Iterator[Bools],
    X: Any,
    y: NDArray[Any],
    params: Mapping[str, Any],
    fit: Callable[[Any, NDArray[Any], dict[str, Any]], Any],
    answer: Callable[[Any, Any], dict[str, NDArray[Any]]],
) -> tuple[dict[str, NDArray[Any]], Bools]:
    """Answers about the rows of each fold, by a model that `fit` makes from the others, and which rows have any."""
    found: dict[str, NDArray[Any]] = {}
    held_out = np.zeros(len(y), dtype=bool)
    for fold in folds:
        if not fold.any() or fold.all():
            continue
        model = fit(select(X, ~fold), y[~fold], part_of_params(params, ~fold))
        for verb, values in answer(model, select(X, fold)).items():
            if verb not in found:
                found[verb] = np.zeros((len(y), *values.shape[1:]))
            found[verb][fold] = values
        held_out |= fold
    return {verb: values[held_out] for verb, values in found.items()}, held_out


def part_of_params(params: Mapping[str, Any], mask: Bools) -> dict[str, Any]:
    """Parameters of `fit`; those with an entry for each row for the rows of the mask only."""

    def part(value: Any) -> Any:
        of_rows = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == len(mask)
        return select(value, mask) if of_rows else value

    return {name: part(value) for name, value in params.items()}
