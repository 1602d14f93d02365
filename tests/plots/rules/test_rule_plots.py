from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from hedgerow import ForestClassifier, ForestRegressor, RandomTreesClassifier, TreeClassifier, rules
from hedgerow.plots import LeafSizeDisplay, RuleEvolutionDisplay

SMALL: dict[str, Any] = {"n_samples": 6, "n_runs": 5, "random_state": 3}


def simulate(rule: Any, n_trees: int, positive_rate: float, prior: Any) -> np.ndarray:
    """Sample after sample into one leaf after the other."""
    draws = np.random.RandomState(SMALL["random_state"]).uniform(size=(SMALL["n_runs"], n_trees, SMALL["n_samples"]))
    scores = np.empty((SMALL["n_runs"], SMALL["n_samples"]))
    for run in range(SMALL["n_runs"]):
        leaves = [[0, 0] for _ in range(n_trees)]
        for sample in range(SMALL["n_samples"]):
            for tree, leaf in enumerate(leaves):
                leaf[int(draws[run, tree, sample] < positive_rate)] += 1
            scores[run, sample] = rule.decision(leaves, prior)
    return scores


class TestRuleEvolution:
    @pytest.mark.parametrize("name", rules.names(beyond=True))
    @pytest.mark.parametrize("n_trees", [1, 3])
    def test_scores_are_those_of_a_slow_simulation(self, name: str, n_trees: int) -> None:
        display = RuleEvolutionDisplay.from_rule(name, n_trees=n_trees, positive_rate=0.6, prior=[0.3, 0.7], **SMALL)
        expected = simulate(rules.get(name), n_trees, 0.6, [0.3, 0.7])
        np.testing.assert_allclose(display.scores, expected, rtol=1e-12, atol=1e-12)

    def test_few_runs_at_a_time_give_the_same_scores(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = RuleEvolutionDisplay.from_rule("dempster", n_trees=3, **SMALL)
        monkeypatch.setattr("hedgerow.plots.rules.rule_evolution._LEAVES_AT_ONCE", 2 * 3 * SMALL["n_samples"])
        parts = RuleEvolutionDisplay.from_rule("dempster", n_trees=3, **SMALL)
        np.testing.assert_array_equal(parts.scores, whole.scores)

    def test_a_leaf_of_positives_only_has_the_scores_of_the_formula(self) -> None:
        display = RuleEvolutionDisplay.from_rule("laplace", positive_rate=1, **SMALL)
        n = np.arange(1, 7)
        np.testing.assert_allclose(display.scores, np.tile((n + 1) / (n + 2) - 0.5, (5, 1)))
        opposite = RuleEvolutionDisplay.from_rule("laplace", positive_rate=0, **SMALL)
        np.testing.assert_allclose(opposite.scores, -display.scores)

    def test_mean_and_quantiles_are_over_the_runs(self) -> None:
        scores = np.arange(1.0, 12.0)[:, np.newaxis] * [1, -1]
        display = RuleEvolutionDisplay(scores=scores, rule_name="mine")
        np.testing.assert_allclose(display.mean, [6, -6])
        np.testing.assert_allclose(display.quantiles.T, [[2, 3.5, 8.5, 10], [-10, -8.5, -3.5, -2]])

    def test_the_same_seed_gives_the_same_scores_and_another_others(self) -> None:
        def scores(seed: Any) -> np.ndarray:
            return RuleEvolutionDisplay.from_rule("evidence", n_samples=20, random_state=seed).scores

        np.testing.assert_array_equal(scores(1), scores(np.random.RandomState(1)))
        assert (scores(1) != scores(2)).any()

    def test_a_rule_may_be_an_instance(self) -> None:
        display = RuleEvolutionDisplay.from_rule(rules.Evidence(correction=2.0), **SMALL)
        assert display.rule_name == "evidence"
        assert (display.scores != RuleEvolutionDisplay.from_rule("evidence", **SMALL).scores).any()

    def test_what_is_drawn_is_what_is_held(self) -> None:
        display = RuleEvolutionDisplay.from_rule("confidence", n_trees=2, **SMALL)
        assert display.figure_ is display.ax_.figure
        assert len(display.run_lines_) == 5
        samples = np.arange(1, 7)
        drawn = [*display.run_lines_, *display.quantile_lines_, display.mean_line_]
        held = [*display.scores, *display.quantiles, display.mean]
        for line, values in zip(drawn, held, strict=True):
            assert line in display.ax_.lines
            np.testing.assert_array_equal(line.get_xdata(), samples)
            np.testing.assert_array_equal(line.get_ydata(), values)

    def test_words_say_what_is_drawn(self) -> None:
        ax = RuleEvolutionDisplay.from_rule("confidence", **SMALL).ax_
        assert ax.get_title() == "confidence"
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("samples in the leaf", "score")
        assert legend_of(ax) == ["runs", "25% and 75% quantiles", "10% and 90% quantiles", "mean"]
        assert (
            RuleEvolutionDisplay.from_rule("pool", n_trees=7, **SMALL).ax_.get_xlabel() == "samples in each of 7 leaves"
        )

    @pytest.mark.parametrize("positive_rate", [0.0, 1.0])
    def test_the_legend_stands_on_the_side_without_lines(self, positive_rate: float) -> None:
        display = RuleEvolutionDisplay.from_rule("pool", positive_rate=positive_rate, **SMALL)
        display.figure_.canvas.draw()
        legend, panel = display.ax_.get_legend().get_window_extent(), display.ax_.get_window_extent()
        middle = (panel.y0 + panel.y1) / 2
        assert legend.y1 < middle if positive_rate == 1 else legend.y0 > middle

    def test_zero_is_in_the_middle_and_all_lines_inside(self) -> None:
        display = RuleEvolutionDisplay.from_rule("evidence", n_trees=10, **SMALL)
        lower, upper = display.ax_.get_ylim()
        assert lower == -upper
        assert upper > np.abs(display.scores).max()

    @pytest.mark.parametrize("settings", [{"n_samples": 1}, {"n_runs": 1}, {"n_samples": 1, "n_runs": 1}])
    def test_one_run_and_one_sample_are_enough(self, settings: dict[str, int]) -> None:
        display = RuleEvolutionDisplay.from_rule("vote", **settings, random_state=0)
        display.figure_.canvas.draw()
        assert display.scores.shape == (settings.get("n_runs", 100), settings.get("n_samples", 100))

    def test_scores_that_are_all_zero_can_be_drawn(self) -> None:
        display = RuleEvolutionDisplay(scores=np.zeros((2, 3)), rule_name="flat").plot()
        assert display.ax_.get_ylim() == (-1, 1)

    def test_it_draws_on_the_axes_that_it_is_given(self) -> None:
        figure, (left, right) = plt.subplots(1, 2)
        display = RuleEvolutionDisplay.from_rule("pool", ax=right, **SMALL)
        assert display.ax_ is right
        assert display.figure_ is figure
        assert not left.lines
        assert plt.get_fignums() == [figure.number]

    def test_it_can_be_drawn_twice(self) -> None:
        display = RuleEvolutionDisplay.from_rule("pool", **SMALL)
        first, scores = display.ax_, display.scores.copy()
        assert display.plot() is display
        assert display.ax_ is not first
        assert len(display.ax_.lines) == len(first.lines)
        np.testing.assert_array_equal(display.scores, scores)

    def test_styles_can_be_changed(self) -> None:
        wanted = {"run_kw": {"color": "red"}, "mean_kw": {"label": "middle"}, "quantile_kw": {"lw": 5}}
        display = RuleEvolutionDisplay.from_rule("pool", legend=False, **wanted, **SMALL)
        assert {line.get_color() for line in display.run_lines_} == {"red"}
        assert display.mean_line_.get_label() == "middle"
        assert {line.get_linewidth() for line in display.quantile_lines_} == {5}
        assert display.ax_.get_legend() is None

    @pytest.mark.parametrize(
        "make", [RuleEvolutionDisplay.from_rule, lambda rule, **k: RuleEvolutionDisplay.grid([rule], **k)]
    )
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"n_runs": 0}, "n_runs is 0, must be a whole number of at least 1"),
            ({"n_trees": 1.5}, "n_trees is 1.5, must be"),
            ({"n_samples": True}, "n_samples is True, must be"),
            ({"positive_rate": 1.01}, r"positive_rate is 1.01, must be a probability in \[0, 1\]"),
            ({"positive_rate": -0.1}, "positive_rate is -0.1"),
            ({"positive_rate": np.nan}, "positive_rate is nan"),
            ({"positive_rate": "often"}, "positive_rate is 'often'"),
            ({"prior": [0.5, 0.6]}, "prior is"),
        ],
    )
    def test_wrong_settings_are_refused_before_anything_is_drawn(
        self, make: Any, wrong: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            make("pool", **wrong)
        assert not plt.get_fignums()

    def test_unknown_rules_are_refused(self) -> None:
        with pytest.raises(ValueError, match="rule is 'guess', must be one of 'probability'"):
            RuleEvolutionDisplay.from_rule("guess")

    @pytest.mark.usefixtures("no_matplotlib")
    @pytest.mark.parametrize("way", ["from_rule", "grid", "plot"])
    def test_without_matplotlib_it_says_what_to_install(self, way: str) -> None:
        display = RuleEvolutionDisplay(scores=np.zeros((1, 1)), rule_name="any")
        call = {"from_rule": lambda: display.from_rule("pool"), "grid": display.grid, "plot": display.plot}[way]
        with pytest.raises(ImportError, match=rf"RuleEvolutionDisplay.{way} .*pip install 'hedgerow\[plot\]'"):
            call()


class TestGrid:
    def test_it_has_the_nine_rules_in_one_figure(self) -> None:
        displays = RuleEvolutionDisplay.grid(n_trees=3, **SMALL)
        assert [display.rule_name for display in displays] == list(rules.names())
        assert [display.ax_.get_title() for display in displays] == list(rules.names())
        assert {display.figure_ for display in displays} == {displays[0].figure_}
        assert displays[0].figure_.axes == [display.ax_ for display in displays]

    def test_rules_of_the_same_name_are_told_apart_by_their_settings(self) -> None:
        displays = RuleEvolutionDisplay.grid(["evidence", rules.Evidence(correction=1.0), "laplace"], **SMALL)
        assert [display.ax_.get_title() for display in displays] == ["evidence", "evidence, correction=1.0", "laplace"]

    def test_rules_of_the_same_name_that_say_nothing_of_their_settings_keep_it(self) -> None:
        class Mine(rules.FoldRule):
            table = rules.Pool.table
            finish = rules.Pool.finish

        assert [display.rule_name for display in RuleEvolutionDisplay.grid([Mine(), Mine()], **SMALL)] == ["mine"] * 2

    def test_every_rule_sees_the_same_samples(self) -> None:
        random = np.random.RandomState(SMALL["random_state"])
        displays = RuleEvolutionDisplay.grid(["pool", "vote", "pool"], **{**SMALL, "random_state": random})
        alone = [RuleEvolutionDisplay.from_rule(rule, **SMALL).scores for rule in ("pool", "vote", "pool")]
        np.testing.assert_array_equal([display.scores for display in displays], alone)

    def test_panels_share_the_samples_and_have_scales_of_their_own(self) -> None:
        first, second = RuleEvolutionDisplay.grid(["evidence", "probability"], n_trees=5, **SMALL)
        assert first.ax_.get_shared_x_axes().joined(first.ax_, second.ax_)
        assert first.ax_.get_ylim() != second.ax_.get_ylim()

    def test_one_legend_and_one_title_explain_all(self) -> None:
        displays = RuleEvolutionDisplay.grid(["pool", "vote"], n_trees=4, positive_rate=0.6, **SMALL)
        figure = displays[0].figure_
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()][-1] == "mean"
        assert all(display.ax_.get_legend() is None for display in displays)
        assert figure.get_suptitle() == "4 leaves that fill with samples, 60% of them positive"

    def test_words_and_numbers_of_samples_stand_under_the_lowest_panel_of_each_column(self) -> None:
        displays = RuleEvolutionDisplay.grid(["pool", "vote", "laplace", "cautious", "evidence"], **SMALL)
        labelled = [bool(display.ax_.get_xlabel()) for display in displays]
        assert labelled == [False, False, True, True, True]
        displays[0].figure_.canvas.draw()
        numbered = [any(label.get_visible() for label in display.ax_.get_xticklabels()) for display in displays]
        assert numbered == labelled
        assert [bool(display.ax_.get_ylabel()) for display in displays] == [True, False, False, True, False]

    def test_a_single_leaf_and_a_single_rule_are_a_grid_too(self) -> None:
        (display,) = RuleEvolutionDisplay.grid(["pool"], **SMALL)
        display.figure_.canvas.draw()
        assert display.figure_.legends[0].get_window_extent().width < display.figure_.bbox.width
        assert display.figure_.get_suptitle() == "A leaf that fills with samples, 75% of them positive"

    def test_styles_reach_every_panel(self) -> None:
        displays = RuleEvolutionDisplay.grid(["pool", "vote"], mean_kw={"color": "red"}, **SMALL)
        assert [display.mean_line_.get_color() for display in displays] == ["red", "red"]

    def test_no_rules_are_refused(self) -> None:
        with pytest.raises(ValueError, match="rules is empty"):
            RuleEvolutionDisplay.grid([])


