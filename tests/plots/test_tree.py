"""Trees drawn with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from hedgerow import ForestClassifier, TreeClassifier
from hedgerow.drawing import ROLES, Curve, Text
from hedgerow.plots import TreeDisplay


@pytest.fixture(scope="module")
def tree() -> Any:
    return TreeClassifier().fit(*load_iris(return_X_y=True, as_frame=True))


def test_every_shape_is_drawn_where_the_layout_has_it(tree: Any) -> None:
    display = TreeDisplay.from_estimator(tree)
    texts = [shape for shape in display.scene.shapes if isinstance(shape, Text)]
    assert [(text.get_position(), text.get_text()) for text in display.texts_] == [
        ((shape.x, shape.y), shape.text) for shape in texts
    ]
    assert len(display.branches_) == sum(isinstance(shape, Curve) for shape in display.scene.shapes) == 12
    assert len(display.texts_) + len(display.branches_) + len(display.boxes_) == len(display.scene.shapes)


def test_text_fits_its_place_on_any_axes(tree: Any) -> None:
    display = TreeDisplay.from_estimator(tree)
    for figure in (display.figure_, plt.figure(figsize=(4, 3)), plt.figure(figsize=(14, 11), dpi=60)):
        if figure is not display.figure_:
            display.plot(figure.subplots())
        renderer = figure.canvas.get_renderer()
        figure.draw_without_rendering()
        boxes = [box.get_window_extent(renderer) for box in display.boxes_ if box.get_linewidth() > 0]
        subjects = [text for text in display.texts_ if text.get_text().endswith("(cm)")]
        assert subjects
        for text in subjects:
            extent = text.get_window_extent(renderer)
            assert any(box.x0 <= extent.x0 and extent.x1 <= box.x1 for box in boxes), text


def test_a_large_tree_on_small_axes_has_as_many_levels_as_can_be_read() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    tall = TreeClassifier(max_leaf_nodes=80, pruning=None).fit(X, rng.integers(2, size=600))
    _, axes = plt.subplots(1, 2, figsize=(12, 5), width_ratios=(1, 2))
    narrow, wide = (TreeDisplay.from_estimator(tall, ax=one) for one in axes)
    for display in (narrow, wide):
        assert min(text.get_fontsize() for text in display.texts_) > 4.4  # the smallest are 10 pixels high
    assert len(narrow.texts_) < len(wide.texts_) < len(TreeDisplay.from_estimator(tall).texts_)
    whole = TreeDisplay.from_estimator(tall, ax=axes[0], max_depth=None)
    assert len(whole.texts_) > len(wide.texts_)


def test_themes_and_keywords(tree: Any) -> None:
    display = TreeDisplay.from_estimator(tree, theme="dark", text_kw={"color": "red"}, branch_kw={"linewidth": 3})
    assert to_hex(display.ax_.get_facecolor()) == ROLES["background"]["dark"]
    assert {text.get_color() for text in display.texts_} == {"red"}
    assert {branch.get_linewidth() for branch in display.branches_} == {3}
    with pytest.raises(ValueError, match="theme is 'black', must be one of 'auto', 'light', 'dark'"):
        display.plot(theme="black")


def test_the_theme_follows_the_style_and_given_axes(tree: Any) -> None:
    display = TreeDisplay.from_estimator(tree)
    assert to_hex(display.figure_.get_facecolor()) == ROLES["background"]["light"]
    with plt.style.context("dark_background"):
        assert to_hex(display.plot().figure_.get_facecolor()) == ROLES["background"]["dark"]
    see_through = plt.figure(facecolor="navy").add_axes((0, 0, 1, 1), facecolor="none")
    assert to_hex(display.plot(see_through).ax_.get_facecolor()) == ROLES["background"]["dark"]


def test_a_tree_of_a_forest_and_what_is_none() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(3, random_state=0).fit(X, y)
    first, second = (TreeDisplay.from_estimator(forest, tree=k).scene for k in (0, 2))
    assert first != second
    with pytest.raises(ValueError, match=r"which has no to_svg: pass a tree or a forest of hedgerow"):
        TreeDisplay.from_estimator(DecisionTreeClassifier().fit(X, y))
