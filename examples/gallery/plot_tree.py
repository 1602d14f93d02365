"""
One tree that can be read
=========================

Which questions does the tree ask?
"""

from sklearn.datasets import load_iris

from hedgerow import TreeClassifier
from hedgerow.plots import TreeDisplay

iris = load_iris(as_frame=True)
tree = TreeClassifier().fit(iris.data, iris.target_names[iris.target])
TreeDisplay.from_estimator(tree)
