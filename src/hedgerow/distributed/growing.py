"""Growth of all trees of a forest: ships bags, or the codes of all rows, whichever fits and moves fewer bytes."""

from __future__ import annotations

import operator
import tempfile
from collections.abc import Iterator
from math import exp
from pathlib import Path

import numpy as np

from hedgerow.distributed.blocks import RowBlock
from hedgerow.distributed.job import Job
from hedgerow.distributed.population import Population
from hedgerow.distributed.trees import AllRows, GrownTree, Plan, draw_bags, encode_rows, grow_from_all, grow_from_bag
from hedgerow.growth.codes import Codes

__all__ = ["Sizes", "grow_trees"]

_OF_ROW = 12  # bytes beside its codes: target, and number or weight
_OF_DRAWN_ROW = 32  # bytes that the core takes for it
_WAVES = 10  # of trees, each of which is kept before the next: all trees of a wave grow at once


class Sizes:
    """Bytes that the two ways of growing trees need and move."""

    def __init__(self, plan: Plan, n_trees: int) -> None:
        n_rows, n_draws = plan.draws.n_rows, plan.draws.n_draws
        self.n_trees = n_trees
        self.n_drawn = int(n_rows * (1 - exp(-n_draws / n_rows))) + 1
        """Different rows in a bag: their expected number where all weights are equal, else at most about that."""
        self.bag = self.n_drawn * (plan.n_features + _OF_ROW)
        self.all_rows = n_rows * (plan.n_features + _OF_ROW)

    @property
    def task_of_bag(self) -> int:
        """Memory of a task that grows a tree from its bag: the pieces, their concatenation, the core's rows."""
        return 2 * self.bag + self.n_drawn * _OF_DRAWN_ROW

    @property
    def task_of_all(self) -> int:
        """Memory of a worker that grows a tree from the codes of all rows."""
        return self.all_rows + self.n_drawn * _OF_DRAWN_ROW

    def ships_bags(self, memory: int) -> bool:
        """Whether bags are shipped; else all rows are."""
        all_fit, bag_fits = self.task_of_all <= memory, self.task_of_bag <= memory
        return bag_fits and (not all_fit or self.n_trees * self.bag < self.all_rows)

    def check(self, memory: int) -> None:
        """Refuse what fits neither way."""
        least = min(self.task_of_bag, self.task_of_all)
        if least > memory:
            raise ValueError(
                f"a tree of {self.n_drawn:,} different rows needs {least / 1e9:.1f} GB in a task, and memory is "
                f"{memory / 1e9:.1f} GB: give distributed.fit more memory=, or the forest a smaller max_samples, such "
                "as 2**18"
            )


def grow_trees(job: Job, plan: Plan, population: Population, n_trees: int) -> list[GrownTree]:
    """Grow the trees, except those that the checkpoint has."""
    grown: dict[int, GrownTree] = {}
    for tree in range(n_trees):
        if (arrays := job.checkpoint.load(_name(tree))) is not None:
            grown[tree] = GrownTree.of_arrays(arrays)
    missing = [tree for tree in range(n_trees) if tree not in grown]
    if missing:
        for tree, found in _grow(job, plan, population, missing):
            job.checkpoint.save(_name(tree), found.arrays)
            grown[tree] = found
    return [grown[tree] for tree in range(n_trees)]


def _name(tree: int) -> str:
    return f"tree-{tree:06}"


def _grow(job: Job, plan: Plan, population: Population, trees: list[int]) -> Iterator[tuple[int, GrownTree]]:
    sizes = Sizes(plan, len(trees))
    wave = -(-len(trees) // _WAVES) if job.checkpoint.keeps else len(trees)
    if sizes.ships_bags(job.memory):
        wave = max(1, min(wave, job.memory // sizes.bag))
        shared = job.share(plan)
        for first in range(0, len(trees), wave):
            some = trees[first : first + wave]
            pieces = job.map(draw_bags, population, shared, some, stage="drawing bags")
            bags = [(tree, [of_part[i] for of_part in pieces]) for i, tree in enumerate(some)]
            del pieces
            found = job.map_values(bags, grow_from_bag, shared, stage="growing trees")
            yield from zip(some, found, strict=True)
        return
    in_process = getattr(job.engine, "in_process", False)
    if not in_process:
        sizes.check(job.memory)
    with tempfile.TemporaryDirectory(prefix="hedgerow-", dir=job.checkpoint.folder) as folder:
        if in_process:
            rows = _written(job, plan, population, Path(folder) if sizes.task_of_all > job.memory else None)
        else:
            rows = _gathered(job, plan, population)
        shared_rows, shared = job.share(rows), job.share(plan)
        for first in range(0, len(trees), wave):
            some = trees[first : first + wave]
            yield from zip(
                some, job.map_values(some, grow_from_all, shared_rows, shared, stage="growing trees"), strict=True
            )


def _gathered(job: Job, plan: Plan, population: Population) -> AllRows:
    """Codes of all rows, brought here."""
    parts: list[AllRows] = job.map(encode_rows, population, job.share(plan), stage="encoding rows")
    weights = [part.weight for part in parts if part.weight is not None]
    return AllRows(
        np.concatenate([part.codes for part in parts], axis=1),
        np.concatenate([part.truth for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def _written(job: Job, plan: Plan, population: Population, folder: Path | None) -> AllRows:
    """Codes of all rows, which tasks of this process write to one array; in a folder it is a memory-mapped file."""
    n_rows = population.n_rows
    shape = (plan.n_features, n_rows)
    codes: Codes = (
        np.empty(shape, np.uint8) if folder is None else np.memmap(folder / "codes", np.uint8, "w+", shape=shape)
    )
    truth = np.empty(n_rows, np.int32 if plan.n_classes else np.float64)
    rows = AllRows(codes, truth, None if population.starts is None else np.empty(n_rows))
    job.fold(_write_rows, population, plan, rows, merge=operator.add, stage="encoding rows")
    return rows


def _write_rows(block: RowBlock, population: Population, plan: Plan, out: AllRows) -> int:
    """Write the rows of a part to their places, and return their number."""
    first = population.used(block).first
    rows = encode_rows(block, population, plan)
    at = slice(first, first + len(rows.truth))
    out.codes[:, at] = rows.codes
    out.truth[at] = rows.truth
    if out.weight is not None:
        out.weight[at] = rows.weight
    return len(rows.truth)
