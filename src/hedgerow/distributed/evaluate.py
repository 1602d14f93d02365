"""Scores of a model on rows in parts: sums that do not depend on how the rows are divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow._arrays import Floats
from hedgerow._exact import fraction_of, merge_sums, round_shares, split_sum
from hedgerow.distributed.answering import answers_of, check_engine, model_columns, single_threaded
from hedgerow.distributed.engine import Engine, Part
from hedgerow.distributed.job import Progress, watch
from hedgerow.distributed.rows.parted_rows import PartedRows
from hedgerow.distributed.rows.row_blocks import class_codes, read_target, read_weight
from hedgerow.distributed.score_bins import area_under, bin_scores
from hedgerow.estimators.contract import CODES
from hedgerow.scoring import row_values
from hedgerow.scoring.predictions import ClassPredictions, NumberPredictions, scoring_verbs

__all__ = ["evaluate"]

Found = dict[str, Any]

# Scores that are means over rows, with what the model must answer for them.
_MEANS: Mapping[str, tuple[str, Any]] = {
    "accuracy": (CODES, row_values.hits),
    "log_loss": ("predict_proba", row_values.log_losses),
    "brier": ("predict_proba", row_values.brier),
    "u65": ("predict_set", row_values.u65),
    "u80": ("predict_set", row_values.u80),
    "set_accuracy": ("predict_set", row_values.in_set),
    "determinacy": ("predict_set", row_values.decided),
    "single_accuracy": ("predict_set", row_values.hits_where_decided),
    "mae": ("predict", row_values.absolute_errors),
    "coverage": ("predict_interval", row_values.covered),
    "width": ("predict_interval", row_values.widths),
}
# Scores that are made of other sums.
_OTHERS: Mapping[str, str] = {
    "auc": "predict_proba",
    "confusion": CODES,
    "balanced_accuracy": CODES,
    "rmse": "predict",
    "r2": "predict",
}


def evaluate(
    model: Any,
    rows: PartedRows,
    engine: Engine | None = None,
    *,
    metrics: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Score a fitted model on rows in parts.

    The scores are the same, bit for bit, for every engine and every number of parts. Weights count with a precision of
    a millionth of the largest.

    Parameters
    ----------
    model : estimator
        Fitted; its columns are found by name.
    rows : PartedRows
        With a target, and possibly a weight.
    engine : Engine or None, default=None
        Where to compute; None for :class:`Local` with the model's `n_jobs`.
    metrics : sequence of str or None, default=None
        Of a classifier "accuracy", "balanced_accuracy", "confusion", "auc", "log_loss", "brier"; if it predicts sets
        "u65", "u80", "set_accuracy", "determinacy" and "single_accuracy"; of a regressor "mae", "rmse", "r2", and if it
        predicts intervals "coverage" and "width". None for all that the model has.
    progress : callable or None, default=None
        Called as ``progress(stage, n_done, n_parts)``.

    Returns
    -------
    dict
        Scores by name, floats; "n_rows"; "confusion" is the weight of rows by true and predicted class, in the order of
        ``model.classes_``. The area under the ROC curve is computed from counts in fixed bins of the probability:
        "auc_error" says how far it may be from the exact one.

    Raises
    ------
    ValueError
        If the rows have no target or no weight above 0, or the model does not have a score of `metrics`.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.distributed import evaluate, parquet
    >>> folder = tempfile.mkdtemp()
    >>> rows = pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", "a", "b"]})
    >>> pq.write_table(rows, f"{folder}/rows.parquet")
    >>> model = TreeClassifier().fit(rows.select(["x"]), rows["y"])
    >>> evaluate(model, parquet(folder, target="y"), metrics=["accuracy"])
    {'n_rows': 3, 'accuracy': 1.0}
    """
    engine = check_engine(engine, rows, model)
    if rows.target is None:
        raise ValueError("the rows have no target: name its column, as in parquet(paths, target='y')")
    verbs: Mapping[str, Any] = dict(scoring_verbs(model, None))  # type: ignore[arg-type]
    wanted = _wanted(metrics, verbs, model)
    unit = 1.0
    if rows.weight is not None:
        heaviest = engine.fold(
            rows.parts, _heaviest, rows.weight, merge=max, done=watch(progress, "reading weights", len(rows.parts))
        )
        if not heaviest:
            raise ValueError(f"column {rows.weight!r} is zero in every row: give at least one row a positive weight")
        unit = float(2.0 ** np.floor(np.log2(heaviest)))
    needed = {verb: verbs[verb] for verb in {**_NEEDS} if verb in verbs and _is_needed(verb, wanted)}
    question = _Question(model_columns(model, rows), rows.target, rows.weight, unit, wanted, needed, _middle(model))
    shared = engine.share(single_threaded(model))
    done = watch(progress, "scoring", len(rows.parts))
    found = engine.fold(rows.parts, _score, shared, question, merge=_merge, done=done)
    if not found["n_rows"]:
        raise ValueError("no row has a positive weight: give rows")
    return _finish(found, wanted, unit)


_NEEDS = dict.fromkeys([verb for verb, _ in _MEANS.values()] + list(_OTHERS.values()))


def _is_needed(verb: str, wanted: Sequence[str]) -> bool:
    # Sets and probabilities are put beside labels, which are there in any case.
    if verb in (CODES, "predict", "predict_proba"):
        return True
    return any(name in _MEANS and _MEANS[name][0] == verb for name in wanted)


