"""Implements `dtpoly fmt FILE...`, which lays files out in the canonical way."""

import difflib
import sys
from pathlib import Path

import click

from dtpoly.cli.file_arguments import file_names
from dtpoly.cli.output import report, write, write_exactly
from dtpoly.cli.saving import save, tell_error
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.format import format_source
from dtpoly.frontend.reading import STANDARD_INPUT, read_file
from dtpoly.render.printable import printable
from dtpoly.source import Source


@click.command(
    short_help="Format files, in place.",
    epilog="""\b
Examples:
  dtpoly fmt softmax.dt
  dtpoly fmt --check kernels/*.dt
  dtpoly fmt --diff softmax.dt
  dtpoly fmt - < softmax.dt > formatted.dt""",
)
@file_names
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with 1 if a file is not formatted."
)
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
def command(files: tuple[str, ...], check: bool, diff: bool) -> int:
    """Format .dt files, in place; - formats standard input to standard output."""
    good = [_format(path, check=check, diff=diff) for path in dict.fromkeys(files)]
    return 0 if all(good) else 1


def _format(path: str, *, check: bool, diff: bool) -> bool:
    """Format one file; return false if that fails, or if `--check` finds it not formatted."""
    try:
        source = read_file(path)
        text = format_source(source)
    except DtpolyError as error:
        report(error.diagnostics, sys.stderr)
        return False
    changed = text != source.text
    if diff and changed:
        write("".join(_difference(source, text)))
    if check and changed:
        write(f"{printable(source.name)} is not formatted\n")
    if check:
        return not changed
    if diff:
        return True
    if path == STANDARD_INPUT:
        write_exactly(text)
        return True
    if changed and not Path(path).is_file():
        # A program that writes into a pipe waits for a reader, so the file is always read.
        name = printable(path)
        tell_error(f"cannot format '{name}' in place: it is not a regular file; use - for a pipe")
        return False
    return not changed or save(Path(path), text.encode(), "formatted")


def _difference(source: Source, text: str) -> list[str]:
    """Return a unified diff, in which a missing last line end is shown as `diff -u` shows it."""
    before, after = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    lines: list[str] = []
    for line in difflib.unified_diff(before, after, source.name, f"{source.name} (formatted)"):
        body = line.removesuffix("\n")
        lines.append(f"{printable(body)}\n")
        if body == line:
            lines.append("\\ No newline at end of file\n")
    return lines
