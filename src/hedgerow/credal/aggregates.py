"""Aggregates of the bounds of many trees: each a leaf table, a fold, and bounds and sets from it.

Zhang, Quost and Masson, Cautious Random Forests: `Belief` is theirs (section 3), `Average` their baseline (section 4),
and `Vote`, `Conjunction` and `Disjunction` the alternatives of their section 1. Columns are linear quantities, so that
a row with missing values, which reaches several leaves of a tree, splits that tree's weight over them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Bools, Floats
from hedgerow._registry import register
from hedgerow.credal.decisions import TIE, has_distribution, tightened, undominated
from hedgerow.credal.leaves import Weighting, bounds_of, check_s, check_weighting, weights_of
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.folds.fold import Fold
from hedgerow.forest.counts import check_counts
from hedgerow.walk import LeafTable, Op

__all__ = ["Aggregate", "Average", "Belief", "Conjunction", "Credal", "Disjunction", "Vote", "get", "names"]


class Credal(NamedTuple):
    """Answer of an aggregate."""

    bounds: Floats
    """Lower and upper bound for each class, (n, n_classes, 2)."""
    sets: Bools
    """Classes that may be the answer, (n, n_classes)."""


class Aggregate(Fold[float, Credal]):
    """A leaf table, a fold and a finish; the context is s. Subclass it for an aggregate of your own.

    Trees that have weights count as much as their weights. A row that no tree answers for is bounded by 0 and 1, and
    its set has all classes.

    Examples
    --------
    Bounds by the tree that says least for each class:

    >>> import numpy as np
    >>> from hedgerow.credal import Aggregate, idm_bounds, interval_dominance
    >>> class LeastLower(Aggregate):
    ...     name, fold = "least lower", ("identity", "min")
    ...
    ...     def table(self, counts, s):
    ...         return idm_bounds(counts, s)[0]
    ...
    ...     def bounds(self, folded, n_trees):
    ...         return np.stack([folded, 1.0 - (folded.sum(axis=1, keepdims=True) - folded)], axis=2)
    ...
    ...     def sets(self, folded, n_trees):
    ...         lower, upper = np.moveaxis(self.bounds(folded, n_trees), 2, 0)
    ...         return interval_dominance(lower, upper)
    >>> bounds, sets = LeastLower().of_counts([[0, 4], [1, 9]], s=2)
    >>> bounds.round(2), sets
    (array([[0.  , 0.33],
           [0.67, 1.  ]]), array([False,  True]))
    """

    @abstractmethod
    def table(self, counts: Floats, s: float) -> Floats | LeafTable:
        """Quantities of each leaf, (n_leaves, m), from its class counts (n_leaves, n_classes).

        Parameters
        ----------
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        s : float
            Number of unobserved rows that each leaf allows for.

        Returns
        -------
        ndarray of shape (n_leaves, m), or LeafTable
            The quantities.
        """

    @abstractmethod
    def bounds(self, folded: Floats, n_trees: Any) -> Floats:
        """Lower and upper bound for each class, (n, n_classes, 2), from the folded table, (n, m).

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            Lower and upper bounds.
        """

    @abstractmethod
    def sets(self, folded: Floats, n_trees: Any) -> Bools:
        """Classes that may be the answer, bool (n, n_classes); never none.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.

        Returns
        -------
        bool ndarray of shape (n_samples, n_classes)
            Whether each class is in the set.
        """

    def finish(self, folded: Floats, n_trees: Any, s: float) -> Credal:
        """Bounds and sets from the folded table.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table folded over the trees.
        n_trees : int or array
            Number of trees that were folded.
        s : float
            Number of unobserved rows that each leaf allows for.

        Returns
        -------
        Credal
            Named pair of `bounds`, (n_samples, n_classes, 2), and `sets`, bool (n_samples, n_classes).
        """
        return Credal(self.bounds(folded, n_trees), self.sets(folded, n_trees))

    def leaf_table(self, counts: ArrayLike, s: float) -> LeafTable:
        """Return the table with its links and ops, checked, for :func:`hedgerow.walk.fold`.

        Parameters
        ----------
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        s : float
            Number of unobserved rows that each leaf allows for.

        Returns
        -------
        LeafTable
            A row for each leaf.

        Raises
        ------
        ValueError
            If `counts` is not a matrix, or the table of the aggregate has a wrong shape or values that are not finite.
        """
        leaves = check_counts(counts, of_trees=True)
        if leaves.ndim != 2:
            raise ValueError(f"counts have shape {leaves.shape}, must have shape (n_leaves, n_classes)")
        return super().leaf_table(leaves, check_s(s))

    def of_counts(self, counts: ArrayLike, s: float) -> tuple[Floats, Bools]:
        """Bounds (…, n_classes, 2) and sets (…, n_classes) from the counts of all trees, (…, n_trees, n_classes).

        Parameters
        ----------
        counts : array-like of shape (…, n_trees, n_classes)
            Class counts of the leaf that a row reaches in each tree.
        s : float
            Number of unobserved rows of unknown class, above 0.

        Returns
        -------
        tuple of two ndarrays
            Bounds, of shape (…, n_classes, 2), and sets, bool of shape (…, n_classes).

        Examples
        --------
        >>> from hedgerow.credal import Average
        >>> bounds, sets = Average().of_counts([[0, 4], [1, 9], [1, 1]], s=2)
        >>> bounds.round(3)
        array([[0.111, 0.444],
               [0.556, 0.889]])
        >>> sets
        array([False,  True])
        """
        bounds = self.of_trees(counts, s, lambda folded, n_trees, _: self.bounds(folded, n_trees))
        return bounds, self.of_trees(counts, s, lambda folded, n_trees, _: self.sets(folded, n_trees))

    @property
    def _title(self) -> str:
        return f"aggregate {self.name}"


@dataclass(frozen=True)
class _Weighed(Aggregate):
    """Abstract: trees support the classes of their set with their weight.

    Columns: weight·[the set is {k}] for each class, weight·[k is in the set] for each class, weight.
    """

    weighting: Weighting = "uniform"
    strict: bool = False
    """Whether a tree excludes a class only where another's lower bound is *above* its upper one, not equal to it."""

    def __post_init__(self) -> None:
        check_weighting(self.weighting)

    def table(self, counts: Floats, s: float) -> Floats:
        sets = undominated(*bounds_of(counts, s), strict=self.strict)
        weights = weights_of(counts, s, self.weighting)[:, np.newaxis]
        alone = sets & (sets.sum(axis=1, keepdims=True) == 1)
        return np.concatenate([weights * alone, weights * sets, weights], axis=1)

    def bounds(self, folded: Floats, n_trees: Any) -> Floats:
        bel, pl, total = _certain_possible(folded)
        return np.stack([bel / total, pl / total], axis=-1)

    def conditions(self, code: int, n_classes: int, n_trees: int, s: float) -> Conditions:
        """Class `code` is believed more than any other is plausible.

        Parameters
        ----------
        code : int
            Position of the class.
        n_classes : int
            Number of classes.
        n_trees : int or array
            Number of trees that were folded.
        s : float
            Number of unobserved rows that each leaf allows for.

        Returns
        -------
        Conditions or None
            The conditions; None where none are linear.
        """
        return _dominates(code, n_classes, n_columns=2 * n_classes + 1)


