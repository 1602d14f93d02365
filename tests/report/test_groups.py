"""Figures by group: which columns are offered, how rows are divided, and that the figures are those of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.data.columns import Column, Kind
from hedgerow.report.groups import compare_groups, groupings
from hedgerow.scoring.coverage import binomial_interval
from hedgerow.scoring.predictions import ClassPredictions, NumberPredictions, Trial

NAN = float("nan")


def trial_of(model: ClassPredictions | NumberPredictions) -> Trial:
    n = len(model.truth)
    return Trial(model, model, None, np.ones(n), np.arange(n))


def random_answers(n: int = 200) -> ClassPredictions:
    random = np.random.default_rng(0)
    truth, p = random.integers(0, 2, n), random.random(n)
    proba = np.column_stack([1 - p, p])
    sets = np.column_stack([p < 0.6, p > 0.4])
    return ClassPredictions(("no", "yes"), truth, (p > 0.5).astype(np.intp), proba, sets)


def test_shares_of_a_group_are_those_of_its_rows() -> None:
    model = random_answers()
    values = np.random.default_rng(1).choice(["a", "b", "c"], 200).tolist()
    found = compare_groups(trial_of(model), values, positive=1)
    counts = {name: values.count(name) for name in "abc"}
    assert [one["group"] for one in found] == sorted(counts, key=lambda name: -counts[name])
    for one in found:
        rows = [i for i, value in enumerate(values) if value == one["group"]]
        single = [i for i in rows if model.sets[i].sum() == 1]
        negative = [i for i in rows if model.truth[i] == 0]
        assert one["rows"] == len(rows)
        assert one["decided"]["count"] == len(single)
        assert one["accuracy_where_decided"]["count"] == sum(model.label[i] == model.truth[i] for i in single)
        assert one["set_accuracy"]["count"] == sum(model.sets[i, model.truth[i]] for i in rows)
        assert one["false_positive"]["count"] == sum(model.label[i] == 1 for i in negative)
        assert one["false_positive"]["rows"] == len(negative)
        expected = binomial_interval(one["decided"]["count"], len(rows))
        assert one["decided"]["interval"] == pytest.approx(expected, rel=1e-5)


def test_numbers_are_divided_at_quartiles_in_their_order_and_missing_values_apart() -> None:
    truth = np.arange(100.0)
    model = NumberPredictions(truth, truth + 1, np.column_stack([truth - 2, truth + 2]), 0.9)
    found = compare_groups(trial_of(model), [*range(96), None, NAN, None, NAN], positive=None)
    assert [one["rows"] for one in found] == [24, 24, 24, 24, 4]
    assert [one["group"] for one in found] == ["≤ 23.75", "23.75 to 47.5", "47.5 to 71.25", "> 71.25", "missing"]
    assert {one["bias"] for one in found} == {1}
    assert {one["coverage"]["value"] for one in found} == {1}


def test_few_numbers_are_groups_of_their_own_by_size() -> None:
    found = compare_groups(trial_of(random_answers(6)), [10.0, 9.0, 10.0, 10.0, NAN, 2.0], positive=1)
    assert [(one["group"], one["rows"]) for one in found] == [("2", 1), ("9", 1), ("10", 3), ("missing", 1)]


def test_columns_with_one_value_or_many_categories_are_not_offered() -> None:
    many = tuple(f"c{i}" for i in range(13))
    columns = [
        Column("constant", Kind.NUMERIC),
        Column("many", Kind.NOMINAL, many),
        Column("few", Kind.NOMINAL, ("x", "y")),
        Column("number", Kind.NUMERIC),
    ]
    rows = np.column_stack([np.ones(26), np.arange(26) % 13, np.arange(26) % 2, np.arange(26)]).astype(float)
    rows[0, 2] = NAN
    found = dict(groupings(rows, columns, np.array([3, 2, 1, 0])))
    assert list(found) == ["number", "few"]
    assert found["few"][:3] == [None, "y", "x"]
