"""A kernel in; what of its rows is to be a multiple of four for wide loads, and its text, out.

Triton sees by itself what is divisible by 16, and loads element by element else. Many rows are
multiples of 4 or 8 numbers: a kernel says so where its launch says that all its rows are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dtpoly.ir.kernel import FOURS, Row, TileKernel
from dtpoly.poly.model import Model

from .axis_words import ANYWHERE, PlainAxes, axis_words

COMMENT = "# Divided and multiplied so that Triton sees: rows begin at multiples of four numbers."


def with_fours(plain: PlainAxes, model: Model, kernel: TileKernel) -> TileKernel:
    """The kernel, which has rows unless it loads in blocks, or begins rows anywhere."""
    if kernel.described:
        return kernel
    return replace(kernel, fours=tuple(rows(kernel, axis_words(plain, model, kernel))))


def rows(kernel: TileKernel, words: Sequence[Sequence[str]]) -> Iterator[Row]:
    """Strides between rows, and how long rows are, as `dt_steps` in a generated file finds them."""
    several = any(tensor.rank > 1 for tensor in kernel.tensors)
    sizes = {variable for _, variable in kernel.sizes}
    found = dict[str, Row]()
    for tensor, lengths in zip(kernel.tensors, words, strict=True):
        last = tensor.rank - 1
        for axis, length in enumerate(lengths):
            stride = f"{tensor.variable}_stride_{axis}"
            if axis != last and length != ANYWHERE:
                found[stride] = Row(stride, tensor.name, axis)
            elif axis == last and length in sizes and tensor.rank > several:
                found[length] = Row(length)
    yield from sorted(found.values(), key=lambda row: not row.tensor)


def fours_lines(kernel: TileKernel) -> Iterator[str]:
    """What a kernel says of its rows."""
    if kernel.fours:
        yield COMMENT
        yield f"if {FOURS}:"
    for row in kernel.fours:
        yield f"    {row.variable} = {row.variable} // 4 * 4"
