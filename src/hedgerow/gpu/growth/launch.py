"""Kernels of growth, and their argument: one struct of eight-byte fields, ``Growth`` in ``kernels/language.cu``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.gpu.device import Device

__all__ = ["OPTIONS", "TEAMS", "Kernels", "Team", "fields", "large_bytes", "small_bytes", "source"]

OPTIONS = ("--std=c++17", "--fmad=false")  # a product and a sum are rounded each, as on the CPU

_FILES = ("language.cu", "team.cu", "few_rows.cu", "many_rows.cu", "split.cu", "bags.cu", "levels.cu")
_FIELD = re.compile(r"^    (?!//)[^()]*?\b(\w+);", re.MULTILINE)
_BLOCK = 128
_N_CODES = 256
_CANDIDATE, _BEST, _NOTES, _ROW = 32, 32, 32, 8  # bytes of the structs in kernels/team.cu
_WORDS = 2 * (_N_CODES // 32)  # of two sets of codes


@dataclass(frozen=True)
class Team:
    """Threads that share a node, and the nodes that they take."""

    threads: int
    most_rows: int
    is_small: bool
    """Whether the rows of a node are copied to the memory that the threads share."""


TEAMS = (Team(8, 8, True), Team(32, 32, True), Team(128, 4096, False), Team(512, 2**62, False))
"""By the number of rows, ascending."""


@cache
def source() -> str:
    """Source of all kernels."""
    folder = resources.files("hedgerow.gpu.growth") / "kernels"
    return "\n".join((folder / name).read_text() for name in _FILES)


@cache
def fields() -> dict[str, int]:
    """Position of each field of the struct."""
    text = source()
    body = text[text.index("struct Growth {") : text.index("// -- draws")]
    return {name: position for position, name in enumerate(_FIELD.findall(body))}


def small_bytes(n_classes: int, n_features: int, n_rows: int) -> int:
    """Memory of a team that shares a node of few rows."""
    return _team_bytes(n_classes, n_features, n_rows * (_CANDIDATE + _ROW + 4))


def large_bytes(n_classes: int, n_features: int) -> int:
    """Memory of a team that shares a node of many rows."""
    return _team_bytes(n_classes, n_features, _N_CODES * (_CANDIDATE + 4 * (n_classes + 1)))


def _team_bytes(n_classes: int, n_features: int, n_bytes: int) -> int:
    n_bytes += _BEST + _NOTES + 4 * (2 * (n_classes + 1) + _WORDS) + 2 * n_features
    return -(-n_bytes // 16) * 16


@dataclass
class Kernels:
    """Launches of kernels that share most of their arguments."""

    device: Device
    arguments: dict[str, Any] = field(default_factory=dict)
    """Numbers, and arrays of the device."""

    def __post_init__(self) -> None:
        self._launch = self.device.compiled(source(), OPTIONS)

    def __call__(self, kernel: str, n_threads: int, *, block: int = _BLOCK, shared: int = 0, **arguments: Any) -> None:
        """Launch a kernel on so many threads at least; `arguments` are kept for the following launches."""
        self.arguments.update(arguments)
        n_blocks = -(-n_threads // block)
        if n_blocks:
            self._launch(kernel, self._struct(self.arguments), n_blocks, block, shared)

    def on_teams(self, listed: Any, team: Team, n_nodes: int) -> None:
        """Split listed nodes, each by a team."""
        n_classes, n_features = self.arguments["n_classes"], self.arguments["n_features"]
        threads = min(team.threads, self.device.cooperating_threads)
        arguments = {"listed": listed, "n_teams": n_nodes, "team": threads, "capacity": team.most_rows}
        if not team.is_small:
            shared = large_bytes(n_classes, n_features)
            self("split_large", n_nodes * threads, block=threads, shared=shared, **arguments)
            return
        n_bytes = small_bytes(n_classes, n_features, team.most_rows)
        block = threads
        while block < _BLOCK and 2 * block // threads * n_bytes <= self.device.shared_bytes and threads > 1:
            block *= 2
        shared = block // threads * n_bytes
        self("split_small", n_nodes * threads, block=block, shared=shared, team_bytes=n_bytes, **arguments)

    def _struct(self, arguments: Mapping[str, Any]) -> NDArray[np.int64]:
        positions = fields()
        struct = np.zeros(len(positions), dtype=np.int64)
        for name, value in arguments.items():
            at = slice(positions[name], positions[name] + 1)
            if isinstance(value, float):
                struct[at].view(np.float64)[0] = value
            elif value is not None:
                struct[at] = value if isinstance(value, int) else self.device.address(value)
        return struct
