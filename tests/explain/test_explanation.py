from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier

from effort import examples
from hedgerow import (
    BoundaryClassifier,
    CautiousForestClassifier,
    Forest,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.boundary.boundary_explanation import BoundaryExplanation, separator_texts
from hedgerow.boundary.decision_boundary import Separators
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.explain.explanation import explain_classes, explain_numbers
from hedgerow.explain.reached_leaves import heaviest_leaf
from hedgerow.explain.sentences import listed, path_nodes, path_sentences, percentages
from hedgerow.folds import leaf_counts, leaf_moments, tree_votes
from hedgerow.forest.names import number_text
from hedgerow.walk import ForestWalk, ask, route, spread
from oracles import explain as truth
from strategies import forests_with_rows

several = settings(max_examples=examples(11, 40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def plain_schema(n_features: int) -> Schema:
    return Schema(tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(n_features)), named=False)


@several
@given(forests_with_rows())
def test_the_way_is_that_of_a_literal_walk(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    leaves = route(forest, rows) + forest.leaf_start[:-1]
    for i, x in enumerate(rows):
        for tree in range(forest.n_trees):
            nodes = truth.nodes_on_the_way(forest, x, tree)
            assert path_nodes(forest, int(leaves[i, tree])) == nodes
            sentences = path_sentences(forest, plain_schema(forest.n_features), int(leaves[i, tree]), x)
            assert len(sentences) == len(nodes) - 1
            assert all(" is " in sentence and "\n" not in sentence for sentence in sentences)


@several
@given(forests_with_rows())
def test_the_heaviest_of_the_leaves_that_a_row_reaches_is_that_of_route(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    if forest.n_trees > 1:
        return
    reached = spread(forest, rows)
    for i, leaf in enumerate(route(forest, rows)[:, 0]):
        assert heaviest_leaf(forest, reached.indices[reached.indptr[i] : reached.indptr[i + 1]]) == leaf


@several
@given(forests_with_rows(regression=False))
def test_votes_dissenters_and_columns_are_those_of_a_literal_walk(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    classes = np.arange(forest.n_classes)
    shares = np.full((len(rows), forest.n_classes), 1 / forest.n_classes)
    answers = np.zeros(len(rows), dtype=int)
    counts, of_trees = ask(ForestWalk(forest, None), rows, [leaf_counts(forest), tree_votes(forest)])
    found = explain_classes(
        *(ForestWalk(forest, None), plain_schema(forest.n_features), rows),
        classes=classes,
        answers=answers,
        probabilities=shares,
        counts=counts,
        votes=of_trees,
    )
    for x, one in zip(rows, found, strict=True):
        votes = truth.votes(forest, x)
        assert one.votes == tuple(votes.count(code) for code in range(forest.n_classes))
        assert one.dissenters == tuple(tree for tree, vote in enumerate(votes) if vote != 0)
        about = {int(name[1:]): share for name, share in one.columns.items()}
        assert about == pytest.approx(truth.splits_about(forest, x))
        assert list(one.columns.values()) == sorted(one.columns.values(), reverse=True)
        assert (one.path == ()) == (forest.n_trees > 1 or forest.n_leaves == 1)
        assert str(one).endswith(f"\nDoubt: {one.doubt}." if one.doubt else ".")
        assert ("Doubt: " in str(one)) == (one.doubt != "")


@several
@given(forests_with_rows(regression=True))
def test_numbers_of_any_forest_are_explained(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    answers = np.zeros(len(rows))
    walk = ForestWalk(forest, None)
    reached = ask(walk, rows, [leaf_moments(forest)])[0]
    for one in explain_numbers(walk, plain_schema(forest.n_features), rows, answers=answers, reached=reached):
        assert len(one.trees) == forest.n_trees
        assert one.within >= 0
        assert one.interval is None
        assert str(one)


# -- sentences


def patients() -> tuple[pd.DataFrame, list[str]]:
    frame = pd.DataFrame(
        {
            "symptom": ["rash", "cough", "cough", "pain", "cough", "pain", "cough", "rash"],
            "temperature": [36.6, 37.1, 39.2, 36.8, 38.9, 37.0, 36.9, 37.3],
        }
    )
    return frame, ["home", "home", "ward", "ward", "ward", "ward", "home", "home"]


def test_a_tree_says_which_way_a_row_took() -> None:
    X, y = patients()
    one = TreeClassifier("entropy", leaf_probability="frequency").fit(X, y).explain(X.iloc[[2]])[0]
    assert one.answer == "ward"
    assert one.path == ("symptom is cough", "temperature is 39.2, above 38")
    assert one.counts == (0.0, 2.0)
    assert str(one) == (
        "ward, because\n  symptom is cough\n  temperature is 39.2, above 38\nTraining rows in its leaf: 2 ward.\n"
        "Probabilities: ward 1, home 0.\nDoubt: its leaf has only 2 rows."
    )


def test_missing_values_and_new_categories_are_named() -> None:
    X, y = patients()
    tree = TreeClassifier(criterion="entropy").fit(X, y)
    strange = pd.DataFrame({"symptom": ["cough", "fever"], "temperature": [None, 37.0]})
    without, new = tree.explain(strange)
    assert without.path[1] == "temperature is missing: split 50% / 50% over both branches (path: at most 38)"
    assert without.doubt.endswith("it is spread over 2 leaves; missing or new: temperature")
    assert new.path[0].startswith("symptom is missing or new: split 50% / 25% / 25% over 3 branches (path: cough)")


def test_a_row_in_several_leaves_is_said_to_be_a_mixture_of_them() -> None:
    X, y = patients()
    one = (
        TreeClassifier("entropy", leaf_probability="frequency")
        .fit(X, y)
        .explain(pd.DataFrame({"symptom": ["cough"], "temperature": [None]}))[0]
    )
    assert str(one) == (
        "home, because\n  symptom is cough\n"
        "  temperature is missing: split 50% / 50% over both branches (path: at most 38)\n"
        "It is spread over 2 leaves, mixed with these weights:\n"
        "   50%: temperature at most 38: home 1 (training rows: 2 home)\n"
        "   50%: temperature above 38: home 0 (training rows: 2 ward)\n"
        "Probabilities: home 0.5, ward 0.5.\n"
        "Doubt: 50% of it is in leaves where another class is more probable; it is spread over 2 leaves; "
        "missing or new: temperature."
    )


def rows_with_gaps(X: NDArray[np.float64]) -> NDArray[np.float64]:
    gaps = X[:60].copy()
    gaps[np.random.default_rng(0).random(gaps.shape) < 0.3] = np.nan
    return gaps


def shown_mixture(text: str, value: str) -> float:
    """The sum of shares times values over the lines of a mixture, as they are printed."""
    parts = re.findall(rf"^ +(\d+)%: .*?: {value}", text, re.MULTILINE)
    assert sum(int(percent) for percent, _ in parts) == 100
    return sum(int(percent) / 100 * float(number) for percent, number in parts)


NUMBER = r"(-?[\d.]+(?:e[-+]\d+)?)"


@pytest.mark.parametrize(
    "model", [TreeClassifier(), TreeClassifier(max_depth=3, leaf_probability="laplace"), NaiveBayesTreeClassifier()]
)
def test_the_weights_and_leaves_shown_add_up_to_the_probability_beside_them(model: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    gaps = rows_with_gaps(X[:, :6])
    found = model.fit(X[:, :6], y).explain(gaps)
    spread = [one for one in found if len(one.leaves) > 1]
    assert len(spread) > 10
    for one in found:
        weights = np.array([leaf.weight for leaf in one.leaves])
        np.testing.assert_allclose(weights.sum(), 1)
        np.testing.assert_allclose(weights @ np.array([leaf.probabilities for leaf in one.leaves]), one.probabilities)
        np.testing.assert_allclose(weights @ np.array([leaf.counts for leaf in one.leaves]), one.counts)
    for one in spread:
        assert "its leaf" not in str(one)
        shown = shown_mixture(str(one), f"{one.answer} {NUMBER}")
        assert shown == pytest.approx(one.probabilities[one.answer], abs=0.02)


def test_the_weights_and_means_shown_add_up_to_the_number_beside_them() -> None:
    X, y = load_diabetes(return_X_y=True)
    gaps = rows_with_gaps(X)
    for one in TreeRegressor(max_depth=3).fit(X, y).explain(gaps):
        np.testing.assert_allclose(sum(leaf.weight * leaf.mean for leaf in one.leaves), one.answer)
        if len(one.leaves) > 1:
            assert "Its leaf" not in str(one)
            assert shown_mixture(str(one), f"{NUMBER}( ±.*)?$".replace("( ±", "(?: ±")) == pytest.approx(
                one.answer, abs=3
            )


def test_a_rule_over_soft_regions_is_explained_by_what_it_mixes() -> None:
    X, y = load_iris(return_X_y=True)
    soft = MeasuredTreeClassifier(0.3, max_leaf_nodes=3).fit(X, y)
    model = RuleClassifier.from_fitted(soft, rule="probability")
    for one, counts in zip(model.explain(X[::10]), soft.leaf_counts(X[::10]), strict=True):
        np.testing.assert_allclose(one.counts, counts[0])
        assert [leaf.weight for leaf in one.leaves] == sorted((leaf.weight for leaf in one.leaves), reverse=True)


def test_percentages_add_up_to_a_hundred() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7):
        shares = rng.dirichlet(np.ones(n))
        whole = [int(text.removesuffix("%")) for text in percentages(shares)]
        assert sum(whole) == 100
        assert np.abs(np.array(whole) - 100 * shares).max() < 1
    assert percentages([0.5, 0.5]) == ["50%", "50%"]


def graded() -> tuple[pd.DataFrame, list[str]]:
    levels = ["low", "middle", "high"]
    frame = pd.DataFrame(
        [(grade, smoker) for grade in levels for smoker in (False, True)] * 5, columns=["grade", "smoker"]
    ).astype({"grade": pd.CategoricalDtype(levels, ordered=True)})
    return frame, ["ill" if grade != "low" and smoker else "well" for grade, smoker in frame.to_numpy()]


def test_ordered_categories_and_truth_values_are_named_wherever_nodes_are() -> None:
    X, y = graded()
    tree = TreeClassifier(pruning=None).fit(X, y)
    assert tree.to_text() == (
        "smoker = False: well (well 15)\nsmoker = True\n|   grade <= low: well (well 5)\n|   grade > low: ill (ill 10)"
    )
    assert tree.explain(X.iloc[[1]])[0].path == ("smoker is True", "grade is low, at most low")
    assert tree.explain(X.iloc[[2]])[0].path == ("smoker is False",)
    without = X.astype({"smoker": "boolean"}).iloc[[3]].assign(smoker=pd.NA)
    mixture = str(tree.explain(without)[0])
    assert "50%: smoker False: " in mixture
    assert "50%: smoker True: " in mixture
    soft = MeasuredTreeClassifier().fit(X, y).explain(X.iloc[[3]])[0]
    assert soft.regions[0].bounds == ("grade above low", "smoker True")
    assert soft.measured == ("grade middle", "smoker True")
    edge: BoundaryExplanation = BoundaryClassifier(TreeClassifier(pruning=None)).fit(X, y).explain(X.iloc[[1]])[0]
    assert edge.separator == "grade between low and middle"


def test_names_are_shown_literally_and_control_characters_escaped() -> None:
    frame = pd.DataFrame({"[bold]a\n$b$": [1.0, 2.0] * 9, "c\x1b[31m": ["x\ty", "{z}"] * 9})
    labels = ["in\nside", "out\x07"] * 9
    models = [
        TreeClassifier().fit(frame, labels),
        TreeClassifier().fit(frame[["c\x1b[31m"]], labels),
        ForestClassifier(3, random_state=0).fit(frame, labels),
        CautiousForestClassifier(n_estimators=3, random_state=0).fit(frame, labels),
        MeasuredTreeClassifier().fit(frame, labels),
        BoundaryClassifier(TreeClassifier()).fit(frame, labels),
    ]
    for model in models:
        text = str(model.explain(frame[model.feature_names_in_].iloc[:1])[0])
        assert "in\\nside" in text
        assert all(line.isprintable() for line in text.splitlines())
        assert not any(line in text.splitlines() for line in ("side", "$b$"))
    assert models[0].to_text().splitlines()[0].startswith("[bold]a\\n$b$ <= 1.5: in\\nside")
    assert models[1].to_text().splitlines()[0].startswith("c\\x1b[31m = x\\ty: in\\nside")


@pytest.mark.parametrize(
    ("nominal", "expected"),
    [("multiway", "colour is red"), ("binary", "colour is red"), ("subset", "colour is red, one of green and red")],
)
def test_splits_about_categories(nominal: str, expected: str) -> None:
    X = pd.DataFrame({"colour": ["red", "green", "blue", "grey"] * 5})
    y = (X["colour"].isin(["red", "green"]) if nominal == "subset" else X["colour"] == "red").map(
        {True: "a", False: "b"}
    )
    tree = TreeClassifier.cart(nominal=nominal).fit(X, y)
    assert tree.explain(X.iloc[[0]])[0].path == (expected,)
    other = tree.explain(X.iloc[[2]])[0].path[0]
    assert (
        other
        == {
            "multiway": "colour is blue",
            "binary": "colour is blue, not red",
            "subset": "colour is blue, none of green and red",
        }[nominal]
        or nominal == "subset"
    )


def test_levels_have_their_names() -> None:
    size = pd.Categorical(["s", "m", "l"] * 4, categories=["s", "m", "l"], ordered=True)
    X = pd.DataFrame({"size": size})
    tree = TreeClassifier().fit(X, ["small" if one == "s" else "large" for one in size])
    assert [one.path for one in tree.explain(X.iloc[:3])] == [
        ("size is s, at most s",),
        ("size is m, above s",),
        ("size is l, above s",),
    ]


def test_values_next_to_a_threshold_are_told_apart() -> None:
    tree = TreeClassifier().fit([[1.0], [2.0]], [0, 1])
    beside = float(np.nextafter(1.5, 2))
    assert tree.explain([[beside]])[0].path == (f"x0 is {beside!r}, above 1.5",)


def test_lists_in_words() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a", "b", "c"], "or") == "a, b or c"
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"


# -- models


CLASSIFIERS = [
    TreeClassifier(max_depth=3),
    ForestClassifier(10, random_state=0),
    ForestClassifier(10, rule="vote", random_state=0),
    RandomTreesClassifier(10, min_samples_leaf=4, random_state=0),
    RuleClassifier(ForestClassifier(5, random_state=0)),
    CautiousForestClassifier(n_estimators=10, s=3, aggregate="average", random_state=0),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_an_explanation_says_what_the_model_says(model: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model.fit(X, names)
    rows = X.iloc[::7]
    found = model.explain(rows)
    assert [one.answer for one in found] == model.predict(rows).tolist()
    np.testing.assert_array_equal([one.probabilities for one in found], model.predict_proba(rows))
    np.testing.assert_array_equal([one.counts for one in found], model.leaf_counts(rows).mean(axis=1))
    for one, x in zip(found, model.apply(rows), strict=True):
        assert np.size(x) == sum(one.votes)
        assert sum(one.columns.values()) == pytest.approx(1)
        assert set(one.columns) <= set(X.columns)
    if hasattr(model, "predict_set"):
        sets = model.predict_set(rows)
        assert [one.set for one in found] == [tuple(model.classes_[has].tolist()) for has in sets]
        np.testing.assert_array_equal([one.bounds for one in found], model.predict_bounds(rows))
        undecided = next(one for one in found if len(one.set) > 1)
        assert undecided.doubt.startswith("the evidence does not tell ")
        assert "Cannot be ruled out: " in str(undecided)


def test_a_forest_names_its_dissenters() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = ForestClassifier(30, random_state=0).fit(X[::2], y[::2])
    rows = X[1::2]
    split = int(np.abs(forest.predict_proba(rows)[:, 0] - 0.5).argmin())
    one = forest.explain(rows.iloc[[split]])[0]
    assert len(one.dissenters) == 30 - one.votes[one.answer] > 0
    assert f"{len(one.dissenters)} of 30 trees say {1 - one.answer}" in one.doubt
    assert "Dissenting trees: " in str(one)
    sure = forest.explain(rows.iloc[[int(forest.predict_proba(rows)[:, 1].argmax())]])[0]
    assert sure.dissenters == ()
    assert sure.doubt == ""
    assert str(sure).endswith("\nAll 30 trees agree.")


def test_a_pure_leaf_is_no_reason_for_doubt() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    tree = TreeClassifier().fit(X, np.where(X[:, 0] < 20, "ill", "well"))
    one = tree.explain(X[-1:])[0]
    assert one.doubt == ""
    assert str(one).endswith('\nAll 20 training rows in its leaf are "well".')


def test_a_regressor_compares_variation_between_and_within_trees() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(10, random_state=0).fit(X, 1000 * y)
    one = forest.explain(X[:1])[0]
    between, within = (f"{float(f'{value:.3g}'):,.0f}" for value in (np.std(one.trees), one.within))
    assert one.doubt == f"between trees ± {between}, within leaves ± {within}"
    assert "," in between
    tree = TreeRegressor(min_samples_leaf=3, pruning=None).fit(X, y)
    assert re.fullmatch(r"within its leaf ± [\d.]+; its leaf has only \d rows", tree.explain(X[:1])[0].doubt)


@pytest.mark.parametrize(
    "model", [TreeRegressor(max_depth=3), ForestRegressor(10, random_state=0)], ids=["tree", "forest"]
)
def test_numbers_are_explained(model: Any) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model.fit(X, y)
    rows = X.iloc[:5]
    found = model.explain(rows)
    np.testing.assert_array_equal([one.answer for one in found], model.predict(rows))
    np.testing.assert_allclose([np.mean(one.trees) for one in found], model.predict(rows))
    uncertainty = model.predict_uncertainty(rows)
    np.testing.assert_allclose([one.within for one in found], uncertainty.aleatoric)
    np.testing.assert_allclose([np.std(one.trees) for one in found], uncertainty.epistemic, atol=1e-6)
    if hasattr(model, "predict_interval"):
        half = model.explain(rows, coverage=0.5)
        np.testing.assert_array_equal([one.interval for one in half], model.predict_interval(rows, 0.5))
        assert "Interval of 50%: " in str(half[0])
    else:
        assert [one.interval for one in found] == [None] * 5


def test_labels_of_any_type_are_found_again() -> None:
    X = np.arange(6.0)[:, np.newaxis]
    for y in ([True, False] * 3, [3, 1, 2] * 2, np.array(["2024-01-01", "2025-01-01"] * 3, dtype="M8[D]")):
        tree = TreeClassifier().fit(X, y)
        assert len(tree.explain(X)) == 6
        assert TreeClassifier(max_depth=1).fit(X, np.zeros(6)).explain(X[:1])[0].path == ()


# -- distances


@pytest.mark.parametrize("tree", [TreeClassifier(max_depth=4), DecisionTreeClassifier(max_depth=4, random_state=0)])
def test_a_boundary_is_explained_by_its_tree_and_the_distance(tree: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["a", "b", "c"])[y]
    model = BoundaryClassifier(tree, bandwidth=0.5, boundary_weight=1).fit(X, labels)
    found = model.explain(X)
    assert [one.answer for one in found] == model.predict(X).tolist()
    assert [one.tree.answer for one in found] == model.estimator_.predict(X).tolist()
    np.testing.assert_array_equal([one.probabilities for one in found], model.predict_proba(X))
    np.testing.assert_array_equal([one.distances for one in found], model.algebraic_distance(X))
    feature, threshold = model.nearest_separator(X)
    for i, one in enumerate(found):
        assert one.separator == f"{X.columns[feature[i]]} at {number_text(threshold[i])}"
        assert f"the boundary is {one.separator}." in str(one)
        assert ("though the tree says " in str(one)) == (one.answer != one.tree.answer)
    assert any(one.answer != one.tree.answer for one in found)
    alone = BoundaryClassifier(TreeClassifier(max_depth=1, min_samples_split=99)).fit([[1.0], [2.0]], ["a", "b"])
    one = alone.explain([[1.0]])[0]
    assert one.separator is None
    assert "Distance" not in str(one)


def test_separators_have_words_for_every_kind_of_split() -> None:
    columns = [Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("r", "g")), Column("o", Kind.ORDINAL, ("s", "m"))]
    separators = Separators(np.array([0, 1, 2, -1, -2], dtype=np.int32), np.array([0.5, np.nan, 0.5, np.nan, 3.0]))
    words = separator_texts(separators, Schema(tuple(columns), named=True))
    assert words == ["x at 0.5", "another c", "o between s and m", None, "an oblique split"]


# -- soft regions


def measured_rows(n: int) -> Any:
    rng = np.random.default_rng(n)
    rows = pd.DataFrame({"temp": rng.normal(20, 5, n).round(1), "flow": rng.normal(0, 1, n).round(2)})
    rows["valve"] = rng.choice(["open", "shut", "stuck"], n)
    rows["grade"] = pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True)
    return rows


def measured_target(rows: Any) -> NDArray[np.float64]:
    steps = np.where(rows["temp"] > 20, 4.0, 0.0) + np.where(rows["valve"] == "stuck", 9.0, rows["flow"])
    return np.asarray(steps + rows["grade"].cat.codes)


def said_of(model: Any, number: int, row: Any) -> bool:
    """Whether a row is inside of a region, by what `regions_` and `region_categories_` say."""
    codes = model.schema_.read(row)[0]
    for j, (lower, upper) in enumerate(model.regions_[number]):
        inside = model.region_categories_.get(j)
        if not (lower < codes[j] <= upper if inside is None else inside[number, int(codes[j])]):
            return False
    return True


@pytest.mark.parametrize("classes", [False, True])
def test_regions_that_a_row_may_be_in_are_named(classes: bool) -> None:
    rows = measured_rows(200)
    number = measured_target(rows)
    sigma = {"temp": 1.0, "flow": 0.2}
    if classes:
        model: Any = MeasuredTreeClassifier(sigma).fit(rows, np.where(number > 5, "high", "low"))
    else:
        model = MeasuredTreeRegressor(sigma).fit(rows, number)
    asked = measured_rows(30)
    asked.loc[3, "temp"] = np.nan
    asked.loc[4, "valve"] = "gone"
    found = model.explain(asked)
    shares = model.membership(asked)
    for i, one in enumerate(found):
        assert [region.share for region in one.regions] == sorted(shares[i][shares[i] > 0].tolist(), reverse=True)
        assert all(region.share == shares[i, region.number] for region in one.regions)
        mixed = sum(region.share * np.array(region.values) for region in one.regions)
        if classes:
            assert one.answer == model.predict(asked)[i]
            assert one.classes == ("high", "low")
            np.testing.assert_array_equal(one.probabilities, model.predict_proba(asked)[i])
            np.testing.assert_allclose(mixed, one.probabilities, atol=1e-12)
        else:
            np.testing.assert_allclose([one.answer, mixed[0]], model.predict(asked)[i])
            assert one.probabilities is None
        text = str(one)
        assert text.startswith(f"{one.answer if classes else number_text(one.answer)}, because of where it may be:\n")
        assert f"%: {', '.join(one.regions[0].bounds)}: " in text.splitlines()[1]
        if classes:
            value = one.mixed[one.classes.index(one.answer)]
            assert shown_mixture(text, f"{one.answer} {NUMBER}") == pytest.approx(value, abs=0.03)
            assert "clipped" not in text
        else:
            assert shown_mixture(text, NUMBER) == pytest.approx(one.answer, abs=0.1)
        assert "Measured: " in text
        assert text.endswith(f"Doubt: {one.doubt}.")
    assert "missing or new: temp" in found[3].doubt
    assert "temp is missing" in found[3].measured
    assert any("valve is missing or new" in one.measured for one in found[4:5])
    sizes = [one for one in found if any(text.startswith("temp ") and text.endswith(" ± 1") for text in one.measured)]
    assert len(sizes) > 20


def test_an_exact_row_is_in_one_region_whose_bounds_it_keeps() -> None:
    rows = measured_rows(200)
    model = MeasuredTreeRegressor(0.0).fit(rows, measured_target(rows))
    levels, words = ["low", "mid", "high"], set()
    for i, one in enumerate(model.explain(rows.iloc[:60])):
        (region,) = one.regions
        row = rows.iloc[i]
        assert region.share == 1
        assert said_of(model, region.number, rows.iloc[[i]])
        assert one.doubt == "none about its region"
        for bound in region.bounds:
            name, _, said = bound.partition(" ")
            words.add((name, said))
            if name == "valve":
                assert row["valve"] in re.split(", | or ", said)
                continue
            value = levels.index(row[name]) if name == "grade" else row[name]
            if said in levels:
                assert row[name] == said
                continue
            for side in said.split(" and "):
                end = side.rpartition(" ")[2]
                limit = levels.index(end) if name == "grade" else float(end)
                assert value > limit if side.startswith("above") else value <= limit
    assert {name for name, _ in words} == set(rows.columns)
    alone = MeasuredTreeRegressor(0.0).fit([[1.0], [2.0]], [3.0, 3.0]).explain([[1.0]])[0]
    assert str(alone) == "3: the tree has no splits."


def test_of_many_classes_only_the_first_are_named() -> None:
    X, y = load_digits(return_X_y=True)
    forest = CautiousForestClassifier(n_estimators=10, random_state=0).fit(X[:300], y[:300])
    words = [str(one) for one in forest.explain(X[300:400])]
    named = re.compile(r"Bounds: (\d \d\.\d\d to \d\.\d\d(, )?){6}; 4 others, each at most 0\.\d\d\.")
    assert all(named.search(one) for one in words)
    assert any(" 1 says " in one for one in words)
    plain = str(ForestClassifier(10, random_state=0).fit(X[:300], y[:300]).explain(X[300:301])[0])
    assert re.search(r"Probabilities: (\d [\d.]+(, )?){6}; 4 others, each at most ", plain)
