"""Forests and answers of earlier versions, bit for bit; ``tests/model_files/digests.py`` says which, and why."""

from __future__ import annotations

import json

import pytest

from model_files import digests

KEPT = json.loads(digests.KEPT.read_text())


def test_fits_grow_the_forests_that_they_grew_before() -> None:
    found = {name: digests.forest_digest(forest) for name, forest in digests.grown()}
    assert found == KEPT["forests"]


@pytest.mark.parametrize("name", digests.PLAIN)
def test_model_files_give_the_answers_that_they_gave_before(name: str) -> None:
    found = dict(digests.answered(name, digests.rows()[:, [0, 1, 3]]))
    assert len(found) > 1
    assert found == {key: kept for key, kept in KEPT["answers"].items() if key.startswith(f"{name}.")}
