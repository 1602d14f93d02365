from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings

from effort import examples
from hedgerow import Forest
from hedgerow.forest.build import (
    build_forest,
    leaf,
    multiway,
    oblique,
    one_against_rest,
    subset,
    threshold,
    value,
)
from hedgerow.forest.names import number_text
from strategies import forests


def every_kind() -> Forest:
    colours = multiway(1, {0: leaf([4, 0]), 1: (rest := leaf([0, 2.5])), 3: rest}, own=leaf([0, 0]))  # 2 has no branch
    slanted = oblique({0: -0.5, 2: 2}, 1.25, leaf([3, 1]), leaf([1, 3]), leaf([1, 1]), missing="own_branch")
    warm = subset(1, [0, 2, 33], 40, colours, slanted)
    known = threshold(2, math.inf, leaf([7, 7]), leaf([0, 1]), missing="last_child")
    return build_forest([threshold(0, 1 / 3, one_against_rest(1, 2, leaf([1, 0]), warm), known)], 3)


PLAIN = """\
x0 <= 0.333333
|   x1 = 2: class 0 (class 0 1)
|   x1 != 2
|   |   x1 in {0, 2, 33}
|   |   |   x1 = 0: class 0 (class 0 4)
|   |   |   x1 in {1, 3}: class 1 (class 1 2.5)
|   |   |   x1 is missing: class 0 (no rows)
|   |   x1 not in {0, 2, 33}
|   |   |   -0.5·x0 + 2·x2 <= 1.25: class 0 (class 0 3, class 1 1)
|   |   |   -0.5·x0 + 2·x2 > 1.25: class 1 (class 0 1, class 1 3)
|   |   |   -0.5·x0 + 2·x2 is missing: class 0 (class 0 1, class 1 1)
x0 > 0.333333
|   x2 is known: class 0 (class 0 7, class 1 7)
|   x2 is missing: class 1 (class 1 1)"""

NAMED = """\
size <= 0.333333
|   colour = blue: no (no 1)
|   colour != blue
|   |   colour in {red, blue, 33}
|   |   |   colour = red: no (no 4)
|   |   |   colour in {green, 3}: 1 (1 2.5)
|   |   |   colour is missing: no (no rows)
|   |   colour not in {red, blue, 33}
|   |   |   -0.5·size + 2·age <= 1.25: no (no 3, 1 1)
|   |   |   -0.5·size + 2·age > 1.25: 1 (no 1, 1 3)
|   |   |   -0.5·size + 2·age is missing: no (no 1, 1 1)
size > 0.333333
|   age is known: no (no 7, 1 7)
|   age is missing: 1 (1 1)"""

SHORT = """\
x0 <= 0.333333
|   x1 = 2: class 0 (class 0 1)
|   x1 != 2: … class 0 (class 0 9, class 1 7.5)
x0 > 0.333333
|   x2 is known: class 0 (class 0 7, class 1 7)
|   x2 is missing: class 1 (class 1 1)"""


def test_every_kind_of_node_has_its_words() -> None:
    assert every_kind().to_text() == PLAIN


def test_names_stand_where_numbers_would() -> None:
    named = every_kind().to_text(
        feature_names=["size", "colour", "age"],
        class_names=["no", 1],
        categories=[(), ["red", "green", "blue"], ()],  # codes beyond the names stay numbers
    )
    assert named == NAMED


def test_branches_below_max_depth_are_summed_up() -> None:
    assert every_kind().to_text(max_depth=2) == SHORT
    assert every_kind().to_text(max_depth=4) == PLAIN
    assert every_kind().to_text(max_depth=1).splitlines() == [
        "x0 <= 0.333333: … class 0 (class 0 10, class 1 7.5)",
        "x0 > 0.333333: … class 1 (class 0 7, class 1 8)",
    ]


def test_regression_leaves_show_mean_spread_and_weight() -> None:
    tree = threshold(0, 10, value(2.5, weight=4, squares=9), threshold(0, 20, value(-1e9), value(3, weight=0)))
    forest = build_forest([tree], 1, regression=True)
    assert forest.to_text().splitlines() == [
        "x0 <= 10: 2.5 ± 1.5 (n = 4)",
        "x0 > 10",
        "|   x0 <= 20: -1000000000 ± 0 (n = 1)",
        "|   x0 > 20: 3 ± 0 (n = 0)",
    ]


