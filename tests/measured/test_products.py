"""Products of candidate columns, shared, subtracted and updated, against the columns themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import daily_pairs, examples
from hedgerow._core import squared_lengths
from hedgerow.data.table import read_table
from hedgerow.measured.errors.error_model import error_model
from hedgerow.measured.laws.priors import learn_laws, prior
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.one_tree.grow import GrowthSettings, Path, grow_path
from hedgerow.measured.one_tree.scores import larger_part
from hedgerow.measured.one_tree.threshold_columns import (
    HardThresholds,
    Moments,
    MomentsRequest,
    SoftThresholds,
    ThresholdColumns,
    candidate_thresholds,
)
from hedgerow.measured.regions import GrowingRegion
from oracles import measured as oracles


def make_problem(seed: int, n: int, n_nominal: int = 0, sizes: Any = (0.4, 0.0, 0.2, 0.3)) -> Problem:
    """Measured and exact columns, a tenth of the values missing, weights and errors of y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(sizes)))
    y = 2.0 * (X[:, 0] > 0) + X[:, 1] * (X[:, 2] > 0.3) + rng.normal(size=n) / 3
    X[rng.random(X.shape) < 0.1] = np.nan
    nominal = rng.integers(0, 4, size=(n, n_nominal)).astype(float)
    values = np.column_stack([X, nominal])
    y += (nominal == 1).sum(axis=1)
    sigma = np.tile([*sizes, *[0.0] * n_nominal], (n, 1)) * rng.uniform(0.5, 1.5, size=(n, 1))
    table = read_table(values, categorical_features=list(range(len(sizes), values.shape[1])) or None)
    weight, precision = rng.uniform(0.5, 2.0, size=n), rng.uniform(0.2, 1.0, size=n)
    models = [error_model("normal")] * values.shape[1]
    laws = learn_laws(table.values, table.schema, sigma, weight, models, prior("normal"))
    features = np.arange(values.shape[1])
    return Problem(table.values, sigma, laws, features, weight, precision, y[:, np.newaxis])


def threshold_columns(given: Problem, n_candidates: int) -> ThresholdColumns:
    columns: dict[int, Any] = {}
    for j, law in enumerate(given.laws):
        x, sigma = given.values[:, j], given.sigma[:, j]
        at = candidate_thresholds(x, given.weight, n_candidates)
        columns[j] = SoftThresholds(law, x, sigma, at) if sigma.any() else HardThresholds(law, x, at)
    return ThresholdColumns(columns, len(given.values))


def region_after(columns: ThresholdColumns, splits: list[tuple[int, int, int]]) -> tuple[GrowingRegion, oracles.Box]:
    """A region, and its box, after splits given by column, position and part."""
    region = GrowingRegion.unbounded(len(columns.columns[0].below(0)))
    box = oracles.Box({}, {})
    for j, position, part in splits:
        column = columns.columns[j]
        region = region.split_at(column, column, j, position)[part]
        box = oracles.parts(box, j, float(column.at[position]))[part]
    return region, box


