"""Keeps two lists that are always equal as one list.

    values, at = none                                 values, at = none
    others, found = none                              for k:
    for k:                                      -->       values, at = dt_list(values, at, tile, k)
        values, at = dt_list(values, at, tile, k)
        others, found = dt_list(others, found, tile, k)

The largest values and their indices are two Funcs of the language, each of which has a list of its
own. Where both lists take in the same tiles at the same points, they are equal from their start to
their end, so one of them is kept and is read for both.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Fill, Instruction, Let, Select, Step
from dtpoly.ir.parts import assigned, inside, mapped, renamed
from dtpoly.ir.rewriting import rewritten
from dtpoly.ir.step_dependences import exposed, reads
from dtpoly.ir.tile_values import Value, Variable


@dataclass(frozen=True, slots=True)
class ListTiles:
    """The names of the two tiles of a list, and what they are filled with at its start."""

    name: str
    index: str
    starts: tuple[Fill, Fill]

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of the values and of the indices."""
        return self.name, self.index


def with_shared_lists(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return a kernel's body, in which lists that are always equal have become one."""
    lists = list(_lists(body))
    while len(lists) > 1:
        first, *lists = lists
        for other in tuple(lists):
            if repr(first.starts) == repr(other.starts) and _are_taken_together(body, first, other):
                body = _as_one(body, first, other)
                lists.remove(other)
    return body


def _lists(body: tuple[Step, ...]) -> Iterator[ListTiles]:
    """Yield the lists of a kernel whose tiles are filled once, and else only take in tiles."""
    fills: dict[str, list[Fill]] = {}
    selects: dict[tuple[str, str], int] = {}
    for one in inside(body):
        match one:
            case Fill(name=name):
                fills.setdefault(name, []).append(replace(one, name=""))
            case Select(name=name, index=index, count=count) if count:
                selects[name, index] = selects.get((name, index), 0) + 1
            case _:
                pass
    set_by = list(assigned(body))
    for (name, index), times in selects.items():
        starts = [fills.get(one, []) for one in (name, index)]
        is_plain = all(set_by.count(one) == times + 1 for one in (name, index))
        if is_plain and all(len(one) == 1 for one in starts):
            yield ListTiles(name, index, (starts[0][0], starts[1][0]))


def _are_taken_together(body: tuple[Step, ...], first: ListTiles, other: ListTiles) -> bool:
    """Return whether two lists begin in one block, and take in the same tiles in the same steps."""
    blocks = tuple(_blocks(body))
    is_one_block = any({*first.names, *other.names} <= _filled(block) for block in blocks)
    known = _known(body)
    return is_one_block and all(_is_paired(block, first, other, known) for block in blocks)


def _filled(block: tuple[Step, ...]) -> set[str]:
    """Return the names that are filled in a block itself, not in loops inside of it."""
    instructions = (step.instruction for step in block)
    return {one.name for one in instructions if isinstance(one, Fill)}


def _blocks(body: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield a body, and the bodies of the loops and conditions inside of it."""
    found = [body]

    def change(step: Step) -> tuple[Step, ...]:
        one = step.instruction
        found.extend(getattr(one, part) for part in ("body", "main", "tail") if hasattr(one, part))
        return (step,)

    rewritten(body, change)
    yield from found


def _known(body: tuple[Step, ...]) -> dict[str, Value]:
    """Return the values of names that are set once, to what only has names that are set once.

    Wherever such a name is read, it is this value.
    """
    times = Counter(assigned(body))
    known: dict[str, Value] = {}
    for one in inside(body):
        if isinstance(one, Let) and all(times[name] <= 1 for name in (one.name, *reads(one))):
            known[one.name] = one.value
    return known


def _written_out(one: Select, known: Mapping[str, Value]) -> str:
    """Write a step of some list, with the values of names that are known in their places.

    It is a text, because to Python 0.0 and -0.0 are equal.
    """

    def change(value: Value) -> Value:
        if isinstance(value, Variable) and value.name in known:
            return change(known[value.name])
        return mapped(value, change)

    made = replace(one, name="", index="", value=change(one.value), at=change(one.at))
    return repr(made)


def _is_paired(
    block: tuple[Step, ...], first: ListTiles, other: ListTiles, known: Mapping[str, Value]
) -> bool:
    """Return whether each step of one list stands in a block beside the same step of the other.

    Between the two, nothing may set what they take in.
    """
    open_step: Select | None = None
    is_first = True
    for step in block:
        one = step.instruction
        if isinstance(one, Select) and one.name in (first.name, other.name):
            own = one.name == first.name
            if open_step is None:
                open_step, is_first = one, own
            elif own == is_first or _written_out(one, known) != _written_out(open_step, known):
                return False
            else:
                open_step = None
        elif open_step is not None and not _is_beside(step, open_step, first, other):
            return False
    return open_step is None


def _is_beside(step: Step, of: Select, first: ListTiles, other: ListTiles) -> bool:
    """Return whether a step may stand between the steps of two lists: it changes neither of them.

    It may not look at the other list, for which the first one will stand: they are not equal there.
    The start of the other list is left out, so it may stand anywhere.
    """
    one = step.instruction
    if isinstance(one, Fill) and one.name in other.names:
        return True
    changed = {*reads(of), *first.names, *other.names}
    is_apart = exposed((step,)).isdisjoint(other.names)
    return is_apart and changed.isdisjoint(assigned((step,)))


def _as_one(body: tuple[Step, ...], first: ListTiles, other: ListTiles) -> tuple[Step, ...]:
    """Return a body in which the first list stands for the other one, too."""
    names = set(other.names)
    taken_in = {name for one in inside(body) if _is_of(one, names) for name in reads(one)}
    body = _without(body, lambda one: isinstance(one, Fill | Select) and one.name in names)
    read = {name for one in inside(body) for name in reads(one)}
    unused = taken_in - read
    body = _without(body, lambda one: isinstance(one, Let) and one.name in unused)
    return renamed(body, dict(zip(other.names, first.names, strict=True)))


def _is_of(one: Instruction, names: set[str]) -> bool:
    return isinstance(one, Select) and one.name in names


def _without(body: tuple[Step, ...], is_dropped: Callable[[Instruction], bool]) -> tuple[Step, ...]:
    """Return a body without some of its steps."""
    return rewritten(body, lambda step: () if is_dropped(step.instruction) else (step,))
