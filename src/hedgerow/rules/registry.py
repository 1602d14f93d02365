"""Rules by name, user-defined rules, and the comparison of several in one walk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._params import check_whole
from hedgerow._registry import register
from hedgerow.forest.forest import Forest
from hedgerow.rules.accumulation import Evidence, Pool
from hedgerow.rules.averages import Confidence, Plausibility, Probability, Vote
from hedgerow.rules.base import FoldRule, Rule, check_prior
from hedgerow.rules.belief import Cautious, Dempster
from hedgerow.rules.calibrated import Calibrated
from hedgerow.rules.mixtures import InvertedGini, Maximum, Median, Mixture
from hedgerow.walk import fold

__all__ = ["as_fitted", "compare", "get", "names"]

_NINE: dict[str, FoldRule] = {
    "probability": Probability(),
    "laplace": Probability(correction=1.0),
    "plausibility": Plausibility(),
    "confidence": Confidence(),
    "vote": Vote(),
    "pool": Pool(),
    "dempster": Dempster(),
    "cautious": Cautious(),
    "evidence": Evidence(),
}
_BEYOND: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        *(Median(), Maximum(), InvertedGini()),
        *(Mixture(centre="average"), Mixture(centre="median"), Mixture(centre="maximum")),
    )
}
# Model files name a rule by its public module, wherever it is defined.
# Evidence that `fit` tempers, and evidence as the authors' code has it.
_EVIDENCE: dict[str, Rule] = {
    rule.name: rule for rule in (Evidence(toward="prior", temper=None), Evidence(prior_term="plain"))
}
_BY_NAME = {**_NINE, **_BEYOND, **_EVIDENCE}
_CLASSES: set[type[Rule]] = {Calibrated, *(type(rule) for rule in (*_NINE.values(), *_BEYOND.values()))}
for _rule in _CLASSES:
    register(_rule, name=f"hedgerow.rules.{_rule.__name__}")
_PARTS = ("table", "fold", "finish")
_TABLE_BYTES = 1 << 26  # of the tables that ride in one walk at a time


def names(*, beyond: bool = False) -> tuple[str, ...]:
    """Names of the nine rules of the paper; with `beyond` also those of the others.

    Two variants of evidence have names too: "tempered", whose temper `fit` chooses by held-out rows, and
    "evidence-published", as the code of the paper's authors has it (see :class:`Evidence`).

    Parameters
    ----------
    beyond : bool, default=False
        Whether to list the rules that are not of the paper, too.

    Returns
    -------
    tuple of str
        Names that :func:`get` and the parameter `rule` take.

    Examples
    --------
    >>> from hedgerow.rules import names
    >>> names()[:4]
    ('probability', 'laplace', 'plausibility', 'confidence')
    """
    return (*_NINE, *(_BEYOND if beyond else ()))


def get(rule: Any) -> Rule:
    """Return a rule by its name, or wrap your own: an instance with a `table`, a `fold` and a `finish`.

    Parameters
    ----------
    rule : str or a rule
        One of the names that :func:`names` returns, or an instance.

    Returns
    -------
    Rule
        The rule.

    Raises
    ------
    ValueError
        If no rule has this name, a class is given instead of an instance, or the instance lacks a part.

    Examples
    --------
    >>> from hedgerow.rules import get
    >>> get("evidence")
    Evidence(correction=0.1, toward='uniform', reliability=None, temper=1.0, prior_term='log')
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str):
        if rule in _BY_NAME:
            return _BY_NAME[rule]
        raise ValueError(f"rule is {rule!r}, must be one of {', '.join(map(repr, _BY_NAME))}, or an instance")
    if isinstance(rule, type):
        raise ValueError(f"rule is the class {rule.__name__}, pass an instance: {rule.__name__}()")
    if absent := [part for part in _PARTS if not hasattr(rule, part)]:
        raise ValueError(
            f"rule is {rule!r}, which has no {' and no '.join(absent)}: a rule has a table(counts, prior), a "
            "fold such as ('identity', 'sum'), and a finish(folded, n_trees, prior)"
        )
    return _Adopted(rule)


