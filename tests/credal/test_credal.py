"""Cautious forests: bounds, belief functions and decisions, against the paper and against linear programming."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import strategies
from effort import examples
from hedgerow import credal
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.walk import fold, gather
from oracles import credal as oracle

Floats = NDArray[np.float64]

# Multiples of 1/8: their sums are exact, so that every tie is one. Zeros and small numbers are common.
_eighths = st.sampled_from((0.0, 0.0, 1.0, 1.0, 2.0, 3.0)) | st.integers(0, 400).map(lambda i: i / 8)
_sizes = st.sampled_from((0.125, 0.5, 1.0, 2.0, 3.0, 5.0))
_weightings = st.sampled_from(credal.WEIGHTINGS)
_names = st.sampled_from(credal.names())


@st.composite
def counts_of(draw: st.DrawFn, n_classes: int | None = None, entry: st.SearchStrategy[float] = _eighths) -> Floats:
    """The leaves that one row reaches: 1 to 7 trees, 1 to 5 classes."""
    n = draw(st.integers(1, 5)) if n_classes is None else n_classes
    leaves = draw(st.lists(st.lists(entry, min_size=n, max_size=n), min_size=1, max_size=7))
    return np.array(leaves)


def members(found: Any) -> set[int]:
    """A row of bools as a set of classes."""
    return set(np.flatnonzero(found).tolist())


# -- a leaf


@given(counts_of(entry=_eighths | st.floats(0, 1e9)), st.floats(1e-6, 1e6))
def test_the_frequency_lies_within_the_bounds(counts: Floats, s: float) -> None:
    lower, upper = credal.idm_bounds(counts, s)
    total = counts.sum(axis=1, keepdims=True)
    frequency = counts / np.where(total > 0, total, 1)
    assert lower.shape == upper.shape == counts.shape
    assert ((lower >= 0) & (lower <= upper) & (upper <= 1)).all()
    held = total[:, 0] > 0
    assert (lower <= frequency)[held].all()
    assert (frequency <= upper * (1 + 1e-15))[held].all()


@given(counts_of(), _sizes)
def test_bounds_are_those_of_equation_1(counts: Floats, s: float) -> None:
    expected = [oracle.bounds(one, oracle.exactly(s)) for one in oracle.exactly(counts)]
    np.testing.assert_allclose(np.stack(credal.idm_bounds(counts, s), axis=-1), np.array(expected, float), rtol=1e-15)


def test_bounds_of_one_leaf_and_of_none() -> None:
    assert credal.idm_bounds([1, 3], 1)[0].tolist() == [0.2, 0.6]
    assert credal.idm_bounds(np.empty((0, 4, 2)), 1)[0].shape == (0, 4, 2)
    assert [bound.tolist() for bound in credal.idm_bounds([0, 0, 0], 2)] == [[0, 0, 0], [1, 1, 1]]


@given(counts_of(), _sizes)
def test_the_set_of_a_tree_is_the_classes_that_no_other_dominates(counts: Floats, s: float) -> None:
    sets = credal.tree_sets(*credal.idm_bounds(counts, s))
    assert sets.dtype == np.bool_
    for found, one in zip(sets, oracle.exactly(counts), strict=True):
        assert members(found) == oracle.tree_set(oracle.bounds(one, oracle.exactly(s)))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=5))
def test_sets_of_any_bounds_with_many_ties(drawn: list[tuple[int, int]]) -> None:
    lower = np.array([low for low, _ in drawn], dtype=float)
    upper = lower + [width for _, width in drawn]
    found = members(credal.tree_sets(lower, upper))
    assert found == oracle.tree_set(list(zip(lower, upper, strict=True)))
    assert found
    strict = members(credal.interval_dominance(lower, upper))
    assert found <= strict == oracle.strictly_undominated(lower, upper)


def test_points_that_are_equal_do_not_dominate_each_other() -> None:
    assert credal.tree_sets([0.5, 0.5], [0.5, 0.5]).tolist() == [True, True]
    assert credal.tree_sets([0.5, 0.5, 0.0], [0.5, 0.6, 0.5]).tolist() == [False, True, False]
    # s is lost beside such counts, so that the bounds are points
    assert credal.belief([[1e17, 1e17]], 1.0)[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("counts", "expected"), [([1, 3], {1}), ([1.5, 2.5], {0, 1}), ([2, 2], {0, 1}), ([3, 1], {0})])
def test_exactly_half_decides_a_tree(counts: list[float], expected: set[int]) -> None:
    # N + s = 4 + 2. A lower bound of 3/6 counts in equation 5 (≥ ½), an upper bound of 3/6 not in equation 6 (> ½).
    assert members(credal.tree_sets(*credal.idm_bounds(counts, 2))) == expected


@given(counts_of(), _sizes, _weightings)
def test_weights_are_those_of_equations_7_and_8(counts: Floats, s: float, weighting: Any) -> None:
    expected = [float(oracle.weight(one, oracle.exactly(s), weighting)) for one in oracle.exactly(counts)]
    np.testing.assert_allclose(credal.tree_weights(counts, s, weighting), expected, rtol=1e-15)


# -- belief


@given(counts_of(), _sizes, _weightings)
def test_belief_is_that_of_the_sets_of_the_trees(counts: Floats, s: float, weighting: Any) -> None:
    bel, pl = credal.belief(counts, s, weighting)
    exact_bel, exact_pl = oracle.belief(oracle.exactly(counts), oracle.exactly(s), weighting)
    np.testing.assert_allclose(bel, np.array(exact_bel, float), atol=1e-14)
    np.testing.assert_allclose(pl, np.array(exact_pl, float), atol=1e-14)
    assert ((bel >= 0) & (bel <= pl) & (pl <= 1)).all()
    assert bel.sum() <= 1 + 1e-14
    assert pl.sum() >= 1 - 1e-14
    assert members(credal.interval_dominance(bel, pl)) == oracle.strictly_undominated(exact_bel, exact_pl)


@given(counts_of(n_classes=2), _sizes, _weightings)
def test_two_classes_are_the_equations_of_the_paper(counts: Floats, s: float, weighting: Any) -> None:
    exact_bel, exact_pl = oracle.binary_belief(oracle.exactly(counts), oracle.exactly(s), weighting)
    bel, pl = credal.belief(counts, s, weighting)
    np.testing.assert_allclose([bel[1], pl[1]], [float(exact_bel), float(exact_pl)], atol=1e-14)
    np.testing.assert_allclose([bel[0], pl[0]], [1 - float(exact_pl), 1 - float(exact_bel)], atol=1e-14)
    _, found = credal.Belief(weighting).of_counts(counts, s)
    assert members(found) == oracle.binary_decision(exact_bel, exact_pl)
    # Equations 5 and 6 by way of equations 2 and 3; ]½, 1] is what is not in [0, ½].
    lower, upper = (bound[:, 1] for bound in credal.idm_bounds(counts, s))
    weights = credal.tree_weights(counts, s, weighting)
    assert float(credal.belief_interval(lower, upper, weights, 0.5, 1)[0]) == pytest.approx(float(exact_bel))
    assert 1 - float(credal.belief_interval(lower, upper, weights, 0, 0.5)[0]) == pytest.approx(float(exact_pl))


@pytest.mark.parametrize("weighting", credal.WEIGHTINGS)
@pytest.mark.parametrize("s", [0.1, 1.0, 3.0])
def test_fifty_of_a_hundred_equal_trees_are_a_tie(weighting: Any, s: float) -> None:
    trees = np.array([[7.0, 0.0]] * 50 + [[0.0, 7.0]] * 50)
    for seed in range(20):
        counts = np.random.default_rng(seed).permutation(trees)
        assert credal.Belief(weighting).of_counts(counts, s)[1].all()
        assert credal.interval_dominance(*credal.belief(counts, s, weighting)).all()
        assert credal.Average().of_counts(counts, s)[1].all()
        assert credal.Vote(weighting).of_counts(counts, s)[1].all()
    counts = np.concatenate([trees, [[0.0, 7.0]]])
    assert credal.Belief(weighting).of_counts(counts, s)[1].tolist() == [False, True]


@pytest.mark.parametrize("weighting", credal.WEIGHTINGS)
def test_trees_without_any_counts_know_nothing(weighting: Any) -> None:
    counts = np.zeros((2, 3, 4))
    bel, pl = credal.belief(counts, 1, weighting)
    assert not bel.any()
    assert (pl == 1).all()
    bounds, sets = credal.Belief(weighting).of_counts(counts, 1)
    np.testing.assert_array_equal(bounds, np.stack([bel, pl], axis=-1))
    assert sets.all()
    assert credal.belief(np.zeros((3, 1)), 1, weighting)[0].tolist() == [1.0]  # of one class there is no doubt
    assert credal.Belief(weighting).of_counts(np.zeros((3, 1)), 1)[0].tolist() == [[1.0, 1.0]]


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 3)), min_size=1, max_size=7),
    st.integers(0, 8),
    st.integers(0, 8),
)
def test_belief_of_an_interval(trees: list[tuple[int, int, int]], one: int, other: int) -> None:
    lower = np.array([min(x, y) for x, y, _ in trees]) / 8
    upper = np.array([max(x, y) for x, y, _ in trees]) / 8
    weights = np.array([w for *_, w in trees], dtype=float)
    a, b = min(one, other) / 8, max(one, other) / 8
    mass = weights if weights.any() else np.ones(len(trees))
    inside = sum(m for low, up, m in zip(lower, upper, mass, strict=True) if a <= low <= up <= b)
    meeting = sum(m for low, up, m in zip(lower, upper, mass, strict=True) if max(a, low) <= min(b, up))
    bel, pl = credal.belief_interval(lower, upper, weights, a, b)
    assert float(bel) == pytest.approx(inside / mass.sum())
    assert float(pl) == pytest.approx(meeting / mass.sum())
    stacked = credal.belief_interval([lower, lower], [upper, upper], weights, [a, 0], [b, 1])
    assert stacked[0].tolist() == [float(bel), 1.0]
    assert stacked[1].tolist() == [float(pl), 1.0]


def test_belief_of_an_interval_without_weights() -> None:
    bel, pl = credal.belief_interval([0.1, 0.6], [0.4, 0.9], None, 0.5, 1.0)
    assert (float(bel), float(pl)) == (0.5, 0.5)


# -- decisions on bounds


@st.composite
def bounds_on_a_grid(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Bounds in sixteenths, with a distribution within them."""
    n = draw(st.integers(1, 5))
    pairs = [sorted((draw(st.integers(0, 16)), draw(st.integers(0, 16)))) for _ in range(n)]
    lower, upper = np.array(pairs, dtype=float).T / 16
    assume(lower.sum() <= 1 <= upper.sum())
    return lower, upper


