"""Every estimator keeps scikit-learn's contract and the family's own.

One configuration of each estimator is always checked; the others are marked `thorough` for ``make test-all``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    MeasuredBoostingClassifier,
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    boundary,
    checks,
    credal,
    rules,
)
from hedgerow.growth import Fractional, RidgeSplit
from hedgerow.measured import Pinball
from hedgerow.naive_bayes import Gaussian
from hedgerow.probability import MEstimate
from hedgerow.pruning import CostComplexity, Pessimistic, ReducedError

BOTH = ("distance", "position")
MISSING = ("fractional", "category", "learned", "random")
CLASS_PRUNING = ("pessimistic", "reduced_error", "cost_complexity", "description_length")

# The first configuration of each family is the one that is always checked.
FAMILIES: list[list[Any]] = [
    [
        TreeClassifier(),
        TreeClassifier.cart(),
        *(TreeClassifier(missing=missing, criterion="entropy") for missing in MISSING),
        TreeClassifier(missing=Fractional(min_fraction=0.0), nominal="binary"),
        TreeClassifier(max_leaf_nodes=5),
        TreeClassifier(max_features="sqrt", random_state=0),
        TreeClassifier(leaf_probability="laplace"),
        TreeClassifier(leaf_probability=MEstimate(1.0)),
        TreeClassifier(class_weight="balanced"),
        *(TreeClassifier(pruning=name) for name in CLASS_PRUNING),
        TreeClassifier(pruning=Pessimistic(0.1, raising=False), criterion="entropy", missing="learned"),
        TreeClassifier(pruning=Pessimistic(), collapse=True, nominal="subset", missing="category"),
        TreeClassifier(pruning=Pessimistic(), missing="random", max_features="sqrt", max_leaf_nodes=9),
        TreeClassifier(pruning=ReducedError(0.2, "greedy"), nominal="binary"),
        TreeClassifier(pruning=CostComplexity(0.01), criterion="gini"),
    ],
    [
        TreeRegressor(),
        *(TreeRegressor(missing=missing, nominal="binary") for missing in ("category", "learned")),
        TreeRegressor(nominal="binary", missing="learned", min_samples_leaf=5),
        TreeRegressor(max_leaf_nodes=5),
        TreeRegressor(max_features=1, random_state=0, pruning=None),
        TreeRegressor(pruning="reduced_error"),
        TreeRegressor(pruning=ReducedError(order="greedy"), missing="category"),
        TreeRegressor(pruning=CostComplexity(0.1), max_leaf_nodes=6),
        TreeRegressor(pruning=CostComplexity(standard_errors=1.0), missing="learned"),
    ],
    [
        ForestClassifier(5),
        ForestClassifier(5, bootstrap=False, max_bins=None),
        ForestClassifier(5, bootstrap=False, criterion="entropy", nominal="subset"),
        ForestClassifier(5, missing="fractional", criterion="gain_ratio"),
        ForestClassifier(4, nominal="binary", max_bins=9),
        ForestClassifier(5, bootstrap="poisson", max_samples=0.5),
    ],
    [
        ForestRegressor(5),
        ForestRegressor(5, bootstrap=False, min_samples_leaf=1),
        ForestRegressor(5, max_bins=None, max_leaf_nodes=6),
        ForestRegressor(5, bootstrap="poisson"),
    ],
    [
        ObliqueTreeClassifier(),
        *(ObliqueTreeClassifier(missing=missing, criterion="gini") for missing in MISSING),
        ObliqueTreeClassifier(RidgeSplit(1.0), max_leaf_nodes=5, nominal="binary"),
        ObliqueTreeClassifier(RidgeClassifier(), max_features="sqrt", random_state=0),
        ObliqueTreeClassifier(LinearSVC(), max_depth=3, random_state=0),
        *(ObliqueTreeClassifier(pruning=name) for name in ("reduced_error", "cost_complexity")),
    ],
    [
        ObliqueTreeRegressor(),
        ObliqueTreeRegressor(Ridge(), pruning="reduced_error", missing="learned"),
        ObliqueTreeRegressor(RidgeSplit(0.0), max_leaf_nodes=6, pruning=None),
    ],
    [
        ObliqueForestClassifier(5),
        ObliqueForestClassifier(5, bootstrap=False, criterion="gain_ratio"),
        ObliqueForestClassifier(3, RidgeClassifier(), max_features=None),
    ],
    [
        RandomTreesClassifier(10),
        # With one row in each of three leaves the cautious rule can only say that they contradict each other.
        *(RandomTreesClassifier(10, rule=rule, min_samples_leaf=3) for rule in rules.names(beyond=True)),
        RandomTreesClassifier(10, rule=rules.Evidence(toward="prior"), max_depth=6),
    ],
    [
        RuleClassifier(ForestClassifier(6, random_state=0)),
        RuleClassifier(),
        RuleClassifier(TreeClassifier(), rule="laplace"),
        RuleClassifier(TreeClassifier(), rule="dempster"),
        RuleClassifier(RandomTreesClassifier(10, random_state=0), rule="pool"),
        RuleClassifier(DecisionTreeClassifier(random_state=0)),
        RuleClassifier(RandomForestClassifier(6, random_state=0), rule="probability"),
        RuleClassifier(ExtraTreesClassifier(10, random_state=0), rule="vote"),
        RuleClassifier(BaggingClassifier(n_estimators=10, random_state=0)),
    ],
    [
        CautiousForestClassifier(n_estimators=6),
        *(CautiousForestClassifier(n_estimators=10, aggregate=name) for name in credal.names()),
        CautiousForestClassifier(n_estimators=6, aggregate="average", s=2),
        CautiousForestClassifier(n_estimators=6, weighting="learned", s="u80"),
    ],
    [
        CautiousClassifier(ForestClassifier(5, random_state=0)),
        CautiousClassifier(ForestClassifier(5, random_state=0), weighting="samples", s=0.5),
    ],
    [
        ConformalClassifier(ForestClassifier(20, random_state=0)),
        ConformalClassifier(),
        ConformalClassifier(ForestClassifier(8, random_state=0), 0.5, "aps", "cv", probabilities="venn_abers", cv=2),
        ConformalClassifier(RandomTreesClassifier(10, random_state=0), 0.6, "raps", randomized=True),
        ConformalClassifier(conformity_score="bounds", allow_empty=True),
        ConformalClassifier(RandomForestClassifier(20, random_state=0), method="oob"),
        ConformalClassifier(ForestClassifier(30, random_state=0), 0.5, method="jackknife+", randomized=True),
        ConformalClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), 0.5, method="split", cv=2),
    ],
    [
        ConformalRegressor(ForestRegressor(20, random_state=0)),
        ConformalRegressor(),
        ConformalRegressor(ForestRegressor(8, random_state=0), 0.5, "cqr", sides="each"),
        ConformalRegressor(ForestRegressor(30, random_state=0), 0.5, "normalized", "jackknife+"),
        ConformalRegressor(MeasuredTreeRegressor(0.2), 0.5, "absolute", "split", cv=2, random_state=0),
        ConformalRegressor(TreeRegressor(), sides="upper", random_state=0),
    ],
    [
        BoundaryClassifier(),
        BoundaryClassifier(TreeClassifier()),
        BoundaryClassifier(DecisionTreeClassifier(max_depth=4, random_state=0), partition="separator"),
        BoundaryClassifier(TreeClassifier(max_depth=3), kernel="epanechnikov", metric="minmax", features=BOTH),
        BoundaryClassifier(TreeClassifier(max_depth=4), partition="separator", features=BOTH, bandwidth="cv"),
        BoundaryClassifier(partition="leaf", kernel="box", metric=boundary.MinMax(0.5), decide="tree"),
    ],
    [
        NaiveBayesTreeClassifier(random_state=0),
        NaiveBayesTreeClassifier("gaussian", min_samples_split=5, random_state=0),
        NaiveBayesTreeClassifier(Gaussian(0.01), min_samples_split=10, random_state=0),
    ],
    [
        MeasuredTreeRegressor(),
        MeasuredTreeRegressor(0.2, "student", prior="flat", max_leaf_nodes=6),
        MeasuredTreeRegressor(0.2, risk="node", max_leaf_nodes=None, min_weight_leaf=8.0, nominal="binary"),
        MeasuredTreeRegressor(0.1, pruning="cost_complexity", max_leaf_nodes=6),
    ],
    [
        MeasuredTreeClassifier(),
        MeasuredTreeClassifier(0.1, "laplace", leaf="counts", max_leaf_nodes=8),
        MeasuredTreeClassifier(0.1, prior="kde", max_leaf_nodes=8),
    ],
    [
        MeasuredForestClassifier(n_estimators=4, random_state=0),
        MeasuredForestClassifier(0.1, "laplace", n_estimators=4, max_leaf_nodes=8, random_state=0),
    ],
    [
        MeasuredForestRegressor(n_estimators=4, random_state=0),
        MeasuredForestRegressor(0.2, "student", prior="flat", n_estimators=4, max_leaf_nodes=6, random_state=0),
        MeasuredForestRegressor(0.2, n_estimators=4, bootstrap=False, max_features=None, ridge=0.1),
    ],
    [
        MeasuredBoostingRegressor(n_estimators=6, learning_rate=0.5),
        MeasuredBoostingRegressor(0.2, "student", "flat", n_estimators=8, learning_rate=0.5, loss="absolute_error"),
        MeasuredBoostingRegressor(0.2, loss=Pinball(0.6), n_estimators=8, learning_rate=0.6, max_leaf_nodes=None),
        MeasuredBoostingRegressor(0.1, n_estimators=9, n_iter_no_change=2, random_state=0),
    ],
    [
        MeasuredBoostingClassifier(n_estimators=6, learning_rate=0.5),
        MeasuredBoostingClassifier(0.1, "laplace", n_estimators=4, max_leaf_nodes=8, learning_rate=0.5),
        MeasuredBoostingClassifier(0.1, n_estimators=9, n_iter_no_change=2, validation_fraction=0.3, random_state=0),
    ],
]


def _reason_for_other_weights(estimator: Any) -> str | None:
    """Why weight k may differ from k copies of a row; None where it must not."""
    match estimator:
        case MeasuredBoostingClassifier() | MeasuredBoostingRegressor():
            if estimator.n_iter_no_change is not None:
                return "other rows are held out where rows are repeated"
        case MeasuredForestClassifier() | MeasuredForestRegressor(bootstrap=True):
            return "rows are drawn by weight, other rows for repeated ones"
        case ForestClassifier() | ForestRegressor() | ObliqueForestClassifier():
            if estimator.bootstrap:
                return "rows are drawn by weight, other rows for repeated ones"
            return "min_samples_leaf counts rows, not weights" if estimator.min_samples_leaf > 1 else None
        case TreeClassifier(class_weight="balanced"):
            return "balanced class weights count rows, not weights, as in scikit-learn"
        case RandomTreesClassifier():
            return "thresholds are drawn among rows, others among repeated ones"
        case RuleClassifier():
            alike = isinstance(estimator.estimator, TreeClassifier | DecisionTreeClassifier | ExtraTreesClassifier)
            return None if alike else "its forest draws rows by weight, other rows for repeated ones"
        case CautiousForestClassifier() | CautiousClassifier():
            return "rows are drawn by weight, other rows for repeated ones"
        case ConformalClassifier(estimator=RandomTreesClassifier()) | ConformalClassifier(method="split"):
            return None  # in the data of the check
        case ConformalRegressor(estimator=TreeRegressor() | MeasuredTreeRegressor()):
            return None  # predict is the estimator's
        case ConformalClassifier() | ConformalRegressor():
            return "other rows are drawn, or held out, where rows are repeated"
        case BoundaryClassifier(bandwidth="cv"):
            return "leaving out one of two equal rows is not leaving out a row of weight 2"
    return None


def _expected_failures(estimator: Any) -> dict[str, str]:
    reason = _reason_for_other_weights(estimator)
    names = [f"check_sample_weight_equivalence_on_{storage}_data" for storage in ("dense", "sparse")]
    failures = {} if reason is None else dict.fromkeys(names, reason)
    if getattr(estimator, "decide", None) == "tree":
        failures["check_classifiers_train"] = "the class is the tree's, not the most probable one"
    return failures


def _reads_only_numbers(estimator: Any) -> bool:
    """Whether it wraps an estimator of scikit-learn, which no model file takes."""
    inner = getattr(estimator, "estimator", None)
    return inner is not None and not type(inner).__module__.startswith("hedgerow.")


def _configurations() -> Iterator[tuple[Any, str, list[Any]]]:
    """Every configuration, its text, and its marks."""
    for family in FAMILIES:
        for number, estimator in enumerate(family):
            yield estimator, repr(estimator), [pytest.mark.thorough] if number else []


def _scikit_learn_checks() -> Iterator[Any]:
    for estimator, text, marks in _configurations():
        expected = _expected_failures(estimator)
        for one, check in estimator_checks_generator(estimator, mark=None):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            xfail = [pytest.mark.xfail(reason=expected[name])] if name in expected else []
            yield pytest.param(one, check, marks=[*marks, *xfail], id=f"{text}-{name}")


def _own_checks() -> Iterator[Any]:
    numbers_only = {
        "check_frames_of_all_libraries_give_the_same_bits",
        "check_names_are_honoured",
        "check_a_fitted_model_survives_its_file",
    }
    for estimator, text, marks in _configurations():
        for name, check in checks.contract_checks(estimator):
            has_forest = not (isinstance(estimator, ConformalClassifier) and _reads_only_numbers(estimator))
            if name == "check_the_forest_is_valid" and not has_forest:
                continue
            if name not in numbers_only or not _reads_only_numbers(estimator):
                yield pytest.param(check, marks=marks, id=f"{text}-{name}")


# Rightly warned of, in data of the checks: trees without a distribution in common, a class with one row, a column whose
# variance is all measurement error.
conflicts = pytest.mark.filterwarnings("ignore:the trees have no distribution in common:UserWarning")
lone_rows = pytest.mark.filterwarnings("ignore:.*leaves no row of class:UserWarning")
only_error = pytest.mark.filterwarnings("ignore:column .* has a variance of")


@conflicts
@lone_rows
@only_error
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), list(_scikit_learn_checks()))
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@conflicts
@lone_rows
@only_error
@pytest.mark.parametrize("check", list(_own_checks()))
def test_own_checks_pass(check: Any) -> None:
    check()
