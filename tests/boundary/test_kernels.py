"""Kernel shares: against sums over all rows one by one, SciPy's densities, and limits far away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from effort import examples
from hedgerow.boundary.bandwidths import Absolute, CrossValidated, Relative, bandwidth
from hedgerow.boundary.kernels import KernelSample, check_tolerance, kernel
from hedgerow.boundary.positions import Axes
from hedgerow.boundary.scales import MinMax, Standard, metric
from hedgerow.data.table import read_table
from oracles import boundary as truth

KERNELS = list(truth.KERNELS)
several = settings(max_examples=examples(16, 60), deadline=None)


def sample_of(points: Any, weights: Any, width: Any, group: Any = None) -> KernelSample:
    points = np.asarray(points, dtype=float).reshape(len(weights), -1)
    group = np.zeros(len(points), dtype=np.int64) if group is None else group
    n_groups = int(group.max()) + 1
    ordered = KernelSample.of(group, n_groups, points, np.asarray(weights, dtype=float))
    widths = np.tile(np.asarray(width, dtype=float), (n_groups, 1)).reshape(n_groups, points.shape[1])
    return KernelSample(ordered.start, ordered.points, ordered.weights, widths)


def shares(sample: KernelSample, name: str, places: Any, tolerance: float = 1e-6, **more: Any) -> Any:
    places = np.asarray(places, dtype=float).reshape(len(places), -1)
    group = more.pop("group", np.zeros(len(places), dtype=np.int64))
    return sample.shares(name, group, places, tolerance, more.pop("n_jobs", None), **more)


_numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, 7.0]) | st.floats(-50, 50)


@several
@given(st.data(), st.sampled_from(KERNELS), st.sampled_from([1, 2]))
def test_small_samples_are_summed_one_by_one(data: Any, name: str, n_dims: int) -> None:
    row = st.lists(_numbers, min_size=n_dims, max_size=n_dims)
    points = np.array(data.draw(st.lists(row, min_size=1, max_size=12)))
    inside = np.array(data.draw(st.lists(st.booleans(), min_size=len(points), max_size=len(points))))
    amount = np.array(data.draw(st.lists(st.floats(0.01, 5), min_size=len(points), max_size=len(points))))
    weights = amount[:, None] * np.stack([inside, ~inside], axis=1)
    width = np.array(data.draw(st.lists(st.sampled_from([0.1, 1.0, 8.0]), min_size=n_dims, max_size=n_dims)))
    places = np.array(data.draw(st.lists(row, min_size=1, max_size=4)))
    sample = sample_of(points, weights, width)
    left_out = np.array([data.draw(st.integers(-1, len(points) - 1)) for _ in places], dtype=np.int64)
    found = shares(sample, name, places, left_out=left_out)
    for place, skipped, one in zip(places, left_out, found, strict=True):
        expected = truth.share(name, sample.points, sample.weights, width, place, None if skipped < 0 else int(skipped))
        if name != "gaussian" and math.isclose(one, expected, abs_tol=1e-9) is False:
            # At the very edge of a kernel rounding decides.
            edge = np.abs(np.abs((place - sample.points) / width) - 1).min()
            assert edge < 1e-9 or (math.isnan(one) and math.isnan(expected))
            continue
        np.testing.assert_allclose(one, expected, atol=1e-9)


def large_sample(n: int = 3000, seed: int = 0, clumps: bool = True) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=n)
    if clumps:
        points[: n // 3] = np.round(points[: n // 3], 1)
        points[-5:] = [-40, -39, 30, 31, 80]
    inside = rng.random(n) < 1 / (1 + np.exp(-3 * points))
    return points, rng.uniform(0.1, 2, size=n)[:, None] * np.stack([inside, ~inside], axis=1)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("width", [0.003, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-12])
def test_large_samples_keep_the_bound_of_their_error(name: str, width: float, tolerance: float) -> None:
    points, weights = large_sample()
    sample = sample_of(points, weights, [width])
    places = np.concatenate([np.linspace(-45, 85, 60), np.linspace(-3, 3, 60), points[:20]])
    exact = shares(sample, name, places, tolerance=0.0)
    fast = shares(sample, name, places, tolerance=tolerance)
    # Two sums, each with a relative error of at most t: their quotient has at most 2t/(1 - t); and rounding.
    bound = 2 * tolerance / (1 - tolerance) + 1e-11
    assert (np.abs(fast - exact) <= bound * exact + 1e-300).all()
    assert (np.abs((1 - fast) - (1 - exact)) <= bound * (1 - exact) + 1e-15).all()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("width", [0.023, 0.23, 5.3])  # no two rounded points are that far apart
def test_rows_left_out_of_large_samples(name: str, width: float) -> None:
    points, weights = large_sample(600)
    sample = sample_of(points, weights, [width])
    rows = np.concatenate([np.arange(0, 600, 20), [597, 598, 599]]).astype(np.int64)
    found = shares(sample, name, sample.points[rows], left_out=rows)
    one_by_one = shares(sample, name, sample.points[rows], left_out=rows, tolerance=0.0)
    expected = [truth.share(name, sample.points, sample.weights, np.array([width]), sample.points[i], i) for i in rows]
    np.testing.assert_allclose(one_by_one, expected, atol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-12)
    np.testing.assert_allclose(1 - found, 1 - np.array(expected), rtol=2e-6, atol=1e-12)


@pytest.mark.parametrize("n", [100, 2000])
def test_gaussian_sums_are_scipys_densities(n: int) -> None:
    points, weights = large_sample(n, clumps=False)
    inside = weights[:, 0] > 0
    amount, h = weights.sum(axis=1), 0.3
    places = np.linspace(-3, 3, 41)

    def density(some: Any) -> Any:
        wanted = gaussian_kde(points[some], bw_method="scott", weights=amount[some])
        wanted = gaussian_kde(
            points[some], bw_method=h / math.sqrt(float(wanted.covariance[0, 0])) * wanted.factor, weights=amount[some]
        )
        return wanted(places)

    prior = amount[inside].sum() / amount.sum()
    expected = density(inside) * prior / density(np.ones(n, dtype=bool))  # equation 2
    np.testing.assert_allclose(shares(sample_of(points, weights, [h]), "gaussian", places), expected, rtol=3e-6)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [10, 1000])
def test_far_from_all_rows_the_nearest_decide(name: str, n: int) -> None:
    points = np.linspace(0, 1, n)
    weights = np.tile([0.0, 1.0], (n, 1))
    weights[-1] = [1.0, 0.0]
    sample = sample_of(points, weights, [0.01])
    # 1/999 apart and 1e9 away, in units of 0.01: e^(-1e9) to one.
    np.testing.assert_allclose(shares(sample, name, [1e6, -1e6]), [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_threads_and_the_number_of_places_change_no_bit(name: str) -> None:
    points, weights = large_sample(1500)
    group = (np.arange(1500) % 3).astype(np.int64)
    sample = sample_of(points, weights, [0.1], group)
    places, of_place = np.linspace(-4, 4, 400), (np.arange(400) % 3).astype(np.int64)
    expected = shares(sample, name, places, group=of_place)
    for n_jobs in (2, 3):
        assert shares(sample, name, places, group=of_place, n_jobs=n_jobs).tobytes() == expected.tobytes()
    alone = [shares(sample, name, places[i : i + 1], group=of_place[i : i + 1])[0] for i in range(0, 400, 37)]
    assert alone == expected[::37].tolist()


def test_a_group_that_is_empty_without_its_row_has_no_share() -> None:
    sample = sample_of([1.0], [[1.0, 0.0]], [1.0])
    assert math.isnan(shares(sample, "gaussian", [1.0], left_out=np.zeros(1, dtype=np.int64))[0])


def test_samples_that_make_no_sense_are_refused() -> None:
    good = sample_of([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], [1.0])
    parts = {name: getattr(good, name) for name in ("start", "points", "weights", "bandwidth")}
    for name, wrong in (
        ("start", np.array([0, 3])),
        ("points", good.points[::-1].copy()),
        ("points", good.points * np.nan),
        ("weights", -good.weights),
        ("weights", good.weights[:1]),
        ("bandwidth", 0 * good.bandwidth),
    ):
        with pytest.raises(ValueError, match="kernel sample"):
            KernelSample(**{**parts, name: wrong})


# -- scales


def test_scales_of_columns() -> None:
    frame = pd.DataFrame(
        {
            "number": [1.0, 2.0, 4.0, np.nan],
            "constant": [3.0] * 4,
            "grade": pd.Categorical(["low", "mid", "top", "low"], categories=["low", "mid", "top"], ordered=True),
            "colour": ["red", "blue", "red", None],
            "huge": [-1e308, 1e308, 0.0, 1e308],
            "nothing": [np.nan] * 4,
        }
    )
    table = read_table(frame)
    rows, weight = np.ascontiguousarray(table.values), np.array([1.0, 2.0, 1.0, 1.0])
    number = np.array([1.0, 2.0, 2.0, 4.0]).std()
    grade = np.array([0, 1, 1, 2, 0]).std()
    found = metric("standard").scale(rows, weight, table.schema)
    np.testing.assert_allclose(found[[0, 1, 2, 3, 5]], [number, 1, grade, 1, 1])
    np.testing.assert_allclose(found[4], 0.8e308)
    found = MinMax(nominal_weight=0.5).scale(rows, weight, table.schema)
    np.testing.assert_allclose(found[[0, 1, 2, 3, 5]], [3, 1, 2, 2, 1])
    assert np.isfinite(found[4])
    own = {"number": 1, "constant": 2, "grade": 3, "colour": 4, "huge": 5, "nothing": 6}
    assert metric(own).scale(rows, weight, table.schema).tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="metric names other columns than X has: size; give one scale for each of"):
        metric({**own, "size": 1}).scale(rows, weight, table.schema)
    with pytest.raises(ValueError, match=r"metric\[1\] \(column 'constant'\) is 0.0, must be a positive number"):
        metric([1, 0, 1, 1, 1, 1]).scale(rows, weight, table.schema)
    with pytest.raises(ValueError, match=r"metric has shape \(2,\), must have one number for each of 6 columns"):
        metric(np.ones(2)).scale(rows, weight, table.schema)


@pytest.mark.parametrize("kind", [Standard, MinMax])
@pytest.mark.parametrize("weight", [0, -1.0, math.inf, "1", True])
def test_weights_of_categories_are_positive(kind: Any, weight: Any) -> None:
    with pytest.raises(ValueError, match=r"nominal_weight is .*, must be a positive number"):
        kind(nominal_weight=weight)


# -- bandwidths and positions


def test_bandwidths() -> None:
    ranges = np.array([[2.0], [4.0]])

    def liking(width: float) -> Any:
        return lambda widths: -abs(float(widths[0, 0]) - width)

    np.testing.assert_allclose(bandwidth(0.1)(ranges, liking(0)), [[0.2], [0.4]])
    np.testing.assert_allclose(bandwidth(Absolute(0.3))(ranges, liking(0)), [[0.3], [0.3]])
    np.testing.assert_allclose(bandwidth("cv")(ranges, liking(0.12)), [[0.1], [0.2]])
    np.testing.assert_allclose(CrossValidated((0.2, 0.4))(ranges, lambda widths: 0.0), [[0.8], [1.6]])
    assert bandwidth(0.2) == Relative(0.2)


@pytest.mark.parametrize("wrong", [0, -0.1, math.nan, math.inf])
def test_bandwidths_are_positive(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"bandwidth is .*, must be a positive number"):
        bandwidth(wrong)
    with pytest.raises(ValueError, match=r"width is .*, must be a positive number"):
        Absolute(wrong)
    with pytest.raises(ValueError, match=r"fractions holds .*, must be a positive number"):
        CrossValidated((wrong,))


@pytest.mark.parametrize("wrong", ["scott", True, None, [0.1]])
def test_unknown_bandwidths_are_refused(wrong: Any) -> None:
    with pytest.raises(
        ValueError, match=r"bandwidth is .*, must be one of 'held_out', 'cv', or an instance: .*Absolute\(\.\.\.\)"
    ):
        bandwidth(wrong)


def test_kernels_and_tolerances() -> None:
    with pytest.raises(ValueError, match="kernel is 'cosine', must be one of 'gaussian', 'box', 'epanechnikov'"):
        kernel("cosine")
    for wrong in (-1e-9, 0.1, math.nan, "0", True):
        with pytest.raises(ValueError, match=r"tolerance is .*, must be a number in \[0, 0.1\)"):
            check_tolerance(wrong)


def test_positions_run_along_the_direction_of_most_variance() -> None:
    rng = np.random.default_rng(0)
    along = rng.normal(size=50)
    points = np.stack([np.full(50, 2.0), 3 * along, along], axis=1)
    group = np.zeros(50, dtype=np.int64)
    axes = Axes.of(points, np.ones(50), group, 2)
    np.testing.assert_allclose(axes.direction[0], np.array([0, 3, 1]) / math.sqrt(10), atol=1e-12)
    np.testing.assert_allclose(axes.positions(points, group), (along - along.mean()) * math.sqrt(10))
    points[0, 1] = math.nan  # does not tell where it is there
    assert np.isfinite(axes.positions(points, group)).all()
    assert not axes.direction[1].any()
