"""One thread for matrix products, for as long as any thread of this process asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["single_blas_thread"]


class _CountedLimit:
    """A limit of one thread from the first entry to the last exit, for pools that the whole process shares.

    If each of two overlapping blocks restored what it found, the one that entered last would restore the limit of the
    other, for good.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit = _shared_pools().limit(limits=1)
                _release_control()
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.restore_original_limits()
                self._limit = None
                _release_control()


_shared_limit = _CountedLimit()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; blocks of several threads may overlap."""
    with _own_pools().limit(limits=1):
        _shared_limit.enter()
        try:
            yield
        finally:
            _shared_limit.leave()


def _release_control() -> None:
    """Let any thread set the next limit.

    Since version 3.8 threadpoolctl ignores every thread but the one that set the last limit, until a block of that
    thread ends; here the last one to leave is often not the first one that entered.
    """
    with _shared_pools().limit(limits=None):
        pass


@cache
def _blas() -> ThreadpoolController:
    """BLAS libraries of this process; finding them takes longer than a small fit."""
    return ThreadpoolController().select(user_api="blas")


@cache
def _own_pools() -> ThreadpoolController:
    """Libraries that have a pool, and so a limit, for each thread that calls them: OpenBLAS on OpenMP."""
    openblas = _blas().select(internal_api="openblas")
    return openblas.select(threading_layer="openmp")


@cache
def _shared_pools() -> ThreadpoolController:
    own = {one["filepath"] for one in _own_pools().info()}
    return _blas().select(filepath=[one["filepath"] for one in _blas().info() if one["filepath"] not in own])
