"""Tables, figures and claims of the lecture, from the stored scores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.findings import Cell, Claim, Figure, Report, Table
from hedgerow.experiments.statistics import paired
from hedgerow.experiments.study import Results
from hedgerow.plots.palette import BLACK, BLUE, GREEN, ORANGE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = [
    *(
        "DRAWN_FEATURES",
        "ENSEMBLES",
        "EXPRESSION",
        "N_DRAWN",
        "N_TREES",
        "PRUNED_TO",
        "REDUCED",
        "RELEVANT",
        "VARIANCE",
        "VOTERS",
    ),
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
REDUCED = "reduced-error"

_GENERATED = (VARIANCE, RELEVANT, EXPRESSION)
_COLOURS = {"tree": BLACK, "bagging": BLUE, "forest": VERMILION}
_INTRODUCTION = (
    "V. Honavar, *Decision Trees and Random Forests* (lecture notes, Penn State, 2022). The lecture shows what trees, "
    "bagging and forests do in pictures of examples; here they are repeated on real and on generated data, five-fold "
    "cross-validation, ten times."
)
_DIFFERENCES = (
    "The lecture's figures are pictures of examples whose data is not given, and has next to no numbers; so its "
    "statements are compared, not single figures.",
    "Its gene expressions of 349 patients are not at hand: data of the same size, 4,718 columns in 15 classes, is "
    "simulated, with correlated groups of columns that differ between classes.",
    "Its Heart data is taken to be the Cleveland one, of 303 patients.",
    "The probability that K independent classifiers are all wrong, (1 − p)^K, is shown beside the error of their "
    "majority, since the lecture takes it for the error of the ensemble.",
    "Reduced-error pruning holds out a third of the training rows. The lecture names this as its drawback where data "
    "is scarce.",
)


def lecture_report(title: str, results: Results) -> Report:
    """Report on the datasets that are there."""
    real = [one for one in results.datasets if one not in _GENERATED]
    parts: list[Table | Figure] = []
    if real:
        parts += [
            _errors_table(results, real),
            Figure("trees", "Error over the number of trees", partial(_draw_trees, results, real)),
            Figure(
                "boundaries",
                "Boundaries of a tree, of bagging and of a forest",
                _draw_boundaries,
                "300 rows of two interleaved half circles with noise; the shade is the probability of the class.",
            ),
            Figure("pruning", "Accuracy over the size of the tree", partial(_draw_sizes, results, real)),
            _sizes_table(results, real),
        ]
    if VARIANCE in results.datasets:
        parts += [_variance_table(results), _votes_table(results)]
    if RELEVANT in results.datasets:
        parts.append(_relevant_table(results))
    if EXPRESSION in results.datasets:
        parts.append(_expression_table(results))
    note = (
        "Relative to the maximum. The decrease in the Gini index is measured on training rows and credits columns of "
        "many values; accuracy is lost on rows out of each tree's bag when the values of the column are permuted."
    )
    parts += [
        Figure(
            f"importance_{one}", f"Importance of the columns of {one}", partial(_draw_importance, results, one), note
        )
        for one in real
        if _importances(results, one, "gini")
    ]
    return Report(title, _INTRODUCTION, parts, _claims(results, real), _DIFFERENCES)


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
            pruned, n_leaves = (float(results.of_parts(one, REDUCED, of).mean()) for of in (measure, "leaves"))
            rows.append([one, measure, *means.tolist(), pruned, n_leaves])
    columns = ["dataset", "rows", *(f"{size} leaves" for size in PRUNED_TO), "pruned", "leaves of the pruned"]
    note = (
        "Trees grown best split first, up to a number of leaves. Pruned: full trees after reduced-error pruning, for "
        "which a third of the training rows is held out; validation rows are new to all trees."
    )
    return Table("sizes", "Accuracy over the size of the tree, percent", columns, rows, note, digits=1)


def _variance_table(results: Results) -> Table:
    rows: list[list[Cell]] = []
    rhos = {}
    for kind in reversed(ENSEMBLES):
        rhos[kind] = results.of_parts(VARIANCE, f"variance/{kind}", "rho").mean()
        for k in N_DRAWN:
            measured, formula = (results.of_parts(VARIANCE, f"{kind} of {k}", one) for one in ("measured", "formula"))
            difference = paired(100 * (measured / formula - 1))
            rows.append([kind, str(k), float(formula.mean()), float(measured.mean()), f"{difference} %"])
    note = (
        "Regression trees on Friedman's first function; a forest draws a third of the columns for a split "
        f"(ρ = {rhos['forest']:.3f}), bagging takes all (ρ = {rhos['bagging']:.3f}). σ² and ρ come from one half of "
        "the training sets, the measured variance from the other."
    )
    columns = ["trees", "K", "ρσ² + (1 − ρ)σ²/K", "measured", "difference"]
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


def _panels(names: list[str], label: str) -> tuple[Picture, list[Any]]:
    """Figure with a panel for each dataset, four in a row, over a logarithmic axis."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

    n_columns = min(4, len(names))
    n_rows = -(-len(names) // n_columns)
    size = (2.6 * n_columns + 1.2, 2.9 * n_rows)
    figure, grid = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_axis_off()
    for axes, name in zip(grid.flat, names, strict=False):
        axes.set(xscale="log", title=name, xlabel=label)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    return figure, list(grid.flat[: len(names)])


def _draw_trees(results: Results, real: list[str]) -> Picture:
    figure, panels = _panels(real, "trees")
    for axes, one in zip(panels, real, strict=True):
        for kind in ENSEMBLES:
            settings = [*(f"{kind}/{n} trees" for n in N_TREES[:-1]), kind]
            means = results.means([one], settings, "error")[0]
            axes.plot(N_TREES, means, marker="o", ms=3, color=_COLOURS[kind], label=kind)
        axes.axhline(results.of_parts(one, "tree", "error").mean(), color=BLACK, ls=":", label="one tree")
        axes.set(ylim=(0, None), xticks=(1, 5, 20, 100))
    panels[0].set_ylabel("misclassification, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
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
            grid_resolution=400,
            plot_method="pcolormesh",
            response_method="predict_proba",
            class_of_interest=1,
            ax=axes,
            cmap="coolwarm",
            alpha=0.55,
            vmin=0,
            vmax=1,
        )
        for k, (colour, marker) in enumerate(((BLUE, "o"), (VERMILION, "^"))):
            axes.scatter(*X[y == k].T, s=18, c=colour, marker=marker, edgecolors="white", linewidths=0.5)
        axes.set(title=title, xticks=[], yticks=[])
    return figure


def _draw_sizes(results: Results, real: list[str]) -> Picture:
    figure, panels = _panels(real, "leaves")
    settings = [f"leaves {size}" for size in PRUNED_TO]
    for axes, one in zip(panels, real, strict=True):
        n_leaves = results.of_parts(one, REDUCED, "leaves").mean()
        for measure, colour in (("training", GREEN), ("validation", VERMILION)):
            means = results.means([one], settings, measure)[0]
            axes.plot(PRUNED_TO, means, marker="o", ms=3, color=colour, label=f"{measure} rows")
            pruned = results.of_parts(one, REDUCED, measure).mean()
            axes.plot(n_leaves, pruned, "*", ms=11, color=colour, mec=BLACK, mew=0.6, label=f"{measure} rows, pruned")
        axes.set_xticks((2, 4, 8, 16, 32, 64))
    panels[0].set_ylabel("accuracy, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _importances(results: Results, dataset: str, measure: str) -> dict[str, float]:
    """Importance of each column relative to the maximum, percent, the most important first."""
    prefix = "importance/"
    found = {
        setting.removeprefix(prefix): float(results.of_parts(dataset, setting, measure).mean())
        for setting in results.settings(dataset)
        if setting.startswith(prefix)
    }
    largest = max(found.values(), default=1.0)
    return dict(sorted(((name, 100 * value / largest) for name, value in found.items()), key=lambda pair: -pair[1]))


def _draw_importance(results: Results, dataset: str) -> Picture:
    from matplotlib import pyplot as plt

    measures = {"gini": ("decrease in Gini index", BLUE), "permutation": ("accuracy lost by permutation", ORANGE)}
    names = list(_importances(results, dataset, "gini"))[:20]
    figure, axes = plt.subplots(figsize=(7.5, 0.34 * len(names) + 1.4), layout="constrained")
    for number, (measure, (label, colour)) in enumerate(measures.items()):
        found = _importances(results, dataset, measure)
        axes.barh(
            np.arange(len(names)) + 0.4 * number - 0.2, [found[one] for one in names], 0.4, color=colour, label=label
        )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set(xlabel="% of the largest", title=dataset)
    axes.legend(loc="lower right", frameon=False)
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
        pruned = results.means(real, [REDUCED], "validation")[:, 0]
        claims.append(
            on_datasets(
                "Reduced-error pruning makes a tree better on new rows than the full one.",
                *("pruning", pruned - sizes[1][:, -1], "points of accuracy gained over 64 leaves"),
            )
        )
    if VARIANCE in results.datasets:
        both = [
            np.array([results.of_parts(VARIANCE, f"{kind} of {k}", one) for kind in ENSEMBLES for k in N_DRAWN])
            for one in ("measured", "formula")
        ]
        ratio = np.abs(both[0].mean(axis=1) / both[1].mean(axis=1) - 1)
        claims.append(
            on_datasets(
                "The variance of an average of K trees is ρσ² + (1 − ρ)σ²/K.",
                *("bagging", 100 * np.abs((both[0] / both[1] - 1).mean(axis=0))),
                "percent by which measured and formula differ, mean over K",
                below=10.0,
                unit="repeats",
                detail=f"largest difference of the means over repeats: {100 * ratio.max():.1f} %",
            )
        )
        rho = {kind: results.of_parts(VARIANCE, f"variance/{kind}", "rho") for kind in ENSEMBLES}
        claims.append(
            on_datasets(
                "Drawing columns for each split makes the trees less alike than bagging does.",
                *("bagging", rho["bagging"] - rho["forest"], "of correlation less"),
                unit="repeats",
                detail=f"ρ = {rho['bagging'].mean():.3f} in bagging, {rho['forest'].mean():.3f} in a forest",
            )
        )
        wrong, printed = (
            np.array([results.of_parts(VARIANCE, f"{k} voters", one) for k in VOTERS[1:]]).T
            for one in ("majority wrong", "all wrong")
        )
        claims.append(
            on_datasets(
                "The error of K independent classifiers together is (1 − p)^K.",
                *("why bagging works", 100 * (wrong - printed).mean(axis=1)),
                "points by which a majority is wrong more often, mean over K",
                below=0.5,
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
