"""Distances to the decision boundary, separators and projections: against all leaves one by one, and by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from effort import examples
from hedgerow import Forest, ForestClassifier, TreeClassifier
from hedgerow.boundary import algebraic_distance, nearest_separator, project
from hedgerow.boundary.decision_boundary import DecisionBoundary
from hedgerow.boundary.distance import boundary_of
from hedgerow.boundary.oblique import least_distance
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, one_against_rest, subset, threshold
from oracles import boundary as truth
from strategies import forests, rows_of

NAN = math.nan
AXIS_PARALLEL = ("threshold", "one_against_rest", "subset", "multiway")
several = settings(max_examples=examples(8, 40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
few = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Class 1 in the upper right, above 2 and 0; class 0 elsewhere.
CORNER = build_forest([threshold(0, 2.0, leaf([9, 1]), threshold(1, 0.0, leaf([3, 0]), leaf([0, 5])))], n_features=2)


@st.composite
def walls_rows_and_scale(draw: st.DrawFn, splits: tuple[str, ...] = AXIS_PARALLEL, missing: bool = True) -> Any:
    forest = draw(forests(splits=splits, regression=False, max_trees=1))
    X = draw(rows_of(forest, max_rows=3, missing=missing))
    scale = draw(st.lists(st.sampled_from([0.5, 1.0, 3.7]), min_size=forest.n_features, max_size=forest.n_features))
    return DecisionBoundary.of(forest), X, np.array(scale)


@several
@given(walls_rows_and_scale())
def test_distances_are_those_of_all_leaves_one_by_one(case: Any) -> None:
    walls, X, scale = case
    nearest = walls.measure(X, scale)
    areas, labels = truth.Areas(walls.forest), walls.labels.tolist()
    for part, (row, own) in enumerate(zip(nearest.fractions.rows[:6], nearest.fractions.leaves[:6], strict=True)):
        expected = [truth.algebraic_distance(areas, X[row], int(own), labels, c, scale) for c in range(walls.n_classes)]
        np.testing.assert_allclose(nearest.distance[part], expected, rtol=1e-9)


@several
@given(walls_rows_and_scale())
def test_one_class_and_any_number_of_threads_give_the_same_bits(case: Any) -> None:
    walls, X, scale = case
    every = walls.measure(X, scale)
    for c in range(walls.n_classes):
        one = walls.measure(X, scale, target=c, n_jobs=2)
        for name in ("distance", "leaf", "node"):
            assert getattr(one, name)[:, 0].tobytes() == getattr(every, name)[:, c].tobytes()
    for row in range(len(X)):
        alone = walls.measure(np.ascontiguousarray(X[row : row + 1]), scale)
        assert alone.distance.tobytes() == every.distance[every.fractions.rows == row].tobytes()


@several
@given(walls_rows_and_scale())
def test_separators_are_the_longest_moves_to_the_nearest_leaf(case: Any) -> None:
    walls, X, scale = case
    nearest = walls.measure(X, scale)
    areas = truth.Areas(walls.forest)
    found = walls.separators(walls.separator_numbers(nearest))
    for part, (row, own) in enumerate(zip(nearest.fractions.rows[:6], nearest.fractions.leaves[:6], strict=True)):
        for c in range(walls.n_classes):
            if nearest.leaf[part, c] < 0:
                assert found.feature[part, c] == -1
                assert math.isnan(found.threshold[part, c])
                continue
            moves = areas.moves_to(X[row], int(own), int(nearest.leaf[part, c]), scale)
            assert moves is not None
            np.testing.assert_allclose(truth.length(moves), abs(nearest.distance[part, c]), rtol=1e-9)
            if not moves:
                assert found.feature[part, c] == -1
                continue
            key = (int(found.feature[part, c]), float(found.threshold[part, c]))
            margins = [
                m for (f, t), m in moves.items() if f == key[0] and (t == key[1] or (t != t and key[1] != key[1]))
            ]
            assert margins
            assert margins[0] == max(moves.values())


@few
@given(walls_rows_and_scale(splits=("threshold",), missing=False), st.data())
def test_distances_are_one_lipschitz(case: Any, data: st.DataObject) -> None:
    walls, X, scale = case
    X = np.clip(X, -1e6, 1e6)
    Y = np.ascontiguousarray(X[np.array(data.draw(st.permutations(range(len(X)))))])
    a, b = walls.measure(X, scale).distance, walls.measure(Y, scale).distance
    apart = np.sqrt((((X - Y) / scale) ** 2).sum(axis=1))
    for c in range(walls.n_classes):
        near = (np.abs(a[:, c]) < 1e6) & (np.abs(b[:, c]) < 1e6)
        assert (np.abs(a[near, c] - b[near, c]) <= apart[near] * (1 + 1e-9) + 1e-9).all()


def random_tree(n_leaves: int, n_features: int = 6, n_classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    X, y = make_classification(
        6000, n_features, n_informative=n_features, n_redundant=0, n_classes=n_classes, flip_y=0.2, random_state=seed
    )
    tree = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=seed).fit(X[:4000], y[:4000])
    assert tree.get_n_leaves() == n_leaves
    return tree, X[4000:]


def boxes_by_hand(tree: Any) -> tuple[Any, Any]:
    """The box of each leaf of a tree of scikit-learn, and its class."""
    t, boxes, labels = tree.tree_, [], []

    def down(node: int, box: Any) -> None:
        if t.children_left[node] < 0:
            boxes.append(box)
            labels.append(int(t.value[node, 0].argmax()))
            return
        for child, side in ((t.children_left[node], 1), (t.children_right[node], 0)):
            inner = box.copy()
            inner[t.feature[node], side] = t.threshold[node]
            down(child, inner)

    down(0, np.tile([-np.inf, np.inf], (tree.n_features_in_, 1)))
    return np.array(boxes), np.array(labels)


def brute_force(tree: Any, X: Any, target: int, scale: Any) -> Any:
    boxes, labels = boxes_by_hand(tree)
    moves = (np.maximum(boxes[..., 0] - X[:, None], 0) + np.maximum(X[:, None] - boxes[..., 1], 0)) / scale
    d = np.sqrt((moves**2).sum(axis=2))
    inside = tree.predict(X) == target
    to_it = np.where(labels == target, d, np.inf).min(axis=1)
    out_of_it = np.where(labels != target, d, np.inf).min(axis=1)
    return np.where(inside, -out_of_it, to_it)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_trees_of_scikit_learn_at_the_thresholds_that_they_show(n_classes: int) -> None:
    tree, X = random_tree(60, n_classes=n_classes)
    scale = X.std(axis=0)
    for target in range(n_classes):
        found = algebraic_distance(tree, X, target, scale=scale)
        np.testing.assert_allclose(found, brute_force(tree, X, target, scale), atol=1e-12)
    feature, at = nearest_separator(tree, X, scale=scale)
    asked = set(zip(tree.tree_.feature.tolist(), tree.tree_.threshold.tolist(), strict=True))
    assert set(zip(feature.tolist(), at.tolist(), strict=True)) <= asked


def test_less_than_a_tenth_of_500_leaves_is_looked_at() -> None:
    for seed in range(examples(1, 3)):
        tree, X = random_tree(500, seed=seed)
        nearest = boundary_of(tree).measure(X, X.std(axis=0))
        assert nearest.n_leaves.mean() < 50
        np.testing.assert_allclose(nearest.distance[:, 1], brute_force(tree, X, 1, X.std(axis=0)), atol=1e-12)


# -- by hand


def test_the_paper_s_algorithms_by_hand() -> None:
    X = np.array([[1.0, 1.0], [1.0, -1.0], [5.0, 4.0], [5.0, -2.0], [2.0, 1.0]])
    expected = [1, math.sqrt(2), -3, 2, 0]
    np.testing.assert_allclose(algebraic_distance(CORNER, X, 1), expected)
    np.testing.assert_allclose(algebraic_distance(CORNER, X, 0), np.negative(expected))
    np.testing.assert_allclose(algebraic_distance(CORNER, X, 1, scale=[2, 1]), [0.5, math.sqrt(1.25), -1.5, 2, 0])
    np.testing.assert_array_equal(project(CORNER, X, 1), [[2, 1], [2, 0], [2, 4], [5, 0], [2, 1]])
    feature, at = nearest_separator(CORNER, X, scale=[2, 1])
    assert feature.tolist() == [0, 1, 0, 1, 0]
    assert at.tolist() == [2, 0, 2, 0, 2]


def test_a_class_without_a_leaf_is_infinitely_far() -> None:
    tree = build_forest([threshold(0, 0.0, leaf([3, 1, 0]), leaf([4, 2, 1]))], n_features=1)
    assert algebraic_distance(tree, [[1.0]], 1).tolist() == [math.inf]
    assert algebraic_distance(tree, [[1.0]], 0).tolist() == [-math.inf]
    feature, at = nearest_separator(tree, [[1.0]])
    assert feature.tolist() == [-1]
    assert np.isnan(at).all()
    np.testing.assert_array_equal(project(tree, [[1.0]], 1), [[1.0]])


def test_areas_that_no_value_leads_to_are_not_reached() -> None:
    never = threshold(0, 1.0, leaf([1, 0]), threshold(0, 0.5, leaf([0, 9]), leaf([2, 0])))
    assert algebraic_distance(build_forest([never], 1), [[0.0]], 1).tolist() == [math.inf]
    twice = one_against_rest(0, 1, one_against_rest(0, 2, leaf([0, 1]), leaf([1, 0])), leaf([1, 0]))
    assert algebraic_distance(build_forest([twice], 1), [[0.0]], 1).tolist() == [math.inf]


def test_a_large_code_costs_no_search_through_all_smaller_ones() -> None:
    largest = 2**31 - 1
    tree = build_forest(
        [one_against_rest(0, largest, leaf([1.0, 0.0]), one_against_rest(0, 0, leaf([0.0, 1.0]), leaf([1.0, 0.0])))], 1
    )
    assert DecisionBoundary.of(tree).plan[1].tolist() == [1, 1, 1, 1, 1]
    two = np.array([2], dtype=np.int32)  # categories: the large one is none of them
    assert DecisionBoundary.of(tree, n_categories=two).plan[1].tolist() == [1, 0, 1, 1, 1]


def test_categories_are_one_step_apart() -> None:
    low = threshold(1, 0.0, leaf([5, 0]), leaf([0, 5]))
    tree = build_forest([multiway(0, {0: low, 1: leaf([0, 3]), 2: leaf([4, 0])})], n_features=2)
    X = np.array([[0.0, -3.0], [0.0, -0.5], [2.0, 9.0], [1.0, 0.0]])
    np.testing.assert_allclose(algebraic_distance(tree, X, 1), [1, 0.5, 1, -1])
    np.testing.assert_allclose(algebraic_distance(tree, X, 1, scale=[0.25, 1]), [3, 0.5, 4, -4])
    feature, at = nearest_separator(tree, X)
    assert feature.tolist() == [0, 1, 0, 0]
    np.testing.assert_array_equal(at, [NAN, 0, NAN, NAN])
    np.testing.assert_array_equal(project(tree, X, 1), [[1, -3], [0, 0], [1, 9], [2, 0]])
    few_bits = build_forest([subset(0, [0, 3], 5, leaf([5, 0]), leaf([0, 5]))], n_features=1)
    np.testing.assert_array_equal(project(few_bits, [[0.0]], 1), [[1.0]])


def test_a_missing_value_is_no_wall() -> None:
    tree = build_forest([threshold(0, 2.0, leaf([6, 2]), threshold(1, 0.0, leaf([3, 0]), leaf([0, 5])))], n_features=2)
    walls = DecisionBoundary.of(tree)
    nearest = walls.measure(np.array([[NAN, 1.0]]), np.ones(2))
    # In the left leaf nothing can be reached without knowing the first value; the right one is left at 0.
    assert nearest.fractions.leaves.tolist() == [0, 2]
    np.testing.assert_allclose(nearest.fractions.weights, [0.5, 0.5])
    np.testing.assert_array_equal(nearest.distance[:, 1], [math.inf, -1])
    np.testing.assert_allclose(algebraic_distance(tree, [[NAN, 1.0]], 1), [-1])
    assert nearest_separator(tree, [[NAN, 1.0]], target=1).feature.tolist() == [-1]


# -- oblique trees


def random_oblique_tree(
    rng: np.random.Generator, n_features: int, depth: int, n_classes: int, axis: float = 0.3
) -> Any:
    if depth == 0:
        return leaf(np.eye(n_classes)[rng.integers(n_classes)] * 5)
    below = [random_oblique_tree(rng, n_features, depth - 1, n_classes, axis) for _ in range(2)]
    if rng.random() < axis:
        return threshold(int(rng.integers(n_features)), float(rng.normal()), *below)
    return oblique(dict(enumerate(rng.normal(size=n_features).tolist())), float(rng.normal() / 2), *below)


@pytest.mark.parametrize("n_features", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_polytopes_are_projected_onto_exactly(n_features: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = oblique({0: 1.0, 1: 0.5}, 0.1, *(random_oblique_tree(rng, n_features, 2, 3) for _ in range(2)))
    forest = build_forest([root], n_features)
    walls, scale = DecisionBoundary.of(forest), rng.uniform(0.5, 2, size=n_features)
    X = rng.normal(size=(6, n_features))
    nearest = walls.measure(X, scale)
    areas = truth.Areas(forest)
    for part, own in enumerate(nearest.fractions.leaves):
        distances = {}
        for one, path in areas.paths.items():
            sides = []
            for node, number in path:
                w, sign = np.zeros(n_features), 1 - 2 * number
                if forest.feature[node] >= 0:
                    w[forest.feature[node]] = 1
                else:
                    begin, end = forest.payload_start[forest.payload[node] : forest.payload[node] + 2]
                    w[forest.payload_codes[begin:end]] = forest.payload_weights[begin:end]
                sides.append((sign * w, sign * float(forest.threshold[node])))
            point = truth.nearest_polytope_point(sides, X[part], scale)
            distances[one] = math.inf if point is None else float(np.sqrt((((point - X[part]) / scale) ** 2).sum()))
        label = int(walls.labels[own])
        for c in range(3):
            others = [d for one, d in distances.items() if (walls.labels[one] == c) != (label == c)]
            expected = min(others, default=math.inf)
            np.testing.assert_allclose(abs(nearest.distance[part, c]), expected, atol=1e-9)
            assert (nearest.distance[part, c] <= 0) == (label == c) or expected == 0
            if math.isfinite(expected):
                arrived = walls.points(X, nearest, c)[part]
                np.testing.assert_allclose(np.sqrt((((arrived - X[part]) / scale) ** 2).sum()), expected, atol=1e-9)


@few
@given(walls_rows_and_scale(splits=("threshold", "one_against_rest", "multiway")), st.data())
def test_a_tree_with_an_oblique_split_that_asks_for_one_column_is_like_any_other(case: Any, data: Any) -> None:
    walls, X, scale = case
    X, forest = np.clip(X, -1e3, 1e3), walls.forest
    small = np.where(np.abs(forest.threshold) < 1e3, forest.threshold, 3.0)
    at = np.where(np.isnan(forest.threshold), NAN, small)
    tree = Forest(**{**vars_of(forest), "threshold": at})
    plain, ringed = DecisionBoundary.of(tree), DecisionBoundary.of(tree)
    object.__setattr__(ringed, "is_oblique", True)  # sends it down the other way
    expected, found = plain.measure(X, scale), ringed.measure(X, scale)
    closed = plain.plan[1] == 0  # a closed area has an edge, which is all that a polytope knows of it
    if not closed[1:].any():
        np.testing.assert_allclose(found.distance, expected.distance, atol=1e-8)


def vars_of(forest: Forest) -> dict[str, Any]:
    names = ("n_features", "threshold", "weight", "feature", "first_child", "payload", "kind", "missing")
    ragged = ("tree_start", "leaf_start", "payload_start", "payload_codes", "payload_weights", "leaf_counts")
    return {name: getattr(forest, name) for name in (*names, *ragged)}


def test_least_distance_of_nothing_and_of_no_point() -> None:
    G = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert least_distance(G, np.array([1.0, 0.5])) is None
    np.testing.assert_array_equal(least_distance(G, np.array([-1.0, -0.5])), [0, 0])
    np.testing.assert_allclose(least_distance(G, np.array([1.0, -3.0])), [1, 0])


# -- models and errors


def test_models_of_this_package_are_read_by_their_columns() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200), "colour": rng.choice(["red", "green", "blue"], size=200)})
    y = ((frame["size"] > 0) ^ (frame["colour"] == "red")).to_numpy()
    tree = TreeClassifier(nominal="binary").fit(frame, y)
    distance = algebraic_distance(tree, frame, 1)
    assert (np.sign(distance) == np.where(tree.predict(frame), -1, 1)).all()
    assert (np.abs(distance) <= 1).all()  # another colour is always an answer
    assert set(nearest_separator(tree, frame).feature.tolist()) == {0, 1}


def test_extra_trees_and_missing_values_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    X[::9, 2] = NAN
    for tree in (ExtraTreeClassifier(random_state=0), DecisionTreeClassifier(random_state=0)):
        tree.fit(X, y)
        for c in range(3):
            distance = algebraic_distance(tree, X, c)
            assert ((distance <= 0) == (tree.predict(X) == c))[distance != 0].all()


@pytest.mark.parametrize("target", [-1, 2, 1.0, "setosa", None, True])
def test_a_target_that_is_no_class_is_refused(target: Any) -> None:
    with pytest.raises(ValueError, match=r"target is .*, must be the position of a class in classes_, 0 \.\. 1"):
        algebraic_distance(CORNER, [[0.0, 0.0]], target)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ([1.0], r"scale has shape \(1,\), must have one number for each of 2 columns"),
        ([1.0, 0.0], r"scale\[1\] is 0.0, must be a positive number"),
        ([NAN, 1.0], r"scale\[0\] is nan"),
        ([1.0, -2.0], r"scale\[1\] is -2.0"),
        ([1.0, math.inf], r"scale\[1\] is inf"),
        ("standard", "scale is 'standard', must be an array of numbers"),
    ],
)
def test_scales_that_make_no_sense_are_refused(scale: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        algebraic_distance(CORNER, [[0.0, 0.0]], 0, scale=scale)


def test_what_is_no_tree_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="must be a fitted TreeClassifier, one of scikit-learn's decision trees"):
        algebraic_distance(LogisticRegression(max_iter=1000).fit(X, y), X, 0)
    with pytest.raises(ValueError, match="a forest of 3 trees has no single decision boundary: pass one tree"):
        algebraic_distance(ForestClassifier(3).fit(X, y), X, 0)
    with pytest.raises(TypeError, match="must be a fitted TreeClassifier"):
        algebraic_distance(RandomForestClassifier(3).fit(X, y), X, 0)
    with pytest.raises(ValueError, match="this is a regression forest"):
        algebraic_distance(DecisionTreeRegressor(max_depth=2).fit(X, y), X, 0)
