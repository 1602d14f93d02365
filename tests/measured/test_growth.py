"""The growth of soft regions against a least-squares solve for every candidate, and against plain trees."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import MeasuredTreeClassifier, MeasuredTreeRegressor, TreeClassifier, TreeRegressor, pruning
from hedgerow.data.table import read_table
from hedgerow.measured import CostComplexity
from hedgerow.measured.errors.error_model import error_model
from hedgerow.measured.explain.possible_regions import error_costs
from hedgerow.measured.laws.column_laws import CategoryLaw, FlatLaw
from hedgerow.measured.laws.priors import learn_laws, prior
from hedgerow.measured.least_squares import Basis, Problem, least_squares
from hedgerow.measured.one_tree import prune
from hedgerow.measured.one_tree.categories import Categories
from hedgerow.measured.one_tree.grow import GrowthSettings, Path, grow_path, path_regions
from hedgerow.measured.one_tree.threshold_columns import HardThresholds, SoftThresholds, candidate_thresholds
from hedgerow.measured.regions import region_membership
from oracles import measured as oracles


def plain(**parameters: Any) -> TreeRegressor:
    """A plain tree that is not pruned, whether or not it could be."""
    unpruned = {"pruning": None} if "pruning" in inspect.signature(TreeRegressor).parameters else {}
    return TreeRegressor(**parameters, **unpruned)


def same_partition(one: np.ndarray, other: np.ndarray) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


# -- without errors


@pytest.mark.parametrize("risk", ["global", "node"])
@pytest.mark.parametrize("seed", range(6))
def test_without_errors_it_is_the_plain_tree(seed: int, risk: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=150) / 2
    for n_leaves in (2, 5, 16, 40):
        soft = MeasuredTreeRegressor(max_candidates=None, max_leaf_nodes=n_leaves, risk=risk).fit(X, y)
        hard = plain(max_leaf_nodes=n_leaves).fit(X, y)
        assert soft.get_n_leaves() == hard.get_n_leaves() == n_leaves
        assert same_partition(soft.apply(X), hard.apply(X))
        np.testing.assert_allclose(soft.predict(X), hard.predict(X), atol=1e-9)
        np.testing.assert_allclose(np.sort(soft.forest_.stats, axis=0), np.sort(hard.forest_.stats, axis=0), atol=1e-8)


def test_without_errors_depth_first_grows_the_same_leaves() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=80) / 3
    soft = MeasuredTreeRegressor(max_candidates=None, max_leaf_nodes=None, min_weight_leaf=5).fit(X, y)
    hard = plain(min_samples_leaf=5).fit(X, y)
    assert same_partition(soft.apply(X), hard.apply(X))


def test_without_errors_the_classifier_is_a_gini_tree() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=200) / 2, [-0.5, 0.5])
    unpruned = {"pruning": None} if "pruning" in inspect.signature(TreeClassifier).parameters else {}
    hard = TreeClassifier.cart(max_leaf_nodes=9, **unpruned).fit(X, y)
    for leaf in ("least_squares", "counts"):
        soft = MeasuredTreeClassifier(max_candidates=None, max_leaf_nodes=9, leaf=leaf).fit(X, y)
        assert same_partition(soft.apply(X), hard.apply(X))
        np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(soft.leaf_counts(X), hard.leaf_counts(X), atol=1e-9)


def test_as_errors_go_to_0_the_tree_goes_to_the_plain_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.where(X[:, 0] > 0, 1.0, 0.0) + (X[:, 1] > 0.5)
    exact = MeasuredTreeRegressor(max_leaf_nodes=4).fit(X, y)
    for kind in ("normal", "flat", "kde"):
        nearly = MeasuredTreeRegressor(1e-9, prior=kind, max_leaf_nodes=4).fit(X, y)
        np.testing.assert_allclose(nearly.predict(X), exact.predict(X), atol=1e-6)


# -- with errors, against the slow truth


def problem(X: np.ndarray, sigma: np.ndarray, y: np.ndarray, nominal: list[int] | None = None, **more: Any) -> Problem:
    table = read_table(X, categorical_features=nominal or None)
    weight = more.get("weight", np.ones(len(X)))
    models = [error_model(more.get("error", "normal"))] * X.shape[1]
    laws = learn_laws(table.values, table.schema, sigma, weight, models, prior(more.get("prior", "flat")))
    targets = y if y.ndim == 2 else y[:, np.newaxis]
    precision = more.get("precision", np.ones(len(X)))
    return Problem(table.values, sigma, laws, np.arange(X.shape[1]), weight, precision, targets)


def truth(given: Problem, risk: str, least: float, max_candidates: int | None) -> oracles.Truth:
    candidates: dict[int, list[Any]] = {}
    for j, law in enumerate(given.laws):
        if isinstance(law, CategoryLaw):
            candidates[j] = [frozenset([code]) for code in range(len(law.shares))]
        else:
            candidates[j] = candidate_thresholds(given.values[:, j], given.weight, max_candidates).tolist()
    return oracles.Truth(
        given.values, given.sigma, given.laws, given.weight, given.precision, given.targets, candidates, least, risk
    )


def assert_path_is(path: Path, expected: list[Any], given: Problem) -> None:
    boxes = {0: oracles.Box({}, {})}
    assert len(path.splits) == len(expected)
    for i, (number, split) in enumerate(zip(path.divided, path.splits, strict=True)):
        box, feature, where, gain = expected[i]
        assert path.risks[i] - path.risks[i + 1] == pytest.approx(gain, abs=1e-9)
        assert split.feature == feature
        if split.members is None:
            assert split.threshold == where
        else:
            here = oracles.shares(boxes[number], given.laws, given.values, given.sigma) > 0
            present = {int(code) for code in given.values[here, feature] if not np.isnan(code)}
            asked = set(np.flatnonzero(split.members).tolist()) & present
            assert asked in (set(where) & present, present - set(where))
        assert boxes[number].bounds == box.bounds
        kept = where if split.members is None else frozenset(np.flatnonzero(split.members).tolist())
        boxes[2 * i + 1], boxes[2 * i + 2] = oracles.parts(boxes[number], split.feature, kept)


@pytest.mark.parametrize("kind", ["flat", "normal"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2, 3))])
def test_splits_are_those_of_a_solve_for_every_candidate(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = 2.0 * (X[:, 0] > 0) + X[:, 1] + rng.normal(size=40) / 3
    sigma = np.zeros_like(X)
    sigma[:, 0], sigma[:, 1] = 0.3, rng.uniform(0, 0.5, size=40)  # the third column is exact
    X[rng.random(X.shape) < 0.05] = np.nan
    weight, precision = rng.integers(1, 4, size=40).astype(float), rng.uniform(0.5, 2, size=40)
    given = problem(X, sigma, y, prior=kind, weight=weight, precision=precision)
    path = grow_path(given, GrowthSettings(6, 2.0, 9, "global", True))
    assert_path_is(path, truth(given, "global", 2.0, 9).best_first(6), given)


def test_splits_with_several_outputs_and_categories_are_those_of_a_solve_for_every_candidate() -> None:
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=40), rng.integers(0, 4, size=40)])
    y = np.eye(3)[np.digitize(X[:, 0] + (X[:, 1] == 2) * 2 + rng.normal(size=40) / 4, [-0.3, 1.2])]
    X[::9, 1] = np.nan
    sigma = np.column_stack([np.full(40, 0.4), np.zeros(40)])
    given = problem(X, sigma, y, nominal=[1])
    path = grow_path(given, GrowthSettings(6, 1.0, 9, "global", True))
    assert any(split.members is not None for split in path.splits)
    assert_path_is(path, truth(given, "global", 1.0, 9).best_first(6), given)


@pytest.mark.parametrize("seed", range(3))
def test_the_first_split_of_a_region_by_the_nodes_own_risk(seed: int) -> None:
    # Gains in a node are reckoned when it is made, which the literal truth does for the root and its two parts.
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(40, 2)), rng.integers(0, 3, size=40)])
    y = 2.0 * (X[:, 0] > 0) + X[:, 1] + (X[:, 2] == 1) + rng.normal(size=40) / 3
    sigma = np.tile([0.4, 0.2, 0.0], (40, 1))
    X[::11, 0] = np.nan
    given = problem(X, sigma, y, nominal=[2])
    path = grow_path(given, GrowthSettings(3, 2.0, 9, "node", True))
    slow = truth(given, "node", 2.0, 9)
    boxes = [oracles.Box({}, {})]
    for split, number in zip(path.splits, path.divided, strict=True):
        gains = {
            (feature, where): slow.gain(boxes, k, feature, where)
            for k, box in enumerate(boxes)
            for feature, places in slow.candidates.items()
            for where in places
            if slow.inside(box, feature, where)
        }
        where: Any = split.threshold
        if split.members is not None:
            where = frozenset(np.flatnonzero(split.members).tolist())
        found = slow.gain(boxes, 0 if number < 2 else 1, split.feature, where)
        assert found == pytest.approx(max(gains.values()), rel=1e-9)
        at = 0 if number < 2 else 1
        boxes[at : at + 1] = oracles.parts(boxes[at], split.feature, where)


def test_node_and_global_risk_differ_where_there_are_errors() -> None:
    rng = np.random.default_rng(0)
    latent = rng.uniform(size=(300, 3))
    y = np.floor(4 * latent[:, 0]) + latent[:, 1]
    X = latent + rng.normal(0, 0.15, size=latent.shape)
    one, other = (MeasuredTreeRegressor(0.15, risk=risk, max_leaf_nodes=8).fit(X, y) for risk in ("global", "node"))
    assert not np.array_equal(one.regions_, other.regions_)


# -- the parts of growth


def test_the_basis_stays_orthonormal_and_refuses_what_it_has() -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(60, 30)) @ np.diag(10.0 ** -np.arange(30) / 3) + 1.0  # nearly parallel
    basis = Basis(columns[:, 0])
    for column in columns.T[1:]:
        basis.add(column)
    gram = basis.columns.T @ basis.columns
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-12)
    assert basis.add(basis.columns @ rng.normal(size=len(gram))) is None


@pytest.mark.parametrize("missing", [False, True])
def test_hard_and_soft_thresholds_reckon_the_same_of_exact_columns(missing: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=50).round(1)
    if missing:
        x[::7] = np.nan
    known = np.sort(np.unique(x[~np.isnan(x)]))
    law = FlatLaw(error_model("normal"), known, np.linspace(1 / len(known), 1, len(known)))
    at = candidate_thresholds(x, np.ones(50), 12)
    hard, soft = HardThresholds(law, x, at), SoftThresholds(law, x, np.zeros(50), at)
    v, basis, residuals = rng.normal(size=50), rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    for low in (-1, 0, 5):
        for one, other in zip(
            vars(hard.moments(v, low, len(at), basis, residuals)).values(),
            vars(soft.moments(v, low, len(at), basis, residuals)).values(),
            strict=True,
        ):
            np.testing.assert_allclose(one[low + 1 :], other[low + 1 :], atol=1e-12)
    for position in range(-1, len(at) + 1):
        np.testing.assert_array_equal(hard.below(position), soft.below(position))
    np.testing.assert_allclose(hard.sums(basis), soft.sums(basis), atol=1e-12)


def test_thresholds_that_are_not_kept_give_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] * (X[:, 1] > 0)
    expected = MeasuredTreeRegressor(0.2, max_candidates=None).fit(X, y)
    monkeypatch.setattr("hedgerow.measured.one_tree.threshold_columns._VALUES_KEPT", 10)
    monkeypatch.setattr("hedgerow.measured.one_tree.threshold_columns._VALUES_AT_ONCE", 1000)
    found = MeasuredTreeRegressor(0.2, max_candidates=None).fit(X, y)
    assert np.array_equal(found.regions_, expected.regions_)
    np.testing.assert_allclose(found.values_, expected.values_, rtol=1e-9)


@settings(max_examples=examples(28, 100), deadline=None)
@given(
    st.lists(st.sampled_from([np.nan, 0.0, 1.0, 1.0 + 2**-52, 2.0, -5.0, 1e300]), min_size=1, max_size=30),
    st.none() | st.integers(1, 8),
)
def test_candidates_part_neighbouring_values(values: list[float], at_most: int | None) -> None:
    x = np.array(values)
    at = candidate_thresholds(x, np.ones(len(x)), at_most)
    known = np.unique(x[~np.isnan(x)])
    assert (np.diff(at) > 0).all()
    assert len(at) == max(len(known) - 1, 0) if at_most is None else len(at) <= at_most
    between = np.searchsorted(known, at, side="right")
    assert ((between > 0) & (between < len(known))).all()
    assert len(set(between.tolist())) == len(at)


def test_sets_of_categories_are_the_best_of_all_sets() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, size=120).astype(float)
    y = rng.normal(size=6)[codes.astype(int)] + rng.normal(size=120) / 5
    column = Categories(CategoryLaw(np.full(6, 1 / 6)), codes, one_against_rest=False)
    root = np.full(120, 120**-0.5)
    residuals = (root * (y - y.mean()))[:, np.newaxis]
    moments = column.moments(root, root[:, np.newaxis], residuals)
    every = np.array([[code >> bit & 1 for bit in range(6)] for code in range(1, 32)], dtype=bool)

    def gains(sets: np.ndarray) -> np.ndarray:
        found = moments.of_sets(sets)
        return (found.residuals**2).sum(axis=1) / (found.norms - (found.basis**2).sum(axis=1))

    tried = column.candidate_sets(np.ones(6, dtype=bool), moments)
    assert len(tried) == 5
    assert gains(tried).max() == pytest.approx(gains(every).max())


def test_least_squares_is_equation_6_and_survives_regions_that_are_alike() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), size=50)
    targets, weight = rng.normal(size=(50, 2)), rng.uniform(0.1, 2, size=50)
    expected = np.linalg.solve(shares.T @ (weight[:, None] * shares), shares.T @ (weight[:, None] * targets))
    np.testing.assert_allclose(least_squares(shares, targets, weight), expected, atol=1e-10)
    twins = np.column_stack([shares[:, :3], shares[:, 3] / 2, shares[:, 3] / 2])
    found = least_squares(twins, targets, weight)
    np.testing.assert_allclose(twins @ found, shares @ expected, atol=1e-8)
    np.testing.assert_allclose(found[3], found[4])


@pytest.mark.parametrize("seed", range(5))
def test_costs_are_variances_of_what_a_column_does_not_tell(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 2 * (X[:, 1] > 0) * (X[:, 2] > 0)
    model = MeasuredTreeRegressor([0.5, 0.3, 0.0], max_leaf_nodes=6).fit(X, y)
    found = model.error_costs(X[:7])
    sigma = np.tile(model.sigma_, (7, 1))
    for j in range(3):
        expected = [oracles.error_cost(model.regions_, model.values_, model.laws_, X[i], sigma[i], j) for i in range(7)]
        assert found[j] == pytest.approx(np.mean(expected), abs=1e-12)
    assert found[2] == 0
    # With one column that has errors, knowing it is knowing all: the whole variance of the regions' values.
    alone = MeasuredTreeRegressor([0.5, 0.0, 0.0], max_leaf_nodes=6).fit(X, y)
    shares = alone.membership(X)
    whole = shares @ alone.values_**2 - (shares @ alone.values_) ** 2
    assert alone.error_costs(X)[0] == pytest.approx(whole.mean())
    assert error_costs(alone._regions, np.ones((6, 1)), alone._joint, X, np.zeros_like(X)).tolist() == [0, 0, 0]


# -- pruning


def noisy_step(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(n, 2))
    return latent + rng.normal(0, 0.1, size=latent.shape), 3.0 * (latent[:, 0] > 0.5) + rng.normal(size=n)


def test_pruning_keeps_what_is_worth_its_price() -> None:
    X, y = noisy_step(300, 0)
    grown = MeasuredTreeRegressor(0.1, max_leaf_nodes=20).fit(X, y)
    pruned = MeasuredTreeRegressor(0.1, max_leaf_nodes=20, pruning="cost_complexity").fit(X, y)
    assert 2 <= pruned.get_n_leaves() <= 5 < grown.get_n_leaves()
    X_new, _ = noisy_step(2000, 1)
    assert np.mean((pruned.predict(X_new) - grown.predict(X_new)) ** 2) > 0
    # All splits are worth a price of nothing, none is worth more than all that there is to explain.
    free, dear = (
        MeasuredTreeRegressor(0.1, max_leaf_nodes=20, pruning=CostComplexity(alpha)).fit(X, y) for alpha in (0, 1e3)
    )
    assert free.get_n_leaves() == 20
    assert dear.get_n_leaves() == 1
    assert dear.predict(X) == pytest.approx(y.mean())
    careful = MeasuredTreeRegressor(0.1, max_leaf_nodes=20, pruning=CostComplexity(standard_errors=1.0)).fit(X, y)
    assert careful.get_n_leaves() <= pruned.get_n_leaves()


def test_a_pruned_tree_is_the_tree_of_the_first_splits() -> None:
    X, y = noisy_step(200, 2)
    for n_leaves in (2, 4, 7):
        small = MeasuredTreeRegressor(0.1, max_leaf_nodes=n_leaves).fit(X, y)
        given = problem(X, np.full_like(X, 0.1), y, prior="normal")
        path = grow_path(given, GrowthSettings(12, 1.0, 64, "global", False))
        regions = path_regions(path, n_leaves - 1, 2, np.zeros(2, dtype=np.int32))[1]
        assert np.array_equal(regions.bounds, small.regions_)
        shares = region_membership(regions, given.laws, given.values, given.sigma)
        residual = given.targets - shares @ least_squares(shares, given.targets, given.fit_weight)
        assert path.risks[n_leaves - 1] == pytest.approx((residual**2).mean(), rel=1e-9)


def test_the_price_of_a_leaf_is_found_as_by_hand() -> None:
    risks = [10.0, 6.0, 5.5, 2.0, 1.9]
    assert prune._hull(np.array(risks)) == [0, 1, 3, 4]
    # Falls of 4 a leaf, 2 a leaf (two at once), 0.1 a leaf.
    assert prune._candidate_alphas(risks) == pytest.approx([0, np.sqrt(0.1 * 2), np.sqrt(2 * 4), 8])
    for alpha, size in [(0, 4), (0.05, 4), (0.11, 3), (1.9, 3), (2.1, 1), (3.9, 1), (4.1, 0)]:
        assert prune._best_size(risks, alpha) == size


def test_folds_do_not_depend_on_the_order_of_rows_and_keep_equal_rows_together() -> None:
    X, y = noisy_step(60, 0)
    X, y = np.vstack([X, X[:7]]), np.concatenate([y, y[:7]])
    given = problem(X, np.full_like(X, 0.1), y)
    parts = prune.assign_folds(given, 5)
    assert parts[:7].tolist() == parts[60:].tolist()
    order = np.random.default_rng(1).permutation(67)
    assert prune.assign_folds(given.take(order), 5).tolist() == parts[order].tolist()
    assert np.bincount(parts[:60]).tolist() == [12] * 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1}, "alpha is -1"),
        ({"alpha": "best"}, "alpha is 'best', must be 'cv' or a number"),
        ({"folds": 1}, "folds is 1"),
        ({"standard_errors": -0.5}, "standard_errors is -0.5"),
    ],
)
def test_pruning_checks_its_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostComplexity(**settings)


def test_measured_and_plain_trees_share_the_strategy() -> None:
    assert CostComplexity is pruning.CostComplexity


# -- what must hold whatever the data


@st.composite
def small_tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values with ties, missing ones and a nominal column, their errors, and targets."""
    n = draw(st.integers(1, 25))
    numbers = st.sampled_from([np.nan, -1.0, 0.0, 0.5, 0.5, 1.0, 3.0]) | st.floats(-2, 2, allow_subnormal=False)
    columns = [draw(st.lists(numbers, min_size=n, max_size=n)) for _ in range(2)]
    columns.append(draw(st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0]), min_size=n, max_size=n)))
    sizes = st.sampled_from([0.0, 0.1, 0.7])
    sigma = np.zeros((n, 3))
    for j in (0, 1):
        sigma[:, j] = draw(sizes) if draw(st.booleans()) else draw(st.lists(sizes, min_size=n, max_size=n))
    # In steps: targets that differ by less than a float64 can square are refused.
    targets = st.sampled_from([0.0, 1.0, 5.0]) | st.integers(-3072, 3072).map(lambda step: step / 1024)
    y = draw(st.lists(targets, min_size=n, max_size=n))
    return np.array(columns).T, sigma, np.array(y)


