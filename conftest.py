"""For tests and for the examples of all pages and docstrings."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from effort import examples

# What the site makes of these pages, and its configuration.
collect_ignore_glob = ["docs/conf.py", "docs/gallery/*", "docs/reference/generated/*"]

# No test has a clock: a busy machine, or a core with sanitizers, takes longer than 200 ms for an example.
settings.register_profile("without deadline", deadline=None, max_examples=examples(22, 100))
settings.load_profile("without deadline")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Pictures of examples are not kept: matplotlib warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
