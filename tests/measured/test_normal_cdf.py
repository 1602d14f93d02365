"""The normal distribution function of the core against its series with many digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow._core import normal_cdf as core_normal_cdf
from hedgerow.measured.errors.error_model import normal_cdf
from oracles import measured as oracles


def relative_error(z: float) -> float:
    truth = oracles.normal_cdf(z)
    return abs(float((type(truth)(float(normal_cdf(np.array([z]))[0])) - truth) / truth))


@settings(max_examples=examples(82, 300), deadline=None)
@given(st.floats(-11.9, 11.9))
def test_it_is_right_to_the_last_digits(z: float) -> None:
    # Rounding of the value, of a table entry and of the sum: three halves of 2.2e-16, and as much again for erfc.
    assert relative_error(z) < 7e-16


@pytest.mark.parametrize("edge", [-8.5, -1 / 256, 0.0, 1 / 256, 3 / 256, 8.3, 8.5])
def test_it_is_right_on_both_sides_of_where_series_meet(edge: float) -> None:
    for z in (np.nextafter(edge, -9), edge, np.nextafter(edge, 9)):
        assert relative_error(float(z)) < 7e-16


def test_it_rises_and_its_halves_mirror_each_other() -> None:
    z = np.linspace(-40, 40, 800_001)
    below = normal_cdf(z)
    assert (np.diff(below) >= 0).all()
    np.testing.assert_array_equal(1 - normal_cdf(-np.abs(z)), normal_cdf(np.abs(z)))


def test_ends_and_shapes() -> None:
    z = np.array([[-np.inf, -1e308, -39.5], [np.inf, 1e308, np.nan], [0.0, -0.0, 9.0]])
    np.testing.assert_array_equal(normal_cdf(z), [[0, 0, 0], [1, 1, np.nan], [0.5, 0.5, 1]])
    np.testing.assert_array_equal(normal_cdf(z.T), normal_cdf(z).T)
    np.testing.assert_array_equal(normal_cdf(np.empty((0, 3))), np.empty((0, 3)))
    assert 0 < normal_cdf(np.array([-37.0]))[0] < 1e-298


def test_the_core_refuses_arrays_of_different_lengths() -> None:
    with pytest.raises(ValueError, match="z and out differ in length"):
        core_normal_cdf(np.zeros(3), np.zeros(2))
