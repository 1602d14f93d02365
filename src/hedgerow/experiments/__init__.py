"""Experiments of the source documents, repeated; they need ``pip install 'hedgerow[experiments]'``.

:func:`reproduce` runs one, stores what is finished, and writes its tables, figures and claims. The command is
``hedgerow reproduce``.
"""

from hedgerow.experiments.reproduce import Outcome, Progress, names, reproduce

__all__ = ["Outcome", "Progress", "names", "reproduce"]
