"""
Which sensor is worth replacing?
================================

How much of the error of the answers comes from which input? A bar is the part of the variance of the answers that the
errors of one column cause: with an exact sensor it would be gone.
"""

import numpy as np
import pandas as pd

from hedgerow import MeasuredTreeRegressor
from hedgerow.plots import ErrorCostDisplay

rng = np.random.default_rng(0)
latent = pd.DataFrame(rng.uniform(0, 10, (1000, 3)), columns=["flow", "temperature", "humidity"])
errors = {"flow": 0.4, "temperature": 1.2, "humidity": 1.2}
y = 3 * (latent["flow"] > 5) + 2 * (latent["temperature"] > 4) + 0.3 * (latent["humidity"] > 5)
X = latent + rng.normal(0, 1, latent.shape) * [errors[name] for name in latent]

tree = MeasuredTreeRegressor(errors, max_leaf_nodes=8).fit(X, y + rng.normal(0, 0.3, 1000))
display = ErrorCostDisplay.from_estimator(tree, X)
_ = display.ax_.set_title("A better thermometer would help most")
