"""The number of BLAS threads is that of before, also after fits that overlapped in time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from hedgerow import MeasuredTreeRegressor
from hedgerow.estimators.measured import one_tree
from hedgerow.measured.one_tree.blas_threads import single_blas_thread

X = np.random.default_rng(0).normal(size=(40, 2))
WAIT = 60  # seconds; only so that a failure does not hang


def n_blas_threads() -> set[int]:
    return {one["num_threads"] for one in ThreadpoolController().select(user_api="blas").info()}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    blas = ThreadpoolController().select(user_api="blas")
    limit = blas.limit(limits=2)
    try:
        with blas.limit(limits=None):  # at its end, other threads may set limits too
            pass
        if n_blas_threads() != {2}:
            pytest.skip("this BLAS can't be given two threads")
        yield
    finally:
        limit.restore_original_limits()
        with blas.limit(limits=None):
            pass


def test_the_last_of_overlapping_blocks_restores_the_threads() -> None:
    first, second = single_blas_thread(), single_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_blas_threads() == {1}
    second.__exit__(None, None, None)
    assert n_blas_threads() == {2}


def test_an_error_restores_the_threads() -> None:
    with pytest.raises(KeyError), single_blas_thread():
        raise KeyError
    assert n_blas_threads() == {2}


def test_overlapping_fits_restore_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    first_is_in, second_is_in, first_is_done = Event(), Event(), Event()
    grow = one_tree.grow_path

    def grow_in_turns(problem: Any, settings: Any) -> Any:
        if not first_is_in.is_set():
            first_is_in.set()
            assert second_is_in.wait(WAIT)
        else:
            second_is_in.set()
            assert first_is_done.wait(WAIT)
        assert n_blas_threads() == {1}
        return grow(problem, settings)

    monkeypatch.setattr(one_tree, "grow_path", grow_in_turns)
    with ThreadPoolExecutor(2) as threads:
        models = [MeasuredTreeRegressor(sigma=0.1, pruning=None) for _ in range(2)]
        first = threads.submit(models[0].fit, X, X[:, 0])
        assert first_is_in.wait(WAIT)
        second = threads.submit(models[1].fit, X, X[:, 0])
        first.result(WAIT)
        first_is_done.set()
        second.result(WAIT)
    assert n_blas_threads() == {2}
