"""Data by name, and files of rows; they need pyarrow, ``pip install 'hedgerow[data]'``.

>>> from hedgerow import ForestClassifier, datasets
>>> iris = datasets.load("iris")
>>> iris.X.column_names[2:], iris.task
(['petal length (cm)', 'petal width (cm)'], 'classification')
>>> round(ForestClassifier(random_state=0).fit(iris.X, iris.y).score(iris.X, iris.y))
1
"""

try:
    import pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError("hedgerow.datasets needs pyarrow: pip install 'hedgerow[data]'") from error

from hedgerow.datasets.files import FORMATS, open_rows
from hedgerow.datasets.named import Dataset, Entry, entries, load
from hedgerow.datasets.openml import fetch_openml
from hedgerow.datasets.rows import MISSING, DataFileError, Reading, Rows

__all__ = [
    "FORMATS",
    "MISSING",
    "DataFileError",
    "Dataset",
    "Entry",
    "Reading",
    "Rows",
    "entries",
    "fetch_openml",
    "load",
    "open_rows",
]
