"""Output files, checked before the work starts, since an error after it would waste the work."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.cli.errors import CommandError, UsageError

__all__ = ["STANDARD", "TableFormat", "check_model_name", "check_page_name", "check_writable", "table_format"]

STANDARD = "-"  # standard input or output


# --- Formats by suffix --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableFormat:
    """Format of a table of predictions."""

    kind: str
    gzip: bool = False


_CSV, _TSV, _PARQUET = TableFormat("csv"), TableFormat("tsv"), TableFormat("parquet")
_TABLES = {
    ".csv": _CSV,
    ".txt": _CSV,
    ".tsv": _TSV,
    ".tab": _TSV,
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".csv.gz": TableFormat("csv", gzip=True),
    ".tsv.gz": TableFormat("tsv", gzip=True),
}
# Suffixes that promise something else than a model file.
_NOT_MODELS = frozenset(
    {
        *(".csv", ".txt", ".tsv", ".tab", ".data", ".parquet", ".pq", ".arff", ".xlsx", ".xls"),
        *(".json", ".jsonl", ".ndjson", ".html", ".md", ".pdf", ".png", ".svg", ".py"),
        *(".gz", ".zip", ".bz2", ".xz", ".zst", ".pkl", ".pickle", ".joblib", ".skops", ".onnx"),
    }
)


def table_format(path: str) -> TableFormat:
    """Choose the format of a table by the suffix of its file; CSV for standard output and names without a suffix."""
    name = os.path.basename(path).lower()
    suffix = "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix
    if path == STANDARD or not suffix:
        return _CSV
    if suffix not in _TABLES:
        hint = "; Parquet is compressed already" if suffix in (".parquet.gz", ".pq.gz") else ""
        raise UsageError(f"--output is {path!r}: can't write {suffix}, only {', '.join(_TABLES)}{hint}")
    return _TABLES[suffix]


def check_model_name(path: str) -> None:
    """Refuse names that promise another format than that of a model file."""
    suffix = Path(path).suffix.lower()
    if suffix in _NOT_MODELS:
        proposed = f"{path[: -len(suffix)].removesuffix('.hedgerow')}.hedgerow"
        raise UsageError(f"--output is {path!r}, but a model file is not {suffix}: name it {proposed!r}")


def check_page_name(path: str) -> None:
    """Refuse names that promise another format than that of a page."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".html", ".htm"):
        raise UsageError(f"--output is {path!r}, but a page is HTML: name it {path.removesuffix(suffix) + '.html'!r}")


# --- Paths --------------------------------------------------------------------------------------------------


def check_writable(output: str, inputs: Iterable[str], folder: str | None = None) -> None:
    """Refuse an output that can't be written, or that is one of the inputs.

    `inputs` are paths, ``-``, or names of datasets in `folder` (the option --data).
    """
    inputs = list(inputs)
    written = _standard_stat(sys.stdout) if output == STANDARD else _stat(output)
    if written is not None and stat.S_ISREG(written.st_mode):
        for given, read in _input_stats(inputs, folder):
            if os.path.samestat(written, read):
                raise CommandError(_overwrites(output, given))
    if output != STANDARD:
        _check_folder(output)


def _overwrites(output: str, given: str) -> str:
    what = "standard output" if output == STANDARD else f"--output {output!r}"
    source = "standard input" if given == STANDARD else repr(given)
    same = "" if output == given else f" (the same file as {source})"
    return f"{what} is an input of this command{same}: choose another file"


def _input_stats(inputs: Iterable[str], folder: str | None) -> Iterator[tuple[str, os.stat_result]]:
    for given in inputs:
        if given == STANDARD:
            found = [_standard_stat(sys.stdin)]
        else:
            found = [_stat(given), *(_stat(path) for path in _dataset_files(given, folder))]
        yield from ((given, one) for one in found if one is not None)


def _dataset_files(name: str, folder: str | None) -> Iterator[Path]:
    """Files that a dataset of this name may be read from."""
    from hedgerow.datasets.cache import cache_folder

    for place in (folder, os.environ.get("HEDGEROW_DATA"), cache_folder()):
        if place:
            yield Path(place, f"{name}.parquet")


def _stat(path: str | Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _standard_stat(stream: Any) -> os.stat_result | None:
    """None for a stream that is not a file of the system."""
    try:
        return os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return None


def _check_folder(path: str) -> None:
    goal = Path(os.path.realpath(path))
    if goal.is_dir():
        raise CommandError(f"{path} is a folder: give the name of a file")
    if not goal.parent.is_dir():
        raise CommandError(f"{path}: there is no folder {str(goal.parent)!r}")
    if not os.access(goal.parent, os.W_OK):
        raise CommandError(f"{path}: the folder {str(goal.parent)!r} can't be written to")