@settings(deadline=None, max_examples=examples(16, 60))
@given(bounds_on_a_grid())
def test_decisions_are_those_of_linear_programming(drawn: tuple[Floats, Floats]) -> None:
    lower, upper = drawn
    dominance, maximal = credal.interval_dominance(lower, upper), credal.maximality(lower, upper)
    admissible = credal.e_admissibility(lower, upper)
    assert members(dominance) == oracle.strictly_undominated(lower, upper)
    assert members(maximal) == oracle.maximal(lower, upper)
    assert members(admissible) == oracle.e_admissible(lower, upper)
    assert members(dominance) >= members(maximal) >= members(admissible) != set()
    low, high = credal.reachable(lower, upper)
    np.testing.assert_allclose(np.stack([low, high]), np.stack(oracle.envelope(lower, upper)), atol=1e-9)
    np.testing.assert_array_equal(maximal, credal.interval_dominance(low, high))


@given(
    st.lists(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(0, 1),
)
def test_decisions_on_any_bounds_are_nested_and_never_empty(drawn: Any, centre: float) -> None:
    # Bounds around a distribution, so that there is one.
    point = np.array([centre, (1 - centre) / 2, (1 - centre) / 2])
    width = np.array(drawn)
    lower, upper = point * width[..., 0], point + (1 - point) * width[..., 1]
    dominance = credal.interval_dominance(lower, upper)
    maximal, admissible = credal.maximality(lower, upper), credal.e_admissibility(lower, upper)
    assert dominance.shape == lower.shape
    assert (dominance >= maximal).all()
    assert (maximal >= admissible).all()
    assert admissible.any(axis=-1).all()


@given(counts_of(), _sizes)
def test_on_bounds_of_leaves_and_their_averages_all_decisions_agree(counts: Floats, s: float) -> None:
    bounds, _ = credal.Average().of_counts(counts, s)
    for lower, upper in (credal.idm_bounds(counts, s), (bounds[:, 0], bounds[:, 1])):
        expected = credal.interval_dominance(lower, upper)
        np.testing.assert_array_equal(credal.maximality(lower, upper), expected)
        np.testing.assert_array_equal(credal.e_admissibility(lower, upper), expected)


def test_three_decisions_may_differ() -> None:
    lower, upper = [0.5, 0.2, 0.2], [0.6, 0.6, 0.6]  # 0.1 is left
    assert credal.interval_dominance(lower, upper).all()
    assert credal.maximality(lower, upper).tolist() == [True, False, False]
    lower, upper = [0.0, 0.0, 0.0], [0.3, 0.5, 0.5]
    assert credal.maximality(lower, upper).all()
    assert credal.e_admissibility(lower, upper).tolist() == [False, True, True]


def test_bounds_that_miss_a_distribution_by_rounding_are_taken() -> None:
    for lower in ([0.5 + 1e-10, 0.5], [0.5, 0.5], [0.5 - 1e-10, 0.5]):
        assert credal.maximality(lower, lower).any()
        assert credal.e_admissibility(lower, lower).any()


# -- aggregates


@given(counts_of(), _sizes, _names, _weightings)
def test_aggregates_are_those_of_exact_fractions(counts: Floats, s: float, name: str, weighting: Any) -> None:
    way = credal.get(name, weighting)
    bounds, sets = way.of_counts(counts, s)
    expected, found, fell_back = oracle.aggregate(name, oracle.exactly(counts), oracle.exactly(s), weighting)
    np.testing.assert_allclose(bounds, np.array(expected, float), atol=1e-14)
    assert members(sets) == found != set()
    if isinstance(way, credal.Conjunction):
        assert way.of_trees(counts[np.newaxis], s, lambda *fold: way.fell_back(*fold[:2])).tolist() == [fell_back]


@given(counts_of(n_classes=2), _sizes)
def test_two_classes_are_averaged_as_in_the_baseline_of_the_paper(counts: Floats, s: float) -> None:
    of_trees = [oracle.bounds(one, oracle.exactly(s))[1] for one in oracle.exactly(counts)]
    lower, upper = (sum(bound) / len(of_trees) for bound in zip(*of_trees, strict=True))
    assert members(credal.Average().of_counts(counts, s)[1]) == oracle.binary_decision(lower, upper)


@given(counts_of(), _sizes, _sizes, st.sampled_from(("belief", "average", "disjunction")), _weightings)
def test_a_larger_s_never_takes_a_class_out(counts: Floats, s: float, t: float, name: str, weighting: Any) -> None:
    assume(not (name == "belief" and weighting == "epistemic"))
    way = credal.get(name, weighting)
    small, large = (way.of_counts(counts, size) for size in sorted((s, t)))
    assert (small[1] <= large[1]).all()
    assert (small[0][:, 0] >= large[0][:, 0] - 1e-15).all()
    assert (small[0][:, 1] <= large[0][:, 1] + 1e-15).all()


def test_with_epistemic_weights_a_larger_s_can_change_the_answer() -> None:
    counts = [[0, 10], [1, 0], [1, 0]]
    # Weights are 10/(10 + s) and twice 1/(1 + s): 0.91 against 1 where s is 1. Where s is 3, 0.77 against 0.5.
    answers = [members(credal.Belief("epistemic").of_counts(counts, s)[1]) for s in (0.1, 1, 3)]
    assert answers == [{0}, {0}, {1}]
    assert [members(credal.Belief("uniform").of_counts(counts, s)[1]) for s in (0.1, 1, 3)] == [{0}, {0}, {0, 1}]


@given(counts_of(), st.sampled_from(("belief", "vote", "average")), _weightings)
def test_without_doubt_the_set_is_the_likeliest_class_alone(counts: Floats, name: str, weighting: Any) -> None:
    s = 1e-9
    top = counts == counts.max(axis=1, keepdims=True)
    assume((top.sum(axis=1) == 1).all() and (counts.sum(axis=1) > 0).all())  # no tie within a tree
    if name == "average":
        scores = [np.array(oracle.exactly(one)) / sum(oracle.exactly(one)) for one in counts]
        total = sum(scores)
    else:
        exact = oracle.exactly(counts)
        total = sum(np.array([w * bool(t) for t in row]) for row, w in zip(top, _limits(exact, weighting), strict=True))
    assume(sum(total == max(total)) == 1)
    ranked = sorted(total)
    assume(len(ranked) == 1 or ranked[-1] - ranked[-2] > 1e-5)
    _, sets = credal.get(name, weighting).of_counts(counts, s)
    assert members(sets) == {int(np.argmax(total))}


def _limits(leaves: Any, weighting: str) -> list[Any]:
    """Weights as s goes to 0."""
    return [oracle.weight(one, oracle.exactly(1e-9), weighting) for one in leaves]


@given(counts_of(), _sizes, _names, _weightings, st.randoms(use_true_random=False))
def test_relabelling_classes_relabels_bounds_and_sets(
    counts: Floats, s: float, name: str, weighting: Any, random: Any
) -> None:
    order = list(range(counts.shape[1]))
    random.shuffle(order)
    way = credal.get(name, weighting)
    bounds, sets = way.of_counts(counts, s)
    relabelled = way.of_counts(counts[:, order], s)
    np.testing.assert_allclose(relabelled[0], bounds[order], atol=1e-14)
    np.testing.assert_array_equal(relabelled[1], sets[order])


@given(counts_of(), _sizes, _names, _weightings)
def test_many_rows_are_as_one(counts: Floats, s: float, name: str, weighting: Any) -> None:
    way = credal.get(name, weighting)
    bounds, sets = way.of_counts(counts, s)
    many = way.of_counts(np.tile(counts, (2, 3, 1, 1)), s)
    np.testing.assert_array_equal(many[0], np.broadcast_to(bounds, (2, 3, *bounds.shape)))
    np.testing.assert_array_equal(many[1], np.broadcast_to(sets, (2, 3, *sets.shape)))


def test_undecided_trees_vote_for_all_their_classes() -> None:
    counts = [[9, 0, 0], [4, 4, 0], [0, 9, 0], [0, 4, 4], [4, 0, 4], [0, 9, 0]]
    bounds, sets = credal.Vote().of_counts(counts, 1)
    np.testing.assert_allclose(bounds * 6, [[1, 3], [2, 4], [0, 2]])
    assert members(sets) == {1}
    assert members(credal.Belief().of_counts(counts, 1)[1]) == {0, 1, 2}


def test_an_empty_conjunction_is_the_average_and_says_so() -> None:
    way = credal.Conjunction()
    counts = np.array([[[9.0, 1.0], [8.0, 1.0]], [[9.0, 1.0], [1.0, 9.0]]])
    bounds, sets = way.of_counts(counts, 1)
    assert way.of_trees(counts, 1, lambda *fold: way.fell_back(*fold[:2])).tolist() == [False, True]
    np.testing.assert_allclose(bounds[0], [[9 / 11, 9 / 10], [1 / 10, 2 / 11]])
    np.testing.assert_array_equal(bounds[1], credal.Average().of_counts(counts[1], 1)[0])
    assert sets.tolist() == [[True, False], [True, True]]


@settings(max_examples=examples(16, 60), deadline=None)
@given(strategies.forests_with_rows(regression=False), st.sampled_from((0.5, 1.0, 3.0)), _weightings)
def test_tables_fold_to_what_the_counts_say(drawn: Any, s: float, weighting: Any) -> None:
    forest, X = drawn
    ways = [credal.get(name, weighting) for name in credal.names()]
    plain = np.where(np.isnan(X), 0.0, X)
    folds = fold(forest, plain, [way.leaf_table(forest.counts, s) for way in ways])
    for way, folded in zip(ways, folds, strict=True):
        # A value may still have no answer, as an unseen category: means of table rows then, as fold makes them.
        table = way.leaf_table(forest.counts, s)
        columns = gather(forest, plain, table.values)
        bounds, sets = way.bounds(folded, forest.n_trees), way.sets(folded, forest.n_trees)
        assert bounds.shape == (len(X), forest.n_classes, 2)
        assert ((bounds >= 0) & (bounds <= 1)).all()
        assert (bounds[..., 0] <= bounds[..., 1] + 1e-12).all()
        assert sets.any(axis=1).all()
        ops = (np.sum, np.min, np.max)
        by_hand = np.stack([ops[op](columns[..., i], axis=1) for i, op in enumerate(table.ops)], axis=1)
        np.testing.assert_allclose(folded, by_hand, rtol=1e-12)


@pytest.mark.parametrize("name", credal.names())
def test_rows_with_missing_values_divide_a_trees_say_over_its_leaves(name: str) -> None:
    forest = build_forest(
        [threshold(0, 0.0, leaf([6.0, 0.0]), leaf([0.0, 2.0])), threshold(0, 1.0, leaf([4.0, 1.0]), leaf([1.0, 3.0]))],
        n_features=1,
    )
    way, X = credal.get(name), np.array([[-1.0], [0.5], [2.0], [np.nan]])
    folded = fold(forest, X, [way.leaf_table(forest.counts, 1)])[0]
    bounds, sets = way.bounds(folded, 2), way.sets(folded, 2)
    expected = way.of_counts(gather(forest, X[:3], forest.counts), 1)
    np.testing.assert_allclose(bounds[:3], expected[0])
    np.testing.assert_array_equal(sets[:3], expected[1])
    if name == "belief":  # 6/8 and 2/8 of the first tree, 5/9 and 4/9 of the second
        np.testing.assert_allclose(bounds[3], [[(3 / 4 + 5 / 9) / 2] * 2, [(1 / 4 + 4 / 9) / 2] * 2])


@pytest.mark.parametrize("name", credal.names())
def test_rows_that_no_tree_answers_for_may_be_anything(name: str) -> None:
    forest = build_forest([leaf([3.0, 1.0]), leaf([2.0, 0.0])], n_features=1)
    X, n_used = np.zeros((2, 1)), np.zeros(2, dtype=np.int64)
    skip = np.packbits(np.array([[True, False], [True, True]]), axis=1, bitorder="little")
    way = credal.get(name)
    folded = fold(forest, X, [way.leaf_table(forest.counts, 1)], skip=skip, n_used=n_used)[0]
    n_trees = n_used[:, np.newaxis]
    bounds = way.bounds(folded, n_trees)
    assert bounds[0].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert way.sets(folded, n_trees)[0].all()
    np.testing.assert_allclose(bounds[1], way.of_counts([[3.0, 1.0]], 1)[0])


def test_aggregates_by_name_and_by_instance() -> None:
    assert credal.names() == ("belief", "average", "vote", "conjunction", "disjunction")
    for name in credal.names():
        way = credal.get(name, "samples")
        assert way.name == name
        assert credal.get(way) is way
        assert way == credal.get(name, "samples") == pickle.loads(pickle.dumps(way))
    assert credal.get("belief", "epistemic") == credal.Belief("epistemic") != credal.Belief()


class OwnWay(credal.Average):
    """A user's own."""

    def sets(self, folded: Any, n_trees: Any) -> Any:
        lower, upper = np.moveaxis(self.bounds(folded, n_trees), -1, 0)
        return credal.e_admissibility(lower, upper)


def test_a_way_of_ones_own() -> None:
    assert credal.get(OwnWay()).of_counts([[3, 0], [1, 0]], 1)[1].tolist() == [True, False]


# -- what is refused


@pytest.mark.parametrize("s", [0, -1, np.nan, np.inf, "1", None, True, [1.0]])
def test_s_must_be_a_positive_number(s: Any) -> None:
    for call in (credal.idm_bounds, credal.tree_weights, credal.belief, credal.Average().of_counts):
        with pytest.raises(ValueError, match=r"s is .*, must be a positive number"):
            call([[1, 2]], s)
    with pytest.raises(ValueError, match=r"s is .*, must be a positive number"):
        credal.Belief().leaf_table([[1, 2]], s)


@pytest.mark.parametrize("s", [1, np.float32(0.5), np.int64(2)])
def test_s_may_be_any_number(s: Any) -> None:
    assert credal.belief([[9, 1]], s)[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_counts_must_be_finite_and_not_negative(bad: float) -> None:
    for call in (credal.idm_bounds, credal.belief, credal.Vote().of_counts, credal.Vote().leaf_table):
        with pytest.raises(ValueError, match=r"counts\[0, 1\] is .*, must be finite and not negative"):
            call([[1, bad]], 1)


def test_counts_must_have_a_shape_that_makes_sense() -> None:
    with pytest.raises(ValueError, match=r"counts have shape \(2,\), must have shape \(..., n_trees, n_classes\)"):
        credal.belief([1, 2], 1)
    with pytest.raises(ValueError, match=r"counts have shape \(0, 2\)"):
        credal.belief(np.empty((0, 2)), 1)
    with pytest.raises(ValueError, match=r"counts have shape \(\), must have shape \(..., n_classes\)"):
        credal.idm_bounds(3, 1)
    with pytest.raises(ValueError, match=r"counts have shape \(1, 1, 2\), must have shape \(n_leaves, n_classes\)"):
        credal.Average().leaf_table([[[1, 2]]], 1)
    with pytest.raises(ValueError, match="add up to infinity"):
        credal.idm_bounds([1e308, 1e308], 1)


@pytest.mark.parametrize("weighting", ["mass2", None, 2])
def test_an_unknown_weighting_is_answered_with_the_known_ones(weighting: Any) -> None:
    message = "weighting is .*, must be one of 'uniform', 'samples', 'epistemic'"
    for call in (credal.tree_weights, credal.belief):
        with pytest.raises(ValueError, match=message):
            call([[1, 2]], 1, weighting)
    for make in (credal.Belief, credal.Vote, lambda given: credal.get("average", given)):
        with pytest.raises(ValueError, match=message):
            make(weighting)


@pytest.mark.parametrize("aggregate", ["mean", None, 3, ["belief"]])
def test_an_unknown_aggregate_is_answered_with_the_known_ones(aggregate: Any) -> None:
    known = "'belief', 'average', 'vote', 'conjunction', 'disjunction'"
    with pytest.raises(ValueError, match=f"aggregate is .*, must be one of {known}, or an instance"):
        credal.get(aggregate)


def test_a_class_is_not_an_instance() -> None:
    with pytest.raises(ValueError, match=r"aggregate is the class Belief, pass an instance: Belief\(\)"):
        credal.get(credal.Belief)


@pytest.mark.parametrize("decide", [credal.interval_dominance, credal.tree_sets, credal.maximality])
def test_bounds_that_are_none_are_refused(decide: Any) -> None:
    with pytest.raises(ValueError, match=r"lower has shape \(2,\) and upper \(3,\)"):
        decide([0.1, 0.2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"lower has shape \(0,\)"):
        decide([], [])
    with pytest.raises(ValueError, match=r"bounds\[1\] are \[0.5, 0.4\], must be finite and lower <= upper"):
        decide([0.1, 0.5], [0.9, 0.4])
    with pytest.raises(ValueError, match=r"bounds\[0, 1\] are \[nan, 1.0\]"):
        decide([[0.1, np.nan]], [[0.9, 1.0]])


@pytest.mark.parametrize("decide", [credal.maximality, credal.e_admissibility, credal.reachable])
@pytest.mark.parametrize("bounds", [([0.6, 0.6], [1, 1]), ([0, 0], [0.4, 0.4])])
def test_bounds_without_a_distribution_are_refused(decide: Any, bounds: Any) -> None:
    with pytest.raises(ValueError, match=r"bounds\[0\] hold no distribution"):
        decide(*([bound] for bound in bounds))


def test_intervals_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lower has shape \(1,\) and upper \(2,\), both must have shape"):
        credal.belief_interval([0.1], [0.2, 0.3], None, 0, 1)
    with pytest.raises(ValueError, match=r"bounds\[0\] are \[0.3, 0.2\], must be numbers and lower <= upper"):
        credal.belief_interval([0.3], [0.2], None, 0, 1)
    with pytest.raises(ValueError, match=r"tree_weights has shape \(2,\), must have a weight for each of 1 trees"):
        credal.belief_interval([0.1], [0.2], [1, 1], 0, 1)
    with pytest.raises(ValueError, match="tree_weights must be finite and not negative"):
        credal.belief_interval([0.1], [0.2], [-1], 0, 1)
    with pytest.raises(ValueError, match=r"a is 0.6 and b 0.5, must be numbers and a <= b"):
        credal.belief_interval([0.1], [0.2], None, 0.6, 0.5)


def test_the_two_readings_of_a_tree_that_is_just_sure() -> None:
    # One row of class 0, s = 1: lower₀ = ½ = upper₁. Equation 5 takes the tree as sure, the conclusion does not.
    leaf = [[1, 0]]
    assert credal.Belief().of_counts(leaf, s=1)[1].tolist() == [True, False]
    assert credal.Belief(strict=True).of_counts(leaf, s=1)[1].tolist() == [True, True]
    for s, sets in ((0.9, [True, False]), (1.1, [True, True])):
        for strict in (False, True):
            assert credal.Belief(strict=strict).of_counts(leaf, s=s)[1].tolist() == sets
