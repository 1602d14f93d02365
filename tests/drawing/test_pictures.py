"""Pictures of trees: what they show, where it stands, and the SVG."""

from __future__ import annotations

import itertools
import re
from html import escape
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.datasets import load_iris

from effort import examples
from hedgerow import (
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    ObliqueTreeClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.drawing import Highlight, Rectangle, Scene, Subject, Text, scene_to_svg, tree_scene, view_tree
from hedgerow.drawing.palette import class_color
from hedgerow.drawing.tidy import tidy_positions
from hedgerow.drawing.view import AUTO_DEPTH, AUTO_LEAVES, N_BINS
from hedgerow.forest.names import Names
from strategies import forests

EVIL = "<script>alert('&\"')</script>"


@pytest.fixture(scope="module")
def iris() -> Any:
    found = load_iris(as_frame=True)
    return found.data, found.target_names[found.target]


@pytest.fixture(scope="module")
def tree(iris: Any) -> TreeClassifier:
    return TreeClassifier().fit(*iris)


def large_tree(max_leaf_nodes: int = 300) -> TreeClassifier:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.integers(0, 3, 2000)
    return TreeClassifier(max_leaf_nodes=max_leaf_nodes, pruning=None).fit(X, y)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def words(svg: str) -> list[str]:
    """Texts of a picture, without tooltips."""
    return [element.text or "" for element in parsed(svg).iter() if element.tag.endswith("}text")]


def subject_of(forest: Any, tree: int = 0) -> Subject:
    names = Names.of(forest, None, None, None)
    return Subject(forest, tree, names, [])


# -- layout


@st.composite
def block_trees(draw: st.DrawFn) -> tuple[list[list[int]], Any, Any, Any]:
    n = draw(st.integers(1, 30))
    children: list[list[int]] = [[] for _ in range(n)]
    parents = [draw(st.integers(0, at - 1)) for at in range(1, n)]
    for child, parent in enumerate(parents, 1):
        children[parent].append(child)
    size = st.floats(1, 200)
    breadth = np.array([draw(size) for _ in range(n)])
    length = np.array([draw(size) for _ in range(n)])
    start = np.zeros(n)
    for child, parent in enumerate(parents, 1):
        start[child] = start[parent] + length[parent]
    return children, breadth, start, start + length


@given(block_trees(), st.floats(0, 20))
def test_no_two_blocks_overlap_and_parents_stand_between_their_children(blocks: Any, gap: float) -> None:
    children, breadth, start, end = blocks
    middle = tidy_positions(children, breadth, start, end, gap)
    low, high = middle - breadth / 2, middle + breadth / 2
    assert low.min() == pytest.approx(0, abs=1e-9)
    for at, below in enumerate(children):
        if below:
            assert middle[at] == pytest.approx((middle[below[0]] + middle[below[-1]]) / 2)
        for left, right in itertools.pairwise(below):
            assert middle[left] < middle[right] or gap == 0
        for other in range(at):
            if start[at] < end[other] and start[other] < end[at]:
                first, second = sorted((at, other), key=lambda node: middle[node])
                assert high[first] + gap <= low[second] + 1e-6


# -- what is shown


@settings(max_examples=examples(8, 25))
@given(st.data())
def test_any_forest_can_be_drawn(data: st.DataObject) -> None:
    forest = data.draw(forests())
    number = data.draw(st.integers(0, forest.n_trees - 1))
    weights = np.zeros(forest.n_leaves)
    weights[int(forest.leaf_start[number])] = 1.0
    ones = np.ones(forest.n_features)
    highlight = data.draw(st.none() | st.just(Highlight(weights, ["1"] * forest.n_features, ones)))
    depth = data.draw(st.sampled_from(["auto", None, 0, 1, 2]))
    view = view_tree(subject_of(forest, number), max_depth=depth, highlight=highlight)
    drawn = sum(max(node.hidden, 1) for node in view.nodes if node.is_end)
    assert drawn == view.n_leaves == int(forest.leaf_start[number + 1] - forest.leaf_start[number])
    for orientation in ("down", "right"):
        scene = tree_scene(view, orientation)
        parsed(scene_to_svg(scene))
        for shape in scene.shapes:
            if isinstance(shape, Rectangle):
                assert shape.x >= -3
                assert shape.x + shape.width <= scene.width + 3
                assert shape.y >= -3
                assert shape.y + shape.height <= scene.height + 3


def test_a_picture_has_the_names_counts_and_conditions(tree: TreeClassifier) -> None:
    texts = words(tree.to_svg())
    assert {"petal length (cm)", "≤ 2.45", "> 2.45", "150 rows", "50 · 33%"} <= set(texts)
    assert {"setosa", "versicolor", "virginica"} <= set(texts)


def test_class_bars_are_shares_of_the_counts(iris: Any) -> None:
    leaf = TreeClassifier(min_samples_leaf=150).fit(*iris)
    scene = tree_scene(leaf._view(0, "auto", None), "down")
    bars = [shape for shape in scene.shapes if isinstance(shape, Rectangle) and shape.fill.startswith("#")][3:]
    assert [bar.fill for bar in bars] == [class_color(k) for k in range(3)]
    assert {round(bar.width, 6) for bar in bars} == {round(bars[0].width, 6)}, "iris has 50 rows of each class"


def test_large_trees_are_collapsed_where_few_rows_go() -> None:
    tree = large_tree()
    view = tree._view(0, "auto", None)
    assert AUTO_LEAVES / 2 < view.n_ends <= AUTO_LEAVES
    assert sum(max(node.hidden, 1) for node in view.nodes if node.is_end) == 300
    texts = words(tree.to_svg())
    assert any(re.fullmatch(r"\d+ of 300 leaves drawn, .*max_depth=None.*", text) for text in texts)
    assert any("leaves" in text and "+" in text for text in texts)
    assert len(words(tree.to_svg(max_depth=None))) > 600
    assert tree._view(0, None, None).is_whole


def test_a_highlighted_row_is_followed_however_deep_and_small_its_way() -> None:
    rng = np.random.default_rng(0)
    X = np.arange(40.0)[:, np.newaxis]
    chain = TreeRegressor(pruning=None).fit(np.repeat(X, 3, axis=0), 2.0 ** np.repeat(np.arange(40), 3))
    assert chain.get_depth() > AUTO_DEPTH
    row = X[rng.integers(0, 3, 1)]
    lit = [node for node in chain._view(0, "auto", row).nodes if node.weight > 0]
    assert lit[-1].hidden == 0
    assert lit[-1].answer == f"{chain.predict(row)[0]:.4g}"
    assert {node.value for node in lit[:-1]} == {f"{row[0, 0]:g}"}


def test_a_row_with_a_missing_value_takes_several_ways(iris: Any, tree: TreeClassifier) -> None:
    row = iris[0][:1].copy()
    row["petal length (cm)"] = np.nan
    view = tree._view(0, "auto", row)
    ends = [node for node in view.nodes if node.is_end and node.weight > 0]
    assert len(ends) > 1
    assert sum(node.weight for node in ends) == pytest.approx(1, abs=0.03)  # parts below half a percent are left out
    assert "= missing" in words(tree.to_svg(row=row))


def test_lightest_branches_of_a_wide_node_are_drawn_as_one() -> None:
    X = pd.DataFrame({"place": [f"p{i:02}" for i in range(40) for _ in range(3 + i)]})
    y = X["place"].str[-1].astype(int).to_numpy() % 2
    tree = TreeClassifier(pruning=None).fit(X, y)
    texts = words(tree.to_svg())
    assert "25 other branches" in texts
    assert "= p39" in texts
    assert "= p00" not in texts
    assert "= p00" in words(tree.to_svg(row=X[:1]))
    assert "= p00" in words(tree.to_svg(max_depth=None))


def test_regression_trees_show_histograms_of_their_targets() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[::7, 0] = np.nan
    y = np.round(3 * X[:, 1] + rng.normal(size=300), 1)
    tree = TreeRegressor(max_leaf_nodes=6, pruning=None).fit(X, y, sample_weight=rng.integers(0, 3, 300))
    view = tree._view(0, None, None)
    assert view.range is not None
    low, high = view.range
    for node in view.nodes:
        assert node.histogram is not None
        weight, mean, _ = node.totals
        assert node.histogram.sum() == pytest.approx(weight)
        middles = low + (np.arange(N_BINS) + 0.5) / N_BINS * (high - low)
        assert node.histogram @ middles / weight == pytest.approx(mean, abs=(high - low) / N_BINS)
    assert f"training targets, {low:g} to {high:g}" in "".join(words(tree.to_svg()))


def test_a_forest_shows_the_targets_of_one_tree() -> None:
    X = np.arange(40.0)[:, np.newaxis]
    forest = ForestRegressor(3, random_state=0).fit(X, X[:, 0] ** 2)
    samples, second = forest.leaf_samples_, forest.forest_.leaf_start[1:3]
    targets = samples.values[samples.ranks[samples.start[second[0]] : samples.start[second[1]]]]
    expected, _ = np.histogram(targets, N_BINS, (targets.min(), targets.max()))
    np.testing.assert_allclose(forest._view(1, "auto", None).nodes[0].histogram, expected)


def test_trees_of_older_files_show_means_and_deviations() -> None:
    tree = TreeRegressor(pruning=None).fit([[0.0], [0.0], [1.0], [1.0]], [1.0, 3.0, 10.0, 10.0])
    del tree.leaf_targets_  # files of older versions have none
    svg = tree.to_svg()
    assert "mean ± standard deviation, 1 to 10" in "".join(words(svg))
    assert "2 ± 1" in svg


def test_an_oblique_split_of_many_columns_names_the_heaviest_and_a_row_its_sum() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    tree = ObliqueTreeClassifier(max_depth=1).fit(X, X @ [1.0, 3.0, 1.0, 1.0] > 0)
    root = tree._view(0, "auto", X[:1]).nodes[0]
    assert (root.subject, root.n_more) == ("x1", 3)
    assert "x1 + 3 more" in words(tree.to_svg())
    assert root.formula.startswith(tree.to_text().split(" <= ")[0].split(" ")[0])
    forest = tree.forest_
    assert float(root.value) == pytest.approx(X[0, forest.payload_codes] @ forest.payload_weights, rel=1e-4)


def test_measured_trees_show_errors_and_soft_ways() -> None:
    rng = np.random.default_rng(0)
    latent = rng.uniform(size=(200, 1))
    X = latent + rng.normal(scale=0.1, size=(200, 1))
    tree = MeasuredTreeRegressor(sigma=0.1, max_leaf_nodes=2).fit(X, (latent[:, 0] > 0.5).astype(float))
    at = [[float(tree.forest_.threshold[0])]]
    texts = words(tree.to_svg(row=at))
    assert any(text.startswith("≤ ") and text.endswith("(± 0.1)") for text in texts)
    assert all(0.2 < node.weight < 0.8 for node in tree._view(0, "auto", at).nodes[1:])


def test_predicted_classes_of_leaves_follow_the_costs(iris: Any) -> None:
    X, y = iris
    tree = TreeClassifier(max_depth=1, cost_matrix=[[0, 1, 1], [1, 0, 1], [1, 50, 0]]).fit(X, y)
    view = tree._view(0, "auto", None)
    assert [node.answer for node in view.nodes if node.is_end] == ["setosa", "virginica"]
    assert tree.to_text().splitlines()[1].endswith(": virginica (versicolor 50, virginica 50)")


def test_every_family_is_drawn(iris: Any, tree: TreeClassifier) -> None:
    X, y = iris
    forest = ForestClassifier(3, random_state=0).fit(X, y)
    assert forest.to_svg(1) != forest.to_svg(2)
    assert forest.to_text(1, max_depth=1).count("\n") == 1
    assert "petal" in forest.to_text(2)
    assert "naive Bayes of" in NaiveBayesTreeClassifier().fit(X, y).to_svg()
    assert words(RuleClassifier.from_fitted(tree).to_svg())


# -- colours, escapes, errors


def test_many_classes_have_different_colours() -> None:
    assert len({class_color(k) for k in range(26)}) == 26


@pytest.mark.parametrize("background", ["auto", "light", "dark", "transparent"])
def test_backgrounds(tree: TreeClassifier, background: str) -> None:
    svg = tree.to_svg(background=background)
    assert ("prefers-color-scheme" in svg) == (background in ("auto", "transparent"))
    assert ('class="f-background"' in svg) == (background != "transparent")


def test_names_are_escaped() -> None:
    X = pd.DataFrame({EVIL: [EVIL, "b\x1b[2J", EVIL, "b\x1b[2J"] * 5})
    tree = TreeClassifier().fit(X, [EVIL, "no", EVIL, "no"] * 5)
    svg = tree.to_svg(row=X[:1])
    assert "<script" not in svg
    assert "\x1b" not in svg
    assert any(text.startswith("<script>") for text in words(svg))
    assert "<script" not in tree._repr_mimebundle_()["text/html"].partition('<svg xmlns="http://www.w3.org')[2]


def test_text_that_xml_has_not_is_replaced() -> None:
    scene = Scene(10, 10, [Text(0, 0, "a\x00\ud800b", 10)], "\x01")
    assert words(scene_to_svg(scene)) == ["a\ufffd\ufffdb"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_depth": -1}, r"max_depth is -1, must be a whole number of at least 0, None or 'auto'"),
        ({"max_depth": "all"}, "max_depth is 'all'"),
        ({"orientation": "up"}, "orientation is 'up', must be one of 'auto', 'down', 'right'"),
        ({"background": "pink"}, "background is 'pink', must be one of"),
        ({"row": [[1.0] * 4] * 2}, r"row has 2 rows, must have one, such as X\[:1\]"),
    ],
)
def test_wrong_arguments_are_named(arguments: Any, message: str) -> None:
    tree = TreeClassifier().fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match=message):
        tree.to_svg(**arguments)


