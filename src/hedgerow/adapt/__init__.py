"""Forests that other libraries have fitted, as a :class:`~hedgerow.forest.Forest`.

Only what a library documents is read, and only where it says how many training rows (of each class) a leaf holds: that
is what rules, bounds and uncertainty are made of.

| library | classification | regression |
|---|---|---|
| scikit-learn: trees, random forests, extra trees, bagging | counts | weight, mean, squared deviations |
| ydf: random forests on numbers | counts | weight, mean, squared deviations |
| LightGBM: ``boosting_type="rf"`` | refused: rows and a log-odds, no counts of classes | weight and mean |
| XGBoost | refused: sums of second derivatives ("cover"), no counts | refused: the same |

None of them is imported: a model brings its library along.
"""

from hedgerow.adapt.lightgbm import from_lightgbm
from hedgerow.adapt.scikit_learn import from_sklearn
from hedgerow.adapt.ydf import from_ydf

__all__ = ["from_lightgbm", "from_sklearn", "from_ydf"]
