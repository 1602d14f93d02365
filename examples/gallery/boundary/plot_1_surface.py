"""
How far is a row from the boundary?
===================================

A tree gives all rows of a leaf one probability. The distance to the nearest place where the tree would decide
otherwise tells more: the surface is the probability by leaf and distance, the black lines are where the unchanged
tree changes its mind.
"""

from sklearn.datasets import make_moons

from hedgerow import BoundaryClassifier, TreeClassifier
from hedgerow.plots import ProbabilitySurfaceDisplay

X, y = make_moons(500, noise=0.3, random_state=0)
model = BoundaryClassifier(TreeClassifier(max_leaf_nodes=6)).fit(X, y)
display = ProbabilitySurfaceDisplay.from_estimator(model, X, y)
_ = display.ax_.set(
    title="The tree stays, its probabilities become smooth", xlabel="first column", ylabel="second column"
)
