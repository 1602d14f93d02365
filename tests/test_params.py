"""Validators for parameters: what they accept, what they return, and what their errors say."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hedgerow._params import check_bool, check_choice, check_number, check_rows, check_whole, is_fraction, is_number
from hedgerow.folds.leaf_probability import MEstimate
from hedgerow.naive_bayes.likelihoods import Gaussian
from hedgerow.rules import Evidence, Probability


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (check_whole("n", np.int64(3), 1), 3),
        (check_whole("n", 255, 2, 255), 255),
        (check_number("x", 2), 2.0),
        (check_number("x", Fraction(1, 4), 0, 1), 0.25),
        (check_number("x", 0, closed="left"), 0.0),
        (check_number("x", 1, 0, 1, closed="right"), 1.0),
        (check_number("x", np.inf, closed="both"), np.inf),
        (check_rows("n", 5, 2, 100), 5),
        (check_rows("n", 0.251, 2, 100), 26),
        (check_rows("n", 1e-9, 2, 100), 2),
        (check_bool("b", np.True_), True),
        (check_choice("c", "two", ("one", "two")), "two"),
    ],
)
def test_valid_values_are_returned_as_python_values(found: Any, expected: Any) -> None:
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_whole("n", 1.0, 1), "n is 1.0, must be a whole number of at least 1"),
        (lambda: check_whole("n", True, 1, hint=", or x"), "n is True, must be a whole number of at least 1, or x"),
        (lambda: check_whole("n", 256, 2, 255), "n is 256, must be a whole number in 2 .. 255"),
        (lambda: check_number("x", 0), "x is 0, must be a positive number"),
        (lambda: check_number("x", np.inf), "x is inf, must be a positive number"),
        (lambda: check_number("x", np.nan, closed="both"), "x is nan, must be a number in [0, inf]"),
        (lambda: check_number("x", -1, closed="left"), "x is -1, must be a number of at least 0"),
        (lambda: check_number("x", 2, 2), "x is 2, must be a finite number above 2"),
        (lambda: check_number("x", 0.1, 0, 0.1, closed="left"), "x is 0.1, must be a number in [0, 0.1)"),
        (lambda: check_number("x", 0, 0, 1, closed="right"), "x is 0, must be a number in (0, 1]"),
        (lambda: check_number("x", "1", 0, 1, hint=", as 0.5"), "x is '1', must be a number in (0, 1), as 0.5"),
        (
            lambda: check_rows("n", 1, 2, 9),
            "n is 1, must be a whole number of at least 2 rows, or a fraction in (0, 1]",
        ),
        (lambda: check_bool("b", 1), "b is 1, must be True or False"),
        (lambda: check_choice("c", ["a"], ("a", "b")), "c is ['a'], must be one of 'a', 'b'"),
        (lambda: check_choice("c", 1, ("a", "b"), "'a' or 'b'"), "c is 1, must be 'a' or 'b'"),
    ],
)
def test_errors_give_the_parameter_its_value_and_the_fix(check: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check()


@pytest.mark.parametrize("strategy", [MEstimate, Gaussian, Evidence, Probability])
def test_true_is_no_number(strategy: type) -> None:
    with pytest.raises(ValueError, match="is True, must be a"):
        strategy(True)


@pytest.mark.parametrize(("value", "fraction", "number"), [(1.0, True, True), (1, False, True), (True, False, False)])
def test_counts_and_booleans_are_no_fractions(value: Any, fraction: bool, number: bool) -> None:
    assert (is_fraction(value), is_number(value)) == (fraction, number)
