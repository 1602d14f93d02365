"""Rows of the host that are answered in parts by several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification

import hedgerow.gpu
import hedgerow.gpu.host_rows as host_rows
from gpu.host_device import HostDevice
from hedgerow import CautiousForestClassifier, ForestClassifier

Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hedgerow.gpu, "open_device", lambda name: HostDevice())
    for name, size in (("ROWS_AT_A_TIME", 128), ("_FINISHED_ROWS", 32), ("_SCANNED_ROWS", 64)):
        monkeypatch.setattr(host_rows, name, size)


def problem() -> tuple[Floats, Any]:
    X, y = make_classification(500, 6, random_state=0)
    return X, y


def test_answers_in_parts_are_those_of_the_cpu() -> None:
    X, y = problem()
    X[::3, 1] = np.nan
    model = ForestClassifier(5, random_state=0).fit(X, y)
    moved = model.to("cuda")
    assert moved.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    found, expected = moved.predict_uncertainty(X), model.predict_uncertainty(X)  # a record of arrays
    assert [found.total.tolist(), found.epistemic.tolist()] == [expected.total.tolist(), expected.epistemic.tolist()]
    cautious = CautiousForestClassifier(5, random_state=0).fit(X, y)
    assert cautious.to("cuda").predict_set(X).tolist() == cautious.predict_set(X).tolist()
    assert cautious.to("cuda").predict_bounds(X).tobytes() == cautious.predict_bounds(X).tobytes()


def test_the_first_infinity_is_named_whichever_thread_finds_it() -> None:
    X, y = problem()
    moved = ForestClassifier(2, random_state=0).fit(X, y).to("cuda")
    X[470, 1] = X[130, 4] = X[129, 5] = np.inf
    with pytest.raises(ValueError, match=r"column 'x5' has inf in row 129\."):
        moved.predict_proba(X)


def test_an_error_of_a_part_is_that_of_the_whole() -> None:
    X, y = problem()
    moved = ForestClassifier(2, random_state=0).fit(X, y).to("cuda")
    moved._device.memory = 64
    with pytest.raises(MemoryError, match="the device has 64 bytes left"):
        moved.predict_proba(X)
