"""Candidates in; those whose schedules are proved legal and have code, with reasons, out."""

from collections.abc import Iterable, Iterator, Mapping

from dtpoly.algorithm.program import Directive, Program
from dtpoly.autoschedule.choose import Candidate, nests_of
from dtpoly.autoschedule.plans import directive_of, with_directives
from dtpoly.autoschedule.pricing import Call, priced, schedule_of
from dtpoly.autoschedule.reasons import Decided, Line, lines_of
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.cost import KernelCost
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge


@dataclass(frozen=True)
class Settled:
    """A schedule that can be used, with the reason for each directive."""

    program: Program
    lines: tuple[Line, ...]
    seconds: float
    kernels: tuple[KernelCost, ...]


def settled(call: Call, candidates: Iterable[Candidate]) -> Iterator[Settled]:
    """Those that are legal for all sizes and for which code can be generated, as they come."""
    for one in candidates:
        layouts = {layout.func: layout for layout in one.layouts}
        program = with_directives(call.program, schedule_of(call, one.plan, layouts))
        if not _is_usable(program):
            continue
        costs = priced(call, one.plan, layouts)
        assert costs is not None
        kernels = tuple(kernel for mine in costs.values() for kernel in mine)
        total = sum(kernel.seconds for kernel in kernels)
        yield Settled(program, tuple(_lines(call, one, costs)), total, kernels)


def _is_usable(program: Program) -> bool:
    try:
        verdict = judge(program)
        if not verdict.is_legal:
            return False
        code_of(verdict.scheduled)
    except DtpolyError:
        return False
    return True


def _lines(
    call: Call, one: Candidate, costs: Mapping[str, tuple[KernelCost, ...]]
) -> Iterator[Line]:
    """In the order of the schedule."""
    places = {d: placed.why for placed in one.plan.placed if (d := directive_of(placed))}
    nests = {nest.func.name: nest for nest in nests_of(call, one.plan)}
    reasons: dict[Directive, str] = dict(places)
    for layout in one.layouts:
        kernel = costs[layout.func][0]
        decided = Decided(nests[layout.func], layout, kernel, call.device)
        for line in lines_of(decided):
            reasons[line.directive] = line.why
    layouts = {layout.func: layout for layout in one.layouts}
    for directive in schedule_of(call, one.plan, layouts):
        yield Line(directive, reasons.get(directive, ""))
