"""
What to measure next?
=====================

Of a bottle of wine only three of thirteen things are known. Which measurement is expected to take away most doubt
about its grower?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from hedgerow import ForestClassifier
from hedgerow.plots.palette import BLUE

wine = load_wine(as_frame=True)
forest = ForestClassifier(50, random_state=0).fit(wine.data[::2], wine.target[::2])
bottle = wine.data[1:2].copy()
known = ["alcohol", "hue", "magnesium"]
bottle.loc[:, [name for name in bottle if name not in known]] = float("nan")
(question,) = forest.next_question(bottle)
print(question)

# %%
answers = question.ranked[::-1]
_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
bars = ax.barh([one.column for one in answers], [one.gain for one in answers], color=BLUE)
ax.bar_label(bars, fmt="{:.2f}", padding=3)
ax.margins(x=0.12)
ax.set(
    title=f"{question.doubt:.2f} bits of doubt: what would take most of it away?",
    xlabel="doubt that the measurement is expected to take away (bits)",
)
_ = ax.spines[["top", "right"]].set_visible(False)
