"""Explanations of trees of soft regions: the regions that a row may be in, and the columns whose errors cost most.

``str`` of an explanation is a text for people; its fields are for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.explain.explained import Explained
from hedgerow.explain.reasons import ReasonForDoubt
from hedgerow.explain.sentences import listed, mixture_lines
from hedgerow.forest.text import highest_level, number_text
from hedgerow.measured.laws.column_laws import CategoryLaw
from hedgerow.measured.laws.joint_law import JointLaw
from hedgerow.measured.regions import Regions, joint_membership, region_factors
from hedgerow.walk import weighted_sums

__all__ = ["PossibleRegion", "RegionExplanation", "error_costs", "explain_regions", "measured_text"]

Floats = NDArray[np.float64]

_MOST_REGIONS = 5  # listed in the text
_LEAST_SHARE = 0.005  # anything less is shown as 0 %
_LEAST_MASS = 1e-4  # of a piece of a column that is asked about
_CLIPPED = 0.0005  # a difference between means and probabilities that three digits show


@dataclass(frozen=True)
class PossibleRegion:
    """A region that a row may be in."""

    number: int
    share: float
    """The probability that the latent values are in it, P(U ∈ R | x)."""
    bounds: tuple[str, ...]
    """Conditions that describe the region."""
    values: tuple[float, ...]
    """Its value, or one per class."""


@dataclass(frozen=True)
class RegionExplanation(Explained):
    """Explanation of the prediction for one row.

    `regions` are all possible regions, most probable first; the prediction is the mean of their values weighted by
    their shares. A classifier's `mixed` are these means, and its `probabilities` the same, but for models of earlier
    versions, whose values may be below 0 or above 1: theirs are clipped and normalised. `measured` has the row's
    values, with their errors, in the columns that bound these regions. `classes`, `mixed` and `probabilities` are None
    for a regressor.
    """

    answer: Any
    measured: tuple[str, ...]
    regions: tuple[PossibleRegion, ...]
    classes: tuple[Any, ...] | None
    mixed: tuple[float, ...] | None
    probabilities: tuple[float, ...] | None
    doubt: str

    def __str__(self) -> str:
        answer = number_text(self.answer) if self.classes is None else printable(self.answer)
        if not self.regions[0].bounds and len(self.regions) == 1:
            return f"{answer}: the tree has no splits."
        lines = [f"{answer}, because of where it may be:", *self._region_lines()]
        lines.append(f"Measured: {listed(list(self.measured), at_most=12)}.")
        if self.probabilities is not None:
            lines.append(self._probability_line())
        return "\n".join([*lines, f"Doubt: {self.doubt}."])

    def _region_lines(self) -> list[str]:
        shown = [region for region in self.regions[:_MOST_REGIONS] if region.share >= _LEAST_SHARE]
        shares = [region.share for region in shown]
        texts = [f"{', '.join(region.bounds)}: {self._value_text(region.values)}" for region in shown]
        others = self.regions[len(shown) :]
        rest = sum(region.share for region in others)
        if rest >= _LEAST_SHARE:
            values = np.array([region.values for region in others])
            weights = np.array([region.share for region in others]) / rest
            shares.append(rest)
            texts.append(f"elsewhere: {self._value_text(weighted_sums(weights[np.newaxis], values)[0])}")
        return mixture_lines(shares, texts)

    def _value_text(self, values: Sequence[float] | Floats) -> str:
        """Text of a number, or of the predicted class and its value, so that these add up to its probability."""
        if self.classes is None:
            return number_text(float(values[0]))
        code, best = self.classes.index(self.answer), int(np.argmax(values))
        text = f"{printable(self.answer)} {round(float(values[code]), 6):.3g}"
        return text if best == code else f"{text} ({printable(self.classes[best])} {float(values[best]):.3g})"

    def _probability_line(self) -> str:
        assert self.classes is not None
        assert self.probabilities is not None
        assert self.mixed is not None
        order = np.argsort([-p for p in self.probabilities], kind="stable").tolist()
        shown = [f"{printable(self.classes[k])} {round(self.probabilities[k], 6):.3g}" for k in order]
        line = f"Probabilities: {', '.join(shown)}"
        if not np.allclose(self.mixed, self.probabilities, rtol=0, atol=_CLIPPED):
            values = ", ".join(f"{self.mixed[k]:.3g}" for k in order)
            line += f" (the regions' mean {values}, clipped to [0, 1] and normalised)"
        return f"{line}."


def explain_regions(
    regions: Regions,
    schema: Schema,
    rows: Floats,
    cells: Floats,
    shares: Floats,
    *,
    values: Floats,
    answers: NDArray[Any],
    classes: NDArray[Any] | None = None,
    probabilities: Floats | None = None,
    why: Sequence[tuple[ReasonForDoubt, ...]],
) -> list[RegionExplanation]:
    """Explain each row: `cells` are the standard deviations of its errors, `shares` its region memberships.

    `values` are those of the regions, (k, 1) or (k, n_classes), `why` the reasons for doubt about each row.
    """
    bounds = [_bounds(regions, schema, number) for number in range(len(regions))]
    labels = None if classes is None else tuple(classes.tolist())
    bounded = _bounded(regions)
    explanations = []
    for i, share in enumerate(shares):
        order = np.argsort(-share, kind="stable")
        possible = [
            PossibleRegion(k, float(share[k]), bounds[k], tuple(values[k].tolist()))
            for k in order.tolist()
            if share[k] > 0
        ]
        columns = np.flatnonzero(bounded[share > 0].any(axis=0)).tolist()
        missing = [printable(schema.names[j]) for j in columns if np.isnan(rows[i, j])]
        answer = answers[i].item() if isinstance(answers[i], np.generic) else answers[i]
        reasons = _doubt_of_number(possible) if labels is None else _doubt_of_class(possible, labels.index(answer))
        if missing:
            reasons.append(f"missing or new: {listed(missing)}")
        explanations.append(
            RegionExplanation(
                answer=answer,
                measured=tuple(
                    measured_text(schema.columns[j], float(rows[i, j]), float(cells[i, j])) for j in columns
                ),
                regions=tuple(possible),
                classes=labels,
                mixed=None if labels is None else tuple(weighted_sums(share[np.newaxis], values)[0].tolist()),
                probabilities=None if probabilities is None else tuple(probabilities[i].tolist()),
                doubt="; ".join(reasons),
                why=why[i],
            )
        )
    return explanations


def _bounded(regions: Regions) -> NDArray[np.bool_]:
    """Which columns bound each region, (k, n_features)."""
    bounded = np.asarray(np.isfinite(regions.bounds).any(axis=2))
    for j, inside in regions.members.items():
        bounded[:, j] = ~inside.all(axis=1)
    return bounded


# --- Words --------------------------------------------------------------------------------------------------


def _bounds(regions: Regions, schema: Schema, number: int) -> tuple[str, ...]:
    found = []
    for j, column in enumerate(schema.columns):
        if j in regions.members:
            inside = regions.members[j][number]
            names = [printable(name) for name, has in zip(column.categories, inside, strict=True) if has]
            if len(names) < len(column.categories):
                found.append(f"{printable(column.name)} {listed(names, 'or') if names else 'new'}")
            continue
        lower, upper = regions.bounds[number, j].tolist()
        if np.isfinite(lower) or np.isfinite(upper):
            found.append(f"{printable(column.name)} {_range_text(column, lower, upper)}")
    return tuple(found)


def _range_text(column: Column, lower: float, upper: float) -> str:
    """ "above 3 and at most 5"; of ordered categories "above low", or the one that is inside."""
    inside = [name for code, name in enumerate(column.categories) if lower < code <= upper]
    if len(inside) == 1:
        return printable(inside[0])
    sides = [f"above {_threshold_text(column, lower)}"] if np.isfinite(lower) else []
    sides += [f"at most {_threshold_text(column, upper)}"] if np.isfinite(upper) else []
    return " and ".join(sides)


def _threshold_text(column: Column, threshold: float) -> str:
    level = highest_level(column.categories, threshold)
    return number_text(threshold) if level is None else printable(column.categories[level])


def measured_text(column: Column, value: float, size: float) -> str:
    """Name, value and error of a measurement: "flow 31 ± 2"."""
    name = printable(column.name)
    if np.isnan(value):
        return f"{name} is missing{' or new' * (column.kind != Kind.NUMERIC)}"
    level = highest_level(column.categories, value) if value.is_integer() else None
    text = number_text(value) if level is None else printable(column.categories[level])
    return f"{name} {text}" + (f" ± {number_text(size)}" if size > 0 else "")


def _doubt_of_class(possible: list[PossibleRegion], code: int) -> list[str]:
    reasons = _doubt_of_region(possible)
    mixed = 1.0 - possible[0].values[code]
    if mixed >= _LEAST_SHARE:
        reasons.append(f"{mixed:.0%} of the rows in that region are of another class")
    otherwise = sum(region.share for region in possible if int(np.argmax(region.values)) != code)
    if otherwise >= _LEAST_SHARE:
        reasons.append(f"{otherwise:.0%} of it is where another class is more probable")
    return reasons or ["none about its region, and all rows in it are of one class"]


def _doubt_of_number(possible: list[PossibleRegion]) -> list[str]:
    shares, values = np.array([(region.share, region.values[0]) for region in possible]).T
    mean = (shares * values).sum() / shares.sum()
    deviation = float(np.sqrt((shares * (values - mean) ** 2).sum() / shares.sum()))
    reasons = _doubt_of_region(possible)
    if reasons and deviation > 0:
        reasons.append(f"the answers of the regions differ by ± {number_text(deviation)}")
    return reasons or ["none about its region"]


def _doubt_of_region(possible: list[PossibleRegion]) -> list[str]:
    outside = 1.0 - possible[0].share
    return [f"{outside:.0%} of it is outside of its most probable region"] if outside >= _LEAST_SHARE else []


# --- Cost of errors -------------------------------------------------------------------------------------------


def error_costs(regions: Regions, values: Floats, joint: JointLaw, rows: Floats, cells: Floats) -> Floats:
    """Mean over rows of Var(E[f(U) | x, U_j] | x) for each column j, (n_features,).

    f is the value of the region that contains U; `values` is (k, n_outputs), and variances are summed over outputs.
    Predicting E[f(U) | x] has the squared error Var(f(U) | x); knowing U_j would lower it by this much (law of total
    variance). Columns interact: making all of them exact may save more than the sum.
    """
    if joint.is_correlated(cells):
        each = [_costs_of_row(regions, values, joint, row, errors) for row, errors in zip(rows, cells, strict=True)]
        return np.mean(each, axis=0) if each else np.zeros(len(joint.laws))
    laws, sigma = joint.laws, cells
    factors = [region_factors(regions, law, j, rows[:, j], sigma[:, j]) for j, law in enumerate(laws)]
    costs = np.zeros(len(laws))
    for j, law in enumerate(laws):
        if factors[j] is None or isinstance(law, CategoryLaw) or not sigma[:, j].any():
            continue
        rest = np.ones((len(rows), len(regions)))
        for other in (factor for i, factor in enumerate(factors) if i != j and factor is not None):
            rest *= other
        lower, upper = regions.bounds[:, j].T
        ends = np.unique(np.concatenate([lower, upper]))
        pieces = Regions(_pieces(ends, regions.bounds.shape[1], j), {})
        masses = region_factors(pieces, law, j, rows[:, j], sigma[:, j])
        assert masses is not None
        covers = (lower <= ends[:-1, np.newaxis]) & (upper >= ends[1:, np.newaxis])  # (pieces, k)
        for output in values.T:
            expected = rest @ (covers * output).T  # E[f | x, U_j in a piece]
            mean = (masses * expected).sum(axis=1, keepdims=True)
            costs[j] += float((masses * (expected - mean) ** 2).sum(axis=1).mean())
    return costs


def _costs_of_row(regions: Regions, values: Floats, joint: JointLaw, row: Floats, cells: Floats) -> Floats:
    """As :func:`error_costs`, of a row whose errors are correlated: to know one of them tells about the others."""
    costs = np.zeros(len(joint.laws))
    x, sigma = joint.marginal(row[np.newaxis], cells[np.newaxis])
    for j, law in enumerate(joint.laws):
        ends = np.unique(regions.bounds[:, j])
        if isinstance(law, CategoryLaw) or len(ends) == 2 or not cells[j] > 0:
            continue
        pieces = Regions(_pieces(ends, regions.bounds.shape[1], j), {})
        masses = region_factors(pieces, law, j, x[:, j], sigma[:, j])
        assert masses is not None
        likely = masses[0] >= _LEAST_MASS
        inside = np.where(np.isinf(ends[1:]), np.nextafter(ends[:-1], np.inf), ends[1:])[likely]
        expected = joint_membership(regions, joint, *joint.reveal(row, cells, j, inside)) @ values
        share = masses[0, likely] / masses[0, likely].sum()
        costs[j] = float((share @ (expected - share @ expected) ** 2).sum())
    return costs


def _pieces(ends: Floats, n_features: int, feature: int) -> Floats:
    bounds = np.empty((len(ends) - 1, n_features, 2))
    bounds[...] = -np.inf, np.inf
    bounds[:, feature, 0], bounds[:, feature, 1] = ends[:-1], ends[1:]
    return bounds
