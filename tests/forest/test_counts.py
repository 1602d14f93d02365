from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone

import oracles
from hedgerow import CautiousForestClassifier, ForestClassifier, RandomTreesClassifier, rules
from hedgerow._core import number_rows
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.forest.counts import DistinctCounts
from hedgerow.walk import LeafTable, gather

Matrix = NDArray[np.float64]

# -- rows without repetitions

_NUMBERS = st.sampled_from((0.0, -0.0, 1.0, 2.0, math.nextafter(1, 2), 5e-324, 1e300))


@given(st.data(), st.integers(1, 3))
def test_rows_are_numbered_as_they_come(data: st.DataObject, n_columns: int) -> None:
    rows = np.array(data.draw(st.lists(st.lists(_NUMBERS, min_size=n_columns, max_size=n_columns), min_size=1)))
    bits, numbers = oracles.distinct_rows(rows)
    found = number_rows(rows, len(bits))
    assert found is not None
    assert [row.tobytes() for row in found[0]] == bits
    assert found[1].tolist() == numbers
    assert number_rows(rows, len(bits) - 1) is None


def test_thousands_of_rows_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 70, (20_000, 2)).astype(float)
    found = number_rows(rows, len(rows))
    assert found is not None
    assert len(found[0]) == len(np.unique(rows, axis=0)) > 4_000
    assert np.array_equal(found[0][found[1]], rows)


def test_counts_are_kept_as_they_are_where_few_leaves_share_theirs() -> None:
    counts = np.arange(8.0).reshape(4, 2)
    assert DistinctCounts.of(counts).row_of is None
    assert DistinctCounts.of(counts).counts is counts
    shared = DistinctCounts.of(np.ones((4, 2)))
    assert shared.row_of is not None
    assert (shared.counts.tolist(), shared.row_of.tolist()) == ([[1, 1]], [0] * 4)
    assert not shared.row_of.flags.writeable
    assert not shared.counts.flags.writeable


def test_part_has_the_counts_of_some_leaves() -> None:
    for counts in (np.arange(8.0).reshape(4, 2), np.repeat([[3.0, 1.0], [1.0, 0.0]], 8, axis=0)):
        table = LeafTable.by_counts(DistinctCounts.of(counts).part(1, 4))
        assert table.of_each_leaf.tolist() == counts[1:4].tolist()


# -- who uses them


def test_a_table_names_rows_that_it_has() -> None:
    with pytest.raises(ValueError, match="row_of holds 2, this table has 2 rows"):
        LeafTable.by_counts(DistinctCounts(np.ones((2, 2)), np.array([0, 2, 1], dtype=np.uint32)))
    wrong: Any = np.array([0, 1, 1])
    with pytest.raises(ValueError, match=r"row_of is int64 \(3,\), must be C-contiguous uint32, 1-D"):
        LeafTable.by_counts(DistinctCounts(np.ones((2, 2)), wrong))


def test_gather_wants_sums_of_all_leaves() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1, 0]), leaf([0, 2]))], 1)
    rows = np.array([[0.0], [1.0]])
    assert gather(forest, rows, LeafTable.by_counts(forest.distinct_counts)).tolist() == [[[1, 0]], [[0, 2]]]
    with pytest.raises(ValueError, match=r"a table has 3 rows, trees 0 .. 1 have 2 leaves"):
        gather(forest, rows, np.ones((3, 1)))
    for wrong in (LeafTable.of(np.ones((2, 1)), link="log"), LeafTable.of(np.ones((2, 1)), op="min")):
        with pytest.raises(ValueError, match="only sums without a link can be kept apart by tree"):
            gather(forest, rows, wrong)


def test_new_counts_are_told_apart_anew() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1, 0]), leaf([1, 0]))] * 8, 1)
    assert forest.distinct_counts.counts.tolist() == [[1, 0]]
    assert forest.with_counts(forest.counts + np.array([1, 2])).distinct_counts.counts.tolist() == [[2, 2]]


def problem(n_classes: int) -> tuple[Matrix, NDArray[np.int64], Matrix]:
    """Rows with holes, so that some reach several leaves."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 3)).round(1)
    y = rng.integers(0, n_classes, len(X))
    asked = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    return X, y, asked


def answers(model: Any, asked: Matrix) -> list[Any]:
    found = [model.predict_proba(asked), model.leaf_counts(asked)]
    for measure in ("entropy", "plausibility"):
        doubt = model.predict_uncertainty(asked, measure)
        found += [doubt.aleatoric, doubt.epistemic]
    if hasattr(model, "predict_set"):
        found += [model.predict_set(asked), model.predict_bounds(asked)]
    else:
        found += [rules.compare(model, asked)]
    return found


_MODELS: dict[str, Any] = {
    **{rule: RandomTreesClassifier(8, rule=rule, random_state=0) for rule in rules.names(beyond=True)},
    "forest": ForestClassifier(8, min_samples_split=2, random_state=0),  # small leaves, many of which are alike
    "sets": CautiousForestClassifier(n_estimators=8, random_state=0),
    "bounds": CautiousForestClassifier(n_estimators=8, aggregate="average", random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", _MODELS)
def test_answers_do_not_depend_on_shared_rows(name: str, n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, asked = problem(n_classes)
    model = clone(_MODELS[name])
    if hasattr(model, "predict_set"):
        model.set_params(class_prior=np.arange(1, n_classes + 1) / (3 if n_classes == 2 else 6))
    shared = answers(model.fit(X, y), asked)
    assert model.forest_.distinct_counts.row_of is not None
    monkeypatch.setattr(DistinctCounts, "of", classmethod(lambda cls, counts: cls(counts, None)))
    for ours, theirs in zip(shared, answers(model.fit(X, y), asked), strict=True):
        assert np.array_equal(ours, theirs)