def as_fitted(rule: Any, completed: FoldRule | None) -> Rule:
    """Return a rule with the numbers that `fit` chose by held-out rows, `rule_` of a model, if they are this rule's."""
    found = get(rule)
    if completed is None:
        return found
    before = completed.before_fit
    return completed if before is found or before == found else found


class _Adopted(FoldRule):
    """User-defined object with the three parts."""

    def __init__(self, parts: Any) -> None:
        self._parts = parts
        self.fold = parts.fold  # type: ignore[misc]

    @property
    def name(self) -> str:
        return type(self._parts).__name__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Adopted) and self._parts is other._parts

    def __hash__(self) -> int:
        return id(self._parts)

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return self._parts.table(counts, prior)

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return self._parts.finish(folded, n_trees, prior)


def compare(
    model: Any,
    X: Any,
    rules: Iterable[Any] | None = None,
    *,
    n_trees: int | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Scores of several rules, by default the nine, on one fitted forest in one walk: (n, n_rules).

    `model` is a fitted classifier of this family; of its trees the first `n_trees` are used, or all. Columns are in the
    order of `rules`, or of :func:`names`; with more than two classes the shape is (n, n_rules, n_classes). Scores are
    those of :meth:`Rule.decision`.

    Parameters
    ----------
    model : fitted forest
        A forest of this package, or a supported one of another library.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, with the columns of `fit`.
    rules : iterable of rules or None, default=None
        The rules, by name or as instances; None is the nine.
    n_trees : int or None, default=None
        Number of trees to use; None uses all.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_rules), or (n_samples, n_rules, n_classes)
        Scores.

    Raises
    ------
    ValueError
        If a rule has no fold, or there are fewer trees than `n_trees`.

    Examples
    --------
    >>> from hedgerow import RandomTreesClassifier
    >>> from hedgerow.rules import compare
    >>> model = RandomTreesClassifier(10, random_state=0).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> (compare(model, [[1.0], [4.0]], ["vote", "evidence"]) > 0).tolist()
    [[False, False], [True, True]]
    """
    chosen = [get(rule) for rule in (names() if rules is None else rules)]
    if unfolded := [rule.name for rule in chosen if not isinstance(rule, FoldRule)]:
        raise ValueError(f"rule {unfolded[0]} has no fold: use its decision(model.leaf_counts(X), model.class_prior_)")
    folding = [rule for rule in chosen if isinstance(rule, FoldRule)]
    forest, rows = model.forest_, model.schema_.read(X, estimator=model)
    used = forest.n_trees if n_trees is None else check_whole("n_trees", n_trees, 1)
    if used > forest.n_trees:
        raise ValueError(f"n_trees is {used}, but the model has {forest.n_trees} trees")
    prior = check_prior(model.class_prior_, forest.distinct_counts.counts)
    out: list[Floats] | None = None
    for first, last in _parts(forest, used, len(folding)):
        leaves = forest.distinct_counts.part(*forest.leaf_start[[first, last]])
        tables = [rule.table_of(leaves, prior) for rule in folding]
        out = fold(forest, rows, tables, trees=(first, last), out=out, n_jobs=n_jobs)
    assert out is not None, "a forest has at least one tree"
    scores = [rule.score(folded, used, prior) for rule, folded in zip(folding, out, strict=True)]
    return np.stack(scores, axis=1)


def _parts(forest: Forest, n_trees: int, n_rules: int) -> Iterator[tuple[int, int]]:
    """Ranges of trees, (first, last), so that the tables of a large forest without shared rows fit in memory."""
    if forest.distinct_counts.row_of is not None:
        yield 0, n_trees
        return
    most_leaves = max(1, _TABLE_BYTES // (16 * 2 * forest.n_classes * n_rules))
    first = 0
    while first < n_trees:
        wanted = forest.leaf_start[first] + most_leaves
        last = max(first + 1, min(n_trees, int(np.searchsorted(forest.leaf_start, wanted, side="right")) - 1))
        yield first, last
        first = last
