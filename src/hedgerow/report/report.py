"""A finished report: its figures, and the page that shows them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from html import escape
from typing import Any

from hedgerow.report.page import render
from hedgerow.storage.replace import replaced

__all__ = ["Report"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Figures about models, and a page of them; :func:`hedgerow.report.build` makes it.

    A notebook shows the page in a frame.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.report import build
    >>> from sklearn.datasets import load_iris
    >>> report = build(TreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)))
    >>> report.to_html().startswith("<!doctype html>")
    True
    """

    figures: dict[str, Any]
    """All figures, as JSON values: scores of each model, columns, reliability, importance, and what else applies."""
    details: dict[str, Any] = field(default_factory=dict)
    """Rows in doubt, the tree, and the rows that they refer to."""
    whatif: dict[str, Any] | None = None
    """The model as the page walks it; None where it can't."""

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return str(self.figures["headline"]["sentence"])

    def to_html(self) -> str:
        """Return the page, one HTML document that needs nothing else.

        Returns
        -------
        str
            The page.
        """
        return render(self.figures, self.details, self.whatif)

    def to_json(self) -> str:
        """Return all figures as JSON.

        Returns
        -------
        str
            A JSON document.
        """
        return json.dumps(self.figures, indent=2, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which is replaced only when the new one is complete.

        Parameters
        ----------
        path : path
            File to write, usually with the ending .html.

        Raises
        ------
        OSError
            If the file can't be written.
        """
        content = self.to_html().encode()
        with replaced(path) as file:
            file.write(content)

    def __repr__(self) -> str:
        return f"<Report: {self.headline}>"

    def _repr_html_(self) -> str:
        attributes = 'sandbox="allow-scripts" width="100%" height="800" title="hedgerow report"'
        return f'<iframe srcdoc="{escape(self.to_html())}" {attributes}></iframe>'
