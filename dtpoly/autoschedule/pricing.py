"""A plan with layouts in; what the cost model says of each of its kernels, out."""

from collections.abc import Iterable, Mapping

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Directive, Program
from dtpoly.algorithm.sizes import Sizes
from dtpoly.autoschedule.layout import Layout, directives_of
from dtpoly.autoschedule.plans import Plan, directive_of, with_directives
from dtpoly.diagnostics import has_errors
from dtpoly.explore.cost import Cost, KernelCost, cost
from dtpoly.explore.devices import Device
from dtpoly.frozen import dataclass
from dtpoly.schedule.check import check_schedule
from dtpoly.schedule.primitives import bind
from dtpoly.schedule.resolve import resolve


@dataclass(frozen=True)
class Call:
    """What is scheduled: a Program with nothing but what it computes, sizes, and a device."""

    program: Program
    kept: tuple[Directive, ...]  # what is compiled
    sizes: Sizes
    dtype: DType
    device: Device
    is_warm: bool = False


def schedule_of(call: Call, plan: Plan, layouts: Mapping[str, Layout]) -> tuple[Directive, ...]:
    """The whole schedule: kernel after kernel, each with what is fused into it."""
    found: list[Directive] = []
    for members in plan.kernels:
        host = members[-1]
        found += [d for d in directives_of(layouts[host])]
        placed = (directive_of(plan.find(name)) for name in members[:-1])
        found += [d for d in placed if d is not None]
    inlined = (directive_of(one) for one in plan.placed if one.how == "inline")
    return (*(d for d in inlined if d is not None), *found, *call.kept)


def priced(
    call: Call, plan: Plan, layouts: Mapping[str, Layout]
) -> Mapping[str, tuple[KernelCost, ...]] | None:
    """The kernels of each Func; None where the schedule cannot be or does not fit.

    Whether it is legal is not asked: that takes longer, and few are left that must be.
    """
    program = with_directives(call.program, schedule_of(call, plan, layouts))
    if has_errors(check_schedule(program)):
        return None
    state = resolve(program, bind(program.directives).primitives)
    found: Cost = cost(state, call.sizes, call.dtype, call.device, call.is_warm)
    if not found.fits:
        return None
    mine: dict[str, tuple[KernelCost, ...]] = {}
    for kernel, one in zip(state.kernels, found.kernels, strict=True):
        mine[kernel.func] = (*mine.get(kernel.func, ()), one)
    return mine


def seconds(kernels: Iterable[KernelCost]) -> float:
    """Of some kernels together."""
    return sum(one.seconds for one in kernels)
