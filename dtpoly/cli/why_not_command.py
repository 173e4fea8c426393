"""Implements `dtpoly why-not FILE DIRECTIVE`, which says whether a directive may be added."""

import json
import sys
from dataclasses import replace
from types import ModuleType

import click

from dtpoly.checking import check
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, shown, terminal_width, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.seconds_option import timed
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors
from dtpoly.frontend.added import Added, add_directives
from dtpoly.frontend.resolve import resolve
from dtpoly.offers import vain_added
from dtpoly.one_pass_offers import with_one_pass
from dtpoly.plugins import completed
from dtpoly.render.printable import printable
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.directive_question import may_add
from dtpoly.source import Source

VERSION = 1  # of the JSON document
NAME = "<directive>"


@click.command(
    short_help="Say whether a directive may be added, or why not.",
    epilog="""\b
Examples:
  dtpoly why-not 2mm.dt 'mm.fuse_at(_2mm, n)'
  dtpoly why-not 2mm.dt '_2mm.block(m:32, n:64)' --json

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
    added = add_directives(checked.file, Source(NAME, directive))
    if not has_errors(added.found):
        check_is_one(added)
    resolved = resolve(added.file)
    wrong = [d for d in (*added.found, *resolved.found) if is_about_it(d)]
    if has_errors(wrong):
        report(wrong, sys.stderr)
        return 2
    *others, new = resolved.program.directives
    program = replace(resolved.program, directives=tuple(others))
    known = completed(resolved.program.directives, checked.primitives).primitives
    answer = may_add(program, new, known)
    if answer.is_legal:
        more = vain_added(answer.program, new, known)
        answer = replace(answer, diagnostics=(*answer.diagnostics, *more))
    else:
        offering = with_one_pass(answer.diagnostics, answer.program, known)
        answer = replace(answer, diagnostics=offering)
    words: ModuleType = load("dtpoly.cli.answer")
    is_refused = checked.verdict is not None and not checked.verdict.is_legal
    if as_json:
        data = {"version": VERSION, "file": file, **words.answer_data(answer, new)}
        write(json.dumps(data, indent=2) + "\n")
    else:
        width = terminal_width(sys.stdout)
        lines = words.answer_lines(answer, new, width, is_refused=is_refused)
        write(shown(lines, sys.stdout))
        told = [d for d in answer.diagnostics if not answer.is_legal or is_about_it(d)]
        if told:
            write("\n")
            report(told, sys.stdout)
    return 0 if answer.is_legal else 1


def is_about_it(diagnostic: Diagnostic) -> bool:
    """True if a message is about the new directive, and not about the file."""
    return diagnostic.span is None or diagnostic.span.source.name == NAME


def check_is_one(added: Added) -> None:
    """Refuse a text that is not exactly one directive. Raises click.BadParameter."""
    problem = ""
    if added.others:
        problem = f"'{_short(added.others[0].span.text)}' is no directive"
    elif not added.directives:
        problem = "it is empty"
    elif len(added.directives) > 1:
        problem = f"there are {len(added.directives)}; ask about one at a time"
    if problem:
        message = f"{problem}; write one such as 'f.block(x:16)'"
        raise click.BadParameter(message, param_hint="DIRECTIVE")


def _short(text: str) -> str:
    words = printable(" ".join(text.split()))
    return words if len(words) <= 40 else f"{words[:39]}…"
