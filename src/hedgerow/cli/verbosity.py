"""Options that say how much is printed."""

from __future__ import annotations

import click

__all__ = ["quiet_option", "verbose_option"]

verbose_option = click.option("--verbose", "-v", is_flag=True, help="List every column, however many there are.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but the answer and errors.")
