"""Table 1, Figures 3 to 6, and the rules over the number of trees of Busch et al., from the stored scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.findings import Cell, Figure, Report, Table
from hedgerow.experiments.published import published
from hedgerow.experiments.reports.combining_claims import combining_claims, combining_differences
from hedgerow.experiments.reports.combining_scores import EVEN, LEAF_SIZES, METHODS, NINE, UNEVEN, MethodScores
from hedgerow.experiments.statistics import mean_ranks, signed_rank, stars
from hedgerow.experiments.study import Results
from hedgerow.plots.palette import BLACK, BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["N_TREES", "SINGLE_SPLIT", "combining_report"]

Floats = NDArray[np.float64]

N_TREES = (5, 10, 25, 100)
SINGLE_SPLIT = ("telescope", "ionosphere", "webdata", "airlines-sample")
"""Datasets of Figure 5."""

_PAIRS = ("probability", "laplace", "plausibility", "confidence", "evidence")  # of Figure 4
_EVIDENCE = ("evidence", "evidence-published", "tempered")
_COLOURS = {
    "probability": BLUE,
    "laplace": SKY_BLUE,
    "plausibility": GREEN,
    "confidence": ORANGE,
    "evidence": VERMILION,
    "dempster": PURPLE,
    "cautious": GREY,
    "pool": "#8C6D31",
    "vote": LIGHT_GREY,
    "tree": BLACK,
    "forest": BLACK,
}
_INTRODUCTION = (
    "F. Busch, M. Kulessa, E. Loza Mencía and H. Blockeel, *Combining Predictions under Uncertainty: The Case of "
    "Random Decision Trees* (2021). 100 random trees, least leaf sizes 1, 2, 3, 4, 8 and 32, nine rules by their "
    "signed score, beside a CART tree and a random forest with the same leaf sizes. Five times two-fold "
    "cross-validation, stratified."
)


def combining_report(title: str, results: Results) -> Report:
    """Report on the datasets that are there; those of one split only stay out of the ranks."""
    full = [one for one in results.datasets if one != "airlines-sample"]
    data = MethodScores(results, full)
    parts: list[Table | Figure] = [
        _table_1(results),
        *(_rank_table(data, measure) for measure in ("auc", "accuracy")),
        Figure("figure3", "Figure 3: mean ranks of 66 methods", partial(_draw_ranks, data)),
        _wins_table(data),
        Figure("figure4", "Figure 4: who beats whom in AUC", partial(_draw_wins, data)),
    ]
    single = [one for one in SINGLE_SPLIT if one in results.datasets] or [
        one for one in ("breast-cancer", "digits") if one in results.datasets
    ]
    note = "Dots are single trees of the first split; shaded: one, two and three standard deviations around their mean."
    parts.append(Figure("figure5", "Figure 5: accuracy on single splits", partial(_draw_single, results, single), note))
    if data.of_ratio(EVEN) and data.of_ratio(UNEVEN):
        parts.append(Figure("figure6", "Figure 6: accuracy by class ratio", partial(_draw_by_ratio, data)))
    parts += [_trees_table(data), _forest_rules_table(data), _evidence_table(data)]
    return Report(title, _INTRODUCTION, parts, combining_claims(data, results), combining_differences(results))


# --- Tables -------------------------------------------------------------------------------------------------


def _table_1(results: Results) -> Table:
    rows: list[list[Cell]] = []
    there = set(results.datasets)
    for row in published("combining_table1"):
        if row["dataset"] in there:
            name = row["dataset"]
            share = float(results.means([name], ["data"], "positive share")[0, 0])
            printed = float(row["class_ratio"])
            ours = share if abs(share - printed) <= abs(1 - share - printed) else 1 - share
            rows.append([name, int(row["n_rows"]), int(row["n_features"]), printed, ours])
    columns = ["dataset", "rows (paper)", "features (paper)", "class ratio (paper)", "class ratio (here)"]
    return Table("table1", "Table 1: the datasets", columns, rows)


def _rank_table(data: MethodScores, measure: str) -> Table:
    """Mean rank among all pairs of a method and a leaf size, jointly per dataset."""
    settings = [f"{method}/{size}" for method in METHODS for size in LEAF_SIZES]
    ranks = mean_ranks(data.means(settings, measure)).reshape(len(METHODS), len(LEAF_SIZES))
    rows: list[list[Cell]] = [[method, *row.tolist()] for method, row in zip(METHODS, ranks, strict=True)]
    title = f"Figure 3 as numbers: mean rank in {'AUC' if measure == 'auc' else measure}"
    note = f"All {len(settings)} pairs of method and leaf size, ranked jointly in each dataset ({len(data.datasets)})."
    return Table(f"ranks_{measure}", title, ["method", *(f"leaf {size}" for size in LEAF_SIZES)], rows, note, 1)


def _wins(data: MethodScores, size: int) -> tuple[Floats, list[list[str]]]:
    """How often the method of the row is better than that of the column, and the marks of the test."""
    scores = data.at(_PAIRS, size, "auc")
    n = len(_PAIRS)
    wins = (scores[:, :, np.newaxis] > scores[:, np.newaxis]).sum(axis=0)
    n_tests = n * (n - 1) // 2
    marks = [
        ["" if i == j else stars(signed_rank(scores[:, i] - scores[:, j]), n_tests) for j in range(n)] for i in range(n)
    ]
    return wins, marks


def _wins_table(data: MethodScores) -> Table:
    rows: list[list[Cell]] = []
    for size in LEAF_SIZES:
        wins, marks = _wins(data, size)
        for i, method in enumerate(_PAIRS):
            cells = ["" if i == j else f"{wins[i, j]} {marks[i][j]}".strip() for j in range(len(_PAIRS))]
            rows.append([str(size), method, *cells])
    note = (
        "Datasets in which the method of the row has the higher AUC. Stars: Wilcoxon's signed-rank test at .05, .01 "
        "and .001, after Bonferroni's correction for the ten pairs of a leaf size."
    )
    return Table("wins", "Figure 4 as numbers: wins in AUC", ["leaf", "method", *_PAIRS], rows, note)


def _trees_table(data: MethodScores) -> Table:
    rows: list[list[Cell]] = []
    for size in LEAF_SIZES:
        for method in NINE:
            settings = [f"{method}/{size}{'' if n == 100 else f'/{n} trees'}" for n in N_TREES]
            auc, accuracy = (100 * data.means(settings, measure).mean(axis=0) for measure in ("auc", "accuracy"))
            rows.append([str(size), method, *auc.tolist(), *accuracy.tolist()])
    columns = ["leaf", "rule", *(f"AUC, {n} trees" for n in N_TREES), *(f"accuracy, {n} trees" for n in N_TREES)]
    return Table("trees", "The rules over the number of trees", columns, rows, "Percent, mean over the datasets.")


def _mean_rows(data: MethodScores, methods: Sequence[str], prefix: str) -> list[list[Cell]]:
    """AUC and accuracy of each method over the leaf sizes, percent, mean over the datasets."""
    rows: list[list[Cell]] = []
    for method, measure in product(methods, ("auc", "accuracy")):
        means = data.means([f"{prefix}{method}/{size}" for size in LEAF_SIZES], measure).mean(axis=0)
        rows.append([method, measure, *(100 * means).tolist()])
    return rows


def _forest_rules_table(data: MethodScores) -> Table:
    rows = _mean_rows(data, NINE, "forest ")
    columns = ["rule", "measure", *(f"leaf {size}" for size in LEAF_SIZES)]
    note = "The trees of a random forest instead of random trees: percent, mean over the datasets."
    return Table("forest_rules", "The rules on random forests", columns, rows, note)


def _evidence_table(data: MethodScores) -> Table:
    rows = _mean_rows(data, _EVIDENCE, "")
    columns = ["evidence", "measure", *(f"leaf {size}" for size in LEAF_SIZES)]
    note = (
        "As the paper prints it; as its authors' code has it, which subtracts (K − 1)·P(y) where the formula gives "
        "(K − 1)·log P(y); and tempered, our default. Percent, mean over the datasets."
    )
    return Table("evidence", "Evidence, three ways", columns, rows, note)


# --- Figures ------------------------------------------------------------------------------------------------


def _lines(axes: object, x: Sequence[int], values: dict[str, Floats]) -> None:
    for method, y in values.items():
        style = {"tree": ":", "forest": "--"}.get(method, "-")
        axes.plot(range(len(x)), y, style, marker="o", ms=3.5, color=_COLOURS[method], label=method)  # type: ignore[attr-defined]
    axes.set_xticks(range(len(x)), [str(one) for one in x])  # type: ignore[attr-defined]
    axes.set_xlabel("least rows of a leaf")  # type: ignore[attr-defined]


def _draw_ranks(data: MethodScores) -> Picture:
    from matplotlib import pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    for axes, measure, title in zip(both, ("auc", "accuracy"), ("AUC", "accuracy"), strict=True):
        table = _rank_table(data, measure)
        _lines(axes, LEAF_SIZES, {str(row[0]): np.array(row[1:], dtype=float) for row in table.rows})
        axes.set_title(f"{title}, {len(data.datasets)} datasets")
    both[0].set_ylabel("mean rank of 66 (1 is best)")
    both[0].invert_yaxis()
    both[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _draw_wins(data: MethodScores) -> Picture:
    from matplotlib import pyplot as plt

    figure, grid = plt.subplots(2, 3, figsize=(10, 7), layout="constrained")
    for axes, size in zip(grid.flat, LEAF_SIZES, strict=True):
        wins, marks = _wins(data, size)
        axes.imshow(wins, cmap="Blues", vmin=0, vmax=len(data.datasets))
        for i, j in np.ndindex(wins.shape):
            if i != j:
                colour = "white" if wins[i, j] > 0.6 * len(data.datasets) else "black"
                cell = f"{wins[i, j]}\n{marks[i][j]}".strip()
                axes.text(j, i, cell, ha="center", va="center", color=colour, fontsize=8)
        axes.set_xticks(range(len(_PAIRS)), _PAIRS, rotation=40, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(_PAIRS)), _PAIRS)
        axes.set_title(f"leaf size {size}")
    figure.suptitle("Datasets in which the row has the higher AUC (stars: .05, .01, .001, corrected)")
    return figure


def _draw_single(results: Results, datasets: Sequence[str]) -> Picture:
    from matplotlib import pyplot as plt

    shown = ("probability", "evidence", "dempster", "pool", "vote", "tree", "forest")
    figure, row = plt.subplots(
        1, len(datasets), figsize=(3.6 * len(datasets) + 1.4, 4), layout="constrained", squeeze=False
    )
    for axes, dataset in zip(row[0], datasets, strict=True):
        trees = [_first(results, dataset, [f"one tree {t}/{size}" for t in range(100)]) for size in LEAF_SIZES]
        mean, spread = (np.array([function(one) for one in trees]) for function in (np.mean, np.std))
        x = np.arange(len(LEAF_SIZES))
        for times in (3, 2, 1):
            axes.fill_between(x, mean - times * spread, mean + times * spread, color=SKY_BLUE, alpha=0.15, lw=0)
        for number, one in enumerate(trees):
            axes.plot(np.full(len(one), number), one, ".", ms=2, color=SKY_BLUE, alpha=0.5)
        values = {m: _first(results, dataset, [f"{m}/{size}" for size in LEAF_SIZES]) for m in shown}
        _lines(axes, LEAF_SIZES, values)
        axes.set_title(dataset)
    row[0][0].set_ylabel("accuracy")
    row[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _first(results: Results, dataset: str, settings: Sequence[str]) -> Floats:
    """Accuracies of the first split."""
    return np.array([results.of_parts(dataset, setting, "accuracy")[0] for setting in settings])


def _draw_by_ratio(data: MethodScores) -> Picture:
    from matplotlib import pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    titles = {EVEN: "class ratio .4 to .6", UNEVEN: "class ratio below .3 or above .7"}
    for axes, (kind, title) in zip(both, titles.items(), strict=True):
        chosen = data.of_ratio(kind)
        ranks = np.array([data.ranks(METHODS, size, "accuracy")[chosen].mean(axis=0) for size in LEAF_SIZES])
        _lines(axes, LEAF_SIZES, dict(zip(METHODS, ranks.T, strict=True)))
        axes.set_title(f"{title}: {len(chosen)} datasets")
    both[0].set_ylabel("mean rank in accuracy of 11 (1 is best)")
    both[0].invert_yaxis()
    both[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure
