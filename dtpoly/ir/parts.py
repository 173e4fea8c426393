"""Takes values and instructions of the kernel IR apart, and rebuilds them from other values.

The passes of code generation walk through kernels with these functions.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.copy_steps import CopyLater, LoadSlot, SharedBuffer
from dtpoly.ir.kernel import (
    Accumulate,
    Address,
    Collapse,
    DescribedBlock,
    Fill,
    ForLoop,
    GivenScalar,
    If,
    Instruction,
    Lanes,
    Let,
    LineStart,
    Load,
    LoopScalar,
    Mask,
    Product,
    Reshaped,
    Select,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    Holds,
    IndexValue,
    Masked,
    Merged,
    Test,
    Value,
    Variable,
)
from dtpoly.ir.tiled import flat

Part = TypeVar("Part")
Access = TypeVar("Access", Load, Store)

# Fields of words that may look like a variable and are none.
WORDS = ("operation", "reduction", "atomic", "precision", "dtype", "converted", "origin")


def renamed(part: Part, names: Mapping[str, str]) -> Part:
    """Return a part of a kernel with other names for some variables and axes."""
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return part
    put = {old: Affine(((new, 1),)) for old, new in changed.items()}
    return cast(Part, _renamed(part, changed, put))


def _renamed(part: object, names: Mapping[str, str], put: Mapping[str, Affine]) -> object:
    """Return the part with other names; a part that has none of them is returned as it is.

    `put` has the new names as indices.
    """
    if isinstance(part, str):
        return names.get(part, part)
    if isinstance(part, tuple):
        several = cast(tuple[object, ...], part)
        new = [_renamed(one, names, put) for one in several]
        is_same = all(one is other for one, other in zip(several, new, strict=True))
        return several if is_same else tuple(new)
    if isinstance(part, Affine):
        return part if names.keys().isdisjoint(part.labels) else part.substitute(put)
    changed: dict[str, object] = {}
    for name in _named_fields(cast(Hashable, type(part))):
        before = getattr(part, name)
        after = _renamed(before, names, put)
        if after is not before:
            changed[name] = after
    return replace(cast(Any, part), **changed) if changed else part


@cache
def _named_fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a class that may hold names of variables and axes."""
    found = fields(kind) if is_dataclass(kind) else ()
    return tuple(one.name for one in found if one.name not in WORDS)


