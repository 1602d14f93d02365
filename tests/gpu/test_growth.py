"""Forests grown by the kernels, compiled as C++, beside those of the core: every array, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

import hedgerow.gpu
from gpu.host_device import HostDevice
from hedgerow import (
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    ObliqueForestClassifier,
    RandomTreesClassifier,
    TreeClassifier,
)
from hedgerow.gpu.growth import launch as growth

Floats = NDArray[np.float64]

ARRAYS = (
    *("threshold", "weight", "feature", "first_child", "payload", "kind", "missing"),
    *("tree_start", "leaf_start", "payload_start", "payload_codes", "payload_weights", "leaf_counts"),
)


class OnGPU(np.ndarray):  # type: ignore[type-arg]
    """Stands for an array of a GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def get(self) -> NDArray[Any]:
        return self.view(np.ndarray)


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> HostDevice:
    device = HostDevice()
    monkeypatch.setattr(hedgerow.gpu, "open_device", lambda name: device)
    return device


def assert_same_forest(model: Any, X: Any, y: Any, **fit: Any) -> Any:
    """The model fitted on the CPU; the one fitted by the kernels has its forest and its other attributes."""
    expected, found = model.fit(X, y, **fit), type(model)(**model.get_params()).to("cuda").fit(X, y, **fit)
    for name in ARRAYS:
        one, other = getattr(found.forest_, name), getattr(expected.forest_, name)
        assert (one.dtype, one.shape) == (other.dtype, other.shape), name
        assert one.tobytes() == other.tobytes(), name
    found.forest_.check()
    assert found.get_params() == expected.get_params()
    for name in vars(expected).keys() - {"forest_", "_tables", "schema_"}:
        one, other = getattr(found, name), getattr(expected, name)
        same = one.tobytes() == other.tobytes() if isinstance(other, np.ndarray) else one == other
        assert same, name
    return expected


def problem(n_rows: int = 400, n_classes: int = 2, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 6))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = 1.0
    X[:, 3] = rng.integers(0, 5, n_rows)
    y = (np.abs(X[:, 0] * 2 + X[:, 3]) + rng.random(n_rows)).astype(int) % n_classes
    return X, y


@st.composite
def odd_problems(draw: st.DrawFn) -> tuple[Floats, NDArray[np.int64]]:
    """Few rows with many ties, missing values, duplicates, constants."""
    n_rows, n_columns = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, draw(st.integers(1, 6)), (n_rows, n_columns)) * draw(st.sampled_from([1.0, 0.1, 1e300]))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return X, rng.integers(0, draw(st.integers(1, 5)), n_rows)


@settings(max_examples=40, deadline=None)
@given(
    odd_problems(),
    st.sampled_from(["best", "random", "mixed"]),
    st.sampled_from([1, 2, None]),
    st.sampled_from(
        [{}, {"min_samples_leaf": 3}, {"max_depth": 2, "min_impurity_decrease": 0.01}, {"bootstrap": False}]
    ),
    st.booleans(),
)
def test_odd_data_have_the_forest_of_the_cpu(
    rows: tuple[Floats, NDArray[np.int64]], splitter: str, max_features: Any, others: dict[str, Any], nominal: bool
) -> None:
    X, y = rows
    max_features = None if max_features is None else min(max_features, X.shape[1])
    categories = [0] if nominal and not np.isnan(X[:, 0]).all() else None
    model = ForestClassifier(
        4, splitter=splitter, max_features=max_features, categorical_features=categories, random_state=1, **others
    )
    assert_same_forest(model, X, y)


@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_bins": 7, "min_weight_fraction_leaf": 0.02, "max_samples": 0.5},
        {"oob_score": True, "tree_weights": "oob", "min_samples_split": 6},
        {"rule": "vote", "calibration": None},
        {"rule": "evidence", "calibration": "oob", "class_weight": "balanced"},
        {"categorical_features": [3, 1], "splitter": "random"},
    ],
    ids=str,
)
def test_estimators_are_fitted_as_on_the_cpu(n_classes: int, parameters: dict[str, Any]) -> None:
    X, y = problem(n_classes=n_classes)
    assert_same_forest(ForestClassifier(20, random_state=3, **parameters), X, y)


def test_weights_draw_rows_as_on_the_cpu() -> None:
    X, y = problem()
    weight = np.random.default_rng(0).random(len(X))
    weight[::7] = 0.0
    assert_same_forest(ForestClassifier(5, random_state=0), X, y, sample_weight=weight)


def test_large_nodes_are_shared_by_a_block(device: HostDevice) -> None:
    X, y = problem(6000)
    X[::9, 0] = np.nan
    model = assert_same_forest(ForestClassifier(4, random_state=0), X, y)
    assert {"split_large", "split_small"} <= set(device.launched)
    assert model.forest_.n_nodes > 1000


def test_calibration_stays_where_the_trees_are(device: HostDevice) -> None:
    X, y = problem()
    assert_same_forest(ForestClassifier(6, random_state=0), X, y)
    assert "fold_unseen" in device.launched
    device.launched.clear()
    X[0, 0] = np.nan  # spreads over leaves, which walks on the CPU do
    assert_same_forest(ForestClassifier(6, random_state=0), X, y)
    assert "fold_unseen" not in device.launched


