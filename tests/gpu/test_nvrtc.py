"""NVRTC compiles the kernels for every architecture that is supported, which needs no GPU: `make nvrtc-test`."""

from __future__ import annotations

import ctypes
from functools import cache

import pytest

from hedgerow.gpu.growth import launch as growth
from hedgerow.gpu.launch import MOST_COLUMNS, compile_options, source

KERNELS = (
    *("make_keys", "fold_rows", "fold_rows_of_many_columns", "fold_staged", "route_rows"),
    *("fold_parts", "fold_parts_of_many_columns", "fold_parts_staged", "list_reached"),
)

KERNELS_OF_GROWTH = (
    *("draw_rows", "draw_rows_again", "list_drawn", "count_classes"),
    *("list_nodes", "split_small", "split_large", "make_children", "fold_unseen"),
)
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"]


@cache
def nvrtc() -> ctypes.CDLL:
    pathfinder = pytest.importorskip("cuda.pathfinder", reason="cuda-pathfinder is not installed: make nvrtc-test")
    try:
        return ctypes.CDLL(pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path)
    except pathfinder.DynamicLibNotFoundError:
        pytest.skip("NVRTC is not installed: make nvrtc-test")


def compiled(architecture: str, text: str, given: tuple[str, ...]) -> tuple[bytes, str]:
    """Machine code of the kernels, and what the compiler has said."""
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    options = [option.encode() for option in (f"--gpu-architecture={architecture}", *given)]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    assert library.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0
    log = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetProgramLog(program, log) == 0
    assert status == 0, log.value.decode()
    assert library.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0
    code = ctypes.create_string_buffer(size.value)
    assert library.nvrtcGetCUBIN(program, code) == 0
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw, log.value.decode()


@pytest.mark.parametrize("n_columns", [1, 2, MOST_COLUMNS])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles(architecture: str, n_columns: int) -> None:
    code, log = compiled(architecture, source(), compile_options(n_columns))
    assert log == ""
    assert [name for name in KERNELS if b".text." + name.encode() + b"\0" not in code] == []


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_of_growth_compiles(architecture: str) -> None:
    code, log = compiled(architecture, growth.source(), growth.OPTIONS)
    assert log == ""
    assert [name for name in KERNELS_OF_GROWTH if b".text." + name.encode() + b"\0" not in code] == []
