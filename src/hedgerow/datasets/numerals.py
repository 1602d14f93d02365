"""Numbers as people write them: 1,234.5 or 1.234,5, 95%, $90.50, with words for missing values among them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = [
    *("MISSING_NUMBERS", "Numerals", "integer_literals", "is_plain_number", "likely_decimal", "looks_numeric"),
    "read_numerals",
]

# Besides the usual words, these stand for a missing value where the rest of a column is numbers.
MISSING_NUMBERS = ("#N/A", "#NA", "<NA>", "None", "none", "-", "--", ".")

_OTHER = {".": ",", ",": "."}
_CURRENCY = r"[$€£¥]|USD|EUR|GBP|CHF|JPY"
_MOSTLY = 0.8  # share of numbers from which on a column of text is a column of numbers with flaws
_N_SAMPLE = 100
_MOST_SHOWN = 3
_INTEGER = r"^\s*[+-]?[0-9]+\s*$"


@dataclass(frozen=True)
class Numerals:
    """A column of text read as numbers."""

    values: NDArray[np.float64]
    """NaN where missing or not a number."""
    unit: str
    """%, a currency or nothing."""
    strange: tuple[str, ...]
    """Values that are not numbers, most frequent first."""
    n_strange: int
    n_values: int
    other_decimal: str | None
    """The decimal sign under which the strange ones would be numbers."""

    @property
    def mostly_numbers(self) -> bool:
        return self.n_values > self.n_strange and self.n_values - self.n_strange >= _MOSTLY * self.n_values

    def complaint(self) -> str:
        """Why the values are not numbers, and the fix."""
        shown = ", ".join(map(repr, self.strange[:_MOST_SHOWN])) + ", ..." * (len(self.strange) > _MOST_SHOWN)
        are = "value is not a number" if self.n_values == 1 else "values is not a number"
        words = (
            f"{self.n_strange} of {self.n_values} {are if self.n_strange == 1 else 'values are not numbers'}: {shown}"
        )
        if self.other_decimal:
            return f"{words}; if the decimal sign is {self.other_decimal!r}: --decimal {self.other_decimal}"
        if not self.mostly_numbers or len(self.strange) > _MOST_SHOWN or any("," in text for text in self.strange):
            return words
        return f"{words}; if that means missing: --missing {shlex.quote(','.join(self.strange))}"


def read_numerals(text: pa.ChunkedArray, decimal: str, missing: Sequence[str] = ()) -> Numerals:
    """Read text as numbers with this decimal sign; the other of ``.`` and ``,`` may group digits by three.

    >>> found = read_numerals(pa.chunked_array([["1.234,5", "95", "7", "8", "n.d.", "-"]]), ",")
    >>> found.values.tolist()
    [1234.5, 95.0, 7.0, 8.0, nan, nan]
    >>> found.complaint()
    "1 of 5 values is not a number: 'n.d.'; if that means missing: --missing n.d."
    """
    encoded = text.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # without any chunk
        encoded = encoded.chunk(0)
    words = [str(word).strip() for word in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices.fill_null(len(words)))
    counts = np.bincount(codes, minlength=len(words) + 1)[:-1].tolist()
    gone = {"", *missing, *MISSING_NUMBERS}
    parsed = [None if word in gone else _parse(word, decimal) for word in words]
    unit = _common_unit(parsed, counts)
    numbers = np.full(len(words) + 1, np.nan)
    strange: Counter[str] = Counter()
    n_values = 0
    for i, (word, found) in enumerate(zip(words, parsed, strict=True)):
        if word in gone:
            continue
        n_values += counts[i]
        if found is not None and _same_unit(found[1], unit):
            numbers[i] = found[0]
        else:
            strange[word] += counts[i]
    ranked = tuple(word for word, _ in strange.most_common())
    other = _OTHER[decimal]
    swap = ranked and all(_parse(word, decimal) is None and _parse(word, other) is not None for word in ranked)
    return Numerals(numbers[codes], unit, ranked, strange.total(), n_values, other if swap else None)


def looks_numeric(text: pa.ChunkedArray, missing: Sequence[str] = ()) -> bool:
    """Whether most of the first distinct values are numbers, with either decimal sign."""
    gone = {"", *missing, *MISSING_NUMBERS}
    words = [str(word).strip() for word in pc.unique(text.drop_null()).slice(0, _N_SAMPLE).to_pylist()]
    found = [any(_parse(word, decimal) for decimal in _OTHER) for word in words if word not in gone]
    return 2 * sum(found) > len(found) or (len(found) == 0 and bool(words))


def likely_decimal(columns: Iterable[pa.ChunkedArray], missing: Sequence[str], unless_known: str) -> str:
    """The decimal sign that columns of text show; `unless_known` where 1,234 may mean either.

    >>> likely_decimal([pa.chunked_array([["1,234", "12,5"]])], (), ".")
    ','
    """
    votes: set[str] = set()
    ambiguous = False
    for column in columns:
        if not looks_numeric(column, missing):
            continue
        by_point, by_comma = (read_numerals(column, decimal, missing) for decimal in (".", ","))
        if by_comma.n_strange < by_point.n_strange and by_comma.mostly_numbers:
            votes.add(",")
        elif by_point.n_strange < by_comma.n_strange and by_point.mostly_numbers:
            votes.add(".")
        elif by_comma.mostly_numbers and not np.array_equal(by_comma.values, by_point.values, equal_nan=True):
            ambiguous = True
    if len(votes) == 1:
        return votes.pop()
    return unless_known if ambiguous and not votes else "."


def integer_literals(text: pa.ChunkedArray) -> bool:
    """Whether every value is written as an integer."""
    present = text.drop_null()
    return len(present) > 0 and bool(pc.all(pc.match_substring_regex(present, _INTEGER)).as_py())


def is_plain_number(text: str) -> bool:
    """Whether Python reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse(text: str, decimal: str) -> tuple[float, str] | None:
    """A number and its unit."""
    found = _pattern(decimal).fullmatch(text)
    if found is None:
        return None
    digits = re.sub(rf"[{re.escape(_OTHER[decimal])}'’\s]", "", found["number"]).replace(decimal, ".")
    negative = (found["sign"] or found["inner"]) in ("-", "−") and found["sign"] != found["inner"]
    if found["before"] and found["after"]:
        return None
    return (-1.0 if negative else 1.0) * float(digits), found["before"] or found["after"] or ""


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    point, group = re.escape(decimal), re.escape(_OTHER[decimal])
    whole = rf"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]{{1,3}}(?:['’ \u00a0\u202f][0-9]{{3}})+|[0-9]+"
    number = rf"(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return re.compile(
        rf"(?P<sign>[-+−]?)(?P<before>{_CURRENCY})?\s?(?P<inner>[-+−]?)(?P<number>{number})\s?(?P<after>%|{_CURRENCY})?"
    )


def _common_unit(parsed: Sequence[tuple[float, str] | None], counts: Sequence[int]) -> str:
    units: Counter[str] = Counter()
    for found, n in zip(parsed, counts, strict=True):
        if found is not None:
            units[found[1]] += n
    signs = {unit: n for unit, n in units.items() if unit and unit != "%"}
    if units["%"] > units.total() / 2:
        return "%"
    return max(signs, key=lambda unit: signs[unit]) if signs else ""


def _same_unit(unit: str, common: str) -> bool:
    """Whether a value counts among those of the common unit; an amount may stand without its currency."""
    return unit == common or (unit == "" and common != "%")
