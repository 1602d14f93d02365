"""Kinds of nodes, and what a node does with missing values.

The numbers are those of the core (``core/forest/forest.hpp``) and of every stored forest: they never change.
"""

from enum import IntEnum

__all__ = ["LEAF_FEATURE", "NO_CHILD", "NO_PAYLOAD", "OBLIQUE_FEATURE", "MissingPolicy", "NodeKind"]


class NodeKind(IntEnum):
    """Test of a node. Its first child takes the rows that pass.

    Examples
    --------
    >>> from hedgerow.forest import NodeKind, build_forest, leaf, threshold
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> [NodeKind(kind).name for kind in forest.kind]
    ['THRESHOLD', 'LEAF', 'LEAF']
    """

    LEAF = 0
    THRESHOLD = 1
    """x ≤ threshold. A threshold of +∞ tests only whether x is known."""
    ONE_AGAINST_REST = 2
    """x is the category whose code is ``threshold``."""
    SUBSET = 3
    """x is one of the categories whose bits are set."""
    MULTIWAY = 4
    """The category of x: one child for each, or several categories to a child."""
    OBLIQUE = 5
    """Σ weight · x ≤ threshold."""


class MissingPolicy(IntEnum):
    """Children that take rows whose value is missing, or is a category without a branch.

    Examples
    --------
    >>> from hedgerow.forest import MissingPolicy, build_forest, leaf, threshold
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]), missing="last_child")], n_features=1)
    >>> MissingPolicy(forest.missing[0]).name
    'LAST_CHILD'
    """

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
