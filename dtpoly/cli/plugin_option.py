"""Defines the option `--plugin FILE`, which adds the primitives of a Python file."""

import click

from dtpoly.cli.file_arguments import complete_files
from dtpoly.cli.plugin_files import PLUGIN_HELP
from dtpoly.plugins import with_plugins
from dtpoly.schedule.bound_primitives import Primitives


def _load(context: click.Context, parameter: click.Parameter, files: tuple[str, ...]) -> Primitives:
    return with_plugins(files)


# For a command that takes `primitives`. A mistake in a file ends the run.
plugin_option = click.option(
    "--plugin",
    "primitives",
    multiple=True,
    metavar="FILE",
    callback=_load,
    shell_complete=complete_files,
    help=PLUGIN_HELP,
)
