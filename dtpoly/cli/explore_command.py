"""Implements `dtpoly explore FILE`, which measures the schedules of a space.

The results are kept in a file.
"""

import contextlib
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

import click

from dtpoly.algorithm.dtypes import FLOATS
from dtpoly.cli.budget_argument import BudgetType
from dtpoly.cli.file_arguments import file_name
from dtpoly.cli.lazy import load
from dtpoly.cli.main import BUG
from dtpoly.cli.output import write
from dtpoly.cli.plugin_files import plugin_files
from dtpoly.cli.saving import tell_error
from dtpoly.cli.seconds_option import Seconds
from dtpoly.cli.settable import EachTimeOption
from dtpoly.cli.size_option import all_sizes
from dtpoly.explore.bench.simulated import FAULTS
from dtpoly.explore.devices.devices import devices
from dtpoly.explore.extras import MissingExtra
from dtpoly.explore.run.asked_question import asked_question
from dtpoly.explore.run.emission import Emission
from dtpoly.explore.run.exploration import Ended
from dtpoly.explore.run.session import NoModel, Wanted, emit_only, session
from dtpoly.explore.run.stopping import NoWorkers
from dtpoly.explore.space.space_file import read_space
from dtpoly.explore.space.space_schedules import Schedules, schedules
from dtpoly.explore.store.database import StoreError
from dtpoly.explore.store.measured_question import Question, UserQuestion
from dtpoly.explore.store.results import Outcome
from dtpoly.explore.strategies.choice import STRATEGIES, NoStrategy
from dtpoly.explore.workers.process import NotOpened
from dtpoly.explore.workers.workers import Opened, RunPlace
from dtpoly.frozen import dataclass
from dtpoly.missing_package import require
from dtpoly.render.printable import printable

VERSION = 1  # of the JSON document
INTERRUPTED = 130
MEASURED_BY = (
    "torch and triton run what is measured, and compile what --prune looks at; --simulate and "
    "--emit --no-prune need neither"
)


class Fault(click.ParamType[tuple[str, str]]):
    """A fault that a test injects, written `hang=PATTERN`."""

    name = "fault"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the pattern and the fault."""
        kind, equals, pattern = str(value).partition("=")
        if kind not in FAULTS or not equals:
            self.fail(f"'{value}' is not of the form FAULT=PATTERN; {', '.join(FAULTS)}", param)
        return pattern, kind


@dataclass(frozen=True, slots=True)
class ExploreCall:
    """The arguments and options of one call of the command, by the names that click gives them."""

    file: str
    sizes: tuple[str, ...]
    strategy: str
    budget: tuple[int | None, float | None] | None
    output: Path | None
    dtype: str
    seed: int
    device: str
    simulate: bool
    faults: tuple[tuple[str, str], ...]
    pause: float
    notes: str
    workers: int | None
    preparing: int | None
    address: str | None
    baselines: str | None
    slow: float
    each: float
    limit: float
    model: str | None
    ships: Path | None
    emits: bool
    prunes: bool | None
    proves: bool | None
    again: bool
    plugins: tuple[str, ...]
    as_json: bool


@click.command(
    short_help="Measure schedules of a space, and keep the results.",
    epilog="""\b
