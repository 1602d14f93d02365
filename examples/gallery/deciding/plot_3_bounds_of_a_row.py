"""
Why are two classes left?
=========================

A set has two classes where the bounds on their probabilities overlap. On the left each class has a bar from its lower
to its upper bound; a class is excluded if its bar ends before the dotted line, the largest lower bound. On the right
the same as a triangle, whose points are all distributions over three classes: the region is what the evidence allows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from hedgerow import CautiousForestClassifier
from hedgerow.plots import ClassBoundsDisplay

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
forest = CautiousForestClassifier(s=2, random_state=0).fit(iris.data[::2], species[::2])

flower = iris.data[83:84]
_, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
display = ClassBoundsDisplay.from_estimator(forest, flower, ax=left)
_ = display.plot(right, kind="simplex")

# %%
print(forest.explain(flower)[0])
