"""Defines the option `--point LINE`, which takes one point of a space as an ordinary schedule."""

import click

from dtpoly.cli.lazy import load
from dtpoly.frontend.reading import read_file
from dtpoly.source import Source

point_option = click.option(
    "--point",
    metavar="POINT",
    help="If FILE is a space, take this point: 'block=x:4 num_warps=8'; see dtpoly space.",
)


def read_source(file: str, point: str | None) -> Source:
    """Read the source of a file; with a point, the source is its Program as text.

    Raises DtpolyError.
    """
    if point is None:
        return read_file(file)
    source: Source = load("dtpoly.points").source_at(file, point)
    return source
