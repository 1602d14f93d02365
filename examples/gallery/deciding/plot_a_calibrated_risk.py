"""
Is a risk of 20 % really 20 %?
==============================

Of the patients who are told "20 %", one in five should have the disease. The forest of this package calibrates itself
by its out-of-bag rows; a plain average of trees is too timid or too bold. Points on the diagonal are as they should
be; the bars below say how many rows stand behind each.
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from hedgerow import ForestClassifier
from hedgerow.plots import ReliabilityDisplay

X, y = make_classification(n_samples=6000, n_informative=8, n_redundant=4, class_sep=1.2, flip_y=0.05, random_state=3)
train, test = slice(None, 2000), slice(2000, None)
models = {
    "hedgerow's forest": ForestClassifier(random_state=0),
    "scikit-learn's forest": RandomForestClassifier(random_state=0),
}
risks = {name: model.fit(X[train], y[train]).predict_proba(X[test])[:, 1] for name, model in models.items()}

display = ReliabilityDisplay.from_predictions(y[test] == 1, risks, class_label="the disease")
print({name: round(score, 4) for name, score in display.brier.items()})
