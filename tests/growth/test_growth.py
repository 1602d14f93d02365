from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import oracles
from effort import daily_pairs, examples
from growth_problems import (
    CLASSIFICATION,
    CRITERIA,
    MISSING,
    NOMINAL,
    grow,
    options_of,
    problems,
    random_problem,
    without_missing,
)
from hedgerow import Forest, TreeClassifier, TreeRegressor
from hedgerow._core import Criterion, Nominal, TrainMissing
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.growth import Fractional, Growth, Training, grow_forest
from hedgerow.growth.options import n_tried_features
from oracles.growth import (
    Problem,
    Split,
    UnclearError,
    check_against,
    check_tree,
    divide,
    grow_best_first,
    judge,
    root_instances,
    splits,
    threshold_gains,
)

NAN = math.nan
# Where nothing is divided, class counts of whole weights are sums of whole numbers: exact in any order.
UNDIVIDED = ("category", "learned")

# A drawn problem costs about 20 ms, and the modes multiply.
per_mode = settings(max_examples=examples(8, 24), deadline=None, suppress_health_check=[HealthCheck.too_slow])
several = settings(max_examples=examples(8, 30), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def structure(forest: Forest) -> list[Any]:
    """All that says where rows go, in a form that can be compared."""
    exact = (forest.feature, forest.first_child, forest.payload, forest.kind, forest.missing, forest.payload_codes)
    return [array.tolist() for array in exact] + [forest.threshold.tobytes()]


# -- every node is right


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("nominal", NOMINAL)
@pytest.mark.parametrize("criterion", CRITERIA)
@per_mode
@given(data=st.data())
def test_every_node_has_the_best_split_and_every_leaf_holds_its_rows(
    criterion: str, nominal: str, missing: str, data: st.DataObject
) -> None:
    problem = data.draw(problems(criterion, nominal, missing))
    tally = check_tree(problem, grow(problem))
    assert tally.n_nodes >= 1


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_oracle_has_an_opinion_on_nearly_every_node_of_ordinary_data(criterion: str, missing: str) -> None:
    # If it called everything a matter of rounding, the comparison above would compare nothing.
    n_nodes = n_clear = 0
    kinds = set()
    for seed, nominal in enumerate(NOMINAL):
        problem = random_problem(np.random.default_rng(seed), 60, 4, criterion=criterion, missing=missing)
        tally = check_tree(replace(problem, nominal=nominal), grow(replace(problem, nominal=nominal)))
        n_nodes, n_clear = n_nodes + tally.n_nodes, n_clear + tally.n_clear
        kinds |= tally.kinds
    assert n_nodes > 40
    assert n_clear >= 0.95 * n_nodes
    expected = {
        "fractional": {MissingPolicy.SPREAD},
        "category": {MissingPolicy.SPREAD, MissingPolicy.OWN_BRANCH, MissingPolicy.LAST_CHILD},
        "learned": {MissingPolicy.SPREAD, MissingPolicy.FIRST_CHILD, MissingPolicy.LAST_CHILD},
    }[missing]
    assert {policy for _, policy in kinds} >= expected
    assert {kind for kind, _ in kinds} == {NodeKind.THRESHOLD, NodeKind.MULTIWAY, NodeKind.ONE_AGAINST_REST}


def test_the_oracle_notices_a_split_that_is_not_the_best() -> None:
    problem = random_problem(np.random.default_rng(0), 60, 4)
    with pytest.raises(AssertionError, match="not among"):
        check_tree(problem, grow(replace(problem, criterion="gain_ratio")))


# -- ties, by example


def labelled(columns: Sequence[Sequence[float]], labels: Sequence[int], **changes: Any) -> Problem:
    problem = Problem(
        columns=[list(column) for column in columns],
        n_categories=[0] * len(columns),
        targets=list(labels),
        weights=[1.0] * len(labels),
        n_classes=max(labels) + 1,
        criterion="gini",
    )
    return replace(problem, **changes)


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_among_equal_columns_the_lowest_is_asked(criterion: str) -> None:
    forest = grow(labelled([[5, 5, 5, 5], [1, 2, 3, 4], [4, 3, 2, 1]], [0, 0, 1, 1], criterion=criterion))
    assert forest.feature[0] == 1


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_among_equal_thresholds_the_lowest_is_asked(criterion: str) -> None:
    forest = grow(labelled([[1, 2, 3, 4, 5]], [1, 0, 0, 0, 1], criterion=criterion))
    assert forest.threshold[0] == 1.5


def test_among_equal_categories_the_first_is_asked() -> None:
    problem = labelled([[0, 1, 2, 3]], [0, 1, 0, 1], n_categories=[5], nominal="binary")
    assert grow(problem).threshold[0] == 0


@pytest.mark.parametrize("missing", UNDIVIDED)
@pytest.mark.parametrize(("nominal", "n_categories"), [("multiway", 0), ("binary", 2)])
def test_known_against_missing_wins_ties(missing: str, nominal: str, n_categories: int) -> None:
    # A branch of their own parts the classes as well as any threshold with a third branch.
    problem = labelled([[0, 0, 1, NAN]], [0, 0, 0, 1], n_categories=[n_categories], nominal=nominal, missing=missing)
    forest = grow(problem)
    assert forest.threshold[0] == np.inf
    assert forest.kind[0] == NodeKind.THRESHOLD
    assert forest.missing[0] == MissingPolicy.LAST_CHILD
    assert forest.leaf_counts.tolist() == [[3, 0], [0, 1]]


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_missing_values_join_the_lower_side_of_a_threshold_when_both_gain_the_same(criterion: str) -> None:
    # One of each class is missing: on either side of 0.5 it makes 3:1 of one class and leaves the other pure.
    problem = labelled([[0, 0, 1, 1, NAN, NAN]], [0, 0, 1, 1, 0, 1], missing="learned", criterion=criterion)
    forest = grow(problem)
    assert (forest.threshold[0], forest.missing[0]) == (0.5, MissingPolicy.FIRST_CHILD)


def test_missing_values_stay_among_the_rest_when_both_gain_the_same() -> None:
    # As above, by categories.
    problem = labelled([[0, 0, 1, 1, NAN, NAN]], [0, 0, 1, 1, 0, 1], missing="learned", nominal="binary")
    forest = grow(replace(problem, n_categories=[2]))
    assert (forest.threshold[0], forest.missing[0]) == (0, MissingPolicy.LAST_CHILD)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_a_split_that_gains_nothing_may_be_made(criterion: str) -> None:
    exclusive_or = Problem(
        columns=[[0, 0, 1, 1], [0, 1, 0, 1]],
        n_categories=[0, 0],
        targets=[0, 1, 1, 0],
        weights=[1.0] * 4,
        n_classes=0 if criterion == "squared_error" else 2,
        criterion=criterion,
    )
    assert grow(exclusive_or).n_leaves == 4


def test_gain_ratio_makes_no_split_that_gains_nothing() -> None:
    assert grow(labelled([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 1, 1, 0], criterion="gain_ratio")).n_nodes == 1


def test_gain_ratio_prefers_few_branches_where_the_gain_is_the_same() -> None:
    # A branch for each row separates the classes as well as a threshold does, at three times the information.
    columns = [list(range(8)), [0, 0, 0, 0, 1, 1, 1, 1]]
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    ratio = grow(labelled(columns, labels, criterion="gain_ratio", n_categories=[8, 0]))
    gain = grow(labelled(columns, labels, criterion="entropy", n_categories=[8, 0]))
    assert (ratio.feature[0], gain.feature[0]) == (1, 0)


def test_gain_ratio_does_not_compare_splits_that_gain_less_than_the_mean() -> None:
    # x0 splits one row off: it gains little, and costs so little information that its ratio is the best.
    columns = [[1] + [0] * 15, [0] * 8 + [1] * 8, [0, 1] * 8]
    labels = [1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1]
    problem = labelled(columns, labels, criterion="gain_ratio")
    offered = [splits(problem, root_instances(problem), j)[0] for j in range(3)]
    ratios = [q.gain / q.split_information for q in offered]
    assert ratios[0] > ratios[1] > ratios[2]
    assert offered[0].gain < sum(q.gain for q in offered) / 3
    assert grow(problem).feature[0] == 1


def test_a_threshold_between_neighbouring_numbers_is_the_lower_one() -> None:
    low, high = math.nextafter(1, 2), math.nextafter(math.nextafter(1, 2), 2)
    assert low / 2 + high / 2 == high  # rounds to even
    forest = grow(labelled([[low, high]], [0, 1]))
    assert forest.threshold[0] == low
    assert forest.leaf_counts.tolist() == [[1, 0], [0, 1]]


def test_a_threshold_between_huge_numbers_does_not_overflow() -> None:
    most = np.finfo(np.float64).max
    assert grow(labelled([[most, most / 2]], [0, 1])).threshold[0] == most * 0.75
    assert grow(labelled([[most, -most]], [0, 1])).threshold[0] == 0


def test_zero_has_one_sign_for_a_tree() -> None:
    assert grow(labelled([[-0.0, 0.0, -0.0, 0.0]], [0, 1, 0, 1])).n_nodes == 1


# -- limits


@pytest.mark.parametrize("missing", MISSING)
@several
@given(data=st.data())
def test_limits_are_respected(missing: str, data: st.DataObject) -> None:
    problem = data.draw(problems(missing=missing, limits=False, min_rows=6))
    problem = without_missing(problem) if missing == "fractional" else problem  # parts of rows are told apart above
    deep = grow(problem)
    shallow = grow(replace(problem, max_depth=2))
    assert shallow.depths[0] == min(2, deep.depths[0])
    coarse = grow(replace(problem, min_samples_split=5, weights=[1.0] * len(problem.weights)))
    inner = coarse.kind != NodeKind.LEAF
    assert (coarse.weight[inner] >= 5).all()
    binary = replace(problem, nominal="binary", missing="learned", weights=[1.0] * len(problem.weights))
    assert grow(replace(binary, min_samples_leaf=3)).weight.min() >= 3


def test_a_multiway_split_is_valid_if_two_of_its_branches_are_large_enough() -> None:
    codes, labels = [0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1, 1]
    problem = labelled([codes], labels, n_categories=[3])
    assert grow(replace(problem, min_samples_leaf=3)).n_leaves == 3
    assert grow(replace(problem, min_samples_leaf=4)).n_leaves == 1


def test_min_impurity_decrease_is_relative_to_the_whole_training_weight() -> None:
    # The root gains 4·(1/2) = 2 of a weight of 4: half a unit.
    problem = labelled([[1, 2, 3, 4]], [0, 0, 1, 1])
    assert grow(replace(problem, min_impurity_decrease=0.5)).n_leaves == 2
    assert grow(replace(problem, min_impurity_decrease=0.5000001)).n_leaves == 1
    assert grow(replace(problem, min_impurity_decrease=0.5, weights=[7.0] * 4)).n_leaves == 2


def test_a_limit_on_nodes_is_an_error_that_names_it() -> None:
    problem = labelled([[1, 2, 3, 4]], [0, 1, 0, 1])
    options = options_of(problem)
    options.max_nodes = 3
    with pytest.raises(ValueError, match="more than 3 nodes"):
        grow(problem, options)
    options.max_nodes = 7
    assert grow(problem, options).n_nodes == 7


def test_an_error_on_the_thread_of_a_large_problem_is_raised_in_the_caller() -> None:
    problem = random_problem(np.random.default_rng(0), 600, 30)
    options = options_of(problem)
    options.max_nodes = 20
    with pytest.raises(ValueError, match="more than 20 nodes"):
        grow(problem, options)


@pytest.mark.parametrize("wrong", ["rows", "weights", "categories", "both", "neither"])
def test_the_core_refuses_arrays_that_do_not_belong_together(wrong: str) -> None:
    problem = labelled([[1, 2, 3, 4]], [0, 1, 0, 1])
    labels = np.array([0, 1, 0] if wrong == "rows" else [0, 1, 0, 1], dtype=np.int32)
    training = Training(
        np.array([[1.0, 2, 3, 4]]).T,
        np.zeros(2 if wrong == "categories" else 1, dtype=np.int32),
        np.ones(3 if wrong == "weights" else 4),
        labels=None if wrong == "neither" else labels,
        targets=np.ones(4) if wrong == "both" else None,
        n_classes=2,
    )
    with pytest.raises(ValueError, match="wrong shape"):
        grow_forest(training, options_of(problem))


# -- the same data in other words


@pytest.mark.parametrize("missing", MISSING)
@several
@given(data=st.data())
def test_whole_weights_are_repeated_rows(missing: str, data: st.DataObject) -> None:
    problem = data.draw(problems(missing=missing, whole_weights=True, limits=False))
    if missing == "fractional":  # a limit on rows tells a part of a heavy row from parts of many rows
        problem = without_missing(problem)
    rows = [row for row, weight in enumerate(problem.weights) for _ in range(int(weight))]
    weighted, repeated = grow(problem), grow(replace(problem.with_rows(rows), weights=[1.0] * len(rows)))
    if problem.n_classes:
        assert weighted == repeated
        return
    # Means of real targets are sums in another order; only a tie could tell the trees apart.
    assume(check_tree(problem, weighted).n_clear == weighted.n_nodes)
    assert structure(weighted) == structure(repeated)
    np.testing.assert_allclose(weighted.stats, repeated.stats, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", MISSING)
@several
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(missing: str, data: st.DataObject) -> None:
    problem = data.draw(problems(missing=missing, whole_weights=True))
    shuffled = problem.with_rows(data.draw(st.permutations(range(len(problem.weights)))))
    one, other = grow(problem), grow(shuffled)
    if problem.n_classes and missing in UNDIVIDED:
        assert one == other
        return
    assume(check_tree(problem, one).n_clear == one.n_nodes)
    assert structure(one) == structure(other)
    np.testing.assert_allclose(one.weight, other.weight, rtol=1e-12)


@several
@given(data=st.data())
def test_relabelling_the_classes_relabels_the_counts(data: st.DataObject) -> None:
    problem = data.draw(problems(data.draw(st.sampled_from(CLASSIFICATION)), whole_weights=True))
    new_label = data.draw(st.permutations(range(problem.n_classes)))
    forest = grow(problem)
    renamed = grow(replace(problem, targets=[new_label[int(label)] for label in problem.targets]))
    assume(check_tree(problem, forest).n_clear == forest.n_nodes)
    assert structure(forest) == structure(renamed)
    assert renamed.counts[:, new_label].tolist() == forest.counts.tolist()


@several
@given(data=st.data())
def test_doubling_all_weights_doubles_the_counts(data: st.DataObject) -> None:
    # A power of two changes exponents only: every decision has the same bits.
    problem = data.draw(problems(data.draw(st.sampled_from(["gini", "squared_error"]))))
    forest, doubled = grow(problem), grow(replace(problem, weights=[2 * w for w in problem.weights]))
    assert structure(forest) == structure(doubled)
    assert (2 * forest.weight).tolist() == doubled.weight.tolist()
    if problem.n_classes:
        assert (2 * forest.counts).tolist() == doubled.counts.tolist()


def separable(criterion: str) -> Problem:
    n_classes = 0 if criterion == "squared_error" else 2
    return replace(labelled([[1, 2, 3, 4]], [0, 0, 1, 1]), criterion=criterion, n_classes=n_classes)


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**100])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_unit_of_weights_does_not_matter(criterion: str, scale: float) -> None:
    problem = separable(criterion)
    forest = grow(replace(problem, weights=[scale] * 4))
    assert structure(forest) == structure(grow(problem))
    assert forest.weight.tolist() == [4 * scale, 2 * scale, 2 * scale]


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**100])
def test_the_unit_of_targets_does_not_matter(scale: float) -> None:
    problem = separable("squared_error")
    forest = grow(replace(problem, targets=[scale * y for y in problem.targets]))
    assert structure(forest) == structure(grow(problem))
    assert forest.stats[:, 1].tolist() == [0, scale]


