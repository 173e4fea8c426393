"""Finds, by arithmetic alone, points with a tile of more elements than Triton allows.

Only tiles that any code for the schedule has are counted, so that no good point is lost. Whether
another tile is too large is for the code generator to say.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from math import prod

from dtpoly.algorithm.expressions import Dot, Expr, Reduce, children, free_labels, walk
from dtpoly.algorithm.program import Func, Program
from dtpoly.frozen import dataclass
from dtpoly.schedule.depends import Piece
from dtpoly.schedule.primitive import Primitive

MOST_ELEMENTS = 2**20  # what Triton allows


@dataclass(frozen=True, slots=True)
class Tiled:
    """The labels along which tiles of each Func lie: of its value, and of what it reduces."""

    labels: Mapping[str, tuple[Set[str], ...]]


def tiled(program: Program) -> Tiled:
    """Return the tiles that any schedule of the program has."""
    return Tiled({func.name: tuple(_tiles(func)) for func in program.funcs})


def _tiles(func: Func) -> Iterator[Set[str]]:
    yield frozenset(func.labels)
    for node in walk(func.body):
        operands: tuple[Expr, ...] = ()
        match node:
            case Reduce():
                operands = children(node)
            case Dot(left=left, right=right):
                operands = (left, right)
            case _:
                pass
        yield from (frozenset(free_labels(operand)) for operand in operands)


def largest_tile(of: Tiled, primitives: Sequence[Primitive]) -> int:
    """Give a lower bound for the elements of the largest tile.

    Only Funcs that have a kernel of their own count.
    """
    blocks: dict[tuple[str, str], int] = {}
    tiles: dict[tuple[str, str], int] = {}
    own: dict[tuple[str, str], int] = {}
    for one in primitives:
        said = one.depends()
        for number in said.numbers if said is not None else ():
            key = (one.func, number.label)
            match number.piece:
                case Piece.BLOCK:
                    blocks[key] = number.size
                case Piece.TILE if number.producer in ("", one.func):
                    (own if number.producer else tiles)[key] = number.size
                case Piece.TILE:
                    pass  # of a Func that is fused
    tiles |= own
    return max(
        (
            prod(_width(tiles.get((func, x)), blocks.get((func, x))) for x in labels)
            for func in dict.fromkeys(func for func, _ in tiles)
            for labels in of.labels[func]
        ),
        default=1,
    )


def _width(tile: int | None, block: int | None) -> int:
    """Give a lower bound for the lanes along a label.

    A tile of 0 is all of a block, or of a size.
    """
    if tile is None:
        return 1
    if block is None:
        return tile or 1
    rounded = 1 << (block - 1).bit_length()
    return min(tile or rounded, rounded)
