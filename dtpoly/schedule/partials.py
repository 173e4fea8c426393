"""Makes kernels of partial results, where `block` cuts a label that a Func reduces over."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Part
from dtpoly.poly.axes import Axis
from dtpoly.poly.model import Model, by_name
from dtpoly.poly.partial import DividedModel, First, divide_atomic, divide_reductions
from dtpoly.schedule.nesting import nest
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Loop, Node, rewrite, statements


def with_partial_results(state: State, func: str, parts: Mapping[str, Part]) -> State:
    """Make a kernel for each reduction that parts divide; the Func's own comes after them.

    It combines the partial results.
    """
    (kernel,) = state.kernels_of(func)
    divide = divide_atomic if kernel.options.atomic else divide_reductions
    divided = divide(state.model, func, parts)
    made = _kernels(kernel, divided, parts, state.sized.fixed)
    at = state.kernels.index(kernel)
    kernels = (*state.kernels[:at], *made, *state.kernels[at + 1 :])
    return replace(state, model=divided.model, kernels=kernels)


def _kernels(
    kernel: Kernel, divided: DividedModel, parts: Mapping[str, Part], sizes: Mapping[str, int]
) -> tuple[Kernel, ...]:
    model = divided.model
    made: list[Kernel] = []
    if divided.identity is not None:
        body = _nest(model, kernel, (divided.identity,), sizes)
        made.append(replace(kernel, name=divided.identity, func=divided.identity, body=body))
    made += [_first(model, kernel, first, parts, sizes) for first in divided.firsts]
    if divided.final:
        made.append(replace(kernel, body=_nest(model, kernel, divided.final, sizes)))
    return tuple(made)


def _nest(
    model: Model,
    kernel: Kernel,
    names: tuple[str, ...],
    sizes: Mapping[str, int],
    without: tuple[str, ...] = (),
) -> Node:
    known = by_name(model)
    dims = model.arrays[kernel.func].dims
    scanned = {one.scan.label for one in model.of_func(kernel.func) if one.scan is not None}
    if len(scanned) == 1:  # the label of a scan is inside of the others, as in the whole Func
        dims = (*(dim for dim in dims if dim not in scanned), *scanned)
    return nest((known[name] for name in names), dims, without, sizes)


def _count(part: Part, sizes: Mapping[str, int]) -> int | None:
    """Return how many parts there are, if the file says the size of what is parted."""
    return -(-sizes[part.of] // part.size) if part.of in sizes else None


def _first(
    model: Model,
    kernel: Kernel,
    first: First,
    parts: Mapping[str, Part],
    sizes: Mapping[str, int],
) -> Kernel:
    """Make the kernel of partial results.

    It has a grid axis over the parts of each divided label.
    """
    grid = {
        parts[new].of: Axis(
            f"{kernel.func}.{parts[new].of}.block",
            parts[new].of,
            Affine(((new, 1),)),
            extent=_count(parts[new], sizes),
        )
        for new in first.parts
    }
    known = by_name(model)

    def goes_through_a_part(loop: Loop) -> bool:
        # A reduction in the operand may bind the label again: it goes through everything.
        walked = {x for name in statements(loop) for x in known[name].labels}
        return any(parts[new].of == loop.axis.label for new in walked & set(first.parts))

    begins = {label: (axis, parts[axis.index.labels[0]].size) for label, axis in grid.items()}
    body = _nest(model, kernel, first.statements, sizes, first.parts)
    body = through_parts(body, begins, goes_through_a_part)
    return replace(kernel, name=first.name, grid=tuple(reversed(grid.values())), body=body)


# For a label, the grid axis that numbers its parts, and the size of one.
Begins = Mapping[str, tuple[Axis, int]]


def through_parts(node: Node, begins: Begins, chosen: Callable[[Loop], bool]) -> Node:
    """Let the chosen loops over divided labels go through the part that a program has."""

    def inside(one: Node) -> Node:
        if not isinstance(one, Loop) or one.axis.label not in begins or not chosen(one):
            return one
        axis, size = begins[one.axis.label]
        origin = Affine(((axis.name, size),))
        return replace(one, axis=replace(one.axis, origin=origin, extent=size))

    return rewrite(node, inside)
