"""
Which columns does the model need?
==================================

How much worse do the trees get, on rows that they have not seen, when a column tells nothing? The whisker is a
standard error; a column whose whisker reaches zero may be useless. No validation set is needed: each tree is asked
about the rows that were not in its bag.
"""

from sklearn.datasets import load_wine

from hedgerow import ForestClassifier
from hedgerow.plots import ImportanceDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
forest = ForestClassifier(random_state=0).fit(X, y)
display = ImportanceDisplay.from_estimator(forest, X, y)
_ = display.ax_.set_title("Which measurements tell growers apart")

# %%
# Columns that tell the same hide each other. Permuted together, they show what they tell jointly:

ImportanceDisplay.from_estimator(
    forest,
    X,
    y,
    groups={
        "phenols": ["total_phenols", "flavanoids", "nonflavanoid_phenols", "proanthocyanins"],
        "colour": ["color_intensity", "hue"],
        "minerals": ["ash", "alcalinity_of_ash", "magnesium"],
        "proline": ["proline"],
        "alcohol": ["alcohol"],
    },
)
