"""Writes the lines about a kernel's grid: a comment, and how a program finds its block."""

import re
import textwrap
from collections.abc import Mapping, Sequence

from dtpoly.ir.kernel import GridAxis, TileKernel

from .breaking import WIDTH


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


def count_lines(kernel: TileKernel) -> list[str]:
    """How many blocks each axis of the grid has."""
    # A full group of a label that has fewer blocks may count more than there are programs.
    is_wide = any(axis.group for axis in kernel.grid)
    blocks = _names_of_counts(kernel.grid)
    return [f"{blocks[a.name]} = {_count(a, is_wide)}" for a in kernel.grid if not a.group]


def every_block(kernel: TileKernel) -> str:
    """The number of all blocks."""
    return " * ".join(_names_of_counts(kernel.grid).values())


def grid_lines(kernel: TileKernel, number: str = "tl.program_id(0).to(offset)") -> list[str]:
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
    first: dict[str, str] = {}
    lines = [f"pid = {number}"]
    for i, (axis, own) in enumerate(zip(grid, of, strict=True)):
        inner = set(of[i + 1 :])
        others = [left[x] for x in dict.fromkeys(of) if x in inner and x != own]
        if axis.group:
            others.insert(0, str(axis.group))
        below = " * ".join(others)
        many = f"({below})" if len(others) > 1 else below
        place = f"{axis.name}_id"
        is_last = i == len(grid) - 1
        divided = "pid" + ("" if is_last or not below else f" // {many}")
        if axis.group:
            lines.append(f"{place} = {divided}")
            if not is_last and below:
                lines.append(f"pid = pid % {many}")
            start = f"{place} * {axis.group}"
            first[own] = start
            left[own] = _name(f"{axis.label}_in_group", f"{axis.name}_in_group", left)
            lines.append(f"{left[own]} = min({blocks[own]} - {start}, {axis.group})")
            continue
        factor = axis.step // axis.unit
        block = divided
        if own in first:
            block = f"{first[own]} + {divided}"
        if factor != 1 and " " in block:
            block = f"({block})"
        lines.append(f"{axis.name} = {block}" + (f" * {factor}" if factor != 1 else ""))
        if not is_last and below:
            lines.append(f"pid = pid % {many}")
    return lines


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


def _count(axis: GridAxis, is_wide: bool) -> str:
    size = f"tl.cast({axis.size}, offset)" if is_wide else axis.size
    return f"tl.cdiv({size}, {axis.step})" if axis.step > 1 else size


def needed_lines(kernel: TileKernel, lines: list[str]) -> list[str]:
    """The lines without those that set a number of blocks which no later line needs."""
    names = {*_names_of_counts(kernel.grid).values()}
    names |= {f"{axis.label}_in_group" for axis in kernel.grid}
    kept: list[str] = []
    needed: set[str] = set()
    for line in reversed(lines):
        name = line.split()[0]
        if name not in names or name in needed:
            kept.append(line)
            needed.update(re.findall(r"\w+", line))
    return kept[::-1]
