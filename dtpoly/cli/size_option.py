"""Reads sizes of labels such as `x=4,y=1000`, and checks that they fit into memory."""

import re
import sys
from collections.abc import Iterable, Mapping
from math import prod
from typing import IO, Any

import click

from dtpoly.algorithm.expressions import free_labels, walk
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Program
from dtpoly.cli.output import report
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.suggest import near

LARGEST = 2**48
ELEMENT = 8  # bytes: the reference computes in f64 and i64
TEMPORARIES = 3  # values of one expression that exist at the same time

_SIZE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([+-]?[0-9]{1,20})\s*")


def parse_sizes(words: Iterable[str], labels: list[str]) -> dict[str, int]:
    """Return the size of each label that is named. Raises click.BadParameter."""
    sizes: dict[str, int] = {}
    for word in (part for group in words for part in group.split(",")):
        match = _SIZE.fullmatch(word)
        if match is None:
            raise _wrong(f"'{word.strip()}' is not of the form label=number, as in x=4,y=1000")
        label, size = match[1], int(match[2])
        if label not in labels:
            meant = near(label, labels)
            known = f"did you mean '{meant}'?" if meant else f"it has {', '.join(labels)}"
            raise _wrong(f"the program has no label '{label}'; {known}")
        if not 0 <= size <= LARGEST:
            raise _wrong(f"the size of '{label}' is {size}; it must be from 0 to {LARGEST}")
        if sizes.setdefault(label, size) != size:
            raise _wrong(f"the size of '{label}' is given twice: {sizes[label]} and {size}")
    return sizes


class SizeOptionError(click.ClickException):
    """Raised if sizes on the command line leave out a label or contradict each other.

    The sizes come from options, so this is a usage error, with the same exit code for all commands.
    """

    exit_code = 2

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__("the sizes are wrong")
        self.diagnostics = tuple(diagnostics)

    def show(self, file: IO[Any] | None = None) -> None:
        """Report the diagnostics about the sizes."""
        report(self.diagnostics, sys.stderr)


def all_sizes(program: Program, words: Iterable[str]) -> dict[str, int]:
    """Return the size of each label; some follow from others.

    Raises click.BadParameter and SizesError.
    """
    given = parse_sizes(words, [label.name for label in program.labels])
    try:
        return filled(program, given)
    except DtpolyError as error:
        raise SizeOptionError(error.diagnostics) from None


def check_memory(program: Program, sizes: Mapping[str, int], limit: float) -> None:
    """Refuse sizes that need more than this number of GiB. Raises click.BadParameter."""
    needed = elements(program, sizes) * ELEMENT / 2**30
    if needed > limit:
        shown = ", ".join(f"{label}={size}" for label, size in sizes.items())
        raise _wrong(
            f"{shown} needs about {needed:,.1f} GiB, the limit is {limit:g} GiB; "
            "take smaller sizes, or allow more with --memory"
        )


def elements(program: Program, sizes: Mapping[str, int]) -> int:
    """Estimate how many elements exist at once: inputs, Funcs and the largest temporaries."""
    inputs = sum(prod(shape) for shape in input_shapes(program, sizes).values())
    funcs = sum(prod(sizes[label] for label in func.labels) for func in program.funcs)
    largest = max(
        (
            prod(sizes[label] for label in free_labels(node))
            for func in program.funcs
            for node in walk(func.body)
        ),
        default=0,
    )
    return inputs + funcs + TEMPORARIES * largest


def _wrong(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--size")