@pytest.mark.parametrize("targets", [[1e12, 0.1], [1e17, 1.0], [1e9, 1e-3]])
def test_the_mean_of_a_small_leaf_is_as_good_as_that_of_a_large_one(targets: list[float]) -> None:
    # Targets over many orders of magnitude (incomes, concentrations) are common.
    problem = replace(separable("squared_error"), columns=[[1.0, 2.0]], targets=targets, weights=[1.0, 1.0])
    np.testing.assert_allclose(grow(problem).stats[:, 1], targets, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_layout_of_the_array_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 0.05] = NAN
    y = rng.integers(0, 3, 300)
    wide = np.repeat(X, 2, axis=1)
    layouts: dict[str, Any] = {
        "row-major": np.ascontiguousarray(X),
        "column-major": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "every second column": wide[:, ::2],
        "big-endian": X.astype(">f8"),
        "read-only": np.frombuffer(X.tobytes()).reshape(X.shape),
        "lists": X.tolist(),
    }
    unpruned = {"pruning": None}
    for estimator in (
        TreeClassifier(**unpruned),
        TreeClassifier("gini", missing="learned", **unpruned),
        TreeRegressor(missing="category", **unpruned),
    ):
        forests = {name: estimator.fit(array, y).forest_ for name, array in layouts.items()}
        assert all(forest == forests["row-major"] for forest in forests.values()), forests
    assert forests["row-major"].n_nodes > 100


