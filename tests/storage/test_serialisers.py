"""Models through other packages' formats (skops, joblib, cloudpickle): identical answers, and checked when read."""

from __future__ import annotations

import copy
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import hedgerow
from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    Forest,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.data.columns import Column, Kind
from hedgerow.forest.check import InvalidForestError
from hedgerow.probability import MEstimate

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=60).round(2),
        "weight": np.where(RNG.random(60) < 0.1, np.nan, RNG.normal(size=60).round(2)),
        "colour": pd.Categorical(RNG.choice(["blue", "green", "red"], size=60)),
        "grade": pd.Categorical(RNG.choice(["low", "high"], size=60), categories=["low", "high"], ordered=True),
    }
)
NUMBER = FRAME["size"].to_numpy() + (FRAME["colour"] == "red")
LABEL = np.where(NUMBER > 0, "yes", "no")

MODELS = [
    TreeClassifier(leaf_probability=MEstimate(2)),
    TreeClassifier.cart(),
    TreeRegressor(),
    ForestClassifier(4, random_state=0),
    ForestRegressor(4, random_state=0),
    RandomTreesClassifier(4, random_state=0),
    RuleClassifier(ForestClassifier(3, random_state=0), rule="evidence"),
    CautiousClassifier(),
    CautiousForestClassifier(n_estimators=3, random_state=0),
    NaiveBayesTreeClassifier(),
    MeasuredTreeClassifier(sigma={"size": 0.1, "weight": 0.1}),
    MeasuredTreeRegressor(sigma={"size": 0.1}, prior="kde"),
    BoundaryClassifier(TreeClassifier(max_depth=3)),
]


def fitted(model: Any) -> Any:
    return model.fit(FRAME, NUMBER if "Regressor" in type(model).__name__ else LABEL)


def through_skops(model: Any) -> Any:
    data = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith(("hedgerow.", "sklearn.tree.")) for name in trusted), trusted
    return skops.io.loads(data, trusted=trusted)


def through_joblib(model: Any) -> Any:
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


FORMATS: list[Callable[[Any], Any]] = [
    through_skops,
    through_joblib,
    lambda model: pickle.loads(pickle.dumps(model)),
    lambda model: cloudpickle.loads(cloudpickle.dumps(model)),
    copy.copy,
    copy.deepcopy,
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_format_gives_back_the_same_answers(model: Any) -> None:
    fitted(model)
    for through in FORMATS:
        again = through(model)
        assert again.forest_ == model.forest_
        assert again.schema_ == model.schema_
        assert all(type(column.kind) is Kind for column in again.schema_.columns)
        np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
        if hasattr(model, "predict_proba"):
            assert again.predict_proba(FRAME).tobytes() == model.predict_proba(FRAME).tobytes()


def test_quantiles_of_a_forest_survive_skops() -> None:
    model = fitted(ForestRegressor(4, random_state=0))
    again = through_skops(model)
    assert again.predict_quantiles(FRAME, [0.1, 0.9]).tobytes() == model.predict_quantiles(FRAME, [0.1, 0.9]).tobytes()


def test_a_wrapped_model_of_scikit_learn_survives_skops() -> None:
    X = FRAME[["size"]].to_numpy()
    theirs = DecisionTreeClassifier(random_state=0).fit(X, LABEL)
    model = RuleClassifier(FrozenEstimator(theirs), rule="laplace").fit(X, LABEL)
    assert through_skops(model).predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


# -- checks of what was read


def replace_array(data: bytes, old: np.ndarray, new: np.ndarray) -> bytes:
    """A skops file with another array in the place of `old`."""
    changed = io.BytesIO()
    n_found = 0
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content), allow_pickle=False)
                if array.dtype == old.dtype and array.tobytes() == old.tobytes():
                    n_found += 1
                    file = io.BytesIO()
                    np.save(file, new)
                    content = file.getvalue()
            target.writestr(name, content)
    assert n_found
    return changed.getvalue()


@pytest.mark.parametrize("name", ["first_child", "feature"])
def test_a_forest_in_a_skops_file_is_checked(name: str) -> None:
    model = fitted(TreeClassifier.cart())
    array = getattr(model.forest_, name)
    data = skops.io.dumps(model)
    broken = replace_array(data, array, np.where(array > 0, array + 10**8, array).astype(array.dtype))
    with pytest.raises(InvalidForestError):
        skops.io.loads(broken, trusted=skops.io.get_untrusted_types(data=broken))


def test_a_column_of_an_unknown_kind_in_a_skops_file_is_refused() -> None:
    data = skops.io.dumps(fitted(TreeClassifier()))
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "schema.json":
                content = content.replace(rb"\"nominal\"", rb"\"nomin\"")
                json.loads(content)
            target.writestr(name, content)
    broken = changed.getvalue()
    with pytest.raises(ValueError, match="column 'colour' has kind 'nomin', must be one of 'numeric', 'ordinal'"):
        skops.io.loads(broken, trusted=skops.io.get_untrusted_types(data=broken))


@pytest.mark.parametrize("read", [FORMATS[0], FORMATS[2]], ids=["skops", "pickle"])
def test_parts_of_different_models_are_refused(read: Callable[[Any], Any]) -> None:
    model = fitted(ForestRegressor(4, random_state=0))
    model.leaf_samples_ = fitted(ForestRegressor(2, random_state=0)).leaf_samples_
    with pytest.raises(ValueError, match="leaf samples are those of another forest"):
        read(model)


def test_an_unfitted_model_is_read_without_checks() -> None:
    for through in FORMATS:
        assert through(TreeClassifier(max_depth=3)).max_depth == 3


def test_a_kind_may_be_given_as_text() -> None:
    column = Column("size", "numeric")  # type: ignore[arg-type]
    assert column.kind is Kind.NUMERIC
    assert replace(column, kind="nominal", categories=("a",)).kind is Kind.NOMINAL


def test_forests_name_their_constructor_and_pickles_hold_a_checked_block() -> None:
    forest = fitted(TreeClassifier()).forest_
    make, arguments = forest.__reduce__()
    assert make is Forest
    assert make(*arguments) == forest == hedgerow.Forest.from_dict(forest.to_dict())
