"""Trees for measured inputs on rows in parts: a sample gives the regions, sums over all rows their values.

Growth solves least squares again for every split, which needs its rows in one place; the values of finished regions
follow from the normal equations, which are sums over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.data.table import Table
from hedgerow.distributed.job import Job
from hedgerow.distributed.models.normal_equations import NormalSums, RowTerms, add_up_rows
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.rows.samples import LeastHashes, SomeRows, sample_rows
from hedgerow.estimators import MeasuredTreeClassifier, MeasuredTreeRegressor
from hedgerow.estimators.measured.inputs import Measurements
from hedgerow.forest.build import leaf, value
from hedgerow.forest.forest import Forest
from hedgerow.measured.errors.error_sizes import ErrorSizes, read_sigma
from hedgerow.measured.least_squares import Problem, solve_normal_equations, solve_on_simplex
from hedgerow.measured.one_tree.grow import (
    NO_ROW,
    Path,
    build_path,
    classification_forest,
    path_regions,
    regression_forest,
)

__all__ = ["fit_measured_classifier", "fit_measured_regressor"]

_MOST_REGIONS = 2048  # their products are a matrix of 34 MB, of which a worker holds some


def fit_measured_regressor(model: MeasuredTreeRegressor, job: Job) -> None:
    """Set what `fit` sets."""
    survey = job.survey
    assert survey.target_range is not None
    least, greatest = survey.target_range
    reach = greatest / 2 - least / 2
    if not 1e-100 < reach < 1e100 and reach:
        raise ValueError(
            f"column {survey.encoding.target!r} has numbers whose squares a float64 can't hold (from {least:.3g} to "
            f"{greatest:.3g}): divide it by a constant first"
        )
    given, problem, is_all = _sampled_problem(model, job, lambda targets: targets[:, np.newaxis])

    def finish(path: Path, n_splits: int, problem: Problem, n_categories: NDArray[np.int32]) -> tuple[Forest, Floats]:
        numbers, regions = path_regions(path, n_splits, survey.schema.n_features, n_categories)
        centre, scale = least / 2 + greatest / 2, reach or 1.0
        heaviest = _heaviest(job)
        terms = RowTerms(regions, problem.laws, given.sizes, survey.schema.names, heaviest, 0, centre, scale)
        sums = _add_up(job, terms)
        gamma = solve_normal_equations(sums.gram, sums.products, sums.mass, sums.mean)
        steps = gamma[:, 0]
        squares = np.maximum(sums.squares - 2 * steps * sums.products[:, 0] + steps**2 * sums.mass, 0.0)
        gamma = centre + scale * gamma
        leaves = {
            number: value(
                gamma[k, 0], weight=sums.mass[k] * sums.total, squares=squares[k] * sums.total * scale * scale
            )
            for k, number in enumerate(numbers)
        }
        return build_path(path, n_splits, leaves, survey.schema.n_features, n_categories, regression=True), gamma

    forest, gamma = model._grow(problem, survey.schema.n_categories, regression_forest if is_all else finish)
    model._set_grown(given, problem, forest, values_=gamma[:, 0], _impurity="squared_error")
    model.training_range_ = survey.ranges


def fit_measured_classifier(model: MeasuredTreeClassifier, job: Job) -> None:
    """Set what `fit` sets."""
    model._check_leaf()
    survey = job.survey
    classes = survey.classes
    given, problem, is_all = _sampled_problem(model, job, lambda codes: np.eye(len(classes))[codes])

    def finish(path: Path, n_splits: int, problem: Problem, n_categories: NDArray[np.int32]) -> tuple[Forest, Floats]:
        numbers, regions = path_regions(path, n_splits, survey.schema.n_features, n_categories)
        terms = RowTerms(regions, problem.laws, given.sizes, survey.schema.names, _heaviest(job), len(classes))
        sums = _add_up(job, terms)
        gamma = solve_on_simplex(sums.gram, sums.products, sums.mass, sums.mean)
        counts = sums.products * sums.total
        counts[counts < NO_ROW] = 0.0
        leaves = {number: leaf(counts[k]) for k, number in enumerate(numbers)}
        return build_path(path, n_splits, leaves, survey.schema.n_features, n_categories, regression=False), gamma

    forest, gamma = model._grow(problem, survey.schema.n_categories, classification_forest if is_all else finish)
    weights: Floats = job.fold(weigh_targets, len(classes), merge=np.add, stage="weighing classes")
    model._set_grown(
        given,
        problem,
        forest,
        values_=gamma,
        classes_=classes,
        n_classes_=len(classes),
        class_prior_=weights / weights.sum(),
        _impurity="gini",
    )
    model.training_range_ = survey.ranges


def _sampled_problem(model: Any, job: Job, as_targets: Any) -> tuple[Measurements, Problem, bool]:
    """Least-squares problem of at most `structure_rows` rows, and whether these are all."""
    model._settings()
    schema = job.survey.schema
    sizes = read_sigma(model.sigma, schema)  # refused before rows are read
    merge, stage = LeastHashes(job.structure_rows, job.seed), "choosing rows for the structure"
    found: SomeRows = job.fold(
        sample_measured, sizes, schema.names, job.structure_rows, job.seed, merge=merge, stage=stage
    )
    sample = found.sorted()
    given = Measurements(Table(sample.X, schema), sizes, sizes.of_rows(sample.X, schema.names), "sigma")
    problem = model._problem(given, sample.weight, np.ones(len(sample)), as_targets(sample.target))
    return given, problem, job.survey.n_used <= len(sample)


def sample_measured(block: RowBlock, sizes: ErrorSizes, names: tuple[str, ...], most: int, seed: int) -> SomeRows:
    """Rows of a part for the structure, if the errors of all its rows are standard deviations."""
    if len(block):
        sizes.of_rows(block.X, names)
    return sample_rows(block, most, seed)


def _add_up(job: Job, terms: RowTerms) -> NormalSums:
    if len(terms.regions) > _MOST_REGIONS:
        raise ValueError(
            f"the tree has {len(terms.regions):,} regions, and the products of all pairs of them are added up in every "
            f"part: set max_leaf_nodes to at most {_MOST_REGIONS:,}"
        )
    return NormalSums(job.fold(add_up_rows, job.share(terms), stage="adding up normal equations"), terms)


def _heaviest(job: Job) -> float:
    """Largest weight of a row."""
    if not job.survey.encoding.weighs:
        return 1.0
    return float(job.fold(heaviest_row, merge=max, stage="reading weights"))


def heaviest_row(block: RowBlock) -> float:
    """Largest weight in a part."""
    return float(block.weight.max(initial=0.0))


def weigh_targets(block: RowBlock, n_classes: int) -> Floats:
    """Weight of each class in a part."""
    return np.bincount(block.target, weights=block.weight, minlength=n_classes).astype(np.float64)
