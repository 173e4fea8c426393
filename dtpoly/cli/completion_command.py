"""Implements `dtpoly completion SHELL`, which prints a script for the completion of words."""

import click
from click.shell_completion import get_completion_class

from dtpoly.cli.output import write


@click.command(
    short_help="Print a script for your shell.",
    epilog="""\b
Examples:
  dtpoly completion bash >> ~/.bashrc
  dtpoly completion zsh >> ~/.zshrc
  dtpoly completion fish > ~/.config/fish/completions/dtpoly.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print a script that completes commands, options and files in a shell."""
    kind = get_completion_class(shell)
    assert kind is not None, "click completes in all three"
    root = context.find_root()
    script = kind(root.command, {}, root.info_name or "dtpoly", "_DTPOLY_COMPLETE")
    write(script.source())
    return 0
