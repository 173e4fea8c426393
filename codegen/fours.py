"""Says which strides and row lengths a kernel may promise to be multiples of four.

Triton sees by itself which numbers are divisible by 16; for others it loads element by element.
Many rows are multiples of 4 or 8 numbers. So a kernel has a compile-time parameter `fours`, which a
launch sets if all its rows are multiples of four. The kernel then says so in lines such as `x = x
// 4 * 4`, from which Triton sees that wide loads are possible.
"""

from collections.abc import Iterator, Sequence

from dtpoly.ir.kernel import Row, TileKernel

from .axis_words import ANYWHERE


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
