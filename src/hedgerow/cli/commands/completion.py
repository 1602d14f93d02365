"""``hedgerow completion``: a script that makes the shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]


@click.command(
    short_help="Print a script for shell completion.",
    epilog="""\b
Example, in ~/.bashrc:
  eval "$(hedgerow completion bash)"
""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands and options."""
    made = get_completion_class(shell)
    assert made is not None
    print(made(context.find_root().command, {}, "hedgerow", "_HEDGEROW_COMPLETE").source())
