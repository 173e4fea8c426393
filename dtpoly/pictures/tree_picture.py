"""Draws the trees of the kernels of a schedule, as SVG."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from dtpoly.render.nested import StyledWords, WordRow, draw_nested
from dtpoly.schedule.tree import Kernel, Leaf, Loop, Node, Sequence
from dtpoly.schedule.tree_text import show_axis, words


def tree_picture(kernels: Iterable[Kernel]) -> str:
    """Draw one node in a line, as in the text; grid, loops and lanes have different colours."""
    rows = [row for kernel in kernels for row in _kernel(kernel)]
    return draw_nested("the kernels, their loops and their lanes", rows)


def _kernel(kernel: Kernel) -> Iterator[WordRow]:
    yield WordRow(0, (StyledWords("kernel", words(kernel)),))
    for axis in kernel.grid:
        yield WordRow(1, (StyledWords("grid", show_axis(axis)),))
    yield from _node(kernel.body, 1)


def _node(node: Node, depth: int) -> Iterator[WordRow]:
    match node:
        case Leaf(statement=statement, lanes=lanes):
            parts = (StyledWords("lanes", show_axis(lane)) for lane in lanes)
            yield WordRow(depth, (StyledWords("", statement), *parts))
        case Sequence(children=children):
            for child in children:
                yield from _node(child, depth)
        case Loop(axis=axis, child=child, unroll=unroll, is_reduction=is_reduction):
            kind = "reduction loop" if is_reduction else "loop"
            written = f", {unroll} at a time" if unroll > 1 else ""
            yield WordRow(depth, (StyledWords(kind, f"{show_axis(axis)}{written}"),))
            yield from _node(child, depth + 1)
        case _:
            assert_never(node)
