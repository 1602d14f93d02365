"""Pictures of cautious classifiers: their numbers against the metrics, what is drawn, and what is refused."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import CautiousClassifier, CautiousForestClassifier, ForestClassifier, credal, metrics
from hedgerow.plots import ClassBoundsDisplay, RejectionCurveDisplay, SetUtilityDisplay

CURVES = [RejectionCurveDisplay, SetUtilityDisplay]
S = (0.5, 2, 20)


@pytest.fixture(params=["two classes", "three classes"])
def held_out(request: Any) -> tuple[Any, Any, Any]:
    return case(request.param)


def case(name: str) -> tuple[Any, Any, Any]:
    """A fitted model, whose classes are words, and rows that it has not seen."""
    data = (load_breast_cancer if name == "two classes" else load_iris)()
    X, y = data.data[:, :4], data.target_names[data.target]
    model = CautiousForestClassifier(n_estimators=20, s=1, splitter="best", random_state=0)
    return model.fit(X[::2], y[::2]), X[1::2], y[1::2]


def iris_display(aggregate: str = "average", s: float = 5, row: int = 41, **settings: Any) -> ClassBoundsDisplay:
    model, X, _ = case("three classes")
    return ClassBoundsDisplay.from_estimator(model.set_params(aggregate=aggregate, s=s), X[row : row + 1], **settings)


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def corners_by_hand(bounds: Any) -> Any:
    """The corners of {p: lower ≤ p ≤ upper, Σp = 1}: where two of the six inequalities are equalities."""
    found = set()
    for i in range(3):
        for j in range(i + 1, 3):
            for p_i in bounds[i]:
                for p_j in bounds[j]:
                    p = np.empty(3)
                    p[i], p[j], p[3 - i - j] = p_i, p_j, 1 - p_i - p_j
                    if (p >= bounds[:, 0] - 1e-9).all() and (p <= bounds[:, 1] + 1e-9).all():
                        found.add(tuple((p + 0.0).round(8).tolist()))
    return found


# -- both curves


class TestBothCurves:
    @pytest.mark.parametrize("family", CURVES)
    def test_the_estimator_stays_as_it_was(self, family: Any, held_out: Any) -> None:
        model, X, y = held_out
        before, sets = model.get_params(), model.predict_set(X)
        family.from_estimator(model, X, y, s=S)
        assert model.get_params() == before
        np.testing.assert_array_equal(model.predict_set(X), sets)

    @pytest.mark.parametrize("family", CURVES)
    def test_any_order_of_s_gives_the_same_picture(self, family: Any, held_out: Any) -> None:
        first, second = (family.from_estimator(*held_out, s=iter(s)) for s in (S, S[::-1]))
        assert list(first.s) == list(second.s) == list(S)
        lines = [[line.get_xydata() for line in display.ax_.lines] for display in (first, second)]
        np.testing.assert_array_equal(*lines)

    @pytest.mark.parametrize("family", CURVES)
    def test_eight_s_are_drawn_by_default(self, family: Any, held_out: Any) -> None:
        assert family.from_estimator(*held_out).s == [0.1, 0.3, 1, 2, 3, 5, 10, 30]

    @pytest.mark.parametrize("family", CURVES)
    def test_wrapped_forests_of_scikit_learn_are_drawn_too(self, family: Any) -> None:
        _, X, y = case("three classes")
        theirs = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
        display = family.from_estimator(CautiousClassifier.from_fitted(theirs), X[1::2], y[1::2], s=[1])
        assert display.s == [1]
        display.figure_.canvas.draw()

    @pytest.mark.parametrize("family", CURVES)
    def test_they_draw_on_the_axes_that_they_are_given(self, family: Any, held_out: Any) -> None:
        figure, (left, right) = plt.subplots(1, 2)
        display = family.from_estimator(*held_out, s=S, ax=right)
        assert display.ax_ is right
        assert display.figure_ is figure
        assert not left.lines
        assert plt.get_fignums() == [figure.number]

    @pytest.mark.parametrize("family", CURVES)
    def test_they_can_be_drawn_twice(self, family: Any, held_out: Any) -> None:
        display = family.from_estimator(*held_out, s=S)
        first = display.ax_
        assert display.plot() is display
        assert display.ax_ is not first
        assert len(display.ax_.lines) == len(first.lines)

    @pytest.mark.parametrize("family", CURVES)
    @pytest.mark.parametrize(
        ("s", "message"),
        [
            ([], "s is empty, must have at least one positive number"),
            ([1, 0], "s is 0, must be a positive number"),
            ([-1], "s is -1, must be a positive number"),
            ([np.inf], "s is inf, must be a positive number"),
            ([np.nan], "s is nan, must be a positive number"),
            ([1, None], "s is None, must be a positive number"),
            (1, r"s is 1, must be several positive numbers, such as \(1, 3, 5\)"),
            ("1", "s is '1', must be several"),
        ],
    )
    def test_s_out_of_range_is_refused_before_anything_is_drawn(self, family: Any, s: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            family.from_estimator(*case("three classes"), s=s)
        assert not plt.get_fignums()

    @pytest.mark.parametrize("family", CURVES)
    @pytest.mark.parametrize(
        ("estimator", "message"),
        [
            (ForestClassifier(), "has no predict_set and no parameter s: pass a .* CautiousForestClassifier"),
            (
                make_pipeline(StandardScaler(), CautiousForestClassifier()),
                "from a pipeline .*, pass the classifier inside",
            ),
            (CautiousForestClassifier, "has no predict_set"),
            ("belief", "estimator is 'belief', which has no predict_set"),
        ],
    )
    def test_estimators_that_have_no_sets_are_refused(self, family: Any, estimator: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            family.from_estimator(estimator, [[1.0]], ["a"])

    @pytest.mark.parametrize("family", CURVES)
    def test_an_estimator_that_is_not_fitted_is_refused(self, family: Any) -> None:
        with pytest.raises(NotFittedError, match="CautiousForestClassifier"):
            family.from_estimator(CautiousForestClassifier(), [[1.0]], ["a"])

    @pytest.mark.parametrize("family", CURVES)
    def test_labels_that_do_not_fit_are_refused(self, family: Any) -> None:
        model, X, y = case("three classes")
        with pytest.raises(ValueError, match="y_true has shape"):
            family.from_estimator(model, X, y[:-1])
        with pytest.raises(ValueError, match="y_true has 'rose', which is not in classes"):
            family.from_estimator(model, X, ["rose"] * len(y))
        assert not plt.get_fignums()

    @pytest.mark.parametrize("family", CURVES)
    @pytest.mark.parametrize("shape", [(4, 2), (1, 4, 2), (3, 4, 2)])
    def test_sets_that_do_not_fit_are_refused(self, family: Any, shape: Any) -> None:
        with pytest.raises(ValueError, match=r"must have shape \(2, n, n_classes\): sets for each s"):
            family.from_predictions([0] * 4, np.ones(shape, dtype=bool), s=[1, 2], classes=[0, 1])

    @pytest.mark.usefixtures("no_matplotlib")
    @pytest.mark.parametrize("family", [*CURVES, ClassBoundsDisplay])
    @pytest.mark.parametrize("way", ["from_estimator", "from_predictions"])
    def test_without_matplotlib_they_say_what_to_install(self, family: Any, way: str) -> None:
        calls = {
            "from_estimator": lambda: family.from_estimator(None, *[None] * (1 + (family in CURVES))),
            "from_predictions": lambda: family.from_predictions(None, None, s=None, classes=None),
        }
        if hasattr(family, way):
            with pytest.raises(ImportError, match=rf"{family.__name__}.{way} .*pip install 'hedgerow\[plot\]'"):
                calls[way]()


# -- rejection curve


class TestRejectionCurve:
    def test_points_are_what_the_metrics_say(self, held_out: Any) -> None:
        model, X, y = held_out
        weight = np.arange(1.0, len(y) + 1)
        for given in (None, weight):
            display = RejectionCurveDisplay.from_estimator(model, X, y, s=S, sample_weight=given)
            for number, s in enumerate(S):
                sets = copy.deepcopy(model).set_params(s=s).predict_set(X)
                settings = {"classes": model.classes_, "sample_weight": given}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    accuracy = metrics.single_accuracy(y, sets, **settings)
                assert display.determinacy[number] == metrics.determinacy(y, sets, **settings)
                assert display.single_accuracy[number] == pytest.approx(accuracy, nan_ok=True)

    def test_arrays_give_the_same_as_the_estimator(self, held_out: Any) -> None:
        model, X, y = held_out
        sets = [copy.deepcopy(model).set_params(s=s).predict_set(X) for s in S]
        direct = RejectionCurveDisplay.from_predictions(y, sets, s=S, classes=model.classes_)
        through = RejectionCurveDisplay.from_estimator(model, X, y, s=S)
        np.testing.assert_array_equal(direct.determinacy, through.determinacy)
        np.testing.assert_array_equal(direct.single_accuracy, through.single_accuracy)
        assert direct.ax_.get_legend() is None
        assert legend_of(through.ax_) == ["CautiousForestClassifier"]

    def test_what_is_drawn_is_what_is_held(self, held_out: Any) -> None:
        display = RejectionCurveDisplay.from_estimator(*held_out, s=S, name="mine", line_kw={"lw": 5})
        assert display.figure_ is display.ax_.figure
        assert list(display.ax_.lines) == [display.line_]
        np.testing.assert_array_equal(display.line_.get_xdata(), display.determinacy)
        np.testing.assert_array_equal(display.line_.get_ydata(), display.single_accuracy)
        assert display.line_.get_linewidth() == 5
        assert legend_of(display.ax_) == ["mine"]
        assert display.ax_.get_xlabel() == "share of rows decided"
        assert display.ax_.get_ylabel() == "accuracy on the decided rows"

    def test_rows_that_are_never_decided_leave_out_the_point_without_a_warning(self) -> None:
        sets = np.array([[[True, False]] * 2, [[True, True]] * 2])
        display = RejectionCurveDisplay.from_predictions(["a", "b"], sets, s=[1, 9], classes=["a", "b"])
        np.testing.assert_array_equal(display.determinacy, [1, 0])
        np.testing.assert_array_equal(display.single_accuracy, [0.5, np.nan])
        assert [text.get_text() for text in display.s_texts_] == ["s = 1"]
        nothing = RejectionCurveDisplay.from_predictions(["a", "b"], sets[1:], s=[9], classes=["a", "b"])
        nothing.figure_.canvas.draw()
        assert nothing.s_texts_ == []

    def test_points_are_labelled_and_those_in_one_place_share_a_label(self) -> None:
        display = RejectionCurveDisplay(
            s=[1, 2, 3, 5], determinacy=np.array([1, 1, 0.8, 0.5]), single_accuracy=np.array([0.7, 0.7, 0.8, 0.9])
        ).plot()
        assert [text.get_text() for text in display.s_texts_] == ["s = 1 to 2", "5", "3"]
        assert [text.xy for text in display.s_texts_] == [(1, 0.7), (0.5, 0.9), (0.8, 0.8)]
        assert all(text.get_visible() for text in display.s_texts_)
        assert not display.plot(label_s=False).s_texts_

    def test_labels_have_room_whatever_else_is_drawn(self) -> None:
        rng = np.random.default_rng(0)
        _, ax = plt.subplots()
        displays = [
            RejectionCurveDisplay(s=np.arange(1, 41), determinacy=rng.random(40), single_accuracy=rng.random(40))
            for _ in range(2)
        ]
        for display in displays:
            display.plot(ax)
        ax.figure.canvas.draw()
        boxes = [text.get_window_extent() for text in ax.texts if text.get_visible()]
        assert 0 < len(boxes) < 80
        assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
        points = np.concatenate([ax.transData.transform(line.get_xydata()) for line in ax.lines])
        assert not any(box.contains(*point) for box in boxes for point in points)

    def test_curves_on_the_same_axes_look_different(self, held_out: Any) -> None:
        model, X, y = held_out
        _, ax = plt.subplots()
        displays = [
            RejectionCurveDisplay.from_estimator(
                copy.copy(model).set_params(aggregate=name), X, y, s=S, name=name, ax=ax
            )
            for name in ("belief", "average", "vote")
        ]
        assert legend_of(ax) == ["belief", "average", "vote"]
        assert len({display.line_.get_color() for display in displays}) == 3
        assert len({display.line_.get_marker() for display in displays}) == 3


# -- utility


class TestSetUtility:
    def test_lines_are_what_the_metrics_say(self, held_out: Any) -> None:
        model, X, y = held_out
        weight = np.arange(1.0, len(y) + 1)
        for given in (None, weight):
            display = SetUtilityDisplay.from_estimator(model, X, y, s=S, sample_weight=given)
            for number, s in enumerate(S):
                other = copy.deepcopy(model).set_params(s=s)
                settings = {"classes": model.classes_, "sample_weight": given}
                assert display.u65[number] == metrics.u65_score(y, other.predict_set(X), **settings)
                assert display.u80[number] == metrics.u80_score(y, other.predict_set(X), **settings)
                assert display.accuracy is not None
                assert display.accuracy[number] == pytest.approx(other.score(X, y, sample_weight=given))

    def test_what_is_drawn_is_what_is_held(self, held_out: Any) -> None:
        display = SetUtilityDisplay.from_estimator(*held_out, s=S)
        drawn = [display.u80_line_, display.u65_line_, display.accuracy_line_]
        assert list(display.ax_.lines) == drawn
        for line, values in zip(drawn, (display.u80, display.u65, display.accuracy), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), S)
            np.testing.assert_array_equal(line.get_ydata(), values)
        assert legend_of(display.ax_) == ["u80 of the sets", "u65 of the sets", "accuracy of single classes"]
        assert display.ax_.get_xscale() == "log"
        assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["0.5", "2", "20"]

    def test_the_accuracy_may_be_left_out(self) -> None:
        sets = np.array([[[True, True]] * 2, [[True, False]] * 2])
        display = SetUtilityDisplay.from_predictions(["a", "b"], sets, s=[9, 1], classes=["a", "b"])
        assert display.s == [1, 9]  # s may come in any order
        np.testing.assert_allclose(display.u65, [0.5, 0.65])
        np.testing.assert_allclose(display.u80, [0.5, 0.8])
        assert display.accuracy is display.accuracy_line_ is None
        named = [["a", "b"], ["a", "a"]]
        display = SetUtilityDisplay.from_predictions(["a", "b"], sets, named, s=[9, 1], classes=["a", "b"])
        np.testing.assert_array_equal(display.accuracy, [0.5, 1])
        with pytest.raises(ValueError, match=r"y_pred has shape \(2,\), must have shape \(2, 2\): labels for each s"):
            SetUtilityDisplay.from_predictions(["a", "b"], sets, ["a", "b"], s=[9, 1], classes=["a", "b"])

    @pytest.mark.parametrize("s", [[1.0], [2.0, 2.0], [1, 1.01, 1.02, 9], np.geomspace(0.01, 100, 200)])
    def test_numbers_of_s_do_not_run_into_each_other(self, s: Any) -> None:
        display = SetUtilityDisplay(s=list(s), u65=np.ones(len(s)), u80=np.ones(len(s))).plot(legend=False)
        display.figure_.canvas.draw()
        boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels() if label.get_text()]
        assert boxes
        assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
        assert display.ax_.get_legend() is None

    def test_styles_can_be_changed(self, held_out: Any) -> None:
        wanted = {"line_kw": {"lw": 4}, "accuracy_kw": {"c": "red"}}
        display = SetUtilityDisplay.from_estimator(*held_out, s=S, **wanted)
        assert display.u65_line_.get_linewidth() == display.u80_line_.get_linewidth() == 4
        assert display.accuracy_line_.get_color() == "red"


# -- bounds


class TestClassBounds:
    def test_it_holds_what_the_estimator_answers(self, held_out: Any) -> None:
        model, X, _ = held_out
        for row in (0, 20, 40):
            display = ClassBoundsDisplay.from_estimator(model, X[row : row + 1])
            np.testing.assert_array_equal(display.bounds, model.predict_bounds(X)[row])
            np.testing.assert_array_equal(display.probabilities, model.predict_proba(X)[row])
            np.testing.assert_array_equal(display.in_set, model.predict_set(X)[row])
            assert display.display_labels == model.classes_.tolist()

    def test_a_bar_goes_from_lower_to_upper_and_those_of_the_set_are_marked(self) -> None:
        display = iris_display()
        assert display.in_set.tolist() == [False, True, True]
        for number, (bar, (lower, upper)) in enumerate(zip(display.bars_, display.bounds, strict=True)):
            assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((lower, upper))
            assert bar.get_y() + bar.get_height() / 2 == pytest.approx(number)
        outside, *inside = (bar.get_facecolor() for bar in display.bars_)
        assert inside[0] == inside[1] != outside
        assert [text.get_fontweight() for text in display.ax_.get_yticklabels()] == ["normal", "bold", "bold"]
        np.testing.assert_array_equal(display.probability_line_.get_xdata(), display.probabilities)
        np.testing.assert_array_equal(display.probability_line_.get_ydata(), [0, 1, 2])
        assert display.dominance_line_.get_xdata()[0] == display.bounds[:, 0].max()
        assert display.ax_.get_title() == "Answer: versicolor or virginica"
        assert legend_of(display.ax_) == ["largest lower bound", "probability", "in the set", "not in the set"]
        assert display.region_ is None
        assert not display.border_lines_

    def test_many_classes_and_one_class_are_drawn(self) -> None:
        many = ClassBoundsDisplay(
            bounds=np.tile([0.0, 0.1], (40, 1)),
            probabilities=np.full(40, 1 / 40),
            in_set=np.ones(40, dtype=bool),
            display_labels=[f"class {i}" for i in range(40)],
        ).plot()
        many.figure_.canvas.draw()
        assert many.ax_.get_title() == "Answer: one of 40 classes"
        one = ClassBoundsDisplay(
            bounds=np.array([[1.0, 1.0]]), probabilities=np.ones(1), in_set=np.array([True]), display_labels=["it"]
        ).plot()
        assert len(one.bars_) == 1

    @pytest.mark.parametrize("aggregate", credal.names())
    @pytest.mark.parametrize("s", [0.5, 5, 50])
    @pytest.mark.filterwarnings("ignore:the trees have no distribution in common")
    def test_the_region_is_that_of_the_bounds(self, aggregate: str, s: float) -> None:
        for row in (0, 41, 60):
            display = iris_display(aggregate, s, row)
            region = display.region
            lower, upper = display.bounds.T
            np.testing.assert_allclose(region.sum(axis=1), 1)
            assert (region >= lower - 1e-9).all()
            assert (region <= upper + 1e-9).all()
            reached = np.column_stack([region.min(axis=0), region.max(axis=0)])
            np.testing.assert_allclose(reached, np.column_stack(credal.reachable(lower, upper)), atol=1e-8)
            assert {tuple((corner + 0.0).round(8).tolist()) for corner in region} == corners_by_hand(display.bounds)

    def test_corners_of_a_region_come_in_order_around_it(self) -> None:
        display = ClassBoundsDisplay(
            bounds=np.array([[0.1, 0.5], [0.1, 0.5], [0.1, 0.5]]),
            probabilities=np.full(3, 1 / 3),
            in_set=np.ones(3, dtype=bool),
            display_labels=["a", "b", "c"],
        ).plot(kind="simplex")
        assert len(display.region) == 6
        sides = np.diff(np.vstack([display.region_.get_xy()]), axis=0)
        turns = [np.linalg.det([one, other]) for one, other in zip(sides, np.roll(sides, -1, axis=0), strict=True)]
        assert (np.array(turns) > 0).all()  # always to the left

    def test_the_simplex_has_region_point_and_borders(self) -> None:
        display = iris_display(kind="simplex")
        corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
        np.testing.assert_allclose(display.region_.get_xy()[:-1], display.region @ corners)
        np.testing.assert_allclose(display.probability_line_.get_xydata()[0], display.probabilities @ corners)
        for k, line in enumerate(display.border_lines_):
            shares = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), np.vstack([line.get_xydata().T, np.ones(2)]))
            first, second = np.delete(shares, k, axis=0)
            np.testing.assert_allclose(first, second)
            assert (first >= shares[k] - 1e-12).all()
        texts = {text.get_text(): text.get_fontweight() for text in display.ax_.texts}
        assert texts == {"setosa": "normal", "versicolor": "bold", "virginica": "bold"}
        assert legend_of(display.ax_) == ["two classes equally likely", "within the bounds", "probability"]
        assert display.bars_ == []
        assert display.dominance_line_ is None

    @pytest.mark.parametrize("kind", ["bars", "simplex"])
    def test_it_draws_on_given_axes_and_twice(self, kind: str) -> None:
        figure, (left, right) = plt.subplots(1, 2)
        display = iris_display(kind=kind, ax=left, legend=False)
        assert display.ax_ is left
        assert display.figure_ is figure
        assert display.ax_.get_legend() is None
        assert plt.get_fignums() == [figure.number]
        assert display.plot(right, kind=kind) is display
        assert display.ax_ is right
        assert len(left.lines) == len(right.lines)
        assert len(left.patches) == len(right.patches)
        figure.canvas.draw()

    def test_one_display_can_be_drawn_in_both_kinds(self) -> None:
        display = iris_display()
        assert display.plot(kind="simplex").region_ is not None
        assert display.plot().region_ is None

    def test_styles_and_names_can_be_changed(self) -> None:
        names = ["one", "two", "three"]
        display = iris_display(display_labels=names, bar_kw={"height": 0.2}, probability_kw={"c": "red"})
        assert [text.get_text() for text in display.ax_.get_yticklabels()] == names
        assert {round(bar.get_height(), 9) for bar in display.bars_} == {0.2}
        assert display.probability_line_.get_color() == "red"
        assert display.plot(kind="simplex", region_kw={"linewidth": 4}).region_.get_linewidth() == 4

    def test_a_frame_of_one_row_is_a_row(self) -> None:
        _, X, y = case("three classes")
        frame = pd.DataFrame(X, columns=list("abcd"))
        model = CautiousForestClassifier(n_estimators=5, random_state=0).fit(frame, y)
        display = ClassBoundsDisplay.from_estimator(model, frame.iloc[[3]])
        np.testing.assert_array_equal(display.probabilities, model.predict_proba(frame)[3])

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"kind": "pie"}, "kind is 'pie', must be 'bars' or 'simplex'"),
            ({"display_labels": ["a", "b"]}, "display_labels has 2 names, must have one for each of 3 classes"),
        ],
    )
    def test_wrong_settings_are_refused_before_anything_is_drawn(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            iris_display(**wrong)
        assert not plt.get_fignums()

    def test_a_simplex_of_other_than_three_classes_is_refused(self) -> None:
        model, X, _ = case("two classes")
        with pytest.raises(ValueError, match="three classes, here are 2: pass kind='bars'"):
            ClassBoundsDisplay.from_estimator(model, X[:1], kind="simplex")
        assert not plt.get_fignums()
        with pytest.raises(ValueError, match="three classes, here are 2"):
            _ = ClassBoundsDisplay.from_estimator(model, X[:1]).region

    def test_more_than_one_row_is_refused(self) -> None:
        model, X, _ = case("three classes")
        with pytest.raises(ValueError, match=r"X_row has 2 rows, must have one: pass X\[i : i \+ 1\]"):
            ClassBoundsDisplay.from_estimator(model, X[:2])
        with pytest.raises(ValueError, match="2D"):
            ClassBoundsDisplay.from_estimator(model, X[0])

    def test_estimators_without_sets_and_not_fitted_are_refused(self) -> None:
        with pytest.raises(ValueError, match="has no predict_set and no predict_bounds: pass a classifier"):
            ClassBoundsDisplay.from_estimator(ForestClassifier(), [[1.0]])
        with pytest.raises(NotFittedError):
            ClassBoundsDisplay.from_estimator(CautiousForestClassifier(), [[1.0]])
