"""Table, figure and claims about measured inputs, from the stored scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.report import Cell, Claim, Figure, Report, Table
from hedgerow.experiments.statistics import paired
from hedgerow.experiments.study import Results
from hedgerow.plots.palette import BLACK, BLUE, GREY, LIGHT_GREY, ORANGE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["RATIO", "measured_report"]

Floats = NDArray[np.float64]

RATIO = 0.45
"""Standard deviation of the errors, as a share of that of the column."""

_COLOURS = {
    "tree": LIGHT_GREY,
    "soft tree": ORANGE,
    "forest": BLUE,
    "scikit-learn's forest": GREY,
    "soft forest": VERMILION,
    "scikit-learn's boosting": BLACK,
}
_INTRODUCTION = (
    "M. Tami, M. Clausel, E. Devijver, E. Gaussier, J.-M. Aubert and M. Chebre, *Decision Tree for Uncertainty "
    "Measures* (2018). The document has no experiments; it proposes soft trees and asks for forests and boosting. Here "
    f"errors of {RATIO:g} standard deviations are added to every column of training and test rows, and their size "
    "is told to the soft models. The error is the mean squared error against the truth without noise (of real "
    "data: against the target), as a share of its variance."
)


def measured_report(title: str, results: Results) -> Report:
    """Report on the datasets that are there."""
    parts: list[Table | Figure] = [_table(results), Figure("errors", "Error of each model", partial(_draw, results))]
    return Report(title, _INTRODUCTION, parts, _claims(results))


def _table(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for dataset in results.datasets:
        values = {name: results.of_parts(dataset, name, "error") for name in _COLOURS}
        gain = paired(100 * (1 - values["soft forest"] / values["forest"]))
        rows.append([dataset, *(float(one.mean()) for one in values.values()), f"{gain} %"])
    columns = ["dataset", *_COLOURS, "soft forest below forest by"]
    return Table("errors", "Squared error, as a share of the variance of the truth", columns, rows, digits=3)


def _draw(results: Results) -> Picture:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(1.5 * len(results.datasets) + 3.5, 4), layout="constrained")
    width = 0.8 / len(_COLOURS)
    x = np.arange(len(results.datasets))
    for number, (name, colour) in enumerate(_COLOURS.items()):
        parts = [results.of_parts(one, name, "error") for one in results.datasets]
        errors = [one.std(ddof=1) / np.sqrt(len(one)) if len(one) > 1 else 0.0 for one in parts]
        place = x + (number - (len(_COLOURS) - 1) / 2) * width
        axes.bar(place, [one.mean() for one in parts], width, yerr=errors, color=colour, label=name, ecolor="0.4")
    axes.set_xticks(x, results.datasets)
    axes.set_ylabel("squared error / variance of the truth")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _claims(results: Results) -> list[Claim]:
    def below(better: str, than: str) -> Floats:
        """Percent that one model's mean error is below another's, in each dataset."""
        means = results.means(results.datasets, [better, than], "error")
        found: Floats = 100 * (1 - means[:, 0] / means[:, 1])
        return found

    return [
        on_datasets(
            "A soft tree is nearer to the truth than an ordinary tree.",
            *("4", below("soft tree", "tree"), "percent less squared error"),
        ),
        on_datasets(
            "A forest of soft trees improves on one soft tree.",
            *("5", below("soft forest", "soft tree"), "percent less squared error"),
        ),
        on_datasets(
            "A forest of soft trees is nearer to the truth than an ordinary forest.",
            *("5", below("soft forest", "forest"), "percent less squared error"),
        ),
    ]
