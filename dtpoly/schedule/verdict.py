"""The verdict on a schedule: legal, or violations, each with one concrete example, in words."""

from collections.abc import Mapping
from html import escape
from math import prod

from dtpoly.frozen import dataclass
from dtpoly.poly.dependences import Dependence
from dtpoly.poly.model import Role
from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State

MOST_SHOWN = 12  # violations and notes in the text of a verdict
# In a notebook: the colours of the page, and sentences that wrap instead of leaving it.
_PLAIN = "font-family:monospace;white-space:pre-wrap;background:transparent;color:inherit"


@dataclass(frozen=True, slots=True)
class InstancePlace:
    """The place of an instance, by the source's labels: its kernel, program, loops and lanes.

    A program is given by the number of its block of each label.
    """

    kernel: str
    program: Mapping[str, int]
    loops: Mapping[str, int]
    lanes: Mapping[str, int]

    def __str__(self) -> str:
        """`program (m 1, n 0), loop k = 32, lane k 3`."""
        parts = [f"kernel {self.kernel}"]
        if self.program:
            parts.append(f"program ({', '.join(f'{k} {v}' for k, v in self.program.items())})")
        parts.extend(f"loop {label} = {value}" for label, value in self.loops.items())
        parts.extend(f"lane {label} {value}" for label, value in self.lanes.items())
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a statement: of which Func, in what role, which element or step."""

    statement: str
    func: str
    role: Role
    indices: Mapping[str, int]  # label -> value
    place: InstancePlace | None  # None if it is in no kernel

    @property
    def element(self) -> str:
        """`mm[0, 1]`, for an instance that has an index for each label of its Func."""
        return f"{self.func}[{', '.join(map(str, self.indices.values()))}]"

    def __str__(self) -> str:
        """`mm.k.update[m 0, l 1, k 2]`, or `mm[0, 1]` for a value."""
        if self.role in (Role.VALUE, Role.STORE):
            return self.element if self.role is Role.VALUE else f"the store of {self.element}"
        indices = ", ".join(f"{label} {value}" for label, value in self.indices.items())
        return f"the {self.role} of {self.func}[{indices}]"


@dataclass(frozen=True, slots=True)
class Witness:
    """Two concrete instances at concrete sizes, one for each label."""

    sizes: Mapping[str, int]
    source: Instance
    target: Instance


@dataclass(frozen=True, slots=True)
class Violation:
    """One dependence that a schedule breaks, or what it computes too often or not at all.

    If a statement is not computed exactly once, the dependence is one of the statement on itself.
    """

    kind: ViolationKind
    dependence: Dependence
    source: str  # the Func that is written
    source_role: Role
    target: str
    target_role: Role
    witness: Witness
    words: str

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        """Return one line: the sets of its dependence would fill a screen."""
        return f"<Violation: {self.words}>"


@dataclass(frozen=True, slots=True)
class RepeatedWork:
    """A cost of a legal schedule: something that several programs compute, each for itself.

    That is a Func, or reductions of the kernel's own Func that lack a blocked label.
    """

    func: str
    kernel: str
    blocks: Mapping[str, int]  # labels whose blocks differ, and how long those are
    is_reduction: bool = False

    def times(self, sizes: Mapping[str, int]) -> int:
        """Return how often an element is computed at some sizes, at most."""
        return prod(-(-sizes[label] // size) for label, size in self.blocks.items())

    def __str__(self) -> str:
        blocks = " and of ".join(f"'{label}'" for label in self.blocks)
        what = f"a reduction of '{self.func}'" if self.is_reduction else f"'{self.func}'"
        where = "" if self.is_reduction else f" of '{self.kernel}'"
        return f"{what} is computed again for each block of {blocks}{where}"

    def __repr__(self) -> str:
        return f"<Note: {self}>"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Legal for all sizes if there are no violations; then `scheduled` is what to generate.

    `blame` is refused by itself, or together with its accomplices but with none of them missing.
    """

    scheduled: State
    violations: tuple[Violation, ...]
    notes: tuple[RepeatedWork, ...]
    blame: Primitive | None = None
    accomplices: tuple[Primitive, ...] = ()

    @property
    def is_legal(self) -> bool:
        """True if no dependence is broken at any sizes."""
        return not self.violations

    def __str__(self) -> str:
        """`legal for all sizes`, or the violations; then the notes, each on a line."""
        first = "legal for all sizes" if self.is_legal else "refused"
        said = (*map(str, self.violations), *(f"note: {note}" for note in self.notes))
        left = len(said) - MOST_SHOWN
        more = (f"and {left} more",) if left > 0 else ()
        return "\n".join((first, *said[:MOST_SHOWN], *more))

    def __repr__(self) -> str:
        """Return one line: the fields of the schedule that was judged would fill a screen."""
        first = "legal for all sizes" if self.is_legal else "refused"
        counts: list[str] = []
        for many, word in ((len(self.violations), "violation"), (len(self.notes), "note")):
            if many:
                counts.append(f"{many} {word}{'' if many == 1 else 's'}")
        return f"<Verdict: {', '.join((first, *counts))}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the same as `print`, line by line."""
        return f'<pre style="{_PLAIN}">{escape(str(self))}</pre>'
