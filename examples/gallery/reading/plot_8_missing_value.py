"""
Where does a row go whose value is missing?
===========================================

Nowhere and everywhere: it goes down all branches of the split, in proportion to the training rows that took each, and
its probabilities are the mixture of the leaves that it reaches. The picture draws the ways as wide as their weights.
"""

from sklearn.datasets import load_iris

from hedgerow import TreeClassifier
from hedgerow.plots import TreeDisplay

iris = load_iris(as_frame=True)
tree = TreeClassifier().fit(iris.data, iris.target_names[iris.target])
flower = iris.data[70:71].copy()
flower["petal width (cm)"] = float("nan")
display = TreeDisplay.from_estimator(tree, row=flower)

# %%
print(tree.explain(flower)[0])
