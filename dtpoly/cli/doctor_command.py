"""Implements `dtpoly doctor`, which looks whether all that dtpoly needs is there."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial

import click

from dtpoly.cli.environment import VARIABLES
from dtpoly.cli.health import (
    HealthCheck,
    HealthState,
    cache_check,
    gpu_checks,
    package_checks,
    plugin_check,
    python_check,
)
from dtpoly.cli.lazy import LazyGroup, WithoutSettings, load
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.settings_place import settings_file
from dtpoly.cli.settings_reader import check_all, read_settings, unknown_variables
from dtpoly.diagnostics import DtpolyError

VERSION = 1  # of the JSON document
HEAD = ("", "state", "found", "what to do")


@click.command(
    cls=WithoutSettings,
    short_help="Look whether all that dtpoly needs is there.",
    epilog="""\b
Examples:
  dtpoly doctor
  dtpoly doctor --json""",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> int:
    """Look at Python, packages, GPUs, the cache, plugins and settings, and say what to do.

    A note is about something that only some commands need. The exit code is 1 if something is
    wrong.
    """
    found = [*_checks(context.find_root())]
    is_wrong = any(one.state is HealthState.WRONG for one in found)
    if as_json:
        listed = [
            {"name": one.name, "state": str(one.state), "found": one.found, "way": one.way or None}
            for one in found
        ]
        write(json.dumps({"version": VERSION, "checks": listed}, indent=2) + "\n")
    else:
        rows = [(one.name, str(one.state), one.found, one.way) for one in found]
        table: Callable[..., str] = load("dtpoly.render.text_table").table
        colour = wants_colour(sys.stdout, os.environ)
        write(table(HEAD, rows, terminal_width(sys.stdout), colour=colour))
    return 1 if is_wrong else 0


def _checks(root: click.Context) -> Iterator[HealthCheck]:
    """Yield all checks, the slow ones last."""
    yield python_check()
    yield from package_checks()
    yield cache_check()
    yield plugin_check()
    yield _settings_check(root)
    yield from _variable_checks(root)
    yield from gpu_checks()


def _group(root: click.Context) -> LazyGroup:
    assert isinstance(root.command, LazyGroup)
    return root.command


def _settings_check(root: click.Context) -> HealthCheck:
    """Return which settings file holds here, and whether all in it is right."""
    path = settings_file()
    if path is None:
        return HealthCheck("settings", HealthState.OK, "no settings file holds in this folder")
    group = _group(root)
    try:
        check_all(read_settings(path), group.names, partial(group.named, root))
    except DtpolyError as error:
        (first, *_) = error.diagnostics
        at = "" if first.span is None else f"{first.span}: "
        return HealthCheck("settings", HealthState.WRONG, f"{at}{first.title}", first.hint)
    return HealthCheck("settings", HealthState.OK, str(path))


def _variable_checks(root: click.Context) -> Iterator[HealthCheck]:
    """Yield a check for each variable that looks like one of dtpoly and means nothing."""
    group = _group(root)
    known = partial(group.named, root)
    for name, meant in unknown_variables(os.environ, VARIABLES, group.names, known).items():
        way = f"did you mean {meant}?" if meant else "unset it; docs/settings.md lists all"
        said = f"{name} is set, and means nothing"
        yield HealthCheck("variable", HealthState.NOTE, said, way)