# -- settings


@pytest.mark.parametrize(
    ("given_", "n_features", "expected"),
    [
        *((None, 7, 7), (3, 7, 3), (7, 7, 7), (np.int64(2), 7, 2)),
        *(("sqrt", 1, 1), ("sqrt", 8, 2), ("sqrt", 9, 3), ("log2", 1, 1), ("log2", 8, 3), ("log2", 9, 3)),
        *((0.5, 7, 3), (1.0, 7, 7), (0.01, 7, 1), (np.float32(0.5), 4, 2)),
    ],
)
def test_max_features_is_read_as_scikit_learn_reads_it(given_: Any, n_features: int, expected: int) -> None:
    assert n_tried_features(given_, n_features) == expected


def test_settings_become_options_of_the_core() -> None:
    weight = np.array([1.0, 2.0, 3.0, 4.0, 0.5])
    growth = Growth("gini", "binary", Fractional(0.25), 3, 0.5, 0.3, 0.1, 0.2, 5, "sqrt")
    options = growth.options(weight, 9, CRITERIA, seed=77)
    assert (options.criterion, options.nominal, options.missing) == (
        Criterion.gini,
        Nominal.binary,
        TrainMissing.fractional,
    )
    # Half of five rows and three tenths of them, rounded up as in scikit-learn.
    assert (options.min_samples_split, options.min_samples_leaf) == (3, 2)
    np.testing.assert_allclose(options.min_weight_leaf, 1.05)
    assert (options.max_depth, options.max_leaf_nodes, options.max_features) == (3, 5, 3)
    assert (options.min_fraction, options.min_impurity_decrease, options.seed) == (0.25, 0.2, 77)
    defaults = Growth("entropy").options(weight, 9, CRITERIA, seed=0)
    assert (defaults.max_depth, defaults.max_leaf_nodes, defaults.max_features) == (-1, -1, 9)
    assert (defaults.min_samples_split, defaults.min_samples_leaf, defaults.min_fraction) == (2, 1, 1 / 64)
    assert Growth("gini", min_samples_split=0.01).options(weight, 1, CRITERIA, seed=0).min_samples_split == 2


