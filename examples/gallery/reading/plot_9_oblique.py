"""
A staircase, or one slope?
==========================

A tree that splits on one column at a time builds a staircase where classes are separated by a slope. An oblique
split is on a weighted sum of columns, and fewer are needed.
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgerow import ObliqueTreeClassifier, TreeClassifier
from hedgerow.plots.palette import BLUE, ORANGE

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(600, 2))
y = (X[:, 0] + 0.7 * X[:, 1] + rng.normal(0, 0.06, 600) > 0).astype(int)
side = np.linspace(-1, 1, 300)
grid = np.column_stack([one.ravel() for one in np.meshgrid(side, side)])

fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
for ax, model in zip(
    axes, (TreeClassifier(min_samples_leaf=5), ObliqueTreeClassifier(min_samples_leaf=5)), strict=True
):
    model.fit(X, y)
    ax.contourf(
        side, side, model.predict(grid).reshape(300, 300), levels=[-0.5, 0.5, 1.5], colors=[BLUE, ORANGE], alpha=0.25
    )
    for label in (0, 1):
        ax.scatter(*X[y == label].T, s=7, color=(BLUE, ORANGE)[label], label=f"class {label}")
    ax.set(title=f"{type(model).__name__}: {model.get_n_leaves()} leaves", xlabel="first column", aspect="equal")
    ax.set_xticks([-1, -0.5, 0, 0.5, 1])
axes[0].set_ylabel("second column")
_ = fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
