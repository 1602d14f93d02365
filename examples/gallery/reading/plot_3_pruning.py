"""
How large should a tree be?
===========================

A tree that is grown to the end knows its training rows by heart. Each way of pruning stops at another size; what
counts is how good the rest is on rows that it has not seen. Points are means over ten splits in halves, whiskers
their standard errors.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit

from hedgerow import TreeClassifier
from hedgerow.plots.palette import BLUE, GREEN, ORANGE, PURPLE, VERMILION

X, y = load_breast_cancer(return_X_y=True)
ways = {
    "not pruned": None,
    "pessimistic": "pessimistic",
    "reduced error": "reduced_error",
    "cost complexity": "cost_complexity",
    "description length": "description_length",
}
_, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, pruning), colour in zip(ways.items(), (VERMILION, BLUE, ORANGE, GREEN, PURPLE), strict=True):
    sizes, scores = [], []
    for train, test in StratifiedShuffleSplit(10, test_size=0.5, random_state=0).split(X, y):
        tree = TreeClassifier(pruning=pruning, leaf_probability="laplace", random_state=0).fit(X[train], y[train])
        sizes.append(tree.get_n_leaves())
        scores.append(tree.score(X[test], y[test]))
    errors = {"xerr": np.std(sizes) / np.sqrt(10), "yerr": np.std(scores) / np.sqrt(10)}
    ax.errorbar(np.mean(sizes), np.mean(scores), **errors, fmt="o", color=colour, capsize=3, label=name)
ax.set(
    title="Three leaves are nearly as good as twelve", xlabel="leaves", ylabel="accuracy on the other half of the rows"
)
_ = ax.legend()
