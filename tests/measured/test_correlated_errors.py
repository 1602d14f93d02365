"""Errors that are correlated between the columns of a row: probabilities of boxes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hedgerow.measured import membership
from hedgerow.measured.laws.boxes import box_probabilities, correlated_posterior

Floats = Any


def boxes_of_grid(at: list[list[float]]) -> Floats:
    """All boxes between the given thresholds of each column."""
    sides = [list(zip([-np.inf, *one], [*one, np.inf], strict=True)) for one in at]
    return np.array(list(product(*sides)))


def literal(box: Floats, centre: Floats, covariance: Floats) -> float:
    """P(lower < U ≤ upper) from scipy's distribution function at all corners."""
    law = stats.multivariate_normal(centre, covariance, allow_singular=True, abseps=1e-10, releps=1e-10)
    total = 0.0
    for corner in product((0, 1), repeat=len(box)):
        at = np.array([box[j, side] for j, side in enumerate(corner)])
        if not (at == -np.inf).any():
            sign = (-1) ** (len(box) - sum(corner))
            total += sign * float(law.cdf(np.where(np.isinf(at), centre + 50 * np.sqrt(np.diag(covariance)), at)))
    return total


@settings(max_examples=40, deadline=None)
@given(rho=st.floats(-0.999, 0.999), h=st.floats(-6, 6), k=st.floats(-6, 6), scale=st.floats(0.1, 10))
def test_two_columns_are_exact(rho: float, h: float, k: float, scale: float) -> None:
    covariance = np.array([[1.0, rho * scale], [rho * scale, scale**2]])
    boxes = boxes_of_grid([[h, h + 1], [k]])
    found = box_probabilities(boxes, np.zeros((1, 2)), covariance[np.newaxis])[0]
    expected = [literal(box, np.zeros(2), covariance) for box in boxes]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("d", [3, 4, 6])
def test_more_columns_are_within_the_stated_error(d: int) -> None:
    rng = np.random.default_rng(d)
    factor = rng.normal(size=(d, d))
    covariance = factor @ factor.T + 0.1 * np.eye(d)
    centre = rng.normal(size=d)
    boxes = boxes_of_grid([[0.0]] * d)
    found = box_probabilities(boxes, centre[np.newaxis], covariance[np.newaxis])[0]
    drawn = rng.multivariate_normal(centre, covariance, size=400_000)
    inside = ((boxes[:, np.newaxis, :, 0] < drawn) & (drawn <= boxes[:, np.newaxis, :, 1])).all(axis=2).mean(axis=1)
    error = np.sqrt(inside * (1 - inside) / len(drawn))
    assert np.sqrt(np.mean((found - inside) ** 2)) < 0.001 + np.sqrt(np.mean(error**2))
    assert (np.abs(found - inside) < 0.004 + 4 * error).all()
    assert found.sum() == pytest.approx(1.0, abs=0.005)


def test_independent_errors_are_those_of_sigma() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) * [1.0, 2.0, 3.0]
    boxes = boxes_of_grid([[0.0, 0.5], [0.2], [-1.0]])
    for prior in ("flat", "normal"):
        expected = membership(boxes, X, sigma=[0.5, 0.0, 1.0], prior=prior)
        found = membership(boxes, X, covariance=np.diag([0.25, 0.0, 1.0]), prior=prior)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_posterior_is_that_of_the_joint_normal_law() -> None:
    rng = np.random.default_rng(1)
    sigma = np.array([[1.0, 0.7], [0.7, 2.0]])
    variance, mean = np.array([2.0, 0.5]), np.array([1.0, -1.0])
    x = np.array([[3.0, 0.0]])
    centre, spread = correlated_posterior(x, sigma[np.newaxis], mean, variance)
    precision = np.linalg.inv(sigma) + np.diag(1 / variance)
    np.testing.assert_allclose(spread[0], np.linalg.inv(precision))
    np.testing.assert_allclose(
        centre[0], np.linalg.solve(precision, np.linalg.solve(sigma, x[0]) + mean / variance), atol=1e-12
    )
    draws = mean + np.sqrt(variance) * rng.normal(size=(400_000, 2))
    near = np.abs(draws + rng.multivariate_normal([0, 0], sigma, size=len(draws)) - x).max(axis=1) < 0.1
    np.testing.assert_allclose(draws[near].mean(axis=0), centre[0], atol=0.1)


def test_rows_have_errors_of_their_own() -> None:
    quarter = [[[-np.inf, 0.0], [-np.inf, 0.0]]]
    X = np.zeros((3, 2))
    matrices = np.array([[[1.0, rho], [rho, 1.0]] for rho in (-1.0, 0.5, 1.0)])
    found = membership(quarter, X, covariance=matrices)[:, 0]
    np.testing.assert_allclose(found, [0.0, 0.25 + np.arcsin(0.5) / (2 * np.pi), 0.5], atol=1e-7)


@pytest.mark.parametrize(
    ("covariance", "given_too", "message"),
    [
        (np.eye(3), {}, r"covariance has shape \(3, 3\), must be \(2, 2\) or \(4, 2, 2\)"),
        ([[1.0, 2.0], [2.0, 1.0]], {}, "covariance is not positive: its least eigenvalue is -1"),
        (np.stack([np.eye(2), np.eye(2), -np.eye(2), np.eye(2)]), {}, "covariance of row 2 is not positive"),
        ([[1.0, 0.5], [0.2, 1.0]], {}, "covariance is not symmetric"),
        ([[np.nan, 0.0], [0.0, 1.0]], {}, "covariance must be finite"),
        ("wide", {}, "covariance has shape"),
        (np.eye(2), {"sigma": 0.1}, "leave sigma, error_model and X_err out"),
        (np.eye(2), {"error_model": "laplace"}, "leave sigma, error_model and X_err out"),
        (np.eye(2), {"prior": "kde"}, "prior is 'kde', must be 'flat' or 'normal'"),
    ],
)
def test_covariances_are_checked(covariance: Any, given_too: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        membership([[[0.0, 1.0], [0.0, 1.0]]], np.zeros((4, 2)), covariance=covariance, **given_too)
    assert "\n" not in str(error.value)


def test_missing_values_have_no_covariance() -> None:
    with pytest.raises(ValueError, match="X has a missing value in row 1"):
        membership([[[0.0, 1.0]]], [[0.0], [np.nan]], covariance=[[1.0]])
