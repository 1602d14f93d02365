"""Interface of devices: memory, copies and launches. :mod:`hedgerow.gpu.cuda` is the one for users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Device", "Lane", "Launch"]

Launch: TypeAlias = Callable[[str, NDArray[np.int64], int, int, int], None]
"""Queues a kernel, given its name, its struct, the number of blocks, the threads of each, and the bytes they share."""


class Lane(Protocol):
    """One of several queues of work: what runs in one overlaps what runs in the others."""

    def work(self) -> AbstractContextManager[Any]:
        """Context in which launches and copies are queued here."""

    def read(self, rows: NDArray[np.float64]) -> Any:
        """Queue a copy of rows to the device.

        Parameters
        ----------
        rows : array
            Rows in the memory of the host.
        """

    def write(self, values: Any, out: NDArray[Any]) -> None:
        """Queue a copy of values of the device to `out`, which has them after :meth:`finish`.

        Parameters
        ----------
        values : array of the device
            What is copied.
        out : array
            Where to.
        """

    def finish(self) -> None:
        """Wait for all that was queued."""


class Device(Protocol):
    """A device, and its arrays as `xp`, which is NumPy or speaks its language."""

    @property
    def xp(self) -> Any: ...

    @property
    def special(self) -> Any:
        """Functions with the names of ``scipy.special``."""

    @property
    def number(self) -> int: ...

    @property
    def name(self) -> str:
        """Name, such as "cuda:0"."""

    @property
    def cache_bytes(self) -> int: ...

    @property
    def n_threads(self) -> int:
        """Threads that the device can hold at a time."""

    @property
    def n_processors(self) -> int: ...

    @property
    def warp_size(self) -> int:
        """Threads that go the same way together."""

    @property
    def shared_bytes(self) -> int:
        """Memory that the threads of a block share, such that a processor has several blocks."""

    @property
    def most_shared_bytes(self) -> int:
        """Memory that the threads of the only block of a processor share."""

    @property
    def cooperating_threads(self) -> int:
        """Most threads of a block that can wait for each other."""

    def current(self) -> AbstractContextManager[Any]:
        """Context in which arrays are made on this device."""

    def compiled(self, source: str, options: tuple[str, ...]) -> Launch:
        """Compile kernels once, and return what launches them.

        Parameters
        ----------
        source : str
            Source of the kernels.
        options : tuple of str
            Options of the compiler.
        """

    def free_bytes(self) -> int:
        """Memory that is left for new arrays."""

    def address(self, array: Any) -> int:
        """Address of the first element of an array of the device.

        Parameters
        ----------
        array : array of the device
            Contiguous.
        """

    def owns(self, array: Any) -> bool:
        """Whether an array is one of this device.

        Parameters
        ----------
        array : object
            Any array.
        """

    def lanes(self, n: int) -> AbstractContextManager[Sequence[Lane]]:
        """Context with queues for overlapped copies, which are kept for the next one.

        Parameters
        ----------
        n : int
            How many.
        """

    def launch(
        self, kernel: str, struct: NDArray[np.int64], n_threads: int, *, n_columns: int, block: int, shared: int
    ) -> None:
        """Queue a kernel.

        Parameters
        ----------
        kernel : str
            Its name.
        struct : array of int64
            Its argument, see :mod:`hedgerow.gpu.launch`.
        n_threads : int
            Number of threads, at least.
        n_columns : int
            Columns that it is compiled for.
        block : int
            Threads per block.
        shared : int
            Bytes that the threads of a block share.
        """
