"""Fit an estimator on rows in parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from sklearn.base import clone, is_classifier

from hedgerow._params import check_whole
from hedgerow.distributed.answering import check_engine, model_columns
from hedgerow.distributed.checkpoint import Checkpoint
from hedgerow.distributed.engine import Engine
from hedgerow.distributed.job import Job, Progress, watch
from hedgerow.distributed.models.around_fitted import fit_around_fitted, is_around_fitted
from hedgerow.distributed.models.forest_classifiers import GrownForest, fit_forest_classifier
from hedgerow.distributed.models.forest_regressors import fit_forest_regressor
from hedgerow.distributed.models.measured_trees import fit_measured_classifier, fit_measured_regressor
from hedgerow.distributed.models.random_trees_in_parts import fit_random_trees
from hedgerow.distributed.models.refusals import refuse
from hedgerow.distributed.models.wrapped_forests import fit_cautious, fit_rule, trees_of
from hedgerow.distributed.rows.parted_rows import PartedRows
from hedgerow.distributed.survey import survey
from hedgerow.estimators import (
    CautiousClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
)

__all__ = ["FITTERS", "fit"]

Model = TypeVar("Model")


def fit(
    estimator: Model,
    rows: PartedRows,
    engine: Engine | None = None,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    structure_rows: int = 100_000,
    memory: int = 1 << 30,
    progress: Progress | None = None,
) -> Model:
    """Fit a copy of an estimator on rows in parts.

    The result is the same, bit for bit, for every engine, every number of parts and of workers, and if workers are
    lost meanwhile.

    Parameters
    ----------
    estimator : estimator
        :class:`~hedgerow.RandomTreesClassifier`, :class:`~hedgerow.ForestClassifier`,
        :class:`~hedgerow.ForestRegressor`, :class:`~hedgerow.MeasuredTreeClassifier`,
        :class:`~hedgerow.MeasuredTreeRegressor`, :class:`~hedgerow.CautiousForestClassifier`, or one of these in a
        :class:`~hedgerow.RuleClassifier` or :class:`~hedgerow.CautiousClassifier`. Forests draw their bags by
        ``bootstrap="poisson"``, to which True is changed in the copy, and are then those of ``estimator.fit`` with it.
        A :class:`~hedgerow.ConformalClassifier`, :class:`~hedgerow.ConformalRegressor` or
        :class:`~hedgerow.BoundaryClassifier` around a fitted model, in a ``FrozenEstimator``, learns from rows that the
        model was not fitted on, at most `structure_rows` of them.
    rows : PartedRows
        From :func:`parquet`, with a target.
    engine : Engine or None, default=None
        Where to compute; None for :class:`Local` with the estimator's `n_jobs`.
    checkpoint : path or None, default=None
        Folder for results so far: after an interruption, the same call with the same folder goes on from there. Forests
        keep their bins and finished trees; random and measured trees take a few passes, and keep which fit it was.
    structure_rows : int, default=100000
        Random trees draw their splits from at most this many rows, those whose numbers have the least hashes, and
        measured trees find their regions and the laws of columns there. All rows are counted, and all rows give the
        values of regions. Up to this number of rows the trees are those of ``estimator.fit``. Conformal and boundary
        estimators learn from at most this many rows.
    memory : int, default=1073741824
        Bytes that a task of a forest may take for its rows, of one byte a value. Each tree is grown from the rows of
        its bag, which are sent to one task, or from all rows, which are sent to every worker once, whichever fits and
        sends less. :class:`Local` keeps all rows in a memory-mapped file where they do not fit.
    progress : callable or None, default=None
        Called as ``progress(stage, n_done, n_parts)``.

    Returns
    -------
    estimator of the same class
        The fitted copy.

    Raises
    ------
    TypeError
        If the estimator can't be fitted in parts.
    ValueError
        If the rows have no target, the checkpoint is that of other rows or parameters, or a parameter is out of range.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from hedgerow import RandomTreesClassifier
    >>> from hedgerow.distributed import fit, parquet
    >>> folder = tempfile.mkdtemp()
    >>> pq.write_table(pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}), f"{folder}/rows.parquet")
    >>> model = fit(RandomTreesClassifier(5, random_state=0), parquet(folder, target="y"))
    >>> model.classes_
    array(['a', 'b'], dtype=object)
    """
    model: Any = clone(estimator)
    check_whole("structure_rows", structure_rows, 1)
    if is_around_fitted(model):
        if checkpoint is not None:
            raise ValueError(
                f"checkpoint is {str(checkpoint)!r}, and {type(model).__name__} around a fitted model takes one pass, "
                "of which nothing is kept: leave checkpoint out"
            )
        inside = model.estimator.estimator
        engine = check_engine(engine, rows, inside)
        fit_around_fitted(model, rows, model_columns(inside, rows), engine, structure_rows, progress)
        return model
    trees = trees_of(model)
    for one in (model, trees):
        if type(one) not in FITTERS:
            refuse(one, [kind.__name__ for kind in FITTERS])
    check_whole("memory", memory, 1)
    engine = check_engine(engine, rows, trees)
    kept = Checkpoint(checkpoint)
    identity: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": {k: v for k, v in model.get_params().items() if k not in ("n_jobs", "random_state")},
        "random_state": _seed_given(trees),
        "structure_rows": structure_rows,
        "rows": rows.identity,
    }
    kept.open(identity, None)
    found = survey(
        engine,
        rows,
        classification=is_classifier(model),
        categorical_features=trees.categorical_features,
        done=watch(progress, "reading columns", len(rows.parts)),
    )
    identity["values"] = found.summary
    seed = kept.open(identity, None)
    if seed is None:
        seed = trees._seed() if hasattr(trees, "random_state") else 0
        kept.start(identity, seed)
    _fit(model, Job(engine, rows, found, kept, seed, progress, structure_rows, memory))
    return model


def _seed_given(trees: Any) -> int | None:
    """Seed that the estimator was given; None if it is drawn, or nothing is random."""
    given = getattr(trees, "random_state", None)
    return given if isinstance(given, int) else None


def _fit(model: Any, job: Job) -> GrownForest | None:
    return FITTERS[type(model)](model, job)


# How each estimator is fitted: takes an unfitted copy and the job, and sets what `fit` sets.
FITTERS: Mapping[type, Callable[[Any, Job], GrownForest | None]] = {
    RandomTreesClassifier: fit_random_trees,
    ForestClassifier: fit_forest_classifier,
    ForestRegressor: fit_forest_regressor,
    MeasuredTreeClassifier: fit_measured_classifier,
    MeasuredTreeRegressor: fit_measured_regressor,
    CautiousForestClassifier: partial(fit_cautious, fit_trees=_fit),
    CautiousClassifier: partial(fit_cautious, fit_trees=_fit),
    RuleClassifier: partial(fit_rule, fit_trees=_fit),
}
