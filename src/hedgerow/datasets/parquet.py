"""Parquet by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.datasets.rows import As, DataFileError, Reading, convert, convert_columns, is_text, markers_to_null
from hedgerow.datasets.streams import Stream

__all__ = ["MAGIC", "ParquetRows"]

MAGIC = b"PAR1"
_ROWS_AT_ONCE = 65_536


class ParquetRows:
    """Rows of a Parquet file. Of standard input all bytes are kept: the end of such a file says where its rows are."""

    def __init__(self, stream: Stream, reading: Reading) -> None:
        self.reading = reading
        self.label = stream.label
        try:
            with stream:
                self._file = pq.ParquetFile(pa.BufferReader(stream.read()) if stream.path is None else stream.path)
        except (pa.ArrowException, OSError) as error:
            raise DataFileError(f"{self.label} is not a Parquet file, or is damaged: {_first_line(error)}") from None
        self.names = tuple(self._file.schema_arrow.names)

    def table(self) -> pa.Table:
        try:
            table = self._file.read()
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None
        if not table.num_rows:
            raise DataFileError(f"{self.label} has no rows")
        for at, name in enumerate(table.column_names):
            column, what = table.column(at), f"{self.label}: column {name!r}"
            if name in self.reading.text:
                column = convert(column, "text", self.reading.missing, what).cast(pa.string())
            elif is_text(column.type):
                column = markers_to_null(column, self.reading.missing)
            table = table.set_column(at, name, column)
        return table

    def batches(self, wanted: Mapping[str, As]) -> Iterator[pa.Table]:
        if not self._file.metadata.num_rows:
            raise DataFileError(f"{self.label} has no rows")
        for batch in self._batches(list(wanted)):
            yield convert_columns(pa.Table.from_batches([batch]), wanted, self.reading, self.label)

    def _batches(self, names: list[str]) -> Iterator[Any]:
        try:
            yield from self._file.iter_batches(_ROWS_AT_ONCE, columns=names)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DataFileError:
        return DataFileError(f"{self.label} is a damaged Parquet file: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
