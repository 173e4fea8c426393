"""Takes values and instructions of the kernel IR apart, and rebuilds them from other values.

The passes of code generation walk through kernels with these functions.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.copies import CopyLater, LoadSlot, SharedBuffer
from dtpoly.ir.kernel import (
    Accumulate,
    Address,
    Block,
    Collapse,
    Fill,
    ForLoop,
    Given,
    If,
    Instruction,
    Lanes,
    Let,
    LineStart,
    Load,
    Mask,
    Product,
    Reshaped,
    Scalar,
    Select,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    Holds,
    Masked,
    Merged,
    Place,
    Test,
    Value,
    Variable,
)
from dtpoly.ir.tiled import flat

Part = TypeVar("Part")

# Fields of words that may look like a variable and are none.
WORDS = ("operation", "reduction", "atomic", "precision", "dtype", "converted", "origin")


def renamed(part: Part, names: Mapping[str, str]) -> Part:
    """A part of a kernel with other names for some variables and axes."""
    return cast(Part, _renamed(part, names))


def _renamed(part: object, names: Mapping[str, str]) -> object:
    match part:
        case str():
            return names.get(part, part)
        case Affine():
            return part.substitute({old: Affine(((new, 1),)) for old, new in names.items()})
        case tuple():
            return tuple(_renamed(one, names) for one in cast(tuple[object, ...], part))
        case _ if is_dataclass(part) and not isinstance(part, type):
            named = (one.name for one in fields(part) if one.name not in WORDS)
            return replace(part, **{one: _renamed(getattr(part, one), names) for one in named})
        case _:
            return part


def nested(part: object) -> Iterator[object]:
    """All nodes that a part of a kernel is made of, itself included."""
    if isinstance(part, tuple):
        for one in cast(tuple[object, ...], part):
            yield from nested(one)
    elif is_dataclass(part) and not isinstance(part, type):
        yield part
        for one in fields(part):
            yield from nested(getattr(part, one.name))


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """The value with each of its operands changed."""
    match value:
        case Call(operands=operands):
            return replace(value, operands=tuple(map(change, operands)))
        case Converted(value=inner) | Masked(value=inner):
            return replace(value, value=change(inner))
        case Merged(left=left, right=right):
            return replace(value, left=change(left), right=change(right))
        case _:
            return value


def walk(value: Value) -> Iterator[Value]:
    """The value and all that it is made of."""
    yield value
    match value:
        case Call(operands=operands):
            for one in operands:
                yield from walk(one)
        case Converted(value=inner) | Masked(value=inner):
            yield from walk(inner)
        case Merged(left=left, right=right):
            yield from walk(left)
            yield from walk(right)
        case _:
            pass


def with_values(one: Instruction, change: Callable[[Value, Axes], Value]) -> Instruction:
    """The instruction with its values changed; each is told along which axes it is laid out."""
    match one:
        case Let(value=value, axes=axes) | Accumulate(value=value, axes=axes):
            return replace(one, value=change(value, axes))
        case Store(value=value, axes=axes) | Reshaped(value=value, axes=axes):
            return replace(one, value=change(value, axes))
        case Select(value=value, at=at, axes=axes):
            return replace(one, value=change(value, axes), at=change(at, axes))
        case Product(left=left, left_axes=rows, right=right, right_axes=columns):
            return replace(one, left=change(left, rows), right=change(right, columns))
        case _:
            return one


def values(one: Instruction) -> tuple[Value, ...]:
    """The values of an instruction itself, without those of a block inside."""
    match one:
        case Let(value=value) | Accumulate(value=value) | Store(value=value):
            return (value,)
        case Reshaped(value=value):
            return (value,)
        case Select(value=value, at=at):
            return (value, at)
        case Product(left=left, right=right):
            return (left, right)
        case _:
            return ()


def inside(body: tuple[Step, ...]) -> Iterator[Instruction]:
    """All instructions of a body, those of its blocks too."""
    for step in flat(body):
        yield step.instruction
        if isinstance(step.instruction, ForLoop | If):
            yield from inside(step.instruction.body)


def needed(value: Value) -> Iterator[str]:
    """The variables that a value is computed from."""
    for part in walk(value):
        match part:
            case Variable(name=name):
                yield name
            case Place(index=index):
                yield from index.labels
            case Holds(test=test):
                yield from needed_by_test(test)
            case Masked(conditions=conditions):
                for test in conditions:
                    yield from needed_by_test(test)
            case _:
                pass


def needed_by_test(test: Test) -> Iterator[str]:
    """The variables that a test looks at."""
    yield from test.value.labels if test.name is None else (test.name,)
    yield from test.axes


def assigned(body: tuple[Step, ...]) -> Iterator[str]:
    """The variables that are set in a body."""
    for one in inside(body):
        yield from assigned_by(one)


def assigned_by(one: Instruction) -> Iterator[str]:
    """The variables that an instruction sets itself."""
    match one:
        case Select(name=name, index=index):
            yield from (name, index)
        case Collapse(name=name, source=source, index=index):
            # If it takes several steps, they overwrite the tiles that it starts from.
            yield from (name, source, *(() if index is None else (index,)))
        case LineStart(name=name, shift=shift):
            yield from (shift, name)
        case Store(block=Block(halved=halved)):
            for half in halved:
                yield from (half.first, half.second)
        case Lanes(name=name, shifted=shifted):
            yield from (name, *(() if shifted is None else (shifted.name,)))
        case (
            ForLoop(name=name)
            | TiledLoop(name=name)
            | Mask(name=name)
            | Let(name=name)
            | Scalar(name=name)
            | Given(name=name)
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
    """The tensors that are loaded, or stored to, in a body."""
    kinds = (how, CopyLater) if how is Load else (how,)
    return frozenset(
        one.tensor
        for one in inside(body)
        if isinstance(one, Load | Store | CopyLater) and isinstance(one, kinds)
    )
