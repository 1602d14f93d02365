"""Verdicts follow the 95 % interval of what decides a claim, and reports decide on the scores they are given."""

from itertools import product

import numpy as np
import pytest

from hedgerow.experiments.claims import on_datasets
from hedgerow.experiments.combining import Combining
from hedgerow.experiments.measured import Measured
from hedgerow.experiments.reports.combining_scores import LEAF_SIZES, METHODS
from hedgerow.experiments.study import Results

SPREAD = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # 95 % half-width: 0.98


@pytest.mark.parametrize(
    ("mean", "verdict"), [(1.1, "holds"), (0.9, "not decidable"), (-0.9, "not decidable"), (-1.1, "does not hold")]
)
def test_a_claim_is_decided_by_the_interval_around_its_mean(mean, verdict):
    assert on_datasets("Text.", "1", mean + SPREAD, "points").verdict == verdict
    assert on_datasets("Text.", "1", 3 - (mean + SPREAD), "points", below=3.0).verdict == verdict


def test_a_claim_with_a_condition_that_fails_does_not_hold():
    assert on_datasets("Text.", "1", 5 + SPREAD, "points", also=False).verdict == "does not hold"


def test_few_values_decide_nothing_and_have_no_interval():
    claim = on_datasets("Text.", "1", np.array([5.0, 5.1, 5.2]), "points")
    assert claim.verdict == "not decidable"
    assert claim.evidence == "+5.10 points; above 0 on 3 of 3 datasets (too few)"


def test_soft_models_are_compared_with_the_best_hard_one_of_each_dataset():
    """Squared errors by which the soft tree is ahead of the plain one everywhere, but behind the other on five."""
    models = {"tree": 0.5, "forest": 0.5, "forest, σ = 0": 0.4, "scikit-learn's forest": 0.6, "soft forest": 0.3}
    models |= {"boosting, σ = 0": 0.4, "scikit-learn's boosting": 0.2, "soft boosting": 0.3, "soft tree": 0.4}
    rows = [
        (f"set {number}", f"{part:02}", f"{model}/{ratio:g}", "error", value)
        for number in range(6)
        for part in range(3)
        for ratio in (0.15, 0.45, 0.9)
        for model, value in (models | {"tree, σ = 0": 0.2 if number else 0.8}).items()
    ]
    report = Measured().report(Results(rows))
    tree, bagged, boosted, forest, boosting = report.claims
    assert tree.verdict == "does not hold"  # 20 % ahead on one of six datasets, 100 % behind on five
    assert tree.evidence.endswith("above 0 on 1 of 6 datasets (-80.0 with errors of 0.15, -80.0 with errors of 0.9)")
    assert (bagged.verdict, boosted.verdict, forest.verdict, boosting.verdict) == (*("holds",) * 3, "does not hold")


def test_a_page_says_which_datasets_of_the_paper_are_absent():
    settings = [
        f"{prefix}{name}/{size}{ending}"
        for prefix, ending in product(("", "forest "), ("", "/5 trees", "/10 trees", "/25 trees"))
        for name, size in product((*METHODS, "evidence-published", "tempered"), LEAF_SIZES)
    ]
    rows = [("sonar", "1a", setting, measure, 0.9) for setting in settings for measure in ("auc", "accuracy")]
    rows.append(("sonar", "1a", "data", "positive share", 0.47))
    differences = Combining().report(Results(rows)).differences
    assert differences[0].startswith("Of the paper's 21 datasets these are not here: scene, webdata, ")
    none = Combining().report(Results([("iris", *row[1:]) for row in rows])).differences
    assert none[0].startswith("None of the paper's datasets is here")
