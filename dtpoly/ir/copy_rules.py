"""Complains of copies whose results are read too early, or overwritten too early.

The kernel is gone through with what is known of each slot: whether a copy into it was begun, was
committed, has arrived, and is seen by all lanes. A loop is gone through until its rounds lead to
nothing new, so the answer holds for each number of rounds. Conditions may hold or not: a copy under
a condition is taken for one that may be missing. So the copy of what is behind the end should have
a mask, which says that it copies nothing.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import field, replace
from enum import Enum
from math import lcm

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.copy_steps import Commit, CopyLater, CopyStep, LoadSlot, SharedBuffer, WaitFor
from dtpoly.ir.kernel import Barrier, ForLoop, If, Step
from dtpoly.ir.parts import inside
from dtpoly.ir.tiled import flat

MOST_GROUPS = 16  # that may be under way at once
MOST_STATES = 5_000


class CopyStage(Enum):
    """The progress of a copy into a slot."""

    EMPTY = "nothing was copied into it"
    BEGUN = "its copy is not committed"
    COMMITTED = "nothing waits for its copy before"
    ARRIVED = "no barrier is behind the wait, so other lanes may not have waited"
    READY = "all lanes see it"


Place = tuple[str, int]  # a buffer and a slot of it
Copy = tuple[Place, int]  # and the number of the step that copies


@dataclass(frozen=True, slots=True)
class Slots:
    """The state at a step: stages, slots that were read since a barrier, groups under way.

    Of counters it has the remainders by which slots are counted.
    """

    stages: frozenset[tuple[Place, CopyStage]] = frozenset()
    read: frozenset[Place] = frozenset()
    begun: frozenset[Copy] = frozenset()
    groups: tuple[frozenset[Copy], ...] = ()
    counters: tuple[tuple[str, int], ...] = ()

    def stage(self, place: Place) -> CopyStage:
        """Return the stage of the copy into a slot."""
        return dict(self.stages).get(place, CopyStage.EMPTY)

    def at(self, places: Set[Place], stage: CopyStage) -> "Slots":
        """Return the same with slots at another stage."""
        others = {(place, own) for place, own in self.stages if place not in places}
        return replace(self, stages=frozenset(others | {(place, stage) for place in places}))

    def counted(self, name: str, value: int | None) -> "Slots":
        """Return the same with another value of a counter; without one, it is not known."""
        others = {one: known for one, known in self.counters if one != name}
        if value is not None:
            others[name] = value
        return replace(self, counters=tuple(sorted(others.items())))


@dataclass(slots=True)
class Copying:
    """The buffers of a kernel, by what slots are counted, and what is wrong, at which step."""

    buffers: Mapping[str, SharedBuffer]
    around: int
    steps: list[Step] = field(default_factory=list[Step])
    found: dict[tuple[int, str], None] = field(default_factory=dict[tuple[int, str], None])

    def number(self, step: Step) -> int:
        """Return the number of a step, by which `found` names it."""
        for at, one in enumerate(self.steps):
            if one is step:
                return at
        self.steps.append(step)
        return len(self.steps) - 1

    def complain(self, at: int, what: str) -> None:
        """Note what is wrong at a step."""
        self.found.setdefault((at, what))


def wrong_copies(body: tuple[Step, ...]) -> Iterator[tuple[Step, str]]:
    """Yield the steps of a kernel that read or overwrite a slot too early, and why."""
    every = [one for one in inside(body) if isinstance(one, CopyStep)]
    if not every:
        return
    buffers = {one.name: one for one in every if isinstance(one, SharedBuffer)}
    around = lcm(*(max(one.slots, 1) for one in buffers.values()))
    copying = Copying(buffers, around)
    for last in _through(copying, frozenset({Slots()}), body):
        for copy in last.begun:
            copying.complain(copy[1], "the copy is never committed")
        for copy in frozenset[Copy]().union(*last.groups):
            copying.complain(copy[1], "the copy is never waited for")
    for at, what in copying.found:
        yield copying.steps[at], what


def _through(
    copying: Copying, before: frozenset[Slots], body: tuple[Step, ...]
) -> frozenset[Slots]:
    """Return what may be known behind a body."""
    now = before
    for step in flat(body):
        match step.instruction:
            case ForLoop() as loop:
                now = _rounds(copying, now, loop, step)
            case If(body=inner):
                now |= _through(copying, now, inner)
            case Barrier() | CopyLater() | Commit() | WaitFor() | LoadSlot():
                now = frozenset(_done(copying, one, step) for one in now)
            case _:
                pass
    return now


def _rounds(
    copying: Copying, before: frozenset[Slots], loop: ForLoop, step: Step
) -> frozenset[Slots]:
    """Return what may be known behind a loop: that it has no round is possible, too."""
    if not any(isinstance(one, CopyStep) for one in inside(loop.body)):
        return before  # a barrier in it may be passed over
    start = loop.start if isinstance(loop.start, Affine) else None
    first = {one.counted(loop.name, _value(copying, one, start)) for one in before}
    seen, new = set[Slots](), first
    while new and len(seen) < MOST_STATES:
        seen |= new
        after = _through(copying, frozenset(new), loop.body)
        new = {_next(copying, one, loop) for one in after} - seen
    if new:
        copying.complain(copying.number(step), "its copies are too many to be followed")
    return frozenset(one.counted(loop.name, None) for one in seen)


def _next(copying: Copying, one: Slots, loop: ForLoop) -> Slots:
    known = dict(one.counters).get(loop.name)
    return one.counted(loop.name, None if known is None else (known + loop.step) % copying.around)


def _value(copying: Copying, known: Slots, index: Affine | None) -> int | None:
    """Return the remainder of an index, if all counters in it are known."""
    counters = dict(known.counters)
    if index is None or not all(name in counters for name in index.labels):
        return None
    total = sum(factor * counters[name] for name, factor in index.linear)
    return (total + index.constant) % copying.around


def _done(copying: Copying, known: Slots, step: Step) -> Slots:
    """Return what is known of slots after a step."""
    match step.instruction:
        case Barrier():
            arrived = {place for place, stage in known.stages if stage is CopyStage.ARRIVED}
            return replace(known.at(arrived, CopyStage.READY), read=frozenset())
        case Commit():
            return _committed(copying, known, step)
        case WaitFor(pending=pending):
            count = max(len(known.groups) - pending, 0)
            done = frozenset[Copy]().union(*known.groups[:count])
            here = {place for place, _ in done}
            return replace(known.at(here, CopyStage.ARRIVED), groups=known.groups[count:])
        case CopyLater(buffer=buffer, slot=slot) | LoadSlot(buffer=buffer, slot=slot):
            place = _place(copying, known, step, buffer, slot)
            if place is None:
                return known
            if isinstance(step.instruction, CopyLater):
                return _begun(copying, known, step, place)
            return _loaded(copying, known, step, place)
        case _:
            return known


def _place(copying: Copying, known: Slots, step: Step, buffer: str, slot: Affine) -> Place | None:
    own = copying.buffers.get(buffer)
    if own is None or own.slots < 1:
        return None  # of which `check` complains
    number = _value(copying, known, slot)
    if number is None:
        copying.complain(
            copying.number(step),
            f"which slot of '{buffer}' it is cannot be told: it must be counted by loops that go "
            "from a number on",
        )
        return None
    return buffer, number % own.slots


def _begun(copying: Copying, known: Slots, step: Step, place: Place) -> Slots:
    buffer, slot = place
    written, at = f"slot {slot} of '{buffer}' is written again", copying.number(step)
    stage = known.stage(place)
    if stage in (CopyStage.BEGUN, CopyStage.COMMITTED):
        copying.complain(at, f"{written}, and the copy before may be under way")
    elif stage is CopyStage.ARRIVED:
        copying.complain(at, f"{written}, and {CopyStage.ARRIVED.value}")
    elif place in known.read:
        copying.complain(at, f"{written}, and no barrier is behind its last read")
    begun = known.begun | {(place, at)}
    return replace(known.at({place}, CopyStage.BEGUN), begun=begun, read=known.read - {place})


def _loaded(copying: Copying, known: Slots, step: Step, place: Place) -> Slots:
    buffer, slot = place
    stage = known.stage(place)
    if stage is not CopyStage.READY:
        copying.complain(
            copying.number(step), f"slot {slot} of '{buffer}' is read, and {stage.value}"
        )
    return replace(known, read=known.read | {place})


def _committed(copying: Copying, known: Slots, step: Step) -> Slots:
    groups = (*known.groups, known.begun)
    if len(groups) > MOST_GROUPS:
        what = f"more than {MOST_GROUPS} groups of copies are under way: nothing waits for them"
        copying.complain(copying.number(step), what)
        groups = groups[1:]
    here = {place for place, _ in known.begun}
    return replace(known.at(here, CopyStage.COMMITTED), begun=frozenset(), groups=groups)
