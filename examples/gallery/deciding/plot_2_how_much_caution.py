"""
How much caution pays?
======================

It depends on what an answer such as "one of these two" is worth. u65 pays 0.65 for it and u80 pays 0.8, against 1 for
the right class alone and 0 for a wrong one. Where a line is above the accuracy of plain predictions, caution pays.
"""

from sklearn.datasets import load_breast_cancer

from hedgerow import CautiousForestClassifier
from hedgerow.plots import SetUtilityDisplay

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data.filter(like="mean"), cancer.target_names[cancer.target]
forest = CautiousForestClassifier(random_state=0).fit(X[::2], y[::2])

display = SetUtilityDisplay.from_estimator(forest, X[1::2], y[1::2])
_ = display.ax_.set_title("Caution pays up to a point, and further where sets are worth more")

# %%
# ``s="u65"`` and ``s="u80"`` choose `s` by the out-of-bag rows, so that no row has to be kept aside for it:

for wish in ("u65", "u80"):
    chosen = CautiousForestClassifier(s=wish, random_state=0).fit(X[::2], y[::2])
    print(f"s={wish!r} chooses {chosen.s_:g}")
