"""Makes, from a seed, a text that is right, with its algorithm and the way to run it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import islpy as isl

from dtpoly import __version__
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.codegen.header import header, with_verdict
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source as DtSource
from dtpoly.verify.algebra.proof_limits import limited as within_time
from tests.attack.mutants.source import Source
from tests.attack.mutants.typed import typed_text
from tests.codegen.cases import RandomCase, SlowError, limited, random_case, verdict
from tests.codegen.listings import FILES
from tests.verify import handwritten

# This many mutants in a row have the same few random programs, so that these are rarely made.
ROW, FEW = 1000, 6
# To make a kernel of a random schedule may take minutes; such schedules are left out.
LIMIT_S = 5
PROVED = "Verdict: PROVED stores, loads, bounds, lanes, order, value, overflow."
# These texts take a second or more to verify, so they get fewer mutants.
LARGE = ("conv2d", "matmul", "attention", "mmsigmoid", "two_mm")


@dataclass(frozen=True, eq=False)
class Subject:
    """A text that is right."""

    name: str
    program: Program
    text: str
    funcs: tuple[str, ...]
    case: RandomCase | None = None
    is_handwritten: bool = False

    @property
    def source(self) -> Source:
        """Return the text with its tree."""
        return source_of(self.text)


@cache
def source_of(text: str) -> Source:
    """Return the tree of a text, which is parsed only once."""
    return Source(text)


def subject(seed: int) -> Subject:
    """Return the text from which a mutant is made.

    It is an example, a listing, a hand-written kernel or a random program.
    """
    random = Random(f"subject {seed}")
    share = random.random()
    if share < 0.42:
        return emitted(random.choice(_names()))
    if share < 0.66:
        return by_hand(random.choice(handwritten.NAMES))
    first = (seed // ROW * FEW + random.randrange(FEW)) * 100
    return typed(first) if share < 0.86 else random_subject(first)


@cache
def _names() -> tuple[str, ...]:
    """Return the names, large texts once and others several times."""
    return tuple(
        name for name in FILES for _ in range(1 if any(one in name for one in LARGE) else 4)
    )


@cache
def emitted(name: str) -> Subject:
    """Return what is emitted for an example or a listing."""
    path = FILES[name]
    return _of(name, load(DtSource(path.name, path.read_text())), path)


def _of(name: str, program: Program, path: Path) -> Subject:
    code = code_of(judge(program, DIRECTIVES).scheduled, header(__version__, path.name), None)
    return Subject(name, program, with_verdict(code.text, (PROVED,)), code.stages.outputs)


@cache
def by_hand(name: str) -> Subject:
    """Return a hand-written kernel."""
    program = handwritten.algorithm(name)
    return Subject(f"{name} by hand", program, handwritten.text(name), (), is_handwritten=True)


@cache
def typed(first: int) -> Subject:
    """Return the first small program with types, from this number on, that is allowed."""
    for number in range(first, first + 1000):
        try:
            program = load(DtSource("typed.dt", typed_text(number)))
            return _of(f"typed {number}", program, Path("typed.dt"))
        except DtpolyError:
            continue
    raise AssertionError(first)


@cache
def random_subject(first: int) -> Subject:
    """Return the first random program with a legal random schedule, from this number on."""
    return next(_random_subjects(first))


def _random_subjects(first: int) -> Iterator[Subject]:
    for number in range(first, first + 1000):
        case = random_case(number)
        try:
            with limited(LIMIT_S), within_time(LIMIT_S):
                judged = verdict(case)
                if not judged.is_legal:
                    continue
                code = code_of(judged.scheduled, header(__version__, "random.dt"), None)
        except (SlowError, isl.Error, DtpolyError):
            continue
        text = with_verdict(code.text, (PROVED,))
        yield Subject(f"random {number}", case.program, text, code.stages.outputs, case)


def with_text(one: Subject, text: str) -> Subject:
    """Return the subject with another text."""
    return replace(one, text=text)
