"""An algorithm, sizes and a device in; schedules in the order in which they seem fast, out."""

from collections.abc import Iterator, Mapping
from heapq import nsmallest
from itertools import product as choices

from dtpoly.autoschedule.elementwise import elementwise
from dtpoly.autoschedule.layout import Layout
from dtpoly.autoschedule.nest import Nest, nest_of
from dtpoly.autoschedule.plans import Plan, plans
from dtpoly.autoschedule.preferences import reluctance
from dtpoly.autoschedule.pricing import Call, priced, seconds
from dtpoly.autoschedule.products import products, refined
from dtpoly.autoschedule.reductions import reductions
from dtpoly.explore.cost import KernelCost
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs
from dtpoly.targets.arguments import BYTES

REFINED = 6  # blocks of products that are looked at more closely
DECIDES = 0.1  # of a schedule's time: a kernel that takes less has its best layout only


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule, and how long it should take."""

    plan: Plan
    layouts: tuple[Layout, ...]  # one for each kernel, in their order
    seconds: float
    score: float  # the same with what the cost model does not know


@dataclass(frozen=True, slots=True)
class Priced:
    """A layout of a kernel, and how long that kernel should take."""

    seconds: float
    score: float
    layout: Layout


def candidates(call: Call, precision: str) -> list[Candidate]:
    """All that were looked at, the fastest first."""
    width = BYTES[call.dtype]
    processors = int(call.device["multiprocessors"])
    found: list[Candidate] = []
    for plan in plans(call.program, outputs(call.program), call.sizes, width, processors):
        found += _of_plan(call, plan, precision)
    return sorted(found, key=lambda one: one.score)


def nests_of(call: Call, plan: Plan) -> tuple[Nest, ...]:
    """The kernels of a plan."""
    program = plan.substituted(call.program)
    names = (*call.program.labels, *call.program.inputs, *call.program.funcs)
    taken = frozenset(one.name for one in names)
    return tuple(
        nest_of(program, members, call.sizes, call.dtype, taken) for members in plan.kernels
    )


def _of_plan(call: Call, plan: Plan, precision: str) -> Iterator[Candidate]:
    nests = nests_of(call, plan)
    every = [tuple(_layouts(call, nest, precision)) for nest in nests]
    if not all(every):
        return
    chosen = {nest.func.name: mine[0] for nest, mine in zip(nests, every, strict=True)}
    ranked: list[list[Priced]] = []
    for nest, layouts in zip(nests, every, strict=True):
        mine = _ranked(call, plan, chosen, nest, layouts)
        if nest.products and mine:
            best = nsmallest(REFINED, mine, key=lambda one: one.score)
            closer = tuple(
                dict.fromkeys(x for one in best for x in refined(nest, call.device, one.layout))
            )
            mine += _ranked(call, plan, chosen, nest, closer)
        if not mine:
            return
        mine.sort(key=lambda one: one.score)
        chosen[nest.func.name] = mine[0].layout
        ranked.append(mine)
    whole = sum(mine[0].seconds for mine in ranked)
    kept = [mine if mine[0].seconds > DECIDES * whole else mine[:1] for mine in ranked]
    for combined in choices(*(mine[:40] for mine in kept)):
        total = sum(one.seconds for one in combined)
        score = sum(one.score for one in combined)
        yield Candidate(plan, tuple(one.layout for one in combined), total, score)


def _layouts(call: Call, nest: Nest, precision: str) -> Iterator[Layout]:
    if nest.products:
        yield from products(nest, call.device, precision)
    elif nest.sums:
        yield from reductions(nest, int(call.device["multiprocessors"]))
    else:
        yield from elementwise(nest)


def _ranked(
    call: Call,
    plan: Plan,
    chosen: Mapping[str, Layout],
    nest: Nest,
    layouts: tuple[Layout, ...],
) -> list[Priced]:
    found: list[Priced] = []
    for layout in layouts:
        name = nest.func.name
        kernels = priced(call, plan, {**chosen, name: layout})
        if kernels is None or not _is_full(layout, kernels[name]):
            continue
        took = seconds(kernels[name])
        found.append(Priced(took, took * (1 + reluctance(nest, layout)), layout))
    return found


def _is_full(layout: Layout, kernels: tuple[KernelCost, ...]) -> bool:
    """Whether programs that stay take all the room there is, and no more."""
    return not layout.each or layout.each == kernels[-1].resources.resident
