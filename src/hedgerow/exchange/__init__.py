"""Forests of other libraries, as a :class:`~hedgerow.forest.Forest`, and ours as ONNX.

Only documented formats are read, and only where leaves have the number of training rows (of each class), from which
rules, bounds and uncertainty are computed.

| library | classification | regression |
|---|---|---|
| scikit-learn: trees, random forests, extra trees, bagging | counts | weight, mean, squared deviations |
| ydf: random forests on numbers | counts | weight, mean, squared deviations |
| LightGBM: ``boosting_type="rf"`` | refused: rows and a log-odds, no counts of classes | weight and mean |
| XGBoost: one round of parallel trees | refused: sums of second derivatives, no counts of classes | weight and mean |

None of them is imported: a model brings its library along.
"""

from hedgerow.exchange.lightgbm import from_lightgbm
from hedgerow.exchange.onnx import to_onnx
from hedgerow.exchange.scikit_learn import from_sklearn
from hedgerow.exchange.xgboost import from_xgboost
from hedgerow.exchange.ydf import from_ydf

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost", "from_ydf", "to_onnx"]
