"""Published tables, as CSV: figures of the documents, by dataset."""

from __future__ import annotations

import csv
from importlib.resources import files

__all__ = ["published"]


def published(name: str) -> list[dict[str, str]]:
    """Rows of a published table, by column."""
    text = files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
