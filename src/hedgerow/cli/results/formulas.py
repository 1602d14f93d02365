"""CSV that a spreadsheet does not run: cells of text that it would take for formulas get an apostrophe in front."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.cli.results.answer_columns import Answers

__all__ = ["without_formulas"]

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def without_formulas(answers: Answers) -> Answers:
    """Prefix text cells and column names that begin with = + - @, tab or carriage return; numbers stay as they are."""
    kept = None if answers.kept is None else _prefixed(answers.kept)
    return replace(answers, different=_prefixed(answers.different), kept=kept)


def _prefixed(table: pa.Table) -> pa.Table:
    names = _prefixed_texts(pa.array(table.column_names, pa.string())).to_pylist()
    return pa.table([_prefixed_texts(column) for column in table.columns], names=names)


def _prefixed_texts(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    formula = pc.match_substring_regex(column, _FORMULA)
    number = pc.match_substring_regex(column, _NUMBER)
    marked = pc.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
    return pc.if_else(pc.and_not(formula, number), marked, column)
