"""``python -m hedgerow.cli`` is ``hedgerow``."""

from hedgerow.cli import command

if __name__ == "__main__":
    command()
