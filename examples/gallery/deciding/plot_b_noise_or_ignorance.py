"""
Noise, or ignorance?
====================

The total doubt about a row has two parts. Where classes overlap, labels are noisy and more rows would not help
(aleatoric). Where there are no training rows, the model does not know (epistemic): more rows there would help.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from hedgerow import ForestClassifier

X, y = make_moons(400, noise=0.3, random_state=0)
forest = ForestClassifier(200, random_state=0).fit(X, y)
sides = np.linspace(-3, 4, 120), np.linspace(-3, 3.5, 120)
grid = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
doubt = forest.predict_uncertainty(grid)

fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, part in zip(axes, ("aleatoric", "epistemic"), strict=True):
    values = getattr(doubt, part).reshape(120, 120)
    surface = ax.pcolormesh(*sides, values, vmin=0, vmax=1, cmap="cividis", rasterized=True)
    for label, colour in ((0, "black"), (1, "white")):
        ax.scatter(*X[y == label].T, s=8, c=colour, edgecolor="grey", linewidth=0.5, label=f"rows of class {label}")
    ax.set(xlabel="first column", aspect="equal")
axes[0].set(title="aleatoric: the classes overlap", ylabel="second column")
axes[1].set_title("epistemic: too few rows here")
fig.colorbar(surface, ax=axes, label="bits")
_ = fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, facecolor="lightgrey")
