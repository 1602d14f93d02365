"""Columns that all files must share, by the kind of their Arrow types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["common_columns", "is_text_like"]


def common_columns(schemas: Sequence[tuple[str, pa.Schema]]) -> pa.Schema:
    """Schema of the first file; every other must have the same columns, of the same kind, in any order.

    A column without any type (all missing) goes with every other.
    """
    import pyarrow as pa

    first_file, first = schemas[0]
    if len(set(first.names)) < len(first.names):
        twice = next(name for name in first.names if first.names.count(name) > 1)
        raise ValueError(f"{first_file} has the column {twice!r} more than once: rename or drop the copies")
    fields = {name: first.field(name) for name in first.names}
    home = dict.fromkeys(first.names, first_file)
    for file, schema in schemas[1:]:
        for name in schema.names:
            if name not in fields:
                raise ValueError(f"{file} has a column {name!r}, which {first_file} lacks: all need the same columns")
        for name in fields:
            if name not in schema.names:
                raise ValueError(f"{file} lacks the column {name!r}, which {first_file} has: all need the same columns")
            here, known = schema.field(name), fields[name]
            if pa.types.is_null(known.type):
                fields[name], home[name] = here, file
            elif not pa.types.is_null(here.type) and _family(here.type) != _family(known.type):
                raise ValueError(
                    f"{file}: column {name!r} has type {here.type}, and in {home[name]} {known.type}: "
                    "write both with the same type"
                )
    return pa.schema(list(fields.values()))


def _family(kind: Any) -> str:
    """Types that are read alike have the same family; all others must be equal."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "numbers"
    if is_text_like(kind):
        return "text"
    return str(kind)


def is_text_like(kind: Any) -> bool:
    """Whether an Arrow type is text, or an unordered dictionary of text."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return not kind.ordered and is_text_like(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
