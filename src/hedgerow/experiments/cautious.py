"""Cautious random forests: belief functions against averaged bounds (Zhang, Quost and Masson, 2021)."""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hedgerow import CautiousForestClassifier, credal
from hedgerow.experiments.findings import Report
from hedgerow.experiments.published import published
from hedgerow.experiments.reports.cautious import OWN, READINGS, SIZES, VARIANTS, cautious_report
from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Scores
from hedgerow.experiments.study import Results, Study
from hedgerow.metrics import determinacy, u65_score

__all__ = ["Cautious"]

_SHIPPED = ("breast-cancer",)
_REPEATS, _QUICK_REPEATS, _FOLDS = 50, 2, 10


class Cautious(Study):
    """Ten-fold cross-validation, fifty times: three masses and the baseline for s of 1, 3 and 5."""

    name = "cautious"
    title = "Cautious random forests"

    def datasets(self, source: Source, quick: bool) -> list[str]:
        if source.folder is None:
            return list(_SHIPPED)
        small_first = ("breast-cancer", "diabetes", "biodeg", "wine-quality-red", "spambase")
        found = [one for one in small_first if source.has(one)]
        return found[:2] if quick else found

    def absent(self, source: Source) -> list[str]:
        known = {row["dataset"] for row in published("cautious_tables") if row["dataset"]}
        return sorted(one for one in known if not source.has(one))

    def parts(self, dataset: str, quick: bool) -> list[str]:
        return [f"{number:02}" for number in range(1, 1 + (_QUICK_REPEATS if quick else _REPEATS))]

    def run(self, source: Source, dataset: str, part: str) -> Scores:
        data = source.load(dataset)
        # The paper has two classes of red wine; 6 and better is the usual cut.
        y = data.y.astype(int) >= 6 if dataset == "wine-quality-red" else data.y == np.unique(data.y)[1]
        folds: dict[tuple[str, str], list[float]] = {}

        def keep(setting: str, model: CautiousForestClassifier, test: np.ndarray) -> None:
            sets = model.predict_set(data.X.take(test))
            score = u65_score(y[test], sets, classes=model.classes_)
            folds.setdefault((setting, "u65"), []).append(100 * float(score))
            folds.setdefault((setting, "determinacy"), []).append(100 * float(determinacy(None, sets)))

        splits = StratifiedKFold(_FOLDS, shuffle=True, random_state=int(part)).split(np.empty(len(y)), y)
        for number, (train, test) in enumerate(splits):
            seed = zlib.crc32(f"{dataset} {part} {number}".encode())
            model = CautiousForestClassifier(s=1, splitter="best", random_state=seed)
            model.fit(data.X.take(train), y[train])
            for (reading, strict), s, variant in product(READINGS.items(), SIZES, VARIANTS):
                aggregate = credal.Average() if variant == "baseline" else credal.Belief(VARIANTS[variant], strict)
                keep(f"{reading}/{s}/{variant}", model.set_params(s=s, aggregate=aggregate), test)
            for name, settings in OWN.items():
                own = CautiousForestClassifier(**settings, random_state=seed)
                keep(name, own.fit(data.X.take(train), y[train]), test)
        return {key: float(np.mean(values)) for key, values in folds.items()}

    def report(self, results: Results) -> Report:
        return cautious_report(self.title, results)
