"""Growth of all trees of a forest: ships bags, or the codes of all rows, whichever fits and moves fewer bytes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from math import exp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.tree_growth.level_by_level import grow_by_levels
from hedgerow.distributed.tree_growth.population import Population
from hedgerow.distributed.tree_growth.tree_tasks import (
    AllRows,
    Bag,
    GrownTree,
    Plan,
    bytes_of_row,
    draw_bags,
    encode_rows,
    grow_bag,
    grow_from_all,
)
from hedgerow.growth.codes import Codes
from hedgerow.growth.poisson import tree_key

__all__ = ["Sizes", "grow_trees"]

_OF_ROW = 12  # bytes beside its codes: target, and number or weight
_OF_DRAWN_ROW = 32  # bytes that the core takes for a row of a bag
_WAVES = 10  # of trees, each of which is kept before the next: all trees of a wave grow at once


class Sizes:
    """Bytes that each method of growing trees needs and moves."""

    def __init__(self, plan: Plan, n_trees: int) -> None:
        n_rows, n_draws = plan.draws.n_rows, plan.draws.n_draws
        self.n_trees = n_trees
        self.n_drawn = int(n_rows * (1 - exp(-n_draws / n_rows))) + 1
        """Different rows in a bag: the expected number where all weights are equal, else fewer."""
        self.bag = self.n_drawn * (plan.n_features + _OF_ROW)
        self.all_rows = n_rows * (plan.n_features + _OF_ROW)
        self.task_of_bag = self.n_drawn * bytes_of_row(plan)
        self.task_of_all = self.all_rows + self.n_drawn * _OF_DRAWN_ROW
        self.histograms = plan.n_features * 1024 * plan.n_classes
        """Bytes of the histograms of a node."""

    def method(self, memory: int) -> str:
        """Whether "bags" are shipped, or "all" rows, or trees are split by "levels" first."""
        if self.task_of_all <= memory and (self.n_trees * self.bag >= self.all_rows or self.task_of_bag > memory):
            return "all"
        return "bags" if self.task_of_bag <= memory else "levels"


def check_levels(plan: Plan, sizes: Sizes, memory: int) -> None:
    """Refuse trees that can't be split by levels."""
    least = min(sizes.task_of_bag, sizes.task_of_all) / 1e9
    needs = f"a bag of {sizes.n_drawn:,} rows needs {least:.2g} GB in a task and memory is {memory / 1e9:.2g} GB"
    fix = "give distributed.fit more memory=, or the forest a smaller max_samples, such as 2**18"
    if not plan.n_classes:
        raise ValueError(f"{needs}, and only trees of classes are grown from parts of a bag: {fix}")
    if plan.growth.max_leaf_nodes is not None:
        raise ValueError(f"{needs}, and max_leaf_nodes compares nodes of the whole bag: {fix}, or set it to None")


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
    """Grow trees, as many at a time as the checkpoint is to lose at most."""
    sizes = Sizes(plan, len(trees))
    in_process = getattr(job.engine, "in_process", False)
    method = sizes.method(job.memory)
    if method == "levels" and in_process:
        method = "all"
    wave = -(-len(trees) // _WAVES) if job.checkpoint.keeps else len(trees)
    grow: Callable[[list[int]], Iterable[GrownTree]]
    with ExitStack() as kept:
        if method == "levels":
            check_levels(plan, sizes, job.memory)
            n_nodes = 2 * sizes.task_of_bag // job.memory + 2  # of a level, about
            wave = max(1, min(wave, job.memory // (n_nodes * sizes.histograms)))
            grow = partial(grow_by_levels, job, plan, population)
        elif method == "bags":
            wave = max(1, min(wave, job.memory // sizes.bag))
            grow = partial(_grow_from_bags, job, plan, population)
        else:
            folder = None
            if in_process and sizes.task_of_all > job.memory:
                given = TemporaryDirectory(prefix="hedgerow-", dir=job.checkpoint.folder)
                folder = Path(kept.enter_context(given))
            rows = _written(job, plan, population, folder) if in_process else _gathered(job, plan, population)
            grow = partial(_grow_from_all, job, job.share(rows), job.share(plan))
        for first in range(0, len(trees), wave):
            some = trees[first : first + wave]
            yield from zip(some, grow(some), strict=True)


def _grow_from_bags(job: Job, plan: Plan, population: Population, trees: list[int]) -> list[GrownTree]:
    shared = job.share(plan)
    pieces = job.map(draw_bags, population, shared, trees, stage="drawing bags")
    keys = [tree_key(plan.draws.seed, tree) for tree in trees]
    bags = [Bag(tree, [of_part[i] for of_part in pieces], keys[i]) for i, tree in enumerate(trees)]
    del pieces
    return job.map_values(bags, grow_bag, shared, stage="growing trees")


def _grow_from_all(job: Job, rows: Any, plan: Any, trees: list[int]) -> list[GrownTree]:
    return job.map_values(trees, grow_from_all, rows, plan, stage="growing trees")


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
