"""Read launches that are done for a part of a size at a time, as if they were for all of it.

What is proved of launches is proved for all sizes, so it also holds with the size of a part, and
with parts of tensors in place of the tensors. `check_panels` (see panels) then looks whether
parts need one another (see docs/proofs.md). Here the launches are read, with names that mean the
same for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.whole import All, Truth, Whole, compare, name, names_of, number
from dtpoly.verify.plan.call_plan import CallPlan, InPanels
from dtpoly.verify.plan.held import FunctionReading, Held, PanelLaunches, TensorOf

# A part has at most so many indices, so that the end of its last tile is far from 2^31.
MOST = 2**20


def over_panels(
    reading: FunctionReading, plan: CallPlan, of: InPanels, read: Callable[[], None]
) -> None:
    """Read the launches once, as if for the whole size. Raises Unread."""
    if of.size > MOST:
        raise Unread(of.line, f"panels of more than {MOST} indices")
    known = [*_apart(reading.facts)]
    sizes = [_size(reading, one, of.line) for one in of.labels]
    whole = sizes[0]
    alike = {_plain(one, whole, known, of.line) for one in sizes}
    parts = dict[str, int]()
    for one, axis in of.cut.items():
        match reading.names.get(one):
            case TensorOf(array=array) if axis < len(array.shape):
                alike.add(_plain(array.shape[axis], whole, known, of.line))
                parts[array.name] = axis
            case _:
                raise Unread(of.line, f"parts of '{one}' along its axis {axis}")
    _check_axes(reading, parts, alike, of.line)
    # A fact about the whole size that need not hold of a part is forgotten.
    reading.facts[:] = [fact for fact in known if _holds_of_parts(fact, alike)]
    if len(reading.facts) < len(known):
        reading.skipped.append(of.line)
    start = name(f"panel, line {of.line}")
    lines = plan.first_line, plan.last_line
    reading.panels = PanelLaunches(lines, whole, parts, start, frozenset(alike))
    outside = dict(reading.names)
    kept = {one: held for one, held in outside.items() if _is_the_same(held, alike)}
    inside = {one: outside[one] for one in (*of.labels, *of.cut)}
    reading.names.clear()
    reading.names |= {**kept, **inside}
    read()
    reading.names.clear()
    reading.names |= outside
    reading.run.assume(Lemma.PANELS, whole, of.size)


def _size(reading: FunctionReading, label: str, line: int) -> Whole:
    match reading.names.get(label):
        case Whole() as found if found.plain is not None:
            return found
        case _:
            raise Unread(line, f"panels of '{label}'")


def _plain(one: Whole, whole: Whole, known: list[Truth], line: int) -> str:
    """Return the name of a size that is known to be that of the panels. Raises Unread."""
    if one.plain is None or (one != whole and compare("==", one, whole) not in known):
        raise Unread(line, "panels of two sizes, which may be different")
    return one.plain


def _check_axes(
    reading: FunctionReading, parts: Mapping[str, int], alike: set[str], line: int
) -> None:
    """Refuse a tensor that is cut along one axis and has another axis of the same size."""
    for one, axis in parts.items():
        shape = reading.arrays[one].shape
        if any(names_of(extent) & alike for extent in shape[:axis] + shape[axis + 1 :]):
            raise Unread(line, f"parts of '{one}', which has such an axis besides")


def _apart(facts: Iterable[Truth]) -> Iterator[Truth]:
    """Yield each fact; a conjunction is taken apart, and each of its parts is a fact of its own."""
    for fact in facts:
        if isinstance(fact, All):
            yield from _apart(fact.parts)
        else:
            yield fact


def _holds_of_parts(fact: Truth, alike: set[str]) -> bool:
    """Return whether a fact also holds if sizes are those of a part with at least one index."""
    if all(_is_fixed(one, alike) for one in names_of(fact)):
        return True
    sizes = [name(one) for one in sorted(alike)]
    least = (compare(">=", one, number(low)) for one in sizes for low in (0, 1))
    same = (compare("==", one, other) for one in sizes for other in sizes)
    return fact in (*least, *same)


def _is_fixed(one: str, alike: set[str]) -> bool:
    """Return whether a name means the same for each part, as strides and uncut extents do."""
    is_given = ".stride(" in one or ".shape[" in one or (one.endswith("_size") and "(" not in one)
    return is_given and one not in alike


def _is_the_same(held: Held, alike: set[str]) -> bool:
    """Return whether the value that a name holds is the same for each part."""
    match held:
        case TensorOf(array=array):
            names = frozenset[str]().union(*(names_of(extent) for extent in array.shape))
            return all(_is_fixed(one, alike) for one in names)
        case Given():
            return True
        case Whole():
            return all(_is_fixed(one, alike) for one in names_of(held))
        case _:
            return False
