"""Says which strides and row lengths a kernel may promise to be multiples of four.

Triton sees by itself which numbers are divisible by 16; for others it loads element by element.
Many rows are multiples of 4 or 8 numbers. So a kernel has a compile-time parameter `fours`, which a
launch sets if all its rows are multiples of four. The kernel then says so in lines such as `x = x
// 4 * 4`, from which Triton sees that wide loads are possible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dtpoly.ir.kernel import FOURS, Row, TileKernel
from dtpoly.poly.model import Model

from .axis_words import ANYWHERE, PlainAxes, axis_words

COMMENT = "# Divided and multiplied so that Triton sees: rows begin at multiples of four numbers."


def with_fours(plain: PlainAxes, model: Model, kernel: TileKernel) -> TileKernel:
    """Give the kernel its rows: none if it loads in blocks, or if its rows begin anywhere."""
    if kernel.described:
        return kernel
    return replace(kernel, fours=tuple(rows(kernel, axis_words(plain, model, kernel))))


def rows(kernel: TileKernel, words: Sequence[Sequence[str]]) -> Iterator[Row]:
    """Give the strides between rows, and the lengths of rows.

    `dt_steps` in generated files finds the same.
    """
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
    """Write the lines in which a kernel says that its rows are multiples of four."""
    if kernel.fours:
        yield COMMENT
        yield f"if {FOURS}:"
    for row in kernel.fours:
        yield f"    {row.variable} = {row.variable} // 4 * 4"
