"""Counts the elements of a kernel's largest tiles, because Triton allows only 2**20.

A tile that is too large for every size is refused when code is generated. Where the number of
elements depends on sizes, the runtime checks it in each call.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    Fill,
    ForLoop,
    If,
    Lanes,
    Let,
    Load,
    Mask,
    Product,
    Reshaped,
    Select,
    Step,
    Store,
    TileKernel,
)
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    Holds,
    IndexValue,
    Masked,
    Merged,
    Value,
    Variable,
)
from dtpoly.ir.tiled import flat

MOST = 2**20  # what Triton allows
FEWEST_LANES = 16  # along a label whose size says how many there are


def too_many(func: str, number: int, *, is_least: bool = False) -> str:
    """Return why there is no code for a schedule with such a tile."""
    return (
        f"a tile of '{func}' has {'at least ' * is_least}{number} elements, and Triton's limit is "
        f"{MOST}: tensorize by smaller numbers"
    )


Counts = Mapping[str, int | str]  # lane variable -> how many lanes; the name of a parameter


@dataclass(frozen=True, slots=True)
class ElementCount:
    """A number of elements: `number` times lane counts that are known when Triton compiles.

    `counts` has the names of the parameters for these lane counts.
    """

    number: int
    counts: tuple[str, ...] = ()

    @property
    def least(self) -> int:
        """Return the least number of elements that there can be, with the fewest lanes."""
        return self.number * prod([FEWEST_LANES] * len(self.counts))

    def is_within(self, other: "ElementCount") -> bool:
        """Return whether there are never more than of another."""
        left = list(other.counts)
        for name in self.counts:
            if name not in left:
                return False
            left.remove(name)
        return self.number <= other.number


def largest_tiles(kernel: TileKernel) -> tuple[ElementCount, ...]:
    """Return the tiles that may be too large, without those that are part of another."""
    found = dict.fromkeys(_tiles(kernel.body, {}))
    return tuple(one for one in found if not any(one.is_within(two) for two in found if one != two))


def _tiles(body: Sequence[Step], around: Counts) -> Iterator[ElementCount]:
    counts = dict(around)
    for step in flat(tuple(body)):
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner):
                yield from _tiles(inner, counts)
            case Lanes(name=name, count=count):
                counts[name] = count
                yield _elements((count,))
            case Fill(shape=shape):
                yield _elements(shape)
            case Mask(test=test):
                yield _along(test.axes, counts)
            case (
                Let(value=value, axes=axes)
                | Accumulate(value=value, axes=axes)
                | Reshaped(value=value, axes=axes)
            ):
                yield from _of_value(value, axes, counts)
            case Load(axes=axes):
                yield _along(axes, counts)
            case Store(value=value, axes=axes):
                yield from _of_value(value, axes, counts)
            case Select(value=value, at=at, axes=axes):
                yield from _of_value(value, axes, counts)
                yield from _of_value(at, axes, counts)
            case Product() as one:
                yield from _of_value(one.left, one.left_axes, counts)
                yield from _of_value(one.right, one.right_axes, counts)
            case _:
                pass  # scalars, barriers, and what is smaller than what it is made from


def _of_value(value: Value, axes: Axes, counts: Counts) -> Iterator[ElementCount]:
    yield _along(axes, counts)
    match value:
        case Call(operands=operands, axes=own):
            for operand in operands:
                yield from _of_value(operand, own, counts)
        case Converted(value=inner, axes=own) | Masked(value=inner, axes=own):
            yield from _of_value(inner, own, counts)
        case Merged(left=left, right=right, axes=own):
            yield from _of_value(left, own, counts)
            yield from _of_value(right, own, counts)
        case Variable(axes=own) | IndexValue(axes=own) | Holds(axes=own):
            yield _along(own, counts)
        case _:
            pass


def _along(axes: Axes, counts: Counts) -> ElementCount:
    return _elements(tuple(counts[name] for name in axes if name in counts))


def _elements(shape: Sequence[int | str]) -> ElementCount:
    names = sorted(count for count in shape if isinstance(count, str))
    return ElementCount(prod(count for count in shape if isinstance(count, int)), tuple(names))
