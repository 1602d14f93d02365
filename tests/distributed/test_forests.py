"""Forests on rows in parts, against those of one process."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from distributed_problems import KINDS, PARTS, Shipping, digest, table_of, write
from effort import daily, daily_pairs
from hedgerow import (
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    distributed,
)

_SEEDED: dict[str, Any] = {"bootstrap": "poisson", "random_state": 4}
MODELS = {
    "defaults": ForestClassifier(9, **_SEEDED),
    "scored": ForestClassifier(25, oob_score=True, tree_weights="oob", cost_matrix=[[0, 2], [1, 0]], **_SEEDED),
    "plain": ForestClassifier(
        5, calibration=None, min_samples_split=5, max_samples=200, nominal="subset", splitter="best", **_SEEDED
    ),
    "balanced": ForestClassifier(6, class_weight="balanced", **_SEEDED),
    "class weights": ForestClassifier(6, class_weight={"sick": 2.5}, **_SEEDED),
    "few bins": ForestClassifier(
        6, max_bins=20, max_leaf_nodes=30, min_weight_fraction_leaf=0.01, nominal="multiway", **_SEEDED
    ),
    "rows drawn once or never": ForestClassifier(12, max_samples=1, **_SEEDED),
    "sets": CautiousForestClassifier(9, **_SEEDED),
    "sets of any forest": CautiousClassifier(ForestClassifier(9, **_SEEDED), s="u80", weighting="learned"),
    "evidence": RuleClassifier(ForestClassifier(9, **_SEEDED), rule="evidence"),
    "evidence of random trees": RuleClassifier(RandomTreesClassifier(9, random_state=4), rule="evidence"),
}
WHOLE_WEIGHTS = ("sets of any forest", "evidence of random trees")  # one process rounds no weights for these
REGRESSORS = {
    "defaults": ForestRegressor(9, **_SEEDED),
    "binary": ForestRegressor(5, max_samples=300, nominal="binary", splitter="mixed", min_samples_leaf=1, **_SEEDED),
}
WAYS = {  # engine, memory, and what only this way does
    "a file": (distributed.Local, 1, "encoding rows"),
    "codes of all rows": (Shipping, 1 << 30, "encoding rows"),
    "bags": (Shipping, 24_500, "drawing bags"),
    "levels": (Shipping, 8_000, "adding histograms"),
}


def numbers_of(table: pa.Table) -> pa.Table:
    """The rows with a target that is a number, some of them equal."""
    rng = np.random.default_rng(5)
    outcome = np.round(np.nan_to_num(table["x0"].to_numpy()) ** 2 + rng.standard_normal(table.num_rows) / 3, 2)
    return table.set_column(table.column_names.index("outcome"), "outcome", [outcome])


def parts_of(table: pa.Table, folder: Path, n_parts: int) -> distributed.PartedRows:
    folder.mkdir(exist_ok=True)
    path = folder / "rows.parquet"
    if not path.exists():
        write(table, path)
    weight = "weight" if "weight" in table.column_names else None
    return distributed.parquet(path, target="outcome", weight=weight, n_parts=n_parts)


def fit_in_one_process(model: Any, table: pa.Table) -> Any:
    weight = table["weight"].to_numpy() if "weight" in table.column_names else None
    X = table.select([name for name in table.column_names if name not in ("outcome", "weight")])
    return clone(model).fit(X, table["outcome"].to_numpy(), sample_weight=weight)


@pytest.mark.filterwarnings("ignore:.* rows are in the bag of every tree")
@pytest.mark.parametrize(("settings", "kind"), daily_pairs(MODELS, KINDS))
def test_a_forest_is_that_of_one_process(settings: str, kind: str, tmp_path: Path) -> None:
    table = table_of(kind)
    if kind == "weights" and settings in WHOLE_WEIGHTS:
        table = table.set_column(table.num_columns - 1, "weight", [np.rint(table["weight"].to_numpy())])
    model = MODELS[settings]
    expected = digest(fit_in_one_process(model, table))
    assert digest(distributed.fit(model, parts_of(table, tmp_path, 4))) == expected


@pytest.mark.parametrize(("settings", "kind"), daily_pairs(REGRESSORS, KINDS))
def test_a_regression_forest_is_that_of_one_process(settings: str, kind: str, tmp_path: Path) -> None:
    table = numbers_of(table_of(kind))
    model = REGRESSORS[settings]
    one = fit_in_one_process(model, table)
    many = distributed.fit(model, parts_of(table, tmp_path, 4))
    assert digest(many) == digest(one)
    X = table.select(many.feature_names_in_.tolist())
    np.testing.assert_array_equal(many.predict_interval(X), one.predict_interval(X))


def test_the_score_of_a_regression_forest_is_that_of_one_process_but_for_rounding(tmp_path: Path) -> None:
    table = numbers_of(table_of("weights"))
    model = ForestRegressor(30, oob_score=True, **_SEEDED)
    scores = {distributed.fit(model, parts_of(table, tmp_path, n)).oob_score_ for n in PARTS}
    assert len(scores) == 1
    assert scores.pop() == pytest.approx(fit_in_one_process(model, table).oob_score_, abs=1e-12)


@pytest.mark.parametrize(
    ("way", "regression", "kind"),
    [
        *(pytest.param(way.values[0], False, way.values[1], marks=way.marks) for way in daily_pairs(WAYS, KINDS)),
        *((way, True, "missing") for way in WAYS if way != "levels"),  # only trees of classes are split by levels
    ],
)
def test_neither_parts_nor_ways_of_growing_change_a_bit(kind: str, way: str, regression: bool, tmp_path: Path) -> None:
    make, memory, stage = WAYS[way]
    model = (ForestRegressor if regression else ForestClassifier)(6, max_samples=0.3, **_SEEDED)
    table = numbers_of(table_of(kind)) if regression else table_of(kind)
    stages: list[str] = []
    found = set()
    for n_parts in PARTS:
        rows = parts_of(table, tmp_path, n_parts)
        fitted = distributed.fit(
            model, rows, make(), memory=memory, progress=lambda stage, done, total: stages.append(stage)
        )
        found.add(digest(fitted))
    assert found == {digest(fit_in_one_process(model, table))}
    assert {stage} == {stage for _, _, stage in WAYS.values()} & set(stages)


LEVELS: dict[str, dict[str, Any]] = {
    "multiway": {"nominal": "multiway", "min_samples_leaf": 3},
    "subset": {"nominal": "subset", "splitter": "random", "min_impurity_decrease": 0.002},
    "shallow": {"max_depth": 2, "criterion": "entropy", "max_features": None},
    "costs": {"feature_costs": [1, 2, 3, 1, 1], "cost_matrix": [[0, 2], [1, 0]], "min_weight_fraction_leaf": 0.02},
    "heavy": {"max_samples": 2_000, "max_bins": 9},
}


@pytest.mark.parametrize("settings", daily(("subset", "costs"), LEVELS))
def test_trees_that_are_split_by_levels_are_those_of_all_rows(settings: str, tmp_path: Path) -> None:
    table = table_of("nominal")
    rng = np.random.default_rng(2)
    for name in ("x0", "x1"):
        column = pa.array(table[name].to_numpy(), mask=rng.random(table.num_rows) < 0.1)
        table = table.set_column(table.column_names.index(name), name, column)
    if "cost_matrix" not in LEVELS[settings]:
        three = np.where(table["x3"].to_numpy() > 1, "ill", table["outcome"].to_numpy())
        table = table.set_column(table.column_names.index("outcome"), "outcome", [three])
    model = ForestClassifier(4, **LEVELS[settings], **_SEEDED)
    fitted = distributed.fit(model, parts_of(table, tmp_path, 4), Shipping(), memory=9_000)
    assert digest(fitted) == digest(fit_in_one_process(model, table))


def test_bags_are_drawn_by_rows_where_the_forest_would_draw_them_at_once(tmp_path: Path) -> None:
    table = table_of("numbers")
    fitted = distributed.fit(ForestClassifier(5, random_state=4), parts_of(table, tmp_path, 2))
    assert fitted.bootstrap == "poisson"
    assert digest(fitted) == digest(fit_in_one_process(ForestClassifier(5, **_SEEDED), table))


def test_empty_parts_and_a_class_in_one_part_only_change_nothing(tmp_path: Path) -> None:
    table = table_of("weights").sort_by("outcome")
    model = ForestClassifier(5, **_SEEDED)
    rows = parts_of(table, tmp_path, 7)
    empty = [replace(part, groups=(), n_rows=0) for part in rows.parts]  # one before each part
    after = replace(empty[0], first=table.num_rows)
    parts = (*(part for pair in zip(empty, rows.parts, strict=True) for part in pair), after)
    rows = replace(rows, parts=parts)
    assert digest(distributed.fit(model, rows)) == digest(fit_in_one_process(model, table))


def test_what_can_not_be_is_refused_by_name(tmp_path: Path) -> None:
    rows = parts_of(table_of("numbers"), tmp_path, 2)
    for model, message in (
        (ForestClassifier(bootstrap=False), "use bootstrap='poisson'"),
        (ForestClassifier(class_weight={"sick": 0, "well": 0}), "class_weight is .* one that is positive"),
        (ForestClassifier(class_weight="even"), "class_weight is 'even', must be a dict"),
        (ForestClassifier(oob_score=max), "use oob_score=True"),
        (ForestClassifier(max_bins=None), "max_bins of 2 .. 255"),
        (ForestClassifier(missing="fractional"), "missing='random'"),
        (ForestClassifier(min_samples_leaf=0), "min_samples_leaf"),
        (CautiousForestClassifier(oob_score=True), "score held-out rows"),
        (RuleClassifier(FrozenEstimator(ForestClassifier())), "RuleClassifier.from_fitted"),
        (CautiousClassifier(TreeClassifier()), "TreeClassifier is one tree with exact thresholds"),
        (ConformalClassifier(), "ConformalClassifier ranks the answers of all calibration rows"),
        (RuleClassifier(rule="tempered"), "held-out rows to choose its temper"),
        (CautiousClassifier(RandomTreesClassifier(), s="u65"), "this RandomTreesClassifier has none"),
    ):
        with pytest.raises(ValueError, match=message):
            distributed.fit(model, rows)
    with pytest.raises(ValueError, match=r"max_leaf_nodes compares .* smaller max_samples"):
        distributed.fit(ForestClassifier(5, max_leaf_nodes=9), rows, Shipping(), memory=5_000)
    rows = parts_of(numbers_of(table_of("weights")), tmp_path / "numbers", 2)
    with pytest.raises(ValueError, match=r"only trees of classes .* more memory="):
        distributed.fit(ForestRegressor(5), rows, Shipping(), memory=5_000)


KILLED = """
import os, signal, sys
from hedgerow import ForestClassifier, distributed

