"""Importances of columns, or of groups of them, over the trees of a forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Importances"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Importances:
    """Loss in score of each tree without what a column tells; the names of arrays are scikit-learn's.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.inspection import Importances
    >>> found = Importances(("age", "sex"), np.array([[0.1, 0.3], [0.0, 0.0]]), "accuracy")
    >>> print(found)
    loss in accuracy, mean over 2 trees ± standard error
    age     0.2000 ± 0.1000
    sex     0.0000 ± 0.0000
    """

    names: tuple[str, ...]
    """Columns, or groups of them."""
    importances: Floats
    """Loss of each tree, mean over the repeats, (n_names, n_trees)."""
    scoring: str
    """Score that is lost."""

    @property
    def importances_mean(self) -> Floats:
        """Mean over the trees, (n_names,)."""
        mean: Floats = self.importances.mean(axis=1)
        return mean

    @property
    def importances_std(self) -> Floats:
        """Standard deviation over the trees, (n_names,)."""
        if self.importances.shape[1] < 2:
            return np.full(len(self.names), np.nan)
        deviation: Floats = self.importances.std(axis=1, ddof=1)
        return deviation

    @property
    def standard_error(self) -> Floats:
        """Of the mean, for more trees from the same rows; other rows would vary more. NaN for a single tree."""
        error: Floats = self.importances_std / np.sqrt(self.importances.shape[1])
        return error

    @property
    def relative(self) -> Floats:
        """Mean relative to the largest, (n_names,); 0 where no mean is positive."""
        mean = self.importances_mean
        largest = float(mean.max())
        return mean / largest if largest > 0 else np.zeros_like(mean)

    def to_frame(self) -> Any:
        """Table with a row for each name, the largest mean first; needs pandas.

        Returns
        -------
        pandas.DataFrame
            Mean, standard error and mean relative to the largest.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as absent:
            raise ImportError("to_frame needs pandas: pip install pandas") from absent
        order = np.argsort(-self.importances_mean, kind="stable")
        columns = {
            "importance": self.importances_mean[order],
            "standard_error": self.standard_error[order],
            "relative": self.relative[order],
        }
        return pd.DataFrame(columns, index=pd.Index([self.names[i] for i in order], name="column"))

    def __str__(self) -> str:
        order = np.argsort(-self.importances_mean, kind="stable")
        width = max(map(len, self.names))
        lines = [f"loss in {self.scoring}, mean over {self.importances.shape[1]} trees ± standard error"]
        lines += [
            f"{self.names[i]:<{width}}  {self.importances_mean[i]:9.4f} ± {self.standard_error[i]:.4f}" for i in order
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Importances of {len(self.names)} columns by loss in {self.scoring}>"
