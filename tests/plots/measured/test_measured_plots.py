"""Pictures of soft trees show what the trees say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from hedgerow import MeasuredTreeClassifier, MeasuredTreeRegressor, TreeRegressor
from hedgerow.plots import ErrorCostDisplay, SoftCurveDisplay, SoftRegionsDisplay

RNG = np.random.default_rng(0)
LATENT = RNG.uniform(size=(300, 3))
X = pd.DataFrame(LATENT + RNG.normal(0, 0.08, size=LATENT.shape), columns=["a", "b", "c"])
X["colour"] = np.where(RNG.random(300) < 0.3, "red", "blue")
Y = 2.0 * (LATENT[:, 0] > 0.5) + (LATENT[:, 1] > 0.4) + 3.0 * (X["colour"] == "red")
SIGMA = {"a": 0.08, "b": 0.08}


@pytest.fixture(scope="module")
def model() -> Any:
    return MeasuredTreeRegressor(SIGMA, max_leaf_nodes=8).fit(X, Y)


def held(**columns: Any) -> pd.DataFrame:
    """Rows with the columns that are not named where pictures hold them."""
    usual = {"a": X["a"].median(), "b": X["b"].median(), "c": X["c"].median(), "colour": "blue"}
    return pd.DataFrame({**usual, **columns})


def test_regions_show_answers_borders_and_errors(model: Any) -> None:
    display = SoftRegionsDisplay.from_estimator(model, X, features=("a", "b"), grid_resolution=20)
    assert display.answers.shape == (20, 20)
    across = model.predict(held(a=display.x, b=display.y[3]))
    np.testing.assert_allclose(display.answers[3], across)
    assert (display.x[0], display.x[-1]) == (X["a"].min(), X["a"].max())
    drawn = {line.get_xdata()[0] for line in display.border_lines_ if np.ptp(line.get_xdata()) == 0}
    bounds = model.regions_[:, 0]
    assert drawn <= set(bounds[np.isfinite(bounds)].tolist())
    assert drawn
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", "b")
    assert display.sigma_line_ is not None
    assert len(display.figure_.axes) == 2


def test_regions_of_exact_columns_have_no_cross(model: Any) -> None:
    figure, ax = plt.subplots()
    exact = MeasuredTreeRegressor(max_leaf_nodes=4).fit(X, Y)
    display = SoftRegionsDisplay.from_estimator(
        exact, X, grid_resolution=10, ax=ax, colorbar=False, border_kw={"lw": 3}
    )
    assert display.sigma_line_ is None
    assert display.figure_ is figure
    assert len(figure.axes) == 1
    assert all(line.get_linewidth() == 3 for line in display.border_lines_)


def test_curves_are_the_trees_answers(model: Any) -> None:
    hard = MeasuredTreeRegressor(max_leaf_nodes=8).fit(X, Y)
    display = SoftCurveDisplay.from_estimator(
        model, X, Y, hard=hard, truth=lambda u: 2.0 * (u > 0.5), grid_resolution=50
    )
    rows = held(a=display.x)
    np.testing.assert_allclose(display.soft, model.predict(rows))
    np.testing.assert_allclose(display.hard, hard.predict(rows))
    np.testing.assert_array_equal(display.truth_line_.get_ydata(), 2.0 * (display.x > 0.5))
    assert len(display.points_.get_offsets()) == 300
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["rows", "truth, latent x", "plain tree", "tree that accounts for errors"]
    alone = SoftCurveDisplay.from_estimator(model, X, features="b", legend=False, soft_kw={"color": "red"})
    assert alone.hard_line_ is alone.truth_line_ is alone.points_ is None
    assert alone.soft_line_.get_color() == "red"
    assert alone.ax_.get_legend() is None


def test_classes_are_drawn_one_at_a_time() -> None:
    labels = np.array(["no", "yes"])[(Y > 2).astype(int)]
    model = MeasuredTreeClassifier(SIGMA, max_leaf_nodes=6).fit(X, labels)
    display = SoftCurveDisplay.from_estimator(model, X, grid_resolution=30)
    np.testing.assert_allclose(display.soft, model.membership(held(a=display.x)) @ model.values_[:, 1])
    other = SoftRegionsDisplay.from_estimator(model, X, class_label="no", grid_resolution=10)
    assert other.figure_.axes[1].get_ylabel() == "share of no"
    with pytest.raises(ValueError, match=r"class_label is 'maybe', must be one of \['no', 'yes'\]"):
        SoftCurveDisplay.from_estimator(model, X, class_label="maybe")


def test_costs_are_bars_the_dearest_on_top(model: Any) -> None:
    display = ErrorCostDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(display.costs, model.error_costs(X))
    assert display.costs[2] == display.costs[3] == 0, "exact columns"
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [["a", "b"][j] for j in np.argsort(-display.costs[:2])]
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(widths, reverse=True)
    assert display.ax_.yaxis_inverted()
    assert len(display.plot(max_features=1).bars_) == 1
    cells = np.tile([0.3, 0.0, 0.0, 0.0], (300, 1))
    assert ErrorCostDisplay.from_estimator(model, X, X_err=cells).costs[1] == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: SoftRegionsDisplay.from_estimator(m, X, features=("a",)), ValueError, "must name two columns"),
        (
            lambda m: SoftRegionsDisplay.from_estimator(m, X, features=("a", "d")),
            ValueError,
            "features has 'd', must be",
        ),
        (
            lambda m: SoftCurveDisplay.from_estimator(m, X, features=9),
            ValueError,
            "features has 9, must be one of 'a'",
        ),
        (lambda m: SoftCurveDisplay.from_estimator(m, X, features="colour"), ValueError, "'colour', which is nominal"),
        (
            lambda m: ErrorCostDisplay.from_estimator(TreeRegressor().fit(X, Y), X),
            TypeError,
            "estimator is TreeRegressor, must be a MeasuredTreeRegressor or",
        ),
    ],
)
def test_what_can_not_be_drawn_is_said(model: Any, call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(model)


def test_long_names_are_not_cut_off() -> None:
    names = [f"a column with quite a long name, number {j}" for j in range(3)]
    rng = np.random.default_rng(0)
    latent = rng.uniform(size=(200, 3))
    frame = pd.DataFrame(latent + rng.normal(0, 0.1, size=latent.shape), columns=names)
    model = MeasuredTreeRegressor(0.1, max_leaf_nodes=6).fit(frame, (latent > 0.5).sum(axis=1))
    display = ErrorCostDisplay.from_estimator(model, frame)
    display.figure_.canvas.draw()
    inside = display.figure_.bbox
    for text in [*display.ax_.get_yticklabels(), display.ax_.xaxis.label, display.ax_.title]:
        box = text.get_window_extent()
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1
        assert inside.y0 <= box.y0
        assert box.y1 <= inside.y1


def test_a_flat_picture_says_why() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=["a", "b", "c"])
    alone = MeasuredTreeRegressor(0.1).fit(frame, np.zeros(100))
    for display in (SoftCurveDisplay.from_estimator(alone, frame), SoftRegionsDisplay.from_estimator(alone, frame)):
        assert display.note == "all values are equal:\nthe tree has one leaf"
    model = MeasuredTreeRegressor(0.1, max_leaf_nodes=3).fit(frame, frame["c"])
    assert SoftCurveDisplay.from_estimator(model, frame).note == "all values are equal:\nthe tree does not split on a"
    shown = SoftRegionsDisplay.from_estimator(model, frame, grid_resolution=9)
    assert shown.note in [text.get_text() for text in shown.ax_.texts]
    assert SoftCurveDisplay.from_estimator(model, frame, features="c").note is None
    free = ErrorCostDisplay.from_estimator(MeasuredTreeRegressor(0.0).fit(frame, frame["c"]), frame)
    assert [text.get_text() for text in free.ax_.texts] == [
        "no column costs anything:\nno split is on a column with errors"
    ]
