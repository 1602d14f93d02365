"""Training data that look for trouble, and the core grown on them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hedgerow import Forest
from hedgerow._core import GrowOptions
from hedgerow.growth import ChiSquare, Fractional, Growth, Training, grow_forest
from oracles.growth import Problem

__all__ = ["CLASSIFICATION", "CRITERIA", "MISSING", "NOMINAL", "grow", "options_of", "problems", "random_problem"]

NAN = math.nan
CLASSIFICATION = ("gini", "entropy", "gain_ratio")
CRITERIA = (*CLASSIFICATION, "squared_error")
NOMINAL = ("multiway", "binary")
MISSING = ("fractional", "category", "learned")


# -- the core, given a problem


def options_of(problem: Problem) -> GrowOptions:
    growth = Growth(
        criterion=problem.criterion,
        nominal=problem.nominal,
        missing=Fractional(problem.min_fraction) if problem.missing == "fractional" else problem.missing,
        max_depth=problem.max_depth,
        min_samples_split=problem.min_samples_split,
        min_samples_leaf=problem.min_samples_leaf,
        min_weight_fraction_leaf=problem.min_weight_fraction_leaf,
        min_impurity_decrease=problem.min_impurity_decrease,
        max_leaf_nodes=problem.max_leaf_nodes,
        stopping=ChiSquare(problem.significance) if problem.significance < 1 else None,
        class_costs=None if problem.class_costs is None else np.array(problem.class_costs),
        feature_costs=None if problem.feature_costs is None else np.array(problem.feature_costs),
    )
    return growth.options(np.array(problem.weights), len(problem.columns), (*CRITERIA, "c45"), seed=0)


def grow(problem: Problem, options: GrowOptions | None = None) -> Forest:
    targets = np.array(problem.targets, dtype=np.int32 if problem.n_classes else np.float64)
    training = Training(
        np.asfortranarray(np.array(problem.columns, dtype=np.float64).T),
        np.array(problem.n_categories, dtype=np.int32),
        np.array(problem.weights, dtype=np.float64),
        n_classes=problem.n_classes,
        **{"labels" if problem.n_classes else "targets": targets},
    )
    forest = grow_forest(training, options_of(problem) if options is None else options).forest
    forest.check()
    return forest


def without_missing(problem: Problem) -> Problem:
    """Missing values become the code or the number 0."""
    return replace(problem, columns=[[0.0 if math.isnan(x) else x for x in column] for column in problem.columns])


# -- training data that look for trouble

_HUGE = (-1.7976931348623157e308, -1e300, 1e300, 1.7e308, 1.7976931348623157e308)
_TINY = (-5e-324, -0.0, 0.0, 5e-324, 1e-323, 1.5e-323, 2.2e-308)
_NEIGHBOURS = (1.0, math.nextafter(1, 2), math.nextafter(1, 0), math.nextafter(math.nextafter(1, 2), 2))
_pools = st.sampled_from(
    [(0.0, 1.0), (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0), (7.0,), _HUGE, _TINY, _NEIGHBOURS, (*_HUGE, *_TINY, *_NEIGHBOURS)]
)


@st.composite
def value_columns(draw: st.DrawFn, n_rows: int) -> tuple[list[float], int]:
    """Values of one column and its number of categories; 0 for a column that is split by threshold."""
    kind = draw(st.sampled_from(["pool", "floats", "nominal", "nominal", "ordinal"]))
    n_categories = 0
    if kind == "pool":
        present = st.sampled_from(draw(_pools))
    elif kind == "floats":
        present = st.floats(-1e6, 1e6)
    elif kind == "ordinal":
        present = st.integers(0, 4).map(float)
    else:
        n_categories = draw(st.sampled_from([1, 2, 3, 30]))
        present = st.integers(0, n_categories - 1).map(float)
    missing = draw(st.sampled_from(["none", "none", "few", "few", "many", "all"]))
    if missing == "all":
        return [NAN] * n_rows, n_categories
    nan = st.just(NAN)
    values = {"none": present, "few": st.one_of(present, present, present, nan), "many": st.one_of(nan, present)}
    return draw(st.lists(values[missing], min_size=n_rows, max_size=n_rows)), n_categories


_targets = st.sampled_from(
    [
        st.integers(-2, 2).map(float),
        # In steps: the core centres targets, after which differences of 1e-16 of their spread are gone.
        st.integers(-(10**6), 10**6).map(lambda n: n / 1024),
        st.sampled_from([1e9, 1e9 + 1, 1e9 + 2, 1e9 + 0.5]),  # far from 0: squares of the numbers would cancel
        st.sampled_from([1e-30, -1e-30, 3e-30]),
        st.just(4.25),
    ]
)


@st.composite
def weights(draw: st.DrawFn, n_rows: int, whole: bool = False) -> list[float]:
    # Not too uneven: the core subtracts one branch from the whole, and 1e-16 of a heavy one is much of a light one.
    kinds = ["ones", "whole"] if whole else ["ones", "whole", "tenths", "real"]
    one = {
        "ones": st.just(1.0),
        "whole": st.integers(1, 4).map(float),
        "tenths": st.sampled_from([0.1, 0.2, 0.3, 0.6]),
        "real": st.floats(0.2, 5),
    }[draw(st.sampled_from(kinds))]
    return draw(st.lists(one, min_size=n_rows, max_size=n_rows))


@st.composite
def problems(
    draw: st.DrawFn,
    criterion: str | None = None,
    nominal: str | None = None,
    missing: str | None = None,
    whole_weights: bool = False,
    limits: bool = True,
    min_rows: int = 1,
) -> Problem:
    criterion = draw(st.sampled_from(CRITERIA)) if criterion is None else criterion
    n_rows = draw(st.integers(min_rows, 25))
    columns = [draw(value_columns(n_rows)) for _ in range(draw(st.integers(1, 4)))]
    n_classes = 0 if criterion == "squared_error" else draw(st.integers(1, 4))
    target = draw(_targets) if n_classes == 0 else st.integers(0, n_classes - 1)
    problem = Problem(
        columns=[values for values, _ in columns],
        n_categories=[n_categories for _, n_categories in columns],
        targets=draw(st.lists(target, min_size=n_rows, max_size=n_rows)),
        weights=draw(weights(n_rows, whole_weights)),
        n_classes=n_classes,
        criterion=criterion,
        nominal=draw(st.sampled_from(NOMINAL)) if nominal is None else nominal,
        missing=draw(st.sampled_from(MISSING)) if missing is None else missing,
    )
    if not limits or draw(st.booleans()):
        return problem
    return replace(
        problem,
        min_fraction=draw(st.sampled_from([1 / 64, 1 / 64, 0.0, 0.3, 1.0])),
        max_depth=draw(st.sampled_from([None, None, 1, 2, 3])),
        min_samples_split=draw(st.sampled_from([2, 2, 3, 5])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 2, 3])),
        # Odd enough that no sum of weights meets it exactly, where rounding would decide.
        min_weight_fraction_leaf=draw(st.sampled_from([0.0, 0.0, 0.0871234567, 0.2412345678])),
        min_impurity_decrease=draw(st.sampled_from([0.0, 0.0, 0.0312345678, 0.1712345678])),
    )


def random_problem(rng: np.random.Generator, n_rows: int, n_columns: int, **changes: Any) -> Problem:
    """Columns of thirteen values and of seven categories by turns, a tenth missing, targets that depend on them."""
    codes = rng.integers(0, 13, (n_columns, n_rows)).astype(float)
    codes[1::2] %= 7
    signal = codes[0] > 5
    signal = signal ^ (codes[1] == 2) if n_columns > 1 else signal
    noise = rng.random(n_rows)
    labels = np.where(noise < 0.15, rng.integers(0, 3, n_rows), signal)
    codes[rng.random(codes.shape) < 0.1] = NAN
    problem = Problem(
        columns=codes.tolist(),
        n_categories=[7 * (j % 2) for j in range(n_columns)],
        targets=labels.tolist(),
        weights=[1.0] * n_rows,
        n_classes=3,
        criterion="gini",
    )
    if changes.get("criterion") == "squared_error":
        problem = replace(problem, targets=(labels + noise).tolist(), n_classes=0)
    return replace(problem, **changes)
