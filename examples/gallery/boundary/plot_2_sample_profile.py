"""
Which rows of a leaf are at risk?
=================================

Rows of a test sample in the order of their probability. Laplace's correction of the tree is a staircase: all rows of
a leaf are alike. The estimate by distance tells them apart, and mistakes gather where it is near one half (Figure 1
of Alvarez, Bernard and Deffuant, 2007).
"""

from sklearn.datasets import load_breast_cancer

from hedgerow import BoundaryClassifier, TreeClassifier
from hedgerow.plots import SampleProfileDisplay

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data, cancer.target_names[cancer.target]
model = BoundaryClassifier(TreeClassifier(max_leaf_nodes=5)).fit(X[::2], y[::2])
display = SampleProfileDisplay.from_estimator(model, X[1::2], y[1::2], class_label="malignant")
_ = display.ax_.set_title("Errors gather where the estimate is near one half")
