"""
What did each column add to this answer?
========================================

Shapley values divide an answer among the columns: bars lead from the answer where nothing is known to the answer for
this row, and they add up exactly.
"""

from sklearn.datasets import load_diabetes

from hedgerow import ForestRegressor
from hedgerow.plots import ContributionsDisplay

data = load_diabetes(as_frame=True, scaled=False)
forest = ForestRegressor(random_state=0).fit(data.data[:400], data.target[:400])
display = ContributionsDisplay.from_estimator(forest, data.data[401:402])
_ = display.ax_.set_title("One patient: progress of diabetes after a year")

# %%
# For many rows every row has a point in the line of each column. Yellow on the right: the answer rises with the column.

display = ContributionsDisplay.from_estimator(forest, data.data[:400])