def _dominates(code: int, n_classes: int, n_columns: int) -> Conditions:
    """The lower column of class `code` exceeds the upper ones, which come after the lower ones, of all others."""
    others = np.flatnonzero(np.arange(n_classes) != code)
    weights = np.zeros((n_columns, n_classes - 1))
    weights[code] = 1.0
    weights[n_classes + others, np.arange(n_classes - 1)] = -1.0
    return Conditions(weights, np.zeros(n_classes - 1))


def _certain_possible(folded: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of weights, (n, n_classes) twice and (n, 1).

    A leaf of weight 0 has no counts, and its set has all classes; likewise where all trees have weight 0.
    """
    n_classes = folded.shape[1] // 2
    bel, pl, total = folded[:, :n_classes], folded[:, n_classes:-1], folded[:, -1:]
    nothing = total <= 0
    return np.where(nothing, float(n_classes == 1), bel), np.where(nothing, 1.0, pl), np.where(nothing, 1.0, total)


@dataclass(frozen=True)
class Belief(_Weighed):
    """Belief and plausibility of each class; it is in the set unless another is believed more than it is plausible.

    Equations 4 to 8: bel_k is the share of the trees' weight whose set is {k}, pl_k of those whose set has k. A class j
    is out when bel_k > pl_j for some k; sums of weights are compared, and equal within 1e-12 of their total. For two
    classes that is the paper's decision: class 1 when bel₁ > ½, class 0 when pl₁ < ½, else both. `weighting` is
    "uniform", "samples" or "epistemic", as for :func:`tree_weights`.

    Equation 5 has lower₁ ≥ ½ for a tree, the paper's conclusion "greater than 0.5"; with ``strict=True`` trees are read
    as in the latter, which comes closer to its tables: a leaf of N rows of one class is undecided when s = N.

    A larger `s` never takes a class out of a set, except with epistemic weights, which change with `s`. (These are
    cautious forests; the cautious combination rule is unrelated, :class:`hedgerow.rules.Cautious`.)

    Parameters
    ----------
    weighting : Weighting, default="uniform"
        Weight of a tree: one of :data:`WEIGHTINGS`.

    Examples
    --------
    >>> from hedgerow.credal import Belief
    >>> bounds, sets = Belief().of_counts([[0, 4], [1, 9], [2, 3]], s=2)  # the third tree can't tell
    >>> bounds.round(2), sets
    (array([[0.  , 0.33],
           [0.67, 1.  ]]), array([False,  True]))
    """

    def sets(self, folded: Floats, n_trees: Any) -> Bools:
        bel, pl, total = _certain_possible(folded)
        return bel.max(axis=1, keepdims=True) <= pl + TIE * total


@dataclass(frozen=True)
class Vote(_Weighed):
    """Each tree votes for all classes of its set; the set is the classes with most votes.

    The paper's section 1 only says "first obtaining the prediction for each tree (using for example interval
    dominance), and then obtaining a final prediction by majority voting or weighted majority voting". A tree whose set
    has several classes can't choose one, so it votes for all of them. In other words it votes against those that it
    rules out, and the classes with the fewest votes against win. Of two classes, trees that are undecided do not count.
    Sets of more than one class are ties, within 1e-12 of all votes, and rare.

    Bounds are the shares of votes: for a class alone, and for it at all; those of `Belief` with the same `weighting`.

    Parameters
    ----------
    weighting : Weighting, default="uniform"
        Weight of a tree: one of :data:`WEIGHTINGS`.

    Examples
    --------
    >>> from hedgerow.credal import Vote
    >>> Vote().of_counts([[0, 4], [9, 1], [2, 3]], s=2)[1]  # one vote for each class, one for both: a tie
    array([ True,  True])
    """

    def sets(self, folded: Floats, n_trees: Any) -> Bools:
        _, votes, total = _certain_possible(folded)
        return votes >= votes.max(axis=1, keepdims=True) - TIE * total

    def conditions(self, code: int, n_classes: int, n_trees: int, s: float) -> Conditions:
        """Class `code` has more votes than any other.

        Parameters
        ----------
        code : int
            Position of the class.
        n_classes : int
            Number of classes.
        n_trees : int or array
            Number of trees that were folded.
        s : float
            Number of unobserved rows that each leaf allows for.

        Returns
        -------
        Conditions or None
            The conditions; None where none are linear.
        """
        votes = np.zeros((2 * n_classes + 1, n_classes))
        votes[n_classes : 2 * n_classes] = np.eye(n_classes)
        return leads(votes, np.zeros(n_classes), code)


class _Bounded(Aggregate):
    """Abstract: bounds on the probabilities, decided by strict interval dominance."""

    def sets(self, folded: Floats, n_trees: Any) -> Bools:
        bounds = self.bounds(folded, n_trees)
        return undominated(bounds[..., 0], bounds[..., 1], strict=True)


@dataclass(frozen=True)
class Average(_Bounded):
    """Means of the lower and of the upper bounds: the paper's baseline (section 4, after Fink, 2012).

    For two classes: class 1 when lower₁ > ½, class 0 when upper₁ < ½, else both.

    Examples
    --------
    >>> from hedgerow.credal import Average
    >>> bounds, sets = Average().of_counts([[0, 4], [1, 9]], s=2)  # two trees
    >>> bounds.round(2), sets
    (array([[0.04, 0.29],
           [0.71, 0.96]]), array([False,  True]))
    """

    def table(self, counts: Floats, s: float) -> Floats:
        return np.concatenate(bounds_of(counts, s), axis=1)

    def bounds(self, folded: Floats, n_trees: Any) -> Floats:
        some = np.asarray(n_trees) > 0
        lower, upper = _halves(folded / np.where(some, n_trees, 1))
        return _within_unit(lower, np.where(some, upper, 1.0))

    def conditions(self, code: int, n_classes: int, n_trees: int, s: float) -> Conditions:
        """Linear conditions under which a class is answered.

        Parameters
        ----------
        code : int
            Position of the class.
        n_classes : int
            Number of classes.
        n_trees : int or array
            Number of trees that were folded.
        s : float
            Number of unobserved rows that each leaf allows for.

        Returns
        -------
        Conditions or None
            The conditions; None where none are linear.
        """
        return _dominates(code, n_classes, n_columns=2 * n_classes)


@dataclass(frozen=True)
class Disjunction(_Bounded):
    """The least lower and the largest upper bound: what some tree considers possible (section 1).

    The narrowest probability intervals that have those of all trees in them (de Campos, Huete and Moral, 1994). One
    tree with a small leaf makes them wide.

    Examples
    --------
    >>> from hedgerow.credal import Disjunction
    >>> bounds, sets = Disjunction().of_counts([[1, 4], [1, 9]], s=2)
    >>> bounds.round(2)
    array([[0.08, 0.43],
           [0.57, 0.92]])
    """

    def table(self, counts: Floats, s: float) -> LeafTable:
        ops: tuple[Op, ...] = ("min",) * counts.shape[1] + ("max",) * counts.shape[1]
        return LeafTable.of(np.concatenate(bounds_of(counts, s), axis=1), op=ops)

    def bounds(self, folded: Floats, n_trees: Any) -> Floats:
        lower, upper = _halves(folded)
        some = np.isfinite(lower)
        return _within_unit(np.where(some, lower, 0.0), np.where(some, upper, 1.0))


@dataclass(frozen=True)
class Conjunction(_Bounded):
    """The largest lower and the least upper bound: what all trees consider possible (section 1).

    Bounds are made reachable (:func:`reachable`; de Campos, Huete and Moral, 1994). Trees often have no distribution in
    common: a lower bound is then above an upper one, or the lower bounds add up to more than 1, or the upper ones to
    less. Such rows get the bounds and the set of `Average` instead, and :meth:`fell_back` marks them. The
    table therefore has four columns for each class.

    Examples
    --------
    >>> from hedgerow.credal import Conjunction
    >>> bounds, sets = Conjunction().of_counts([[1, 4], [1, 9]], s=2)
    >>> bounds.round(2)
    array([[0.14, 0.25],
           [0.75, 0.86]])
    """

    def table(self, counts: Floats, s: float) -> LeafTable:
        n_classes = counts.shape[1]
        once = np.concatenate(bounds_of(counts, s), axis=1)
        ops: tuple[Op, ...] = ("max",) * n_classes + ("min",) * n_classes + ("sum",) * (2 * n_classes)
        return LeafTable.of(np.concatenate([once, once], axis=1), op=ops)

    def bounds(self, folded: Floats, n_trees: Any) -> Floats:
        both, sums = _halves(folded)
        common = _within_unit(*tightened(*_clipped(both)))
        return np.where(
            self.fell_back(folded, n_trees)[:, np.newaxis, np.newaxis], Average().bounds(sums, n_trees), common
        )

    def fell_back(self, folded: Floats, n_trees: Any) -> Bools:
        """Rows whose trees have no distribution in common, bool (n,).

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.

        Returns
        -------
        bool ndarray of shape (n_samples,)
            True where the answer is that of `Average`.
        """
        return ~has_distribution(*_clipped(_halves(folded)[0]))


def _halves(folded: Floats) -> tuple[Floats, Floats]:
    """First and second half of the columns."""
    half = folded.shape[1] // 2
    return folded[:, :half], folded[:, half:]


def _clipped(folded: Floats) -> tuple[Floats, Floats]:
    """Lower and upper bounds in [0, 1], where a fold over no tree is -inf and inf."""
    return _halves(np.clip(folded, 0.0, 1.0))


def _within_unit(lower: Floats, upper: Floats) -> Floats:
    """Stack bounds, (n, n_classes, 2), clipped: a mean of numbers in [0, 1] can be rounded to more than 1."""
    return np.clip(np.stack([lower, upper], axis=-1), 0.0, 1.0)


_PLAIN: dict[str, type[Average | Conjunction | Disjunction]] = {
    "average": Average,
    "conjunction": Conjunction,
    "disjunction": Disjunction,
}
_WEIGHED: dict[str, type[Belief | Vote]] = {"belief": Belief, "vote": Vote}


for _aggregate in (*_WEIGHED.values(), *_PLAIN.values()):
    register(_aggregate, name=f"hedgerow.credal.{_aggregate.__name__}")


def names() -> tuple[str, ...]:
    """Names of the aggregates.

    Returns
    -------
    tuple of str
        Names that :func:`get` and the parameter `aggregate` take.

    Examples
    --------
    >>> from hedgerow.credal import names
    >>> names()
    ('belief', 'average', 'vote', 'conjunction', 'disjunction')
    """
    return ("belief", "average", "vote", "conjunction", "disjunction")


def get(aggregate: Any, weighting: Weighting = "uniform") -> Aggregate:
    """Return an aggregate by its name; an instance is returned unchanged.

    `weighting` is that of "belief" and "vote"; the others weight all trees equally.

    Parameters
    ----------
    aggregate : str or an aggregate
        One of the names that :func:`names` returns, or an instance.
    weighting : {"uniform", "samples", "epistemic"}, default="uniform"
        Weights of trees: all the same, the rows in the leaf, or 1 − s/(N + s).

    Returns
    -------
    Aggregate
        The aggregate.

    Raises
    ------
    ValueError
        If no aggregate has this name, or a class is given instead of an instance.

    Examples
    --------
    >>> from hedgerow.credal import get
    >>> get("belief", weighting="epistemic")
    Belief(weighting='epistemic', strict=False)
    """
    check_weighting(weighting)
    if isinstance(aggregate, Aggregate):
        return aggregate
    if isinstance(aggregate, str) and aggregate in _WEIGHED:
        return _WEIGHED[aggregate](weighting)
    if isinstance(aggregate, str) and aggregate in _PLAIN:
        return _PLAIN[aggregate]()
    if isinstance(aggregate, type) and issubclass(aggregate, Aggregate):
        raise ValueError(f"aggregate is the class {aggregate.__name__}, pass an instance: {aggregate.__name__}()")
    known = ", ".join(map(repr, names()))
    raise ValueError(f"aggregate is {aggregate!r}, must be one of {known}, or an instance of hedgerow.credal.Aggregate")
