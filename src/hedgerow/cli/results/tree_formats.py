"""Formats of trees, by name and by the suffix of a file."""

from __future__ import annotations

from pathlib import Path

from hedgerow.cli.errors import UsageError

__all__ = ["FORMATS", "tree_format"]

_SUFFIXES = {
    ".svg": "svg",
    ".png": "png",
    ".pdf": "pdf",
    ".txt": "text",
    ".dot": "dot",
    ".gv": "dot",
    ".sql": "sql",
    ".py": "python",
    ".c": "c",
    ".html": "html",
    ".htm": "html",
}
_BINARY = ("png", "pdf")
FORMATS = ("text", "rules", "svg", "png", "pdf", "dot", "sql", "python", "c", "html")


def tree_format(name: str | None, output: str | None) -> str | None:
    """Choose the format by its name or by the name of the file; None where neither is given."""
    if output is None:
        if name in _BINARY:
            raise UsageError(f"--format {name} needs --output tree.{name}")
        return name
    suffix = Path(output).suffix.lower()
    if name is None and suffix not in _SUFFIXES:
        raise UsageError(f"--output is {output!r}: name a file {', '.join(_SUFFIXES)}, or give its --format")
    return name or _SUFFIXES[suffix]
