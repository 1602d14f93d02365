"""Dataframes of any library: pandas and polars are read directly, all others through narwhals."""

from __future__ import annotations

from typing import Any, final

import narwhals as nw
import numpy as np
from narwhals.dependencies import get_pandas, get_polars
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow._printable import in_one_line
from hedgerow.data.pandas_frame import PandasFrame
from hedgerow.data.polars_frame import PolarsFrame
from hedgerow.data.sources import Frame, Source, arrow_dictionary

__all__ = ["as_frame"]

# Calls that compute lazy frames of each library.
_COLLECT = "X.collect()"
_TO_VALUES = {
    nw.Implementation.DASK: "X.compute()",
    nw.Implementation.DUCKDB: "X.df() or X.arrow()",
    nw.Implementation.IBIS: "X.to_pyarrow()",
    nw.Implementation.PYSPARK: "X.toArrow() or X.toPandas()",
    nw.Implementation.PYSPARK_CONNECT: "X.toArrow() or X.toPandas()",
    nw.Implementation.SQLFRAME: "X.toPandas()",
}


@final
class _NarwhalsFrame(Frame):
    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame = frame
        self.labels = frame.columns
        self.shape = frame.shape

    @lazy
    def sources(self) -> list[Source]:
        return [Source(one, dictionary=arrow_dictionary(one)) for one in self._frame.iter_columns()]

    def float_block(self) -> NDArray[np.float64] | None:
        if any(dtype != nw.Float64 for dtype in self._frame.schema.values()):
            return None
        block = self._frame.to_numpy()
        return block if block.dtype == np.float64 else None


def as_frame(X: Any) -> Frame | None:
    """Wrap X if it is a dataframe; None for input that scikit-learn's `check_array` converts."""
    if type(X) is np.ndarray:
        return None
    pandas = get_pandas()  # None unless it is imported
    if pandas is not None and isinstance(X, pandas.DataFrame) and X.columns.is_unique:
        return PandasFrame(X)
    polars = get_polars()
    if polars is not None and isinstance(X, polars.DataFrame):
        return PolarsFrame(X)
    try:
        native = nw.from_native(X, pass_through=True, allow_series=True)
    except DuplicateError as error:
        raise ValueError(f"X has duplicate column names; rename or drop the copies. {in_one_line(error)}") from error
    if isinstance(native, nw.LazyFrame):
        call = _TO_VALUES.get(native.implementation, _COLLECT)
        raise ValueError(f"X is a lazy frame, which holds no values yet; pass {call} instead.")
    if isinstance(native, nw.Series):
        raise ValueError(
            "Expected a table, got a single column instead. Reshape your data: pass a frame with one column, "
            "for example X.to_frame(), or with one row."
        )
    return _NarwhalsFrame(native) if isinstance(native, nw.DataFrame) else None
