"""Finds what a step of a kernel's body sets, needs and touches, so which steps may trade places.

Passes of code generation that move or join steps ask it.
"""

from collections.abc import Iterator
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.copy_steps import CopyLater, LoadSlot
from dtpoly.ir.kernel import (
    Accumulate,
    Address,
    Collapse,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Load,
    LoopScalar,
    Mask,
    Product,
    Select,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.parts import accessed, assigned, assigned_by, needed, needed_by_test, values
from dtpoly.ir.tiled import flat
from dtpoly.poly.loops import Bound, Chosen, Combined, Compared, Condition, OneOfWays

# What the latest instructions read. An instruction is known by its identity, since to compare two
# takes longer than to look again; so it is kept, too.
MOST = 10_000
_read: dict[int, tuple[Instruction, frozenset[str]]] = {}


@dataclass(frozen=True, slots=True)
class Effect:
    """The names and tensors that a step uses.

    What it sets is a result if it is needed behind the step.
    """

    sets: frozenset[str]
    needs: frozenset[str]
    results: frozenset[str]
    loads: frozenset[str]
    stores: frozenset[str]


def effect(step: Step, after: frozenset[str]) -> Effect:
    """Find what a step does. `after` has the names that are needed behind it."""
    sets, needs = frozenset(assigned((step,))), exposed((step,))
    is_block = isinstance(step.instruction, ForLoop | If | TiledLoop)
    results = sets & (after | needs) if is_block else sets
    return Effect(sets, needs, results, accessed((step,), Load), accessed((step,), Store))


def are_ordered(one: Effect, other: Effect) -> bool:
    """Return whether two steps must stay in the order that they have."""
    return not (
        one.sets.isdisjoint(other.needs | other.results)
        and other.sets.isdisjoint(one.needs | one.results)
        and one.stores.isdisjoint(other.loads | other.stores)
        and other.stores.isdisjoint(one.loads)
    )


def exposed(body: tuple[Step, ...]) -> frozenset[str]:
    """Find the names that a body needs from before it.

    Names that only say along which axis do not count.
    """
    found: set[str] = set()
    known: set[str] = set()
    for step in flat(body):
        one = step.instruction
        found |= _reads(one) - known
        if not isinstance(one, ForLoop | If):  # blocks may be passed over
            known.update(assigned_by(one))
    return frozenset(found)


def _reads(one: Instruction) -> frozenset[str]:
    known = _read.get(id(one))
    if known is None:
        if len(_read) >= MOST:
            _read.clear()
        known = _read[id(one)] = one, frozenset(reads(one))
    return known[1]


def carried(body: tuple[Step, ...]) -> frozenset[str]:
    """Find the names that a body goes on with: it needs what was there, and sets them anew."""
    return exposed(body) & {*assigned(body)}


def reads(one: Instruction) -> Iterator[str]:  # noqa: C901  # one case for each instruction
    """Yield the variables that an instruction reads.

    Of a block, these are the variables that are set outside of it.
    """
    for value in values(one):
        yield from needed(value)
    match one:
        case ForLoop(name=name, start=start, stop=stop, body=body):
            yield from (*names_of_bound(start), *names_of_bound(stop))
            yield from exposed(body) - {name}
        case TiledLoop():
            yield from exposed((Step(one, ""),))
        case If(conditions=conditions, body=body):
            for condition in conditions:
                yield from names_of_condition(condition)
            yield from exposed(body)
        case Load(indices=indices, conditions=tests) | Store(indices=indices, conditions=tests):
            for index in indices:
                yield from index.labels
            for test in tests:
                yield from needed_by_test(test)
            if one.base is not None:
                yield one.base.name
        case Address(indices=indices, base=base):
            for index in indices:
                yield from index.labels
            if base is not None:
                yield base.name
        case Lanes(start=start, shifted=shifted):
            yield from (*start.labels, *(() if shifted is None else (shifted.by,)))
        case CopyLater() | LoadSlot():
            yield from _reads_of_copy(one)
        case Mask(test=test):
            yield from needed_by_test(test)
        case LoopScalar(value=bound):
            yield from names_of_bound(bound)
        case Accumulate(name=name) | Product(name=name):
            yield name
        case Select(name=name, index=index):
            yield from (name, index)
        case ScanLanes(carry=carry, along=along):
            yield from (carry, *(() if along is None else (along,)))
        case Collapse(source=source, index=index):
            yield from (source, *(() if index is None else (index,)))
        case _:
            pass


def _reads_of_copy(one: CopyLater | LoadSlot) -> Iterator[str]:
    yield from (one.buffer, *one.slot.labels)
    if isinstance(one, CopyLater):
        for index in one.indices:
            yield from index.labels
        for test in one.conditions:
            yield from needed_by_test(test)


def names_of_bound(value: Bound) -> Iterator[str]:
    """Yield the variables that a bound of a loop is computed from."""
    match value:
        case Affine():
            yield from value.labels
        case Combined(operands=operands):
            for operand in operands:
                yield from names_of_bound(operand)
        case Chosen(conditions=conditions, left=left, right=right):
            for condition in conditions:
                yield from names_of_condition(condition)
            yield from (*names_of_bound(left), *names_of_bound(right))
        case _:
            assert_never(value)


def names_of_condition(condition: Condition) -> Iterator[str]:
    """Yield the variables that a condition looks at."""
    match condition:
        case Compared(left=left, right=right):
            yield from (*names_of_bound(left), *names_of_bound(right))
        case OneOfWays(ways=ways):
            for way in ways:
                for one in way:
                    yield from names_of_condition(one)
        case _:
            assert_never(condition)
