"""Forests that other libraries have fitted, as a :class:`~hedgerow.forest.Forest`; see :mod:`hedgerow.exchange`."""

from hedgerow.exchange import from_lightgbm, from_sklearn, from_xgboost, from_ydf

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost", "from_ydf"]
