"""Trees for measured inputs as Displays ask them: values of regions, and the shares of rows in them."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hedgerow.measured.laws.joint_law import JointLaw
from hedgerow.measured.regions import Regions, joint_membership
from hedgerow.plots.display import Floats
from hedgerow.plots.requirements import class_position

__all__ = ["check_measured", "region_shares", "region_values"]


def check_measured(estimator: Any) -> None:
    """Raise an error unless the estimator is a fitted single tree for measured inputs."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "laws_") or not hasattr(estimator, "membership"):
        raise TypeError(
            f"estimator is {type(estimator).__name__}, must be a MeasuredTreeRegressor or a MeasuredTreeClassifier"
        )


def region_values(estimator: Any, class_label: Any) -> tuple[Floats, str]:
    """Return the value of each region, (k,), and its name: the answer, or of a classifier the share of a class."""
    classes = getattr(estimator, "classes_", None)
    output = 0 if classes is None else class_position(classes, class_label)
    values: Floats = estimator.values_.reshape(estimator.forest_.n_leaves, -1)[:, output]
    return values, "answer" if classes is None else f"share of {classes[output]}"


def region_shares(estimator: Any, rows: Floats) -> Floats:
    """Compute the membership of encoded rows in each region, (n, k), with the errors that the tree was fitted for."""
    regions = Regions.of_forest(estimator.forest_, estimator.schema_.n_categories)
    errors = estimator.error_sizes_.of_rows(rows, estimator.schema_.names)
    return joint_membership(regions, JointLaw(estimator.laws_, estimator.error_sizes_.pairs), rows, errors)
