"""Build a report: fit, ask, and collect its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hedgerow._params import check_whole
from hedgerow.data.targets import read_labels, read_targets
from hedgerow.estimators.contract import read_rows
from hedgerow.inspection import permutation_importance
from hedgerow.report.caution import Caution, Levels, RuleContest
from hedgerow.report.columns import describe_columns
from hedgerow.report.doubt import DoubtfulRows
from hedgerow.report.embedded import Embedded
from hedgerow.report.groups import compare_groups, groupings
from hedgerow.report.headline import make_headline
from hedgerow.report.held_out import Fold, Rows, answer_fitted, cross_validated, put_together, sample_rows
from hedgerow.report.models import deciding_name, drawn_name, is_fitted, named_models
from hedgerow.report.numbers import rounded_list, to_label
from hedgerow.report.quality import describe_answers, reliability, roc, scatter
from hedgerow.report.report import Report
from hedgerow.report.tree import describe_tree
from hedgerow.report.whatif import whatif_data
from hedgerow.scoring.as_json import to_json
from hedgerow.scoring.evaluation import combine, mark
from hedgerow.scoring.folds import take_rows
from hedgerow.scoring.predictions import ClassPredictions

__all__ = ["About", "build"]

_MOST_SCORED = 50_000
_MOST_IMPORTANCE_ROWS = 20_000
_MOST_ALONE_ROWS = 20_000
_MOST_DOUBTFUL_CELLS = 24_000  # values of rows in doubt: of many columns, fewer rows
_SEED = 0


@dataclass(frozen=True)
class About:
    """Facts about the data that are not in the data, for the page.

    Parameters
    ----------
    target : str, default="the target"
        Name of what is predicted.
    data : str or None, default=None
        Name of the data; None: not known.
    notes : tuple[str, ...], default=()
        Notes at the end of the page.

    Examples
    --------
    >>> from hedgerow.report import About
    >>> About(target="diagnosis", data="patients.csv", notes=("Values below 0.1 were set to 0.1.",)).target
    'diagnosis'
    """

    target: str = "the target"
    data: str | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Columns that are no inputs, with the reason."""
    by: str | None = None
    """Name of the column of `by`."""
    file_rows: NDArray[np.int64] | None = None
    """Row of the file, from 1, of each row of X."""


@dataclass(frozen=True)
class Progress:
    """Where `build` tells what it is doing: a step, of so many parts; then every part.

    Parameters
    ----------
    begin : Callable[[str, int], None]
        Called with the name of a step and the number of its parts.
    tick : Callable[[], None]
        Called after each part.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.report import Progress, build
    >>> steps = []
    >>> tree = TreeClassifier().fit([[1], [2]] * 10, [0, 1] * 10)
    >>> report = build(tree, progress=Progress(begin=lambda step, n: steps.append(step)))
    >>> isinstance(steps, list)
    True
    """

    begin: Callable[[str, int], None] = field(default=lambda step, n: None)
    tick: Callable[[], None] = field(default=lambda: None)


def build(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    by: Any = None,
    cv: int | None = None,
    max_rows: int = _MOST_SCORED,
    n_doubtful: int = 150,
    about: About | None = None,
    progress: Progress | None = None,
) -> Report:
    """Build a report on one or several models.

    Parameters
    ----------
    model : classifier or regressor of hedgerow, or several in a list or a dict by name
        Fitted ones answer the rows as they are. Others are cross-validated, and then fitted to all rows.
    X : array-like or frame of shape (n_samples, n_features), or None, default=None
        Rows with known answers. None: the page shows the model alone.
    y : array-like of shape (n_samples,) or None, default=None
        Labels or targets of the rows.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each row: rows of one group stay in one fold, and are not independent for standard errors.
    by : array-like of shape (n_samples,) or None, default=None
        Values by which rows are divided to compare how the model does for each of them.
    cv : int or None, default=None
        Number of folds; copies of all models are cross-validated, fitted ones too. None: five folds for models that are
        not fitted, none if all are.
    max_rows : int, default=50_000
        Largest number of rows that are cross-validated; of more rows a sample is drawn, and the page says so.
    n_doubtful : int, default=150
        Number of rows in doubt that the page explains.
    about : About or None, default=None
        Names and notes for the page.
    progress : Progress or None, default=None
        Receives the steps.

    Returns
    -------
    Report
        Figures, and the page.

    Raises
    ------
    ValueError
        If `y` is missing, has one class only, or another length than its companions, rows are missing for a model that
        is not fitted, or rows can't be cross-validated.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import CautiousForestClassifier
    >>> from hedgerow.report import build
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CautiousForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> report = build(model, X[1::2], y[1::2])
    >>> report.figures["answers"]["decided"]["value"] > 0.9
    True
    """
    models = named_models(model)
    facts, steps = about or About(), progress or Progress()
    fitted = all(map(is_fitted, models.values()))
    if X is None:
        if not fitted:
            raise ValueError("X is None, but the model is not fitted: pass rows to fit it to")
        return _report_on_model(models, facts)
    rows = _read(next(iter(models.values())), X, y, sample_weight, groups)
    n_folds = 5 if cv is None and not fitted else cv
    if n_folds is not None:
        n_folds = _usable_folds(rows, check_whole("cv", n_folds, 2))
    values = None if by is None else _by_values(by, len(rows))
    work = _Work(models, rows, n_folds, check_whole("max_rows", max_rows, 1), facts, steps)
    return work.report(check_whole("n_doubtful", n_doubtful, 1), values)