def nested(part: object) -> Iterator[object]:
    """Yield all nodes that a part of a kernel is made of, itself included."""
    if isinstance(part, tuple):
        for one in cast(tuple[object, ...], part):
            yield from nested(one)
    elif is_dataclass(part) and not isinstance(part, type):
        yield part
        for one in fields(part):
            yield from nested(getattr(part, one.name))


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return the value with each of its operands changed."""
    match value:
        case Call(operands=operands):
            return replace(value, operands=tuple(map(change, operands)))
        case Converted(value=inner) | Masked(value=inner):
            return replace(value, value=change(inner))
        case Merged(left=left, right=right):
            return replace(value, left=change(left), right=change(right))
        case _:
            return value


def operands_of(value: Value) -> tuple[Value, ...]:
    """Return the values that a value is made of."""
    match value:
        case Call(operands=operands):
            return operands
        case Converted(value=inner) | Masked(value=inner):
            return (inner,)
        case Merged(left=left, right=right):
            return (left, right)
        case _:
            return ()


def walk(value: Value) -> Iterator[Value]:
    """Yield the value and all that it is made of."""
    left = [value]
    while left:
        one = left.pop()
        yield one
        left.extend(reversed(operands_of(one)))


def with_values(one: Instruction, change: Callable[[Value, Axes], Value]) -> Instruction:
    """Return the instruction with its values changed; `change` also gets their axes."""
    match one:
        case Let(value=value, axes=axes) | Accumulate(value=value, axes=axes):
            return replace(one, value=change(value, axes))
        case ScanLanes(value=value, axes=axes, factor=factor):
            factor = None if factor is None else change(factor, axes)
            return replace(one, value=change(value, axes), factor=factor)
        case Store(value=value, axes=axes):
            return replace(_with_taken(one, change), value=change(value, axes))
        case Load():
            return _with_taken(one, change)
        case Reshaped(value=value, axes=axes):
            return replace(one, value=change(value, axes))
        case Select(value=value, at=at, axes=axes):
            return replace(one, value=change(value, axes), at=change(at, axes))
        case Product(left=left, left_axes=rows, right=right, right_axes=columns):
            return replace(one, left=change(left, rows), right=change(right, columns))
        case _:
            return one


def _with_taken(one: Access, change: Callable[[Value, Axes], Value]) -> Access:
    """Return a gather or a scatter whose indices are taken from other variables."""
    changed: dict[str, Affine] = {}
    taken: list[Variable] = []
    for variable in one.taken:
        new = change(variable, variable.axes)
        assert isinstance(new, Variable)
        taken.append(new)
        changed[variable.name] = Affine(((new.name, 1),))
    if not taken:
        return one
    indices = tuple(index.substitute(changed) for index in one.indices)
    return replace(one, indices=indices, taken=tuple(taken))


def values(one: Instruction) -> tuple[Value, ...]:
    """Return the values of an instruction itself, without those of a block inside."""
    match one:
        case Let(value=value) | Accumulate(value=value):
            return (value,)
        case Store(value=value, taken=taken):
            return (value, *taken)
        case Load(taken=taken):
            return taken
        case Reshaped(value=value):
            return (value,)
        case ScanLanes(value=value, factor=factor):
            return (value,) if factor is None else (factor, value)
        case Select(value=value, at=at):
            return (value, at)
        case Product(left=left, right=right):
            return (left, right)
        case _:
            return ()


def inside(body: tuple[Step, ...]) -> Iterator[Instruction]:
    """Yield all instructions of a body, those of its blocks too."""
    return (step.instruction for step in steps_inside(body))


def steps_inside(body: tuple[Step, ...]) -> Iterator[Step]:
    """Yield all steps of a body, those of its blocks too."""
    for step in flat(body):
        yield step
        if isinstance(step.instruction, ForLoop | If):
            yield from steps_inside(step.instruction.body)


def needed(value: Value) -> Iterator[str]:
    """Yield the variables that a value is computed from."""
    for part in walk(value):
        match part:
            case Variable(name=name):
                yield name
            case IndexValue(index=index):
                yield from index.labels
            case Holds(test=test):
                yield from needed_by_test(test)
            case Masked(conditions=conditions):
                for test in conditions:
                    yield from needed_by_test(test)
            case _:
                pass


def needed_by_test(test: Test) -> Iterator[str]:
    """Yield the variables that a test looks at."""
    yield from test.value.labels if test.name is None else (test.name,)
    yield from test.axes


def assigned(body: tuple[Step, ...]) -> Iterator[str]:
    """Yield the variables that are set in a body."""
    for one in inside(body):
        yield from assigned_by(one)


def assigned_by(one: Instruction) -> Iterator[str]:
    """Yield the variables that an instruction sets itself."""
    match one:
        case Select(name=name, index=index):
            yield from (name, index)
        case ScanLanes(name=name, carry=carry, factors=factors):
            yield from (name, carry, *((factors,) if factors else ()))
        case Collapse(name=name, source=source, index=index):
            # If it takes several steps, they overwrite the tiles that it starts from.
            yield from (name, source, *(() if index is None else (index,)))
        case LineStart(name=name, shift=shift):
            yield from (shift, name)
        case Store(block=DescribedBlock(halved=halved)):
            for half in halved:
                yield from (half.first, half.second)
        case Lanes(name=name, shifted=shifted):
            yield from (name, *(() if shifted is None else (shifted.name,)))
        case (
            ForLoop(name=name)
            | TiledLoop(name=name)
            | Mask(name=name)
            | Let(name=name)
            | LoopScalar(name=name)
            | GivenScalar(name=name)
            | Fill(name=name)
            | Load(name=name)
            | Address(name=name)
            | Accumulate(name=name)
            | Product(name=name)
            | Reshaped(name=name)
            | SharedBuffer(name=name)
            | LoadSlot(name=name)
        ):
            yield name
        case _:
            pass


def accessed(body: tuple[Step, ...], how: type[Load] | type[Store]) -> frozenset[str]:
    """Return the tensors that are loaded, or stored to, in a body."""
    kinds = (how, CopyLater) if how is Load else (how,)
    return frozenset(
        one.tensor
        for one in inside(body)
        if isinstance(one, Load | Store | CopyLater) and isinstance(one, kinds)
    )
