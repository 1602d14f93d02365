"""
The tree that Weka's J48 grows
==============================

Weka's J48 is C4.5. Its tree on iris stands in many textbooks: petal width at most 0.6 is setosa; above it come petal
width at most 1.7, petal length at most 4.9 and petal width at most 1.5, with 50, 46, 48, 3 and 3 rows in the five
leaves. ``TreeClassifier.c45()`` is C4.5 to the letter: the same columns, thresholds and numbers of rows.
"""

from sklearn.datasets import load_iris

from hedgerow import TreeClassifier
from hedgerow.plots import TreeDisplay

iris = load_iris(as_frame=True)
tree = TreeClassifier.c45(min_samples_leaf=2).fit(iris.data, iris.target_names[iris.target])
print(tree.to_text())

# %%
TreeDisplay.from_estimator(tree)
