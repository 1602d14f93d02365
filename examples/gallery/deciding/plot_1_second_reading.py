"""
Medicine: who needs a second reading?
=====================================

A cautious forest names one diagnosis where the evidence singles it out, and both where it does not. The more cautious
it is, the more samples go to a second reader, and the fewer of those that it decides alone are wrong. How many does a
hospital have to read twice to be right on nearly all of the others?
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hedgerow import CautiousForestClassifier
from hedgerow.plots import RejectionCurveDisplay

cancer = load_breast_cancer(as_frame=True)
diagnosis = cancer.target_names[cancer.target]
X, X_new, y, y_new = train_test_split(cancer.data, diagnosis, test_size=0.5, stratify=diagnosis, random_state=0)
forest = CautiousForestClassifier(random_state=0).fit(X, y)

display = RejectionCurveDisplay.from_estimator(forest, X_new, y_new, s=(0.1, 1, 2, 4, 6, 10, 20))
_ = display.ax_.set_title("The fewer rows the forest decides alone, the more of them are right")

# %%
# Each point is one value of `s`, the number of unobserved rows that every leaf allows for. ``fit`` has chosen
# one by the rows that trees have not seen:

sets = forest.predict_set(X_new)
undecided = sets.sum(axis=1) > 1
print(f"s = {forest.s_:g}: {undecided.sum()} of {len(y_new)} samples go to a second reader")

# %%
# One of them, in words:

print(forest.explain(X_new[undecided][:1])[0])