def test_a_criterion_of_the_other_task_is_refused() -> None:
    with pytest.raises(ValueError, match="criterion is 'squared_error', must be one of 'gini', 'entropy'"):
        Growth("squared_error").options(np.ones(3), 1, ("gini", "entropy"), seed=0)


# -- drawn features


@pytest.mark.parametrize("nominal", NOMINAL)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_features_are_drawn_by_the_seed_alone(criterion: str, nominal: str) -> None:
    problem = random_problem(np.random.default_rng(1), 200, 8, criterion=criterion, nominal=nominal)
    options = options_of(problem)

    def with_seed(seed: int, max_features: int = 2) -> Forest:
        options.max_features, options.seed = max_features, seed
        return grow(problem, options)

    assert with_seed(1) == with_seed(1)
    assert len({tuple(with_seed(seed).feature.tolist()) for seed in range(5)}) == 5
    assert with_seed(3, max_features=8) == with_seed(4, max_features=8) == grow(problem)


def test_features_are_drawn_until_one_can_be_split() -> None:
    # Nine columns say nothing; whichever is drawn first, the tenth is found.
    problem = labelled([[7.0] * 4] * 9 + [[1, 2, 3, 4]], [0, 0, 1, 1])
    options = options_of(problem)
    options.max_features = 1
    for seed in range(20):
        options.seed = seed
        assert grow(problem, options).feature.tolist() == [9, -1, -1]


