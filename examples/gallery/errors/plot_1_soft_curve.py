"""
A sensor that errs by half a degree
===================================

A plain tree believes the thermometer, and its answer jumps at a threshold. A tree that knows how far readings are off
passes gradually, and is nearer to what can be known about the true answer at a reading.
"""

import numpy as np
import pandas as pd

from hedgerow import MeasuredTreeRegressor
from hedgerow.plots import SoftCurveDisplay

rng = np.random.default_rng(0)
latent = rng.uniform(36, 41, size=500)
reading = pd.DataFrame({"temperature (°C)": latent + rng.normal(0, 0.5, size=500)})
dose = np.where(latent > 38.5, 10.0, 4.0) + rng.normal(0, 0.5, size=500)

soft = MeasuredTreeRegressor({"temperature (°C)": 0.5}, max_leaf_nodes=3).fit(reading, dose)
hard = MeasuredTreeRegressor(max_leaf_nodes=3).fit(reading, dose)  # without errors it is a plain tree
display = SoftCurveDisplay.from_estimator(soft, reading, dose, hard=hard)
_ = display.ax_.set(title="Readings ± 0.5 °C: the answer passes gradually", ylabel="dose (mg)")
