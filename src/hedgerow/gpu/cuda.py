"""A CUDA device through CuPy, which is imported when one is opened; kernels are compiled when they are first used."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.gpu.device import Launch
from hedgerow.gpu.launch import compile_options, source

__all__ = ["CudaDevice", "CudaLane", "NoGPUError", "open_device"]

_BLOCKS_A_PROCESSOR = 16
_COPYING_THREADS = 8
_COPIED_BYTES = 2**25  # by a thread at a time: parts of rows are copied by several threads as it is


class NoGPUError(RuntimeError):
    """No CUDA device can be used.

    Examples
    --------
    >>> from hedgerow.gpu import NoGPUError, open_device
    >>> try:
    ...     device = open_device("cuda")
    ... except (NoGPUError, ImportError):
    ...     device = None  # stay on the CPU
    """


def open_device(name: str = "cuda") -> CudaDevice:
    """Return the device of a name.

    Parameters
    ----------
    name : str, default="cuda"
        "cuda" for CuPy's current device, "cuda:1" for the one with a number.

    Returns
    -------
    CudaDevice
        The device.

    Raises
    ------
    ValueError
        If it is not the name of a device.
    NoGPUError
        If there is no such GPU.
    ImportError
        If CuPy or NVRTC is missing.

    Examples
    --------
    >>> from hedgerow.gpu import open_device
    >>> try:
    ...     open_device("gpu")
    ... except ValueError as error:
    ...     print(error)
    device is 'gpu', must be 'cpu', 'cuda', or 'cuda:' and the number of a GPU
    """
    kind, _, number = name.partition(":")
    if kind != "cuda" or not (number == "" or number.isdecimal()):
        raise ValueError(f"device is {name!r}, must be 'cpu', 'cuda', or 'cuda:' and the number of a GPU")
    try:
        import cupy
    except ImportError as error:
        raise ImportError(
            "walking on a GPU needs CuPy: pip install 'hedgerow[cuda13]', or 'hedgerow[cuda12]' for drivers of CUDA 12"
        ) from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise NoGPUError(f"CUDA finds no GPU ({error}): check the driver with nvidia-smi, or stay on the CPU") from None
    try:
        cupy.cuda.nvrtc.getVersion()
    except (RuntimeError, ImportError, OSError) as error:
        raise ImportError(
            "CuPy finds no NVRTC, which compiles the kernels: pip install 'cupy-cuda13x[ctk]' (with CUDA 12 "
            "'cupy-cuda12x[ctk]'), or install the CUDA toolkit"
        ) from error
    chosen = int(number) if number else int(cupy.cuda.runtime.getDevice())
    if chosen >= n_devices:
        there = "one GPU, cuda:0" if n_devices == 1 else f"{n_devices} GPUs, numbered from 0"
        raise NoGPUError(f"device is {name!r}, but CUDA finds {there}")
    return CudaDevice(cupy, chosen)


@dataclass(frozen=True, eq=False)
class CudaDevice:
    """A GPU. Work goes to CuPy's current stream.

    Parameters
    ----------
    xp
        The array module, CuPy.
    number : int
        Number of the GPU.

    Examples
    --------
    >>> from hedgerow.gpu import open_device  # doctest: +SKIP
    >>> open_device("cuda:0").free_bytes() > 1 << 30  # doctest: +SKIP
    True
    """

    xp: Any
    number: int
    _modules: dict[int, Any] = field(default_factory=dict, repr=False)
    _sources: dict[str, Any] = field(default_factory=dict, repr=False)
    _lanes: deque[CudaLane] = field(default_factory=deque, repr=False)

    @lazy
    def _properties(self) -> dict[str, Any]:
        properties: dict[str, Any] = self.xp.cuda.runtime.getDeviceProperties(self.number)
        return properties

    @property
    def name(self) -> str:
        """Name of the GPU, "cuda:0"."""
        return f"cuda:{self.number}"

    @property
    def special(self) -> Any:
        from cupyx.scipy import special

        return special

    @property
    def cache_bytes(self) -> int:
        return int(self._properties["l2CacheSize"])

    @property
    def n_threads(self) -> int:
        return self.n_processors * _BLOCKS_A_PROCESSOR * 128

    @property
    def shared_bytes(self) -> int:
        return int(self._properties["sharedMemPerBlock"])

    @property
    def warp_size(self) -> int:
        return int(self._properties["warpSize"])

    @property
    def n_processors(self) -> int:
        return int(self._properties["multiProcessorCount"])

    @property
    def most_shared_bytes(self) -> int:
        return int(self._properties["sharedMemPerBlockOptin"])

    @property
    def cooperating_threads(self) -> int:
        return 1024

    def current(self) -> Any:
        """Context in which this is CuPy's current device.

        Returns
        -------
        context manager
            Its body runs on this device.
        """
        return self.xp.cuda.Device(self.number)

    def free_bytes(self) -> int:
        """Bytes of memory that are free.

        Returns
        -------
        int
            The number.
        """
        with self.current():
            free, _ = self.xp.cuda.runtime.memGetInfo()
            return int(free + self.xp.get_default_memory_pool().free_bytes())

    def address(self, array: Any) -> int:
        """Address of an array on the device.

        Parameters
        ----------
        array
            An array.

        Returns
        -------
        int
            The number.
        """
        return int(array.data.ptr)

    def owns(self, array: Any) -> bool:
        """Whether an array is on the device.

        Parameters
        ----------
        array
            An array.

        Returns
        -------
        bool
            True for arrays of this GPU.
        """
        return isinstance(array, self.xp.ndarray)

    @contextmanager
    def lanes(self, n: int) -> Iterator[list[CudaLane]]:
        """Context with queues for overlapped copies.

        They are kept for the next one: memory of the device that was given back in a stream is free for that stream.

        Parameters
        ----------
        n : int
            How many.

        Yields
        ------
        list of CudaLane
            Lanes, each a stream of its own with its part of the work.
        """
        taken = [self._take_lane() for _ in range(n)]
        yield taken
        self._lanes.extend(taken)  # those of a walk that has failed are not used again

    def _take_lane(self) -> CudaLane:
        try:
            return self._lanes.pop()
        except IndexError:
            return CudaLane(self.xp, self.xp.cuda.Stream(non_blocking=True))

    def launch(
        self, kernel: str, struct: NDArray[np.int64], n_threads: int, *, n_columns: int, block: int, shared: int
    ) -> None:
        """Launch a kernel.

        Parameters
        ----------
        kernel : str
            Name of the kernel.
        struct : int64 array
            Its arguments.
        n_threads : int
            Threads to launch.
        n_columns : int
            Columns that each thread has in registers.
        block : int
            Threads of a block.
        shared : int
            Bytes of shared memory of a block.
        """
        module = self._modules.get(n_columns)
        if module is None:
            options = compile_options(n_columns)
            module = self._modules[n_columns] = self.xp.RawModule(code=source(), options=options, backend="nvrtc")
        grid = -(-n_threads // block)
        function = module.get_function(kernel)
        if shared > self.shared_bytes:
            function.max_dynamic_shared_size_bytes = shared
        by_value = struct.view(np.dtype((np.void, struct.nbytes)))  # CuPy copies arrays of one element
        function((grid,), (block,), (by_value,), shared_mem=shared)

    def compiled(self, source: str, options: tuple[str, ...]) -> Launch:
        """Compile kernels once, and return what launches them.

        Parameters
        ----------
        source : str
            Source of the kernels.
        options : tuple of str
            Options of NVRTC.

        Returns
        -------
        callable
            Queues a kernel, given its name, its struct, the number of blocks, the threads of each, and the bytes they
            share.
        """
        module = self._sources.get(source)
        if module is None:
            module = self._sources[source] = self.xp.RawModule(code=source, options=options, backend="nvrtc")

        def launch(kernel: str, struct: NDArray[np.int64], n_blocks: int, block: int, shared: int) -> None:
            function = module.get_function(kernel)
            if shared > self.shared_bytes:
                function.max_dynamic_shared_size_bytes = shared
            function((n_blocks,), (block,), (self.xp.asarray(struct),), shared_mem=shared)

        return launch


@dataclass(eq=False)
class CudaLane:
    """A stream, and memory of the host that the GPU copies from and to by itself."""

    xp: Any
    stream: Any
    _pinned: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    _written: list[tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=list)
    _queued: list[Any] = field(default_factory=list)

    @contextmanager
    def work(self) -> Iterator[None]:
        with self.stream:
            yield

    def read(self, rows: NDArray[np.float64]) -> Any:
        staged = self._pinned_like("rows", rows.shape, rows.dtype)
        _copy(rows, staged)
        X = self.xp.empty(rows.shape, dtype=rows.dtype)
        X.set(staged, stream=self.stream)
        return X

    def write(self, values: Any, out: NDArray[Any]) -> None:
        staged = self._pinned_like(f"out {len(self._written)}", values.shape, values.dtype)
        values.get(stream=self.stream, out=staged, blocking=False)
        self._written.append((staged, out))
        self._queued.append(values)

    def finish(self) -> None:
        self.stream.synchronize()
        for staged, out in self._written:
            _copy(staged, out)
        self._written.clear()
        self._queued.clear()

    def _pinned_like(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = self._pinned.get(name)
        if memory is None or len(memory) < n_bytes:
            pointer = self.xp.cuda.alloc_pinned_memory(n_bytes)
            memory = self._pinned[name] = np.frombuffer(pointer, dtype=np.uint8, count=n_bytes)
        staged: NDArray[Any] = memory[:n_bytes].view(dtype).reshape(shape)
        return staged


_copiers: list[ThreadPoolExecutor] = []


def _copy(source_array: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy by several threads: one alone is slower than the bus."""
    n = min(_COPYING_THREADS, os.cpu_count() or 1, -(-source_array.nbytes // _COPIED_BYTES))
    if n <= 1:
        np.copyto(target, source_array)
        return
    if not _copiers:
        _copiers.append(ThreadPoolExecutor(_COPYING_THREADS, thread_name_prefix="hedgerow-copy"))
    ends = np.linspace(0, len(source_array), n + 1).astype(int)
    wait([_copiers[0].submit(np.copyto, target[a:b], source_array[a:b]) for a, b in pairwise(ends.tolist())])