# -- best first


@several
@given(data=st.data())
def test_best_first_makes_the_splits_that_gain_most(data: st.DataObject) -> None:
    problem = data.draw(problems(min_rows=8))
    problem = replace(problem, max_leaf_nodes=data.draw(st.integers(2, 8)))
    forest = grow(problem)
    assert forest.n_leaves <= problem.max_leaf_nodes
    try:
        truth = grow_best_first(problem)
    except UnclearError:
        return
    check_against(problem, forest, truth)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "squared_error"])
def test_best_first_is_compared_on_data_whose_gains_differ(criterion: str, missing: str) -> None:
    # The property above gives up on ties. Here all weights differ, so that nothing ties.
    rng = np.random.default_rng(3)
    problem = random_problem(rng, 80, 4, criterion=criterion, missing=missing)
    problem = replace(problem, weights=rng.uniform(0.5, 2, 80).tolist())
    sizes = []
    for max_leaf_nodes in range(2, 15):
        limited = replace(problem, max_leaf_nodes=max_leaf_nodes)
        sizes.append(check_against(limited, grow(limited), grow_best_first(limited)))
    assert len(set(sizes)) > 5


def test_a_split_into_too_many_branches_is_not_made() -> None:
    # Five categories do not fit into four leaves; the threshold, which gains less, does.
    problem = labelled([[0, 1, 2, 3, 4, 4], [1, 1, 1, 1, 1, 2]], [0, 1, 0, 1, 0, 2], n_categories=[5, 0])
    roots = {n: grow(replace(problem, max_leaf_nodes=n)) for n in (4, 5, 6)}
    assert [roots[n].n_leaves for n in (4, 5, 6)] == [1, 5, 6]


