"""Runs the mutants of a file and verifies them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from time import process_time

from dtpoly.algorithm.program import Program
from dtpoly.cli.ringed import tried
from dtpoly.verify.proof.report import Layer, LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.codegen import listings
from tests.codegen.cases import SlowError, limited
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import forget
from tests.verify.mutation.execution import (
    RECIPES,
    Call,
    Outcome,
    Ran,
    Shown,
    probes,
    right_calls,
    runs,
    shown,
)
from tests.verify.mutation.operators import NAMED, Mutant, mutants
from tests.verify.mutation.streaming import Row, as_rows

# Every mutant is tried with this many calls; mutants that are proved are tried with more.
CALLS, MORE_CALLS = 12, 40
SECONDS = 10.0
RING_S = 6


@dataclass(frozen=True, slots=True)
class Subject:
    """A file in which mistakes are made."""

    program: Program
    funcs: tuple[str, ...]
    text: str
    recipes: tuple[tuple[Recipe, Layout], ...] = RECIPES


@dataclass(frozen=True, slots=True)
class Job:
    """Mutants of one file by one operator."""

    file: str
    operator: str
    each: int

    def __str__(self) -> str:
        return f"{self.file}: {self.operator}"


@dataclass(frozen=True, slots=True)
class Executed:
    """The result of running a mutant."""

    number: int
    line: int
    what: str
    outcome: str
    why: str
    probe: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Refuted:
    """A layer that is refuted, and what running its witness shows."""

    function: str
    layer: str
    line: int
    why: str
    sizes: Mapping[str, int]
    shown: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a mutant."""

    number: int
    verdict: str
    refuted: tuple[Refuted, ...]
    unknown: tuple[str, ...]  # why, by layer
    # If a layer is unknown and none is refuted: the result of running it in the ring.
    tried: str
    tried_at: Mapping[str, int]
    # If it is proved: the outcome of running it with more calls.
    more: str
    seconds: float


@cache
def subject(file: str) -> Subject:
    """Return the generated file of a listing."""
    code = listings.code(file)
    return Subject(listings.program(file), code.stages.outputs, code.text)


@cache
def calls(file: str, count: int) -> tuple[Call, ...]:
    """Return calls that show whether a mutant of a file is right."""
    one = subject(file)
    found = right_calls(one.program, one.funcs, one.text, probes(one.program, one.recipes), count)
    assert found, f"nothing shows that {file} is right"
    return found


def chosen(job: Job) -> list[Mutant]:
    """Return the mutants of a job."""
    one = subject(job.file)
    return list(mutants(one.text, frozenset(one.funcs), NAMED[job.operator], job.each))


def execute(job: Job) -> list[Executed]:
    """Run the mutants."""
    one = subject(job.file)
    given = calls(job.file, CALLS)
    found: list[Executed] = []
    for mutant in chosen(job):
        start = process_time()
        ran = runs(one.program, one.funcs, mutant.text, given)
        seconds = round(process_time() - start, 3)
        found.append(
            Executed(
                mutant.number, mutant.line, mutant.what, ran.outcome, ran.why, ran.probe, seconds
            )
        )
    return found


def judge(job: Job, outcomes: Sequence[str]) -> list[Judged]:
    """Verify the mutants, and run the witnesses of refuted layers."""
    return [
        judged(subject(job.file), mutant, outcome, partial(_more, job.file))
        for mutant, outcome in zip(chosen(job), outcomes, strict=True)
    ]


def _more(file: str) -> tuple[Call, ...]:
    return calls(file, MORE_CALLS)[CALLS:]


def judged(
    one: Subject, mutant: Mutant, outcome: str, others: Callable[[], Sequence[Call]]
) -> Judged:
    """Verify one mutant, and check the verdict.

    Mutants that are proved are run with other calls.
    """
    start = process_time()
    report = verify(one.program, mutant.text, SECONDS)
    seconds = round(process_time() - start, 3)
    refuted: list[Refuted] = []
    unknown: list[str] = []
    known: dict[str, str] = {}
    for function in report.functions:
        for layer in function.layers:
            if layer.verdict is LayerVerdict.UNKNOWN:
                unknown.append(f"{layer.name}: {layer.why} (line {layer.line})")
            if layer.verdict is LayerVerdict.REFUTED:
                sizes = dict(layer.witness.sizes) if layer.witness else {}
                key = str(sizes)
                if key not in known:
                    known[key] = shown(one.program, one.funcs, mutant.text, sizes, one.recipes)
                refuted.append(
                    Refuted(
                        function.name, layer.name, layer.line, layer.why, sizes, str(known[key])
                    )
                )
    ring: Layer | None = None
    if report.verdict is LayerVerdict.UNKNOWN and outcome != Outcome.RIGHT:
        ring = in_ring(one, mutant.text, report)
    more = ""
    if report.verdict is LayerVerdict.PROVED and outcome == Outcome.RIGHT:
        ran: Ran = runs(one.program, one.funcs, mutant.text, others())
        more = (
            ran.outcome if ran.outcome is Outcome.RIGHT else f"{ran.outcome}: {ran.why} {ran.probe}"
        )
    return Judged(
        *(mutant.number, report.verdict, tuple(refuted), tuple(dict.fromkeys(unknown))),
        *(ring.verdict if ring else "", dict(ring.witness.sizes) if ring and ring.witness else {}),
        *(more, seconds),
    )


def in_ring(one: Subject, text: str, report: Report) -> Layer:
    """Return the result of running a text in the ring: refuted if one of its functions is."""
    found = Layer("ring", LayerVerdict.UNKNOWN)
    for function in report.functions:
        if function.name not in one.funcs:
            continue
        try:
            with limited(RING_S):
                found = tried(one.program, text, function, RING_S)
        except SlowError:
            found = Layer("ring", LayerVerdict.UNKNOWN)
        if found.verdict is LayerVerdict.REFUTED:
            break
    return found


def is_confirmed(refuted: Sequence[Refuted]) -> bool:
    """True if the witness shows a wrong result."""
    return any(one.shown in (Shown.CONFIRMED, Shown.RAISES) for one in refuted)


@dataclass(frozen=True, slots=True)
class RanJob:
    """A job, and what running its mutants showed."""

    job: Job
    outcomes: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.job)


def executed(job: Job) -> list[Row]:
    """Run the mutants of a job, and return rows to keep."""
    rows = as_rows(execute(job))
    forget()
    return rows


def verified(ran: RanJob) -> list[Row]:
    """Verify the mutants and run their witnesses, and return rows to keep."""
    rows = as_rows(judge(ran.job, ran.outcomes))
    forget()
    return rows