def test_a_tree_that_is_not_there_is_named(iris: Any) -> None:
    forest = ForestClassifier(3, random_state=0).fit(*iris)
    with pytest.raises(ValueError, match=r"tree is 3, this forest has trees 0 \.\. 2"):
        forest.to_svg(3)


# -- notebooks


def test_notebooks_show_parameters_and_the_tree(tree: TreeClassifier) -> None:
    html = tree._repr_mimebundle_()["text/html"]
    assert "sk-top-container" in html
    assert html.endswith("</svg>\n</div>")
    assert tree._repr_html_().endswith("</svg>\n</div>")
    assert "<svg xmlns" not in TreeClassifier()._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert "text/html" not in tree._repr_mimebundle_()
        assert not hasattr(tree, "_repr_html_")


def test_notebooks_show_the_importances_and_the_first_tree_of_a_forest() -> None:
    X = pd.DataFrame({EVIL: [1.0, 2.0, 3.0, 4.0] * 5, "other": [0.0, 1.0] * 10})
    forest = ForestClassifier(3, random_state=0).fit(X, ["no", "no", "yes", "yes"] * 5)
    html = forest._repr_mimebundle_()["text/html"]
    own = html[html.index("<p>3 trees, ") :]
    assert "<script" not in own
    assert own.index("importance") < own.index(escape(EVIL)) < own.index("<svg")
    assert f"{forest.feature_importances_.max():.3f}</td>" in own
    assert "trees, " not in ForestClassifier()._repr_mimebundle_()["text/html"]
