"""Cost and benefit of caution: utility of sets against s, intervals at other coverages, combination rules."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import ForestClassifier, rules
from hedgerow.credal.utility import REWARDS, set_utilities
from hedgerow.estimators.contract import offers
from hedgerow.plots.sets.sweep import DEFAULT_S, sweep_s
from hedgerow.report.held_out import Fold
from hedgerow.report.numbers import rounded
from hedgerow.scoring.evaluation import Marks, combine, mark
from hedgerow.scoring.folds import Split, try_out

__all__ = ["Caution", "Levels", "RuleContest"]

_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class Caution:
    """Utility of sets against s, collected over folds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sums: dict[float, NDArray[np.float64]] = {}
        self._chosen: list[float] = []

    def add(self, fold: Fold) -> None:
        """Ask the model of a fold with every s."""
        model = fold.fitted[self._name]
        if "s" not in model.get_params(deep=False) or not offers(model, "predict_set"):
            return
        trial: Any = fold.trials[self._name].model
        self._chosen.append(float(getattr(model, "s_", model.s)))
        for s, cautious in zip(DEFAULT_S, sweep_s(model, DEFAULT_S), strict=True):
            sets = cautious.predict_set(fold.split.X_new)
            sizes = sets.sum(axis=1)
            inside = sets[np.arange(len(sets)), trial.truth]
            single = sizes == 1
            of_utility = [set_utilities(inside, sizes, REWARDS[name]).sum() for name in ("u65", "u80")]
            sums = np.array([len(sets), *of_utility, single.sum(), (single & inside).sum(), inside.sum()])
            self._sums[s] = self._sums.get(s, 0) + sums

    def figures(self) -> dict[str, Any] | None:
        """Means over all rows for each s, and the s that was chosen (of several folds, their median)."""
        if not self._sums:
            return None
        points = []
        for s, (n, u65, u80, single, right, inside) in self._sums.items():
            points.append(
                {
                    "s": s,
                    "u65": rounded(u65 / n),
                    "u80": rounded(u80 / n),
                    "decided": rounded(single / n),
                    "accuracy_where_decided": rounded(right / single) if single else None,
                    "set_accuracy": rounded(inside / n),
                }
            )
        return {"points": points, "chosen": rounded(float(np.median(self._chosen)))}


class Levels:
    """Coverage of intervals against what was asked for, collected over folds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sums: dict[float, NDArray[np.float64]] = {}

    def add(self, fold: Fold) -> None:
        """Ask the model of a fold for intervals of several coverages."""
        model = fold.fitted[self._name]
        if not offers(model, "predict_interval"):
            return
        trial: Any = fold.trials[self._name].model
        for level in _LEVELS:
            low, high = model.predict_interval(fold.split.X_new, coverage=level).T
            inside = (low <= trial.truth) & (trial.truth <= high)
            self._sums[level] = self._sums.get(level, 0) + np.array([len(low), inside.sum(), (high - low).sum()])

    def figures(self) -> list[dict[str, Any]] | None:
        """Share of rows that the interval holds, and its mean width, by the coverage that was asked for."""
        if not self._sums:
            return None
        return [
            {"asked": level, "coverage": rounded(inside / n), "width": rounded(width / n), "rows": int(n)}
            for level, (n, inside, width) in self._sums.items()
        ]


class RuleContest:
    """Combination rules on the same forest, as ``hedgerow compare`` reads them, collected over folds."""

    def __init__(self, n_trees: int = 100, leaf: int = 4) -> None:
        self._forest = ForestClassifier(n_trees, min_samples_leaf=leaf, calibration=None, n_jobs=-1, random_state=0)
        self.leaf = leaf
        self._marks: dict[str, list[Marks]] = {}

    def add(self, split: Split) -> None:
        """Fit the forest to a fold, and let every rule answer."""
        forest = self._forest.fit(split.X, split.y, **split.fit_weight)
        for name in rules.names():
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="the trees have no distribution in common")
                self._marks.setdefault(name, []).append(mark(try_out(forest.set_params(rule=name), split)))

    def figures(self) -> dict[str, Any] | None:
        """Scores by rule, each with its standard error over folds."""
        if not self._marks:
            return None
        found = {name: combine(marks) for name, marks in self._marks.items()}
        names = ("accuracy", "auc", "log_loss", "brier", "calibration_error")
        return {
            "leaf": self.leaf,
            "rules": [
                {"rule": rule, "scores": {n: _score(evaluation.line(n)) for n in names if evaluation.line(n)}}
                for rule, evaluation in found.items()
            ],
        }


def _score(line: Any) -> dict[str, Any]:
    return {"value": rounded(line.model.value), "standard_error": rounded(line.model.error)}
