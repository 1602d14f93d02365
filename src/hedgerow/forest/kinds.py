"""What a node can be, and what it does with a row that has no answer to its question.

The numbers are those of the core (``core/forest/forest.hpp``) and of every stored forest: they never change.
"""

from enum import IntEnum

__all__ = ["LEAF_FEATURE", "NO_CHILD", "NO_PAYLOAD", "OBLIQUE_FEATURE", "MissingPolicy", "NodeKind"]


class NodeKind(IntEnum):
    """The question that a node asks. Its first child takes the rows for which the answer is yes."""

    LEAF = 0
    THRESHOLD = 1
    """x ≤ threshold? A threshold of +∞ asks only whether x is known."""
    ONE_AGAINST_REST = 2
    """Is x the category whose code is ``threshold``?"""
    SUBSET = 3
    """Is x one of the categories whose bits are set?"""
    MULTIWAY = 4
    """Which category is x? One child for each, or several categories to a child."""
    OBLIQUE = 5
    """Σ weight · x ≤ threshold?"""


class MissingPolicy(IntEnum):
    """Where a row goes whose value is missing, or is a category that the node has no branch for."""

    SPREAD = 0
    """Down all children, in proportion to the training weight that went down each."""
    FIRST_CHILD = 1
    LAST_CHILD = 2
    OWN_BRANCH = 3
    """The node has one child more, the last, for these rows alone."""


LEAF_FEATURE = -1
OBLIQUE_FEATURE = -2
NO_PAYLOAD = -1
NO_CHILD = -1