def _read(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> Rows:
    if y is None:
        raise ValueError("y is None: pass the targets of the rows of X")
    classification = is_classifier(model)
    if classification:
        labels = read_labels(y, X)
        y = labels.classes[labels.codes]
    else:
        y = read_targets(y, X)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, given in (("sample_weight", weight), ("groups", groups)):
        if given is not None and len(given) != len(y):
            raise ValueError(f"{name} has {len(given)} values, but y has {len(y)}")
    return Rows(X, y, weight, None if groups is None else np.asarray(groups), classification)


def _usable_folds(rows: Rows, n_folds: int) -> int:
    most = int(np.unique(rows.y, return_counts=True)[1].max()) if rows.classification else len(rows)
    if rows.groups is not None:
        most = min(most, len(np.unique(rows.groups)))
    if rows.classification and len(np.unique(rows.y)) < 2:
        raise ValueError(f"y has one class only, {np.unique(rows.y)[0]!s}: there is nothing to tell apart")
    if most < 2:
        raise ValueError("these rows can't be cross-validated: no class, or no group, has two of them")
    return min(n_folds, most)


def _by_values(by: Any, n_rows: int) -> list[Any]:
    values = by.to_pylist() if hasattr(by, "to_pylist") else list(np.asarray(by, dtype=object))
    if len(values) != n_rows:
        raise ValueError(f"by has {len(values)} values, but y has {n_rows}")
    return values


def _report_on_model(models: Mapping[str, Any], about: About) -> Report:
    """Report on fitted models without rows."""
    deciding = deciding_name(models)
    figures = _outline(models, deciding, about)
    figures["headline"] = make_headline(figures, None)
    drawn = drawn_name(models, deciding)
    walked = {name: models[name] for name in (deciding, *models)}
    return Report(figures | {"drawn": drawn}, {"tree": describe_tree(models[drawn])}, whatif_data(walked))


def _outline(models: Mapping[str, Any], deciding: str, about: About) -> dict[str, Any]:
    """Figures that need no rows; everything that a page may show, absent things as None or empty."""
    model = models[deciding]
    classes = [to_label(label) for label in model.classes_.tolist()] if is_classifier(model) else []
    absent = dict.fromkeys(
        ("answers", "confusion", "importance", "caution", "levels", "rules", "groups", "scatter", "evaluated", "folds")
    )
    return {
        "target": about.target,
        "data": about.data,
        "task": "classification" if classes else "regression",
        "classes": classes,
        "n_rows": 0,
        "n_scored": 0,
        "n_columns": len(model.schema_.columns),
        "deciding": deciding,
        "drawn": deciding,
        "notes": list(about.notes),
        "left_out": [{"name": name, "reason": reason} for name, reason in about.left_out],
        "failed": [],
        "models": [],
        "columns": [],
        "reliability": [],
        "roc": [],
        **absent,
    }


class _Work:
    """The steps of a report on labelled rows."""

    def __init__(
        self, models: dict[str, Any], rows: Rows, n_folds: int | None, max_rows: int, about: About, steps: Progress
    ) -> None:
        self.models, self.rows, self.n_folds, self.about, self.steps = models, rows, n_folds, about, steps
        self.sampled = sample_rows(rows, max_rows)
        self.failed: dict[str, str] = {}
        self.folds: list[dict[str, Any]] = []

    def report(self, n_doubtful: int, by: list[Any] | None) -> Report:
        """Do everything, and put it together."""
        final = self._final_models()
        deciding = deciding_name(final)
        scored = self.rows if len(self.sampled) == len(self.rows) else self.rows.take(self.sampled)
        n_folds = self.n_folds or 1
        n_doubtful = min(n_doubtful, max(20, _MOST_DOUBTFUL_CELLS // len(final[deciding].schema_.columns)))
        doubt, caution, levels = DoubtfulRows(deciding, n_doubtful, n_folds), Caution(deciding), Levels(deciding)
        contest = RuleContest()
        trials: dict[str, list[Any]] = {}
        order = []
        for fold in self._folds(scored, final):
            for name, trial in fold.trials.items():
                trials.setdefault(name, []).append(trial)
            order.append(fold.split.new[_weighted(fold)])
            for collector in (doubt, caution) if self.rows.classification else (doubt, levels):
                collector.add(fold)
            if self.rows.classification and self.n_folds:
                contest.add(fold.split)
                self.steps.tick()
        trials = {name: found for name, found in trials.items() if name not in self.failed}
        positions = self.sampled[np.concatenate(order)]
        evaluations = {name: combine([mark(trial) for trial in found]) for name, found in trials.items()}
        joined = {name: put_together(found) for name, found in trials.items()}
        figures = _outline(final, deciding, self.about)
        figures |= {
            "n_rows": len(self.rows),
            "n_scored": len(positions),
            "drawn": drawn_name(final, deciding),
            "evaluated": "given rows" if self.n_folds is None else "cross-validation",
            "folds": self.n_folds,
            "failed": [{"name": name, "reason": reason} for name, reason in self.failed.items()],
            "models": [
                {"name": name, "class": type(final[name]).__name__, **to_json(evaluations[name])}
                for name in evaluations
            ],
            "answers": describe_answers(joined[deciding]),
            "caution": caution.figures(),
            "levels": levels.figures(),
            "rules": contest.figures(),
        }
        figures |= self._quality(joined, deciding)
        self.steps.begin("columns", 2)
        figures["columns"] = self._columns(final[deciding])
        self.steps.tick()
        figures["importance"] = self._importance(final, deciding)
        self.steps.tick()
        figures["groups"] = self._groups(joined[deciding], final[deciding], positions, by, _order_of_columns(figures))
        figures["headline"] = make_headline(figures, evaluations[deciding])
        return self._finished(figures, final, doubt)

    def _folds(self, scored: Rows, final: dict[str, Any]) -> Any:
        if self.n_folds is None:
            classes = final[deciding_name(final)].classes_.tolist() if self.rows.classification else []
            known = set(classes)
            others = [label for label in np.unique(self.rows.y).tolist() if label not in known]
            return [answer_fitted(final, scored, [*classes, *others])]
        n = self.n_folds * (len(self.models) + self.rows.classification)
        self.steps.begin(f"{self.n_folds}-fold cross-validation", n)
        return cross_validated(self.models, scored, self.n_folds, self.steps.tick, self.failed)

    def _final_models(self) -> dict[str, Any]:
        """Models fitted to all rows; fitted ones as they are."""
        found = {}
        weight = {} if self.rows.weight is None else {"sample_weight": self.rows.weight}
        if self.n_folds is not None:
            self.steps.begin("fitting to all rows", len(self.models))
        for name, model in self.models.items():
            if is_fitted(model):
                found[name] = model
                continue
            try:
                found[name] = clone(model).fit(self.rows.X, self.rows.y, **weight)
            except ValueError as error:
                if len(self.models) == 1:
                    raise
                self.failed[name] = " ".join(str(error).split())
            self.steps.tick()
        if not found:
            raise ValueError(next(iter(self.failed.values())))
        return found

    def _quality(self, joined: dict[str, Any], deciding: str) -> dict[str, Any]:
        model = joined[deciding].model
        if not isinstance(model, ClassPredictions):
            return {"scatter": scatter(model)}
        n = len(model.classes)
        confusion = np.bincount(model.truth * n + model.label, minlength=n * n).reshape(n, n)
        return {
            "classes": [to_label(label) for label in model.classes],
            "confusion": confusion.tolist(),
            "reliability": [{"model": name, **reliability(trial.model)} for name, trial in joined.items()],
            "roc": [{"model": name, "curves": roc(trial.model)} for name, trial in joined.items()],
        }

    def _columns(self, model: Any) -> list[dict[str, Any]]:
        chosen = sample_rows(self.rows, _MOST_ALONE_ROWS * 10)
        values = read_rows(model, take_rows(self.rows.X, chosen) if len(chosen) < len(self.rows) else self.rows.X)
        y = self.rows.y[chosen]
        if not self.rows.classification:
            return describe_columns(values, model.schema_.columns, y, 0)
        labels = np.unique(y)
        return describe_columns(values, model.schema_.columns, np.searchsorted(labels, y), len(labels))

    def _importance(self, final: dict[str, Any], deciding: str) -> dict[str, Any] | None:
        """Permutation importance in the deciding model: out of bag, or on the rows that a fitted model was given."""
        for name in (deciding, *final):
            rows: dict[str, Any] = {"rows": "oob"} if self.n_folds else {"rows": "all"}
            X, y, weight = self.rows.X, self.rows.y, self.rows.weight
            if not self.n_folds:
                part = self.rows.take(sample_rows(self.rows, _MOST_IMPORTANCE_ROWS))
                X, y, weight = part.X, part.y, part.weight
            try:
                found = permutation_importance(
                    final[name], X, y, sample_weight=weight, random_state=_SEED, n_repeats=2, n_jobs=-1, **rows
                )
            except (TypeError, ValueError, AttributeError):
                continue  # a single tree has no rows that it has not seen, a wrapper no walk
            return {
                "model": name,
                "scoring": found.scoring,
                "mean": rounded_list(found.importances_mean),
                "standard_error": rounded_list(found.standard_error),
                "rows": rows["rows"],
            }
        return None

    def _groups(
        self, trial: Any, model: Any, positions: NDArray[np.intp], by: list[Any] | None, order: NDArray[np.intp]
    ) -> list[dict[str, Any]]:
        """Figures by group: for the column that was asked for, then for the most important ones."""
        asked = [] if by is None else [(self.about.by or "by", [by[i] for i in positions])]
        rows = read_rows(model, take_rows(self.rows.X, positions))
        names = {name for name, _ in asked}
        others = [one for one in groupings(rows, model.schema_.columns, order) if one[0] not in names]
        return [
            {"column": name, "groups": compare_groups(trial, values, _positive(trial))}
            for name, values in [*asked, *others]
        ]

    def _finished(self, figures: dict[str, Any], final: dict[str, Any], doubt: DoubtfulRows) -> Report:
        deciding, drawn = final[figures["deciding"]], final[figures["drawn"]]
        items = doubt.sorted()
        for item in items:
            row = int(self.sampled[item["row"]])
            item["row"] = row
            item["label"] = f"row {row if self.about.file_rows is None else self.about.file_rows[row]}"
            for neighbor in item.get("neighbors", []):
                neighbor[0] = int(self.sampled[neighbor[0]])
        embedded = Embedded(self.rows, deciding, _order_of_columns(figures))
        details = embedded.details(items, drawn, self.about.file_rows)
        details |= {"tree": describe_tree(drawn)}
        details["rows"] |= {"undecided": doubt.n_undecided, "mistakes": doubt.n_mistakes}
        chosen = figures["deciding"]  # the first one in the menu of the page
        walked = {name: final[name] for name in (chosen, *final)}
        return Report(figures, details, whatif_data(walked, self.rows.X))


def _weighted(fold: Fold) -> NDArray[np.bool_]:
    weight = fold.split.weight_new
    return np.ones(len(fold.split.new), bool) if weight is None else weight > 0


def _positive(trial: Any) -> int | None:
    model = trial.model
    return model.positive if isinstance(model, ClassPredictions) and len(model.classes) == 2 else None


def _order_of_columns(figures: dict[str, Any]) -> NDArray[np.intp]:
    """Columns by importance, or else by what they tell alone; the most important first."""
    found = figures["importance"]
    scores = found["mean"] if found else [column["alone"] for column in figures["columns"]]
    return np.argsort([-(score or 0.0) for score in scores], kind="stable")
