"""Roles of columns: inputs of three kinds, target, weights, groups, or ignored."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.cli.errors import CommandError, UsageError, nearest
from hedgerow.cli.figures import counted
from hedgerow.cli.inputs.dates import date_parts, holds_dates, is_date, part_name
from hedgerow.cli.inputs.identifiers import identifies_rows
from hedgerow.datasets.numerals import looks_numeric
from hedgerow.datasets.rows import convert, is_text

__all__ = ["Role", "Training", "Wishes", "assign", "group_codes", "group_parts", "sample_weights"]

MANY_CLASSES = 20  # whole numbers with more values than this are numbers, and not classes
_LIKE_AN_IDENTIFIER = 0.9  # share of rows with a category of their own
_IDENTIFIER = "an identifier? Then --ignore it"


@dataclass(frozen=True)
class Wishes:
    """Roles that the user asks for."""

    nominal: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    ordinal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()
    weight: str | None = None
    groups: str | None = None
    dates: str | None = None
    needed: frozenset[str] = frozenset()
    kept: str | None = None
    """Column to return as it is beside its role: --by."""
    decimal: str = "."

    @classmethod
    def of(
        cls,
        nominal: Iterable[str],
        numeric: Iterable[str],
        ordinal: Sequence[str],
        ignore: Iterable[str],
        weight: str | None = None,
        groups: str | None = None,
    ) -> Wishes:
        levels = dict(map(_levels, ordinal))
        wishes = cls(frozenset(nominal), frozenset(numeric), levels, frozenset(ignore), weight, groups)
        said: dict[str, str] = {}
        for option, names in wishes.by_option().items():
            for name in names:
                if name in said:
                    raise UsageError(f"column {name!r} is named by {said[name]} and by {option}: choose one")
                said[name] = option
        return wishes

    def by_option(self) -> dict[str, Iterable[str]]:
        return {
            "--nominal": sorted(self.nominal),
            "--numeric": sorted(self.numeric),
            "--ordinal": sorted(self.ordinal),
            "--ignore": sorted(self.ignore),
            "--weight": [self.weight] if self.weight else [],
            "--groups": [self.groups] if self.groups else [],
        }

    @property
    def inputs(self) -> frozenset[str]:
        """Columns that the user wants among the inputs."""
        return self.nominal | self.numeric | self.needed | frozenset(self.ordinal)

    @property
    def as_text(self) -> list[str]:
        """Columns that must be read as they are written."""
        return [*self.nominal, *self.ordinal]


def _levels(given: str) -> tuple[str, tuple[str, ...]]:
    name, equals, levels = given.partition("=")
    found = tuple(level.strip() for level in levels.split("<"))
    if not equals or len(found) < 2 or not all(found) or len(set(found)) < len(found):
        raise UsageError(f"--ordinal is {given!r}, must name the levels from low to high: 'grade=low<mid<high'")
    return name.strip(), found


@dataclass(frozen=True)
class Role:
    """Role of a column, with a remark."""

    name: str
    kind: str
    remark: str

    @property
    def looks_like_an_identifier(self) -> bool:
        return self.remark.endswith(_IDENTIFIER)


@dataclass(frozen=True)
class Training:
    """Inputs and target, and the role of every column."""

    X: pa.Table
    y: NDArray[Any]
    target: str
    classification: bool
    roles: tuple[Role, ...]
    n_without_target: int
    weight: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None
    dates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns of dates, and the parts of each that are inputs."""
    remarks: tuple[str, ...] = ()
    file_rows: NDArray[np.int64] | None = None
    """Row of the file, from 1, of each row of X; rows without a target were dropped."""
    kept: pa.ChunkedArray | None = None
    """The column of --by."""

    @property
    def fit_weight(self) -> dict[str, Any]:
        """The argument of `fit` that has the sample weights, if there are any."""
        return {} if self.weight is None else {"sample_weight": self.weight}


