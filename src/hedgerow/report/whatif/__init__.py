"""Models as JSON, which the page walks in the browser for its section "What if"."""

from hedgerow.report.whatif.data import MOST_BYTES, whatif_data

__all__ = ["MOST_BYTES", "whatif_data"]
