"""Pictures of importances: order, errors, and how many columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from sklearn.datasets import load_breast_cancer

from hedgerow import ForestClassifier, TreeClassifier
from hedgerow.inspection import Importances, permutation_importance
from hedgerow.plots import ImportanceDisplay


@pytest.fixture(scope="module")
def found() -> Importances:
    values = np.random.default_rng(0).normal(np.arange(30.0)[:, np.newaxis], 1.0, (30, 12))
    return Importances(tuple(f"column {j}" for j in range(30)), values / 100, "accuracy")


def test_the_largest_columns_are_drawn_with_their_errors(found: Importances) -> None:
    display = ImportanceDisplay.from_importances(found)
    order = np.argsort(-found.importances_mean)[:20]
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], found.importances_mean[order])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [found.names[j] for j in order]
    whiskers = np.array(display.bars_.errorbar[2][0].get_segments())[:, :, 0]
    np.testing.assert_allclose(np.diff(whiskers)[:, 0], 2 * found.standard_error[order])
    assert display.ax_.get_title() == "Permutation importance: 20 of 30 columns"
    assert len(display.plot(max_features=3).bars_) == 3
    assert display.plot(max_features=99).ax_.get_title() == "Permutation importance"
    with pytest.raises(ValueError, match="max_features"):
        display.plot(max_features=0)


def test_relative_to_the_largest(found: Importances) -> None:
    display = ImportanceDisplay.from_importances(found, relative=True, bar_kw={"color": "red"})
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], np.sort(found.relative)[::-1][:20])
    assert to_hex(display.bars_[0].get_facecolor()) == "#ff0000"
    useless = Importances(("x", "y"), np.array([[-0.1, 0.0], [-0.3, -0.2]]), "r2")
    widths = [bar.get_width() for bar in ImportanceDisplay.from_importances(useless, relative=True).bars_]
    np.testing.assert_allclose(widths, [-0.05, -0.25])


def test_it_computes_what_it_draws() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = ForestClassifier(8, random_state=0).fit(X, y)
    settings: dict[str, Any] = {"scoring": "neg_log_loss", "n_repeats": 2, "random_state": 3, "groups": ["mean area"]}
    axes = plt.figure().subplots()
    display = ImportanceDisplay.from_estimator(forest, X, y, ax=axes, **settings)
    expected = permutation_importance(forest, X, y, **settings)
    np.testing.assert_array_equal(display.importances.importances, expected.importances)
    assert display.ax_ is axes
    assert axes.get_xlabel() == "loss in neg_log_loss"


def test_a_single_tree_has_no_errors() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    display = ImportanceDisplay.from_estimator(TreeClassifier(max_depth=2).fit(X, y), X, y, rows="all")
    assert display.bars_.errorbar is None
