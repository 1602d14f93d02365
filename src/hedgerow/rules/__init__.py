"""Nine rules that combine uncertain leaves, and some more: each a leaf table, a fold and a finish.

Busch, Kulessa, Loza Mencía and Blockeel, Combining Predictions under Uncertainty: The Case of Random Decision Trees
(2022). Counts have shape (…, n_trees, n_classes); of two classes the second is the positive one.

>>> counts = [[4, 0], [10, 40]]
>>> float(get("probability").decision(counts).round(3))  # four of four against forty of fifty
-0.1
>>> float(get("pool").decision(counts).round(3))
0.241
"""

from hedgerow.folds.plausibility import PlausibilityDegrees, plausibility_degrees
from hedgerow.rules.accumulation import Evidence, Pool
from hedgerow.rules.averages import AverageRule as Average
from hedgerow.rules.averages import Confidence, Plausibility, Probability, Vote
from hedgerow.rules.base import CountRule, FoldRule, Rule
from hedgerow.rules.belief import Cautious, Dempster, Masses, combine_masses
from hedgerow.rules.calibrated import Calibrated
from hedgerow.rules.mixtures import InvertedGini, Maximum, Median, Mixture
from hedgerow.rules.registry import compare, get, names

__all__ = [
    "Average",
    "Calibrated",
    "Cautious",
    "Confidence",
    "CountRule",
    "Dempster",
    "Evidence",
    "FoldRule",
    "InvertedGini",
    "Masses",
    "Maximum",
    "Median",
    "Mixture",
    "Plausibility",
    "PlausibilityDegrees",
    "Pool",
    "Probability",
    "Rule",
    "Vote",
    "combine_masses",
    "compare",
    "get",
    "names",
    "plausibility_degrees",
]
