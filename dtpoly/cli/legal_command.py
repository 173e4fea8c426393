"""Implements `dtpoly legal FILE FUNC`, which lists the directives that could come next."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import click

from dtpoly.algorithm.program import Program
from dtpoly.asking.offered_directives import HEAD, option_rows
from dtpoly.budget import OverBudgetError
from dtpoly.budget import check as check_budget
from dtpoly.budget_messages import over
from dtpoly.checking import check
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.output import report, terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.point_option import point_option, read_source
from dtpoly.cli.seconds_option import limited, seconds_option
from dtpoly.diagnostics import DtpolyError
from dtpoly.offers import offers
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.menu import Option, hosts
from dtpoly.suggest import near

VERSION = 1  # of the JSON document
PATIENCE = 1.0  # seconds, after which a user at a terminal sees the progress


@click.command(
    short_help="List directives that could be added.",
    epilog="""\b
Examples:
  dtpoly legal softmax.dt softmax
  dtpoly legal softmax.dt total --json""",
)
@file_name
@click.argument("func", metavar="FUNC")
@point_option
@plugin_option
@seconds_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    file: str, func: str, point: str | None, primitives: Primitives, seconds: float, as_json: bool
) -> int:
    """List directives on a Func that could be added to a .dt file, and say which are legal.

    The command tries a few sizes, every label, some orders of loops, and fusions of the Func into
    each of its readers and of other Funcs into it. It leaves out directives that the file has.
    `dtpoly why-not` answers for other sizes.

    When the time is over, only the directives that were tried are listed, and the exit code is 1.
    """
    found: list[Option] = []
    with limited(seconds):
        checked = check(read_source(file, point), primitives)
        if checked.program is None:
            raise DtpolyError(checked.diagnostics)
        check_is_func(func, checked.program)
        homes = hosts(checked.program, func, checked.primitives)
        stopped = _find(offers(checked.program, func, checked.primitives), found)
    data = {**_data(func, homes, found), "is_complete": stopped is None}
    if as_json:
        write(json.dumps({"version": VERSION, "file": file, **data}, indent=2) + "\n")
    else:
        _print(func, homes, found)
    if stopped is not None:
        report([over(stopped)], sys.stderr)
        return 1
    return 0


def _find(offered: Iterable[Option], found: list[Option]) -> OverBudgetError | None:
    """Add the offered options as long as there is time.

    Return the error of the limit, if it is reached.
    """
    try:
        for one in _watched(offered):
            # Before the option is added: an answer that came after the limit does not count.
            check_budget()
            found.append(one)
    except OverBudgetError as error:
        return error
    return None


def _print(func: str, homes: tuple[str, ...], found: list[Option]) -> None:
    if found:
        table: Callable[..., str] = load("dtpoly.render.text_table").table
        colour = wants_colour(sys.stdout, os.environ)
        write(table(HEAD, list(option_rows(found)), terminal_width(sys.stdout), colour=colour))
    else:
        write(f"no more to try for '{func}'\n")
    if homes:
        listed = " and ".join(f"'{home}'" for home in homes)
        write(f"\n'{func}' is computed inside of {listed}; directives on its loops belong there\n")


def check_is_func(name: str, program: Program) -> None:
    """Raise click.BadParameter for a name that is not a Func of the Program."""
    known = [func.name for func in program.funcs]
    if name not in known:
        meant = near(name, known)
        hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(known) or 'none'}"
        raise click.BadParameter(f"the program has no Func '{name}'; {hint}", param_hint="FUNC")


def _data(func: str, homes: tuple[str, ...], found: list[Option]) -> dict[str, object]:
    """Return the answer as data for JSON; the reason of a legal directive is null."""
    options = [
        {
            "directive": one.directive,
            "is_legal": one.is_legal,
            "changes": one.changes,
            "reason": one.reason or None,
        }
        for one in found
    ]
    return {"func": func, "computed_inside_of": list(homes), "directives": options}


def _watched(found: Iterable[Option]) -> Iterator[Option]:
    """Pass the options on, and show the progress to a user who waits at a terminal."""
    start, told = time.monotonic(), False
    for number, one in enumerate(found, 1):
        yield one
        if sys.stderr.isatty() and time.monotonic() - start > PATIENCE:
            sys.stderr.write(f"\r{number} directives tried")
            sys.stderr.flush()
            told = True
    if told:
        sys.stderr.write("\r\x1b[K")
