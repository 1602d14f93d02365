"""
Is the promise kept for the rare class too?
===========================================

90 % coverage over all rows can hide 60 % in a class that is rare and hard. ``groups="class"`` calibrates each class
apart and keeps the promise in every one of them; the price is larger sets.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from hedgerow import ConformalClassifier, ForestClassifier
from hedgerow.plots.palette import BLUE, ORANGE

X, y = make_classification(
    n_samples=6000, n_features=8, n_informative=4, weights=[0.92], class_sep=0.8, flip_y=0.02, random_state=0
)
names = np.array(["common", "rare"])
y = names[y]
train, test = slice(None, 3000), slice(3000, None)

kept = {}
for label, groups in (("calibrated together", None), ("calibrated by class", "class")):
    model = ConformalClassifier(ForestClassifier(random_state=0), 0.9, groups=groups, random_state=0)
    sets = model.fit(X[train], y[train]).predict_set(X[test])
    inside = sets[np.arange(len(sets)), np.searchsorted(model.classes_, y[test])]
    kept[label] = [inside[y[test] == name].mean() for name in names]
    print(f"{label}: {sets.sum(axis=1).mean():.2f} classes in a set")

_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for place, (label, shares) in enumerate(kept.items()):
    bars = ax.bar(np.arange(2) + 0.36 * place, shares, 0.34, label=label, color=(BLUE, ORANGE)[place])
    ax.bar_label(bars, fmt="{:.0%}", label_type="center", color="white", fontweight="bold")
ax.axhline(0.9, color="black", linestyle=":", label="promised: 90 %")
ax.set_xticks(np.arange(2) + 0.18, [f"{name} ({np.mean(y[test] == name):.0%} of the rows)" for name in names])
ax.set(ylabel="share of sets with the true class", ylim=(0, 1.4), title="The rare class pays for an average promise")
_ = ax.legend(loc="upper right")
