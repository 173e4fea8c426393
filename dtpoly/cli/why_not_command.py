"""Implements `dtpoly why-not FILE DIRECTIVE`, which says whether a directive may be added."""

import json
import sys

import click

from dtpoly.asking.answer_text import answer_data, answer_lines
from dtpoly.asking.directive_answers import NoOneDirectiveError, answered
from dtpoly.checking import check
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.output import report, shown, terminal_width, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.seconds_option import timed
from dtpoly.diagnostics import DtpolyError
from dtpoly.schedule.bound_primitives import Primitives

VERSION = 1  # of the JSON document


@click.command(
    short_help="Say whether a directive may be added, or why not.",
    epilog="""\b
Examples:
  dtpoly why-not softmax.dt 'total.fuse_at(softmax, y)'
  dtpoly why-not softmax.dt 'softmax.block(x:8)' --json

\b
Exit codes: 0 it may be added, 1 it may not, 2 it is no directive.""",
)
@file_name
@click.argument("directive")
@point_option
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@timed
def command(
    file: str, directive: str, point: str | None, primitives: Primitives, as_json: bool
) -> int:
    """Say whether a directive may be added to a .dt file: what it would change, or why not.

    The directive replaces the one of the file that concerns the same thing: `f.block(x:32)`
    replaces `f.block(x:16)`, and `g.fuse_at(f, x)` replaces `g.fuse_at(f, y)`. The file itself is
    not changed.
    """
    checked = check(read_source(file, point), primitives)
    if checked.verdict is None and checked.program is None:
        raise DtpolyError(checked.diagnostics)
    try:
        found = answered(checked, directive)
    except NoOneDirectiveError as error:
        raise click.BadParameter(str(error), param_hint="DIRECTIVE") from None
    except DtpolyError as error:
        report(error.diagnostics, sys.stderr)
        return 2
    answer, new = found.answer, found.new
    if as_json:
        data = {"version": VERSION, "file": file, **answer_data(answer, new)}
        write(json.dumps(data, indent=2) + "\n")
    else:
        width = terminal_width(sys.stdout)
        lines = answer_lines(answer, new, width, is_refused=found.is_refused)
        write(shown(lines, sys.stdout))
        if found.diagnostics:
            write("\n")
            report(found.diagnostics, sys.stdout)
    return 0 if answer.is_legal else 1
