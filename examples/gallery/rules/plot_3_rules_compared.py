"""
Does the rule matter for my forest?
===================================

One forest, grown once, read under every rule. Accuracies differ little, but for one rule; how far the probabilities
can be trusted differs much. The lower the log-loss, the better.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from hedgerow import RandomTreesClassifier
from hedgerow.plots.palette import BLUE, GREY

X, y = load_breast_cancer(return_X_y=True)
names = ("probability", "laplace", "plausibility", "confidence", "pool", "dempster", "cautious", "evidence", "tempered")
losses, accuracies = [], []
for name in names:
    forest = RandomTreesClassifier(rule=name, random_state=0).fit(X[::2], y[::2])
    risk = np.clip(forest.predict_proba(X[1::2])[:, 1], 1e-6, 1 - 1e-6)
    losses.append(log_loss(y[1::2], risk))
    accuracies.append(forest.score(X[1::2], y[1::2]))

order = np.argsort(losses)[::-1]
_, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True, layout="constrained")
for ax, values, label in ((left, losses, "log-loss (lower is better)"), (right, accuracies, "accuracy")):
    colours = [BLUE if names[i] == "tempered" else GREY for i in order]
    bars = ax.barh([names[i] for i in order], [values[i] for i in order], color=colours)
    ax.bar_label(bars, fmt="{:.2f}", padding=3)
    ax.set_xlabel(label)
    ax.margins(x=0.15)
left.set_title("One forest under nine rules: the default is blue")
right.set_xlim(0.6, 1)
