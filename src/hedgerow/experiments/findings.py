"""Reports of experiments: tables, figures and claims, as Markdown, CSV and pictures."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from hedgerow.storage.replace import replaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["Claim", "Figure", "Report", "Table", "write"]

Verdict = Literal["holds", "does not hold", "not decidable"]
Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers; a number is shown with `digits` after the point, and written out in full as CSV."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    digits: int = 2

    def to_markdown(self) -> str:
        """Table with a header, numbers to the right."""
        numeric = [all(not isinstance(row[j], str) for row in self.rows) for j in range(len(self.columns))]
        lines = [
            _row(self.columns),
            _row(["---:" if right else "---" for right in numeric]),
            *(_row([self._text(cell) for cell in row]) for row in self.rows),
        ]
        return "\n".join(lines)

    def to_csv(self) -> str:
        """Comma-separated values, floats with all their digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def _text(self, cell: Cell) -> str:
        if cell is None or cell != cell:
            return ""
        return f"{cell:.{self.digits}f}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Figure:
    """Picture that `draw` makes when the report is written."""

    name: str
    title: str
    draw: Callable[[], Picture]
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """Statement of a document in our words, decided on the results."""

    text: str
    where: str
    """Section, table or figure of the document."""
    verdict: Verdict
    evidence: str
    """The figures that decide it, with their uncertainty."""


@dataclass(frozen=True)
class Report:
    """Tables, figures and claims of one study."""

    title: str
    introduction: str
    parts: Sequence[Table | Figure]
    claims: Sequence[Claim] = field(default_factory=tuple)
    differences: Sequence[str] = field(default_factory=tuple)
    """Where the results are not those in print, or what is run is not what the document ran, and why."""


def write(report: Report, name: str, folder: Path, how: str) -> Path:
    """Write ``name.md`` with its tables as CSV and its figures as PNG into `folder/name`; returns the page.

    Verdicts come first, then what was run. `how` is the command that made it, and how much of the study it has. Every
    file is replaced when the new one is complete.
    """
    beside = folder / name
    beside.mkdir(parents=True, exist_ok=True)
    sections = [f"# {report.title}", *_claims(report.claims), report.introduction, how]
    if report.differences:
        sections += ["## Where this differs, and why", "\n".join(f"- {one}" for one in report.differences)]
    for part in report.parts:
        sections += [f"## {part.title}", *([part.note] if part.note else [])]
        if isinstance(part, Table):
            _replace(beside / f"{part.name}.csv", part.to_csv().encode())
            sections += [part.to_markdown(), f"[as CSV]({name}/{part.name}.csv)"]
        else:
            _replace(beside / f"{part.name}.png", _png(part))
            sections.append(f"![{part.title}]({name}/{part.name}.png)")
    page = folder / f"{name}.md"
    _replace(page, ("\n\n".join(sections) + "\n").encode())
    return page


def _claims(claims: Sequence[Claim]) -> list[str]:
    if not claims:
        return []
    rows = [(f"**{claim.verdict}**", claim.text, claim.where, claim.evidence) for claim in claims]
    counts = Counter(claim.verdict for claim in claims)
    verdicts = ", ".join(f"{one} {counts[one]}" for one in get_args(Verdict))
    return [
        f"Verdicts on {len(claims)} claims: {verdicts}.",
        "## Claims",
        Table("claims", "", ["verdict", "claim", "where", "evidence"], rows).to_markdown(),
        "± is the half-width of the 95 % interval over datasets or repeats. A claim is decided if the interval leaves "
        "out 0, or the limit that the evidence names.",
        "## What was run",
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _png(figure: Figure) -> bytes:
    """Picture of at most 256 colours, which a third of the bytes suffices for."""
    from matplotlib import pyplot as plt
    from PIL import Image

    picture = figure.draw()
    drawn, reduced = io.BytesIO(), io.BytesIO()
    picture.savefig(drawn, format="png", dpi=110)
    plt.close(picture)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(reduced, format="png", optimize=True)
    return reduced.getvalue()


def _replace(path: Path, content: bytes) -> None:
    with replaced(path) as file:
        file.write(content)
