"""Cross-validation: how good models are on rows that they have not been fitted to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.cli.console import note
from hedgerow.cli.errors import CommandError
from hedgerow.cli.inputs.roles import Training
from hedgerow.scoring.evaluation import Evaluation, combine, mark
from hedgerow.scoring.folds import splits, try_out

__all__ = ["cross_validate", "usable_folds"]


def usable_folds(training: Training, n_folds: int) -> int:
    """Limit the number of folds to what rows and groups allow, with a note; an error if that is no cross-validation."""
    if training.classification:
        most, what = int(np.unique(training.y, return_counts=True)[1].max()), "rows in the largest class"
        reason = "no class has two rows"
    else:
        most, what, reason = len(training.y), "rows", "there is only one row"
    if training.groups is not None and (n_groups := len(np.unique(training.groups))) < most:
        most, what, reason = n_groups, "groups", "there is only one group"
    if most < 2:
        raise CommandError(
            f"target {training.target!r} can't be cross-validated, since {reason}: skip it with fit --folds 0, "
            "or give more rows"
        )
    if n_folds > most:
        note(f"--folds is {n_folds}, but there are only {most} {what}: {most} folds were used")
    return min(n_folds, most)


def cross_validate(make: Callable[[], Any], training: Training, n_folds: int, tick: Callable[[], None]) -> Evaluation:
    """Evaluate a model by cross-validation: all scores that it has."""
    marks = []
    for split in splits(training, n_folds):
        model = make().fit(split.X, split.y, **split.fit_weight)
        marks.append(mark(try_out(model, split)))
        tick()
    return combine(marks)
