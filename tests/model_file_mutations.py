"""Broken model files: mutations of a good one, most of them with checksums that are right again, to get further."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hedgerow import load
from hedgerow._core import checksum
from hedgerow._params import RowError
from hedgerow.storage import ModelFileError
from hedgerow.storage.container import _CHECKSUM, _PROLOGUE, FORMAT_VERSION, MAGIC, PROLOGUE_BYTES

NUMBERS = [-1, 0, 1, 2, 3, 64, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]
VALUES = [*NUMBERS, None, True, False, "", "a", "0" * 50, [], {}, [[]], 0.5, -0.0, 1e308, 1e-320, 10**19, "<f8", "$"]
TEXTS = [
    *(b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 100_000, b'{"$":' * 2000, b"\xff\xfe", b"\x00"),
    *(b'"a":1,"a":1,', b"\\ud800", b"null", b"-", b",", b"}", b"]", b'"', b"1e5", b"0.1", b"00"),
]


def sealed(header: bytes, data: bytes) -> bytes:
    """A block with right sizes and checksums around a header and the arrays."""
    head = header + bytes(-(PROLOGUE_BYTES + len(header)) % 64)
    length = PROLOGUE_BYTES + len(head) + len(data)
    start = _PROLOGUE.pack(MAGIC, FORMAT_VERSION, 0, length, len(header), _sum(header))
    return (start + _CHECKSUM.pack(_sum(start))).ljust(PROLOGUE_BYTES, b"\0") + head + data


def _sum(data: bytes) -> int:
    return int(checksum(np.frombuffer(data, dtype=np.uint8)))


def opened(block: bytes) -> tuple[bytes, bytearray]:
    """Header and arrays of a good block."""
    length = _PROLOGUE.unpack_from(block)[4]
    return block[PROLOGUE_BYTES : PROLOGUE_BYTES + length], bytearray(block[-(-(PROLOGUE_BYTES + length) // 64) * 64 :])


def flip_bits(block: bytes, rng: random.Random) -> bytes:
    changed = bytearray(block)
    for _ in range(rng.choice([1, 1, 2, 8, 100])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(block: bytes, rng: random.Random) -> bytes:
    return block[: rng.choice([0, 1, 8, 63, 64, rng.randrange(len(block)), len(block) - 1])]


def extend(block: bytes, rng: random.Random) -> bytes:
    return block + rng.randbytes(rng.choice([1, 64, 1000]))


def edit_prologue(block: bytes, rng: random.Random) -> bytes:
    """Another number in the first bytes, whose checksum is right again."""
    fields: list[Any] = list(_PROLOGUE.unpack_from(block))
    which = rng.randrange(1, 6)
    bits = 32 if which < 3 else 64
    fields[which] = rng.choice([*(abs(n) for n in NUMBERS), fields[which] + 1, fields[which] + 64]) % 2**bits
    start = _PROLOGUE.pack(*fields)
    return (start + _CHECKSUM.pack(_sum(start))).ljust(PROLOGUE_BYTES, b"\0") + block[PROLOGUE_BYTES:]


def _places(plain: Any) -> list[tuple[Any, Any]]:
    """Container and key of every value."""
    found: list[tuple[Any, Any]] = []
    todo = [plain]
    while todo:
        at = todo.pop()
        for key, value in list(at.items() if isinstance(at, dict) else enumerate(at)):
            found.append((at, key))
            if isinstance(value, (dict, list)):
                todo.append(value)
    return found


def edit_header(block: bytes, rng: random.Random) -> bytes:
    """Values of the header replaced, removed, doubled or swapped."""
    header, data = opened(block)
    plain = json.loads(header)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = _places(plain)
        at, key = rng.choice(places)
        other_at, other_key = rng.choice(places)
        action = rng.randrange(5)
        if action == 0:
            del at[key]
        elif action == 1 and isinstance(at, list):
            at.append(json.loads(json.dumps(at[key])))
        elif action == 2:
            at[key] = json.loads(json.dumps(other_at[other_key]))
        elif action == 3 and isinstance(at[key], (int, float)):
            at[key] = at[key] + rng.choice([-1, 1, 64, 0.5])
        else:
            at[key] = rng.choice(VALUES)
    return sealed(json.dumps(plain).encode(), bytes(data))


def edit_text(block: bytes, rng: random.Random) -> bytes:
    """The header as text: what no JSON writer would write."""
    header, data = opened(block)
    at = rng.randrange(len(header))
    return sealed(header[:at] + rng.choice(TEXTS) + header[at + rng.choice([0, 0, 1, 5]) :], bytes(data))


def edit_arrays(block: bytes, rng: random.Random) -> bytes:
    """Numbers in arrays, whose checksums are right again."""
    header, data = opened(block)
    plain = json.loads(header)
    starts, start = [], 0
    for dtype, shape, _ in plain["arrays"]:
        n_bytes = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
        starts.append((start, n_bytes))
        start += -(-n_bytes // 64) * 64
    for _ in range(rng.choice([1, 1, 3, 20])):
        start, n_bytes = rng.choice([place for place in starts if place[1]])
        size = rng.choice([size for size in (1, 4, 8) if size <= n_bytes])
        at = start + rng.randrange(n_bytes // size) * size
        number = rng.choice(
            [*NUMBERS, rng.getrandbits(64), 0x7FF0 << 48, 0x7FF8 << 48, data[at] ^ 1 << rng.randrange(8)]
        )
        data[at : at + size] = (number % 2 ** (8 * size)).to_bytes(size, "little")
    for entry, (start, n_bytes) in zip(plain["arrays"], starts, strict=True):
        entry[2] = f"{_sum(bytes(data[start : start + n_bytes])):016x}"
    return sealed(json.dumps(plain).encode(), bytes(data))


def swap_arrays(block: bytes, rng: random.Random) -> bytes:
    """Descriptions of arrays exchanged, or their sizes."""
    header, data = opened(block)
    plain = json.loads(header)
    one, other = rng.sample(plain["arrays"], 2)
    which = rng.choice([slice(0, 1), slice(1, 2), slice(0, 3)])
    one[which], other[which] = other[which], one[which]
    return sealed(json.dumps(plain).encode(), bytes(data))


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [
    *(flip_bits, cut, extend, edit_prologue, edit_text, swap_arrays),
    *(edit_header, edit_header, edit_header, edit_arrays, edit_arrays, edit_arrays),
]

MAX_SECONDS = 1.0
FIXED_BYTES = 1 << 18  # what reading costs however small the file: JSON, names, errors


@contextmanager
def memory_traced() -> Iterator[None]:
    """Where `outcome` may be asked. Once around many files, because CPython loses some memory at every stop."""
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def outcome(seeds: list[bytes], number: int, path: Path, X: Any) -> str:
    """Whether mutation `number` was "refused" or "loaded"; an AssertionError for anything else. Under memory_traced."""
    rng = random.Random(number)
    mutate = rng.choice(MUTATIONS)
    block = mutate(rng.choice(seeds), rng)
    path.unlink(missing_ok=True)  # the file before may still be mapped
    path.write_bytes(block)
    options = {"mmap": rng.random() < 0.3, "verify": rng.random() < 0.8}
    most = 4 * len(block) + FIXED_BYTES
    for _ in range(5):  # whoever is first imports modules and fills caches, and threads of other tests allocate too
        found, taken, used = _read(path, options)
        if taken < MAX_SECONDS and used < most:
            break
    assert taken < MAX_SECONDS, f"{number}: {mutate.__name__} took {taken:.1f} s"
    assert used < most, f"{number}: {mutate.__name__} took {used} bytes for {len(block)}"
    if isinstance(found, ModelFileError):
        assert "\n" not in str(found), f"{number}: more than one line: {found}"
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _use(found, X)
    return "loaded"


def _read(path: Path, options: dict[str, bool]) -> tuple[Any, float, int]:
    """The model or the error, seconds, and bytes at the peak."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    start = time.perf_counter()
    try:
        found = load(path, **options)
    except ModelFileError as error:
        found = error
    return found, time.perf_counter() - start, tracemalloc.get_traced_memory()[1] - before


def _rows_for(model: Any, X: Any) -> Any:
    """X, or, for a model that wants text, a frame that has some."""
    columns = model.schema_.columns
    if not any(isinstance(category, str) for column in columns for category in column.categories):
        return X
    return pd.DataFrame(
        {
            column.name: X[:, 0] if not column.categories else [column.categories[0], None, column.categories[-1]]
            for column in columns
        }
    )


def _use(model: Any, X: Any) -> None:
    X = _rows_for(model, X)
    try:
        answer = model.predict(X)
    except RowError:  # a mutated model may read errors from a column, and no value of X has to be one
        return
    assert answer.shape == (len(X),)
    model.apply(X)
    model.feature_importances_  # noqa: B018 - computed
    if hasattr(model, "classes_"):
        assert model.predict_proba(X).shape == (len(X), len(model.classes_))
        model.leaf_counts(X)
        if hasattr(model, "predict_drawn"):
            assert set(model.predict_drawn(X, 0)) <= set(model.classes_)
    for explanation in model.explain(X):
        str(explanation)
    if hasattr(model, "leaf_samples_"):
        assert model.predict_quantiles(X).shape == (len(X), 3)
