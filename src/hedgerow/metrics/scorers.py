"""Scorers of set-valued predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from hedgerow.metrics.sets import determinacy, mean_set_size, set_accuracy, single_accuracy, u65_score, u80_score

__all__ = [
    *("SetScorer", "make_set_scorer"),
    *("determinacy_scorer", "neg_mean_set_size_scorer", "set_accuracy_scorer", "single_accuracy_scorer"),
    *("u65_scorer", "u80_scorer"),
]


@dataclass(frozen=True)
class SetScorer:
    """Scorer of set-valued predictions, ``scorer(estimator, X, y)``; see :func:`make_set_scorer`.

    Parameters
    ----------
    metric : Callable[..., float]
        Function ``metric(y_true, sets, classes=…)``.
    greater_is_better : bool, default=True
        Whether a larger value is better; else its sign is changed.
    options : Mapping[str, object]
        Further arguments of the metric.
    weight_request : bool, str or None, default=None
        Whether `sample_weight` is asked for with metadata routing, or under which name; None: not said.

    Examples
    --------
    >>> from hedgerow import CautiousForestClassifier
    >>> from hedgerow.metrics import u65_scorer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(CautiousForestClassifier(10, s=2, random_state=0), X, y, scoring=u65_scorer, cv=3).shape
    (3,)
    """

    metric: Callable[..., float]
    greater_is_better: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    weight_request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y_true: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        sets, classes = _predicted(estimator, X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        score = self.metric(y_true, sets, classes=classes, **weights, **self.options)
        return score if self.greater_is_better else -score

    def set_score_request(self, *, sample_weight: bool | str | None) -> SetScorer:
        """Return this scorer with a request for weights (True, False or a name) for metadata routing.

        Parameters
        ----------
        sample_weight : bool, str or None
            Whether weights are asked for, or under which name.

        Returns
        -------
        SetScorer
            A copy of this scorer.
        """
        return replace(self, weight_request=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata requests of this scorer.

        Returns
        -------
        MetadataRequest
            What the scorer asks for.
        """
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weight_request)
        return request

    def __repr__(self) -> str:
        name = getattr(self.metric, "__name__", repr(self.metric))
        sign = "" if self.greater_is_better else ", greater_is_better=False"
        return f"make_set_scorer({name}{sign}{''.join(f', {key}={value!r}' for key, value in self.options.items())})"


def make_set_scorer(metric: Callable[..., float], *, greater_is_better: bool = True, **options: Any) -> SetScorer:
    """Make a scorer from a metric of sets, as scikit-learn's ``make_scorer`` does from a metric of labels.

    It calls the estimator's `predict_set` and reads its `classes_`; for a pipeline or a search, those of the estimator
    inside.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, sets, *, classes, **options)``, also `sample_weight` if it is passed.
    greater_is_better : bool, default=True
        False: the scorer flips the sign, so that higher scores are better.
    **options
        Further arguments of the metric.

    Returns
    -------
    SetScorer
        The scorer, which ``cross_val_score`` and searches take as `scoring`.

    Raises
    ------
    TypeError
        If `metric` is no function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import CautiousForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow.metrics import make_set_scorer, u65_score
    >>> scorer = make_set_scorer(u65_score)
    >>> forest = CautiousForestClassifier(10, s=2, random_state=0).fit(X, y)
    >>> bool(scorer(forest, X, y) > 0.9)
    True
    """
    if not callable(metric):
        raise TypeError(f"metric is {metric!r}, must be a function such as hedgerow.metrics.u65_score")
    return SetScorer(metric, greater_is_better, options)


def _predicted(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return sets and classes of an estimator, or of the one inside a pipeline or a search."""
    from sklearn.pipeline import Pipeline  # importing it takes longer than importing this package

    inside = estimator
    while not hasattr(inside, "predict_set"):
        if isinstance(inside, Pipeline) and len(inside) > 1:
            X, inside = inside[:-1].transform(X), inside[-1]
        elif hasattr(inside, "best_estimator_"):
            inside = inside.best_estimator_
        else:
            raise AttributeError(
                f"{type(inside).__name__} has no predict_set, which this scorer calls: score a classifier that answers "
                "with sets"
            )
    return inside.predict_set(X), inside.classes_


u65_scorer = make_set_scorer(u65_score)
u80_scorer = make_set_scorer(u80_score)
set_accuracy_scorer = make_set_scorer(set_accuracy)
single_accuracy_scorer = make_set_scorer(single_accuracy)
determinacy_scorer = make_set_scorer(determinacy)
neg_mean_set_size_scorer = make_set_scorer(mean_set_size, greater_is_better=False)
