"""Conversion of sparse input to dense arrays, within a memory limit."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["densify"]

_LARGEST_DENSE_BYTES = 4 * 2**30


def densify(X: Any) -> Any:
    """Return a sparse matrix of SciPy as a dense array, anything else as it is.

    Trees here read dense rows: a matrix that would not fit into memory is refused with its size.
    """
    scipy_sparse = sys.modules.get("scipy.sparse")  # without it X can't be sparse
    if scipy_sparse is None or not scipy_sparse.issparse(X):
        return X
    n_bytes = 8 * X.shape[0] * X.shape[-1]
    if n_bytes > _LARGEST_DENSE_BYTES:
        raise ValueError(
            f"X is sparse, and as a dense matrix of {' x '.join(f'{n:,}' for n in X.shape)} it would take "
            f"{n_bytes / 2**30:.1f} GiB, more than {_LARGEST_DENSE_BYTES / 2**30:g} GiB: pass categories as one "
            "column each of a frame instead of one-hot columns, or select fewer columns or rows"
        )
    return X.toarray()
