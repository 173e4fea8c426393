"""Defines the option `--plugin FILE` of commands that load the file themselves, or not at all.

This module imports neither plugins nor isl.
"""

import click

from dtpoly.cli.file_arguments import complete_files

PLUGIN_HELP = "Also take directives from a Python file, which is run."

plugin_files = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help=PLUGIN_HELP,
)
