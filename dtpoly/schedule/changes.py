"""Says in words what is different between two schedule trees of one Program.

`explain` uses it to say what a directive changes: it compares the tree with and without it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.schedule.aspects import (
    LOST,
    ORDER,
    TOPICS,
    Aspect,
    Places,
    aspects,
    beside_readers,
    listed,
    place_and_elements,
    places,
    subject,
)
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import leaves

Key = tuple[str, str, str, str]


MOST = 8  # names in a sentence


@dataclass(frozen=True, slots=True)
class Change:
    """The facts about a topic after a directive is added, and before; None if there are none.

    `names` are those of Funcs (with the kernel, if it has to be told), or of kernels.
    """

    topic: str
    names: tuple[str, ...]
    label: str
    kernel: str
    before: str | None
    after: str | None

    @property
    def subject(self) -> str:
        """Return what the change is about."""
        names = [f"'{name}'" for name in self.names[:MOST]]
        if len(self.names) > MOST:
            names[-1] = f"{len(self.names) - MOST + 1} others"
        of = listed(names) + (f" in '{self.kernel}'" if self.kernel else "")
        return subject(self.topic, of, self.label, is_one=len(self.names) == 1)

    def words(self, before: str) -> str:
        """`programs of 'f': ceil(m / 16) (without it: 1)`, where `before` is `without it`."""
        after = "nothing" if self.after is None else self.after
        return f"{self.subject}: {after}" + (f" ({before}: {self.before})" if self.before else "")


@dataclass(frozen=True, slots=True)
class Told:
    """A state with all that is said of it, so that comparing it with many others says it once."""

    state: State
    aspects: tuple[Aspect, ...]
    places: Mapping[str, Places]


def told_of(state: State) -> Told:
    """Collect what there is to say of a state."""
    return Told(state, aspects(state), places(state))


def changes(before: Told, after: Told, first: str = "") -> tuple[Change, ...]:
    """List the differences, those of the Func `first` before others.

    What belongs to something that is gone is not listed: it is gone with it. Funcs of which the
    same is said share one entry.
    """
    own = {
        first,
        *(k.name for k in (*before.state.kernels, *after.state.kernels) if k.func == first),
    }
    found = (*_changed(before, after), *_moved(before.state, after.state))
    told: dict[Change, Change] = {}
    for one in sorted(found, key=lambda c: (c.names[0] not in own, TOPICS.index(c.topic))):
        alike = replace(one, names=())
        names = told[alike].names if alike in told else ()
        told[alike] = replace(one, names=(*names, *one.names))
    return tuple(told.values())


def _changed(before: Told, after: Told) -> Iterator[Change]:
    kernels_before, kernels_after = _kernels(before.aspects), _kernels(after.aspects)
    # A Func that only moves from one kernel to another one has the same loops in both.
    one = {f for f, kernels in kernels_after.items() if len(kernels) == 1}
    one &= {f for f, kernels in kernels_before.items() if len(kernels) == 1}
    was, is_now = _by_key(before.aspects, one), _by_key(after.aspects, one)
    names = {kernel.name for kernel in after.state.kernels}
    for key in dict.fromkeys((*is_now, *was)):
        then, now = was.get(key), is_now.get(key)
        if then is not None and now is not None and then.value == now.value:
            continue
        told = now or then
        assert told is not None
        if now is None and _is_gone(told, names, kernels_after, moved=told.func in one):
            continue
        kernel = "" if told.func in one or not told.func else told.kernel
        name = told.func or told.kernel
        was_said = then.value if then is not None else None
        value = now.value if now is not None else None
        if told.topic == "place":
            was_said, value = _moves(name, before, after)
        yield Change(told.topic, (name,), told.label, kernel, was_said, value)


def _moves(func: str, before: Told, after: Told) -> tuple[str | None, str]:
    """Say from where to where a Func moves.

    If it stays in the loop of its reader, and only the reader moves, just the kernels are named.
    """
    was, is_now = before.places.get(func, ()), after.places.get(func, ())
    (old_loops, old), (loops, new) = beside_readers(was), beside_readers(is_now)
    if None not in (*was, *is_now) and old_loops == loops and old != new:
        return old, new
    then = place_and_elements(was, before.state) if was else None
    return then, place_and_elements(is_now, after.state) or "nowhere by itself"


def _by_key(found: tuple[Aspect, ...], one: set[str]) -> dict[Key, Aspect]:
    return {(a.topic, "" if a.func in one else a.kernel, a.func, a.label): a for a in found}


def _kernels(found: tuple[Aspect, ...]) -> dict[str, set[str]]:
    """Return the kernels in which each Func is computed."""
    kernels: dict[str, set[str]] = {}
    for aspect in found:
        if aspect.topic == "nest":
            kernels.setdefault(aspect.func, set()).add(aspect.kernel)
    return kernels


def _is_gone(
    told: Aspect, names: set[str], kernels: Mapping[str, set[str]], *, moved: bool
) -> bool:
    """Return whether the thing that an aspect was part of does not exist any more."""
    if told.topic in ("place", "kernel"):
        return False
    if told.func:
        here = kernels.get(told.func, set())
        return not here or (not moved and told.kernel not in here)
    return told.kernel not in names


def _moved(before: State, after: State) -> Iterator[Change]:
    """Statements that are lost, and those that stand in another order."""
    was, is_now = _orders(before), _orders(after)
    everywhere = {name for names in is_now.values() for name in names}
    for kernel, names in is_now.items():
        then = was.get(kernel, ())
        old = tuple(name for name in then if name in names)
        new = tuple(name for name in names if name in then)
        if set(names) < set(then) and not everywhere.issuperset(then):
            yield Change(LOST, (kernel,), "", "", ", ".join(then), ", ".join(names))
        elif old != new:
            yield Change(ORDER, (kernel,), "", "", ", ".join(old), ", ".join(new))


def _orders(state: State) -> dict[str, tuple[str, ...]]:
    """Return the statements of each kernel, in order."""
    return {k.name: tuple(leaf.statement for leaf, _ in leaves(k.body)) for k in state.kernels}
