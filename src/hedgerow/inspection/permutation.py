"""Permutation importance tree by tree, on rows that the trees have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow._core import permutation_losses
from hedgerow._params import check_choice, check_number, check_whole, is_whole
from hedgerow.data.targets import check_weights, read_labels, read_targets
from hedgerow.estimators.contract import Responder, read_rows, unseen_rows
from hedgerow.estimators.fitting.bags import UnseenRows
from hedgerow.estimators.seeding import seed_of
from hedgerow.forest.forest import Forest
from hedgerow.inspection.association import associations
from hedgerow.inspection.importances import Importances
from hedgerow.walk import HardWalk, n_threads

__all__ = ["permutation_importance"]

Floats = NDArray[np.float64]
Groups = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class _Score:
    """A score, as the core computes it: the negative of a loss."""

    loss: int  # the core's number
    classes: bool
    relative: bool = False  # to the variance of the targets


_SCORES = {
    "accuracy": _Score(0, True),
    "neg_log_loss": _Score(1, True),
    "neg_brier_score": _Score(2, True),
    "neg_mean_squared_error": _Score(3, False),
    "r2": _Score(3, False, relative=True),
    "neg_mean_absolute_error": _Score(4, False),
}
_LEAST_SHARE = 0.05
_CORRELATED = 0.5


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Groups | None = None,
    conditional: bool | float = False,
    scoring: str | None = None,
    rows: str = "oob",
    n_repeats: int = 5,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Importances:
    """Loss in score of each tree when the values of a column are permuted among rows that it has not seen.

    Breiman's importance (Random Forests, 2001, section 10): the mean over the trees of what a tree loses, with the
    standard error of that mean. Only rows whose path tests the column walk again, from its first split on.

    Parameters
    ----------
    model : fitted estimator
        Fitted classifier or regressor of this library.
    X : array-like or data frame of shape (n_samples, n_features)
        The training data again, in the order of `fit`, or with ``rows="all"`` any rows.
    y : array-like of shape (n_samples,)
        Classes or targets of these rows.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of these rows; None weighs all alike.
    groups : sequence of columns or of lists of columns, a dict of them by name, or None, default=None
        Columns, by name or position, whose values are permuted together; None: every column by itself. Columns that
        tell the same, such as the parts of a one-hot code, hide each other unless they are permuted together.
    conditional : bool or float, default=False
        Permute only between rows that agree on the tree's splits on correlated columns, so that a column is not
        credited for what others tell as well (Strobl et al., Conditional variable importance for random forests, 2008).
        Correlated are columns whose association is at least this number; True is 0.5. Splits of nodes with less than
        5 % of a tree's rows do not count: in full trees each row would be alone.
    scoring : {"accuracy", "neg_log_loss", "neg_brier_score", "r2", "neg_mean_squared_error", \
"neg_mean_absolute_error"} or None, default=None
        Score of a tree; None is "accuracy" for classifiers, "r2" for regressors. Probabilities of a tree are the class
        frequencies of its leaves. (For any other score, of the forest as a whole, use scikit-learn's function of this
        name.)
    rows : {"oob", "all"}, default="oob"
        "oob": each tree answers the rows out of its bag; random trees, which have none, answer every row without its
        own counts in their leaves. "all": each tree answers all rows.
    n_repeats : int, default=5
        Permutations of each column and tree.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Number of threads, one tree each; None is 1, -1 all cores; identical results for any number.

    Returns
    -------
    Importances
        Loss of each tree, by column.

    Raises
    ------
    TypeError
        If the model is not a tree or forest of hedgerow.
    ValueError
        If no tree has a row that it has not seen, the rows are not those of `fit`, or the score is not defined for
        them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ForestClassifier(random_state=0).fit(X, y)
    >>> from hedgerow.inspection import permutation_importance
    >>> found = permutation_importance(forest, X, y)
    >>> sorted(found.names, key=lambda name: -found.importances_mean[found.names.index(name)])[:2]
    ['petal length (cm)', 'petal width (cm)']
    """
    if not isinstance(model, Responder) or not isinstance(getattr(model, "_walk", None), HardWalk):
        raise TypeError(
            f"model is {model!r}, must be a fitted tree or forest of hedgerow that splits rows: wrap forests of other "
            "libraries by RuleClassifier.from_fitted"
        )
    forest: Forest = model.forest_  # type: ignore[attr-defined]
    schema = model.schema_  # type: ignore[attr-defined]
    score = _score(scoring, classifier=is_classifier(model))
    asked = _asked(model, X, y, sample_weight, rows)
    names, units = _units(groups, schema.names)
    given = _given(conditional, units, asked.values, schema)
    repeats = check_whole("n_repeats", n_repeats, 1)
    weight, plain = np.zeros(forest.n_trees), np.zeros(forest.n_trees)
    permuted = np.zeros((forest.n_trees, len(units)))
    prior = model.class_prior_ if score.classes else np.zeros(1)  # type: ignore[attr-defined]
    arrays: list[Any] = [
        *(forest.core_with_weight, asked.values, _leaf_answers(forest, score, asked, prior)),
        *(_leaf_weights(forest, asked), np.ascontiguousarray(prior)),
        *(asked.truth, np.ascontiguousarray(asked.weight), asked.seen),
        *(*_lists(units), *_lists(given)),
    ]
    settings = (score.loss, repeats, seed_of(random_state), _LEAST_SHARE)
    arguments: list[Any] = [*arrays, *settings, weight, plain, permuted, n_threads(n_jobs)]
    permutation_losses(*arguments)
    of_trees = weight > 0
    if not of_trees.any():
        raise ValueError("no tree has a row that it has not seen: use more rows, or rows='all' with others")
    losses = (permuted - plain[:, np.newaxis])[of_trees]
    if score.relative:
        spread = _target_variances(asked, forest.n_trees)[of_trees]
        losses, of_any = losses[spread > 0] / spread[spread > 0, np.newaxis], spread > 0
        if not of_any.any():
            raise ValueError("r2 is not defined, since the targets are all the same: set scoring")
    return Importances(names, losses.T, scoring or ("accuracy" if score.classes else "r2"))


def _score(scoring: str | None, *, classifier: bool) -> _Score:
    if scoring is None:
        return _SCORES["accuracy" if classifier else "r2"]
    allowed = [name for name, score in _SCORES.items() if score.classes == classifier]
    hint = "one of " + ", ".join(map(repr, allowed)) + ", or None; others: sklearn.inspection.permutation_importance"
    return _SCORES[check_choice("scoring", scoring, allowed, hint)]


def _asked(model: Any, X: Any, y: Any, sample_weight: Any, rows: str) -> UnseenRows:
    if check_choice("rows", rows, ("oob", "all")) == "oob":
        return unseen_rows(model, X, y, sample_weight)
    values = read_rows(model, X)
    truth = read_labels(y, values, model.classes_).codes if is_classifier(model) else read_targets(y, values)
    return UnseenRows(values, truth.astype(np.float64), check_weights(sample_weight, values), None)


def _units(groups: Groups | None, names: Sequence[str]) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """Names of what is permuted, and their columns."""
    if groups is None:
        return tuple(names), [np.array([column], dtype=np.int32) for column in range(len(names))]
    if isinstance(groups, str) or not isinstance(groups, Sequence | Mapping) or not len(groups):
        raise ValueError(f"groups is {groups!r}, must be columns or lists of columns, such as ['age', ['x', 'y']]")
    members = list(groups.values()) if isinstance(groups, Mapping) else list(groups)
    units = [np.array(_columns(one, names), dtype=np.int32) for one in members]
    labels = groups if isinstance(groups, Mapping) else ["+".join(names[column] for column in unit) for unit in units]
    return tuple(map(str, labels)), units


def _columns(given: Any, names: Sequence[str]) -> list[int]:
    several = given if isinstance(given, list | tuple | np.ndarray) else [given]
    found = []
    for one in several:
        if isinstance(one, str) and one in names:
            found.append(names.index(one))
        elif is_whole(one) and -len(names) <= one < len(names):
            found.append(int(one) % len(names))
        else:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            raise ValueError(f"groups names column {one!r}, but the model was fitted with {list(names)[:10]}{more}")
    if not found:
        raise ValueError("groups has an empty list: name at least one column in each")
    return sorted(set(found))


def _given(
    conditional: bool | float, units: list[NDArray[np.int32]], values: Floats, schema: Any
) -> list[NDArray[np.int32]]:
    """Columns that each unit is permuted given: those that are correlated with one of its own."""
    if conditional is False:
        return [np.empty(0, dtype=np.int32) for _ in units]
    least = _CORRELATED if conditional is True else check_number("conditional", conditional, 0, 1, closed="right")
    together = associations(values, schema.n_categories) >= least
    return [np.setdiff1d(np.flatnonzero(together[unit].any(axis=0)), unit).astype(np.int32) for unit in units]


def _lists(columns: list[NDArray[np.int32]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return np.cumsum([0, *map(len, columns)], dtype=np.int64), np.concatenate(columns).astype(np.int32)


def _leaf_answers(forest: Forest, score: _Score, asked: UnseenRows, prior: Floats) -> Floats:
    if not score.classes:
        return np.ascontiguousarray(forest.stats[:, 1:2])
    counts = forest.counts if asked.left_out else forest.answer_counts()
    total = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.where(total > 0, counts / np.where(total > 0, total, 1.0), prior)
    return shares


def _leaf_weights(forest: Forest, asked: UnseenRows) -> Floats | None:
    return np.ascontiguousarray(forest.counts.sum(axis=1)) if asked.left_out else None


def _target_variances(asked: UnseenRows, n_trees: int) -> Floats:
    """Variance of the targets of the rows that each tree is asked about, (n_trees,)."""
    variances = np.empty(n_trees)
    for tree in range(n_trees):
        weight = asked.weight
        if asked.seen is not None:
            in_bag = np.unpackbits(asked.seen[tree], count=len(weight), bitorder="little")
            weight = np.where(in_bag, 0.0, weight)
        total = weight.sum()
        mean = (weight * asked.truth).sum() / total if total > 0 else 0.0
        variances[tree] = (weight * (asked.truth - mean) ** 2).sum() / total if total > 0 else 0.0
    return variances
