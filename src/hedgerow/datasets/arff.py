"""Weka's ARFF: declared columns, then rows.

    @relation weather
    @attribute outlook {sunny, overcast, rainy}
    @attribute temperature numeric
    @data
    sunny, 85
    ?, 70

Nominal declarations are honoured, ``?`` is missing, quotes and backslashes are as in Weka; sparse rows are read.
Weights of rows, relational columns and dates with a format of their own are not.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hedgerow.datasets.encodings import not_utf8, to_utf8
from hedgerow.datasets.number_columns import exact_integers
from hedgerow.datasets.numerals import integer_literals, is_plain_number
from hedgerow.datasets.rows import As, DataFileError, Reading, check_names, convert_columns, has_huge
from hedgerow.datasets.streams import Stream

__all__ = ["ArffRows"]

_ROWS_AT_ONCE = 20_000
_NUMERIC = frozenset({"numeric", "real", "integer"})
_TEXT = frozenset({"string", "date"})
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAME = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.I)
# One token each and possessive: a pattern of a whole field would try all ways to divide a run of spaces.
_SPACES = re.compile(r"\s*+")
_FIELD = re.compile(rf"""{_QUOTED}|(?!['"])[^,\t]*+""")
_SPARSE_INDEX = re.compile(r"\s*+(\d+)\s+")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class _Attribute:
    name: str
    categories: tuple[str, ...] | None  # None: not nominal
    numeric: bool

    @property
    def absent(self) -> str:
        """Value of the attribute in a sparse row that omits it."""
        return self.categories[0] if self.categories else "0"


class ArffRows:
    """Rows of an ARFF file."""

    def __init__(self, stream: Stream, reading: Reading) -> None:
        self.reading = reading
        self.label = stream.label
        self._text = io.TextIOWrapper(io.BufferedReader(to_utf8(stream, reading.encoding)), encoding="utf-8")
        self._lines = enumerate(self._text, start=1)
        self._attributes = self._declared()
        self.names = tuple(attribute.name for attribute in self._attributes)
        check_names(self.names, self.label)

    def table(self) -> pa.Table:
        blocks = [self._block(rows) for rows in self._blocks()]
        return pa.concat_tables(blocks, promote_options="permissive").unify_dictionaries()

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        for rows in self._blocks():
            yield convert_columns(self._block(rows), wanted, self.reading, self.label)

    # -- declarations

    def _declared(self) -> list[_Attribute]:
        attributes: list[_Attribute] = []
        for number, line in self._decoded():
            text = line.strip()
            word = text.split(None, 1)[0].lower() if text else "%"
            if word.startswith("%") or word == "@relation":
                continue
            if word == "@data":
                if not attributes:
                    break
                return attributes
            if word != "@attribute":
                raise self._wrong(number, f"{text[:40]!r} is neither a declaration nor @data")
            attributes.append(self._attribute(text, number))
        raise DataFileError(f"{self.label} is not an ARFF file: it has no @attribute and @data")

    def _attribute(self, text: str, number: int) -> _Attribute:
        found = _NAME.fullmatch(text)
        if found is None:
            raise self._wrong(number, f"{text[:60]!r} does not declare a column")
        name, kind = _unquoted(found[1]), found[2].strip()
        if kind.startswith("{"):
            if not kind.endswith("}"):
                raise self._wrong(number, f"the categories of {name!r} have no closing brace")
            return _Attribute(name, tuple(map(_unquoted, self._fields(kind[1:-1], number))), numeric=False)
        word = kind.split(None, 1)[0].lower() if kind else ""
        if word not in _NUMERIC | _TEXT:
            raise self._wrong(number, f"column {name!r} has type {kind[:40]!r}; known are numeric, string, {{a, b}}")
        return _Attribute(name, None, numeric=word in _NUMERIC)

    # -- rows

    def _decoded(self) -> Iterator[tuple[int, str]]:
        try:
            yield from self._lines
        except UnicodeDecodeError:
            raise not_utf8(self.label) from None

    def _blocks(self) -> Iterator[list[tuple[int, list[str]]]]:
        """Rows of fields as they are written, each with the number of its line."""
        rows: list[tuple[int, list[str]]] = []
        n_blocks = 0
        with self._text:
            for number, line in self._decoded():
                text = line.strip()
                if not text or text.startswith("%"):
                    continue
                rows.append((number, self._row(text, number)))
                if len(rows) == _ROWS_AT_ONCE:
                    yield rows
                    rows, n_blocks = [], n_blocks + 1
        if rows:
            yield rows
        elif not n_blocks:
            raise DataFileError(f"{self.label} has declarations and no rows")

    def _row(self, text: str, number: int) -> list[str]:
        if text.startswith("{"):
            return self._sparse_row(text, number)
        fields = self._fields(text, number)
        if len(fields) != len(self._attributes):
            raise self._wrong(number, f"{len(fields)} fields, but {len(self._attributes)} columns are declared")
        return fields

    def _fields(self, text: str, number: int) -> list[str]:
        if "'" not in text and '"' not in text and "\t" not in text:
            return [field.strip() for field in text.split(",")]
        fields: list[str] = []
        at: int | None = 0
        while at is not None:
            found = _next_field(text, at)
            if found is None:
                raise self._wrong(number, f"an unclosed quote near {text[at : at + 30]!r}")
            field, at = found
            fields.append(field)
        return fields

    def _sparse_row(self, text: str, number: int) -> list[str]:
        if not text.endswith("}"):
            raise self._wrong(number, "a sparse row has no closing brace, or a weight after it, which is not supported")
        row = [attribute.absent for attribute in self._attributes]
        inside = text[1:-1].rstrip()
        at: int | None = 0 if inside else None
        while at is not None and at < len(inside):
            index = _SPARSE_INDEX.match(inside, at)
            found = _next_field(inside, index.end()) if index else None
            if index is None or found is None or int(index[1]) >= len(row):
                raise self._wrong(
                    number, f"a sparse row has {inside[at : at + 30]!r}, where column and value should be"
                )
            row[int(index[1])], at = found
        return row

    def _block(self, rows: Sequence[tuple[int, list[str]]]) -> pa.Table:
        columns = zip(*(fields for _, fields in rows), strict=True)
        arrays = [
            self._column(attribute, column, rows) for attribute, column in zip(self._attributes, columns, strict=True)
        ]
        return pa.table(dict(zip(self.names, arrays, strict=True)))

    def _column(self, attribute: _Attribute, fields: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> pa.Array:
        missing = {"?", *self.reading.missing} if attribute.categories is None else {"?"}
        if attribute.numeric and attribute.name not in self.reading.text:
            try:
                return self._numbers([None if field in missing else field for field in fields])
            except ValueError:
                row = next(i for i, field in enumerate(fields) if field not in missing and not is_plain_number(field))
                raise self._wrong(
                    rows[row][0], f"column {attribute.name!r} is declared numeric but holds {fields[row]!r}"
                ) from None
        values = [None if field in missing else _unquoted(field) for field in fields]
        if attribute.categories is None:
            return pa.array(values, pa.string())
        code = {category: i for i, category in enumerate(attribute.categories)}
        try:
            codes = pa.array([None if value is None else code[value] for value in values], pa.int32())
        except KeyError as error:
            row = values.index(error.args[0])
            raise self._wrong(
                rows[row][0], f"column {attribute.name!r} has {values[row]!r}, which is not among its declared values"
            ) from None
        return pa.DictionaryArray.from_arrays(codes, pa.array(attribute.categories, pa.string()))

    @staticmethod
    def _numbers(fields: Sequence[str | None]) -> pa.Array:
        numbers = pa.array([None if field is None else float(field) for field in fields], pa.float64())
        if has_huge(pa.chunked_array([numbers])):
            written = pa.chunked_array([pa.array(fields, pa.string())])
            if integer_literals(written):
                return exact_integers(written).combine_chunks()
        return numbers

    def _wrong(self, number: int, words: str) -> DataFileError:
        return DataFileError(f"{self.label}: line {number}: {words}")


def _next_field(text: str, at: int) -> tuple[str, int | None] | None:
    """The field that starts at `at` and the start of the next one (None: it was the last); None if a quote is open.

    Fields end at a comma or a tab, with any spaces around it.
    """
    found = _FIELD.match(text, _end_of_spaces(text, at))
    if found is None:
        return None
    behind = _end_of_spaces(text, found.end())
    if behind == len(text):
        return found[0].rstrip(), None
    if text[behind] == ",":
        return found[0].rstrip(), behind + 1
    return (found[0].rstrip(), behind) if "\t" in text[found.end() : behind] else None


def _end_of_spaces(text: str, at: int) -> int:
    found = _SPACES.match(text, at)
    return at if found is None else found.end()


def _unquoted(field: str) -> str:
    if len(field) >= 2 and field[0] == field[-1] and field[0] in "'\"":
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), field[1:-1])
    return field
