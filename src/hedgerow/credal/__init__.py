"""Set-valued predictions: bounds on probabilities, belief functions, and decisions on them.

Zhang, Quost and Masson, Cautious Random Forests: a new decision strategy and some experiments (ISIPTA 2021), called
"the paper" here. Counts have shape (…, n_trees, n_classes); of two classes the second is the positive one.

"Cautious" is the name of two things in the literature. These forests are cautious because they answer with a set of
classes where the evidence does not single out one. The cautious *rule* (Denœux, 2006; :class:`hedgerow.rules.Cautious`)
combines belief functions whose sources may depend on each other, and answers with probabilities.

>>> counts = [[0, 4], [1, 9], [1, 1]]  # the leaves that a row reaches in three trees
>>> lower, upper = idm_bounds(counts, s=2)
>>> lower[:, 1].round(3), upper[:, 1].round(3)
(array([0.667, 0.75 , 0.25 ]), array([1.   , 0.917, 0.75 ]))
>>> bel, pl = belief(counts, s=2)
>>> bel.round(3), pl.round(3)
(array([0.   , 0.667]), array([0.333, 1.   ]))
>>> interval_dominance(bel, pl)
array([False,  True])
"""

from hedgerow.credal.aggregates import (
    Aggregate,
    Average,
    Belief,
    Conjunction,
    Disjunction,
    Vote,
    get,
    names,
)
from hedgerow.credal.decisions import e_admissibility, interval_dominance, maximality, reachable, tree_sets
from hedgerow.credal.leaves import WEIGHTINGS, Weighting, idm_bounds, tree_weights
from hedgerow.credal.masses import belief, belief_interval

__all__ = [
    "WEIGHTINGS",
    "Aggregate",
    "Average",
    "Belief",
    "Conjunction",
    "Disjunction",
    "Vote",
    "Weighting",
    "belief",
    "belief_interval",
    "e_admissibility",
    "get",
    "idm_bounds",
    "interval_dominance",
    "maximality",
    "names",
    "reachable",
    "tree_sets",
    "tree_weights",
]