@settings(max_examples=examples(16, 60), deadline=None)
@given(
    small_tables(),
    st.sampled_from(["normal", "flat", "kde"]),
    st.sampled_from(["global", "node"]),
    st.sampled_from([2, 5, None]),
)
@pytest.mark.filterwarnings("ignore:column .* has a variance of")
def test_memberships_add_up_and_the_forest_is_valid(
    table: Any, kind: str, risk: str, max_leaf_nodes: int | None
) -> None:
    values, sigma, y = table
    model = MeasuredTreeRegressor(
        prior=kind, risk=risk, max_leaf_nodes=max_leaf_nodes, min_weight_leaf=1.5, categorical_features=[2]
    ).fit(values, y, X_err=sigma)
    model.forest_.check()
    shares = model.membership(values, X_err=sigma)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert shares.min() >= -1e-15
    assert shares.sum(axis=0).min() >= 1.5 - 1e-6 or len(model.values_) == 1
    np.testing.assert_array_equal(model.regions_, model.forest_.boxes())
    assert np.isfinite(model.predict(values, X_err=sigma)).all()
    # Least squares: residuals are orthogonal to the memberships, unless a region could not be told from others.
    residuals = y - model.predict(values, X_err=sigma)
    assert abs(residuals.sum()) < 1e-6 * (1 + np.abs(y).sum())