def assign(table: pa.Table, target: str | None, wishes: Wishes, label: str) -> Training:
    """Columns as the estimators want them: numbers, text, ordered categories."""
    names = table.column_names
    others = {"--target": [target] if target else [], "--by": [wishes.kept] if wishes.kept else []}
    for option, wanted in {**others, **wishes.by_option()}.items():
        for name in wanted:
            if name not in names:
                raise CommandError(f"{label} has no column {name!r} ({option}); {nearest(name, names)}")
    if target is None:
        raise UsageError(f"say which column of {label} to predict, with --target; it has {', '.join(names[:20])}")
    known = table[target].is_valid()
    n_without = table.num_rows - pc.sum(known).as_py()
    if n_without == table.num_rows:
        raise CommandError(f"target {target!r} has no values: nothing to learn from")
    table = table.filter(known)
    y, classification, remark = _target(table[target], target, wishes)
    identifiers = _identifiers(table, target, wishes)
    special = {target: Role(target, "target", remark), **_special_roles(wishes, identifiers)}
    roles: list[Role] = []
    inputs: dict[str, pa.ChunkedArray] = {}
    dates: dict[str, tuple[str, ...]] = {}
    for name in names:
        if name in special:
            roles.append(special[name])
        elif wishes.dates and name not in wishes.inputs and holds_dates(table[name]):
            parts = date_parts(table[name], name, wishes.dates)
            dates[name] = tuple(parts)
            inputs |= {part_name(name, part): values for part, values in parts.items()}
            roles.append(Role(name, "date", _joined(_missing(table[name]), f"split into {', '.join(parts)}")))
        else:
            array, role = _input(table[name], name, wishes)
            roles.append(role)
            if array is not None:
                inputs[name] = array
    if not inputs:
        raise CommandError(f"{label} has no column to learn from beside the target {target!r}")
    return Training(
        pa.table(inputs),
        y,
        target,
        classification,
        tuple(roles),
        n_without,
        weight=sample_weights(table, wishes.weight),
        groups=group_codes(table, wishes.groups),
        dates=dates,
        remarks=tuple(_left_out(name, why, table[name].type) for name, why in identifiers.items()),
        kept=None if wishes.kept is None else table[wishes.kept],
    )


# --- Columns that are no inputs -----------------------------------------------------------------------------


def _identifiers(table: pa.Table, target: str, wishes: Wishes) -> dict[str, str]:
    """Columns that identify rows and that the user has not named, with what they hold; none if no others are left."""
    free = {
        name
        for name in table.column_names
        if name not in {target, wishes.weight, wishes.groups, *wishes.inputs, *wishes.ignore}
    }
    found = {
        name: identifies_rows(table[name], name, first=i == 0)
        for i, name in enumerate(table.column_names)
        if name in free
    }
    found = {name: why for name, why in found.items() if why}
    others = free - set(found) | (wishes.inputs & set(table.column_names))
    return found if any(table[name].null_count < table.num_rows for name in others) else {}


def _special_roles(wishes: Wishes, identifiers: Mapping[str, str]) -> dict[str, Role]:
    roles = {name: Role(name, "ignored", "") for name in wishes.ignore}
    roles |= {name: Role(name, "ignored", f"an identifier: {why}") for name, why in identifiers.items()}
    if wishes.weight:
        roles[wishes.weight] = Role(wishes.weight, "weight", "")
    if wishes.groups:
        roles[wishes.groups] = Role(wishes.groups, "groups", "")
    return roles


def _left_out(name: str, why: str, kind: Any) -> str:
    option = "--nominal" if is_text(kind) else "--numeric"
    return f"column {name!r} is left out as an identifier ({why}); keep it with {option} {shlex.quote(name)}"


def sample_weights(table: pa.Table, name: str | None) -> NDArray[np.float64] | None:
    """Return the numbers in the column of --weight; None if there is none."""
    if name is None:
        return None
    if table[name].null_count:
        raise CommandError(f"column {name!r} (--weight) has {table[name].null_count} missing values: fill them in")
    values: NDArray[np.float64] = convert(table[name], "number", (), f"column {name!r} (--weight)").to_numpy()
    if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        wrong = next((value for value in values if not (np.isfinite(value) and value >= 0)), 0.0)
        raise CommandError(
            f"column {name!r} (--weight) holds {wrong:g}: weights must be finite, none negative, not all 0"
        )
    return values


def group_codes(table: pa.Table, name: str | None) -> NDArray[Any] | None:
    """Return a number for each group in the column of --groups; None if there is none."""
    if name is None:
        return None
    if table[name].null_count:
        raise CommandError(f"column {name!r} (--groups) has {table[name].null_count} missing values: fill them in")
    codes: NDArray[Any] = table[name].combine_chunks().dictionary_encode().indices.to_numpy()
    if codes.max() == 0:
        raise CommandError(f"column {name!r} (--groups) has one group only: there must be two or more")
    return codes


def group_parts(table: pa.Table, name: str) -> tuple[list[Any], NDArray[Any]]:
    """Return the values of a column, ascending, and the position of each row's value; -1 where it has none."""
    column = table[name].combine_chunks()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    encoded = column.dictionary_encode()
    found = encoded.dictionary.to_pylist()
    values = sorted(found)
    position = np.array([*map(values.index, found), -1])
    whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    return whole, position[encoded.indices.fill_null(-1).to_numpy()]


# --- Inputs -------------------------------------------------------------------------------------------------