def test_a_tree_that_is_one_leaf_is_its_answer() -> None:
    forest = build_forest([leaf([0, 3]), leaf([1, 0])], 1)
    assert forest.to_text() == "class 1 (class 1 3)"
    assert forest.to_text(1) == "class 0 (class 0 1)"


@pytest.mark.parametrize(
    ("weights", "form"),
    [
        ({0: 1.0}, "x0"),
        ({0: -1.0}, "-x0"),
        ({1: 2.0, 2: -3.0}, "2·x1 - 3·x2"),
        ({0: -2.0, 1: -0.25, 2: 1e-7}, "-2·x0 - 0.25·x1 + 1e-07·x2"),
    ],
)
def test_linear_forms_read_as_they_are_written_on_paper(weights: dict[int, float], form: str) -> None:
    forest = build_forest([oblique(weights, 0, leaf([1]), leaf([2]))], 3)
    assert forest.to_text().startswith(f"{form} <= 0: class 0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a", "b"]}, "feature_names has 2 entries, this forest needs 3"),
        ({"class_names": ["a"]}, "class_names has 1 entries, this forest needs 2"),
        ({"categories": [()]}, "categories has 1 entries, this forest needs 3"),
        ({"tree": 1}, r"tree is 1, this forest has trees 0 \.\. 0"),
        ({"tree": -1}, "tree is -1"),
    ],
)
def test_names_and_trees_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        every_kind().to_text(**options)


def test_class_names_of_a_regression_forest_are_refused() -> None:
    with pytest.raises(ValueError, match="class_names has 2 entries, this forest needs 0"):
        build_forest([value(1)], 1, regression=True).to_text(class_names=["a", "b"])


@pytest.mark.parametrize(
    ("x", "text"), [(2.0, "2"), (1 / 3, "0.333333"), (1e-9, "1e-09"), (-0.5, "-0.5"), (123456.0, "123456")]
)
def test_numbers_have_six_digits_and_no_trailing_zeros(x: float, text: str) -> None:
    assert number_text(x) == text


def test_whole_numbers_are_written_out() -> None:
    assert number_text(1234567.0) == "1234567"


def test_a_chain_of_three_thousand_nodes_is_written_without_recursion() -> None:
    node = leaf([0, 1])
    for level in range(3000, 0, -1):
        node = threshold(0, level, leaf([1, 0]), node)
    lines = build_forest([node], 1).to_text().splitlines()
    assert len(lines) == 6000
    assert lines[0] == "x0 <= 1: class 0 (class 0 1)"
    assert lines[-1] == "|   " * 2999 + "x0 > 3000: class 1 (class 1 1)"


@settings(max_examples=examples(8, 20), deadline=None)
@given(forests())
def test_each_branch_has_a_line(forest: Forest) -> None:
    for tree in range(forest.n_trees):
        n_nodes = forest.tree_start[tree + 1] - forest.tree_start[tree]
        lines = forest.to_text(tree).splitlines()
        assert len(lines) == max(1, n_nodes - 1)
        deepest = max(line.count("|   ") for line in lines)
        assert deepest == max(0, forest.depths[tree] - 1)


def test_leaves_may_answer_with_something_of_their_own() -> None:
    tree = threshold(0, 2.5, leaf([9, 1]), threshold(0, 5, leaf([0, 5]), leaf([2, 2])))
    forest = build_forest([leaf([1, 0]), tree], n_features=1)
    own = ["a", "b", "c", "d"]
    assert forest.to_text(0, leaf_answers=own) == "a (class 0 1)"
    assert forest.to_text(1, leaf_answers=own).splitlines() == [
        "x0 <= 2.5: b (class 0 9, class 1 1)",
        "x0 > 2.5",
        "|   x0 <= 5: c (class 1 5)",
        "|   x0 > 5: d (class 0 2, class 1 2)",
    ]
    top = forest.to_text(1, leaf_answers=own, max_depth=1)
    assert top.endswith("x0 > 2.5: … class 1 (class 0 2, class 1 7)")
    with pytest.raises(ValueError, match="leaf_answers has 1 entries, this forest has 4 leaves"):
        forest.to_text(leaf_answers=["a"])
