"""Defines the arguments that name files; a file is opened later, not while words are parsed."""

import click
from click.shell_completion import CompletionItem


def complete_files(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave the completion of paths to the shell."""
    return [CompletionItem(incomplete, type="file")]


file_name = click.argument("file", metavar="FILE", shell_complete=complete_files)
file_names = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, shell_complete=complete_files
)
