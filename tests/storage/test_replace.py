"""Replacing a file in one step: its permissions stay, any legal name works, and part files of dead processes go."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.storage import replace as replacing
from hedgerow.storage.replace import replaced

KILLED = """
import os, signal, sys
from hedgerow.storage.replace import replaced
with replaced(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.csv"


def write(path: Path, content: bytes) -> None:
    with replaced(path) as file:
        file.write(content)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_the_permissions_of_the_replaced_file_are_kept_from_the_first_byte(path: Path, mode: int) -> None:
    path.write_bytes(b"old")
    path.chmod(mode)
    with replaced(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("n_bytes", [240, 241, 255])
def test_names_may_be_as_long_as_the_file_system_allows(tmp_path: Path, n_bytes: int) -> None:
    path = tmp_path / ("é" * 10 + "m" * (n_bytes - 20))
    write(path, b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(OSError, match="too long"):
        write(tmp_path / ("m" * 256), b"new")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(replacing.fcntl is None, reason="needs file locks")
def test_the_part_file_of_a_killed_process_is_removed_by_the_next_write_of_that_name(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = os.listdir(path.parent)
    write(path.with_name("other.csv"), b"")
    assert sorted(os.listdir(path.parent)) == sorted([left, "other.csv"])
    write(path, b"new")
    assert sorted(os.listdir(path.parent)) == ["other.csv", "out.csv"]


def test_two_writers_of_one_name_leave_each_other_alone(path: Path) -> None:
    with replaced(path) as first:
        first.write(b"first")
        with replaced(path) as second:
            second.write(b"second")
            assert len(os.listdir(path.parent)) == 2
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(replacing.fcntl is None, reason="needs file locks")
def test_a_part_file_that_was_taken_for_stale_before_its_lock_is_made_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, removed = replacing._lock, []

    def remove_then_lock(descriptor: int, *, wait: bool = True) -> None:
        if wait and not removed:  # another process is here between creation and lock
            removed.extend(os.listdir(path.parent))
            replacing._remove_stale(path)
        lock(descriptor, wait=wait)

    monkeypatch.setattr(replacing, "_lock", remove_then_lock)
    write(path, b"new")
    assert len(removed) == 1
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == [path.name]


def test_an_error_leaves_the_old_file_and_no_other(path: Path) -> None:
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replaced(path) as file:
        file.write("text")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]
