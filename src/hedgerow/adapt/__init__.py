"""Forests that other libraries have fitted, as a :class:`~hedgerow.forest.Forest`.

Only what a library documents is read, and only where it says how many training rows of each class a leaf holds:
that is what rules, bounds and uncertainty are made of.
"""

from hedgerow.adapt.scikit_learn import from_sklearn

__all__ = ["from_sklearn"]
