"""Implements `dtpoly space FILE`, which says what a file with choices leaves open."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import click

from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.plugin_option import plugin_option
from dtpoly.cli.seconds_option import Seconds
from dtpoly.schedule.bound_primitives import Primitives

VERSION = 1  # of the JSON document


@click.command(
    short_help="Count and list the schedules of a space.",
    epilog="""\b
Examples:
  dtpoly space softmax.dts
  dtpoly space softmax.dts --count
  dtpoly space softmax.dts --sample 3 --seed 7
  dtpoly space softmax.dts --list > points.txt
  dtpoly check softmax.dts --point "$(dtpoly space softmax.dts --sample 1)\"""",
)
@file_name
@click.option("--count", "only_count", is_flag=True, help="Print only how many points there are.")
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="Print N random points; all are equally likely.",
)
@click.option("--list", "all_points", is_flag=True, help="Print all points, in their order.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="The same seed draws the same points.",
)
@click.option(
    "--look-at",
    "looked_at",
    type=click.IntRange(1),
    metavar="N",
    help="Decide N points by the rules.  [default: all, or 2,000 if there are over 20,000]",
)
@click.option(
    "--recheck",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    metavar="N",
    help="Decide N points again, without sharing proofs.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Processes that decide points.  [default: one for each core]",
)
@click.option(
    "--seconds",
    type=Seconds(),
    help="Stop deciding points after this time.  [default: when all are decided]",
)
@plugin_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    file: str,
    only_count: bool,
    sample: int | None,
    all_points: bool,
    seed: int,
    looked_at: int | None,
    recheck: int,
    workers: int | None,
    seconds: float | None,
    primitives: Primitives,
    as_json: bool,
) -> int:
    """Say which choices a file leaves open, and how many schedules they make.

    Points are counted without listing them. Then the command decides how many points are refused:
    by constraints, by the checks of directives, by Triton's limits, and by the proof that a
    schedule is legal. In a space of more than 20,000 points it decides a sample. Points that differ
    only in numbers may share a proof; a sample of these is proved again without sharing.

    After --seconds the command ends, and prints what is known by then.

    A point is one line, such as block=x:4,y:512 num_warps=8. Other commands take it as --point.
    """
    if only_count + all_points + (sample is not None) > 1:
        raise click.UsageError("--count, --sample and --list exclude each other")
    space = load("dtpoly.explore.space.space_file").read_space(file)
    count: ModuleType = load("dtpoly.explore.space.count")
    if only_count or all_points or sample is not None:
        of = count.counted(space)
        numbers = range(of.count) if all_points else count.sample(of, sample or 0, seed)
        lines = _lines(space, of, () if only_count else numbers)
        if as_json:
            points = None if only_count else list(lines)
            write(_document(file, count=of.count, points=points))
        else:
            for line in (str(of.count),) if only_count else lines:
                write(f"{line}\n")
        return 0
    summary: ModuleType = load("dtpoly.cli.space_summary")
    told = summary.Telling(seed, looked_at, recheck, workers, seconds, primitives)
    found = summary.summarise(space, told)
    if as_json:
        write(_document(file, **summary.as_data(space, found)))
    else:
        _print(summary, space, found)
    return 130 if found.is_interrupted else 0


def _lines(space: Any, of: Any, numbers: Iterable[int]) -> Iterator[str]:
    """Yield the line of each point."""
    short: Callable[..., str] = load("dtpoly.explore.space.short").short
    point_at: Callable[..., Any] = load("dtpoly.explore.space.count").point_at
    return (short(space, point_at(of, number)) for number in numbers)


def _document(file: str, **data: object) -> str:
    return json.dumps({"version": VERSION, "file": file, **data}, indent=2) + "\n"


def _print(summary: ModuleType, space: Any, found: Any) -> None:
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    colour, width = wants_colour(sys.stdout, os.environ), terminal_width(sys.stdout)
    choices = summary.choice_rows(space)
    if choices:
        write(table(summary.CHOICES, choices, width, colour=colour) + "\n")
    write(table(summary.RULES, summary.rule_rows(found), width, colour=colour))
    for line in summary.remarks(found):
        write(f"{line}\n")