@several
@given(data=st.data())
def test_room_for_all_leaves_gives_the_tree_that_has_no_limit(data: st.DataObject) -> None:
    problem = data.draw(problems())
    free, roomy = grow(problem), grow(replace(problem, max_leaf_nodes=10_000))
    # Nodes are found in another order, so the arrays differ; leaf by leaf in the order of a walk they are the same.
    assert free.n_nodes == roomy.n_nodes

    def walk(forest: Forest) -> list[Any]:
        found, stack = [], [0]
        while stack:
            node = stack.pop()
            found.append((forest.feature[node], forest.weight[node], np.float64(forest.threshold[node]).tobytes()))
            stack.extend(oracles.children(forest, 0, node))
        return found

    assert walk(free) == walk(roomy)


# -- what larger data need: a thread of its own, blocks made anew for small nodes, the radix sort


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_every_node_of_a_deep_tree_has_the_best_threshold(criterion: str) -> None:
    rng = np.random.default_rng(11)
    n_rows, n_columns = 1900, 9  # more than 2^14 values: grown on a thread; more than 256 rows: sorted by digits
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] = np.round(X[:, 1], 1)  # ties
    X[:, 2] = rng.integers(-3, 3, n_rows)
    X[:, 3] = rng.normal(size=n_rows) * 10.0 ** rng.integers(-300, 300, n_rows)  # every exponent
    X[:, 4] = X[:, 0].astype(np.float32)
    y = np.where(rng.random(n_rows) < 0.2, rng.integers(0, 3, n_rows), (X[:, 0] > 0) + (X[:, 3] > 0))
    if criterion == "squared_error":
        targets = (y + rng.normal(size=n_rows))[:, None]
        forest = TreeRegressor(pruning=None).fit(X, targets[:, 0]).forest_
    else:
        targets = np.eye(3)[y]
        forest = TreeClassifier(criterion, pruning=None).fit(X, y).forest_
    forest.check()
    assert forest.n_leaves > 250
    stack = [(0, np.arange(n_rows))]
    while stack:
        node, rows = stack.pop()
        assert forest.weight[node] == len(rows)
        if forest.kind[node] == NodeKind.LEAF:
            assert len(np.unique(targets[rows], axis=0)) == 1
            continue
        here = threshold_gains(X[rows], centred(targets[rows]), criterion)
        feature, threshold = int(forest.feature[node]), float(forest.threshold[node])
        gain = here.of_split(feature, threshold)
        # The scale of the core's ties: the weight, or the squares about the root's mean.
        scale = (centred(targets)[rows] ** 2).sum()
        assert gain >= here.gain.max() - 1e-9 * scale
        left = X[rows, feature] <= threshold
        children = oracles.children(forest, 0, node)
        stack += [(children[0], rows[left]), (children[1], rows[~left])]


@pytest.mark.parametrize(("missing", "nominal"), daily_pairs(MISSING, NOMINAL))
def test_large_data_with_missing_values_are_grown_as_small_ones_are(missing: str, nominal: str) -> None:
    problem = random_problem(np.random.default_rng(5), 600, 30, missing=missing, nominal=nominal, min_samples_split=12)
    assert len(problem.columns) * len(problem.weights) > 1 << 14
    forest = grow(problem)
    tally = check_tree(problem, forest)
    assert tally.n_nodes > 40
    # Nodes below an eighth of their block get one of their own; these are far below.
    assert forest.weight.min() < 600 / 64
    assert tally.n_clear > 0.9 * tally.n_nodes


@pytest.mark.parametrize("missing", MISSING)
def test_a_column_may_have_three_hundred_categories(missing: str) -> None:
    rng = np.random.default_rng(7)
    n_rows = 900
    codes = rng.permutation(np.arange(n_rows) % 300).astype(float)
    number = rng.integers(0, 20, n_rows).astype(float)
    labels = ((codes % 3 == 0) ^ (number > 9)).astype(int)
    codes[rng.random(n_rows) < 0.03] = NAN
    problem = Problem(
        columns=[codes.tolist(), number.tolist()],
        n_categories=[400, 0],  # a hundred of them never occur
        targets=labels.tolist(),
        weights=[1.0] * n_rows,
        n_classes=2,
        criterion="entropy",
        missing=missing,
    )
    forest = grow(problem)
    assert (forest.kind[0], forest.feature[0]) == (NodeKind.MULTIWAY, 0)
    own_branch = missing != "fractional"
    assert len(oracles.children(forest, 0, 0)) == 300 + own_branch
    assert (forest.payload_codes[:400] == -1).sum() == 100
    assert check_tree(problem, forest).n_nodes > 600