@settings(max_examples=examples(16, 60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(1, 40), st.booleans())
def test_squared_lengths_are_those_of_the_differences(seed: int, m: int, n: int, differences: bool) -> None:
    rng = np.random.default_rng(seed)
    columns, weight = rng.random((m, n)), rng.random(n) * (rng.random(n) < 0.8)
    start = rng.random(n) if differences else None
    out = np.empty(m)
    squared_lengths(columns, start, weight, out)
    expected = [
        sum(w * (c - s) ** 2 for w, c, s in zip(weight, column, start if differences else [0.0] * n, strict=True))
        for column in columns
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("shapes", [((2, 3), 3, 3, 1), ((2, 3), 3, 2, 2), ((2, 3), 2, 3, 2)])
def test_the_core_refuses_columns_of_different_lengths(shapes: Any) -> None:
    columns, start, weight, out = (np.zeros(shape) for shape in shapes)
    with pytest.raises(ValueError, match="columns, start, weight and out differ in length"):
        squared_lengths(columns, start, weight, out)


def test_a_column_without_information_may_be_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its law answers with one row that is repeated for all.
    given_ = make_problem(0, 40)
    laws = (replace(given_.laws[0], variance=0.0), *given_.laws[1:])
    given_ = replace(given_, laws=laws)
    limits = GrowthSettings(6, 2.0, 8, "global", False)
    kept = grow_path(given_, limits)
    monkeypatch.setattr("hedgerow.measured.one_tree.threshold_columns._VALUES_KEPT", 0)
    assert_same(grow_path(given_, limits), kept)
    columns = threshold_columns(given_, 8).columns[0]
    assert isinstance(columns, SoftThresholds)
    v = np.ones(40)
    assert columns.moments(v, 1, 7, v[:, np.newaxis], v[:, np.newaxis]).norms.shape == (8,)


SPLITS = [
    [],
    [(0, 4, 0)],
    [(0, 4, 1), (2, 3, 0)],
    [(0, 4, 1), (2, 3, 1), (0, 7, 0), (1, 2, 1)],
    [(0, 2, 1), (1, 6, 0), (3, 5, 1), (2, 1, 1), (3, 8, 0)],
]


@pytest.mark.parametrize(("n_others", "kept"), daily_pairs([0, 2, 5], [True, False]))
def test_moments_and_sums_are_products_of_the_columns(
    kept: bool, n_others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_ = make_problem(0, 60)
    if not kept:
        monkeypatch.setattr("hedgerow.measured.one_tree.threshold_columns._VALUES_KEPT", 0)
        monkeypatch.setattr("hedgerow.measured.one_tree.threshold_columns._VALUES_AT_ONCE", 200)
    columns = threshold_columns(given_, 10)
    rng = np.random.default_rng(1)
    root, basis, residuals = rng.random(60), np.asfortranarray(rng.normal(size=(60, 3))), rng.normal(size=(60, 2))
    direction = rng.normal(size=60)
    regions = [region_after(columns, splits) for splits in SPLITS]
    wanted = [MomentsRequest(region, basis, residuals) for region, _ in regions[1:4]]
    wanted.append(MomentsRequest(regions[4][0], basis[:, :0], residuals[:, :0]))
    others = [region for region, _ in regions[:n_others]]
    moments, sums = columns.moments_and_sums(root, wanted, others, direction)
    assert sums.shape == (n_others, len(columns))

    def column(box: oracles.Box, j: int, at: float) -> Any:
        return root * oracles.shares(oracles.parts(box, j, at)[0], given_.laws, given_.values, given_.sigma)

    compared = 0
    for i, (region, box) in enumerate(regions):
        for candidate in np.flatnonzero(columns.inside(region)):
            j, position = columns.locate(int(candidate))
            c = column(box, j, float(columns.columns[j].at[position]))
            if i < n_others:
                assert sums[i, candidate] == pytest.approx(c @ direction, abs=1e-12)
            if i > 0:
                found = moments[i - 1]
                assert found.norms[candidate] == pytest.approx(c @ c, abs=1e-12)
                if i < 4:
                    np.testing.assert_allclose(found.basis[candidate], c @ basis, atol=1e-12)
                    np.testing.assert_allclose(found.residuals[candidate], c @ residuals, atol=1e-12)
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("larger", [0, 1])
@pytest.mark.parametrize("before", SPLITS)
@pytest.mark.parametrize("j", [0, 1, 3])
def test_subtraction_gives_the_moments_of_the_larger_part(before: list[Any], larger: int, j: int) -> None:
    given_ = make_problem(2, 50)
    columns = threshold_columns(given_, 12)
    rng = np.random.default_rng(3)
    root, basis, residuals = rng.random(50), np.asfortranarray(rng.normal(size=(50, 3))), rng.normal(size=(50, 2))
    region, _ = region_after(columns, before)
    low, high = region.limits.get(j, (-1, len(columns.columns[j].at)))
    position = (low + high) // 2
    parts = region.split_at(columns.columns[j], columns.columns[j], j, position)
    parent, *direct = columns.moments(root, [MomentsRequest(one, basis, residuals) for one in (region, *parts)])
    found = larger_part(
        (parent.basis, parent.residuals),
        direct[1 - larger],
        direct[larger].norms,
        columns.parts[j],
        position,
        larger == 1,
    )
    inside = columns.inside(parts[larger])
    assert inside.any()
    for one, other in zip(vars(found).values(), vars(direct[larger]).values(), strict=True):
        np.testing.assert_allclose(one[inside], other[inside], atol=1e-13)


def test_parts_by_a_nominal_column_add_up_too() -> None:
    rng = np.random.default_rng(0)
    whole, part = ((rng.normal(size=(6, 3)), rng.normal(size=(6, 2))) for _ in range(2))
    smaller = Moments(np.zeros(6), *part)
    found = larger_part(whole, smaller, np.ones(6), slice(0, 0), 0, True)
    np.testing.assert_array_equal(found.basis, whole[0] - part[0])
    np.testing.assert_array_equal(found.residuals, whole[1] - part[1])


# -- growth with and without subtraction


def assert_same(one: Path, other: Path) -> None:
    assert one.divided == other.divided
    np.testing.assert_allclose(one.risks, other.risks, rtol=1e-11)
    for a, b in zip(one.splits, other.splits, strict=True):
        assert (a.feature, a.members is None) == (b.feature, b.members is None)
        if a.members is None or b.members is None:
            assert a.threshold == b.threshold
        else:
            np.testing.assert_array_equal(a.members, b.members)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("name", "value"), [("_VALUES_REMEMBERED", 0), ("LEAST_LENGTH", 2.0), ("LEAST_LENGTH", 0.9)])
def test_long_growth_is_the_same_with_less_subtraction(
    seed: int, name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_ = make_problem(seed, examples(250, 400), n_nominal=1)
    limits = GrowthSettings(40, 2.0, 32, "global", seed % 2 == 0)
    expected = grow_path(given_, limits)
    assert len(expected.splits) > 15
    monkeypatch.setattr(f"hedgerow.measured.one_tree.candidates.{name}", value)
    assert_same(grow_path(given_, limits), expected)


def test_parts_of_next_to_no_weight_lose_no_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = make_problem(5, 300, sizes=(0.0, 0.3, 0.3, 0.3))
    values = np.nan_to_num(given_.values)
    light = values[:, 0] > 0
    targets = given_.targets * np.where(light, 1e8, 1.0)[:, np.newaxis]
    given_ = replace(given_, values=values, precision=np.where(light, 1e-16, 1.0), targets=targets)
    limits = GrowthSettings(16, 5.0, 16, "global", False)
    expected = grow_path(given_, limits)
    assert len(expected.splits) == 15
    monkeypatch.setattr("hedgerow.measured.one_tree.candidates._VALUES_REMEMBERED", 0)
    assert_same(grow_path(given_, limits), expected)


@settings(max_examples=examples(11, 40), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(2, 12), st.sampled_from([0.5, 1.0, 3.0]))
@pytest.mark.filterwarnings("ignore:column .* has a variance of")
def test_odd_tables_grow_the_same_without_subtraction(seed: int, n: int, leaves: int, least: float) -> None:
    given_ = make_problem(seed, n, n_nominal=seed % 2)
    limits = GrowthSettings(leaves, least, 8, "global", False)
    expected = grow_path(given_, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hedgerow.measured.one_tree.candidates._VALUES_REMEMBERED", 0)
        assert_same(grow_path(given_, limits), expected)
