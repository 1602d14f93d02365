"""
One tree that a person can read
===============================

Which splits tell three species of iris apart, and which way does one flower take?
"""

from sklearn.datasets import load_iris

from hedgerow import TreeClassifier
from hedgerow.plots import TreeDisplay

iris = load_iris(as_frame=True)
tree = TreeClassifier().fit(iris.data, iris.target_names[iris.target])
display = TreeDisplay.from_estimator(tree, row=iris.data[100:101])

# %%
# The same in words, with the reasons for doubt:

print(tree.explain(iris.data[100:101])[0])
