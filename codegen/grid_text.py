"""Writes the lines about a kernel's grid: a comment, and how a program finds its block."""

import textwrap
from collections.abc import Mapping, Sequence
from enum import Enum

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.bound_widths import WIDE
from dtpoly.ir.kernel import BEFORE, OFFSET, GridAxis, TileKernel
from dtpoly.ir.step_dependences import names_of_bound
from dtpoly.poly.loops import Bound, Combined

from .breaking import WIDTH
from .line import Head, KernelLine, OfBlocks
from .value_text import bound_text

OPERATORS = ("+", "-", "*", "//", "%")


class ProgramNumber(Enum):
    """The number of a program, or that of the block which it computes now."""

    ALONE = f"tl.program_id(0).to({OFFSET})"
    BEHIND_OTHERS = f"(tl.program_id(0) - {BEFORE}).to({OFFSET})"  # of another kernel
    IN_TURN = f"tl.cast(block, {OFFSET})"  # programs take several blocks, one after another


@dataclass(frozen=True, slots=True)
class GridSetting:
    """`name = value`, what it is about, and whether it is left out where nothing needs it."""

    name: str
    value: Bound | ProgramNumber
    about: Head | OfBlocks | None
    is_optional: bool = False

    @property
    def line(self) -> KernelLine:
        """As it stands in the kernel."""
        return KernelLine(f"{self.name} = {_text(self.value)}", about=self.about)

    @property
    def names(self) -> frozenset[str]:
        """The names that the value is computed from."""
        if isinstance(self.value, ProgramNumber):
            return frozenset()
        return frozenset(names_of_bound(self.value))


def _text(value: Bound | ProgramNumber) -> str:
    """Print a value; of what is multiplied or divided, all that is no name is in brackets."""
    match value:
        case ProgramNumber():
            return value.value
        case Combined(operation="min", operands=operands):
            return f"min({', '.join(map(_text, operands))})"
        case Combined(operation="cdiv", operands=operands):
            return f"tl.cdiv({', '.join(map(_text, operands))})"
        case Combined(operation="+" | "-" as operation, operands=operands):
            return f" {operation} ".join(map(_text, operands))
        case Combined(operation="*" | "//" | "%" as operation, operands=operands):
            return f" {operation} ".join(map(_apart, operands))
        case _:
            return bound_text(value)


def _apart(value: Bound) -> str:
    """Print a value as part of a larger one."""
    is_sum = isinstance(value, Combined) and value.operation in OPERATORS
    return f"({_text(value)})" if is_sum else _text(value)


def grid_comment(kernel: TileKernel) -> list[str]:
    """Describe the programs of the grid in the words of the schedule."""
    axes = kernel.grid
    if not axes:
        return ["Grid: one program."]
    order = ", outermost first" if len(axes) > 1 else ""
    text = f"Grid{order}: {', '.join(map(_blocks, axes))}."
    return textwrap.wrap(text, WIDTH - len("    # "), subsequent_indent="  ")


def _blocks(axis: GridAxis) -> str:
    if axis.group:
        return f"{axis.label} in groups of {axis.group} blocks"
    return f"{axis.label} in blocks of {axis.step}" if axis.step > 1 else f"each {axis.label}"


def counts(kernel: TileKernel) -> list[GridSetting]:
    """Return how many blocks each axis of the grid has."""
    # A full group of a label that has fewer blocks may count more than there are programs.
    is_wide = any(axis.group for axis in kernel.grid)
    blocks = _names_of_counts(kernel.grid)
    return [
        GridSetting(blocks[a.name], _count(a, is_wide), OfBlocks(a.label), is_optional=True)
        for a in kernel.grid
        if not a.group
    ]


def every_block(kernel: TileKernel) -> str:
    """Return the number of all blocks."""
    number = _product([_named(name) for name in _names_of_counts(kernel.grid).values()])
    return "" if number is None else _text(number)


