"""One proof as it runs: who is asked what is empty, and every answer that the proof rests on.

The run is the context's and not an argument, since questions come from deep inside of functions
that are about sets and terms alone; each thread has its own.
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
    """A set that must be empty: in which part of the proof, for which line, and what that says."""

    part: str
    line: int
    what: str
    region: Region


Part = str | int | Whole | tuple[Whole, ...]


class Lemma(StrEnum):
    """What is proved by hand (see docs/proofs.md), or taken for granted."""

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
    """What is not decided by sets: a lemma, or a function known by its text; and its instance."""

    lemma: Lemma
    instance: tuple[Part, ...]


@dataclass
class Run:
    """Keeps the answers that one proof rests on; `is_empty` gives them.

    That a set is empty is written down; that one has a point only where the proof rests on it.
    """

    is_empty: Callable[[Region], bool]
    part: str = "reading"
    line: int = 0
    what: str = ""
    obligations: list[Obligation] = field(default_factory=list[Obligation])
    # Sets that must have a point, such as the calls that keep what a file assumes of them: of no
    # calls at all everything would be true.
    inhabited: list[Obligation] = field(default_factory=list[Obligation])
    # What of the licences that the language gives was taken.
    licences: dict[str, None] = field(default_factory=dict[str, None])
    assumptions: dict[Assumption, None] = field(default_factory=dict[Assumption, None])
    # What came of comparing two terms on a set: terms are shared, so the same pair comes up often.
    compared: dict[tuple[object, object, Region], Any] = field(
        default_factory=dict[tuple[object, object, "Region"], Any]
    )
    # How many new names there are: counted anew, so that a text gives the same proof again.
    names: int = 0

    def ask(self, region: Region) -> bool:
        """True if the set is empty."""
        found = self.is_empty(region)
        if found:
            self.obligations.append(Obligation(self.part, self.line, self.what, region))
        return found

    def ask_for_a_point(self, region: Region) -> bool:
        """True if the set has a point, and the proof rests on that."""
        found = not self.is_empty(region)
        if found:
            self.inhabited.append(Obligation(self.part, self.line, self.what, region))
        return found


_runs: ContextVar[Run] = ContextVar("run")


@contextmanager
def running(run: Run) -> Generator[None, None, None]:
    """Let what is asked inside be asked of this run."""
    token = _runs.set(run)
    try:
        yield
    finally:
        _runs.reset(token)


def new_number() -> int:
    """What no new name of this proof has yet."""
    run = _runs.get()
    run.names += 1
    return run.names


def is_empty(region: Region) -> bool:
    """Ask the run at hand."""
    return _runs.get().ask(region)


def has_a_point(region: Region) -> bool:
    """Ask the run at hand for what a proof rests on: that a set is not empty."""
    return _runs.get().ask_for_a_point(region)


def compared(one: object, other: object, where: Region, compare: Callable[[], T]) -> T:
    """What comes of comparing two terms on a set, which this proof does once."""
    known = _runs.get().compared
    key = (one, other, where)
    if key not in known:
        known[key] = compare()
    found: T = known[key]
    return found


def about(line: int, what: str) -> None:
    """Say what the next questions are about."""
    run = _runs.get()
    run.line, run.what = line, what


def assume(lemma: Lemma, *instance: Part) -> None:
    """Note that a proof rests on an instance of a lemma."""
    run = _runs.get()
    run.assumptions[Assumption(lemma, instance)] = None


def take(what: str) -> None:
    """Note that a proof takes a licence of the language."""
    _runs.get().licences[what] = None
