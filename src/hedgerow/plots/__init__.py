"""Pictures: Display classes in scikit-learn's manner. They need matplotlib, ``pip install 'hedgerow[plot]'``.

A Display holds the numbers of a picture; its `plot` draws them, as often as wanted, on axes of your own or on new ones.
"""

from hedgerow.plots.leaf_sizes import LeafSizeDisplay
from hedgerow.plots.rule_evolution import RuleEvolutionDisplay

__all__ = ["LeafSizeDisplay", "RuleEvolutionDisplay"]
