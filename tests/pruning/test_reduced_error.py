"""Reduced-error pruning, and how rows are held out for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracles
from effort import examples
from hedgerow import Forest, TreeClassifier, TreeRegressor
from hedgerow.forest.build import build_forest, leaf, multiway, threshold, value
from hedgerow.growth import Training
from hedgerow.pruning import Grower, ReducedError, reduced_error
from hedgerow.pruning.training_rows import hash_positions, select_rows
from oracles import pruning as truth
from pruning_strategies import Grown, grown_trees, noisy_rows, refilled_trees

several = settings(max_examples=examples(11, 40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check_both_orders(forest: Forest, X: Any, y: Any, weights: Any) -> None:
    losses = [truth.held_out_loss(forest, node, X, y, weights) for node in range(forest.n_nodes)]
    found = reduced_error(forest, X, y, weights)
    truth.check_cut(forest, truth.cheapest(forest, losses.__getitem__, lambda _: 0.0)[1], found)
    greedy = reduced_error(forest, X, y, weights, order="greedy")
    truth.check_cut(forest, truth.greedy_cuts(forest, losses.__getitem__), greedy)


@several
@given(grown=grown_trees(max_rows=40), seed=st.integers(0, 99))
def test_classes_are_judged_by_their_errors(grown: Grown, seed: int) -> None:
    rows = noisy_rows(seed, 25, grown.forest.n_features, max(grown.training.n_classes, 1), missing=0.1, weighted=True)
    y = np.minimum(rows.labels, grown.training.n_classes - 1)  # type: ignore[arg-type]
    check_both_orders(grown.forest, np.ascontiguousarray(rows.values), y.tolist(), rows.sample_weight.tolist())


@several
@given(grown=grown_trees(regression=True, max_rows=40), seed=st.integers(0, 99))
def test_numbers_are_judged_by_their_squared_errors(grown: Grown, seed: int) -> None:
    rows = noisy_rows(seed, 20, grown.forest.n_features, 0, missing=0.1, weighted=True)
    check_both_orders(
        grown.forest,
        np.ascontiguousarray(rows.values),
        rows.targets.tolist(),  # type: ignore[union-attr]
        rows.sample_weight.tolist(),
    )


# The literal truth takes a second for 77 nodes and 24 rows.
@several
@given(grown=refilled_trees().filter(lambda grown: grown.forest.n_nodes * len(grown.y) <= 1000))
def test_an_empty_branch_errs_by_the_class_of_its_parent(grown: Grown) -> None:
    half = select_rows(grown.training, np.arange(len(grown.y)) % 2 == 0)
    X, y = np.ascontiguousarray(half.values), half.labels.tolist()  # type: ignore[union-attr]
    check_both_orders(grown.forest, X, y, half.sample_weight.tolist())


def test_an_empty_branch_by_hand() -> None:
    # Nobody had the third value in training: by the class of the parent it is right, so that nothing is lost.
    forest = build_forest([multiway(0, {0: leaf([6, 0]), 1: leaf([0, 4]), 2: leaf([0, 0])})], 1)
    X = np.array([[0.0], [1.0], [2.0]])
    assert reduced_error(forest, X, [0, 1, 0]) is forest
    assert reduced_error(forest, X[[0, 2]], [0, 0]).n_nodes == 1


def lecture_tree() -> Forest:
    return build_forest(
        [
            threshold(
                0, 0.5, threshold(1, 0.5, leaf([3, 0]), leaf([1, 2])), threshold(1, 0.5, leaf([0, 3]), leaf([2, 1]))
            )
        ],
        2,
    )


def test_greedy_takes_the_node_that_improves_most_and_goes_on() -> None:
    # As leaves, node 1 is right twice more on the validation rows, node 2 twice less, and the root, then, no more
    # often.
    forest = lecture_tree()
    X = np.array([[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1]], dtype=float)
    y = [0, 0, 0, 1, 1, 0]
    pruned = reduced_error(forest, X, y, order="greedy")
    truth.check_cut(forest, {1}, pruned)
    assert sorted(pruned.counts.tolist()) == [[0, 3], [2, 1], [4, 2]]


def test_the_orders_differ_where_one_large_cut_hides_two_better_ones() -> None:
    # Cut alone, the root saves 3 of 5 errors and each of its branches 2: greedy takes the root, bottom-up both
    # branches.
    branch = threshold(1, 0.5, leaf([5, 0]), leaf([0, 3]))
    other = threshold(1, 0.5, leaf([0, 3]), leaf([2, 0]))
    forest = build_forest([threshold(0, 0.5, branch, other)], 2)
    X = np.array([[0, 1], [0, 1], [1, 1], [1, 1], [1, 0]], dtype=float)
    y = [0, 0, 1, 1, 0]
    assert reduced_error(forest, X, y, order="greedy").counts.tolist() == [[7, 6]]
    assert reduced_error(forest, X, y).counts.tolist() == [[5, 3], [2, 3]]


def test_equality_prunes() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([3, 0]), leaf([0, 2]))], 1)
    X = [[0.0], [1.0]]
    assert reduced_error(forest, X, [0, 1]) is forest
    assert reduced_error(forest, X, [0, 0]).n_nodes == 1
    assert reduced_error(forest, X, [1, 1]) is forest  # one of two right, as a leaf none
    assert reduced_error(forest, X, [1, 0]).n_nodes == 1
    assert reduced_error(forest, np.zeros((0, 1)), []).n_nodes == 1  # nothing speaks for the split


def test_every_tree_of_a_forest_is_pruned() -> None:
    good, bad = threshold(0, 0.5, leaf([3, 0]), leaf([0, 2])), threshold(0, 0.5, leaf([0, 3]), leaf([2, 0]))
    pruned = reduced_error(build_forest([good, bad], 1), [[0.0], [1.0]], [0, 1])
    assert np.diff(pruned.tree_start).tolist() == [3, 1]


# -- which rows are held out


def in_other_words(training: Training, order: Any) -> Training:
    chosen = select_rows(training, np.ones(len(training.sample_weight), dtype=bool))
    return Training(
        np.asfortranarray(chosen.values[order]),
        chosen.n_categories,
        chosen.sample_weight[order],
        None if chosen.labels is None else chosen.labels[order],
        None if chosen.targets is None else chosen.targets[order],
        chosen.n_classes,
    )


@settings(max_examples=examples(11, 40), deadline=None)
@given(st.integers(0, 2**64 - 1), st.data())
def test_places_are_those_of_the_definition(seed: int, data: st.DataObject) -> None:
    """Groups of equal rows, each class by itself, in the order of their keys, end to end."""
    cell = st.sampled_from([0.0, -0.0, 1.0, 2.5, math.nan, -math.inf])
    rows = data.draw(st.lists(st.tuples(st.integers(0, 2), cell, cell, st.sampled_from([0.5, 1.0, 3.0])), min_size=1))
    of_classes = data.draw(st.booleans())
    y, values = [row[0] for row in rows], np.asfortranarray([row[1:3] for row in rows])
    weight, none = np.array([row[3] for row in rows]), np.zeros(2, dtype=np.int32)
    training = (
        Training(values, none, weight, labels=np.array(y, dtype=np.int32), n_classes=3)
        if of_classes
        else Training(values, none, weight, targets=np.array(y, dtype=np.float64))
    )
    expected = np.empty(len(rows))
    for line in {(label if of_classes else 0) for label in y}:
        inside = [i for i in range(len(rows)) if not of_classes or y[i] == line]
        key_of = {i: oracles.row_key(seed, [float(y[i]), *rows[i][1:3]]) for i in inside}
        length, end = sum(weight[i] for i in inside), 0.0
        for key in sorted(set(key_of.values())):
            equal = [i for i in inside if key_of[i] == key]
            end += sum(weight[i] for i in equal)
            expected[equal] = (end - sum(weight[i] for i in equal) / 2) / length
    # Weights are multiples of 1/2: their sums have no rounding.
    assert hash_positions(training, seed).tolist() == expected.tolist()


@pytest.mark.parametrize("n_classes", [0, 3])
def test_rows_are_drawn_by_what_they_hold(n_classes: int) -> None:
    training = noisy_rows(1, 200, 3, n_classes, missing=0.1)
    if training.targets is not None:
        training = Training(
            training.values, training.n_categories, training.sample_weight, targets=training.targets.round()
        )
    places = hash_positions(training, seed=5)
    assert ((places >= 0) & (places < 1)).all()
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_allclose(hash_positions(in_other_words(training, order), seed=5), places[order], rtol=1e-12)
    assert (hash_positions(training, seed=6) != places).any()
    target = np.asarray(training.targets if training.labels is None else training.labels)
    seen: dict[bytes, float] = {}
    for row, y, place in zip(np.ascontiguousarray(training.values), target, places, strict=True):
        assert seen.setdefault((row + 0.0).tobytes() + bytes(str(y), "ascii"), place) == place
    assert len(seen) < 200


def test_weights_take_as_much_of_the_line_as_repeated_rows() -> None:
    training = noisy_rows(2, 60, 2, 2)
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = Training(
        training.values, training.n_categories, times.astype(float), labels=training.labels, n_classes=2
    )
    repeated = in_other_words(training, np.repeat(np.arange(60), times))
    np.testing.assert_allclose(np.repeat(hash_positions(weighted, 3), times), hash_positions(repeated, 3), rtol=1e-12)


def test_each_class_keeps_its_share() -> None:
    labels = np.repeat([0, 1, 2], [600, 300, 30]).astype(np.int32)
    X = np.random.default_rng(0).normal(size=(930, 2))
    training = Training(np.asfortranarray(X), np.zeros(2, dtype=np.int32), np.ones(930), labels=labels, n_classes=3)
    held_out = hash_positions(training, 0) < 1 / 3
    assert np.bincount(labels[held_out]).tolist() == [200, 100, 10]


@pytest.mark.parametrize("fraction", [0.2, 0.5])
def test_the_tree_is_grown_from_the_other_rows(fraction: float) -> None:
    training = noisy_rows(0, 120, 4, 2)
    grown: list[Training] = []

    def grow(rows: Training) -> Forest:
        grown.append(rows)
        return lecture_tree()

    training = Training(
        np.asfortranarray(training.values[:, :2]),
        np.zeros(2, np.int32),
        training.sample_weight,
        training.labels,
        None,
        2,
    )
    ReducedError(fraction)(training, Grower(grow, "gini", 0.0), seed=0)
    assert len(grown) == 1
    assert (grown[0].sample_weight > 0).sum() == pytest.approx(120 * (1 - fraction), abs=12)


def test_a_class_that_is_left_out_is_named() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(41, 2)), np.array(["no"] * 20 + ["yes"] * 20 + ["rare"])
    with pytest.warns(UserWarning, match="leaves no row of class 'rare' among the held-out rows"):
        TreeClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="leaves no row of class 'rare' among the rows to grow from"):
        TreeClassifier(pruning=ReducedError(0.9), random_state=0).fit(X, y)


def test_one_row_is_grown_from() -> None:
    assert TreeRegressor(pruning="reduced_error").fit([[1.0]], [3.0]).predict([[2.0]]).tolist() == [3.0]
    assert TreeRegressor(pruning=ReducedError(0.9)).fit([[1.0]], [3.0]).predict([[2.0]]).tolist() == [3.0]


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5, math.nan, "third", None])
def test_a_fraction_that_makes_no_sense_is_refused(fraction: Any) -> None:
    with pytest.raises(ValueError, match=rf"fraction is {fraction!r}, must be a number in \(0, 1\)"):
        ReducedError(fraction=fraction)


def test_an_order_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="order is 'top-down', must be one of 'bottom-up', 'greedy'"):
        ReducedError(order="top-down")
    with pytest.raises(ValueError, match="order is 'top-down'"):
        reduced_error(lecture_tree(), [[0.0, 0.0]], [0], order="top-down")


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        ([[0.0]], [0], None, r"X has shape \(1, 1\), this forest needs \(n_rows, 2\)"),
        ([[0.0, 1.0]], [0, 1], None, r"y has shape \(2,\), must be \(1,\)"),
        ([[0.0, 1.0]], [2], None, r"y holds 2, must be class numbers in 0 .. 1"),
        ([[0.0, 1.0]], [0.5], None, r"y holds 0.5, must be class numbers in 0 .. 1"),
        ([[0.0, 1.0]], [0], [1, 2], r"sample_weight has shape \(2,\)"),
        ([[0.0, 1.0]], [0], [-1], "sample_weight must be finite and not negative"),
    ],
)
def test_rows_that_do_not_fit_are_refused(X: Any, y: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reduced_error(lecture_tree(), X, y, weight)


def test_numbers_by_hand() -> None:
    forest = build_forest([threshold(0, 0.5, value(1, weight=2), value(4))], 1, regression=True)
    assert reduced_error(forest, [[0.0], [1.0]], [2.0, 2.0]).stats.tolist() == [[3, 2, 6]]
    assert reduced_error(forest, [[0.0], [1.0]], [1.0, 4.0]) is forest
