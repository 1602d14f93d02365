"""Rules that combine the leaves of many trees, in three pictures: python rules_at_work.py [FOLDER]

Needs matplotlib: pip install 'hedgerow[plot]'. The guide, docs/pictures.md, tells how to read them.
"""

import sys
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_breast_cancer

from hedgerow import RandomTreesClassifier
from hedgerow.plots import LeafSizeDisplay, RuleEvolutionDisplay

mpl.use("agg")  # files only, no screen


def save(display, path):
    display.figure_.savefig(path, dpi=100)
    print(path)


folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
folder.mkdir(parents=True, exist_ok=True)

leaf, *_ = RuleEvolutionDisplay.grid(n_trees=1, random_state=0)
save(leaf, folder / "a_leaf_fills.png")

ensemble, *_ = RuleEvolutionDisplay.grid(n_trees=100, random_state=0)
save(ensemble, folder / "a_hundred_leaves_fill.png")

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
sizes = LeafSizeDisplay.from_estimator(RandomTreesClassifier(random_state=0), X, y, random_state=0)
save(sizes, folder / "leaf_sizes.png")
