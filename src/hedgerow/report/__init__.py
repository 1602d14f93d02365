"""A page about a model: what was learned, how well, which rows it would not decide and why.

:func:`build` makes it from models and labelled rows, ``hedgerow report`` from a file. The page is one HTML file that
needs neither a server nor a network.
"""

from hedgerow.report.build import About, Progress, build
from hedgerow.report.report import Report

__all__ = ["About", "Progress", "Report", "build"]
