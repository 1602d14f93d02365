"""Class weights, which multiply the weights of rows in parts as :func:`hedgerow.data.targets.read_weights` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._exact import exact_sum, merge_sums, split_sum
from hedgerow.data.sources import LARGEST_EXACT_INTEGER
from hedgerow.data.targets import WEIGHT_ROUNDING, class_weights_of
from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock

__all__ = ["weigh_classes"]

_SMALLEST = 1e-100  # of the largest product, as in hedgerow.data.targets


def weigh_classes(job: Job, class_weight: Any) -> Job:
    """The job with the weights of rows times those of their classes."""
    if class_weight is None:
        return job
    survey = job.survey
    plain = job.reading(replace(survey.encoding, rounds=False))
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts: Whole = plain.fold(count_classes, len(survey.classes), merge=np.add, stage="counting classes")
        weights = counts.sum() / (len(counts) * counts.astype(np.float64))
    else:
        weights = class_weights_of(class_weight, survey.classes)
    found = plain.fold(sum_products, weights, merge=_merge, stage="weighting classes")
    least, greatest = found["least"], found["greatest"]
    if not (np.isfinite(weights).all() and (weights >= 0).all() and greatest > 0) or least < _SMALLEST * greatest:
        raise ValueError(
            f"class_weight is {class_weight!r}: times the sample weights it must give finite weights that are not "
            "negative, and one that is positive, not too far apart"
        )
    encoding = replace(survey.encoding, class_weights=weights, class_unit=_unit(found))
    return job.reading(encoding)


def count_classes(block: RowBlock, n_classes: int) -> NDArray[np.int64]:
    """Rows of each class, whatever their weights."""
    return np.bincount(block.target, minlength=n_classes)


def sum_products(block: RowBlock, weights: Floats) -> dict[str, Any]:
    """Exact sums of the products that are positive, and of the weights before."""
    product = block.weight * weights[block.target]
    used = product > 0
    present = product[used]
    return {
        "products": split_sum(present),
        "weights": split_sum(block.weight[used]),
        "whole": bool((present == np.floor(present)).all()),
        "least": float(present.min(initial=np.inf)),
        "greatest": float(present.max(initial=0.0)),
    }


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        "products": merge_sums(one["products"], other["products"]),
        "weights": merge_sums(one["weights"], other["weights"]),
        "whole": one["whole"] and other["whole"],
        "least": min(one["least"], other["least"]),
        "greatest": max(one["greatest"], other["greatest"]),
    }


def _unit(found: dict[str, Any]) -> float:
    """Divisor that keeps the total of the weights; 1 for whole numbers."""
    total = exact_sum(found["products"])
    if found["whole"] and total <= LARGEST_EXACT_INTEGER:
        return 1.0
    unit = total / exact_sum(found["weights"])
    return 1.0 if abs(unit - 1) < WEIGHT_ROUNDING else unit
