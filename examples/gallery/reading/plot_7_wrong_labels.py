"""
Which labels were entered wrongly?
==================================

A row that shares few leaves with its own class is suspect. Here ten of 150 labels were exchanged on purpose: how many
of them are among the rows with the largest outlier scores?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from hedgerow import ForestClassifier
from hedgerow.inspection import outlier_scores
from hedgerow.plots.palette import GREY, VERMILION

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(4)
wrong = rng.choice(len(y), size=10, replace=False)
entered = y.copy()
entered[wrong] = (y[wrong] + rng.integers(1, 3, size=10)) % 3

forest = ForestClassifier(min_samples_leaf=5, random_state=0).fit(X, entered)
scores = outlier_scores(forest, X, entered)
order = np.argsort(-scores)[:30]

_, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
exchanged = np.isin(order, wrong)
ax.bar(np.arange(30)[exchanged], scores[order][exchanged], color=VERMILION, label="label was exchanged")
ax.bar(np.arange(30)[~exchanged], scores[order][~exchanged], color=GREY, label="label is right")
ax.set_yscale("log")
ax.set_xticks(np.arange(30), order, rotation=90)
ax.set(
    title=f"{exchanged.sum()} of 10 exchanged labels are among the 30 strangest rows",
    xlabel="row",
    ylabel="outlier score (log scale)",
)
_ = ax.legend()
