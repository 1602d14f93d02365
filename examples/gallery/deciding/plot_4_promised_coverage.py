"""
Sets that hold the truth as often as promised
=============================================

Conformal sets keep a promise about frequency: of the sets with 90 % coverage, about 90 % hold the true class,
whatever the model. The line of dots is what was kept on rows that the model has not seen, the grey band what chance
allows, and the other axis what it costs: the mean number of classes in a set.
"""

from sklearn.datasets import load_digits

from hedgerow import ConformalClassifier, ForestClassifier
from hedgerow.plots import CoverageDisplay

X, y = load_digits(return_X_y=True)
X = X[:, ::7]  # ten of the pixels: otherwise it is too easy
model = ConformalClassifier(ForestClassifier(random_state=0)).fit(X[::2], y[::2])

display = CoverageDisplay.from_estimator(model, X[1::2], y[1::2], levels=(0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99))
_ = display.ax_.set_title("Digits from ten of their pixels: the promise is kept")

# %%
# Coverage can be changed after ``fit``. The sets of the hardest row:

sets = {coverage: model.predict_set(X[1::2], coverage=coverage) for coverage in (0.8, 0.95, 0.99)}
hardest = sets[0.99].sum(axis=1).argmax()
for coverage, answer in sets.items():
    print(coverage, model.classes_[answer[hardest]])