def _input(array: pa.ChunkedArray, name: str, wishes: Wishes) -> tuple[pa.ChunkedArray | None, Role]:
    said = _missing(array)
    if name in wishes.ordinal:
        levels = wishes.ordinal[name]
        return _ordered(array, name, levels), Role(name, "ordinal", _joined(said, " < ".join(levels)))
    if name in wishes.numeric:
        return convert(array, "number", (), f"column {name!r} (--numeric)", wishes.decimal), Role(name, "numeric", said)
    kind = array.type
    if pa.types.is_null(kind) or array.null_count == len(array):
        return None, Role(name, "ignored", "has no values")
    if pa.types.is_dictionary(kind) and kind.ordered:
        levels = array.combine_chunks().dictionary.to_pylist()
        return array, Role(name, "ordinal", _joined(said, " < ".join(map(str, levels))))
    if name in wishes.nominal or _is_nominal(kind):
        text = convert(array, "text", (), f"column {name!r}").cast(pa.string())
        return text, Role(name, "nominal", _joined(said, _categories(text)))
    if _is_number(kind):
        numbers = convert(array, "number", (), f"column {name!r}")
        return numbers, Role(name, "numeric", _joined(said, _range(array)))
    raise CommandError(
        f"column {name!r} holds {_kind_word(kind)}, which trees can't split: leave it out with --ignore {name!r}, take "
        f"it for categories with --nominal {name!r}"
        + (", or turn it into numbers with --dates days or --dates parts" if is_date(kind) else "")
    )


def _missing(array: pa.ChunkedArray) -> str:
    return f"{array.null_count} missing" if array.null_count else ""


def _is_nominal(kind: Any) -> bool:
    return bool(is_text(kind) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind))


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _ordered(array: pa.ChunkedArray, name: str, levels: tuple[str, ...]) -> pa.ChunkedArray:
    text = convert(array, "text", (), f"column {name!r}").cast(pa.string()).combine_chunks()
    codes = pc.index_in(text, value_set=pa.array(levels, pa.string()))
    strange = text.filter(pc.and_(text.is_valid(), codes.is_null()))
    if len(strange):
        raise CommandError(
            f"column {name!r} has {strange[0].as_py()!r}, which --ordinal does not name: add it to the levels"
        )
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, pa.array(levels, pa.string()), ordered=True)])


def _categories(text: pa.ChunkedArray) -> str:
    found = pc.unique(text.drop_null()).to_pylist()
    n_rows = len(text) - text.null_count
    if len(found) > MANY_CLASSES and len(found) >= _LIKE_AN_IDENTIFIER * n_rows and not looks_numeric(text):
        return f"{len(found)} categories in {n_rows} rows: {_IDENTIFIER}"
    shown = ", ".join(sorted(found)[:4])
    return counted(len(found), "category", "categories") + (f": {shown}" if len(found) <= 4 else f": {shown}, ...")


def _range(array: pa.ChunkedArray) -> str:
    low, high = (pc.min_max(array)[end].as_py() for end in ("min", "max"))
    return f"from {low:g} to {high:g}" if isinstance(low, int | float) else ""


def _kind_word(kind: Any) -> str:
    return "dates or times" if pa.types.is_temporal(kind) else f"values of type {kind}"


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


# --- Target -------------------------------------------------------------------------------------------------


def _target(array: pa.ChunkedArray, name: str, wishes: Wishes) -> tuple[NDArray[Any], bool, str]:
    """Labels or numbers, whether they are labels, and how to change that."""
    kind = array.type
    if name in wishes.numeric:
        return (
            convert(array, "number", (), f"target {name!r} (--numeric)", wishes.decimal).to_numpy(),
            False,
            "a number",
        )
    if name in wishes.nominal or name in wishes.ordinal or _is_nominal(kind):
        text = convert(array, "text", (), f"target {name!r}").cast(pa.string())
        return _labels(text.to_numpy(zero_copy_only=False).astype(str), name, "")
    if not _is_number(kind):
        raise CommandError(f"target {name!r} holds {_kind_word(kind)}: make classes of it with --nominal {name!r}")
    values = convert(array, "number", (), f"target {name!r}").to_numpy()
    if (values == np.floor(values)).all() and len(np.unique(values)) <= MANY_CLASSES:
        return _labels(values.astype(np.int64), name, f"; --numeric {name} to predict a number")
    if len(np.unique(values)) == 1:
        raise CommandError(f"target {name!r} is {values[0]:g} in every row: nothing to predict")
    return values, False, f"a number{_offer(values, name)}"


def _labels(y: NDArray[Any], name: str, remark: str) -> tuple[NDArray[Any], bool, str]:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) == 1:
        raise CommandError(
            f"target {name!r} has one class, {classes.tolist()[0]!r}, in every row: nothing to tell apart"
        )
    order = np.argsort(-counts, kind="stable")[:4]
    shown = ", ".join(f"{classes[i]} {counts[i]}" for i in order) + (", ..." if len(classes) > 4 else "")
    return y, True, f"{len(classes)} classes: {shown}{remark}"


def _offer(values: NDArray[np.float64], name: str) -> str:
    whole = (values == np.floor(values)).all()
    return f"; --nominal {name} for classes" if whole else ""