def way_to_block(
    kernel: TileKernel, number: ProgramNumber = ProgramNumber.ALONE
) -> list[GridSetting]:
    """Compute, from the program's number, where each axis of the grid starts.

    The number is read in mixed radix. A group at the edge may be short. Those before it are full,
    so dividing by a full group finds the group, and what is left is divided by the group's own
    size.
    """
    grid = kernel.grid
    if not grid:
        return []
    # A group stands for the blocks that are inside of it.
    of = [axis.block for axis in grid]
    blocks = _names_of_counts(grid)
    left = dict(blocks)
    first: dict[str, Bound] = {}
    found = [GridSetting("pid", number, Head.GRID)]
    for i, (axis, own) in enumerate(zip(grid, of, strict=True)):
        inner = set(of[i + 1 :])
        others = [_named(left[x]) for x in dict.fromkeys(of) if x in inner and x != own]
        below = _product([*([_number(axis.group)] if axis.group else []), *others])
        block: Bound = _named("pid")
        if below is not None and i < len(grid) - 1:
            block = Combined("//", (block, below))
        if axis.group:
            place = f"{axis.name}_id"
            found.append(GridSetting(place, block, OfBlocks(axis.label, in_groups=True)))
            found += _what_is_left(grid, i, below)
            first[own] = Combined("*", (_named(place), _number(axis.group)))
            left[own] = _name(f"{axis.label}_in_group", f"{axis.name}_in_group", left)
            found.append(_in_group(axis, left[own], blocks[own], first[own]))
            continue
        before = [first[own]] if own in first else []
        if axis.is_descending:
            block = Combined("-", (_named(blocks[own]), _number(1), *before, block))
        elif before:
            block = Combined("+", (*before, block))
        if (factor := axis.step // axis.unit) != 1:
            block = Combined("*", (block, _number(factor)))
        found.append(GridSetting(axis.name, block, OfBlocks(axis.label)))
        found += _what_is_left(grid, i, below)
    return found


def _what_is_left(grid: Sequence[GridAxis], at: int, below: Bound | None) -> list[GridSetting]:
    """Return the number among the programs that share the axis which was just found."""
    if below is None or at == len(grid) - 1:
        return []
    return [GridSetting("pid", Combined("%", (_named("pid"), below)), Head.GRID)]


def _in_group(axis: GridAxis, name: str, blocks: str, start: Bound) -> GridSetting:
    """Return how many blocks a group has: one at the edge may be short."""
    assert axis.group is not None
    value = Combined("min", (Combined("-", (_named(blocks), start)), _number(axis.group)))
    about = OfBlocks(axis.label, in_groups=True)
    return GridSetting(name, value, about, is_optional=name == f"{axis.label}_in_group")


def _named(name: str) -> Affine:
    return Affine(((name, 1),))


def _number(value: int) -> Affine:
    return Affine((), value)


def _product(factors: Sequence[Bound]) -> Bound | None:
    """A product; None if there are no factors."""
    if len(factors) < 2:
        return factors[0] if factors else None
    return Combined("*", tuple(factors))


def _names_of_counts(grid: Sequence[GridAxis]) -> dict[str, str]:
    """Name the variable for the number of blocks of each axis.

    Of several axes of one label, the outer one gets the plain name.
    """
    found: dict[str, str] = {}
    for axis in grid:
        if not axis.group:
            found[axis.name] = _name(f"{axis.label}_blocks", f"{axis.name}_blocks", found)
    return found


def _name(plain: str, other: str, taken: Mapping[str, str]) -> str:
    """Return a label's own name for a number, unless another axis of the label has it."""
    return other if plain in taken.values() else plain


def _count(axis: GridAxis, is_wide: bool) -> Bound:
    size = _named(axis.size)
    wide = Combined(WIDE, (size,)) if is_wide else size
    return Combined("cdiv", (wide, _number(axis.step))) if axis.step > 1 else wide


def needed(settings: Sequence[GridSetting]) -> list[GridSetting]:
    """Return the settings without those of numbers of blocks that no later one needs."""
    kept: list[GridSetting] = []
    names: set[str] = set()
    for one in reversed(settings):
        if not one.is_optional or one.name in names:
            kept.append(one)
            names |= one.names
    return kept[::-1]