def measure(display: LeafSizeDisplay, model: Any, X: Any, y: Any, seed: int) -> None:
    """A fit for every rule and size, and one row after the other for every tree."""
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    for number, size in enumerate(display.min_samples_leaf):
        for rule, accuracies in zip(display.rule_names, display.accuracies, strict=True):
            model.set_params(min_samples_leaf=size, rule=rule).fit(X_fit, y_fit)
            assert accuracies[number] == pytest.approx(model.score(X_test, y_test))
        counts = model.leaf_counts(X_test)
        for tree, accuracy in enumerate(display.tree_accuracies[number]):
            right = sum(
                model.classes_[list(counts[row, tree]).index(max(counts[row, tree]))] == y_test[row]
                for row in range(len(y_test))
            )
            assert accuracy == pytest.approx(right / len(y_test))


class TestLeafSizes:
    settings: ClassVar[dict[str, Any]] = {"min_samples_leaf": (1, 4, 20), "random_state": 5}

    @staticmethod
    def model() -> Any:
        return RandomTreesClassifier(n_estimators=7, random_state=0)

    @staticmethod
    def data(n_classes: int = 2) -> tuple[Any, Any]:
        return make_classification(150, 6, n_informative=4, n_classes=n_classes, random_state=1)

    def display(self, **settings: Any) -> LeafSizeDisplay:
        return LeafSizeDisplay.from_estimator(self.model(), *self.data(), **{**self.settings, **settings})

    @pytest.mark.parametrize("family", [RandomTreesClassifier, ForestClassifier])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_accuracies_are_those_of_a_slow_count(self, n_classes: int, family: Any) -> None:
        X, y = self.data(n_classes)
        labels = np.array(["ash", "beech", "cherry"])[y]
        uncalibrated = {"calibration": None} if family is ForestClassifier else {}
        model = family(n_estimators=7, random_state=0, **uncalibrated)
        display = LeafSizeDisplay.from_estimator(model, X, labels, **self.settings)
        assert display.accuracies.shape == (5, 3)
        assert display.tree_accuracies.shape == (3, 7)
        measure(display, model, X, labels, seed=5)

    def test_few_rows_at_a_time_give_the_same_accuracies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = self.display()
        monkeypatch.setattr("hedgerow.plots.rules.leaf_sizes._COUNTS_AT_ONCE", 4 * 7 * 2)
        np.testing.assert_array_equal(self.display().tree_accuracies, whole.tree_accuracies)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
    def test_frames_give_the_same_as_arrays(self, frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("hedgerow.plots.rules.leaf_sizes._COUNTS_AT_ONCE", 4 * 7 * 2)
        X, y = self.data()
        table = frame({f"x{number}": column for number, column in enumerate(X.T)})
        display = LeafSizeDisplay.from_estimator(self.model(), table, y, **self.settings)
        np.testing.assert_array_equal(display.tree_accuracies, self.display().tree_accuracies)
        np.testing.assert_array_equal(display.accuracies, self.display().accuracies)

    def test_the_estimator_stays_as_it_was(self) -> None:
        model = self.model()
        before = model.get_params()
        LeafSizeDisplay.from_estimator(model, *self.data(), **self.settings)
        assert model.get_params() == before
        assert not hasattr(model, "classes_")

    def test_rules_and_the_held_out_share_can_be_chosen(self) -> None:
        display = self.display(rules=["cautious", rules.Evidence(correction=1.0)], test_size=10)
        assert display.rule_names == ["cautious", "evidence"]
        np.testing.assert_allclose(display.accuracies * 10, np.round(display.accuracies * 10))

    def test_sizes_are_sorted(self) -> None:
        shuffled = self.display(min_samples_leaf=iter([20, 1, 4]))
        assert shuffled.min_samples_leaf == [1, 4, 20]
        np.testing.assert_array_equal(shuffled.accuracies, self.display().accuracies)

    def test_what_is_drawn_is_what_is_held(self) -> None:
        display = self.display()
        for line, accuracies in zip(display.lines_, display.accuracies, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), [1, 4, 20])
            np.testing.assert_array_equal(line.get_ydata(), accuracies)
        np.testing.assert_array_equal(display.tree_dots_.get_ydata(), display.tree_accuracies.ravel())
        np.testing.assert_allclose(display.tree_mean_line_.get_ydata(), display.tree_accuracies.mean(axis=1))
        drawn = [*display.lines_, display.tree_dots_, display.tree_mean_line_]
        assert set(drawn) == set(display.ax_.lines)
        assert display.tree_bands_ == list(display.ax_.collections)

    def test_bands_are_standard_deviations_that_stay_within_zero_and_one(self) -> None:
        trees = np.array([[0.5, 0.7], [0.9, 1.0]])  # standard deviations 0.1 and 0.05
        display = LeafSizeDisplay(
            min_samples_leaf=[1, 2], rule_names=["any"], accuracies=np.ones((1, 2)), tree_accuracies=trees
        ).plot()
        ends = [[(0.5, 0.7), (0.9, 1.0)], [(0.4, 0.8), (0.85, 1.0)], [(0.3, 0.9), (0.8, 1.0)]]
        for band, expected in zip(display.tree_bands_, ends, strict=True):
            corners = band.get_paths()[0].vertices
            for size, (lower, upper) in zip((1, 2), expected, strict=True):
                heights = corners[corners[:, 0] == size, 1]
                np.testing.assert_allclose((heights.min(), heights.max()), (lower, upper))

    def test_words_say_what_is_drawn(self) -> None:
        ax = self.display().ax_
        five = ["probability", "confidence", "pool", "dempster", "evidence"]
        assert legend_of(ax) == [*five, "single trees", "their mean", "their 1, 2, 3 standard deviations"]
        assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "4", "20"]
        assert ax.get_xlabel() == "minimum number of samples in a leaf"
        assert ax.get_ylabel() == "accuracy on held-out rows"
        assert ax.get_title() == "Rules, and the 7 trees that they combine"

    def test_no_two_of_the_nine_rules_look_alike(self) -> None:
        lines = self.display(rules=rules.names()).lines_
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 9
        assert len({line.get_marker() for line in lines}) == 9

    def test_it_draws_on_the_axes_that_it_is_given(self) -> None:
        figure, (left, right) = plt.subplots(1, 2)
        display = self.display(ax=left)
        assert display.ax_ is left
        assert display.figure_ is figure
        assert not right.lines
        assert plt.get_fignums() == [figure.number]

    def test_it_can_be_drawn_twice(self) -> None:
        display = self.display()
        first = display.ax_
        assert display.plot() is display
        assert display.ax_ is not first
        assert len(display.ax_.lines) == len(first.lines)

    def test_styles_can_be_changed(self) -> None:
        display = self.display(line_kw={"lw": 4}, dot_kw={"color": "red"}, legend=False)
        assert {line.get_linewidth() for line in display.lines_} == {4}
        assert display.tree_dots_.get_color() == "red"
        assert display.ax_.get_legend() is None

    @pytest.mark.parametrize(
        ("estimator", "message"),
        [
            (
                TreeClassifier(),
                r"TreeClassifier\(\), which has no parameter rule: pass a forest .* RandomTreesClassifier",
            ),
            (ForestRegressor(), "has no leaf_counts and no parameter rule"),
            (LogisticRegression(), "has no leaf_counts and no parameter rule and no parameter min_samples_leaf"),
            ("evidence", "estimator is 'evidence', which has no leaf_counts and no parameter rule"),
        ],
    )
    def test_estimators_that_have_no_rule_are_refused(self, estimator: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LeafSizeDisplay.from_estimator(estimator, *self.data())

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"rules": ["guess"]}, "rule is 'guess', must be one of"),
            ({"rules": []}, "rules is empty"),
            ({"min_samples_leaf": []}, "min_samples_leaf is empty"),
            ({"min_samples_leaf": [0]}, "min_samples_leaf"),
            ({"test_size": 1.5}, "test_size"),
        ],
    )
    def test_wrong_settings_are_refused_before_anything_is_drawn(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.display(**wrong)
        assert not plt.get_fignums()

    @pytest.mark.usefixtures("no_matplotlib")
    def test_without_matplotlib_it_says_what_to_install(self) -> None:
        with pytest.raises(ImportError, match=r"LeafSizeDisplay.from_estimator .*pip install 'hedgerow\[plot\]'"):
            LeafSizeDisplay.from_estimator(None, None, None)


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]
