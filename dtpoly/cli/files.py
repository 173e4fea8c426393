"""The arguments that name files. A file is opened by who reads it, never while parsing words."""

import click
from click.shell_completion import CompletionItem


def complete_files(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave it to the shell, which knows how to complete paths."""
    return [CompletionItem(incomplete, type="file")]


file_name = click.argument("file", metavar="FILE", shell_complete=complete_files)
file_names = click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, shell_complete=complete_files
)
