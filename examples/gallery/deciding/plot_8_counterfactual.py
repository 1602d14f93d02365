"""
What would have to be different?
================================

An application was refused. Which is the smallest change that would have it accepted, if age and purpose stay as they
are? Arrows show the change of each column, as a share of its range in the training data.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hedgerow import TreeClassifier
from hedgerow.plots.palette import BLUE, GREY

rng = np.random.default_rng(1)
n = 1500
X = pd.DataFrame(
    {
        "age": rng.integers(19, 75, n),
        "income": rng.lognormal(10.3, 0.4, n).round(-2),
        "amount": rng.lognormal(9.2, 0.6, n).round(-2),
        "months": rng.choice([12, 24, 36, 48, 60], n),
        "purpose": rng.choice(["car", "house", "education"], n),
    }
)
burden = 12 * X["amount"] / X["months"] / X["income"] + rng.normal(0, 0.05, n)
y = np.where(burden > 0.25, "refused", "accepted")
tree = TreeClassifier(max_leaf_nodes=16).fit(X, y)

applicant = X[tree.predict(X) == "refused"].iloc[[11]]
nearest = tree.counterfactual(applicant, target="accepted", immutable=["age", "purpose"])[0][0]
print(nearest)

# %%
_, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
columns = ["income", "amount", "months"]
for place, name in enumerate(columns):
    low, high = X[name].min(), X[name].max()
    before = (applicant[name].iloc[0] - low) / (high - low)
    after = (nearest.changes[name][1] - low) / (high - low) if name in nearest.changes else before
    ax.plot([0, 1], [place, place], color=GREY, linewidth=1, zorder=0)
    ax.scatter(before, place, color="black", zorder=3)
    if name in nearest.changes:
        ax.annotate("", (after, place), (before, place), arrowprops={"arrowstyle": "->", "color": BLUE, "linewidth": 2})
        old, new = nearest.changes[name]
        ax.annotate(f"{old:,.0f} → {new:,.0f}", ((before + after) / 2, place + 0.14), ha="center", color=BLUE)
    else:
        ax.annotate(f"{applicant[name].iloc[0]:,.0f}, as it is", (before, place + 0.14), ha="center")
ax.set(
    yticks=range(3),
    yticklabels=columns,
    xlim=(-0.1, 1.1),
    ylim=(-0.4, 2.6),
    xlabel="place in the range of the training data (0 to 1)",
)
_ = ax.set_title("The nearest change that is accepted")
