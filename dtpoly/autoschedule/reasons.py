"""Asks each directive of a kernel why it is there."""

from collections.abc import Iterator

from dtpoly.algorithm.program import Directive
from dtpoly.autoschedule.layout_directives import said_of
from dtpoly.autoschedule.nest import KernelNest
from dtpoly.explore.cost.cost import KernelCost
from dtpoly.explore.devices.devices import Device
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.bound_primitives import Primitives


@dataclass(frozen=True, slots=True)
class ReasonLine:
    """A directive, and why it is there; nothing where it was asked for."""

    directive: Directive
    why: str


def lines_of(decided: Decided, primitives: Primitives) -> Iterator[ReasonLine]:
    """Yield every directive of a kernel with its reason."""
    for one in said_of(decided.layout, primitives):
        yield ReasonLine(one.directive(), one.why(decided))


def decided(nest: KernelNest, layout: Layout, cost: KernelCost, device: Device) -> Decided:
    """A kernel, what was decided of it, and what that costs: of its last launch, if of several."""
    kept = [(*one.kept, *(() if one.is_product else one.labels)) for one in nest.sums]
    return Decided(
        layout=layout,
        sizes=nest.sizes,
        reduced=nest.reduced,
        product=nest.products[-1].labels if nest.products else (),
        operand=max((load.size for load in nest.loads if load.is_operand), default=4),
        kept=(nest.labels, *kept),
        processors=int(device["multiprocessors"]),
        programs=cost.programs,
        shared=cost.resources.shared,
    )
