"""
Two sensors, one of them rough
==============================

The first sensor errs, the second is exact. Borders between the regions of the tree are soft along the first and sharp
along the second: the colour is the answer, the lines are the thresholds.
"""

import numpy as np
import pandas as pd

from hedgerow import MeasuredTreeRegressor
from hedgerow.plots import SoftRegionsDisplay

rng = np.random.default_rng(0)
flow, pressure = rng.uniform(0, 10, 800), rng.uniform(0, 5, 800)
load = 2.0 * (flow > 5) + 3.0 * ((flow > 5) & (pressure > 2.5)) + rng.normal(0, 0.3, 800)
X = pd.DataFrame({"flow (l/s)": flow + rng.normal(0, 0.8, 800), "pressure (bar)": pressure})

tree = MeasuredTreeRegressor({"flow (l/s)": 0.8}, max_leaf_nodes=4).fit(X, load)
display = SoftRegionsDisplay.from_estimator(tree, X)
_ = display.ax_.set_title("Soft along the sensor that errs by ± 0.8 l/s")