def _wanted(metrics: Sequence[str] | None, verbs: Mapping[str, Any], model: Any) -> tuple[str, ...]:
    known = {name: verb for name, (verb, _) in _MEANS.items()} | dict(_OTHERS)
    available = [name for name, verb in known.items() if verb in verbs]
    if metrics is None:
        return tuple(available)
    for name in [metrics] if isinstance(metrics, str) else metrics:
        if name not in available:
            raise ValueError(
                f"metrics has {name!r}, which {type(model).__name__} does not have here; it has {', '.join(available)}"
            )
    return (metrics,) if isinstance(metrics, str) else tuple(metrics)


def _middle(model: Any) -> float:
    """A number amid the targets: squares of distances from it are small, so that they lose no digits."""
    if is_classifier(model) or getattr(model, "forest_", None) is None:
        return 0.0
    weight, mean, _ = model.forest_.leaf_stats.T
    return float(np.average(mean, weights=weight))


@dataclass(frozen=True)
class _Question:
    columns: tuple[str, ...]
    target: str
    weight: str | None
    unit: float
    wanted: tuple[str, ...]
    verbs: Mapping[str, Any]
    middle: float


def _heaviest(part: Part, name: str) -> float:
    most = 0.0
    at = 0
    for table in part.batches():
        most = max(most, float(read_weight(table, name, part, at).max(initial=0.0)))
        at += table.num_rows
    return most


def _score(part: Part, model: Any, question: _Question) -> Found:
    """Sums over the rows of a part."""
    total: Found = {"n_rows": 0}
    for at, table, found in answers_of(part, model, question.columns, question.verbs):
        weight = np.ones(table.num_rows)
        if question.weight is not None:
            weight = round_shares(read_weight(table, question.weight, part, at) / question.unit)
        target = read_target(table, question.target, part, at)
        truth: NDArray[Any]
        if is_classifier(model):
            truth = class_codes(target, model.classes_, question.target, part).astype(np.intp)
        else:
            truth = target.to_numpy().astype(np.float64)
        used = weight > 0
        if not used.all():
            found = {verb: answer[used] for verb, answer in found.items()}
            truth, weight = truth[used], weight[used]
        if len(weight):
            sums = _class_sums if is_classifier(model) else _number_sums
            total = _merge(total, {"n_rows": len(weight), **sums(model, truth, weight, found, question)})
    return total


def _class_sums(model: Any, truth: Any, weight: Floats, found: Mapping[str, Any], question: _Question) -> Found:
    classes = tuple(model.classes_.tolist())
    answers = ClassPredictions(classes, truth, found[CODES], found["predict_proba"], found.get("predict_set"))
    sums = _means(answers, weight, question.wanted)
    n_classes = len(classes)
    cells = truth * n_classes + found[CODES]
    sums["confusion"] = np.bincount(cells, weight, n_classes**2).reshape(n_classes, n_classes)
    if "auc" in question.wanted:
        sums["bins"] = bin_scores(truth, found["predict_proba"], weight)
    return sums


def _number_sums(model: Any, truth: Any, weight: Floats, found: Mapping[str, Any], question: _Question) -> Found:
    answers = NumberPredictions(truth, found["predict"], found.get("predict_interval"))
    sums = _means(answers, weight, question.wanted)
    distance = truth - question.middle
    for name, values in {
        "weight": np.ones(len(truth)),
        "squares": (truth - found["predict"]) ** 2,
        "distance": distance,
        "distance squares": distance**2,
    }.items():
        sums[name] = split_sum(weight * values)
    return sums


def _means(answers: Any, weight: Floats, wanted: Sequence[str]) -> Found:
    """Sum of the values of each mean that is wanted, and of the weights that count for it."""
    sums: Found = {}
    for name in wanted:
        if name in _MEANS:
            values = _MEANS[name][1](answers, weight)
            counts = ~np.isnan(values)
            sums[name] = (split_sum(weight[counts] * values[counts]), split_sum(weight[counts]))
    return sums


def _merge(one: Found, other: Found) -> Found:
    """Add sums up; parts without rows have none."""
    if not one["n_rows"] or not other["n_rows"]:
        return one if one["n_rows"] else other
    return {name: _added(one[name], other[name]) for name in one}


def _added(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return merge_sums(one, other)
    if isinstance(one, tuple):
        return tuple(merge_sums(a, b) for a, b in zip(one, other, strict=True))
    return one + other


def _finish(found: Found, wanted: Sequence[str], unit: float) -> dict[str, Any]:
    scores: dict[str, Any] = {"n_rows": found["n_rows"]}
    for name in wanted:
        if name in _MEANS:
            total, weight = map(fraction_of, found[name])
            scores[name] = float(total / weight) if weight else np.nan
        elif name == "auc":
            scores["auc"], scores["auc_error"] = area_under(found["bins"])
        elif name == "confusion":
            scores["confusion"] = found["confusion"] * unit
        elif name == "balanced_accuracy":
            rows = found["confusion"].sum(axis=1)
            scores[name] = float((found["confusion"].diagonal()[rows > 0] / rows[rows > 0]).mean())
        else:
            scores[name] = _of_squares(name, found)
    return scores


def _of_squares(name: str, found: Found) -> float:
    weight, squares = fraction_of(found["weight"]), fraction_of(found["squares"])
    if name == "rmse":
        return float(np.sqrt(float(squares / weight)))
    spread: Fraction = fraction_of(found["distance squares"]) - fraction_of(found["distance"]) ** 2 / weight
    return float(1 - squares / spread) if spread > 0 else np.nan
