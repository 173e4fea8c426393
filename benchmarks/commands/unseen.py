"""`python -m benchmarks unseen --seed N`: operators that nobody looked at, and who is faster."""

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from benchmarks.files import ROOT
from benchmarks.gpu.processes import CRASHES, LOST
from benchmarks.gpu.results import Timed
from benchmarks.spaces import table
from benchmarks.terminal import console
from benchmarks.unseen.cases import FAMILIES, Case, cases
from benchmarks.unseen.drawing import Family
from benchmarks.unseen.kinds import KINDS
from benchmarks.unseen.own_cases import own_cases
from benchmarks.unseen.picture import plot
from benchmarks.unseen.recorded import write_record
from benchmarks.unseen.records import (
    PREPARED,
    MeasuredCase,
    PreparedCase,
    add,
    measured_cases,
    prepared_cases,
)
from benchmarks.unseen.summary import LINES, Line, families, lines, share, told, worst
from dtpoly.cli.lazy import load
from dtpoly.explore.devices.devices import DEFAULT, find_device

COUNT, CHOICES = 64, 5
HELD = ("all", "only", "none")
SHARE_AHEAD = 0.4  # of the seconds, at most, in which nothing is timed yet


@click.command(short_help="Draw operators that nobody looked at, and compare with torch.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option("--seed", type=int, help="Of the list: each seed has its own.")
@click.option(
    "--of",
    "own",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the .dt files of this folder instead of a list.",
)
@click.option("--cases", "count", default=COUNT, show_default=True, help="How many to draw.")
@click.option("--choices", default=CHOICES, show_default=True, help="Schedules of each case.")
@click.option(
    "--held-out",
    "held",
    type=click.Choice(HELD),
    default="all",
    show_default=True,
    help="Whether families that are only reported take part, alone or not at all.",
)
@click.option("--only", multiple=True, help="Only this family; may be given again.")
@click.option("--prepare", "steps", flag_value="prepare", help="Only make the texts: no GPU.")
@click.option("--run", "steps", flag_value="run", help="Only time what was prepared.")
@click.option("--summary", "steps", flag_value="summary", help="Only say what is known.")
@click.option("--for", "device", default=DEFAULT, show_default=True, help="What schedules are for.")
@click.option("--place", type=click.Choice(("cuda", "cpu")), default="cuda", show_default=True)
@click.option("--tiny", is_flag=True, help="Tiny sizes, to see that all runs; with --place cpu.")
@click.option("--seconds", default=300.0, show_default=True, help="For all that is timed.")
@click.option("--each", default=0.06, show_default=True, help="Of each candidate on the device.")
@click.option("--peers", default=",".join(KINDS), show_default=True, help="Who takes part.")
@click.option("--workers", default=1, show_default=True, help="Processes that prepare or compile.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the ratios.")
@click.option("--record", type=click.Path(path_type=Path), help="Write what is known as a record.")
@click.option("--here", is_flag=True, hidden=True, help="In this process, not in one of its own.")
@click.pass_obj
def command(given: Sequence[str], /, **options: Any) -> int:
    """Draw a list of operators from a seed, schedule them, and time them beside torch.

    FOLDER keeps what is prepared and measured, a line for each case: the same command goes on
    where it was.  [default: build/unseen]

    With --of, the operators are those of a folder, a .dt file without a schedule each. A comment
    says the sizes (# sizes: m=4096 k=1024); others may say more: # dtype: bf16,
    # filling: start offsets n, # library: F.softmax(X, 1), # precision: tf32.

    Example: python -m benchmarks unseen --of mine/ --choices 1

    Exit codes: 0 all is done; 1 something failed, is not proved, or has no time yet.
    """
    seed, own = options["seed"], options["own"]
    if (seed is None) == (own is None):
        raise click.UsageError("name a list by --seed, or a folder of files by --of")
    within = options.pop("folder") or ROOT / "build" / "unseen"
    folder = within / (f"seed_{seed}" if own is None else f"of_{own.resolve().name}")
    asked = Asked(given, folder, **options)
    if own is not None and asked.only:
        raise click.UsageError("--only chooses families of a list, and --of has none")
    unknown = {*asked.only} - {one.name for one in FAMILIES}
    if unknown:
        raise click.UsageError(f"no families are called {', '.join(sorted(unknown))}")
    folder.mkdir(parents=True, exist_ok=True)
    if asked.here:
        return _run(asked)
    if asked.steps in (None, "prepare"):
        _prepare(asked)
    if asked.steps in (None, "run"):
        _in_processes(asked)
    return _show(asked)


@dataclass(frozen=True, slots=True)
class Asked:
    """Holds the options of a run, as the user gave them."""

    given: Sequence[str]
    folder: Path
    seed: int | None
    own: Path | None
    count: int
    choices: int
    held: str
    only: tuple[str, ...]
    steps: str | None
    device: str
    place: str
    tiny: bool
    seconds: float
    each: float
    peers: str
    workers: int
    picture: Path | None
    record: Path | None
    here: bool

    @property
    def cases(self) -> Iterator[Case]:
        """Yield the cases that take part."""
        if self.seed is None:
            yield from own_cases(self.own or ROOT)
            return
        yield from cases(self.seed, self.count, self.takes)

    @property
    def list_name(self) -> str:
        """Return what a person calls the list."""
        return f"seed {self.seed}" if self.own is None else self.own.resolve().name

    @property
    def list_option(self) -> str:
        """Return the option that names the list."""
        return f"--seed {self.seed}" if self.own is None else f"--of {self.own.name}"

    def takes(self, one: Family) -> bool:
        """Return whether a family takes part."""
        is_asked = not self.only or one.name in self.only
        return is_asked and (self.held == "all" or one.is_held_out == (self.held == "only"))

    @property
    def prepared(self) -> dict[str, PreparedCase]:
        """Return those that were prepared as they are drawn now."""
        known = prepared_cases(self.folder)
        same = ((one.name, known.get(one.name), one) for one in self.cases)
        return {name: made for name, made, one in same if made and made.algorithm == one.drawn.text}


def _prepare(asked: Asked) -> None:
    """Schedule, emit and prove what is not there yet."""
    known = asked.prepared
    left = [one for one in asked.cases if one.name not in known]
    preparing: ModuleType = load("benchmarks.unseen.preparing")
    plan = preparing.Preparing(asked.folder, find_device(asked.device), asked.choices)
    out = console()
    for made in _made(preparing, plan, left, asked.workers):
        add(asked.folder / PREPARED, made)
        proved = sum(choice.text.is_proved for choice in made.choices)
        told_of = made.failure or f"{proved} of {len(made.choices)} proved"
        out.print(f"{made.name}: {told_of}, {made.seconds:.1f} s", highlight=False, soft_wrap=True)


def _made(
    preparing: ModuleType, plan: object, left: Sequence[Case], workers: int
) -> Iterator[PreparedCase]:
    make: Callable[[Case], PreparedCase] = partial(preparing.prepared_case, plan)
    if workers == 1 or len(left) < 2:
        yield from map(make, left)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        yield from pool.map(make, left)


def _in_processes(asked: Asked) -> None:
    """Measure in processes, of which one follows another that crashed."""
    end = time.monotonic() + asked.seconds
    while (left := end - time.monotonic()) > 0:
        words = [sys.executable, "-m", "benchmarks", *asked.given]
        code = subprocess.run(
            [*words, "--here", "--seconds", f"{left:.0f}"], check=False
        ).returncode
        if code not in CRASHES and code != LOST:
            return


def _run(asked: Asked) -> int:
    measuring: ModuleType = load("benchmarks.unseen.measuring")
    failures: ModuleType = load("dtpoly.timing.failures")
    known, done = asked.prepared, measured_cases(asked.folder)
    left = [(one, known[one.name]) for one in asked.cases if one.name in known]
    left = [one for one in left if one[0].name not in done]
    out, seconds = console(), asked.seconds
    if asked.workers > 1 and left and asked.place == "cuda":
        ahead: ModuleType = load("benchmarks.unseen.compile_ahead")
        began = time.monotonic()
        plan = ahead.Ahead(asked.workers, asked.folder, asked.place, SHARE_AHEAD * seconds)
        ready = ahead.compile_ahead(left, plan)
        seconds -= time.monotonic() - began
        out.print(f"{ready} of {len(left)} cases are compiled", highlight=False)
    kinds = tuple(asked.peers.split(","))
    words = (asked.folder, asked.place, seconds, asked.each, kinds, asked.tiny)
    wanted = measuring.Measuring(*words)

    def tell(found: MeasuredCase) -> None:
        times = ", ".join(_time(one) for one in found.times)
        out.print(f"{found.name}: {found.failure or times}", highlight=False, soft_wrap=True)

    try:
        return 0 if measuring.measure(left, wanted, tell) else 1
    except failures.LostDevice as error:
        out.print(f"the device is lost, so a new process goes on: {error}", highlight=False)
        return LOST


def _time(one: Timed) -> str:
    return f"{one.name} {one.failure or f'{1000 * one.median:.4g} us'}"


def _show(asked: Asked) -> int:
    """Print what is known, and return whether all of it is good."""
    prepared, measured = asked.prepared, measured_cases(asked.folder)
    known = [*lines(prepared, measured)]
    out = console()
    for line in told(prepared, known):
        out.print(line, highlight=False, soft_wrap=True)
    rows = [
        *_shares("first schedule", [one.ratio for one in known if one.peer]),
        *_shares("best schedule", [one.ratio_of_best for one in known if one.peer]),
    ]
    for name, mine in families(known).items():
        held = ", held out" if mine[0].is_held_out else ""
        rows += _shares(f"{name}{held}", [one.ratio for one in mine])
    head = ("ratio to the best peer", "cases", "failed", "mean", *(f">= {x}" for x in LINES))
    if known:
        out.print(table.lines(head, rows), highlight=False, soft_wrap=True)
        head = ("worst", "dtype", "first, us", "best, us", "peer, us", "peer", "ratio", "floor, us")
        out.print(table.lines(head, map(_row, worst(known))), highlight=False, soft_wrap=True)
    if asked.picture is not None:
        title = f"unseen operators, {asked.list_name}: the best peer's time / ours"
        out.print(plot(known, asked.picture, title), highlight=False)
    if asked.record is not None:
        write_record(asked.record, asked.list_option, asked.cases, prepared, measured)
    is_good = all(one.choices and not one.failure for one in prepared.values())
    is_whole = asked.steps == "prepare" or len(known) == len(prepared)
    failed = any(one.failures for one in known)
    proved = all(c.text.is_proved for one in prepared.values() for c in one.choices)
    return 0 if is_good and is_whole and proved and not failed else 1


def _shares(name: str, ratios: Sequence[float]) -> Iterator[tuple[str, ...]]:
    found = share(ratios)
    lines_of = (f"{one:.0%}" for one in found.at_least)
    yield (name, str(found.cases), str(found.failed), f"{found.mean:.2f}", *lines_of)


def _row(one: Line) -> tuple[str, ...]:
    times = (f"{1000 * x:.4g}" if x else "-" for x in (one.first, one.best, one.peer))
    return (
        one.name,
        one.dtype,
        *times,
        one.peer_name,
        f"{one.ratio:.2f}",
        f"{1000 * one.floor:.4g}",
    )
