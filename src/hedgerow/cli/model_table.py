"""The models that ``hedgerow fit --model`` knows: one entry each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import hedgerow
from hedgerow.cli.errors import CommandError, UsageError, nearest
from hedgerow.cli.settings import literal_or_text

__all__ = ["MODELS", "Model", "make_model", "measured_columns", "measured_setting"]


@dataclass(frozen=True)
class Model:
    """A model of the command line, and the public names of hedgerow that make it."""

    what: str
    classifier: str | None
    regressor: str | None = None
    needs_errors: bool = False
    """Whether it takes the errors of its inputs, by --measured."""

    def factory(self, classification: bool) -> str | None:
        return self.classifier if classification else self.regressor


MODELS: dict[str, Model] = {
    "tree": Model("one readable tree", "TreeClassifier", "TreeRegressor"),
    "c45": Model("one tree, as C4.5 grows and prunes it", "TreeClassifier.c45"),
    "forest": Model("a random forest", "ForestClassifier", "ForestRegressor"),
    "oblique": Model(
        "a tree whose splits may combine numeric columns", "ObliqueTreeClassifier", "ObliqueTreeRegressor"
    ),
    "oblique-forest": Model("a random forest of such trees", "ObliqueForestClassifier", None),
    "random-trees": Model("random decision trees, combined as evidence", "RandomTreesClassifier"),
    "cautious": Model("a forest that answers with sets of classes", "CautiousForestClassifier"),
    "conformal": Model("a forest whose sets or intervals have a coverage", "ConformalClassifier", "ConformalRegressor"),
    "boundary": Model("smooth probabilities by distance to the boundary of a tree", "BoundaryClassifier"),
    "naive-bayes-tree": Model("a small tree with naive Bayes in its leaves", "NaiveBayesTreeClassifier"),
    "measured": Model(
        "a tree for inputs that were measured with error",
        "MeasuredTreeClassifier",
        "MeasuredTreeRegressor",
        needs_errors=True,
    ),
    "measured-forest": Model(
        "a random forest for such inputs",
        "MeasuredForestClassifier",
        "MeasuredForestRegressor",
        needs_errors=True,
    ),
    "measured-boosting": Model(
        "boosted trees for such inputs",
        "MeasuredBoostingClassifier",
        "MeasuredBoostingRegressor",
        needs_errors=True,
    ),
}


_CONFORMAL = "conformal"


def make_model(
    name: str,
    classification: bool,
    settings: Mapping[str, Any],
    n_jobs: int | None = -1,
    coverage: float | None = None,
) -> Any:
    """Return an unfitted model with its settings; an error lists the choices.

    With a coverage, and for "conformal", it is wrapped for sets or intervals with this coverage; settings that the
    wrapper has are its own, others those of the model inside.
    """
    if name == _CONFORMAL or coverage is not None:
        return _wrapped("forest" if name == _CONFORMAL else name, classification, settings, n_jobs, coverage)
    if name not in MODELS:
        raise UsageError(f"--model is {name!r}, this version has {', '.join(MODELS)}")
    entry = MODELS[name]
    public = entry.factory(classification)
    task = "classes" if classification else "numbers"
    if public is None:
        able = [other for other, model in MODELS.items() if model.factory(classification)]
        raise CommandError(f"model {name} does not predict {task}; {', '.join(able)} do")
    model = attrgetter(public)(hedgerow)()
    known = model.get_params()
    if entry.needs_errors and "sigma" not in settings:
        raise UsageError(f"model {name} must know how far inputs may be off: --measured 'temp=0.3,flow=flow_err'")
    for parameter in settings:
        if parameter not in known:
            raise UsageError(
                f"--set names {parameter!r}, which {public} does not have; {nearest(parameter, known, 30)}"
            )
    # The same command gives the same model, for every model that draws.
    usual = {"n_jobs": n_jobs, "random_state": 0}
    return model.set_params(**{name: usual[name] for name in usual if name in known} | dict(settings))


def _wrapped(
    name: str, classification: bool, settings: Mapping[str, Any], n_jobs: int | None, coverage: float | None
) -> Any:
    entry = MODELS[_CONFORMAL]
    wrapper = attrgetter(str(entry.factory(classification)))(hedgerow)()
    own = {
        parameter: value
        for parameter, value in settings.items()
        if parameter in wrapper.get_params(deep=False) and parameter != "estimator"
    }
    inside = {parameter: value for parameter, value in settings.items() if parameter not in own}
    if name == "forest" and own.get("conformity_score") == "bounds":
        name = "cautious"
    model = make_model(name, classification, inside, n_jobs)
    if "random_state" in own and "random_state" in model.get_params(deep=False):
        model.set_params(random_state=own["random_state"])
    promised = {} if coverage is None else {"coverage": coverage}
    return wrapper.set_params(estimator=model, **{"random_state": 0} | own | promised)


def measured_setting(given: str | None, model: str, columns: Sequence[str]) -> dict[str, Any]:
    """``--measured "temp=0.3,rain=5%,flow=flow_err,temp~flow=0.8"`` as a setting: errors, and their correlations."""
    if given is None:
        return {}
    from hedgerow.measured import RelativeError

    if model not in MODELS or not MODELS[model].needs_errors:
        able = ", ".join(name for name, entry in MODELS.items() if entry.needs_errors)
        raise UsageError(f"--measured is for --model {able}, and --model is {model}")
    sigma: dict[Any, Any] = {}
    for one in given.split(","):
        name, equals, size = (part.strip() for part in one.partition("="))
        if not equals or not name or not size:
            raise UsageError(
                f"--measured has {one!r}, must be column=0.3, column=5%, column=column or column~column=0.8"
            )
        pair = _pair(name, columns)
        if pair is not None:
            sigma[pair] = literal_or_text(size)
            _check_columns((*pair, sigma[pair]), columns)
            continue
        relative = literal_or_text(size[:-1]) if size.endswith("%") else None
        sigma[name] = literal_or_text(size) if relative is None else RelativeError(_fraction(relative, one))
        _check_columns((name, sigma[name]), columns)
    return {"sigma": sigma}


def _pair(name: str, columns: Sequence[str]) -> tuple[str, str] | None:
    """Two columns whose errors are correlated, ``temp~flow``; None for a column, whatever is in its name."""
    first, tilde, second = (part.strip() for part in name.partition("~"))
    return (first, second) if tilde and name not in columns else None


def _check_columns(named: Sequence[Any], columns: Sequence[str]) -> None:
    for column in named:
        if isinstance(column, str) and column not in columns:
            raise CommandError(f"--measured names {column!r}, which is not a column; {nearest(column, columns)}")


def _fraction(percent: Any, given: str) -> float:
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not percent >= 0:
        raise UsageError(f"--measured has {given!r}, must be a percentage that is not negative, such as column=5%")
    return float(percent) / 100


def measured_columns(given: str | None) -> list[str]:
    """Names in ``--measured "temp=0.3,flow=flow_err"``, of columns and of those that hold their errors."""
    parts = [] if given is None else [part.strip() for one in given.split(",") for part in one.split("=")]
    ends = [end.strip() for part in parts if "~" in part for end in part.split("~")]
    return [*(part for part in parts if not part.endswith("%")), *ends]
