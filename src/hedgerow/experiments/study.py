"""Base of experiments: datasets, parts of work on each, and a report on the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.findings import Report
from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Scores

__all__ = ["Results", "Study"]

Floats = NDArray[np.float64]


class Results:
    """Scores of a study, by dataset, part, setting and measure."""

    def __init__(self, rows: Iterable[tuple[str, str, str, str, float]], quick: bool = False) -> None:
        self.quick = quick
        self._values: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
        for dataset, part, setting, measure, value in rows:
            self._values.setdefault(dataset, {}).setdefault(part, {})[setting, measure] = value

    @property
    def datasets(self) -> list[str]:
        """Datasets with scores."""
        return list(self._values)

    def n_parts(self, dataset: str) -> int:
        """Number of parts of a dataset that have scores."""
        return len(self._values[dataset])

    def settings(self, dataset: str) -> list[str]:
        """Settings that have scores on a dataset."""
        found = {setting for scores in self._values[dataset].values() for setting, _ in scores}
        return sorted(found)

    def of_parts(self, dataset: str, setting: str, measure: str) -> Floats:
        """Values of one setting in every part of a dataset, (n_parts,); NaN where there is none."""
        parts = self._values[dataset].values()
        return np.array([scores.get((setting, measure), np.nan) for scores in parts])

    def means(self, datasets: Sequence[str], settings: Sequence[str], measure: str) -> Floats:
        """Mean over the parts, (n_datasets, n_settings)."""
        return np.array([[self.of_parts(one, setting, measure).mean() for setting in settings] for one in datasets])


class Study(ABC):
    """An experiment of one document. Instances hold no data: they are sent to the processes that run their parts."""

    name: ClassVar[str]
    title: ClassVar[str]
    revision: ClassVar[int] = 1
    """Raised when the parts of a study change what they compute."""

    @abstractmethod
    def datasets(self, source: Source, quick: bool) -> list[str]:
        """Datasets of the study, small ones first; `source` says which are to be had."""

    @abstractmethod
    def absent(self, source: Source) -> list[str]:
        """Datasets that the full study has and `source` lacks."""

    @abstractmethod
    def parts(self, dataset: str, quick: bool) -> list[str]:
        """Parts of the work on a dataset."""

    @abstractmethod
    def run(self, source: Source, dataset: str, part: str) -> Scores:
        """Scores of one part; the same whenever and wherever it runs."""

    @abstractmethod
    def report(self, results: Results) -> Report:
        """Tables, figures and claims, from what has been finished."""
