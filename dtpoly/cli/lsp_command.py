"""Implements `dtpoly lsp`, the language server that editors start."""

import sys
from typing import Any

import click

from dtpoly.cli.lazy import load
from dtpoly.cli.output import report
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.missing_package import first_missing, missing_package
from dtpoly.schedule.bound_primitives import Primitives

WHY = "the language server speaks the protocol of editors by pygls; nothing else needs it"
INSTALL = "pip install 'dtpoly[editor]' installs it"


@click.command(
    short_help="Serve editors: messages, hover, completion, renaming.",
    epilog="""\b
Examples:
  dtpoly lsp --plugin skew.py
  dtpoly lsp --port 2087
  dtpoly lsp""",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Wait for an editor at this port of this machine, not at the standard streams.",
)
@plugin_option
def command(port: int | None, primitives: Primitives) -> int:
    """Answer an editor by the language server protocol, at the standard streams.

    An editor starts this command by itself; docs/editors.md says how to set it up. It needs pygls:
    pip install "dtpoly[editor]".
    """
    if first_missing(("pygls",)) is not None:
        report([missing_package("pygls", WHY, INSTALL)], sys.stderr)
        return 1
    made: Any = load("dtpoly.editor.language_server").server_of(primitives)
    if port is None:
        made.start_io()
    else:
        made.start_tcp("127.0.0.1", port)
    return 0