def test_trees_with_a_rejected_draw_are_drawn_again(device: HostDevice) -> None:
    n_rows, n_draws, n_trees = 37, 100, 3
    draws, redrawn = np.zeros((n_trees, n_rows), np.uint32), np.zeros(n_trees, np.uint8)
    launch = growth.Kernels(device)
    keys = np.array([5, 6, 7], np.uint64)
    sizes = {"n_rows": n_rows, "n_draws": n_draws, "n_trees": n_trees}
    launch("draw_rows", 64, draw_keys=keys, draws=draws, redrawn=redrawn, **sizes)
    expected = draws.copy()
    assert not redrawn.any()
    assert (expected.sum(axis=1) == n_draws).all()
    redrawn[1:] = 1
    draws[1:] = 99
    launch("draw_rows_again", n_trees)
    assert draws.tolist() == expected.tolist()


def test_a_forest_that_was_moved_is_fitted_and_answers_there(device: HostDevice) -> None:
    X, y = problem()
    model = ForestClassifier(4, random_state=0)
    moved = model.to("cuda")
    assert moved.fit(X, y) is moved
    assert not hasattr(model, "forest_")
    assert moved.predict_proba(X).tobytes() == model.fit(X, y).predict_proba(X).tobytes()
    assert "fold_rows" in device.launched
    of_device = (array.view(OnGPU) for array in (X, y))
    assert model.to("cuda").fit(*of_device).forest_.threshold.tobytes() == model.forest_.threshold.tobytes()
    device.launched.clear()
    moved.to("cpu").fit(X, y).predict(X)
    assert not device.launched


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"criterion": "entropy"}, "criterion='entropy' is not"),
        ({"cost_matrix": [[0, 1], [2, 0]]}, "cost_matrix is not"),
        ({"feature_costs": [1, 2, 3, 4, 5, 6]}, "feature_costs is not"),
        ({"max_leaf_nodes": 9}, "max_leaf_nodes is not"),
        ({"missing": "fractional"}, "missing='fractional' is not"),
        ({"nominal": "multiway", "categorical_features": [3]}, "nominal='multiway' is not"),
        ({"bootstrap": "poisson"}, "bootstrap='poisson' is not"),
        ({"bootstrap": False, "class_weight": {0: 2.0, 1: 1.0}}, "class_weight with bootstrap=False is not"),
        ({"max_bins": None}, "max_bins=None, or a column of more than 255 categories, is not"),
    ],
    ids=str,
)
def test_what_is_not_grown_there_is_refused_by_name(parameters: dict[str, Any], named: str, device: HostDevice) -> None:
    X, y = problem()
    moved = ForestClassifier(3, **parameters).to("cuda")
    with pytest.raises(ValueError, match=named + r" grown on a GPU: fit on the CPU, model\.to\('cpu'\)\.fit\(X, y\)"):
        moved.fit(X, y)
    moved.to("cpu").fit(X, y)
    assert not device.launched


def test_too_many_classes_for_the_memory_of_a_block(device: HostDevice) -> None:
    X, _ = problem(300)
    with pytest.raises(
        ValueError, match=r"150 classes and 6 columns are more than cuda:0 grows trees of: fit on the CPU"
    ):
        ForestClassifier(2).to("cuda").fit(X, np.arange(300) % 150)


def test_too_little_memory(device: HostDevice) -> None:
    X, y = problem()
    device.memory = 100_000
    with pytest.raises(MemoryError, match=r"growing 9 trees from 400 rows takes 0.00018 GB, and cuda:0 has 0.0001 GB"):
        ForestClassifier(9).to("cuda").fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        CautiousForestClassifier(),
        ForestRegressor(),
        ObliqueForestClassifier(),
        RandomTreesClassifier(),
        TreeClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models_are_fitted_before_they_are_moved(model: Any) -> None:
    with pytest.raises(NotFittedError, match=f"{type(model).__name__} is fitted on the CPU: call fit, and then to"):
        model.to("cuda")


def test_judging_the_top_candidates_is_judging_all(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a tolerance of a hundredth of the weight many candidates are close to each other.
    text = growth.source().replace("tolerance_of_weight = 1e-12", "tolerance_of_weight = 0.01")
    all_judged = text.replace("if (!team.notes->is_close) return;", "")
    assert len({growth.source(), text, all_judged}) == 3
    X, y = problem(3000)
    forests = []
    for kernels in (text, all_judged):
        monkeypatch.setattr(growth, "source", lambda kernels=kernels: kernels)
        model = ForestClassifier(4, splitter="best", categorical_features=[3], random_state=0).to("cuda").fit(X, y)
        forests.append([getattr(model.forest_, name).tobytes() for name in ARRAYS])
    assert forests[0] == forests[1]
    assert forests[0][0] != ForestClassifier(4, splitter="best", random_state=0).fit(X, y).forest_.threshold.tobytes()
