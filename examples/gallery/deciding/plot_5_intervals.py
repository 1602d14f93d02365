"""
How far off may a number be?
============================

A forest predicts the progress of diabetes one year later. A conformal interval says how far the truth may be from it,
and holds it as often as promised. "normalized" intervals are wider where trees and rows disagree, "absolute" ones are
as wide everywhere: the same promise, kept in two ways.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from hedgerow import ConformalRegressor, ForestRegressor
from hedgerow.plots.palette import BLUE, GREY, VERMILION

X, y = load_diabetes(return_X_y=True, as_frame=True)
y = y.to_numpy()
train, test = slice(None, 300), slice(300, None)

_, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, score in zip(axes, ("absolute", "normalized"), strict=True):
    model = ConformalRegressor(ForestRegressor(random_state=0), 0.9, score).fit(X[train], y[train])
    prediction, (lower, upper) = model.predict(X[test]), model.predict_interval(X[test]).T
    order = np.argsort(prediction)
    held = (lower <= y[test]) & (y[test] <= upper)
    place = np.arange(len(order))
    ax.vlines(place, lower[order], upper[order], color=GREY, linewidth=1, label="90 % interval")
    ax.plot(place, prediction[order], color=BLUE, label="prediction")
    for inside, colour in ((True, "black"), (False, VERMILION)):
        shown = held[order] == inside
        name = "truth, inside" if inside else "truth, outside"
        ax.scatter(place[shown], y[test][order][shown], s=9, color=colour, zorder=3, label=name)
    ax.set(title=f"{score}: {held.mean():.0%} of {held.size} inside", xlabel="patients, by prediction")
axes[0].set_ylabel("progress of the disease after a year")
_ = axes[0].legend(loc="upper left")
