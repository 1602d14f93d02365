from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from hedgerow.data.targets import read_labels, read_targets, read_weights

X = np.zeros((4, 1))


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["b", "a", "b", "c"], ["a", "b", "c"], [1, 0, 1, 2]),
        ([3, 1, 3, 2], [1, 2, 3], [2, 0, 2, 1]),
        ([True, False, True, True], [False, True], [1, 0, 1, 1]),
        ([1.0, 0.0, 1.0, 0.0], [0.0, 1.0], [1, 0, 1, 0]),
        (np.array(["b", "a", "b", "c"], dtype=object), ["a", "b", "c"], [1, 0, 1, 2]),
        (pd.Series(["b", "a", "b", "c"]), ["a", "b", "c"], [1, 0, 1, 2]),
        (pd.Series(["b", "a", "b", "c"], dtype="category"), ["a", "b", "c"], [1, 0, 1, 2]),
        (pd.Series([3, 1, 3, 2], dtype="Int64"), [1, 2, 3], [2, 0, 2, 1]),
        (pd.Series(["b", "a", "b", "c"], dtype="string"), ["a", "b", "c"], [1, 0, 1, 2]),
        (pl.Series(["b", "a", "b", "c"]), ["a", "b", "c"], [1, 0, 1, 2]),
        ([7, 7, 7, 7], [7], [0, 0, 0, 0]),
    ],
)
def test_labels_of_any_ordered_type_become_codes(y: Any, classes: list[Any], codes: list[int]) -> None:
    labels = read_labels(y, X)
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes
    assert labels.codes.dtype == np.int32


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, np.nan, 1.0],
        np.array(["a", "b", None, "a"], dtype=object),
        np.array([0, 1, np.nan, 1], dtype=object),
        pd.Series(["a", "b", None, "a"]),
        pd.Series([0, 1, None, 1], dtype="Int64"),
        pd.Series([True, False, None, True], dtype="boolean"),
        pd.Series(["a", "b", None, "a"], dtype="category"),
        pd.Series(["a", "b", None, "a"], dtype="string"),
        np.array(["2024-01-01", "2024-01-02", "NaT", "2024-01-01"], dtype="datetime64[D]"),
        pl.Series([0, 1, None, 1]),
        pl.Series(["a", "b", None, "a"]),
    ],
)
def test_a_row_without_label_is_named(y: Any) -> None:
    with pytest.raises(ValueError, match="Input y contains NaN: row 2 has no label"):
        read_labels(y, X)


@pytest.mark.parametrize("n_classes", [30, 16, 15, 2])
def test_whole_numbers_are_warned_of_as_scikit_learn_does(n_classes: int) -> None:
    y = np.arange(30) % n_classes

    def warned(read: Callable[[], object]) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read()
        return [str(one.message) for one in caught]

    assert warned(lambda: read_labels(y, np.zeros((30, 1)))) == warned(lambda: check_classification_targets(y))


def test_numbers_that_are_no_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        read_labels([0.5, 1.25, 2.5, 1.5], X)


@pytest.mark.parametrize("read", [read_labels, read_targets])
def test_y_has_as_many_rows_as_x(read: Any) -> None:
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[4, 3\]"):
        read([0, 1, 0], X)


@pytest.mark.parametrize("read", [read_labels, read_targets])
def test_y_is_needed(read: Any) -> None:
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        read(None, X)


@pytest.mark.parametrize("read", [read_labels, read_targets])
def test_several_columns_of_y_are_refused(read: Any) -> None:
    with pytest.raises(ValueError, match="y should be a 1d array"):
        read([[0, 1], [1, 0], [0, 0], [1, 1]], X)


@pytest.mark.parametrize("read", [read_labels, read_targets])
def test_one_column_of_y_is_taken_with_a_warning(read: Any) -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        read([[0], [1], [0], [1]], X)


@pytest.mark.parametrize("y", [[1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], pl.Series([1, 2, 3, 4]), ["1", "2", "3", "4"]])
def test_targets_become_floats(y: Any) -> None:
    targets = read_targets(y, X)
    assert targets.dtype == np.float64
    assert targets.tolist() == [1, 2, 3, 4]
    assert targets.flags.c_contiguous


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, np.nan, 3, 4], "Input y contains NaN: row 1 is nan"),
        ([1, None, 3, 4], "Input y contains NaN: row 1 is nan"),
        ([1, 2, np.inf, 4], "Input y contains infinity: row 2 is inf"),
        ([-np.inf, 2, np.nan, 4], "Input y contains infinity: row 0 is -inf"),
        (pd.Series([1, None, 3, 4], dtype="Int64"), "Input y contains NaN: row 1 is nan"),
        (pl.Series([1, None, 3, 4]), "Input y contains NaN: row 1 is nan"),
    ],
)
def test_targets_that_are_no_finite_numbers_are_named(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_targets(y, X)


@pytest.mark.parametrize(
    ("y", "said"),
    [(["a", "b", "c", "d"], "'a' in row 0"), (np.array([1, None, "x", 2], dtype=object), "'x' in row 2")],
)
def test_text_is_no_target(y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^y has {said}, and regression needs numbers: drop the row, or use a class"):
        read_targets(y, X)


def test_without_weights_every_row_weighs_one() -> None:
    assert read_weights(None, X).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("weight", [[1, 2, 0, 4], np.array([1, 2, 0, 4], dtype=np.float32), pl.Series([1, 2, 0, 4])])
def test_weights_become_floats(weight: Any) -> None:
    found = read_weights(weight, X)
    assert found.dtype == np.float64
    assert found.tolist() == [1, 2, 0, 4]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, -0.5, 1], "sample_weight of row 2 is -0.5: weights must not be negative"),
        ([0, 0, 0, 0], "sample_weight is zero in every row"),
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
        ([[1], [1], [1], [1]], "Sample weights must be 1D array"),
        ([1, np.nan, 1, 1], "Input sample_weight contains NaN"),
        ([1, np.inf, 1, 1], "Input sample_weight contains infinity"),
        (["a", "b", "c", "d"], "could not convert string to float"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_weights(weight, X)


def test_class_weights_multiply_the_weights() -> None:
    y = np.array(["a", "a", "a", "b"])
    assert read_weights(None, X, {"a": 2, "b": 5}, y).tolist() == [2, 2, 2, 5]
    assert read_weights([1, 2, 0, 4], X, {"a": 2, "b": 5}, y).tolist() == [2, 4, 0, 20]
    np.testing.assert_allclose(read_weights(None, X, "balanced", y), [4 / 6, 4 / 6, 4 / 6, 2])


def test_weights_given_are_left_as_they_are() -> None:
    weight, y = np.array([1.0, 2, 0, 4]), np.array([0, 0, 1, 1])
    read_weights(weight, X, {0: 3, 1: 3}, y)
    assert weight.tolist() == [1, 2, 0, 4]


@pytest.mark.parametrize(
    ("class_weight", "weight"),
    [
        ({0: -1, 1: 1}, None),
        ({0: np.nan, 1: 1}, None),
        ({0: np.inf, 1: 1}, None),
        ({0: 0, 1: 0}, None),
        ({0: 0, 1: 1}, [1, 1, 0, 0]),
    ],
)
def test_class_weights_that_make_no_sense_are_refused(class_weight: Any, weight: Any) -> None:
    with pytest.raises(ValueError, match="class_weight"):
        read_weights(weight, X, class_weight, np.array([0, 0, 1, 1]))
