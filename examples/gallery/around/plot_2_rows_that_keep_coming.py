"""
Rows that keep coming
=====================

The splits of random trees ignore labels, so that more rows can be counted at any time, exactly as if they had been
there from the beginning. With every batch the accuracy rises and what the model does not know falls.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from hedgerow import RandomTreesClassifier
from hedgerow.plots.palette import BLUE, ORANGE

X, y = load_digits(return_X_y=True)
X_new, y_new = X[1300:], y[1300:]
model = RandomTreesClassifier(random_state=0).fit(X[:100], y[:100])
seen, accuracy, ignorance = [], [], []
for start in range(100, 1300, 100):
    seen.append(start)
    accuracy.append(model.score(X_new, y_new))
    ignorance.append(model.predict_uncertainty(X_new, measure="plausibility").epistemic.mean())
    model.partial_fit(X[start : start + 100], y[start : start + 100])

_, left = plt.subplots(figsize=(6.8, 4), layout="constrained")
left.plot(seen, accuracy, "o-", color=BLUE)
left.set(xlabel="rows that were counted", title="Every batch of 100 digits teaches something")
left.set_ylabel("accuracy on later rows", color=BLUE)
right = left.twinx()
right.plot(seen, ignorance, "s--", color=ORANGE)
_ = right.set_ylabel("epistemic uncertainty (plausibility, 0 to 1)", color=ORANGE)
