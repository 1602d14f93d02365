"""Models within the size of a page: whole where they fit, else the smaller forest that agrees best."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.forest.forest import Forest
from hedgerow.report.whatif.arrays import forest_to_json, samples_to_json, table_to_json
from hedgerow.report.whatif.packing import pack
from hedgerow.report.whatif.smaller import Agreement, main_answers, measure_agreement, shrunken
from hedgerow.report.whatif.walkable import Walkable

__all__ = ["Embedded", "fit_to_size"]

_MOST_ROWS = 2000  # that agreement is measured on
_FEW_TREES = 4  # from which the size of others is guessed
_TOO_LARGE = 4.0  # of guessed sizes: forests are packed to find out unless they are so much larger than there is room
_TREES_WITH_SAMPLES = 10  # fewer trees than that are too few: intervals are left out instead
_OPTIMISM = 1.3  # more trees share more of what they hold


@dataclass(frozen=True)
class Embedded:
    """A model as the page has it."""

    part: Walkable
    json: dict[str, Any]
    n_bytes: int
    least_rows: float = 0.0
    """Nodes of fewer rows were made leaves; 0: none were."""
    without_interval: bool = False
    """Whether the training targets of leaves, which intervals need, were left out."""
    agreement: Agreement | None = None
    """None: the page has the whole model."""

    @classmethod
    def of(cls, part: Walkable, **others: Any) -> Embedded:
        packed = {
            "forest": forest_to_json(part.forest),
            "tables": [table_to_json(table) for table in part.tables],
            "tree_weights": None if part.tree_weights is None else pack(part.tree_weights),
            "samples": None if part.samples is None else samples_to_json(part.samples),
            "answers": part.answers,
        }
        return cls(part, packed, len(json.dumps(packed, separators=(",", ":"))), **others)


def fit_to_size(models: Mapping[str, tuple[Any, Walkable]], rows: Floats, most_bytes: int) -> dict[str, Embedded]:
    """Embed each model with its parts, by name: small ones whole, the others in equal shares of what is left."""
    whole = {name: _whole(model, parts, most_bytes) for name, (model, parts) in models.items()}
    sizes = {name: np.inf if one is None else one.n_bytes for name, one in whole.items()}
    found, left = {}, most_bytes
    sample = np.ascontiguousarray(rows[:: -(-len(rows) // _MOST_ROWS)])
    for at, name in enumerate(sorted(models, key=lambda name: sizes[name])):
        share = left // (len(models) - at)
        one = whole[name]
        if one is None or one.n_bytes > share:
            one = _best_smaller(*models[name], sample, share)
        found[name] = one
        left -= one.n_bytes
    return {name: found[name] for name in models}


def _whole(model: Any, parts: Walkable, most_bytes: int) -> Embedded | None:
    """The whole model; None where it is much too large, as far as a few of its trees tell."""
    n_trees = parts.forest.n_trees
    if n_trees > _FEW_TREES:
        few = Embedded.of(shrunken(model, parts, _FEW_TREES, 0)).n_bytes
        if few * n_trees / _FEW_TREES > _TOO_LARGE * most_bytes:
            return None
    return Embedded.of(parts)


def _best_smaller(model: Any, whole: Walkable, rows: Floats, most_bytes: int) -> Embedded:
    """Of several smaller forests that fit, the one whose answers about these rows differ least."""
    exact = main_answers(whole, rows)
    if whole.samples is not None:
        few = min(_TREES_WITH_SAMPLES, whole.forest.n_trees)
        if Embedded.of(shrunken(model, whole, few, 0)).n_bytes > most_bytes:
            return replace(_best_smaller(model, _without_interval(whole), rows, most_bytes), without_interval=True)
    best: Embedded | None = None
    for candidate in _candidates(model, whole, most_bytes):
        agreement = measure_agreement(exact, main_answers(candidate.part, rows))
        if best is None or best.agreement is None or agreement.mean_difference < best.agreement.mean_difference:
            best = replace(candidate, agreement=agreement)
    return best or Embedded.of(shrunken(model, whole, 1, np.inf))


def _candidates(model: Any, whole: Walkable, most_bytes: int) -> Iterator[Embedded]:
    """Fewer whole trees; and all trees, or fewer, with larger leaves."""
    n_trees = whole.forest.n_trees
    fewer = min(_FEW_TREES, n_trees)
    part = Embedded.of(shrunken(model, whole, fewer, 0))
    per_node = part.n_bytes / part.part.forest.n_nodes
    fewer = min(n_trees, int(fewer * most_bytes / part.n_bytes * _OPTIMISM))
    while fewer > 0:
        part = Embedded.of(shrunken(model, whole, fewer, 0))
        if part.n_bytes <= most_bytes:
            yield part
            break
        fewer = min(fewer - 1, int(fewer * most_bytes / part.n_bytes))
    most_rows = float(whole.forest.weight.max())
    for part_of_trees in sorted({n_trees, -(-n_trees // 4), 1}, reverse=True):
        least_rows = 2.0
        while least_rows < 2 * most_rows:  # of more even the children of roots are leaves
            if _n_kept(whole.forest, part_of_trees, least_rows) * per_node > _TOO_LARGE * most_bytes:
                least_rows *= 2
                continue
            part = Embedded.of(shrunken(model, whole, part_of_trees, least_rows), least_rows=least_rows)
            if part.n_bytes <= most_bytes:
                yield part
                break
            least_rows *= 2


def _n_kept(forest: Forest, n_trees: int, least_rows: float) -> int:
    """Number of nodes of the first trees when those of fewer rows are leaves."""
    parent = forest.parent[: forest.tree_start[n_trees]]
    return int(((parent < 0) | (forest.weight[parent] >= least_rows)).sum())


def _without_interval(whole: Walkable) -> Walkable:
    answers = {name: answer for name, answer in whole.answers.items() if name != "interval"}
    return replace(whole, samples=None, answers=answers)
