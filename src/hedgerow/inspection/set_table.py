"""Sets and bounds of rows by the names of their classes, as a frame and for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable

__all__ = ["PredictedSets", "predicted_sets"]

_MOST_ROWS = 20

# Text keeps the colour of the page; bars have one that both light and dark pages show.
_STYLE = (
    "<style>.hedgerow-sets{font:13px/1.5 system-ui,sans-serif;border-collapse:collapse}"
    ".hedgerow-sets th,.hedgerow-sets td{padding:2px 10px;text-align:left;border-bottom:1px solid rgba(128,128,128,.3);"
    "background:none;white-space:nowrap}.hedgerow-sets .in{font-weight:bold}"
    ".hedgerow-sets .line{display:inline-block;position:relative;width:80px;height:.7em;margin-right:6px;"
    "background:rgba(128,128,128,.25)}.hedgerow-sets .bar{position:absolute;top:0;bottom:0;background:#3b82c4}</style>"
)


@dataclass(frozen=True, eq=False)
class PredictedSets:
    """Set-valued answers by the names of their classes; shows itself as a table in a notebook.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Labels, in the order of the columns of `sets`.
    sets : bool array of shape (n_samples, n_classes)
        Whether each class is in the answer, as `predict_set` returns.
    bounds : array of shape (n_samples, n_classes, 2) or None
        Lower and upper bound of each class's probability, as `predict_bounds` returns; None where the model has none.
    index : sequence or None
        Names of the rows, those of the frame that was asked about; None: their positions.

    Examples
    --------
    >>> from hedgerow.inspection import PredictedSets
    >>> import numpy as np
    >>> answer = PredictedSets(np.array(["benign", "malignant"]), np.array([[True, False], [True, True]]), None, None)
    >>> answer.labels
    [('benign',), ('benign', 'malignant')]
    """

    classes: NDArray[Any]
    sets: NDArray[np.bool_]
    bounds: NDArray[np.float64] | None
    index: Any

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def labels(self) -> list[tuple[Any, ...]]:
        """A tuple of labels for each row."""
        return [tuple(self.classes[row].tolist()) for row in self.sets]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: set, number of classes in it, and bounds of each class; needs pandas.

        Returns
        -------
        pandas.DataFrame
            A row for each row that was asked about.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as absent:
            raise ImportError("to_frame needs pandas: pip install pandas") from absent
        columns: dict[str, Any] = {"set": self.labels, "n_classes": self.sets.sum(axis=1)}
        if self.bounds is not None:
            for code, label in enumerate(self.classes.tolist()):
                columns[f"lower({label})"] = self.bounds[:, code, 0]
                columns[f"upper({label})"] = self.bounds[:, code, 1]
        return pandas.DataFrame(columns, index=self.index)

    def __repr__(self) -> str:
        undecided = int((self.sets.sum(axis=1) != 1).sum())
        return f"<PredictedSets of {len(self)} rows, {undecided} with other than one class>"

    def _repr_html_(self) -> str:
        names = [escape(printable(label)) for label in self.classes.tolist()]
        heads = "".join(f"<th>{name}</th>" for name in names) if self.bounds is not None else ""
        head = f"<thead><tr><th>row</th><th>set</th>{heads}</tr></thead>"
        lines = [_STYLE, f'<div style="overflow:auto"><table class="hedgerow-sets">{head}<tbody>']
        for row in range(min(len(self), _MOST_ROWS)):
            name = row if self.index is None else self.index[row]
            inside = " or ".join(name for name, is_in in zip(names, self.sets[row], strict=True) if is_in)
            lines.append(f"<tr><td>{escape(printable(name))}</td><td>{inside or 'none'}</td>{self._bars(row)}</tr>")
        lines.append("</tbody></table></div>")
        if len(self) > _MOST_ROWS:
            lines.append(f"<p>{len(self) - _MOST_ROWS} more rows</p>")
        return "".join(lines)

    def _bars(self, row: int) -> str:
        if self.bounds is None:
            return ""
        cells = []
        for (lower, upper), is_in in zip(self.bounds[row].tolist(), self.sets[row].tolist(), strict=True):
            bar = f'<span class="bar" style="left:{100 * lower:.1f}%;width:{100 * (upper - lower):.1f}%"></span>'
            cells.append(
                f'<td{" class=in" if is_in else ""}><span class="line">{bar}</span>{lower:.2f} to {upper:.2f}</td>'
            )
        return "".join(cells)


def predicted_sets(model: Any, X: Any, **arguments: Any) -> PredictedSets:
    """Ask a fitted model for sets of classes, by name and with bounds where it has these.

    `predict_set` returns a plain bool array, which scikit-learn's ``set_output`` does not reach: this is what it would
    do.

    Parameters
    ----------
    model : fitted estimator with `predict_set`
        Such as a :class:`~hedgerow.CautiousForestClassifier` or a :class:`~hedgerow.ConformalClassifier`.
    X : array-like or frame of shape (n_samples, n_features)
        Rows. Those of a pandas frame keep the names of its index.
    **arguments
        For `predict_set`, such as ``coverage=0.99``.

    Returns
    -------
    PredictedSets
        With `labels`, `to_frame()` and a table for notebooks.

    Raises
    ------
    TypeError
        If the model has no `predict_set`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import CautiousForestClassifier
    >>> iris = load_iris(as_frame=True)
    >>> species = iris.target_names[iris.target]
    >>> forest = CautiousForestClassifier(s=2, random_state=0).fit(iris.data[::2], species[::2])
    >>> from hedgerow.inspection import predicted_sets
    >>> predicted_sets(forest, iris.data[82:86:2]).to_frame()["set"]
    82               (versicolor,)
    84    (versicolor,)
    Name: set, dtype: object
    """
    if not callable(getattr(model, "predict_set", None)):
        raise TypeError(
            f"model is {type(model).__name__}, which has no predict_set: wrap it, "
            "as in ConformalClassifier(model) or CautiousClassifier.from_fitted(model)"
        )
    bounds = model.predict_bounds(X) if callable(getattr(model, "predict_bounds", None)) else None
    index = getattr(X, "index", None)
    return PredictedSets(
        np.asarray(model.classes_),
        model.predict_set(X, **arguments),
        bounds,
        None if index is None or callable(index) else index,
    )
