"""Which split a node gets: C4.5's conditions, significance, costs, and subsets of categories."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracles
from effort import examples
from growth_problems import MISSING, NOMINAL, grow, options_of, problems, random_problem, without_missing
from hedgerow import Forest
from hedgerow._core import TrainMissing
from hedgerow.forest.kinds import NodeKind
from hedgerow.growth import ChiSquare, Growth
from oracles.growth import Instances, Problem, check_tree, impurity, root_instances

per_mode = settings(max_examples=examples(8, 24), deadline=None, suppress_health_check=[HealthCheck.too_slow])


# -- C4.5


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("nominal", NOMINAL)
@per_mode
@given(data=st.data())
def test_every_node_asks_what_c45_asks(nominal: str, missing: str, data: st.DataObject) -> None:
    problem = data.draw(problems("c45", nominal, missing))
    tally = check_tree(problem, grow(problem))
    assert tally.n_nodes >= 1


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("n_rows", [60, 400])
def test_c45_on_ordinary_data_is_clear(missing: str, n_rows: int) -> None:
    # 400 rows of three classes: a tenth of them a class is more than the two rows that every branch must hold
    n_nodes = n_clear = 0
    for seed in range(3):
        problem = random_problem(
            np.random.default_rng(seed),
            n_rows,
            4,
            criterion="c45",
            missing=missing,
            min_samples_leaf=2,
            min_fraction=0.0,
        )
        tally = check_tree(problem, grow(problem))
        n_nodes, n_clear = n_nodes + tally.n_nodes, n_clear + tally.n_clear
    assert n_nodes > 15
    assert n_clear >= 0.95 * n_nodes


def test_a_threshold_needs_a_tenth_of_the_rows_a_class_on_each_side() -> None:
    # 60 rows, two classes: 3 on each side; two rows of class 1 at the end are too few to be cut off
    values = [float(i) for i in range(60)]
    problem = Problem([values], [0], [0] * 58 + [1, 1], [1.0] * 60, 2, "c45", min_samples_leaf=2)
    assert grow(problem).n_leaves == 2
    assert grow(problem).threshold[0] == 56.0
    assert grow(replace(problem, criterion="gain_ratio")).threshold[0] == 57.5


def test_a_threshold_of_c45_is_a_value_of_the_training_data() -> None:
    # Of the whole data: 4.4 does not occur among the rows of the node that is split second.
    column = [1.0, 2.0, 3.0, 6.0, 7.0, 8.0, 4.4, 4.4]
    other = [0.0] * 6 + [1.0] * 2
    problem = Problem([other, column], [2, 0], [0, 0, 0, 1, 1, 1, 2, 2], [1.0] * 8, 3, "c45", min_samples_leaf=2)
    forest = grow(problem)
    thresholds = forest.threshold[forest.kind == NodeKind.THRESHOLD]
    assert thresholds.tolist() == [4.4]  # half-way between 3 and 6 is 4.5


def test_a_threshold_pays_for_being_chosen_among_many() -> None:
    # Both columns separate the classes; the second has more thresholds to choose from, each of which costs.
    few, many = [0.0] * 8 + [1.0] * 8, [float(i) for i in range(16)]
    problem = Problem([many, few], [0, 0], [0] * 8 + [1] * 8, [1.0] * 16, 2, "c45", min_samples_leaf=2)
    assert grow(problem).feature[0] == 1
    assert grow(replace(problem, criterion="gain_ratio")).feature[0] == 0


def test_every_category_has_a_branch_and_an_empty_one_answers_as_its_parent() -> None:
    problem = Problem([[0.0] * 4 + [2.0] * 2], [3], [0, 0, 0, 0, 1, 1], [1.0] * 6, 2, "c45", min_samples_leaf=2)
    forest = grow(problem)
    assert forest.counts.tolist() == [[4, 0], [0, 0], [0, 2]]
    assert forest.answer_counts().tolist() == [[4, 0], [4, 2], [0, 2]]
    assert grow(replace(problem, criterion="gain_ratio")).counts.tolist() == [[4, 0], [0, 2]]


def test_an_identity_number_does_not_win() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 1000)
    useful = np.where(rng.random(1000) < 0.1, 1 - labels, labels)
    columns = [np.arange(1000.0).tolist(), useful.astype(float).tolist()]
    for criterion in ("gain_ratio", "c45"):
        problem = Problem(columns, [1000, 2], labels.tolist(), [1.0] * 1000, 2, criterion)
        assert grow(problem).feature[0] == 1
    # not even alone: the information of its answer is all that it has
    assert grow(replace(problem, criterion="entropy")).feature[0] == 0


def test_columns_of_many_categories_do_not_raise_the_mean_for_the_others() -> None:
    labels = [0, 1] * 10
    identity = [float(i // 2) for i in range(20)]  # 10 categories for 20 rows, gains nothing
    weak = [0.0, 1.0] * 8 + [1.0, 0.0] * 2
    problem = Problem([identity, weak], [10, 2], labels, [1.0] * 20, 2, "c45", min_samples_leaf=2)
    check_tree(problem, grow(problem))
    assert grow(problem).feature[0] == 1


# -- significance


@pytest.mark.parametrize("level", [0.01, 0.3])
@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "c45"])
@per_mode
@given(data=st.data())
def test_only_significant_splits_are_made(criterion: str, level: float, data: st.DataObject) -> None:
    problem = replace(data.draw(problems(criterion)), significance=level)
    check_tree(problem, grow(problem))


def test_splits_on_noise_are_not_made() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(3, 200)), rng.integers(0, 2, 200)
    problem = Problem(X.tolist(), [0] * 3, labels.tolist(), [1.0] * 200, 2, "entropy")
    assert grow(problem).n_leaves > 50
    assert grow(replace(problem, significance=1e-4)).n_leaves == 1


def test_a_multiway_split_has_more_degrees_of_freedom() -> None:
    # Three branches of ten, each its own class: χ² = 60 with 4 degrees of freedom, whose tail is e^−30·(1 + 30).
    codes = [float(i // 10) for i in range(30)]
    problem = Problem([codes], [3], [i // 10 for i in range(30)], [1.0] * 30, 3, "entropy")
    p_value = math.exp(-30) * 31
    assert grow(replace(problem, significance=0.99 * p_value)).n_leaves == 1
    assert grow(replace(problem, significance=1.01 * p_value)).n_leaves == 3


@pytest.mark.parametrize("level", [0, 1, -0.1, 2.0, math.nan, "0.05"])
def test_a_level_outside_the_unit_interval_is_refused(level: object) -> None:
    with pytest.raises(ValueError, match=r"ChiSquare: level is .*, must be a number in \(0, 1\)"):
        ChiSquare(level)  # type: ignore[arg-type]


def test_an_unknown_way_to_stop_is_refused() -> None:
    with pytest.raises(ValueError, match="stopping is 'early', must be one of 'chi_square'"):
        Growth("gini", stopping="early").options(np.ones(3), 2, ("gini",), 0)


# -- costs


@st.composite
def class_costs(draw: st.DrawFn, n_classes: int) -> list[list[float]]:
    cost = st.sampled_from([0.0, 1.0, 2.0, 10.0])
    return [[0.0 if i == j else draw(cost) for j in range(n_classes)] for i in range(n_classes)]


@per_mode
@given(data=st.data())
def test_the_gini_index_is_weighted_by_costs(data: st.DataObject) -> None:
    problem = data.draw(problems("gini"))
    costs = data.draw(class_costs(problem.n_classes).filter(lambda c: problem.n_classes == 1 or any(map(any, c))))
    problem = replace(problem, class_costs=costs)
    if problem.n_classes > 1:
        check_tree(problem, grow(problem))


def test_costs_change_a_tree_of_three_classes_and_not_of_two() -> None:
    problem = replace(random_problem(np.random.default_rng(3), 200, 4), max_depth=3)
    costly = replace(problem, class_costs=[[0, 1, 1], [1, 0, 50], [1, 50, 0]])
    assert grow(problem) != grow(costly)
    two = replace(problem, targets=[min(t, 1) for t in problem.targets], n_classes=2)
    costly_two = replace(two, class_costs=[[0.0, 50.0], [1.0, 0.0]])
    assert grow(two) == grow(costly_two)


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio", "c45", "squared_error"])
@per_mode
@given(data=st.data())
def test_splits_are_ordered_by_squared_gain_over_cost(criterion: str, data: st.DataObject) -> None:
    problem = data.draw(problems(criterion))
    cost = st.sampled_from([0.5, 1.0, 3.0, 1000.0])
    costs = data.draw(st.lists(cost, min_size=len(problem.columns), max_size=len(problem.columns)))
    problem = replace(problem, feature_costs=costs)
    check_tree(problem, grow(problem))


@pytest.mark.parametrize("costs_of", ["classes", "columns", "both"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@per_mode
@given(data=st.data())
def test_costs_are_honoured_by_growth_from_bins(criterion: str, costs_of: str, data: st.DataObject) -> None:
    problem = without_missing(data.draw(problems(criterion)))
    if costs_of != "columns" and criterion == "gini" and problem.n_classes > 1:
        costs = data.draw(class_costs(problem.n_classes).filter(lambda c: any(map(any, c))))
        problem = replace(problem, class_costs=costs)
    if costs_of != "classes":
        cost = st.sampled_from([0.5, 1.0, 3.0, 1000.0])
        costs = data.draw(st.lists(cost, min_size=len(problem.columns), max_size=len(problem.columns)))
        problem = replace(problem, feature_costs=costs)
    options = options_of(problem)
    options.max_bins, options.missing = 255, TrainMissing.random
    check_tree(problem, grow(problem, options))


def test_a_cheap_column_is_asked_before_a_better_one() -> None:
    labels = [0] * 10 + [1] * 10
    good, fair = [float(label) for label in labels], [0.0] * 8 + [1.0] * 2 + [1.0] * 9 + [0.0]
    problem = Problem([good, fair], [0, 0], labels, [1.0] * 20, 2, "entropy")
    assert grow(replace(problem, feature_costs=[1.0, 1.0])).feature[0] == 0
    assert grow(replace(problem, feature_costs=[3000.0, 150.0])).feature[0] == 1


# -- subsets of categories


def best_subset_gain(problem: Problem, instances: Instances) -> float:
    """The largest gain of dividing the categories of the only column in two, all of them tried."""
    column = problem.columns[0]
    present = sorted({column[i.row] for i in instances})
    best = -math.inf
    for n in range(1, len(present)):
        for members in combinations(present, n):
            left = [i for i in instances if column[i.row] in members]
            right = [i for i in instances if column[i.row] not in members]
            gain = impurity(problem, instances) - impurity(problem, left) - impurity(problem, right)
            best = max(best, gain)
    return best


def root_gain(problem: Problem, forest: Forest) -> float:
    column = problem.columns[0]
    instances = root_instances(problem)
    words = [int(forest.payload_codes[i]) for i in oracles.payload(forest, 0)]
    codes = [32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1]
    left = [i for i in instances if column[i.row] in codes]
    right = [i for i in instances if column[i.row] not in codes]
    return impurity(problem, instances) - impurity(problem, left) - impurity(problem, right)


@st.composite
def one_nominal_column(draw: st.DrawFn, n_classes: int, criterion: str) -> Problem:
    n_rows, n_categories = draw(st.integers(2, 40)), draw(st.integers(2, 8))
    codes = st.integers(0, n_categories - 1).map(float)
    target = st.integers(0, n_classes - 1) if n_classes else st.integers(-5, 5).map(float)
    return Problem(
        columns=[draw(st.lists(codes, min_size=n_rows, max_size=n_rows))],
        n_categories=[n_categories],
        targets=draw(st.lists(target, min_size=n_rows, max_size=n_rows)),
        weights=draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n_rows, max_size=n_rows)),
        n_classes=n_classes,
        criterion=criterion,
        nominal="subset",
        max_depth=1,
    )


@pytest.mark.parametrize(
    ("n_classes", "criterion"), [(2, "gini"), (2, "entropy"), (3, "gini"), (5, "entropy"), (0, "squared_error")]
)
@per_mode
@given(data=st.data())
def test_the_best_subset_of_all_is_found(n_classes: int, criterion: str, data: st.DataObject) -> None:
    problem = data.draw(one_nominal_column(n_classes, criterion))
    forest = grow(problem)
    if forest.kind[0] == NodeKind.LEAF:
        assert len(set(problem.targets)) == 1 or len(set(problem.columns[0])) == 1
        return
    assert root_gain(problem, forest) == pytest.approx(best_subset_gain(problem, root_instances(problem)), abs=1e-9)


def test_many_categories_of_many_classes_are_divided_along_an_order() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 1000, 5000).astype(float)
    codes[:1000] = np.arange(1000)
    labels = (codes % 3).astype(int)
    labels[rng.random(5000) < 0.2] = 0
    problem = Problem([codes.tolist()], [1000], labels.tolist(), [1.0] * 5000, 3, "gini", "subset", max_depth=2)
    forest = grow(problem)
    assert forest.n_leaves == 4
    # Two splits are enough for three classes that the categories determine, up to the fifth that was changed to 0.
    assert forest.counts.max(axis=1).sum() / 5000 > 0.99 * (1 / 3 + 2 / 3 * 0.8)
