"""
Nine rules on a filling leaf
============================

*Four of four* and *seventy-five of a hundred* are different evidence, and rules weigh them differently. A leaf is
filled with samples, three quarters of them positive; grey lines are runs, the orange line is their mean (Figure 1 of
Busch et al., 2022). A rule whose mean starts at its final height ignores the size of a leaf; where it climbs, the
rule is cautious about small leaves.
"""

import matplotlib.pyplot as plt

from hedgerow import rules
from hedgerow.plots import RuleEvolutionDisplay

names = ("probability", "laplace", "plausibility", "confidence", "vote", "pool", "dempster", "cautious", "evidence")
assert set(names) <= set(rules.names())
_, axes = plt.subplots(3, 3, figsize=(11, 9), layout="constrained", sharex=True)
for ax, name in zip(axes.flat, names, strict=True):
    display = RuleEvolutionDisplay.from_rule(name, n_samples=60, random_state=0, ax=ax, legend=name == "probability")
    if ax not in axes[-1]:
        ax.set_xlabel("")
    if ax not in axes[:, 0]:
        ax.set_ylabel("")
