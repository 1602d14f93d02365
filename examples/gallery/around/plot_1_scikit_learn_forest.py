"""
A forest from scikit-learn, made cautious
=========================================

A fitted ``RandomForestClassifier`` keeps what its leaves counted. ``CautiousClassifier.from_fitted`` reads it,
without growing anything: sets, bounds and reasons for doubt from the forest that you have. The curves are those of
two ways to combine its trees.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from hedgerow import CautiousClassifier
from hedgerow.plots import RejectionCurveDisplay

cancer = load_breast_cancer(as_frame=True)
diagnosis = cancer.target_names[cancer.target]
X, X_new, y, y_new = train_test_split(cancer.data, diagnosis, test_size=0.5, stratify=diagnosis, random_state=0)
theirs = RandomForestClassifier(min_samples_leaf=3, random_state=0).fit(X, y)

_, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for aggregate in ("average", "belief"):
    cautious = CautiousClassifier.from_fitted(theirs, aggregate=aggregate)
    RejectionCurveDisplay.from_estimator(cautious, X_new, y_new, name=aggregate, ax=ax, label_s=aggregate == "average")
_ = ax.set_title("scikit-learn's forest: how often it decides, and how well")

# %%
cautious = CautiousClassifier.from_fitted(theirs, s=2)
undecided = cautious.predict_set(X_new).sum(axis=1) > 1
print(cautious.explain(X_new[undecided][:1])[0])