def progress(stage, done, total):
    if stage == "growing trees" and done and os.path.exists(sys.argv[2] + "/tree-000003.npz"):
        os.kill(os.getpid(), signal.SIGKILL)

rows = distributed.parquet(sys.argv[1], target="outcome")
distributed.fit(ForestClassifier(12, random_state=4), rows, checkpoint=sys.argv[2], progress=progress)
"""


def test_a_fit_that_was_killed_goes_on_from_its_trees(tmp_path: Path) -> None:
    table = table_of("missing")
    rows = parts_of(table, tmp_path, 2)
    kept = tmp_path / "kept"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "rows.parquet"), str(kept)], check=False)
    assert killed.returncode == -signal.SIGKILL
    finished = {path: path.stat().st_mtime_ns for path in kept.glob("tree-*.npz")}
    assert 4 <= len(finished) < 12
    model = ForestClassifier(12, random_state=4)
    stages: list[tuple[str, int]] = []
    fitted = distributed.fit(
        model, rows, checkpoint=kept, progress=lambda stage, done, total: stages.append((stage, total))
    )
    assert digest(fitted) == digest(distributed.fit(model, rows))
    assert all(path.stat().st_mtime_ns == when for path, when in finished.items())
    assert "counting values" not in dict(stages)
    with pytest.raises(ValueError, match="belongs to another fit, with other parameters: give another folder"):
        distributed.fit(ForestClassifier(13, random_state=4), rows, checkpoint=kept)
    next(iter(finished)).write_bytes(b"no arrays")
    with pytest.raises(ValueError, match="remove it"):
        distributed.fit(model, rows, checkpoint=kept)
