"""Venn–Abers bounds agree with isotonic regression, refitted for every new row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.conformal import VennAbers
from hedgerow.conformal.venn_abers import merge
from oracles import conformal as oracle

rows = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=1, max_size=15)


@given(rows)
def test_bounds_are_those_of_isotonic_regression(given_rows):
    scores, events, weights = (np.array(column, dtype=float) for column in zip(*given_rows, strict=True))
    new = np.array([-1.0, 0.0, 0.5, 2.0, 2.5, 6.0, 7.0])
    found = VennAbers.of(scores, events, weights).bounds(new)
    expected = [oracle.venn_abers(scores, events, weights, one) for one in new]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(rows)
def test_bounds_contain_what_they_are_merged_to(given_rows):
    scores, events, weights = (np.array(column, dtype=float) for column in zip(*given_rows, strict=True))
    bounds = VennAbers.of(scores, events, weights).bounds(np.arange(-1, 8) / 1.0)
    merged = merge(bounds)
    assert (bounds[:, 0] <= bounds[:, 1]).all()
    assert ((bounds[:, 0] - 1e-12 <= merged) & (merged <= bounds[:, 1] + 1e-12)).all()
    assert (np.diff(bounds, axis=0) >= -1e-12).all()
