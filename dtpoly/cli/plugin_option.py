"""Defines the option `--plugin FILE`, which adds the primitives of a Python file."""

import click

from dtpoly.cli.files import complete_files
from dtpoly.plugins import with_plugins
from dtpoly.schedule.primitives import Primitives

_HELP = "Also take directives from a Python file, which is run."


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
    help=_HELP,
)

# For a command that reports mistakes in a plugin in its own way.
plugin_files = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help=_HELP,
)
