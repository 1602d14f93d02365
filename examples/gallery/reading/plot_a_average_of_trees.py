"""
Why a forest, and not one tree?
===============================

The mean of m trees of variance σ² whose errors correlate by ρ has the variance ρσ² + (1 − ρ)σ²/m (the lecture's
formula): more trees take away only the second part, and trees that see fewer columns at each split lower the first.
Points are measured on forests grown from 40 samples of the same problem, lines are the formula.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from hedgerow import ForestRegressor
from hedgerow.plots.palette import BLUE, ORANGE

asked, _ = make_friedman1(60, random_state=1)
n_trees = 64
_, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
for max_features, colour, name in ((None, BLUE, "bagging: all columns"), (2, ORANGE, "random forest: 2 of 10 columns")):
    answers = []
    for seed in range(40):
        X, y = make_friedman1(150, noise=1, random_state=100 + seed)
        forest = ForestRegressor(n_trees, max_features=max_features, min_samples_leaf=1, random_state=seed).fit(X, y)
        leaves = forest.apply(asked)
        means = forest.forest_.leaf_stats[:, 1]
        answers.append(means[leaves + forest.forest_.leaf_start[:-1]])
    answers = np.array(answers)  # samples, rows, trees
    single = answers.var(axis=0).mean()
    covariance = (answers.mean(axis=2).var(axis=0).mean() * n_trees - single) / (n_trees - 1)
    sizes = 2 ** np.arange(7)
    measured = [answers[:, :, :size].mean(axis=2).var(axis=0).mean() for size in sizes]
    line = np.arange(1, 65)
    ax.plot(
        line, covariance + (single - covariance) / line, color=colour, label=f"{name}, ρ = {covariance / single:.2f}"
    )
    ax.scatter(sizes, measured, color=colour, zorder=3, label="measured" if max_features else None)
ax.set(
    title="More trees lower only the variance that they do not share",
    xlabel="trees",
    ylabel="variance of the prediction over samples",
    xscale="log",
    ylim=(0, None),
)
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
_ = ax.legend()
