"""Pictures of contributions: bars that lead from the base to the answer, and points of many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from hedgerow import ForestClassifier, ForestRegressor
from hedgerow.contributions import Contributions
from hedgerow.plots import ContributionsDisplay
from hedgerow.plots.palette import BLUE, VERMILION


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return ForestClassifier(10, random_state=0).fit(X, y), X


@pytest.fixture(scope="module")
def mixed() -> Contributions:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temperature": rng.normal(38, 1, 60).round(1), "ward": rng.choice(list("abc"), 60)})
    X.loc[::7, "temperature"] = np.nan
    X["same"] = 1.0
    y = 1000 * X["temperature"].fillna(38) + 500 * (X["ward"] == "a")
    return ForestRegressor(10, random_state=0).fit(X, y).contributions(X)


def test_bars_lead_from_the_base_to_the_answer(cancer: Any) -> None:
    forest, X = cancer
    display = ContributionsDisplay.from_estimator(forest, X[19:20])
    found = display.contributions
    bars = display.bars_.patches
    starts, widths = np.array([bar.get_x() for bar in bars]), np.array([bar.get_width() for bar in bars])
    np.testing.assert_allclose(starts[0], found.base)
    np.testing.assert_allclose(starts[1:], starts[:-1] + widths[:-1])
    np.testing.assert_allclose(starts[-1] + widths[-1], found.answers[0])
    order = np.argsort(-abs(found.values[0]))[:10]
    np.testing.assert_allclose(widths[:10], found.values[0, order])
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [(VERMILION if w > 0 else BLUE).lower() for w in widths]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    n_rest = np.count_nonzero(found.values[0]) - 10
    expected = [f"{found.columns[j]} = {found.cell(0, j)}" for j in order]
    assert labels == ["base", *expected, f"{n_rest} other columns", "answer"]
    (marks,) = display.ax_.lines
    np.testing.assert_allclose(marks.get_xdata(), [found.base, found.answers[0]])
    assert display.ax_.get_xlabel() == "uncalibrated probability of 1"


def test_numbers_and_names_do_not_overlap(cancer: Any) -> None:
    X = cancer[1]
    long = X.set_axis([f"{name} of all nuclei in the picture of the sample that was taken" for name in X], axis=1)
    forest = ForestClassifier(5, random_state=0).fit(long, X["mean area"] > 600)
    display = ContributionsDisplay.from_estimator(forest, long[:1])
    figure = display.figure_
    figure.draw_without_rendering()
    box = display.ax_.get_window_extent()
    renderer = figure.canvas.get_renderer()
    assert box.width > 0.4 * figure.bbox.width
    for text in display.ax_.texts:
        extent = text.get_window_extent(renderer)
        assert box.x0 <= extent.x0
        assert extent.x1 <= box.x1


def test_one_of_several_rows(mixed: Contributions) -> None:
    display = ContributionsDisplay.from_contributions(mixed, row=0)
    assert display.ax_.get_yticklabels()[0].get_text() == "base"
    assert not any("same" in label.get_text() for label in display.ax_.get_yticklabels())
    assert not display.points_
    with pytest.raises(ValueError, match=r"row is 60, must be a whole number in 0 \.\. 59"):
        display.plot(row=60)
    with pytest.raises(ValueError, match="max_features"):
        display.plot(row=0, max_features=0)


def test_points_are_the_contributions_of_each_column(mixed: Contributions) -> None:
    display = ContributionsDisplay.from_contributions(mixed)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert sorted(labels) == ["temperature", "ward"]
    assert display.bars_ is None
    for line, (name, points) in enumerate(zip(labels, display.points_, strict=True)):
        x, y = np.asarray(points.get_offsets()).T
        np.testing.assert_allclose(x, mixed.values[:, mixed.columns.index(name)])
        assert (abs(y - line) <= 0.4 + 1e-12).all()


def test_colours_are_ranks_and_rings_have_none(mixed: Contributions) -> None:
    display = ContributionsDisplay.from_contributions(mixed, colorbar=False)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    faces = {name: points.get_facecolors() for name, points in zip(labels, display.points_, strict=True)}
    assert (faces["ward"][:, 3] == 0).all()
    values = mixed.rows[:, 0]
    np.testing.assert_array_equal(faces["temperature"][:, 3] == 0, np.isnan(values))
    assert to_hex(faces["temperature"][np.nanargmin(values)]) == BLUE.lower()
    order = np.argsort(values)[: np.isfinite(values).sum()]
    assert (np.diff(faces["temperature"][order, 0]) >= 0).all()  # ever more red
    assert len(display.figure_.axes) == 1
    assert len(display.plot().figure_.axes) == 2


def test_points_in_one_place_do_not_hide_each_other(mixed: Contributions) -> None:
    for points in ContributionsDisplay.from_contributions(mixed).points_:
        assert len(np.unique(points.get_offsets(), axis=0)) == len(mixed)


def test_nothing_contributes() -> None:
    X = pd.DataFrame({"same": [1.0] * 6})
    forest = ForestRegressor(3, random_state=0).fit(X, [1.0, 2, 3, 4, 5, 6])
    for rows in (X[:1], X):
        display = ContributionsDisplay.from_estimator(forest, rows)
        display.figure_.canvas.draw()
        assert "same" in " ".join(label.get_text() for label in display.ax_.get_yticklabels())


def test_dark_styles_and_given_axes(cancer: Any) -> None:
    forest, X = cancer
    with plt.style.context("dark_background"):
        axes = plt.figure().subplots()
        display = ContributionsDisplay.from_estimator(forest, X[:1], class_label=0, ax=axes)
    assert display.ax_ is axes
    assert to_hex(axes.lines[0].get_color()) == "#ffffff"
    assert axes.get_xlabel() == "uncalibrated probability of 0"


def test_what_cannot_be_drawn(cancer: Any, mixed: Contributions) -> None:
    forest, X = cancer
    with pytest.raises(ValueError, match="has no contributions: pass a tree or a forest of hedgerow"):
        ContributionsDisplay.from_estimator(DecisionTreeClassifier().fit(X, X["mean area"] > 600), X)
    with pytest.raises(ValueError, match="class is 7, must be one of"):
        ContributionsDisplay.from_estimator(forest, X[:3], class_label=7)
    with pytest.raises(ValueError, match="leave it out"):
        ContributionsDisplay.from_contributions(mixed, class_label="a")
