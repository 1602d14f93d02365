"""Changed values lie in their cell, near its edge, within the range, and have few digits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.counterfactual.values import cells_of

_finite = st.floats(-1e6, 1e6)


@given(st.lists(_finite, min_size=1, max_size=6, unique=True), _finite, _finite, _finite)
def test_each_cell_is_entered_near_its_edge(thresholds: list[float], a: float, b: float, x: float) -> None:
    at, (low, high) = np.array(sorted(thresholds)), sorted((a, b))
    cells = cells_of(at, low, high, whole=False)
    upper, lower = np.append(at, np.inf), np.append(-np.inf, at)
    for found, edge in ((cells.from_below, lower), (cells.from_above, upper)):
        for i, value in enumerate(found.tolist()):
            least, most = max(lower[i], low), min(upper[i], high)
            if np.isnan(value):
                assert not lower[i] < most or not least <= most or upper[i] < low or np.nextafter(least, high) > most
                continue
            assert lower[i] < value <= upper[i]
            assert low <= value <= high
            if np.isfinite(edge[i]):
                nearest = np.clip(edge[i], low, high)
                # A twentieth of the cell, or the next number that there is.
                assert abs(value - nearest) <= 0.0500001 * (most - least) + 1e-9 * abs(value) + np.spacing(abs(nearest))
    values, home = cells.candidates(x, 0)
    assert values[home] == x
    assert (np.diff(values) > 0).all()
    assert (cells.candidates(x, 1)[0] >= x).all()
    assert (cells.candidates(x, -1)[0] <= x).all()


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True), st.integers(-20, 0), st.integers(1, 20))
def test_whole_columns_change_to_whole_numbers(halves: list[int], low: int, high: int) -> None:
    at = np.array(sorted(halves)) / 2
    for found in cells_of(at, low, high, whole=True)[1:]:
        known = found[~np.isnan(found)]
        assert (known == np.floor(known)).all()
        assert ((known >= low) & (known <= high)).all()


def test_values_have_few_digits() -> None:
    cells = cells_of(np.array([12.3456789, 14.87654321]), 0.0, 50.0, whole=False)
    assert cells.from_below.tolist()[1:] == [12.4, 15.0]
    assert cells.from_above.tolist()[:2] == [12.0, 14.8]
