"""Tables, figures and claims of the lecture, from the stored scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.report import Cell, Claim, Figure, Report, Table
from hedgerow.experiments.statistics import paired
from hedgerow.experiments.study import Results
from hedgerow.plots.palette import BLACK, BLUE, GREEN, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = [
    *("DRAWN_FEATURES", "ENSEMBLES", "EXPRESSION", "N_DRAWN", "N_TREES", "PRUNED_TO", "RELEVANT", "VARIANCE", "VOTERS"),
    "lecture_report",
]

Floats = NDArray[np.float64]

VARIANCE, RELEVANT, EXPRESSION = "variance of an average", "few relevant columns", "expression data"
ENSEMBLES = ("bagging", "forest")
N_TREES = (1, 2, 5, 10, 20, 50, 100, 200)
N_DRAWN = (1, 2, 5, 10, 25, 100)
DRAWN_FEATURES = (1, 2, 5, 10, 25, 50, 100)
PRUNED_TO = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
VOTERS = (1, 3, 5, 11, 21, 51)

_GENERATED = (VARIANCE, RELEVANT, EXPRESSION)
_COLOURS = {"tree": BLACK, "bagging": BLUE, "forest": VERMILION}
_INTRODUCTION = (
    "V. Honavar, *Decision Trees and Random Forests* (lecture notes, Penn State, 2022). The lecture shows what trees, "
    "bagging and forests do in pictures of examples; here they are repeated on real and on generated data, five-fold "
    "cross-validation, ten times."
)


def lecture_report(title: str, results: Results) -> Report:
    """Report on the datasets that are there."""
    real = [one for one in results.datasets if one not in _GENERATED]
    parts: list[Table | Figure] = []
    if real:
        parts += [
            _errors_table(results, real),
            Figure("trees", "Error over the number of trees", partial(_draw_trees, results, real)),
            Figure("boundaries", "Boundaries of a tree, of bagging and of a forest", _draw_boundaries),
            Figure("pruning", "Accuracy over the size of the tree", partial(_draw_sizes, results, real)),
            _sizes_table(results, real),
        ]
    if VARIANCE in results.datasets:
        parts += [_variance_table(results), _votes_table(results)]
    if RELEVANT in results.datasets:
        parts.append(_relevant_table(results))
    if EXPRESSION in results.datasets:
        parts.append(_expression_table(results))
    parts += [
        Figure(f"importance_{one}", f"Importance of the columns of {one}", partial(_draw_importance, results, one))
        for one in real
        if _importances(results, one)
    ]
    return Report(title, _INTRODUCTION, parts, _claims(results, real))


# --- Tables -------------------------------------------------------------------------------------------------


def _errors_table(results: Results, real: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for one in real:
        values = [results.of_parts(one, kind, "error") for kind in _COLOURS]
        gain = paired(values[0] - values[2])
        rows.append([one, *(float(value.mean()) for value in values), str(gain)])
    columns = ["dataset", "one tree", "bagging", "forest", "tree less forest"]
    return Table("errors", "Misclassification, percent", columns, rows, "200 trees.")


def _sizes_table(results: Results, real: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for one in real:
        for measure in ("training", "validation"):
            means = results.means([one], [f"leaves {size}" for size in PRUNED_TO], measure)[0]
            rows.append([one, measure, *means.tolist()])
    columns = ["dataset", "rows", *(f"{size} leaves" for size in PRUNED_TO)]
    return Table("sizes", "Accuracy over the size of the tree, percent", columns, rows, digits=1)


def _variance_table(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for k in N_DRAWN:
        measured, formula = (results.of_parts(VARIANCE, f"average of {k}", one) for one in ("measured", "formula"))
        rows.append([str(k), float(formula.mean()), float(measured.mean()), str(paired(measured / formula - 1))])
    rho = results.of_parts(VARIANCE, "variance", "rho").mean()
    note = (
        f"Regression trees on Friedman's first function, a third of the columns drawn for a split; ρ = {rho:.2f}. "
        "σ² and ρ come from one half of the training sets, the measured variance from the other."
    )
    columns = ["trees K", "ρσ² + (1 − ρ)σ²/K", "measured", "relative difference"]
    return Table("variance", "Variance of an average of trees", columns, rows, note, digits=3)


def _votes_table(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for k in VOTERS:
        wrong, all_wrong = (
            results.of_parts(VARIANCE, f"{k} voters", one).mean() for one in ("majority wrong", "all wrong")
        )
        rows.append([str(k), float(wrong), float(all_wrong)])
    note = (
        "Independent voters that are right with probability .7. (1 − p)^K is the probability that all are wrong, "
        "which is less than the error of their majority."
    )
    return Table(
        "votes", "A majority of independent voters", ["voters K", "majority wrong", "(1 − p)^K"], rows, note, 5
    )


def _relevant_table(results: Results) -> Table:
    rows: list[list[Cell]] = [
        [str(m), str(paired(results.of_parts(RELEVANT, f"m = {m}", "error")))[1:]] for m in DRAWN_FEATURES
    ]
    note = "300 training rows, 5 of 100 columns matter, a tenth of the labels is wrong; √100 = 10 is the usual m."
    return Table("few_relevant", "Error over the columns m drawn for a split, percent", ["m", "error"], rows, note)


def _expression_table(results: Results) -> Table:
    settings = (
        "most frequent class",
        "tree/500 columns",
        "bagging/500 columns",
        "forest/500 columns",
        "forest/all columns",
    )
    rows: list[list[Cell]] = [[one, str(paired(results.of_parts(EXPRESSION, one, "error")))[1:]] for one in settings]
    note = (
        "349 simulated samples, 4,718 columns, 15 classes; the 500 columns with the largest variance in training rows."
    )
    return Table("expression", "Error on expression data, percent", ["model", "error"], rows, note)


# --- Figures ------------------------------------------------------------------------------------------------


def _draw_trees(results: Results, real: list[str]) -> Picture:
    from matplotlib import pyplot as plt

    figure, row = plt.subplots(1, len(real), figsize=(2.6 * len(real) + 1.2, 3.4), layout="constrained", squeeze=False)
    for axes, one in zip(row[0], real, strict=True):
        for kind in ENSEMBLES:
            settings = [*(f"{kind}/{n} trees" for n in N_TREES[:-1]), kind]
            axes.plot(
                N_TREES, results.means([one], settings, "error")[0], marker="o", ms=3, color=_COLOURS[kind], label=kind
            )
        axes.axhline(results.of_parts(one, "tree", "error").mean(), color=BLACK, ls=":", label="one tree")
        axes.set(xscale="log", title=one, xlabel="trees")
    row[0][0].set_ylabel("misclassification, %")
    row[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _draw_boundaries() -> Picture:
    from matplotlib import pyplot as plt
    from sklearn.datasets import make_moons
    from sklearn.inspection import DecisionBoundaryDisplay

    from hedgerow import ForestClassifier, TreeClassifier

    X, y = make_moons(300, noise=0.25, random_state=0)
    plain: dict[str, Any] = {"calibration": None, "splitter": "best", "min_samples_split": 2, "random_state": 0}
    models = {
        "one tree": TreeClassifier.cart(random_state=0),
        "100 bagged trees": ForestClassifier(max_features=None, **plain),
        "a forest of 100 trees": ForestClassifier(max_features=1, **plain),
    }
    figure, row = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained", sharey=True)
    for axes, (title, model) in zip(row, models.items(), strict=True):
        model.fit(X, y)
        DecisionBoundaryDisplay.from_estimator(
            model,
            X,
            eps=0.3,
            grid_resolution=300,
            response_method="predict_proba",
            class_of_interest=1,
            ax=axes,
            cmap="coolwarm",
            alpha=0.7,
            vmin=0,
            vmax=1,
        )
        for k, (colour, marker) in enumerate(((BLUE, "o"), (VERMILION, "^"))):
            axes.scatter(*X[y == k].T, s=12, color=colour, marker=marker, edgecolor="white", lw=0.3)
        axes.set(title=title, xticks=[], yticks=[])
    return figure


def _draw_sizes(results: Results, real: list[str]) -> Picture:
    from matplotlib import pyplot as plt

    figure, row = plt.subplots(1, len(real), figsize=(2.6 * len(real) + 1.4, 3.4), layout="constrained", squeeze=False)
    settings = [f"leaves {size}" for size in PRUNED_TO]
    for axes, one in zip(row[0], real, strict=True):
        for measure, colour in (("training", GREEN), ("validation", VERMILION)):
            axes.plot(
                PRUNED_TO, results.means([one], settings, measure)[0], marker="o", ms=3, color=colour, label=measure
            )
        axes.set(xscale="log", title=one, xlabel="leaves")
    row[0][0].set_ylabel("accuracy, %")
    row[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _importances(results: Results, dataset: str) -> dict[str, float]:
    """Importance of each column relative to the maximum, percent, the most important first."""
    prefix = "importance/"
    found = {
        setting.removeprefix(prefix): float(results.of_parts(dataset, setting, "gini").mean())
        for setting in results.settings(dataset)
        if setting.startswith(prefix)
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _draw_importance(results: Results, dataset: str) -> Picture:
    from matplotlib import pyplot as plt

    found = dict(list(_importances(results, dataset).items())[:20])
    figure, axes = plt.subplots(figsize=(6.5, 0.3 * len(found) + 1.2), layout="constrained")
    axes.barh(list(found), list(found.values()), color=BLUE)
    axes.invert_yaxis()
    axes.set(xlabel="mean decrease in Gini index, % of the largest", title=dataset)
    return figure


# --- Claims -------------------------------------------------------------------------------------------------


def _claims(results: Results, real: list[str]) -> list[Claim]:
    claims = []
    if real:
        means = results.means(real, tuple(_COLOURS), "error")
        claims += [
            on_datasets(
                "A forest makes fewer mistakes than a single tree.",
                "forests",
                means[:, 0] - means[:, 2],
                "points of error less",
            ),
            on_datasets(
                "A forest makes fewer mistakes than bagging.",
                "forests",
                means[:, 1] - means[:, 2],
                "points of error less",
            ),
        ]
        sizes = [
            results.means(real, [f"leaves {size}" for size in PRUNED_TO], one) for one in ("training", "validation")
        ]
        claims.append(
            on_datasets(
                "As a tree grows its training accuracy goes on rising after the best validation accuracy.",
                *("pruning", (sizes[0][:, -1] - sizes[0].T[sizes[1].argmax(axis=1), range(len(real))])),
                "points of training accuracy gained after the best validation accuracy",
            )
        )
    if VARIANCE in results.datasets:
        both = [
            np.array([results.of_parts(VARIANCE, f"average of {k}", one) for k in N_DRAWN])
            for one in ("measured", "formula")
        ]
        ratio = np.abs(both[0].mean(axis=1) / both[1].mean(axis=1) - 1)
        claims.append(
            on_datasets(
                "The variance of an average of K trees is ρσ² + (1 − ρ)σ²/K.",
                *("bagging", 0.1 - np.abs((both[0] / both[1] - 1).mean(axis=0))),
                "below a tenth by which measured and formula differ",
                unit="repeats",
                detail=f"largest difference of the means over K: {100 * ratio.max():.1f} %",
            )
        )
        wrong, printed = (
            np.array([results.of_parts(VARIANCE, f"{k} voters", one) for k in VOTERS[1:]]).T
            for one in ("majority wrong", "all wrong")
        )
        claims.append(
            on_datasets(
                "The error of K independent classifiers together is (1 − p)^K.",
                *("why bagging works", -(wrong - printed).mean(axis=1)),
                "by which the majority is wrong less often",
                unit="repeats",
            )
        )
    if RELEVANT in results.datasets:
        small, usual, many = (results.of_parts(RELEVANT, f"m = {m}", "error") for m in (1, 10, 50))
        claims.append(
            on_datasets(
                "With few relevant columns a forest is poor if few columns are drawn for a split.",
                *("caveats", small - many, "points of error more at m = 1 than at m = 50"),
                unit="repeats",
                detail=f"{small.mean():.1f} % at 1, {usual.mean():.1f} % at 10, {many.mean():.1f} % at 50",
            )
        )
    return claims
