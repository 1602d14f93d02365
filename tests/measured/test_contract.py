"""Trees for measured inputs keep scikit-learn's contract and the family's own."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import pytest

from hedgerow import CautiousClassifier, MeasuredTreeClassifier, RuleClassifier, checks, measured


@pytest.mark.parametrize("wrapper", [RuleClassifier, CautiousClassifier])
def test_wrappers_answer_a_row_alike_alone_and_among_others(wrapper: Any) -> None:
    soft = MeasuredTreeClassifier(0.1, max_leaf_nodes=8)
    checks.check_a_row_is_answered_alike_alone_and_among_others(wrapper(soft))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        *(("error_sizes", "RelativeError"), ("errors", "Student"), ("explain", "RegionExplanation")),
        *(("latent", "Landmarks"), ("laws", "NormalLaw"), ("losses", "Pinball"), ("many_trees", "ManySoftTrees")),
        *(("misclassification", "Misclassification"), ("priors", "KdePrior"), ("readings", "Readings")),
    ],
)
def test_pickles_of_earlier_versions_find_their_classes(module: str, name: str) -> None:
    """Protocol 0 names a class in one line: module and name."""
    found = pickle.loads(f"chedgerow.measured.{module}\n{name}\n.".encode())
    assert found is getattr(importlib.import_module(found.__module__), name)
    assert getattr(measured, name, found) is found
