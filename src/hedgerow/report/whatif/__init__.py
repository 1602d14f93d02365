"""What if: models as JSON that a page walks in the browser, in plain JavaScript."""

from hedgerow.report.whatif.data import MOST_BYTES, whatif_data

__all__ = ["MOST_BYTES", "whatif_data"]
