"""Measures how long it takes to prove or refuse schedules, and how that time is spent."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

from benchmarks.timing import Result, isl_calls, process_times, timed
from dtpoly.algorithm.program import Program
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve as named
from dtpoly.poly.dependences import dependences
from dtpoly.poly.lift import lift
from dtpoly.schedule import legality
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.explained_directives import explain
from dtpoly.schedule.legality import found, judge
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths
from dtpoly.source import Source

ROOT = Path(__file__).parents[1]
LISTING = ROOT / "tests" / "data" / "thesis" / "listing_4_04_attention.dt"

ATTENTION = "listing 4.4, four fusions: everything"
CHAIN = "a chain of 30 fused Funcs"
EXPLAIN = "explaining that chain"
TENSORIZE = "one more tensorize"
BLAME = "a refusal and whose fault it is"
BLAME_OF_TWO = "a refusal that takes two of 24 directives"
PROCESS = "the check of listing 4.4 as a process"

Counts = Mapping[str, int]


def results() -> Iterator[Result]:
    """Everything, with the limits that the tests hold it to."""
    yield attention()
    yield from stages()
    yield chain()
    yield explanation()
    yield one_more_tensorize()
    yield blame()
    yield blame_of_two()
    yield process()


def attention() -> Result:
    """Lifting, dependences, directives and checks of attention."""
    return _judged(ATTENTION, program(LISTING.read_text()), 20, limit=0.15)


def stages() -> Iterator[Result]:
    """Yield the same, one by one."""
    one = program(LISTING.read_text())
    state = _resolved(one)
    pairs = dependences(state.model)
    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ("lifting", lambda: lift(one)),
        ("lifting and all directives", lambda: _resolved(one)),
        ("dependences", lambda: dependences(state.model)),
        ("the checks", lambda: list(found(state, pairs))),
    )
    for what, run in steps:
        counts = {"isl calls": isl_calls(run)}
        yield Result(f"listing 4.4: {what}", timed(run, 20), counts=counts)


def chain() -> Result:
    """Thirty elementwise Funcs, each fused into the next."""
    return _judged(CHAIN, _chain(), 5, limit=1)


def explanation() -> Result:
    """Time `explain` for the chain, which compares each directive with its absence."""
    one = _chain()
    verdict = judge(one, DIRECTIVES)
    counts = {"isl calls": isl_calls(lambda: explain(one, verdict, DIRECTIVES))}
    return Result(EXPLAIN, timed(lambda: explain(one, verdict, DIRECTIVES), 3), 1, counts)


def _chain() -> Program:
    lines = ["In A; Var x, y; Func f0; f0[x, y] = exp(A[x, y]);"]
    for at in range(1, 30):
        lines.append(f"Func f{at}; f{at}[x, y] = exp(f{at - 1}[x, y]);")
        lines.append(f"f{at - 1}.fuse_at(f{at}, x);")
    lines.append("f29.block(x:16); f29.tensorize(x:0, y:64); f29.compile();")
    return program("\n".join(lines))


def one_more_tensorize() -> Result:
    """Time what one more directive costs: runs with it and without it take turns."""
    many = program(LISTING.read_text())
    few = program(LISTING.read_text().replace("attention.tensorize(k:16);", ""))
    assert len(many.directives) == len(few.directives) + 1
    times: list[float] = []
    for _ in range(20):
        (short,), (long,) = (
            timed(lambda: judge(few, DIRECTIVES), 1),
            timed(lambda: judge(many, DIRECTIVES), 1),
        )
        times.append(max(long - short, 0))
    before, after = (
        isl_calls(lambda: judge(few, DIRECTIVES)),
        isl_calls(lambda: judge(many, DIRECTIVES)),
    )
    times.sort()
    # A difference has no best; the middle half says what it is.
    middle = tuple(times[5:15])
    return Result(TENSORIZE, middle, 0.01, {"isl calls more": after - before})


def blame() -> Result:
    """Return one fusion of attention at the wrong loop."""
    text = LISTING.read_text()
    wrong = text.replace("e.fuse_at(attention, m)", "e.fuse_at(attention, l)")
    assert wrong != text
    return _blamed(BLAME, program(wrong), 5)


def blame_of_two() -> Result:
    """Return a chain at an inner loop, and a sum that is needed before it."""
    lines = ["In A; Var x, y; Func f0; f0[x, y] = exp(A[x, y]);"]
    for at in range(1, 20):
        lines.append(f"Func f{at}; f{at}[x, y] = exp(f{at - 1}[x, y]);")
    lines.append("Func s; RVar k; s[x] = rsum(f19[x, k], k);")
    lines.append("Func f20; f20[x, y] = f19[x, y] / reshape(s[x], x, 1); f20.compile();")
    lines.extend(f"f{at}.fuse_at(f{at + 1}, y);" for at in range(20))
    lines.append("s.fuse_at(f20, x); f20.block(x:16); f20.tensorize(x:0, y:64);")
    return _blamed(BLAME_OF_TWO, program("\n".join(lines)), 5)


def process() -> Result:
    """From the shell's point of view; the interpreter's own start is in it."""
    command = [sys.executable, "-m", "dtpoly", "check", str(LISTING)]
    modules = _modules()
    counts = {"modules": len(modules), "of torch": sum(n.startswith("torch") for n in modules)}
    return Result(PROCESS, process_times(command, ROOT, 7), 0.4, counts)


def program(text: str) -> Program:
    """The Program of a text in which nothing is wrong but perhaps its schedule's legality."""
    made = named(parse(Source("benchmark.dt", text)).file).program
    assert made is not None
    return made


def _resolved(one: Program) -> State:
    return resolve(one, bind(one.directives, DIRECTIVES).primitives)


def _judged(what: str, one: Program, runs: int, limit: float) -> Result:
    assert judge(one, DIRECTIVES).is_legal
    return Result(what, timed(lambda: judge(one, DIRECTIVES), runs), limit, _counts(one))


def _blamed(what: str, one: Program, runs: int) -> Result:
    assert judge(one, DIRECTIVES).blame is not None
    tried = [0]

    def counting(program: Program, primitives: Iterable[Primitive]) -> State:
        tried[0] += 1
        return resolve(program, primitives)

    with patch.object(legality, "resolve", counting):
        judge(one, DIRECTIVES)
    counts = {**_counts(one), "sets of directives tried": tried[0]}
    return Result(what, timed(lambda: judge(one, DIRECTIVES), runs), 1, counts)


def _counts(one: Program) -> Counts:
    """Count what there is to judge, and how much of isl that takes."""
    state = _resolved(one)
    return {
        "directives": len(one.directives),
        "statements": len(state.model.statements),
        "copies": sum(len(fusion.copies) for fusion in state.fusions),
        "leaves": len(paths(state.kernels)),
        "dependences": len(dependences(state.model)),
        "isl calls": isl_calls(lambda: judge(one, DIRECTIVES)),
    }


def _modules() -> list[str]:
    """Return the modules that such a process has loaded when it ends."""
    code = (
        "import sys; from dtpoly.cli.main import entry; entry(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(LISTING)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.split()
