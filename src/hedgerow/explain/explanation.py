"""Explanations of rows: their paths, votes and counts as records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Schema
from hedgerow.explain.doubt import (
    doubt_of_leaf,
    doubt_of_mixture,
    doubt_of_number,
    doubt_of_set,
    doubt_of_spread,
    doubt_of_votes,
)
from hedgerow.explain.reached_leaves import class_leaves, number_leaves
from hedgerow.explain.reasons.record import ReasonForDoubt
from hedgerow.explain.records import ClassExplanation, NumberExplanation
from hedgerow.explain.row_paths import row_paths
from hedgerow.walk import Walk

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LeafProbabilities", "explain_classes", "explain_numbers"]

Floats = NDArray[np.float64]
LeafProbabilities = Callable[[Floats, NDArray[np.int64]], Floats]
"""Probabilities (n, n_classes) of rows (n, n_features) in the leaf whose number is given for each."""


def explain_classes(
    walk: Walk,
    schema: Schema,
    rows: Floats,
    *,
    classes: NDArray[Any],
    answers: NDArray[Any],
    probabilities: Floats,
    counts: Floats,
    votes: NDArray[np.intp],
    reached: csr_array | None = None,
    leaf_probabilities: LeafProbabilities | None = None,
    bounds: Floats | None = None,
    sets: NDArray[np.bool_] | None = None,
    why: Sequence[tuple[ReasonForDoubt, ...]] | None = None,
) -> list[ClassExplanation]:
    """Explain each row of a classification forest.

    `counts` are those of the leaf that it reaches in each tree, (n, n_trees, n_classes), `votes` the class that each
    tree votes for, (n, n_trees). `reached` is the spread of the rows of a single tree, where it is known. With
    `leaf_probabilities`, of a single tree, `probabilities` are their weighted mean over the leaves of a row. `why` has
    the reasons for doubt about each row, where they are known.

    Parameters
    ----------
    walk : Walk
        Walk of the forest.
    schema : Schema
        Names, kinds and categories of the columns.
    rows : array of shape (n_samples, n_features)
        Converted rows.
    classes : array
        Labels, in the order of the other arrays.
    answers : array of shape (n_samples,)
        Predicted label of each row.
    probabilities : array of shape (n_samples, n_classes)
        Probability of each class.
    counts : array of shape (n_samples, n_trees, n_classes)
        Class counts of the leaf that each row reaches in each tree.
    votes : int array of shape (n_samples, n_trees)
        Position of the class that each tree votes for.
    reached : csr_array of shape (n_samples, n_leaves) or None, default=None
        Weights with which rows reach the leaves of a single tree; None computes them.
    leaf_probabilities : LeafProbabilities or None, default=None
        Probabilities of each leaf, where they are not shares of its counts.
    bounds : array of shape (n_samples, n_classes, 2) or None, default=None
        Lower and upper probability of each class; None where the model has none.
    sets : bool array or None, default=None
        Classes that are not ruled out, bool (n_samples, n_classes).
    why : Sequence[tuple[ReasonForDoubt, ...]] or None, default=None
        Reasons for doubt, the largest share first.

    Returns
    -------
    list of ClassExplanation
        A record for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.explain import explain_classes
    >>> from hedgerow.walk import ForestWalk
    >>> tree = TreeClassifier().fit([[1], [2]], ["no", "yes"])
    >>> rows = np.array([[1.0]])
    >>> found = explain_classes(
    ...     ForestWalk(tree.forest_, None),
    ...     tree.schema_,
    ...     rows,
    ...     classes=tree.classes_,
    ...     answers=tree.predict(rows),
    ...     probabilities=tree.predict_proba(rows),
    ...     counts=tree.leaf_counts(rows),
    ...     votes=np.array([[0]]),
    ... )
    >>> found[0].path
    ('x0 is 1, at most 1.5',)
    """
    forest = walk.forest
    labels = tuple(classes.tolist())
    explanations = []
    for i, paths in enumerate(row_paths(walk, schema, rows, reached)):
        answer = answers[i].item() if isinstance(answers[i], np.generic) else answers[i]
        code = labels.index(answer)
        n_votes = np.bincount(votes[i], minlength=len(labels))
        allowed = None if sets is None else tuple(one for one, has in zip(labels, sets[i], strict=True) if has)
        mean = counts[i].mean(axis=0)
        of_leaves = None
        if leaf_probabilities is not None:
            of_leaves = leaf_probabilities(np.repeat(rows[i : i + 1], len(paths.leaves), axis=0), paths.leaves)
        leaves = class_leaves(forest, schema, paths.leaves, paths.weights, of_leaves)
        if len(leaves) > 1:
            doubt = doubt_of_mixture(leaves, code, labels)
        elif leaves:
            doubt = doubt_of_leaf(mean, code)
        else:
            doubt = doubt_of_votes(n_votes, code, labels, mean)
        explanations.append(
            ClassExplanation(
                answer=answer,
                classes=labels,
                probabilities=tuple(probabilities[i].tolist()),
                counts=tuple(mean.tolist()),
                votes=tuple(n_votes.tolist()),
                dissenters=tuple(np.flatnonzero(votes[i] != code).tolist()),
                path=paths.path,
                leaves=leaves,
                columns=paths.columns,
                bounds=None if bounds is None else tuple((low, high) for low, high in bounds[i].tolist()),
                set=allowed,
                doubt="; ".join([*doubt_of_set(allowed), *doubt, *doubt_of_spread(paths)]),
                why=() if why is None else why[i],
            )
        )
    return explanations


def explain_numbers(
    walk: Walk,
    schema: Schema,
    rows: Floats,
    *,
    answers: Floats,
    reached: Floats,
    intervals: Floats | None = None,
    coverage: float | None = None,
    why: Sequence[tuple[ReasonForDoubt, ...]] | None = None,
) -> list[NumberExplanation]:
    """Explain each row of a regression forest.

    `reached` are weight, mean, squared mean and variance of the leaf that it reaches in each tree, (n, n_trees, 4).

    Parameters
    ----------
    walk : Walk
        Walk of the forest.
    schema : Schema
        Names, kinds and categories of the columns.
    rows : array of shape (n_samples, n_features)
        Converted rows.
    answers : array of shape (n_samples,)
        Prediction for each row.
    reached : array of shape (n_samples, n_trees, 4)
        Weight, mean, squared mean and variance of the leaf that each row reaches in each tree.
    intervals : array of shape (n_samples, 2) or None, default=None
        Lower and upper end for each row; None where there are none.
    coverage : float or None, default=None
        Probability that the interval is to have.
    why : Sequence[tuple[ReasonForDoubt, ...]] or None, default=None
        Reasons for doubt, the largest share first.

    Returns
    -------
    list of NumberExplanation
        A record for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.explain import explain_numbers
    >>> from hedgerow.folds import leaf_moments
    >>> from hedgerow.walk import ForestWalk, ask
    >>> tree = TreeRegressor(pruning=None).fit([[1], [2]], [10, 20])
    >>> walk, rows = ForestWalk(tree.forest_, None), np.array([[1.0]])
    >>> reached = ask(walk, rows, [leaf_moments(tree.forest_)])[0]
    >>> explain_numbers(walk, tree.schema_, rows, answers=tree.predict(rows), reached=reached)[0].path
    ('x0 is 1, at most 1.5',)
    """
    forest = walk.forest
    explanations = []
    for i, paths in enumerate(row_paths(walk, schema, rows, None)):
        n_rows, means, squared, inside = reached[i].T
        within = float(np.sqrt(np.maximum(inside + squared - means**2, 0.0).mean()))
        reasons = [*doubt_of_number(means, within, n_rows, len(paths.leaves)), *doubt_of_spread(paths)]
        explanations.append(
            NumberExplanation(
                answer=float(answers[i]),
                trees=tuple(means.tolist()),
                within=within,
                n_rows=float(n_rows.mean()),
                path=paths.path,
                leaves=number_leaves(forest, schema, paths.leaves, paths.weights),
                columns=paths.columns,
                interval=None if intervals is None else (float(intervals[i, 0]), float(intervals[i, 1])),
                coverage=coverage if intervals is not None else None,
                doubt="; ".join(reasons),
                why=() if why is None else why[i],
            )
        )
    return explanations
