"""Writing a forest by hand; see :mod:`hedgerow.forest`."""

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

__all__ = ["build_forest", "leaf", "multiway", "oblique", "one_against_rest", "subset", "threshold", "value"]
