"""Base of the explanations of all models: reasons for doubt as records, text, HTML and plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from hedgerow.contributions import RowContributions
from hedgerow.explain.html import explanation_html
from hedgerow.explain.reasons.record import ReasonForDoubt

__all__ = ["Explained", "as_plain"]


@dataclass(frozen=True)
class Explained:
    """Abstract: an explanation of one row, with the reasons for doubt about it; the largest share first.

    `contributions` is what each column adds to the answer, where it was asked for.
    """

    why: tuple[ReasonForDoubt, ...] = field(default=(), kw_only=True)
    contributions: RowContributions | None = field(default=None, kw_only=True)

    @property
    def reasons(self) -> dict[str, float]:
        """Share of each reason for doubt by its name; they add up to 1. Empty where there is no doubt."""
        return {one.name: one.share for one in self.why}

    @property
    def reason(self) -> str | None:
        """Name of the main reason for doubt; None where there is no doubt."""
        return self.why[0].name if self.why else None

    def why_lines(self) -> list[str]:
        """Lines of text about the reasons.

        Returns
        -------
        list of str
            The lines.
        """
        return ["Why in doubt:", *(f"  {one}" for one in self.why)] if self.why else ["No reason for doubt."]

    def contribution_lines(self) -> list[str]:
        """Lines of text about the contributions; none where they were not asked for.

        Returns
        -------
        list of str
            The lines.
        """
        return [] if self.contributions is None else self.contributions.lines()

    def to_dict(self) -> dict[str, Any]:
        """Fields by name, `reason` and `reasons`, as plain data that ``json.dumps`` takes.

        Returns
        -------
        dict
            Numbers, texts, lists and dicts by name.
        """
        plain: dict[str, Any] = as_plain(self)
        if self.contributions is None:
            del plain["contributions"]
        return {"answer": plain.pop("answer"), "reason": self.reason, "reasons": self.reasons, **plain}

    def _repr_html_(self) -> str:
        return explanation_html(str(self), self.why)


def as_plain(value: Any) -> Any:
    """Records, arrays and numbers as dicts, lists and numbers; what JSON lacks as None or text."""
    if is_dataclass(value):
        return {one.name: as_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_plain(one) for one in value]
    if isinstance(value, np.generic | np.ndarray):
        return as_plain(value.tolist())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
