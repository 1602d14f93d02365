"""Growth of binned trees on a GPU, level by level and all trees at once: the trees that the core grows, bit for bit.

Class counts are whole numbers, so that histograms are exact in any order; gains are computed from them by the
operations of the core, and draws are addressed by (seed, tree, path), whoever makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import GrowOptions, Splitter, child_key
from hedgerow.gpu.device import Device
from hedgerow.gpu.growth.launch import TEAMS, Kernels, large_bytes
from hedgerow.gpu.growth.trees import GrownTrees

__all__ = ["CodedTraining", "grow_trees"]

_BAG = 2**32 + 0xFFFFFFFF  # address of the draws of a bag among the children of a tree: core/grow/bootstrap.hpp
_MOST_DRAWN_ROWS = 2**31 - 1  # of all trees
_MOST_DRAWS = 2**16 - 1  # of a row for a tree
_BYTES = 48  # of a row and tree: how often it was drawn, its places, and the nodes that it ends in
_KEPT = ("n_rows", "n_features", "n_classes", "n_trees")  # arguments of walks
_THREADS = 2**18  # for draws of all trees, several each
_ROWS_A_BLOCK, _BLOCKS_A_TREE = 2048, 32


@dataclass(frozen=True)
class CodedTraining:
    """Training rows as columns of one byte a row, and the bins of the columns."""

    codes: NDArray[np.uint8]
    """(n_features, n_rows)."""
    labels: NDArray[np.int32]
    n_classes: int
    weight: Floats
    bin_start: NDArray[np.int64]
    least: Floats
    greatest: Floats
    n_categories: NDArray[np.int32]


def grow_trees(
    device: Device, training: CodedTraining, options: GrowOptions, progress: Callable[[int], object] | None = None
) -> GrownTrees:
    """Grow `options.n_trees` trees, which stay on the device.

    `progress` is called with 0 from time to time: all trees are finished at once.
    """
    launch = Kernels(device)
    with device.current():
        launch.arguments |= _settings(device, training, options)
        draws = _draw(launch, training, options)
        return _grow(launch, draws, training, options, progress)


def _settings(device: Device, training: CodedTraining, options: GrowOptions) -> dict[str, Any]:
    asarray = device.xp.asarray
    n_features, n_rows = training.codes.shape
    needed = _BYTES * n_rows * int(options.n_trees) + training.codes.nbytes
    if needed > device.free_bytes():
        raise MemoryError(
            f"growing {options.n_trees} trees from {n_rows:,} rows takes {needed / 1e9:.2g} GB, and {device.name} has "
            f"{device.free_bytes() / 1e9:.2g} GB left: free memory, or fit on the CPU, model.to('cpu').fit(X, y)"
        )
    if large_bytes(training.n_classes, n_features) > device.most_shared_bytes:
        raise ValueError(
            f"{training.n_classes} classes and {n_features} columns are more than {device.name} grows trees of: fit on "
            "the CPU, model.to('cpu').fit(X, y)"
        )
    splits = {Splitter.best: 0, Splitter.random: 1, Splitter.mixed: 2}
    tried = max(options.max_features, 0)
    return {
        "codes": asarray(training.codes),
        "labels": asarray(training.labels),
        "bin_start": asarray(training.bin_start),
        "least": asarray(training.least),
        "greatest": asarray(training.greatest),
        "has_categories": asarray((training.n_categories > 0).astype(np.uint8)),
        "n_rows": n_rows,
        "n_features": n_features,
        "n_classes": training.n_classes,
        "n_trees": int(options.n_trees),
        "draws_splits": splits[options.splitter],
        "n_tried": tried,
        "n_tried_drawn": 2 * tried if options.splitter == Splitter.mixed else tried,
        "least_rows": max(float(options.min_samples_split), 2.0 * options.min_samples_leaf) - 1e-9,
        "least_leaf": float(options.min_samples_leaf),
        "least_weight": float(options.min_weight_leaf),
        "least_decrease": float(options.min_impurity_decrease),
    }


def _draw(launch: Kernels, training: CodedTraining, options: GrowOptions) -> Any:
    """How often each row was drawn for each tree, (n_trees, n_rows)."""
    xp = launch.device.xp
    n_rows, n_trees, n_draws = len(training.labels), int(options.n_trees), int(options.n_draws)
    if n_draws == 0:
        return xp.ones((n_trees, n_rows), dtype=np.uint32)
    keys = [child_key(child_key(options.seed, tree), _BAG) for tree in range(n_trees)]
    equal = bool((training.weight == training.weight[0]).all())
    draws, redrawn = xp.zeros((n_trees, n_rows), dtype=np.uint32), xp.zeros(n_trees, dtype=np.uint8)
    launch(
        "draw_rows",
        min(n_trees * n_draws, _THREADS),
        draw_keys=xp.asarray(np.array(keys, dtype=np.uint64)),
        cumulated=None if equal else xp.asarray(np.cumsum(training.weight)),
        n_draws=n_draws,
        draws=draws,
        redrawn=redrawn,
    )
    launch("draw_rows_again", n_trees)
    if n_draws > _MOST_DRAWS and int(draws.max()) > _MOST_DRAWS:
        raise ValueError(
            f"a row was drawn {int(draws.max())} times for a tree, on a GPU at most {_MOST_DRAWS}: set max_samples to "
            "fewer draws, or fit on the CPU, model.to('cpu').fit(X, y)"
        )
    return draws


def _grow(
    launch: Kernels,
    draws: Any,
    training: CodedTraining,
    options: GrowOptions,
    progress: Callable[[int], object] | None,
) -> GrownTrees:
    device, xp = launch.device, launch.device.xp
    n_trees, n_rows = draws.shape
    n_classes = training.n_classes
    places = xp.cumsum(draws.ravel() > 0, dtype=np.int64)
    n_drawn = int(places[-1])
    if n_drawn > _MOST_DRAWN_ROWS:
        raise ValueError(
            f"{n_drawn:,} rows are in the bags of all trees, on a GPU at most {_MOST_DRAWN_ROWS:,}: set max_samples to "
            "fewer draws, or fit on the CPU, model.to('cpu').fit(X, y)"
        )
    end = places[n_rows - 1 :: n_rows].astype(np.uint32)
    level = {
        "rows": xp.empty(n_drawn, dtype=np.uint64),
        "begin": xp.concatenate([xp.zeros(1, dtype=np.uint32), end[:-1]]),
        "end": end,
        "key": xp.asarray(np.array([child_key(options.seed, tree) for tree in range(n_trees)], dtype=np.uint64)),
        "tree": xp.arange(n_trees, dtype=np.int32),
        "counts": xp.zeros((n_trees, n_classes), dtype=np.uint32),
    }
    block = min(128, device.cooperating_threads)
    n_threads = n_trees * block * min(-(-n_rows // _ROWS_A_BLOCK), _BLOCKS_A_TREE)
    launch("list_drawn", n_threads, block=block, draws=draws, places=places.astype(np.int32), **level)
    launch("count_classes", n_threads, block=block)
    tree_weight = level["counts"].sum(axis=1).astype(np.uint32)
    launch.arguments |= {
        "tree_weight": tree_weight,
        "other_rows": xp.empty(n_drawn, dtype=np.uint64),
        "limits": xp.asarray(np.array([team.most_rows for team in TEAMS], dtype=np.int64)),
        "n_lists": len(TEAMS),
        "places": None,
    }
    levels, n_nodes, depth = [], 0, 0
    while len(level["tree"]):
        may_split = options.max_depth < 0 or depth < options.max_depth
        found, level = _split_level(launch, level, may_split)
        n_nodes += len(found["tree"])
        found["first_child"] = xp.where(found["feature"] >= 0, found["first_child"] + n_nodes, -1)
        levels.append(found)
        depth += 1
        if progress is not None:
            progress(0)
    launch.arguments = {name: launch.arguments[name] for name in _KEPT}
    arrays = {name: xp.concatenate([one[name] for one in levels]) for name in levels[0]}
    return GrownTrees(launch, draws=draws, n_features=len(training.codes), **arrays)


def _split_level(launch: Kernels, level: dict[str, Any], may_split: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the nodes of a level; returns them, and the next level."""
    xp = launch.device.xp
    n, n_classes = level["counts"].shape
    splits = {
        "feature": xp.full(n, -1, dtype=np.int32),
        "threshold": xp.full(n, np.nan),
        "kind": xp.zeros(n, dtype=np.uint8),
    }
    kept = {"tree": level["tree"], "counts": level["counts"]}
    if not may_split:
        return splits | kept | {"first_child": xp.zeros(n, dtype=np.int64)}, _no_nodes(level)
    lists = xp.empty((len(TEAMS), n), dtype=np.uint32)
    n_listed = xp.zeros(len(TEAMS), dtype=np.uint32)
    left = {"n_left": xp.empty(n, dtype=np.uint32), "left_counts": xp.empty((n, n_classes), dtype=np.uint32)}
    launch("list_nodes", n, n_nodes=n, lists=lists, n_listed=n_listed, **level, **splits, **left)
    for listed, team, n_nodes in zip(lists, TEAMS, n_listed.tolist(), strict=True):
        if n_nodes:
            launch.on_teams(listed, team, n_nodes)
    n_split_before = xp.cumsum(splits["feature"] >= 0, dtype=np.int32)
    m = 2 * int(n_split_before[-1])
    following = {
        "begin": xp.empty(m, dtype=np.uint32),
        "end": xp.empty(m, dtype=np.uint32),
        "key": xp.empty(m, dtype=np.uint64),
        "tree": xp.empty(m, dtype=np.int32),
        "counts": xp.empty((m, n_classes), dtype=np.uint32),
    }
    children = {f"child_{name}": array for name, array in following.items()}
    launch("make_children", n if m else 0, n_split_before=n_split_before, **children)
    arguments = launch.arguments
    arguments["rows"], arguments["other_rows"] = arguments["other_rows"], arguments["rows"]
    following["rows"] = arguments["rows"]
    first_child = 2 * (n_split_before.astype(np.int64) - 1)
    return splits | kept | {"first_child": first_child}, following


def _no_nodes(level: dict[str, Any]) -> dict[str, Any]:
    return {name: array if name == "rows" else array[:0] for name, array in level.items()}
