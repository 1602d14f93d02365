"""How what stands below this room is stored: forests and what was learned about columns."""

from __future__ import annotations

from typing import Any

from hedgerow._registry import register
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest

__all__: list[str] = []


def _take_schema(schema: Schema) -> dict[str, Any]:
    return {
        "named": schema.named,
        "names": list(schema.names),
        "kinds": [column.kind.value for column in schema.columns],
        "categories": [list(column.categories) for column in schema.columns],
    }


def _make_schema(values: dict[str, Any]) -> Schema:
    columns = zip(values["names"], values["kinds"], values["categories"], strict=True)
    return Schema(tuple(Column(name, Kind(kind), tuple(found)) for name, kind, found in columns), values["named"])


register(Schema, name="hedgerow.Schema", take=_take_schema, make=_make_schema)
register(Forest, name="hedgerow.Forest", take=Forest.stored, make=Forest.from_stored)
