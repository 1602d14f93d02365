"""Names in pictures are drawn as they stand, whatever users call their columns, classes and estimators."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.text import Text

from hedgerow import (
    BoundaryClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ForestClassifier,
    MeasuredTreeRegressor,
    RandomTreesClassifier,
    TreeClassifier,
    plots,
)
from hedgerow.plots.labels import legend_label, literal_label
from hedgerow.rules import Vote

NAMES = ["cost [$]", "$x$", "a_b^{", r"\frac"]
LABELS = ["$1 or $2", "$y$", r"_\frac{"]


class StrangelyNamed(Vote):
    name = "$r$"


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=NAMES)
    signal = X["cost [$]"] + X["$x$"] + X["a_b^{"] + X[r"\frac"]
    return X, np.array(LABELS)[np.digitize(signal, [-1, 1])], signal


@pytest.fixture(scope="module")
def models(data: Any) -> dict[str, Any]:
    X, labels, signal = data
    return {
        "boundary": BoundaryClassifier(partition="separator").fit(X, labels),
        "cautious": CautiousForestClassifier(n_estimators=5, s=5, random_state=0).fit(X, labels),
        "forest": ForestClassifier(10, random_state=0).fit(X, labels),
        "conformal": ConformalClassifier(ForestClassifier(10, random_state=0), 0.5).fit(X, labels),
        "soft": MeasuredTreeRegressor(0.2, max_leaf_nodes=4).fit(X, signal),
    }


Draw = Callable[[dict[str, Any], Any, Any], Any]
DRAWINGS: dict[str, tuple[Draw, list[str]]] = {
    "ClassBoundsDisplay": (lambda m, X, y: plots.ClassBoundsDisplay.from_estimator(m["cautious"], X[:1]), LABELS),
    "ColumnProfileDisplay": (
        lambda m, X, y: plots.ColumnProfileDisplay.from_estimator(m["boundary"], X, "$x$", name="$n$"),
        ["$x$", "$n$", LABELS[2]],
    ),
    "ContributionsDisplay": (
        lambda m, X, y: plots.ContributionsDisplay.from_estimator(m["forest"], X[:9], class_label="$y$"),
        [*NAMES, "$y$"],
    ),
    "CoverageDisplay": (
        lambda m, X, y: plots.CoverageDisplay.from_estimator(m["conformal"], X, y, levels=[0.5, 0.8]),
        [],
    ),
    "ErrorCostDisplay": (lambda m, X, y: plots.ErrorCostDisplay.from_estimator(m["soft"], X), ["$x$"]),
    "ImportanceDisplay": (lambda m, X, y: plots.ImportanceDisplay.from_estimator(m["forest"], X, y), NAMES),
    "LeafSizeDisplay": (
        lambda m, X, y: plots.LeafSizeDisplay.from_estimator(
            RandomTreesClassifier(3, random_state=0),
            X,
            y,
            rules=[StrangelyNamed()],
            min_samples_leaf=[2, 4],
            random_state=0,
        ),
        ["$r$"],
    ),
    "PartitionDisplay": (
        lambda m, X, y: plots.PartitionDisplay.from_estimator(m["boundary"], X, features=NAMES[:2]),
        NAMES[:2],
    ),
    "ProbabilitySurfaceDisplay": (
        lambda m, X, y: plots.ProbabilitySurfaceDisplay.from_estimator(
            m["boundary"], X, y, features=NAMES[:2], grid_resolution=9
        ),
        [*NAMES[:2], LABELS[2]],
    ),
    "RejectionCurveDisplay": (
        lambda m, X, y: plots.RejectionCurveDisplay.from_estimator(m["cautious"], X, y, s=[1, 3], name="$n$"),
        ["$n$"],
    ),
    "ReliabilityDisplay": (
        lambda m, X, y: plots.ReliabilityDisplay.from_estimator(m["boundary"], X, y, class_label="$y$", name="_$n$"),
        ["$y$", "_$n$"],
    ),
    "RuleEvolutionDisplay": (
        lambda m, X, y: plots.RuleEvolutionDisplay.from_rule(StrangelyNamed(), n_samples=3, n_runs=2, random_state=0),
        ["$r$"],
    ),
    "SampleProfileDisplay": (
        lambda m, X, y: plots.SampleProfileDisplay.from_estimator(m["boundary"], X, y, class_label=LABELS[0]),
        [LABELS[0]],
    ),
    "SetUtilityDisplay": (
        lambda m, X, y: plots.SetUtilityDisplay.from_estimator(m["cautious"], X, y, s=[1, 3]),
        [],
    ),
    "SoftCurveDisplay": (
        lambda m, X, y: plots.SoftCurveDisplay.from_estimator(m["soft"], X, features="$x$", grid_resolution=9),
        ["$x$"],
    ),
    "SoftRegionsDisplay": (
        lambda m, X, y: plots.SoftRegionsDisplay.from_estimator(
            m["soft"], X, features=["$x$", r"\frac"], grid_resolution=9
        ),
        ["$x$", r"\frac"],
    ),
    "TreeDisplay": (
        lambda m, X, y: plots.TreeDisplay.from_estimator(TreeClassifier(max_depth=2).fit(X, y), max_depth=None),
        LABELS,
    ),
}


def test_every_display_is_here() -> None:
    assert sorted(DRAWINGS) == sorted(plots.__all__)


@pytest.mark.parametrize("name", DRAWINGS)
def test_names_are_drawn_as_they_stand(name: str, data: Any, models: dict[str, Any]) -> None:
    draw, expected = DRAWINGS[name]
    X, y, _ = data
    figure = draw(models, X, y).figure_
    figure.savefig(io.BytesIO())
    texts = [text.get_text() for text in figure.findobj(Text)]
    ours = [text for text in texts if "mathdefault" not in text]  # numbers of logarithmic axes
    assert not any(is_math_text(text) for text in ours)
    shown = [text.replace(r"\$", "$") for text in ours]
    for wanted in expected:
        assert any(wanted in text for text in shown), wanted


def test_labels_escape_what_matplotlib_would_read() -> None:
    assert literal_label("a\nb $c$") == r"a\nb \$c\$"
    assert legend_label("_hidden") == " _hidden"
    assert legend_label("$x") == r"\$x"
