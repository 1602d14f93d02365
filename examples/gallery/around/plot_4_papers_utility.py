"""
A figure of the papers, from your own data
==========================================

Zhang, Quost and Masson (2021) ask how much a cautious forest is worth at several values of `s`, against a forest that
always names one class. ``hedgerow reproduce cautious`` repeats their whole experiment; this is its figure on one
dataset, for three ways to weigh the trees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold

from hedgerow import CautiousForestClassifier
from hedgerow.metrics import u65_score
from hedgerow.plots.palette import BLUE, GREEN, ORANGE

X, y = load_wine(return_X_y=True)
X = X[:, :4]  # without the columns that make it easy
caution = (1, 3, 5, 10)
_, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
for weighting, colour, marker in (("uniform", BLUE, "o"), ("samples", ORANGE, "s"), ("epistemic", GREEN, "^")):
    forest = CautiousForestClassifier(50, aggregate="belief", weighting=weighting, min_samples_leaf=3, random_state=0)
    utility = np.empty((len(folds), len(caution)))
    for fold, (train, test) in enumerate(folds):
        forest.set_params(s=1).fit(X[train], y[train])
        for place, s in enumerate(caution):
            utility[fold, place] = u65_score(
                y[test], forest.set_params(s=s).predict_set(X[test]), classes=forest.classes_
            )
    error = utility.std(axis=0) / np.sqrt(len(folds))
    ax.errorbar(caution, utility.mean(axis=0), error, color=colour, marker=marker, capsize=3, label=weighting)
ax.set(
    title="Wine by four columns: utility of sets against caution",
    xlabel="s (unobserved rows in each leaf)",
    ylabel="u65, mean of 10 folds ± standard error",
    xticks=caution,
)
_ = ax.legend(title="weight of a tree")
