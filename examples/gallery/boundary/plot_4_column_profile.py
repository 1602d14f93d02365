"""
A probability that changes slowly here and suddenly there
=========================================================

The truth is known in this example: slow at one threshold of the tree, sudden at the other. Leaf frequencies miss
both; the local estimate with a narrow kernel follows each (Figure 3 of Alvarez, Bernard and Deffuant, 2007).
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from hedgerow import BoundaryClassifier
from hedgerow.boundary import Absolute
from hedgerow.plots import ColumnProfileDisplay


def truth(x):
    """Probability of class 1 at each value of the first column."""
    slow, sudden = 1 / (1 + np.exp(-20 * (x + 0.25))), 1 / (1 + np.exp(-100 * (x - 0.25)))
    return np.where(x < 0, 0.1 + 0.8 * slow, 1 - sudden)


rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, size=(1000, 2))
y = (rng.random(1000) < truth(X[:, 0])).astype(int)
tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
settings = {"metric": [1, 1], "kernel": "box", "bandwidth": Absolute(0.05), "boundary_weight": 1}
model = BoundaryClassifier.from_fitted(tree, X, y, partition="separator", **settings)
display = ColumnProfileDisplay.from_estimator(model, X, 0, truth=truth, name="by nearest separator")
_ = display.ax_.set(title="The estimate follows the slow change and the sudden one", xlabel="first column")
