"""
Credit: a loan that fails costs more than one refused
=====================================================

A bank loses five times as much by a loan that is not paid back as by a customer sent away. With ``cost_matrix`` a
forest predicts the class of least expected cost. That pays only if its probabilities can be trusted: the default
forest calibrates them by its out-of-bag rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hedgerow import ForestClassifier
from hedgerow.metrics import total_cost
from hedgerow.plots.palette import BLUE, ORANGE

rng = np.random.default_rng(0)
n = 4000
applicants = pd.DataFrame(
    {
        "income": rng.lognormal(10.3, 0.5, n).round(-2),
        "amount": rng.lognormal(9, 0.7, n).round(-2),
        "years in job": rng.poisson(4, n),
        "home": rng.choice(["own", "rent", "family"], n, p=[0.4, 0.45, 0.15]),
    }
)
strain = (
    3 * applicants["amount"] / applicants["income"] - 0.15 * applicants["years in job"] + (applicants["home"] == "rent")
)
outcome = np.where(rng.random(n) < 1 / (1 + np.exp(2.2 - strain)), "fails", "is paid back")
train, test = slice(None, 2000), slice(2000, None)

ratios = [1, 2, 5, 10, 20]
plain, costly = [], []
forest = ForestClassifier(min_samples_leaf=5, random_state=0).fit(applicants[train], outcome[train])
for ratio in ratios:
    costs = [[0, ratio], [1, 0]]  # rows: what happens (fails, is paid back); columns: what was predicted
    for found, matrix in ((plain, None), (costly, costs)):
        answer = forest.set_params(cost_matrix=matrix).predict(applicants[test])
        found.append(total_cost(outcome[test], answer, cost_matrix=costs, classes=list(forest.classes_)) / 2000)

_, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(ratios, plain, "o-", color=ORANGE, label="most probable outcome")
ax.plot(ratios, costly, "s-", color=BLUE, label="least expected cost")
ax.set(
    title="The more a failed loan costs, the more costs are worth stating",
    xlabel="cost of a failed loan, in refused good customers",
    ylabel="mean cost of an application",
    xticks=ratios,
)
_ = ax.legend()