Examples:
  dtpoly explore softmax.dts --size x=4096,y=4096 --budget 10min
  dtpoly explore softmax.dts --size x=64,y=9999 --strategy evolution
  dtpoly explore softmax.dts --size x=64,y=512 --simulate
  dtpoly explore sum.dts --size x=64,k=512 --plugin skew.py
  dtpoly report softmax.sqlite -o softmax.html""",
)
@file_name
@click.option("--size", "sizes", multiple=True, metavar="x=..,y=..", help="Sizes of labels.")
@click.option(
    "--strategy",
    default="random",
    show_default=True,
    metavar="WORD|FILE.py",
    help=f"How points are chosen: {', '.join(STRATEGIES)}, or by your own file.",
)
@click.option(
    "--budget",
    type=BudgetType(),
    default=None,
    metavar="200|60s",
    help="How many candidates to measure, with those of earlier runs; or for how long."
    "  [default: all points]",
)
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    help="The file of results.  [default: FILE.sqlite]",
)
@click.option(
    "--dtype",
    type=click.Choice([str(dtype) for dtype in FLOATS]),
    default="f32",
    show_default=True,
    help="The dtype of inputs that declare none.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="The same seed makes the same random choices.",
)
@click.option(
    "--device",
    type=click.Choice(["cuda", "cpu"]),
    default="cuda",
    show_default=True,
    help="Where kernels run; cpu is Triton's interpreter.",
)
@click.option(
    "--simulate", is_flag=True, help="Invent times instead of measuring; this needs no GPU."
)
@click.option("--fault", "faults", type=Fault(), multiple=True, hidden=True)
@click.option("--pause", type=float, default=0.0, hidden=True)
@click.option("--notes", default="", hidden=True)
@click.option(
    "--workers",
    type=click.IntRange(1, 1024),
    help="Processes that measure.  [default: some for each GPU]",
)
@click.option("--preparing", type=click.IntRange(1, 1024), help="Processes that compile and prove.")
@click.option(
    "--ray", "address", metavar="ADDRESS", help="Measure on a Ray cluster, or on 'local'."
)
@click.option(
    "--baseline",
    "baselines",
    type=click.Path(exists=True, dir_okay=False),
    help="A Python file with functions of the inputs; they are measured for comparison.",
)
@click.option(
    "--slow",
    type=click.FloatRange(1.0),
    default=3.0,
    show_default=True,
    help="Stop a candidate early if it takes this many times as long as the best; inf: never.",
)
@click.option(
    "--each",
    type=click.FloatRange(0.0, min_open=True),
    default=100.0,
    show_default=True,
    metavar="MILLISECONDS",
    help="Time of the device for each candidate.",
)
@click.option(
    "--limit",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="End a candidate that takes longer than this, and ten times as long as most.",
)
@click.option(
    "--model",
    type=click.Choice([*devices()]),
    help="The device for which costs are estimated.  [default: the measured one, if it is known]",
)
@click.option(
    "--ship",
    "ships",
    type=click.Path(path_type=Path),
    metavar="FILE.dts",
    help="At the end, write the fastest into a file of tuned schedules; see dtpoly ship.",
)
@click.option(
    "--emit", "emits", is_flag=True, help="Only write the texts of the kernels; this needs no GPU."
)
@click.option(
    "--prune/--no-prune",
    "prunes",
    default=None,
    help="Compile first, and drop kernels that do not fit or that spill."
    "  [default: if the device is known]",
)
@click.option(
    "--verify/--no-verify",
    "proves",
    cls=EachTimeOption,
    default=None,
    help="Count only the times of proved kernels.  [default: yes, unless simulated]",
)
@click.option(
    "--again",
    is_flag=True,
    help="Try candidates again that hung, crashed, failed or were not proved.",
)
@plugin_files
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(**given: Any) -> int:
    """Measure schedules of a space, each proved and checked before its time counts.

    Points that differ only in numbers may share a verdict; a sample of them is decided again
    without sharing. Kernels that are too large for the device, as the compiler finds, are dropped
    before they are measured.

    Each result is written to a file at once. If the run is stopped, for any reason, the same
    command continues it, and no point is measured twice.
    """
    asked = ExploreCall(**given)
    if asked.plugins and find_spec("islpy") is not None:
        load("dtpoly.plugins").with_plugins(asked.plugins)  # A mistake in one ends the run here.
    wanted = _wanted(asked)
    _check_packages(asked, wanted)
    try:
        # Whatever a strategy or Ray prints does not belong to the answer.
        with (
            contextlib.redirect_stdout(sys.stderr),
            load("dtpoly.cli.exploring").following(quiet=asked.as_json) as tell,
        ):
            if asked.emits:
                return _emit(wanted, tell)
            finished = session(wanted, tell, _warn)
    except (StoreError, NoWorkers, NotOpened, NoStrategy, NoModel, MissingExtra) as error:
        tell_error(str(error))
        return 1
    question, ended, path = finished.question, finished.ended, wanted.path
    told = load("dtpoly.cli.exploring").told(question, ended, path)
    as_document = json.dumps(_document(question, ended, path), indent=2) + "\n"
    write(as_document if asked.as_json else told)
    if ended.snapshot.outcomes.get(Outcome.BUG):
        return BUG
    if ended.is_interrupted:
        return INTERRUPTED
    if asked.ships is not None:
        shipping = load("dtpoly.cli.shipped_file")
        done: int = shipping.ship(path, asked.ships, shipping.algorithm_of(asked.file))
        return done
    return 0 if ended.snapshot.best is not None else 1


def _check_packages(asked: ExploreCall, wanted: Wanted) -> None:
    """Raise DtpolyError if something is to be measured or compiled here, but cannot be."""
    is_measured_here = not asked.simulate and not asked.emits and not asked.address
    if is_measured_here or (wanted.prunes and wanted.model):
        require(why=MEASURED_BY)


def _wanted(asked: ExploreCall) -> Wanted:
    """Return the session that the options describe."""
    space = schedules(read_space(asked.file))
    question = _asked(asked, space)
    kind = "simulated" if asked.simulate else asked.device
    settings = {"faults": dict(asked.faults), "pause": asked.pause, "folder": asked.notes}
    most, seconds = asked.budget or (None, None)
    # Nothing can be compiled for a device that is not known.
    is_compiled = (asked.emits or kind == "cuda") if asked.prunes is None else asked.prunes
    return Wanted(
        space=space,
        place=RunPlace(kind, question, asked.baselines or "", asked.each, settings),
        path=asked.output or Path(f"{Path(asked.file).stem}.sqlite"),
        strategy=asked.strategy,
        seed=asked.seed,
        most=most,
        seconds=seconds,
        slow=asked.slow if isfinite(asked.slow) else None,
        limit=asked.limit,
        workers=asked.workers,
        preparing=asked.preparing,
        address=asked.address,
        model=asked.model or "",
        prunes=is_compiled,
        proves=not asked.simulate if asked.proves is None else asked.proves,
        again=asked.again,
        command=" ".join(["dtpoly", *sys.argv[1:]]),
        plugins=asked.plugins,
    )


def _emit(wanted: Wanted, tell: Callable[[Emission], None]) -> int:
    """Emit the texts without measuring them."""
    done = emit_only(wanted, tell)
    told = f"{load('dtpoly.cli.exploring').emission_line(done)}: {wanted.path}"
    print(printable(told), file=sys.stderr)
    if done.is_interrupted:
        return INTERRUPTED
    return BUG if done.refuted else 0


def _asked(asked: ExploreCall, space: Schedules) -> UserQuestion:
    """Return the question that each schedule is asked.

    Raises click.exceptions.Exit if there is none.
    """
    program = space.space.program
    if not program.funcs:
        tell_error(f"'{asked.file}' has no Func, so there is nothing to measure")
        raise click.exceptions.Exit(1)
    sizes = all_sizes(program, asked.sizes)
    name = Path(asked.file).name
    return asked_question(space, name, sizes, asked.dtype, asked.seed, asked.plugins)


def _warn(said: Opened) -> None:
    """Warn about baselines that cannot be compared with."""
    for name, why in said.failed.items():
        print(printable(f"warning: baseline '{name}' is left out: {why}"), file=sys.stderr)


def _document(question: Question, ended: Ended, path: Path) -> dict[str, object]:
    now, asked = ended.snapshot, question.asked
    kinds = [
        {"outcome": outcome, "kind": kind, "count": count}
        for (outcome, kind), count in sorted(now.kinds.items())
    ]
    return {
        "version": VERSION,
        "file": asked.name,
        "results": str(path),
        "sizes": dict(asked.sizes),
        "dtype": asked.dtype,
        "device": question.facts.device,
        "ended": _how(ended),
        "points": now.points,
        "known": now.known,
        "outcomes": dict(now.outcomes),
        "kinds": kinds,
        "best": None
        if now.best is None
        else {"milliseconds": now.best, "schedule": now.best_point},
        "baselines": dict(now.baselines),
    }


def _how(ended: Ended) -> str:
    if ended.is_interrupted:
        return "interrupted"
    return "whole" if ended.is_whole else "budget"
