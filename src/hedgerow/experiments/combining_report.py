"""Table 1, Figures 3 to 6, the number of trees and the claims of Busch et al., from the stored scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hedgerow import rules
from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.published import published
from hedgerow.experiments.report import Cell, Claim, Figure, Report, Table
from hedgerow.experiments.statistics import mean_ranks, signed_rank, stars
from hedgerow.experiments.study import Results
from hedgerow.plots.palette import BLACK, BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["LEAF_SIZES", "N_TREES", "SINGLE_SPLIT", "combining_report"]

Floats = NDArray[np.float64]

LEAF_SIZES = (1, 2, 3, 4, 8, 32)
N_TREES = (5, 10, 25, 100)
SINGLE_SPLIT = ("telescope", "ionosphere", "webdata", "airlines-sample")
"""Datasets of Figure 5."""

_NINE = rules.names()
_METHODS = (*_NINE, "tree", "forest")
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
_EVEN, _UNEVEN = "even", "uneven"  # class ratio .4 to .6; below .3 or above .7
_INTRODUCTION = (
    "F. Busch, M. Kulessa, E. Loza Mencía and H. Blockeel, *Combining Predictions under Uncertainty: The Case of "
    "Random Decision Trees* (2021). 100 random trees, least leaf sizes 1, 2, 3, 4, 8 and 32, nine rules by their "
    "signed score, beside a CART tree and a random forest with the same leaf sizes. Five times two halves, stratified. "
    "(The paper says five times two-fold cross-validation; the published code of its authors draws five random halves.)"
)


def combining_report(title: str, results: Results) -> Report:
    """Report on the datasets that are there; those of one split only stay out of the ranks."""
    full = [one for one in results.datasets if one != "airlines-sample"]
    data = _Data(results, full)
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
    if data.of_ratio(_EVEN) and data.of_ratio(_UNEVEN):
        parts.append(Figure("figure6", "Figure 6: accuracy by class ratio", partial(_draw_by_ratio, data)))
    parts += [_trees_table(data), _forest_rules_table(data), _evidence_table(data)]
    return Report(title, _INTRODUCTION, parts, _claims(data, results))


class _Data:
    """Means over the splits of the datasets that are ranked."""

    def __init__(self, results: Results, datasets: Sequence[str]) -> None:
        self.results = results
        self.datasets = list(datasets)
        ratios = {row["dataset"]: float(row["class_ratio"]) for row in published("combining_table1")}
        found = results.means(datasets, ["data"], "positive share")[:, 0]
        self._ratio = np.array([ratios.get(one, share) for one, share in zip(datasets, found, strict=True)])

    def means(self, settings: Sequence[str], measure: str) -> Floats:
        return self.results.means(self.datasets, settings, measure)

    def at(self, methods: Sequence[str], size: int, measure: str) -> Floats:
        """(n_datasets, n_methods) at one leaf size."""
        return self.means([f"{method}/{size}" for method in methods], measure)

    def ranks(self, methods: Sequence[str], size: int, measure: str) -> Floats:
        """Rank of each method in each dataset, 1 for the best."""
        ranks: Floats = stats.rankdata(-self.at(methods, size, measure), axis=1)
        return ranks

    def of_ratio(self, kind: str) -> list[int]:
        """Numbers of the datasets with even, or with uneven, classes."""
        even = (self._ratio >= 0.4) & (self._ratio <= 0.6)
        uneven = (self._ratio < 0.3) | (self._ratio > 0.7)
        return np.flatnonzero(even if kind == _EVEN else uneven).tolist()


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


def _rank_table(data: _Data, measure: str) -> Table:
    """Mean rank among all pairs of a method and a leaf size, jointly per dataset."""
    settings = [f"{method}/{size}" for method in _METHODS for size in LEAF_SIZES]
    ranks = mean_ranks(data.means(settings, measure)).reshape(len(_METHODS), len(LEAF_SIZES))
    rows: list[list[Cell]] = [[method, *row.tolist()] for method, row in zip(_METHODS, ranks, strict=True)]
    title = f"Figure 3 as numbers: mean rank in {'AUC' if measure == 'auc' else measure}"
    note = f"All {len(settings)} pairs of method and leaf size, ranked jointly in each dataset ({len(data.datasets)})."
    return Table(f"ranks_{measure}", title, ["method", *(f"leaf {size}" for size in LEAF_SIZES)], rows, note, 1)


def _wins(data: _Data, size: int) -> tuple[Floats, list[list[str]]]:
    """How often the method of the row is better than that of the column, and the marks of the test."""
    scores = data.at(_PAIRS, size, "auc")
    n = len(_PAIRS)
    wins = (scores[:, :, np.newaxis] > scores[:, np.newaxis]).sum(axis=0)
    n_tests = n * (n - 1) // 2
    marks = [
        ["" if i == j else stars(signed_rank(scores[:, i] - scores[:, j]), n_tests) for j in range(n)] for i in range(n)
    ]
    return wins, marks


def _wins_table(data: _Data) -> Table:
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


def _trees_table(data: _Data) -> Table:
    rows: list[list[Cell]] = []
    for size in LEAF_SIZES:
        for method in _NINE:
            settings = [f"{method}/{size}{'' if n == 100 else f'/{n} trees'}" for n in N_TREES]
            auc, accuracy = (100 * data.means(settings, measure).mean(axis=0) for measure in ("auc", "accuracy"))
            rows.append([str(size), method, *auc.tolist(), *accuracy.tolist()])
    columns = ["leaf", "rule", *(f"AUC, {n} trees" for n in N_TREES), *(f"accuracy, {n} trees" for n in N_TREES)]
    return Table("trees", "The rules over the number of trees", columns, rows, "Percent, mean over the datasets.")


def _mean_rows(data: _Data, methods: Sequence[str], prefix: str) -> list[list[Cell]]:
    """AUC and accuracy of each method over the leaf sizes, percent, mean over the datasets."""
    rows: list[list[Cell]] = []
    for method, measure in product(methods, ("auc", "accuracy")):
        means = data.means([f"{prefix}{method}/{size}" for size in LEAF_SIZES], measure).mean(axis=0)
        rows.append([method, measure, *(100 * means).tolist()])
    return rows


def _forest_rules_table(data: _Data) -> Table:
    rows = _mean_rows(data, _NINE, "forest ")
    columns = ["rule", "measure", *(f"leaf {size}" for size in LEAF_SIZES)]
    note = "The trees of a random forest instead of random trees: percent, mean over the datasets."
    return Table("forest_rules", "The rules on random forests", columns, rows, note)


def _evidence_table(data: _Data) -> Table:
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


def _draw_ranks(data: _Data) -> Picture:
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


def _draw_wins(data: _Data) -> Picture:
    from matplotlib import pyplot as plt

    figure, grid = plt.subplots(2, 3, figsize=(10, 7), layout="constrained")
    short = [method[:5] + "." if len(method) > 8 else method for method in _PAIRS]
    for axes, size in zip(grid.flat, LEAF_SIZES, strict=True):
        wins, marks = _wins(data, size)
        axes.imshow(wins, cmap="Blues", vmin=0, vmax=len(data.datasets))
        for i, j in np.ndindex(wins.shape):
            if i != j:
                colour = "white" if wins[i, j] > 0.6 * len(data.datasets) else "black"
                axes.text(j, i, f"{wins[i, j]}\n{marks[i][j]}", ha="center", va="center", color=colour, fontsize=8)
        axes.set_xticks(range(len(_PAIRS)), short, rotation=45)
        axes.set_yticks(range(len(_PAIRS)), short)
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


def _draw_by_ratio(data: _Data) -> Picture:
    from matplotlib import pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(11, 4.6), sharey=True, layout="constrained")
    titles = {_EVEN: "class ratio .4 to .6", _UNEVEN: "class ratio below .3 or above .7"}
    for axes, (kind, title) in zip(both, titles.items(), strict=True):
        chosen = data.of_ratio(kind)
        ranks = np.array([data.ranks(_METHODS, size, "accuracy")[chosen].mean(axis=0) for size in LEAF_SIZES])
        _lines(axes, LEAF_SIZES, dict(zip(_METHODS, ranks.T, strict=True)))
        axes.set_title(f"{title}: {len(chosen)} datasets")
    both[0].set_ylabel("mean rank in accuracy of 11 (1 is best)")
    both[0].invert_yaxis()
    both[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


# --- Claims -------------------------------------------------------------------------------------------------


def _claims(data: _Data, results: Results) -> list[Claim]:
    """The statements of sections 5.2 and 5.3."""

    def gap(better: str, than: str, measure: str, methods: Sequence[str] = _NINE) -> Callable[[int], Floats]:
        """By how many ranks one method is ahead of another in each dataset, at a leaf size."""

        def at(size: int) -> Floats:
            ranks = data.ranks(methods, size, measure)
            ahead: Floats = ranks[:, methods.index(than)] - ranks[:, methods.index(better)]
            return ahead

        return at

    def mean_over(at: Callable[[int], Floats], sizes: Sequence[int]) -> Floats:
        mean: Floats = np.mean([at(size) for size in sizes], axis=0)
        return mean

    def ahead_of_all(method: str, others: Sequence[str], measure: str, sizes: Sequence[int]) -> Floats:
        """By how many ranks a method is ahead of the best of the others in the mean over the datasets."""
        methods = (method, *others)
        ranks = np.mean([data.ranks(methods, size, measure) for size in sizes], axis=0)
        rival = 1 + int(ranks[:, 1:].mean(axis=0).argmin())
        ahead: Floats = ranks[:, rival] - ranks[:, 0]
        return ahead

    others = tuple(name for name in _NINE if name != "evidence")
    averages = ("probability", "laplace", "plausibility", "confidence")
    laplace = gap("probability", "laplace", "auc")
    falls = gap("probability", "plausibility", "auc")
    vote = gap("probability", "vote", "accuracy")
    weak = [
        np.mean([data.ranks(_NINE, size, "auc") for size in LEAF_SIZES], axis=0)[:, [_NINE.index(one) for one in names]]
        for names in (("dempster", "cautious"), averages)
    ]
    per_size = ", ".join(f"leaf {size}: {laplace(size).mean():+.1f}" for size in LEAF_SIZES)
    claims = [
        on_datasets(
            "Laplace's correction ranks below plain averaging in AUC at every leaf size.",
            *("5.2, Figure 4", mean_over(laplace, LEAF_SIZES), "ranks that averaging is ahead"),
            also=all(laplace(size).mean() > 0 for size in LEAF_SIZES),
            detail=per_size,
        ),
        on_datasets(
            "Evidence accumulation is first of the nine rules in accuracy at leaf sizes above 2.",
            *("5.2, Figure 3", ahead_of_all("evidence", others, "accuracy", (3, 4, 8, 32))),
            "ranks ahead of the best other rule",
        ),
        on_datasets(
            "Plausibility is close to averaging in AUC in small leaves and falls behind as they grow.",
            *("5.2, Figure 4", falls(32) - falls(1), "ranks that it loses from leaf size 1 to 32"),
        ),
        on_datasets(
            "At medium leaf sizes (3, 4, 8) confidence bounds are the best of the averaged scores in AUC.",
            *("5.2, Figure 4", ahead_of_all("confidence", averages[:3], "auc", (3, 4, 8))),
            "ranks ahead of the best other averaged score",
        ),
        on_datasets(
            "Dempster's rule and the cautious rule are weak in AUC.",
            *("5.2, Figure 3", weak[0].mean(axis=1) - weak[1].mean(axis=1)),
            "ranks that both are behind the averaged scores",
        ),
    ]
    if even := data.of_ratio(_EVEN):
        strong = ahead_of_all("dempster", tuple(one for one in _NINE if one != "dempster"), "accuracy", (3, 4, 8, 32))
        claims.append(
            on_datasets(
                "On balanced data Dempster's rule is as good in accuracy as any other, at leaf sizes above 2.",
                *("5.3, Figure 6", strong[even] + 1.0, "ranks ahead of the best other rule, with a margin of one rank"),
            )
        )
    if data.of_ratio(_EVEN) and (uneven := data.of_ratio(_UNEVEN)):
        ahead = mean_over(gap("forest", "evidence", "accuracy", _METHODS), LEAF_SIZES)
        claims += [
            on_datasets(
                "On unbalanced data the random forest is ahead of evidence accumulation on random trees.",
                *("5.2, Figure 6", ahead[uneven], "ranks ahead in accuracy"),
            ),
            on_datasets(
                "On balanced data the random forest has next to no lead.",
                *("5.2, Figure 6", 1.0 - ahead[data.of_ratio(_EVEN)], "ranks by which its lead stays below one rank"),
            ),
        ]
    claims.append(
        on_datasets(
            "Voting is level with averaging in accuracy in the smallest leaves only.",
            *("5.3, Figure 3", vote(32) - vote(1), "ranks that it loses from leaf size 1 to 32"),
            detail=f"averaging ahead by {vote(1).mean():.1f} ranks at leaf size 1, {vote(32).mean():.1f} at 32",
        )
    )
    if "airlines-sample" in results.datasets:
        claims.append(
            on_datasets(
                "Pooling is ahead of the other rules on airlines (here a sample of 5 % of its rows).",
                *("5.3, Figure 5", _lead_of_pool(results, "airlines-sample")),
                "points of accuracy over the best other rule, mean over leaf sizes from 2",
                unit="splits",
            )
        )
    return claims


def _lead_of_pool(results: Results, dataset: str) -> Floats:
    """Points of accuracy by which pooling is ahead of the best other rule in each split, mean over leaf sizes."""
    leads = []
    for size in LEAF_SIZES[1:]:
        of_rules = np.array([results.of_parts(dataset, f"{name}/{size}", "accuracy") for name in _NINE])
        others = np.delete(of_rules, _NINE.index("pool"), axis=0)
        leads.append(of_rules[_NINE.index("pool")] - others.max(axis=0))
    lead: Floats = 100 * np.mean(leads, axis=0)
    return lead