@settings(max_examples=examples(8, 30), deadline=None)
@given(small_tables(), st.integers(0, 2**32 - 1), st.sampled_from(["normal", "flat"]))
@pytest.mark.filterwarnings("ignore:column .* has a variance of")
def test_weights_are_copies_and_units_do_not_matter(table: Any, seed: int, kind: str) -> None:
    values, sigma, y = table
    rng = np.random.default_rng(seed)
    y = y + rng.normal(size=len(y)) / 100  # no ties between splits
    weight = rng.integers(0, 3, size=len(y))
    weight[0] = 2
    given = MeasuredTreeRegressor(prior=kind, max_leaf_nodes=4, max_candidates=None, categorical_features=[2])
    weighted = given.fit(values, y, sample_weight=weight, X_err=sigma).predict(values, X_err=sigma)
    copied = given.fit(
        *(np.repeat(array, weight, axis=0) for array in (values, y)), X_err=np.repeat(sigma, weight, axis=0)
    )
    known = weight > 0  # a category that only rows of weight 0 have is known in one, and new in the other
    np.testing.assert_allclose(copied.predict(values, X_err=sigma)[known], weighted[known], atol=1e-6)
    # In other units, inputs with their errors and targets, the answers are the same in other units.
    units = np.array([1000.0, 0.25, 1.0])
    scaled = given.fit(values * units, 10 * y, X_err=sigma * units, sample_weight=weight)
    np.testing.assert_allclose(scaled.predict(values * units, X_err=sigma * units), 10 * weighted, atol=1e-5)
