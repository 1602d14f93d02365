"""``python -m hedgerow.cli`` is ``hedgerow``."""

import sys

from hedgerow.cli import main

if __name__ == "__main__":
    sys.exit(main())
