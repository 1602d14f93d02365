"""Sets by the names of their classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hedgerow import CautiousForestClassifier, ConformalClassifier, TreeClassifier
from hedgerow.inspection import predicted_sets


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"], index=[f"row {i}" for i in range(120)])
    return X, np.where(X["a"] + rng.normal(0, 0.8, 120) > 0, "<b>yes</b>", "no")


def test_frames_have_the_labels_and_bounds_of_predict_set(rows: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = rows
    forest = CautiousForestClassifier(20, s=3, random_state=0).fit(X, y)
    frame = predicted_sets(forest, X).to_frame()
    sets, bounds = forest.predict_set(X), forest.predict_bounds(X)
    assert list(frame.index) == list(X.index)
    assert [set(one) for one in frame["set"]] == [set(forest.classes_[row]) for row in sets]
    assert (frame["n_classes"] == sets.sum(axis=1)).all()
    np.testing.assert_array_equal(frame["upper(no)"], bounds[:, list(forest.classes_).index("no"), 1])


def test_notebooks_show_names_literally(rows: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = rows
    shown = predicted_sets(CautiousForestClassifier(20, s=3, random_state=0).fit(X, y), X)._repr_html_()
    assert "&lt;b&gt;yes&lt;/b&gt;" in shown
    assert "<b>yes" not in shown
    assert "100 more rows" in shown


def test_arguments_go_to_predict_set(rows: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = rows
    model = ConformalClassifier(CautiousForestClassifier(20, random_state=0), 0.6).fit(X.to_numpy(), y)
    found = predicted_sets(model, X.to_numpy(), coverage=0.95)
    np.testing.assert_array_equal(found.sets, model.predict_set(X.to_numpy(), coverage=0.95))
    assert list(found.to_frame().index) == list(range(120))


def test_a_model_without_sets_is_named(rows: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = rows
    with pytest.raises(TypeError, match=r"model is TreeClassifier, which has no predict_set: wrap it"):
        predicted_sets(TreeClassifier().fit(X, y), X)
