"""Estimators that walk on a GPU, for which the kernels as C++ and NumPy's arrays stand here."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.naive_bayes import GaussianNB

import hedgerow
import hedgerow.gpu
import hedgerow.rules
from gpu.host_device import HostArray, HostDevice
from hedgerow import (
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
)
from hedgerow.data import Schema
from hedgerow.gpu import NoGPUError, open_device

Floats = NDArray[np.float64]


class OnGPU(HostArray):
    """Stands for an array of a GPU of any library that speaks DLPack."""

    number = 0

    def __dlpack_device__(self) -> tuple[int, int]:  # type: ignore[override]
        return 2, self.number


def on_gpu(X: Floats) -> Any:
    return np.ascontiguousarray(X).view(OnGPU)


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> HostDevice:
    device = HostDevice()
    monkeypatch.setattr(hedgerow.gpu, "open_device", lambda name: device)
    read = Schema.read

    def read_of_the_host(schema: Schema, X: Any, **options: Any) -> Any:
        assert not isinstance(X, OnGPU), "rows of a GPU were read on the CPU"  # CuPy refuses to be made a NumPy array
        return read(schema, X, **options)

    monkeypatch.setattr(Schema, "read", read_of_the_host)
    return device


def problem(n_classes: int = 3) -> tuple[Floats, NDArray[np.intp]]:
    X, y = make_classification(300, 8, n_informative=6, n_classes=n_classes, random_state=0)
    X[::7, 2] = np.nan
    return X, y


MODELS = [
    ForestClassifier(8, random_state=0),
    TreeClassifier(),
    RandomTreesClassifier(8, random_state=0),
    CautiousForestClassifier(8, s=1.0, random_state=0),
    ForestRegressor(8, random_state=0),
]
VERBS = (
    *("predict", "predict_proba", "predict_set", "predict_bounds", "predict_uncertainty", "leaf_counts", "apply"),
    "decision_function",
)


def parts_of(answer: Any) -> list[Any]:
    return [answer.total, answer.aleatoric, answer.epistemic] if hasattr(answer, "total") else [answer]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_answers_have_the_bits_of_the_cpu(model: Any, device: HostDevice) -> None:
    X, y = problem()
    model = clone(model).fit(X, y)
    moved = model.to("cuda")
    verbs = [verb for verb in VERBS if hasattr(model, verb)]
    assert "predict" in verbs
    for verb in verbs:
        expected = getattr(model, verb)(X)
        for rows in (X, on_gpu(X)):
            for one, other in zip(parts_of(getattr(moved, verb)(rows)), parts_of(expected), strict=True):
                assert one.dtype == other.dtype
                assert np.asarray(one).tobytes() == other.tobytes(), verb
    assert {"fold_rows", "fold_parts"} <= set(device.launched)


@pytest.mark.parametrize("rule", hedgerow.rules.names())
def test_rules_have_the_bits_of_the_cpu(rule: str) -> None:
    X, y = problem(2)
    model = RuleClassifier(ForestClassifier(8, random_state=0), rule=rule).fit(X, y)
    moved = model.to("cuda")
    for verb in ("predict", "predict_proba"):
        expected = getattr(model, verb)(X)
        for rows in (X, on_gpu(X)):
            assert np.asarray(getattr(moved, verb)(rows)).tobytes() == expected.tobytes()


CONFORMAL = [
    ConformalClassifier(ForestClassifier(10, random_state=0), random_state=0),
    ConformalClassifier(ForestClassifier(10, random_state=0), conformity_score="aps", groups="class", random_state=0),
    ConformalClassifier(CautiousForestClassifier(10, s=1.0, random_state=0), conformity_score="bounds"),
    ConformalRegressor(ForestRegressor(10, random_state=0), groups="x1"),
]


@pytest.mark.parametrize("model", CONFORMAL, ids=lambda model: f"{type(model).__name__}, {model.conformity_score}")
def test_conformal_answers_have_the_bits_of_the_cpu(model: Any, device: HostDevice) -> None:
    X, y = problem()
    X[:, 1] = X[:, 1] > 0
    model = clone(model).fit(X, y)
    moved = model.to("cuda")
    for verb in ("predict", "predict_proba", "predict_set", "predict_interval", "predict_uncertainty"):
        if not hasattr(model, verb):
            continue
        expected = parts_of(getattr(model, verb)(X))
        for rows in (X, on_gpu(X)):
            for one, other in zip(parts_of(getattr(moved, verb)(rows)), expected, strict=True):
                assert np.asarray(one).tobytes() == other.tobytes(), verb
    assert "fold_rows" in device.launched
    assert moved.to("cpu").predict(X).tobytes() == model.predict(X).tobytes()


def test_a_conformal_estimator_of_another_library_stays() -> None:
    X, y = load_iris(return_X_y=True)
    model = ConformalClassifier(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match=r"can't be moved to cuda: its estimator GaussianNB is not hedgerow's"):
        model.to("cuda")


def test_codes_of_categories_are_looked_up() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(200), rng.choice([3.0, 7.0, 9.0], 200)])
    y = (X[:, 0] > 0) ^ (X[:, 1] == 7)
    model = ForestClassifier(5, categorical_features=[1], random_state=0).fit(X, y)
    asked = np.vstack([X, [[0.0, 5.0], [0.0, np.nan]]])
    found = model.to("cuda").predict_proba(on_gpu(asked))
    assert np.asarray(found).tobytes() == model.predict_proba(asked).tobytes()
    before = asked.copy()
    model.to("cuda").predict_proba(on_gpu(asked))
    assert np.array_equal(asked, before, equal_nan=True)


def test_the_model_itself_stays_where_it_is(device: HostDevice) -> None:
    X, y = problem()
    model = ForestClassifier(4, random_state=0).fit(X, y)
    moved = model.to("cuda")
    model.predict(X)
    assert not device.launched
    assert moved.forest_ is model.forest_
    moved.to("cpu").predict(X)
    assert not device.launched
    moved.predict(X)
    assert device.launched


def test_copies_walk_on_the_cpu(device: HostDevice, tmp_path: Path) -> None:
    X, y = problem()
    model = ForestClassifier(4, random_state=0).fit(X, y)
    moved = model.to("cuda")
    hedgerow.save(model, tmp_path / "model.hedgerow")
    hedgerow.save(moved, tmp_path / "moved.hedgerow")
    assert (tmp_path / "moved.hedgerow").read_bytes() == (tmp_path / "model.hedgerow").read_bytes()
    copies = [
        pickle.loads(pickle.dumps(moved)),
        hedgerow.load(tmp_path / "moved.hedgerow"),
        clone(moved).fit(X, y),
    ]
    device.launched.clear()
    for copied in copies:
        assert copied.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert not device.launched


def test_a_model_that_is_fitted_again_walks_its_new_trees() -> None:
    X, y = problem()
    moved = ForestClassifier(4, random_state=0).fit(X, y).to("cuda")
    expected = ForestClassifier(4, random_state=0).fit(X[:100], y[:100]).predict_proba(X)
    assert moved.fit(X[:100], y[:100]).predict_proba(X).tobytes() == expected.tobytes()


def test_wrong_rows_are_refused() -> None:
    X, y = problem()
    model = ForestClassifier(4, random_state=0).fit(X, y)
    moved = model.to("cuda")
    with pytest.raises(ValueError, match=r"X is an array on a GPU, .* call model\.to\('cuda'\), or pass"):
        model.predict(on_gpu(X))
    elsewhere = on_gpu(X)
    elsewhere.number = 1
    with pytest.raises(ValueError, match="X is on cuda:1 and the model on cuda:0: move one of them"):
        moved.predict(elsewhere)
    with pytest.raises(ValueError, match="8 features"):
        moved.predict(on_gpu(X[:, :3]))
    with pytest.raises(ValueError, match=r"shape \(8,\), must be \(n_samples, n_features\)"):
        moved.predict(on_gpu(X[0]))
    infinite = X.copy()
    infinite[5, 3] = -np.inf
    with pytest.raises(ValueError, match=r"infinity: column 'x3' has -inf in row 5"):
        moved.predict(on_gpu(infinite))


@pytest.mark.parametrize("model", [ForestClassifier(4, random_state=0), ForestRegressor(4, random_state=0)])
def test_scores_of_rows_and_labels_of_the_device(model: Any) -> None:
    X, y = problem()
    moved = clone(model).fit(X, y).to("cuda")
    expected = moved.score(X, y, sample_weight=X[:, 0] ** 2)
    for labels, weights in ((y, X[:, 0] ** 2), (on_gpu(y), on_gpu(X[:, 0] ** 2))):
        assert moved.score(on_gpu(X), labels, sample_weight=weights) == expected


@pytest.mark.parametrize("verb", ["explain", "counterfactual", "next_question", "contributions"])
def test_answers_of_the_cpu_name_the_way_to_copy_rows(verb: str) -> None:
    X, y = problem()
    moved = ForestClassifier(4, random_state=0).fit(X, y).to("cuda")
    with pytest.raises(
        TypeError, match=r"computed on the CPU, and X is an array on a GPU: pass its copy .* X\.get\(\)"
    ):
        getattr(moved, verb)(on_gpu(X[:2]))
    getattr(moved, verb)(X[:2])


def test_what_can_not_be_moved_is_refused() -> None:
    X, y = problem()
    with pytest.raises(
        ValueError, match="MeasuredTreeClassifier can't be moved to cuda: its rows are in all leaves at once"
    ):
        MeasuredTreeClassifier().fit(np.nan_to_num(X), y).to("cuda")


def fake_cupy(n_devices: int | None, *, compiles: bool = True) -> Any:
    class CUDARuntimeError(RuntimeError):
        pass

    def count() -> int:
        if n_devices is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return n_devices

    def version() -> tuple[int, int]:
        if not compiles:
            raise RuntimeError('Failure finding "libnvrtc.so.13"')
        return 13, 0

    runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=count, getDevice=lambda: 0)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, nvrtc=SimpleNamespace(getVersion=version)))


def test_devices_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="device is 'gpu', must be 'cpu', 'cuda', or 'cuda:' and the number of a GPU"):
        open_device("gpu")
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"walking on a GPU needs CuPy: pip install 'hedgerow\[cuda13\]'"):
        open_device()
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(None))
    with pytest.raises(NoGPUError, match=r"CUDA finds no GPU .* check the driver with nvidia-smi, or stay on the CPU"):
        open_device()
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(1, compiles=False))
    with pytest.raises(ImportError, match=r"CuPy finds no NVRTC, .*: pip install 'cupy-cuda13x\[ctk\]'"):
        open_device()
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(2))
    with pytest.raises(NoGPUError, match="device is 'cuda:2', but CUDA finds 2 GPUs, numbered from 0"):
        open_device("cuda:2")
    assert open_device("cuda:1").name == "cuda:1"
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(1))
    with pytest.raises(NoGPUError, match="device is 'cuda:1', but CUDA finds one GPU, cuda:0"):
        open_device("cuda:1")
