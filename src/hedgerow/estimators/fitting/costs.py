"""Costs of misclassification and of measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.data.table import Schema
from hedgerow.forest.counts import as_numbers
from hedgerow.metrics import check_cost_matrix
from hedgerow.walk import weighted_sums

__all__ = ["cheapest_classes", "class_costs", "feature_costs", "prior_weights"]


def class_costs(cost_matrix: Any, classes: NDArray[Any]) -> Floats:
    """Check `cost_matrix` for these classes, true × predicted."""
    return check_cost_matrix(cost_matrix, len(classes), f"classes {', '.join(map(str, classes[:10]))}")


def cheapest_classes(probabilities: Floats, cost_matrix: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Number of the class with the least expected cost for each row of probabilities, (n,); the first of equals."""
    return weighted_sums(probabilities, class_costs(cost_matrix, classes)).argmin(axis=1)


def prior_weights(costs: Floats, codes: NDArray[np.int32], weight: Floats, classes: NDArray[Any]) -> Floats:
    """Reweight rows in proportion to the cost of misclassifying them, Σ_j cost[i, j], keeping the total.

    The altered priors of Breiman et al., CART, 1984, 4.4: exact for two classes, and where all errors of a class cost
    the same.
    """
    of_class = costs.sum(axis=1)
    if not of_class.all():
        free = classes.tolist()[int(np.argmin(of_class))]
        raise ValueError(
            f"cost_priors=True needs a cost for every class: the row of {free!r} in cost_matrix is 0, so that its rows "
            "would count nothing; give it a cost or use cost_priors=False"
        )
    changed: Floats = weight * of_class[codes]
    changed *= weight.sum() / changed.sum()
    return changed


def feature_costs(given: Any, schema: Schema) -> Floats:
    """Read the cost of measuring each column, (n_features,): in their order, or by name with 1 for the others."""
    if given is None:
        return np.ones(schema.n_features)
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in schema.names]:
            raise ValueError(
                f"feature_costs has {unknown[0]!r}, which is not a column of X: they are {', '.join(schema.names[:10])}"
            )
        given = [given.get(name, 1.0) for name in schema.names]
    costs = as_numbers("feature_costs", given)
    if costs.shape != (schema.n_features,):
        raise ValueError(
            f"feature_costs has shape {costs.shape}, must have a cost for each of {schema.n_features} columns"
        )
    if not (np.isfinite(costs) & (costs > 0)).all():
        column = int(np.argmin(np.isfinite(costs) & (costs > 0)))
        raise ValueError(
            f"feature_costs of {schema.names[column]!r} is {costs[column]}: costs must be positive and finite; "
            "give a free measurement a cost that is small beside the others"
        )
    return costs
