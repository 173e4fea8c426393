"""Writes the lines about a kernel's grid: a comment, and how a program finds its block."""

import textwrap
from collections.abc import Mapping, Sequence

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import GridAxis, TileKernel

from .breaking import WIDTH
from .line import Head, Line, OfBlocks

NUMBER = "tl.program_id(0).to(offset)"


@dataclass(frozen=True, slots=True)
class Expression:
    """The text of a number, the names in it, and whether it stands by itself in any place."""

    text: str
    names: frozenset[str] = frozenset()
    is_single: bool = True

    @property
    def apart(self) -> str:
        """The text as part of a larger one."""
        return self.text if self.is_single else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Setting:
    """`name = value`, what it is about, and whether it is left out where nothing needs it."""

    name: str
    value: Expression
    about: Head | OfBlocks | None
    is_optional: bool = False

    @property
    def line(self) -> Line:
        """As it stands in the kernel."""
        return Line(f"{self.name} = {self.value.text}", about=self.about)


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


def counts(kernel: TileKernel) -> list[Setting]:
    """How many blocks each axis of the grid has."""
    # A full group of a label that has fewer blocks may count more than there are programs.
    is_wide = any(axis.group for axis in kernel.grid)
    blocks = _names_of_counts(kernel.grid)
    return [
        Setting(blocks[a.name], _count(a, is_wide), OfBlocks(a.label), is_optional=True)
        for a in kernel.grid
        if not a.group
    ]


def every_block(kernel: TileKernel) -> str:
    """The number of all blocks."""
    return " * ".join(_names_of_counts(kernel.grid).values())


def way_to_block(kernel: TileKernel, number: str = NUMBER) -> list[Setting]:
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
    first: dict[str, Expression] = {}
    found = [Setting("pid", Expression(number, is_single=False), Head.GRID)]
    for i, (axis, own) in enumerate(zip(grid, of, strict=True)):
        inner = set(of[i + 1 :])
        others = [left[x] for x in dict.fromkeys(of) if x in inner and x != own]
        below = _product([str(axis.group)] if axis.group else [], others)
        divided = _named("pid")
        if below is not None and i < len(grid) - 1:
            divided = _joined(_named("pid"), "//", below)
        if axis.group:
            place = f"{axis.name}_id"
            found.append(Setting(place, divided, OfBlocks(axis.label, in_groups=True)))
            found += _what_is_left(grid, i, below)
            first[own] = _joined(_named(place), "*", Expression(str(axis.group)))
            left[own] = _name(f"{axis.label}_in_group", f"{axis.name}_in_group", left)
            found.append(_in_group(axis, left[own], blocks[own], first[own]))
            continue
        block = divided
        if own in first:
            block = Expression(
                f"{first[own].text} + {divided.text}", first[own].names | divided.names, False
            )
        if (factor := axis.step // axis.unit) != 1:
            block = Expression(f"{block.apart} * {factor}", block.names, False)
        found.append(Setting(axis.name, block, OfBlocks(axis.label)))
        found += _what_is_left(grid, i, below)
    return found


def _what_is_left(grid: Sequence[GridAxis], at: int, below: Expression | None) -> list[Setting]:
    """The number among the programs that share the axis which was just found."""
    if below is None or at == len(grid) - 1:
        return []
    return [Setting("pid", _joined(_named("pid"), "%", below), Head.GRID)]


def _in_group(axis: GridAxis, name: str, blocks: str, start: Expression) -> Setting:
    """How many blocks a group has: one at the edge may be short."""
    value = Expression(f"min({blocks} - {start.text}, {axis.group})", start.names | {blocks})
    about = OfBlocks(axis.label, in_groups=True)
    return Setting(name, value, about, is_optional=name == f"{axis.label}_in_group")


def _named(name: str) -> Expression:
    return Expression(name, frozenset({name}))


def _product(numbers: Sequence[str], names: Sequence[str]) -> Expression | None:
    """A product of numbers and names; None if there are none."""
    factors = (*numbers, *names)
    if not factors:
        return None
    return Expression(" * ".join(factors), frozenset(names), len(factors) == 1)


def _joined(left: Expression, operator: str, right: Expression) -> Expression:
    text = f"{left.apart} {operator} {right.apart}"
    return Expression(text, left.names | right.names, is_single=False)


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
    """A label's own name for a number, unless another axis of the label has it."""
    return other if plain in taken.values() else plain


def _count(axis: GridAxis, is_wide: bool) -> Expression:
    size = f"tl.cast({axis.size}, offset)" if is_wide else axis.size
    text = f"tl.cdiv({size}, {axis.step})" if axis.step > 1 else size
    return Expression(text, frozenset({axis.size}))


def needed(settings: Sequence[Setting]) -> list[Setting]:
    """The settings without those of numbers of blocks that no later one needs."""
    kept: list[Setting] = []
    names: set[str] = set()
    for one in reversed(settings):
        if not one.is_optional or one.name in names:
            kept.append(one)
            names |= one.value.names
    return kept[::-1]
