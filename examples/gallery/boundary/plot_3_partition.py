"""
Rows that are near the same part of the boundary
================================================

Two rows can be equally far from the boundary at quite different places of it. The local estimate compares a row only
with rows whose nearest separator is the same (Figure 2 of Alvarez, Bernard and Deffuant, 2007): each colour is one
such subset.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from hedgerow import BoundaryClassifier
from hedgerow.plots import PartitionDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, size=(600, 2))
y = ((np.abs(X[:, 0]) < 0.25) & (X[:, 1] < 0.2)).astype(int)
tree = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X, y)
model = BoundaryClassifier.from_fitted(tree, X, y, partition="separator")
display = PartitionDisplay.from_estimator(model, X)
_ = display.ax_.set(title="Rows by their nearest separator", xlabel="first column", ylabel="second column")