@pytest.mark.parametrize("min_fraction", [0.0, 1 / 64, 0.5, 1.0])
@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "squared_error"])
def test_parts_of_rows_are_divided_down_to_the_least_fraction(criterion: str, min_fraction: float) -> None:
    rng = np.random.default_rng(9)
    problem = random_problem(rng, 120, 5, criterion=criterion, min_fraction=min_fraction)
    problem = replace(problem, weights=rng.integers(1, 4, 120).astype(float).tolist())
    tally = check_tree(problem, grow(problem))
    assert tally.n_nodes > 20


def test_a_part_below_the_least_fraction_is_not_divided_again() -> None:
    # The last row lacks both values: half of it goes to each side of x0. Left of it 4 of 6 rows have x1 <= 0.5, so the
    # half becomes 1/3 and 1/6, or follows the four whole if a half is too little to be divided.
    x0 = [0.0] * 6 + [1.0] * 6 + [NAN]
    x1 = [0.0] * 4 + [1.0] * 2 + [NAN] * 7
    problem = labelled([x0, x1], [0] * 4 + [1] * 2 + [2] * 6 + [0])
    divided = grow(replace(problem, min_fraction=0.5))
    assert divided.feature.tolist() == [0, 1, -1, -1, -1]
    np.testing.assert_allclose(divided.leaf_counts, [[0.5, 0, 6], [4 + 1 / 3, 0, 0], [1 / 6, 2, 0]])
    whole = grow(replace(problem, min_fraction=0.6))
    np.testing.assert_allclose(whole.leaf_counts, [[0.5, 0, 6], [4.5, 0, 0], [0, 2, 0]])


def test_fractions_add_up_to_the_rows() -> None:
    problem = random_problem(np.random.default_rng(2), 200, 6, min_fraction=0.0)
    forest = grow(problem)
    np.testing.assert_allclose(forest.counts.sum(axis=0), np.bincount(problem.targets, minlength=3), rtol=1e-12)
    np.testing.assert_allclose(forest.weight[0], 200)
    n_below = np.zeros(forest.n_nodes)
    np.add.at(n_below, forest.parent[1:], forest.weight[1:])
    inner = forest.kind != NodeKind.LEAF
    np.testing.assert_allclose(n_below[inner], forest.weight[inner], rtol=1e-12)


def test_what_the_lecture_divides_is_divided_so_in_growth() -> None:
    # 50 rows reach B, 40 with B=1 and 10 with B=0: a row without B counts 0.8 and 0.2.
    column = [1.0] * 40 + [0.0] * 10 + [NAN]
    problem = labelled([column], [1] * 40 + [0] * 10 + [1], n_categories=[2], criterion="gain_ratio")
    forest = grow(problem)
    np.testing.assert_allclose(forest.leaf_counts, [[10, 0.2], [0, 40.8]], rtol=1e-15)
    right: Split | None = judge(problem, root_instances(problem), 0).right
    assert right is not None
    parts = divide(problem, root_instances(problem), right)
    assert parts is not None
    assert [part[-1].fraction for part in parts] == [0.2, 0.8]


# -- scikit-learn grows the same trees


def _cast(X: Any) -> NDArray[np.float64]:
    """scikit-learn keeps float32: given that, it sees the numbers that we see."""
    return np.asarray(X, dtype=np.float32).astype(np.float64)


CLASSIFICATION_DATA: dict[str, Callable[[], Any]] = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "two classes": lambda: datasets.make_classification(1000, 8, flip_y=0.1, class_sep=0.7, random_state=0),
    "four classes": lambda: datasets.make_classification(
        800, 10, n_informative=6, n_classes=4, flip_y=0.1, random_state=1
    ),
    "rounded": lambda: (
        np.round(datasets.make_classification(700, 6, random_state=2)[0], 1),
        datasets.make_classification(700, 6, random_state=2)[1],
    ),
    "moons": lambda: datasets.make_moons(600, noise=0.25, random_state=3),
    "blobs": lambda: datasets.make_blobs(600, 3, centers=5, cluster_std=2.5, random_state=4),
}
REGRESSION_DATA: dict[str, Callable[[], Any]] = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "linear": lambda: datasets.make_regression(600, 6, noise=10, random_state=0),
    "friedman1": lambda: datasets.make_friedman1(600, noise=1, random_state=1),
    "friedman2": lambda: datasets.make_friedman2(600, noise=1, random_state=2),
    "friedman3": lambda: datasets.make_friedman3(600, noise=0.1, random_state=3),
    "waves": lambda: (np.arange(900.0)[:, None] % 37, np.sin(np.arange(900) % 37 * 0.7) + np.arange(900) % 41 * 0.01),
}


class Comparison(NamedTuple):
    n_compared: int  # nodes
    n_unique: int  # inner nodes at which one split is better than all others
    n_ties: int  # inner nodes at which the two trees part, and may


