"""Rules by name, rules of one's own, and what is refused."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hedgerow import rules
from hedgerow.rules import CountRule, Evidence, FoldRule, Plausibility, Pool, Probability, Rule

NAMES = rules.names(beyond=True)
RULES = [*map(rules.get, NAMES), Evidence(reliability="epistemic")]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)


# -- by name


def test_the_nine_are_those_of_the_paper() -> None:
    nine = ("probability", "laplace", "plausibility", "confidence", "vote", "pool", "dempster", "cautious", "evidence")
    assert rules.names() == nine
    assert NAMES[:9] == nine
    assert set(NAMES[9:]) == {
        *("median", "maximum", "inverted-gini"),
        *("mixture-average", "mixture-median", "mixture-maximum"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_knows_its_name(name: str) -> None:
    assert rules.get(name).name == name
    assert rules.get(name) == rules.get(name)
    assert isinstance(rules.get(name), FoldRule) == (name in rules.names())


def test_an_instance_is_taken_as_it_is() -> None:
    own = Evidence(correction=3)
    assert rules.get(own) is own


@pytest.mark.parametrize("wrong", ["Evidence", "", "dempster ", "mean"])
def test_an_unknown_name_is_answered_with_the_known_ones(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"^rule is ") as error:
        rules.get(wrong)
    for known in (wrong, *NAMES):
        assert repr(known) in str(error.value)


@pytest.mark.parametrize("wrong", [Pool, Plausibility, SimpleNamespace])
def test_a_class_is_not_an_instance(wrong: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"rule is the class {wrong.__name__}, pass an instance: {wrong.__name__}\(\)"
    ):
        rules.get(wrong)


# -- of one's own


def add_up(folded: Any, n_trees: Any, prior: Any) -> Any:
    return folded / folded.sum(axis=1, keepdims=True)


PARTS: dict[str, Any] = {"table": lambda counts, prior: counts, "fold": ("identity", "sum"), "finish": add_up}


@pytest.mark.parametrize("absent", PARTS)
def test_an_object_without_one_of_its_parts_is_told_which(absent: str) -> None:
    parts = SimpleNamespace(**{part: PARTS[part] for part in PARTS if part != absent})
    with pytest.raises(ValueError, match=rf"which has no {absent}: a rule has a table\(counts, prior\)"):
        rules.get(parts)


def test_an_object_without_any_part_is_told_all() -> None:
    with pytest.raises(ValueError, match="rule is 7, which has no table and no fold and no finish"):
        rules.get(7)


class Poolish:
    """Duck-typed: the three parts and nothing of ours."""

    def __init__(self, **changes: Any) -> None:
        vars(self).update(PARTS | changes)


class Product(FoldRule):
    """Subclassed."""

    fold = ("log", "sum")

    def __init__(self, least: float = 1.0) -> None:
        self.least = least

    def table(self, counts: Any, prior: Any) -> Any:
        return counts + self.least

    def finish(self, folded: Any, n_trees: Any, prior: Any) -> Any:
        return add_up(np.exp(folded), n_trees, prior)


COUNTS = np.array([[[1.0, 2.0], [0.0, 4.0]], [[3.0, 0.0], [0.0, 0.0]]])


def test_three_parts_are_enough() -> None:
    parts = Poolish()
    adopted = rules.get(parts)
    assert isinstance(adopted, Rule)
    assert adopted.name == "Poolish"
    np.testing.assert_array_equal(adopted.proba(COUNTS), Pool().proba(COUNTS))
    np.testing.assert_allclose(adopted.decision(COUNTS), 2 * Pool().decision(COUNTS), atol=1e-15)  # p⁺ − p⁻
    assert adopted == rules.get(parts)
    assert adopted != rules.get(Poolish())
    assert len({adopted, rules.get(parts)}) == 1


def test_a_subclass_is_a_rule() -> None:
    own = Product()
    assert rules.get(own) is own
    # (1 + 1)·(0 + 1) against (2 + 1)·(4 + 1).
    np.testing.assert_allclose(own.proba(COUNTS[0]), [2 / 17, 15 / 17], rtol=1e-14)
    assert own.decision(COUNTS[0]) == pytest.approx(13 / 17, rel=1e-14)
    assert own.name == "product"


@pytest.mark.parametrize(("op", "expected"), [("min", [0, 2]), ("max", [1, 4])])
def test_a_rule_can_fold_by_the_least_and_the_greatest(op: str, expected: list[float]) -> None:
    own = rules.get(Poolish(fold=("identity", op), finish=lambda folded, n_trees, prior: folded))
    np.testing.assert_array_equal(own.proba(COUNTS[0]), expected)


def test_a_finish_is_told_trees_and_prior() -> None:
    told: list[Any] = []

    def finish(folded: Any, n_trees: Any, prior: Any) -> Any:
        told.append((folded.shape, n_trees, prior.tolist()))
        return folded

    rules.get(Poolish(finish=finish)).proba(COUNTS, [0.25, 0.75])
    assert told == [((2, 2), 2, [0.25, 0.75])]


def test_a_rule_of_counts_needs_no_fold() -> None:
    class First(CountRule):
        def combine(self, counts: Any, prior: Any) -> Any:
            return add_up(counts[:, 0], 1, prior)

    np.testing.assert_allclose(rules.get(First()).proba(COUNTS), [[1 / 3, 2 / 3], [1, 0]], rtol=1e-15)
    np.testing.assert_allclose(First().decision(COUNTS), [1 / 6, -1 / 2], rtol=1e-15)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Poolish(table=lambda c, p: c[:-1]), r"its table has shape \(3, 2\), .* the 4 rows of counts"),
        (Poolish(table=lambda c, p: c.sum(axis=1)), r"its table has shape \(4,\), .* the 4 rows of counts"),
        (Poolish(table=lambda c, p: np.log(c + p * 0 - (c > 3))), r"rule Poolish: .*finite for a leaf with counts"),
        (Poolish(table=lambda c, p: np.where(c > 3, np.nan, c)), r"not finite for a leaf with counts \[0. 4.\]"),
        (Product(least=0), r"rule product: row 1 has 0.0 in a column under log, which must be finite and positive"),
        (Product(least=-1), r"rule product: row 0 has 0.0 in a column under log"),
        (Poolish(fold="sum"), "rule Poolish: its fold is 'sum', must be one of .*'identity', 'sum'"),
        (Poolish(fold=("log",)), r"rule Poolish: its fold is \('log',\), must be one of"),
        (Poolish(fold=("log", "mean")), r"rule Poolish: its fold is \('log', 'mean'\), must be one of"),
        (Poolish(fold=("sqrt", "sum")), r"rule Poolish: its fold is \('sqrt', 'sum'\), must be one of"),
        (Poolish(fold=("identity", ["sum", "max"])), r"rule Poolish: its fold is \('identity', \['sum', 'max'\]\)"),
        (Poolish(fold=None), "rule Poolish: its fold is None, must be one of"),
    ],
)
def test_a_mistake_in_a_rule_of_ones_own_is_named(own: Any, message: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        rules.get(own).proba(COUNTS)


# -- what no rule takes


@every_rule
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 2], [3, -1]], r"counts\[1, 1\] is -1.0, must be finite and not negative"),
        ([[[1, 2], [3, math.nan]]], r"counts\[0, 1, 1\] is nan, must be finite and not negative"),
        ([[math.inf, 2]], r"counts\[0, 0\] is inf, must be finite and not negative"),
        ([[-math.inf, 2]], r"counts\[0, 0\] is -inf, must be finite and not negative"),
        ([1, 2], r"counts have shape \(2,\), must have shape \(..., n_trees, n_classes\)"),
        (3, r"counts have shape \(\), must have shape"),
        (np.zeros((5, 0, 2)), r"counts have shape \(5, 0, 2\), must have shape"),
        (np.zeros((5, 2, 0)), r"counts have shape \(5, 2, 0\), must have shape"),
    ],
)
def test_what_are_no_counts_is_refused(rule: Rule, counts: Any, message: str) -> None:
    for ask in (rule.proba, rule.decision):
        with pytest.raises(ValueError, match=message):
            ask(counts)


@every_rule
@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.2, 0.3, 0.5], r"prior has shape \(3,\), must have a probability for each of 2 classes"),
        (0.5, r"prior has shape \(\), must have a probability for each of 2 classes"),
        ([[0.5, 0.5]], r"prior has shape \(1, 2\), must have"),
        ([0.5, 0.6], r"prior is \[0.5, 0.6\], must be probabilities that add up to 1 \(here 1.1\)"),
        ([1.25, -0.25], r"prior is \[1.25, -0.25\], must be probabilities that add up to 1"),
        ([math.nan, 0.5], r"prior is \[nan, 0.5\], must be probabilities"),
        ([math.inf, -math.inf], r"prior is \[inf, -inf\], must be probabilities"),
        ([1e308, 1.5e308], r"must be probabilities that add up to 1 \(here inf\)"),
        ([1, 0], "prior is 0 for class 1, which has counts: give it a positive probability"),
    ],
)
def test_what_is_no_prior_is_refused(rule: Rule, prior: Any, message: str) -> None:
    for ask in (rule.proba, rule.decision):
        with pytest.raises(ValueError, match=message):
            ask([[3, 1]], prior)


@every_rule
def test_a_prior_that_adds_up_but_for_rounding_is_taken(rule: Rule) -> None:
    prior = np.full(3, 1 / 3) + np.array([2e-10, 0, 0])
    assert rule.proba([[3, 1, 0]], prior).sum() == pytest.approx(1, abs=1e-14)


def test_rules_are_values() -> None:
    assert len({Evidence(), Evidence(correction=0.1), Evidence(correction=0.2)}) == 2
    assert Probability(correction=1) == rules.get("laplace")
    with pytest.raises(AttributeError):
        Evidence().correction = 3  # type: ignore[misc]
