"""Shows a schedule tree as text: one node a line, with the source's labels."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from dtpoly.algorithm.show import show_affine
from dtpoly.poly.axes import ZERO, Axis
from dtpoly.schedule.tree import Kernel, Leaf, Loop, Node, Sequence, launch_of


def show_tree(kernels: Iterable[Kernel]) -> str:
    """Show all kernels, in the order in which they run."""
    return "\n".join(line for kernel in kernels for line in _kernel(kernel))


def head(kernel: Kernel) -> str:
    """Give the name of a kernel, and what is unusual about it.

    That may be its programs, its memory, or its launches.
    """
    return f"kernel {words(kernel)}"


def words(kernel: Kernel) -> str:
    """`f, as many programs as run at once, rows aligned, launched with g`."""
    return ", ".join((kernel.name, *unusual(kernel)))


def unusual(kernel: Kernel) -> Iterator[str]:
    """Yield what is not as usual of a kernel's programs, its memory and its launches."""
    launch = launch_of(kernel)
    if launch.each:
        yield "as many programs as run at once"
    if launch.each > 1:
        yield f"{launch.each} for each multiprocessor"
    if launch.is_pitched:
        yield "rows aligned"
    if launch.beside:
        yield f"launched with {launch.beside}"
    if launch.panel is not None:
        label, size = launch.panel
        yield f"in panels of {size} of {label}"


def _kernel(kernel: Kernel) -> Iterator[str]:
    yield head(kernel)
    for axis in kernel.grid:
        yield f"  grid {show_axis(axis)}"
    yield from _node(kernel.body, "  ")


def _node(node: Node, pad: str) -> Iterator[str]:
    match node:
        case Leaf(statement=statement, lanes=lanes):
            of = "".join(f"  lanes {show_axis(lane)}" for lane in lanes)
            yield f"{pad}{statement}{of}"
        case Sequence(children=children):
            for child in children:
                yield from _node(child, pad)
        case Loop(axis=axis, child=child, unroll=unroll):
            written = f", {unroll} at a time" if unroll > 1 else ""
            yield f"{pad}loop {show_axis(axis)}{written}"
            yield from _node(child, pad + "  ")
        case _:
            assert_never(node)


def show_axis(axis: Axis) -> str:
    """`x = x from f.x.block for 16 by 4`: the label that is walked, from where, how far."""
    name = axis.label
    index = "" if axis.index.plain == axis.label else f" = {show_affine(axis.index)}"
    start = "" if axis.origin == ZERO else f" from {show_affine(axis.origin)}"
    end = f" for {axis.extent}" if axis.extent is not None else ""
    step = " at once" if axis.is_single else f" by {axis.step}"
    counts = f", counting {show_affine(axis.time)}" if axis.time is not None else ""
    return f"{name}{index}{start}{end}{step}{counts}"
