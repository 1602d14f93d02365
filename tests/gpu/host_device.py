"""A device without a GPU: the kernels compiled as C++, and NumPy's arrays."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
from numpy.typing import NDArray

from hedgerow.gpu.launch import LANES, MOST_COLUMNS, PART_STEPS, PART_THREADS, STEPS, source

_LAUNCH = """
thread_local Place blockIdx, threadIdx, blockDim, gridDim;
thread_local unsigned shared_memory[1 << 16];
extern "C" void launch(void (*kernel)(const void*), long long n_blocks, long long block, const void* walk) {
    blockDim.x = block;
    gridDim.x = n_blocks;
    for (blockIdx.x = 0; blockIdx.x < n_blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x) kernel(walk);
}
"""
_HOST_OF_GROWTH = (Path(__file__).parent / "host_of_growth.hpp").read_text()
_OPTIONS = (
    *("-std=c++20", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"),
    *("-Wno-unused-function", "-Wno-unused-parameter", "-Wno-unknown-pragmas"),
)


@cache
def host_kernels() -> ctypes.CDLL:
    """Kernels for 1 .. MOST_COLUMNS columns as a library."""
    text = [(Path(__file__).parent / "host.hpp").read_text(), f"#define N_LANES {LANES}", f"#define N_STEPS {STEPS}"]
    text += [f"#define N_PART_STEPS {PART_STEPS}", f"#define N_PART_THREADS {PART_THREADS}"]
    for n in range(1, MOST_COLUMNS + 1):
        text += [f"#define N_COLUMNS {n}", f"namespace columns_{n} {{", source(), "}", "#undef N_COLUMNS"]
    return host_library("\n".join(text))


@cache
def host_library(text: str) -> ctypes.CDLL:
    """A library of some kernels, kept in the folder for temporary files."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("no C++ compiler to compile the kernels with: set CXX")
    text += _LAUNCH
    digest = hashlib.sha256("\n".join([compiler, *_OPTIONS, text]).encode()).hexdigest()[:16]
    library = Path(tempfile.gettempdir()) / f"hedgerow-kernels-{os.getuid()}-{digest}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernels.cpp"
            path.write_text(text)
            made = path.with_suffix(".so")
            subprocess.run([compiler, *_OPTIONS, "-o", made, path], check=True)
            shutil.copy(made, partial := library.with_suffix(f".{os.getpid()}"))
            os.replace(partial, library)  # several processes may compile at the same time
    return ctypes.CDLL(str(library))


@dataclass
class HostLane:
    """Copies at once."""

    @contextmanager
    def work(self) -> Iterator[None]:
        yield

    def read(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows.copy()

    def write(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        out[...] = values

    def finish(self) -> None:
        pass


class HostArray(np.ndarray):  # type: ignore[type-arg]
    """Stands for an array that is on the device already."""


@dataclass
class HostDevice:
    library: ctypes.CDLL = field(default_factory=host_kernels)
    memory: int = 2**28
    cache_bytes: int = 2**20
    n_threads: int = 64
    n_processors: int = 2
    warp_size: int = 1
    shared_bytes: int = 48 * 1024
    most_shared_bytes: int = 128 * 1024
    xp: Any = np
    special: Any = scipy.special
    cooperating_threads: int = 1
    number: int = 0
    name: str = "cuda:0"
    launched: list[str] = field(default_factory=list)

    def free_bytes(self) -> int:
        return self.memory

    def address(self, array: NDArray[Any]) -> int:
        assert array.flags.c_contiguous
        return array.ctypes.data

    def owns(self, array: Any) -> bool:
        return isinstance(array, HostArray)

    @contextmanager
    def lanes(self, n: int) -> Iterator[list[HostLane]]:
        yield [HostLane() for _ in range(n)]

    def current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def compiled(self, source: str, options: tuple[str, ...]) -> Callable[..., None]:
        library = host_library(_HOST_OF_GROWTH + source)

        def launch(kernel: str, struct: NDArray[np.int64], n_blocks: int, block: int, shared: int) -> None:
            assert shared <= self.most_shared_bytes
            self.launched.append(kernel)
            argument = struct.ctypes.data_as(ctypes.c_void_p)
            library.launch(getattr(library, kernel), ctypes.c_longlong(n_blocks), ctypes.c_longlong(block), argument)

        return launch

    def launch(
        self, kernel: str, struct: NDArray[np.int64], n_threads: int, *, n_columns: int, block: int, shared: int
    ) -> None:
        is_staged = kernel in ("fold_staged", "fold_parts_staged")
        assert shared <= (self.most_shared_bytes if is_staged else max(self.shared_bytes, 4 * block))
        if is_staged:  # its threads wait for each other
            n_threads, block = -(-n_threads // block), 1
        self.launched.append(kernel)
        function = getattr(self.library, f"{kernel}_{n_columns}")
        n_blocks, size = ctypes.c_longlong(-(-n_threads // block)), ctypes.c_longlong(block)
        self.library.launch(function, n_blocks, size, struct.ctypes.data_as(ctypes.c_void_p))
