"""Advice about models that are worse than guessing, and trees that are too large to read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from hedgerow.cli.figures import counted
from hedgerow.scoring.evaluation import Evaluation
from hedgerow.scoring.standard_error import Score

__all__ = ["advice_on_scores", "advice_on_size"]

_READABLE = 30  # leaves: a binary tree of so many takes 58 lines as text, about a page
_FEW_LEAVES = 20
_LARGER_LEAF = 10


def advice_on_scores(evaluation: Evaluation, model: Any) -> str | None:
    """Return a warning if a model is worse than guessing, or no better, with the remedy; None if it is better."""
    worse = evaluation.worse
    if worse and worse <= {"log_loss", "brier"} and evaluation.better:
        problem = "it tells classes apart, but its probabilities are worse than the class frequencies"
        return f"{problem}: {_figures(evaluation, worse)}. {_remedy(model)}"
    if worse:
        return f"worse than guessing: {_figures(evaluation, worse)}. {_remedy(model)}"
    if evaluation.better or not evaluation.verdicts:
        return None
    compared = [line.metric.name for line in evaluation.lines if line.metric.compared]
    return (
        f"no better than guessing, as far as {counted(evaluation.n_rows, 'row')} can tell: "
        f"{_figures(evaluation, compared)}. The columns may say little about the target: see whether hedgerow compare "
        "finds a model that does better"
    )


def _figures(evaluation: Evaluation, names: Collection[str]) -> str:
    texts = []
    for line in evaluation.lines:
        if line.metric.name in names and line.guess is not None:
            own, guessed = (line.metric.text(Score(score.value)) for score in (line.model, line.guess))
            texts.append(f"{line.title} {own}, baseline {guessed}")
    return "; ".join(texts)


def _remedy(model: Any) -> str:
    settings = list(_settings_to_try(model.get_params(deep=False)))
    if not settings:
        return "Other models may do better: see hedgerow compare"
    return f"Try fit with {' or '.join(settings)}; hedgerow compare shows what other models reach"


def _settings_to_try(given: dict[str, Any]) -> Iterator[str]:
    """Settings that make probabilities less extreme, or trees fit less noise."""
    if given.get("rule", "probability") not in ("probability", "tempered"):
        yield "--set rule=probability"
    if given.get("leaf_probability") == "frequency":
        yield "--set leaf_probability=shrinkage"
    leaf = given.get("min_samples_leaf")
    if isinstance(leaf, int):
        yield f"--set min_samples_leaf={max(_LARGER_LEAF, 2 * leaf)}"
    elif given.get("max_leaf_nodes"):
        yield f"--set max_leaf_nodes={max(2, given['max_leaf_nodes'] // 4)}"


def advice_on_size(model: Any) -> str | None:
    """Return a remark on a single tree with more leaves than a person can read; None if it has fewer."""
    forest = model.forest_
    if forest.n_trees != 1 or forest.n_leaves <= _READABLE:
        return None
    problem = f"a tree of {forest.n_leaves:,} leaves is not one that a person can read"
    settings = model.get_params(deep=False)
    if "max_leaf_nodes" in settings:
        return f"{problem}: --set max_leaf_nodes={_FEW_LEAVES} grows one that is, with at most {_FEW_LEAVES} leaves"
    if "estimator" in settings:
        return f"{problem}: --set 'estimator=TreeClassifier(max_leaf_nodes={_FEW_LEAVES})' grows one that is"
    return problem
