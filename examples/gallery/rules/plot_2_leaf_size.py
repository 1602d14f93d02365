"""
Small leaves or large ones?
===========================

A dot is one tree, a line a rule that combines all hundred. Random trees are poor one by one and good together; the
distance between the lines is what the rule is worth (Figure 4 of Busch et al., 2022, on one split of the rows).
"""

from sklearn.datasets import load_breast_cancer

from hedgerow import RandomTreesClassifier
from hedgerow.plots import LeafSizeDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
display = LeafSizeDisplay.from_estimator(RandomTreesClassifier(random_state=0), X, y, random_state=0)
_ = display.ax_.set_title("Combining trees is worth more than choosing the rule")
