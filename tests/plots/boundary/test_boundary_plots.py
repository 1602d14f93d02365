"""Pictures of boundary classifiers: their numbers, what is drawn, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from hedgerow import BoundaryClassifier, ForestClassifier, MeasuredTreeClassifier, TreeClassifier
from hedgerow.plots import (
    ColumnProfileDisplay,
    PartitionDisplay,
    ProbabilitySurfaceDisplay,
    ReliabilityDisplay,
    SampleProfileDisplay,
)


@pytest.fixture
def iris() -> tuple[Any, Any, Any]:
    """Two columns with names, three classes that are words, and a fitted model of them."""
    data = load_iris(as_frame=True)
    X = data.data.iloc[:, 2:].rename(columns={"petal length (cm)": "length", "petal width (cm)": "width"})
    y = data.target_names[data.target]
    return BoundaryClassifier(TreeClassifier(max_depth=3), partition="separator").fit(X, y), X, y


def drawings(model: Any, X: Any, y: Any) -> dict[Any, Any]:
    """Each Display as it is usually made."""
    return {
        ProbabilitySurfaceDisplay: lambda **more: ProbabilitySurfaceDisplay.from_estimator(
            model, X, y, grid_resolution=20, **more
        ),
        SampleProfileDisplay: lambda **more: SampleProfileDisplay.from_estimator(model, X, y, **more),
        PartitionDisplay: lambda **more: PartitionDisplay.from_estimator(model, X, **more),
        ColumnProfileDisplay: lambda **more: ColumnProfileDisplay.from_estimator(
            model, X, 0, grid_resolution=20, **more
        ),
        ReliabilityDisplay: lambda **more: ReliabilityDisplay.from_estimator(model, X, y, **more),
    }


FAMILIES = list(drawings(None, None, None))


class TestAll:
    @pytest.mark.parametrize("family", FAMILIES)
    def test_they_draw_on_new_axes_on_given_ones_and_twice(self, family: Any, iris: Any) -> None:
        draw = drawings(*iris)[family]
        display = draw(class_label="versicolor")
        display.figure_.canvas.draw()
        first = display.ax_
        assert display.plot() is display
        assert display.ax_ is not first
        figure, (left, right) = plt.subplots(1, 2)
        display = draw(class_label="versicolor", ax=right)
        assert display.ax_ is right
        assert display.figure_ is figure
        assert not left.lines
        assert not left.collections

    @pytest.mark.parametrize("family", FAMILIES)
    def test_without_a_legend(self, family: Any, iris: Any) -> None:
        assert drawings(*iris)[family](legend=False).ax_.get_legend() is None

    @pytest.mark.parametrize("family", FAMILIES)
    def test_classes_that_are_not_there_are_refused(self, family: Any, iris: Any) -> None:
        with pytest.raises(ValueError, match=r"class_label is 'rose', must be one of .*'setosa', 'versicolor'"):
            drawings(*iris)[family](class_label="rose")

    @pytest.mark.parametrize("family", FAMILIES)
    def test_other_estimators_are_refused(self, family: Any, iris: Any) -> None:
        _, X, y = iris
        if family is not ReliabilityDisplay:  # it takes all that have probabilities
            with pytest.raises(ValueError, match=r"has no algebraic_distance: pass a BoundaryClassifier"):
                drawings(TreeClassifier().fit(X, y), X, y)[family]()
        with pytest.raises(NotFittedError):
            drawings(BoundaryClassifier(), X, y)[family]()

    @pytest.mark.parametrize("family", FAMILIES)
    @pytest.mark.usefixtures("no_matplotlib")
    def test_without_matplotlib_they_say_what_to_install(self, family: Any) -> None:
        with pytest.raises(ImportError, match=r"pip install 'hedgerow\[plot\]'"):
            drawings(None, None, None)[family]()


def test_the_surface_is_what_the_model_says_on_the_grid(iris: Any) -> None:
    model, X, y = iris
    display = ProbabilitySurfaceDisplay.from_estimator(
        model, X, y, features=["width", "length"], class_label="versicolor", grid_resolution=15
    )
    grid = pd.DataFrame({"length": np.repeat(display.y, 15), "width": np.tile(display.x, 15)})
    np.testing.assert_array_equal(display.probability.ravel(), model.predict_proba(grid)[:, 1])
    np.testing.assert_array_equal(display.inside.ravel(), model.estimator_.predict(grid) == "versicolor")
    assert display.feature_names == ["width", "length"]
    assert len(display.points_) == 2
    plain = ProbabilitySurfaceDisplay.from_estimator(model, X, grid_resolution=5)
    assert plain.points_ == []


def test_columns_that_are_not_drawn_stay_in_the_middle() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "kind": rng.choice(["x", "y"], size=90)})
    frame.loc[::9, "b"] = np.nan
    y = (frame["a"] + (frame["kind"] == "x") + frame["b"].fillna(0) > 0.5).to_numpy()
    model = BoundaryClassifier(TreeClassifier(max_depth=4)).fit(frame, y)
    display = ColumnProfileDisplay.from_estimator(model, frame, "a", grid_resolution=7)
    middle = np.sort(frame["b"].dropna())[80 // 2]
    kind = np.sort(frame["kind"])[45]
    by_hand = pd.DataFrame({"a": display.x, "b": middle, "kind": kind})
    np.testing.assert_array_equal(display.probability, model.predict_proba(by_hand)[:, 1])
    with pytest.raises(ValueError, match="features has 'kind', which is nominal"):
        ColumnProfileDisplay.from_estimator(model, frame, "kind")
    for wrong in ("c", 3, -1, True, None):
        with pytest.raises(
            ValueError, match=r"features has .*, must be one of 'a', 'b', 'kind', or a position from 0 to 2"
        ):
            ColumnProfileDisplay.from_estimator(model, frame, wrong)
    for family in (PartitionDisplay, ProbabilitySurfaceDisplay):
        with pytest.raises(ValueError, match=r"features is \['a'\], must name two columns"):
            family.from_estimator(model, frame, features=["a"])
    empty = frame.assign(a=np.nan)
    with pytest.raises(ValueError, match="column 'a' of X has no values to draw: all are missing"):
        ColumnProfileDisplay.from_estimator(model, empty, "a")
    with pytest.raises(ValueError, match="column 'a' of X has no values to draw"):
        ProbabilitySurfaceDisplay.from_estimator(model, empty, features=["a", "b"])


def test_profiles_along_a_sample() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(min_samples_leaf=8, random_state=0).fit(X[::2], y[::2])
    model = BoundaryClassifier.from_fitted(tree, X[::2], y[::2])
    display = SampleProfileDisplay.from_estimator(model, X[1::2], y[1::2])
    assert (np.diff(display.distance) >= 0).all()
    assert display.wrong.sum() == (tree.predict(X[1::2]) != y[1::2]).sum()
    np.testing.assert_allclose(np.sort(display.smooth), np.sort(model.predict_proba(X[1::2])[:, 1]))
    n = np.bincount(tree.apply(X[::2]))[tree.apply(X[1::2])]
    laplace = (tree.predict_proba(X[1::2])[:, 1] * n + 1) / (n + 2)
    np.testing.assert_allclose(np.sort(display.piecewise), np.sort(laplace))
    assert len(display.error_line_.get_xdata()) == display.wrong.sum()
    inside = (tree.predict(X[1::2]) == 1).sum()
    assert display.boundary_line_.get_xdata()[0] == inside - 0.5
    with pytest.raises(ValueError, match=r"y has shape \(3,\), must have a label for each of"):
        SampleProfileDisplay.from_estimator(model, X, y[:3])


def test_partitions_are_drawn_by_their_subsets(iris: Any) -> None:
    model, X, _ = iris
    by_separator = PartitionDisplay.from_estimator(model, X, class_label="versicolor")
    feature, at = model.nearest_separator(X)
    names = {f"{X.columns[f]} at {t:.3g}" for f, t in zip(feature, at, strict=True)}
    assert set(by_separator.subset_names.values()) >= names
    assert len(by_separator.points_) == len(by_separator.subset_names)
    by_leaf = PartitionDisplay.from_estimator(model, X, kind="leaf")
    np.testing.assert_array_equal(by_leaf.subset, model.apply(X))
    whole = PartitionDisplay.from_estimator(model, X, kind="global")
    assert whole.subset_names == {-1: "all rows"}
    assert whole.ax_.get_title() == "No partition"
    with pytest.raises(ValueError, match="partition is 'tree'"):
        PartitionDisplay.from_estimator(model, X, kind="tree")


def test_the_truth_is_drawn_once(iris: Any) -> None:
    model, X, _ = iris
    first = ColumnProfileDisplay.from_estimator(model, X, 0, truth=np.zeros_like, name="one")
    second = ColumnProfileDisplay.from_estimator(model, X, 0, truth=np.zeros_like, name="two", ax=first.ax_)
    assert [text.get_text() for text in second.ax_.get_legend().get_texts()] == ["truth", "one", "two"]
    assert second.truth_line_ is first.truth_line_
    assert first.line_.get_color() != second.line_.get_color()


def test_reliability_by_hand() -> None:
    positive = [True, False, True, True, False, True]
    display = ReliabilityDisplay.from_predictions(positive, {"a": [0.0, 0.1, 0.3, 0.9, 0.95, 1.0]}, n_bins=2)
    np.testing.assert_allclose(display.predicted["a"], [0.4 / 3, 2.85 / 3])
    np.testing.assert_allclose(display.observed["a"], [2 / 3, 2 / 3])
    assert display.counts["a"].tolist() == [3, 3]
    np.testing.assert_allclose(display.brier["a"], np.mean([1, 0.01, 0.49, 0.01, 0.9025, 0]))
    for wrong in ([0.5], [0.5] * 5 + [1.1], [np.nan] * 6):
        with pytest.raises(ValueError, match=r"estimates\['a'\] must have a probability for each of 6 rows"):
            ReliabilityDisplay.from_predictions(positive, {"a": wrong})
    with pytest.raises(ValueError, match="estimates has 0 entries, must have 1 to 6"):
        ReliabilityDisplay.from_predictions(positive, {})
    for bins in (0, 1.5, True):
        with pytest.raises(ValueError, match=r"n_bins is .*, must be a whole number"):
            ReliabilityDisplay.from_predictions(positive, {"a": [0.5] * 6}, n_bins=bins)


def test_reliability_of_a_tree_and_its_boundary(iris: Any) -> None:
    model, X, y = iris
    display = ReliabilityDisplay.from_estimator(model, X, y, class_label="versicolor")
    assert list(display.lines_) == ["tree", "Laplace", "boundary"]
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(display.brier["boundary"], np.mean((p - (y == "versicolor")) ** 2))
    assert display.counts["tree"].sum() == len(X)


class TestNotes:
    def test_a_flat_picture_says_why(self, iris: Any) -> None:
        _, X, y = iris
        alone = BoundaryClassifier(TreeClassifier(max_depth=3, min_samples_split=999)).fit(X, y)
        for draw in drawings(alone, X, y).values():
            display = draw()
            texts = [text.get_text() for text in display.ax_.texts]
            if hasattr(display, "note"):
                assert texts == ["all values are equal:\nthe tree has one leaf"]
        unused = X.assign(unused=1.0)
        model = BoundaryClassifier(TreeClassifier(max_depth=3)).fit(unused, y)
        display = ColumnProfileDisplay.from_estimator(model, unused, "unused", grid_resolution=5)
        assert display.note == "all values are equal:\nthe tree does not split on unused"
        assert ColumnProfileDisplay.from_estimator(model, unused, "width").note is None


class TestReliabilityOfAny:
    @pytest.mark.parametrize(
        "model",
        [
            TreeClassifier(),
            ForestClassifier(5, random_state=0),
            MeasuredTreeClassifier(0.1),
            DecisionTreeClassifier(max_depth=2),
            make_pipeline(StandardScaler(), LogisticRegression()),
        ],
    )
    def test_every_probabilistic_classifier_is_taken(self, model: Any, iris: Any) -> None:
        _, X, y = iris
        display = ReliabilityDisplay.from_estimator(model.fit(X, y), X, y, class_label="versicolor")
        (name,) = display.predicted
        assert name == type(model).__name__
        p, truth = model.predict_proba(X)[:, 1], y == "versicolor"
        assert display.brier[name] == pytest.approx(np.mean((p - truth) ** 2))
        assert list(ReliabilityDisplay.from_estimator(model, X, y, name="mine").predicted) == ["mine"]

    def test_rows_of_each_bin_are_shown(self, iris: Any) -> None:
        model, X, y = iris
        display = ReliabilityDisplay.from_estimator(model, X, y)
        for name, line in display.count_lines_.items():
            np.testing.assert_array_equal(line.get_xdata(), display.lines_[name].get_xdata())
            assert sum(line.get_ydata()) == len(X)
        assert display.plot(counts=False).counts_ax_ is None
        assert display.ax_.get_ylim()[0] == pytest.approx(-0.03)

    def test_others_are_refused(self, iris: Any) -> None:
        _, X, y = iris
        with pytest.raises(
            ValueError, match="has no predict_proba: pass a fitted classifier that predicts probabilities"
        ):
            ReliabilityDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
        with pytest.raises(ValueError, match="has no predict_proba"):
            ReliabilityDisplay.from_estimator(TreeClassifier, X, y)
