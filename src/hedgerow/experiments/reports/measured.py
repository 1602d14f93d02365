"""Tables, figures and claims about measured inputs, from the stored scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.findings import Cell, Claim, Figure, Report, Table
from hedgerow.experiments.statistics import Difference, paired
from hedgerow.experiments.study import Results
from hedgerow.plots.palette import BLACK, BLUE, GREY, SKY_BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["RATIOS", "measured_report"]

Floats = NDArray[np.float64]

RATIOS = (0.15, 0.45, 0.9)
"""Standard deviations of the errors, as shares of that of the column; the claims are decided at the second."""
_LEAD = RATIOS[1]

_FAMILIES = {
    "tree": ("tree", "tree, σ = 0"),
    "forest": ("forest", "forest, σ = 0", "scikit-learn's forest"),
    "boosting": ("boosting, σ = 0", "scikit-learn's boosting"),
}
"""Hard models that the soft one of each family is compared with."""
_STYLES = {
    "": (BLUE, "s", "ordinary"),
    ", σ = 0": (SKY_BLUE, "^", "told σ = 0"),
    "scikit-learn's ": (GREY, "D", "scikit-learn's"),
    "soft ": (VERMILION, "o", "soft"),
}
"""Colour, marker and legend by what is added to the name of a family."""

_INTRODUCTION = (
    "M. Tami, M. Clausel, E. Devijver, E. Gaussier, J.-M. Aubert and M. Chebre, *Decision Tree for Uncertainty "
    "Measures* (2018). The document has no experiments: it proposes soft trees, and names forests and boosting as what "
    "comes next. Here errors are added to every column of training and test rows, .15, .45 and .9 times as large as "
    "the column's standard deviation, and the soft models are told how large they are. Models learn from 1,000 rows "
    "(half of them where there are fewer than 2,000). A figure is the mean squared error against the truth without "
    "noise (of real data: against the target), as a share of its variance. σ = 0 marks the estimator of the soft model "
    "when it is told that there are no errors. All models have their default parameters."
)


def measured_report(title: str, results: Results) -> Report:
    """Report on the datasets that are there."""
    parts: list[Table | Figure] = [
        _gains_table(results),
        Figure("gains", "What is gained over the size of the errors", partial(_draw_gains, results)),
        Figure("errors", f"Errors of {_LEAD:g} standard deviations", partial(_draw_errors, results)),
        *(_errors_table(results, ratio) for ratio in RATIOS),
    ]
    return Report(title, _INTRODUCTION, parts, _claims(results), _DIFFERENCES)


_DIFFERENCES = (
    "The document has neither data nor results, so nothing here is compared with print. Its statements are decided at "
    f"errors of {_LEAD:g} standard deviations, against the best hard model of each family on each dataset.",
    "Equation 7 of the document tries every observed value as a threshold. The runs try up to 64 quantiles of the "
    "midpoints between them, which is the default.",
    "Errors of real data come on top of those that the columns already had, of which nothing is known; the soft models "
    "are told the size of the added ones only.",
)


def _gain(results: Results, dataset: str, family: str, ratio: float) -> Difference:
    """Percent of squared error that the soft model has less than the best hard one, over the repeats."""
    soft = results.of_parts(dataset, f"soft {family}/{ratio:g}", "error")
    hard = [results.of_parts(dataset, f"{one}/{ratio:g}", "error") for one in _FAMILIES[family]]
    best = min(hard, key=lambda values: float(values.mean()))
    return paired(100 * (1 - soft / best))


def _gains_table(results: Results) -> Table:
    columns = [(family, ratio) for family in _FAMILIES for ratio in RATIOS]
    rows: list[list[Cell]] = [
        [dataset, *(str(_gain(results, dataset, *one)) for one in columns)] for dataset in results.datasets
    ]
    note = (
        "Percent of squared error that the soft model has less than the best hard one of its family, with 95 % "
        "half-widths over the repeats; by the standard deviation of the errors as a share of that of the column."
    )
    head = ["dataset", *(f"{family}, {ratio:g}" for family, ratio in columns)]
    return Table("gains", "What is gained by knowing the errors", head, rows, note)


def _errors_table(results: Results, ratio: float) -> Table:
    models = [one for family, hard in _FAMILIES.items() for one in (*hard, f"soft {family}")]
    rows: list[list[Cell]] = [
        [one, *results.means([one], [f"{model}/{ratio:g}" for model in models], "error")[0].tolist()]
        for one in results.datasets
    ]
    title = f"Squared error with errors of {ratio:g} standard deviations"
    note = "As a share of the variance of the truth; mean over the repeats."
    return Table(f"errors_{100 * ratio:.0f}", title, ["dataset", *models], rows, note, digits=3)


def _draw_gains(results: Results) -> Picture:
    from matplotlib import pyplot as plt

    figure, row = plt.subplots(1, len(_FAMILIES), figsize=(10, 4), layout="constrained", sharey=True)
    for axes, family in zip(row, _FAMILIES, strict=True):
        gains = np.array([[_gain(results, one, family, ratio).mean for ratio in RATIOS] for one in results.datasets])
        for line in gains:
            axes.plot(RATIOS, line, color=BLUE, alpha=0.35, lw=1)
        axes.plot(RATIOS, gains.mean(axis=0), color=VERMILION, lw=2.5, marker="o", label="mean")
        axes.axhline(0, color=BLACK, lw=0.6)
        axes.set(title=f"soft {family}", xlabel="errors, in standard deviations of the column", xticks=RATIOS)
    row[0].set_ylabel("squared error below the best hard model, %")
    row[0].legend(frameon=False)
    figure.suptitle(f"A line for each of {len(results.datasets)} datasets")
    return figure


def _draw_errors(results: Results) -> Picture:
    from matplotlib import pyplot as plt

    names = results.datasets
    figure, row = plt.subplots(
        1, len(_FAMILIES), figsize=(11, 0.42 * len(names) + 1.8), layout="constrained", sharey=True, sharex=True
    )
    for axes, (family, hard) in zip(row, _FAMILIES.items(), strict=True):
        models = (*hard, f"soft {family}")
        for number, model in enumerate(models):
            colour, marker, label = _STYLES[model.replace(family, "")]
            parts = [results.of_parts(one, f"{model}/{_LEAD:g}", "error") for one in names]
            widths = [paired(one).half_width if len(one) > 1 else 0.0 for one in parts]
            means = [float(one.mean()) for one in parts]
            places = np.arange(len(names)) + 0.14 * (number - (len(models) - 1) / 2)
            axes.errorbar(means, places, xerr=widths, fmt=marker, ms=5, color=colour, elinewidth=1, label=label)
        axes.set(title=family, xlabel="squared error / variance of the truth")
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
    row[0].set_yticks(range(len(names)), names)
    row[0].invert_yaxis()
    figure.legend(*row[1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _claims(results: Results) -> list[Claim]:
    def gains(family: str, ratio: float = _LEAD) -> Floats:
        return np.array([_gain(results, one, family, ratio).mean for one in results.datasets])

    def at_others(family: str) -> str:
        means = {ratio: gains(family, ratio).mean() for ratio in RATIOS if ratio != _LEAD}
        return ", ".join(f"{mean:+.1f} with errors of {ratio:g}" for ratio, mean in means.items())

    def below(better: str, than: str) -> Floats:
        """Percent that one model's mean error is below another's, in each dataset."""
        means = results.means(results.datasets, [f"{one}/{_LEAD:g}" for one in (better, than)], "error")
        found: Floats = 100 * (1 - means[:, 0] / means[:, 1])
        return found

    quantity = "percent less squared error"
    return [
        on_datasets(
            "A soft tree is nearer to the truth than a tree that knows nothing of the errors.",
            *("4", gains("tree"), quantity),
            detail=at_others("tree"),
        ),
        on_datasets(
            "A forest of soft trees improves on one soft tree.", *("5", below("soft forest", "soft tree"), quantity)
        ),
        on_datasets(
            "Boosted soft trees improve on one soft tree.", *("5", below("soft boosting", "soft tree"), quantity)
        ),
        on_datasets(
            "A forest of soft trees is nearer to the truth than a forest that knows nothing of the errors.",
            *("5", gains("forest"), quantity),
            detail=at_others("forest"),
        ),
        on_datasets(
            "Boosted soft trees are nearer to the truth than boosted trees that know nothing of the errors.",
            *("5", gains("boosting"), quantity),
            detail=at_others("boosting"),
        ),
    ]