def compare_with_sklearn(
    forest: Forest, theirs: Any, X: NDArray[np.float64], targets: Any, criterion: str, min_samples_leaf: int = 1
) -> Comparison:
    """Walks both trees together.

    scikit-learn takes columns in random order, so that ties fall at random. Where both took the same one all the same,
    the walk goes on.
    """
    n_compared = n_unique = n_ties = 0
    stack = [(0, 0, np.arange(len(X)))]
    while stack:
        ours, their, rows = stack.pop()
        n_compared += 1
        assert forest.weight[ours] == theirs.n_node_samples[their] == len(rows)
        is_leaf = forest.kind[ours] == NodeKind.LEAF
        assert is_leaf == (theirs.children_left[their] == -1)
        if is_leaf:
            continue
        here = threshold_gains(X[rows], centred(targets[rows]), criterion, min_samples_leaf)
        at = here.best()
        unique = (here.gain >= here.gain[at] * (1 - 1e-7)).sum() == 1
        mine = forest.feature[ours], forest.threshold[ours]
        other = theirs.feature[their], theirs.threshold[their]
        if unique:
            n_unique += 1
            assert mine == other
            assert mine == (here.feature[at], here.low[at] / 2 + here.high[at] / 2)
        elif mine != other:
            n_ties += 1
            gains = [here.of_split(*split) for split in (mine, other)]
            np.testing.assert_allclose(gains, here.gain[at], rtol=1e-6)
            continue
        left = X[rows, mine[0]] <= mine[1]
        children = oracles.children(forest, 0, ours)
        stack.append((children[0], theirs.children_left[their], rows[left]))
        stack.append((children[1], theirs.children_right[their], rows[~left]))
    return Comparison(n_compared, n_unique, n_ties)


def centred(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers about their mean, so that their squares do not cancel; classes as they are."""
    return targets - targets.mean(axis=0) if targets.shape[1] == 1 else targets


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("name", CLASSIFICATION_DATA)
def test_scikit_learn_grows_the_same_classification_tree(name: str, criterion: str) -> None:
    X, y = CLASSIFICATION_DATA[name]()
    X = _cast(X)
    # Nodes of a handful of rows are parted equally well by many splits.
    limits: dict[str, Any] = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 8}
    ours = TreeClassifier.cart(**limits).fit(X, y)
    targets = np.eye(len(ours.classes_))[np.searchsorted(ours.classes_, y)]
    n_inner = (ours.forest_.kind != NodeKind.LEAF).sum()
    for seed in range(20):
        theirs = DecisionTreeClassifier(**limits, random_state=seed).fit(X, y)
        seen = compare_with_sklearn(ours.forest_, theirs.tree_, X, targets, criterion, 8)
        if seen.n_compared >= 0.8 * ours.forest_.n_nodes:
            break  # the root of iris is a tie: another order of columns may agree on it
    assert seen.n_compared >= 0.8 * ours.forest_.n_nodes
    assert seen.n_unique >= 0.5 * n_inner  # 90 % over all sets; fewest in breast_cancer


@pytest.mark.parametrize("name", REGRESSION_DATA)
def test_scikit_learn_grows_the_same_regression_tree(name: str) -> None:
    X, y = REGRESSION_DATA[name]()
    X = _cast(X)
    ours = TreeRegressor(max_depth=4, pruning=None).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    seen = compare_with_sklearn(ours.forest_, theirs.tree_, X, np.reshape(y, (-1, 1)), "squared_error")
    assert seen.n_compared >= 0.8 * ours.forest_.n_nodes
    assert seen.n_unique >= 0.8 * (ours.forest_.kind != NodeKind.LEAF).sum()
    if seen.n_ties == 0:
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


# -- Ctrl-C

_LONG_FIT = """
    import sys
    import numpy as np
    from hedgerow import TreeClassifier

    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.random((60, 400_000)).T)
    y = rng.integers(0, 2, len(X))
    tree = TreeClassifier("entropy").fit(X[:500], y[:500])
    before = tree.forest_, tree.predict(X[:1000])
    print("started", flush=True)
    try:
        tree.fit(X, y)
    except KeyboardInterrupt:
        kept = tree.forest_ is before[0] and np.array_equal(tree.predict(X[:1000]), before[1])
        print("interrupted", "kept" if kept else "lost", flush=True)
        sys.exit(0)
    print("finished", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_ends_a_long_fit_and_keeps_the_earlier_one() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_LONG_FIT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        # It is in the core by now, or still copying X on its way there: both must end.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert out == "interrupted kept\n", err
    assert process.returncode == 0
