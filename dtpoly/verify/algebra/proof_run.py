"""The state of one proof while it runs, and the questions that the verifier asks of sets.

A `ProofRun` knows whom to ask whether a set is empty (isl, most often). It keeps each answer that
the proof rests on, the lemmas that were assumed and the licences that were taken: a certificate is
written from these. It is handed to each function that asks, or stands in the data that this
function is given, so two proofs can take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from enum import StrEnum
from typing import Any, TypeVar

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.regions import ID, Region, Twins, same, set_of, without_ids
from dtpoly.verify.algebra.whole import Truth, Whole

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Obligation:
    """A set that must be empty, or one that must have a point (see `ProofRun.inhabited`).

    `part` is the part of the proof that asks for it, `line` the line of the kernel that it is
    about, and `what` says in words what it shows.
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
    TURNED = "a program id is divided by the number of rows of its group"
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
    OWN_LANE = "a lane is loaded before the same lane is stored, without a barrier"
    PROMISED = "what the file says that callers promise"
    RANGE = "the elements of an input are below what the algorithm says that callers promise"
    LEFT_OUT = "rounds that a loop with bounds from data leaves out would change nothing"
    FRAMES = "a loop keeps a value in the frame of a running maximum or minimum"
    NO_NAN = "a sum of products that is no nan has only finite values beside its zeros"
    SKIPPED = "a list stays as it is where no element of a tile is at least its least one"
    COMPILED = "Triton's compiler reads 'and' and 'or' of tiles as '&' and '|'"
    FACTORS = "a product is not above that of the largest magnitudes of its factors"
    CASES = "a number is at most a limit in one case, and above it in the other"
    MEANS = "a loop moves a sum of powers of deviations to the mean of more elements"


@dataclass(frozen=True, slots=True)
class Assumption:
    """An instance of a lemma, or a function known by its text: sets do not decide these."""

    lemma: Lemma
    instance: tuple[Part, ...]


@dataclass
class ProofRun:
    """The answers that one proof rests on; `engine` says of a set whether it is empty.

    Each answer that a set is empty is kept. That a set has a point is kept only if the proof rests
    on that (see `has_a_point`).
    """

    engine: Callable[[Region], bool]
    # Whether nothing counts but that all is proved: then no example is looked for where it is not.
    decides: bool = False
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
    comparisons: dict[tuple[object, object, Region], Any] = field(
        default_factory=dict[tuple[object, object, Region], Any]
    )
    # The terms of running maxima and minima by which loops correct other values (see frames).
    frames: set[Any] = field(default_factory=set[Any])
    # Those of them that are the largest exponent of a sum.
    reached: set[Any] = field(default_factory=set[Any])
    # Tensors of which two loads of a kernel were taken to be of the same values, with the line that
    # needs it (see loaded_twice).
    loaded_twice: dict[str, int] = field(default_factory=dict[str, int])
    # Loops, each with two variables that have to hold a list in order when an iteration begins.
    in_order: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    # How many new names this proof has made. Each proof counts from 0, so that the same text always
    # gives the same proof.
    names: int = 0

    def about(self, line: int, what: str) -> None:
        """Set the line and the words that the next questions are kept with."""
        self.line, self.what = line, what

    def is_empty(self, region: Region) -> bool:
        """Return whether the set has no points. If so, the answer is kept as an obligation."""
        found = self.engine(region)
        if found:
            self.obligations.append(Obligation(self.part, self.line, self.what, region))
        return found

    def has_a_point(self, region: Region) -> bool:
        """Return whether the set has a point. If so, that is kept, since the proof rests on it."""
        found = not self.engine(region)
        if found:
            self.inhabited.append(Obligation(self.part, self.line, self.what, region))
        return found

    def is_disjoint(self, one: Region, other: Region) -> bool:
        """Return whether two sets have no point in common."""
        return self.is_empty(one.intersect(other))

    def is_subset(self, one: Region, other: Region) -> bool:
        """Return whether the other set has every point of the first one."""
        return self.is_empty(one.subtract(other))

    def holds(self, condition: Truth, where: Region) -> bool:
        """Return whether a formula holds everywhere on a set."""
        return self.is_subset(where, set_of(condition))

    def equal(self, left: Whole, right: Whole, where: Region) -> bool:
        """Return whether two numbers are the same everywhere on a set."""
        return left == right or self.is_subset(where, same(left, right))

    def is_single(self, of: Region, bound: Iterable[str]) -> bool:
        """Return whether each choice of the other names leaves at most one for the bound names.

        Program ids are left out, because the coordinates say which program it is.
        """
        new = {one: self.fresh(one) for one in bound if not one.startswith(ID)}
        if not new:
            return True
        of = without_ids(of)
        return self.is_empty(Twins(of.names | {*new, *new.values()}, of, tuple(new.items())))

    def fresh(self, like: str) -> str:
        """Return a name that nothing in this proof has yet.

        The part before the dot is taken from `like`, and says what the name is for.
        """
        self.names += 1
        return f"{like.split('.')[0]}.{self.names}"

    def compared(self, one: object, other: object, where: Region, compare: Callable[[], T]) -> T:
        """Return the result of comparing two terms on a set; each pair is compared only once."""
        key = (one, other, where)
        if key not in self.comparisons:
            self.comparisons[key] = compare()
        found: T = self.comparisons[key]
        return found

    def assume(self, lemma: Lemma, *instance: Part) -> None:
        """Note that the proof rests on an instance of a lemma."""
        self.assumptions[Assumption(lemma, instance)] = None

    def take(self, what: str) -> None:
        """Note that the proof takes a licence of the language."""
        self.licences[what] = None
