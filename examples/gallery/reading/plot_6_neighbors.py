"""
Have we had a case like this?
=============================

Two rows are alike for a forest as often as its trees send them to the same leaf. Beside each digit that the forest
doubts stand the five training rows that are most like it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from hedgerow import CautiousForestClassifier
from hedgerow.inspection import neighbors

digits = load_digits()
X, y = digits.data[::2], digits.target[::2]
X_new, y_new = digits.data[1::2], digits.target[1::2]
forest = CautiousForestClassifier(s=2, random_state=0).fit(X, y)
sets = forest.predict_set(X_new)
doubted = np.flatnonzero(sets.sum(axis=1) == 2)[:4]
near = neighbors(forest, X, X_new[doubted], n_neighbors=5)

fig, axes = plt.subplots(len(doubted), 6, figsize=(9, 6.6), layout="constrained")
for row, place in zip(axes, range(len(doubted)), strict=True):
    answer = " or ".join(str(one) for one in forest.classes_[sets[doubted[place]]])
    row[0].imshow(X_new[doubted[place]].reshape(8, 8), cmap="gray_r")
    row[0].set_title(f"{answer}?\n(it is {y_new[doubted[place]]})", fontsize=9)
    for ax, index, proximity in zip(row[1:], near.indices[place], near.proximities[place], strict=True):
        ax.imshow(X[index].reshape(8, 8), cmap="Blues")
        ax.set_title(f"{y[index]}: alike in\n{proximity:.0%} of the trees", fontsize=9)
for ax in axes.flat:
    ax.set_axis_off()
_ = fig.suptitle("A digit in doubt (left), and training rows like it")
