"""What the page holds of models: packed arrays, columns, sizes, and which models it can't hold."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

from codegen.test_code import mixed
from hedgerow import (
    BoundaryClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ForestClassifier,
    ForestRegressor,
    NaiveBayesTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.forest.kinds import NodeKind
from hedgerow.report.whatif import whatif_data
from hedgerow.report.whatif.packing import pack
from hedgerow.report.whatif.smaller import first_trees


def unpack(packed: dict[str, Any]) -> Any:
    if "of" in packed:
        values = unpack(packed["of"])
        return values[unpack(packed["index"])] if "index" in packed else np.repeat(values, packed["n"])
    return np.frombuffer(b64decode(packed["base64"]), dtype=f"<{packed['type']}")


@given(
    arrays(np.float64, st.integers(0, 200), elements=st.floats(width=64) | st.integers(-3, 70_000).map(float))
    | arrays(np.int32, st.integers(0, 50))
    | st.integers(2, 300).map(lambda n: np.tile([0.1, 1e300, -np.inf, np.nan], n))
)
def test_packed_arrays_keep_every_number(array: Any) -> None:
    packed = pack(array)
    json.dumps(packed, allow_nan=False)
    assert packed["n"] == len(array)
    np.testing.assert_array_equal(unpack(packed), array)


def test_whole_numbers_are_packed_narrowly() -> None:
    for largest, kind in ((255, "u1"), (256, "u2"), (2**16, "i4")):
        assert pack(np.array([0.0, largest]))["type"] == kind
    assert pack(np.full(1000, 0.1))["of"]["n"] == 1


def test_columns_have_their_ranges_and_typical_values() -> None:
    X, y = mixed(300)
    data = whatif_data(TreeClassifier().fit(X, y), X)
    json.dumps(data, allow_nan=False)
    by_name = {column["name"]: column for column in data["columns"]}
    age, grade, smoker = by_name["_age"], by_name["grade"], by_name["smoker"]
    assert (age["low"], age["high"]) == (X["_age"].min(), X["_age"].max())
    assert age["typical"] == pytest.approx(X["_age"].median())
    assert age["missing"] == X["_age"].isna().mean()
    assert (grade["kind"], grade["categories"]) == ("ordinal", ["low", "mid", "high"])
    assert grade["categories"][grade["typical"]] == X["grade"].mode()[0]
    assert smoker["categories"] == [False, True]
    assert data["models"][0]["classes"] == ["it's", "no", "yes"]


def test_columns_without_values_have_nothing_typical() -> None:
    X = pd.DataFrame({"empty": [np.nan] * 6, "x": range(6)})
    model = TreeClassifier(pruning=None, min_samples_leaf=1).fit(X, [0, 0, 0, 1, 1, 1])
    empty, x = whatif_data(model, X)["columns"]
    assert empty["typical"] is None
    assert (x["typical"], x["whole"]) == (2.0, True)  # a value that occurs


def test_models_that_cannot_be_walked_are_named_with_the_reason() -> None:
    X, y = load_iris(return_X_y=True)
    models = {
        "tree": TreeClassifier(),
        "boundary": BoundaryClassifier(),
        "NBTree": NaiveBayesTreeClassifier(),
        "median": RuleClassifier(ForestClassifier(5, random_state=0), rule="median"),
        "Venn–Abers": ConformalClassifier(TreeClassifier(), probabilities="venn_abers"),
        "drawn": ConformalClassifier(conformity_score="aps"),
        "jackknife+": ConformalClassifier(method="jackknife+"),
        "logistic": LogisticRegression(max_iter=1000),
        "other columns": TreeClassifier(),
    }
    fitted = {name: model.fit(X[:, :3] if name == "other columns" else X, y) for name, model in models.items()}
    data = whatif_data(fitted, X)
    assert [model["name"] for model in data["models"]] == ["tree"]
    reasons = {one["name"]: one["reason"] for one in data["not_walked"]}
    assert list(reasons) == list(models)[1:]
    assert reasons["boundary"] == "mixes in the distances of training rows, which the page does not hold"
    assert "'median'" in reasons["median"]
    assert reasons["drawn"] == "draws its sets at random"
    assert reasons["jackknife+"] == "compares each row with every training row, which the page does not hold"
    assert reasons["other columns"] == "reads other columns than the first model"


def test_nothing_but_reasons_where_no_model_can_be_walked() -> None:
    X, y = load_iris(return_X_y=True)
    data = whatif_data(NaiveBayesTreeClassifier().fit(X, y), X)
    assert (data["models"], data["columns"], len(data["not_walked"])) == ([], [], 1)


def test_the_size_is_kept_and_small_models_stay_whole() -> None:
    X, y = mixed(500)
    models = {
        "tree": TreeClassifier().fit(X, y),
        "forest": ForestClassifier(40, random_state=0).fit(X, y),
        "random": RandomTreesClassifier(60, random_state=0).fit(X, y),
        "cautious": CautiousForestClassifier(40, random_state=0).fit(X, y),
    }
    most = 90_000
    found = whatif_data(models, X, most_bytes=most)["models"]
    sizes = {one["name"]: len(json.dumps(one, separators=(",", ":"))) for one in found}
    assert list(sizes) == list(models)
    assert sum(sizes.values()) < most + 500 * len(models)  # names and agreements
    agreements = {one["name"]: one["agreement"] for one in found}
    assert agreements["tree"] is None
    assert agreements["random"]["same_label"] > 0.9
    assert 0 < agreements["random"]["mean_difference"] < 0.05


def test_intervals_are_left_out_where_their_targets_leave_no_room_for_trees() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = ForestRegressor(40, random_state=0).fit(X, y)
    (with_interval,) = whatif_data(model, X, most_bytes=60_000)["models"]
    (without,) = whatif_data(model, X, most_bytes=6_000)["models"]
    assert with_interval["samples"] is not None
    assert not with_interval["without_interval"]
    assert without["samples"] is None
    assert without["without_interval"]
    assert "interval" not in without["answers"]


def test_a_tree_beyond_the_size_has_larger_leaves() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = TreeRegressor(pruning=None, min_samples_leaf=1).fit(X, y)
    (packed,) = whatif_data(model, X, most_bytes=3_000)["models"]
    assert (packed["n_trees"], packed["of_trees"]) == (1, 1)
    assert packed["least_rows"] > 1
    assert 0 < packed["agreement"]["mean_difference"] < packed["agreement"]["spread"]


def test_first_trees_are_a_forest() -> None:
    forest = build_forest(
        [threshold(0, 0.5, leaf([1.0, 2.0]), leaf([3.0, 0.0])), leaf([4.0, 4.0]), leaf([0.0, 1.0])], n_features=1
    )
    part = first_trees(forest, 2)
    part.check()
    assert (part.n_trees, part.n_leaves) == (2, 3)
    assert part.counts.tolist() == [[1, 2], [3, 0], [4, 4]]
    assert first_trees(forest, 3) is forest


def test_without_rows_ranges_reach_beyond_the_outermost_thresholds() -> None:
    X, y = mixed(200)
    model = ForestClassifier(5, random_state=0).fit(X, y)
    data = whatif_data(model)
    forest = model.forest_
    assert data["made_up"]
    for j, column in enumerate(data["columns"]):
        cuts = forest.threshold[(forest.feature == j) & (forest.kind == NodeKind.THRESHOLD)]
        if column["categories"]:
            assert column["typical"] in range(len(column["categories"]))
        elif len(cuts):
            assert column["low"] < cuts.min()
            assert column["high"] > cuts.max()
        else:
            assert "low" not in column
