"""NBTree: trees with naive Bayes leaves, their discretisation, and growth by cross-validated accuracy.

>>> from hedgerow.naive_bayes import cut_points
>>> cut_points([1, 2, 3, 4, 11, 12, 13, 14], ["a", "a", "a", "a", "b", "b", "b", "b"])
array([7.5])
"""

from hedgerow.naive_bayes.discretisation import cut_points
from hedgerow.naive_bayes.groups import Examples
from hedgerow.naive_bayes.leaf_models import LeafModels
from hedgerow.naive_bayes.likelihoods import Entropy, Gaussian
from hedgerow.naive_bayes.nbtree import NaiveBayesGrowth

__all__ = ["Entropy", "Examples", "Gaussian", "LeafModels", "NaiveBayesGrowth", "cut_points"]
