"""The state of one proof while it runs, and the questions that the verifier asks of sets.

A `Run` knows whom to ask whether a set is empty (isl, most often). It keeps each answer that the
proof rests on, the lemmas that were assumed and the licences that were taken: a certificate is
written from these. The run is kept in a context variable and is not an argument, since questions
come from deep inside of functions that are about sets and terms alone. Each thread has its own run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from dtpoly.frozen import dataclass
from dtpoly.verify.whole import Whole

if TYPE_CHECKING:
    from dtpoly.verify.regions import Region

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Obligation:
    """A set that must be empty.

    It says in which part of the proof that is asked, for which line, and what is shown by it.
    """

    part: str
    line: int
    what: str
    region: Region


Part = str | int | Whole | tuple[Whole, ...]


class Lemma(StrEnum):
    """The statements that are proved by hand (see docs/proofs.md) or taken for granted."""

    MIXED_RADIX = "a program id is taken apart by a product of extents"
    GROUPS = "a program id is taken apart in groups"
    OWN_NUMBER = "each program has a number of its own"
    SHIFT = "lanes are shifted along a line"
    ADDRESS = "an address is a sum of index times stride"
    REACH = "an index inside of its axis, times the stride, is below the reach of the tensor"
    LOOKED_AT = "a number is not above one that the call looked at"
    LARGER = "a product of numbers that are not negative is not above one of larger numbers"
    ROOM = "two sizes of the result are below 2^48 together, if there is a result"
    KNOWN = "a function is known by its text"
    WRAPPED = "a remainder by a size"
    PROGRAMS = "a loop over programs"
    PART = "a part of an address is below the reach that is promised"
    BELOW = "a product is below what is promised"
    PANELS = "what is proved for all sizes is proved for parts of one"
    PROMISED = "what the file says that callers promise"


@dataclass(frozen=True, slots=True)
class Assumption:
    """An instance of a lemma, or a function known by its text: sets do not decide these."""

    lemma: Lemma
    instance: tuple[Part, ...]


@dataclass
class Run:
    """The answers that one proof rests on; `is_empty` is the engine that gives them.

    Each answer that a set is empty is kept. That a set has a point is kept only if the proof rests
    on that (see `ask_for_a_point`).
    """

    is_empty: Callable[[Region], bool]
    part: str = "reading"
    line: int = 0
    what: str = ""
    obligations: list[Obligation] = field(default_factory=list[Obligation])
    # Sets that must have a point, such as the calls that fulfil what a file assumes of them: if
    # there were no such call, everything would be true of all of them.
    inhabited: list[Obligation] = field(default_factory=list[Obligation])
    # The licences of the language that the proof made use of.
    licences: dict[str, None] = field(default_factory=dict[str, None])
    assumptions: dict[Assumption, None] = field(default_factory=dict[Assumption, None])
    # The results of comparing two terms on a set: terms are shared, so the same pair comes up
    # often.
    compared: dict[tuple[object, object, Region], Any] = field(
        default_factory=dict[tuple[object, object, "Region"], Any]
    )
    # How many new names this proof has made. Each proof counts from 0, so that the same text always
    # gives the same proof.
    names: int = 0

    def ask(self, region: Region) -> bool:
        """Whether the set is empty. If it is, the answer is kept as an obligation."""
        found = self.is_empty(region)
        if found:
            self.obligations.append(Obligation(self.part, self.line, self.what, region))
        return found

    def ask_for_a_point(self, region: Region) -> bool:
        """Whether the set has a point. If it has, that is kept, since the proof rests on it."""
        found = not self.is_empty(region)
        if found:
            self.inhabited.append(Obligation(self.part, self.line, self.what, region))
        return found


_runs: ContextVar[Run] = ContextVar("run")


@contextmanager
def running(run: Run) -> Generator[None, None, None]:
    """Make a run the current one: questions that are asked inside go to it."""
    token = _runs.set(run)
    try:
        yield
    finally:
        _runs.reset(token)


def new_number() -> int:
    """Return a number that no name of this proof has yet."""
    run = _runs.get()
    run.names += 1
    return run.names


def is_empty(region: Region) -> bool:
    """Ask the current run whether a set is empty."""
    return _runs.get().ask(region)


def has_a_point(region: Region) -> bool:
    """Ask the current run whether a set has a point, where the proof rests on that."""
    return _runs.get().ask_for_a_point(region)


def compared(one: object, other: object, where: Region, compare: Callable[[], T]) -> T:
    """Return the result of comparing two terms on a set; a proof compares each pair only once."""
    known = _runs.get().compared
    key = (one, other, where)
    if key not in known:
        known[key] = compare()
    found: T = known[key]
    return found


def about(line: int, what: str) -> None:
    """Set the line and the words that the next questions are kept with."""
    run = _runs.get()
    run.line, run.what = line, what


def assume(lemma: Lemma, *instance: Part) -> None:
    """Note that a proof rests on an instance of a lemma."""
    run = _runs.get()
    run.assumptions[Assumption(lemma, instance)] = None


def take(what: str) -> None:
    """Note that a proof takes a licence of the language."""
    _runs.get().licences[what] = None
