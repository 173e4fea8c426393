"""Ranks schedules of an algorithm by the time that the cost model predicts on a device."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from heapq import nsmallest
from math import inf

from dtpoly.algorithm.program import Directive, Program
from dtpoly.amounts import amount
from dtpoly.autoschedule.chains import chain
from dtpoly.autoschedule.descent import descended
from dtpoly.autoschedule.elementwise import elementwise
from dtpoly.autoschedule.kernel_floors import least_moved
from dtpoly.autoschedule.layout_directives import said_of
from dtpoly.autoschedule.layout_variants import variants
from dtpoly.autoschedule.nest import KernelNest, nest_of
from dtpoly.autoschedule.operand_copies import copies_of, is_read, with_copies
from dtpoly.autoschedule.plans import (
    ChosenPlace,
    Placed,
    PlacementPlan,
    apart,
    directive_of,
    plans,
)
from dtpoly.autoschedule.preferences import of_operands
from dtpoly.autoschedule.pricing import Priced, PricedCall, launching, priced
from dtpoly.autoschedule.product_tiles import least_seconds, orders_of, products, turns_of
from dtpoly.autoschedule.reduction_walks import reductions
from dtpoly.autoschedule.walk_search import walked
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs, results_of
from dtpoly.plan.layout import Layout
from dtpoly.targets.parameter_types import BYTES

CLOSER = 8  # shapes of products of which all warps and stages are looked at
REFINED = 6  # blocks of products that are looked at more closely
LIMIT = 1.5  # times what the best plan so far takes: one that is slower is given up
DECIDES = 0.1  # of a schedule's time: a kernel that takes less has its best layout only
MOST_PRICED = 250  # layouts of all kernels, after which no other plan is looked at
LEAST_PRICED = 40  # of a chain of products, also if there were many before
KEPT = 300  # layouts of a kernel that takes more
# Times what a kernel may take in a plan that is as fast as the best one: a chain of products that
# takes more, laid out as the best one of another plan was, is not searched.
NEAR = 1.05

Known = dict[Program, list[Priced]]  # by kernel: plans have many in common


@dataclass(frozen=True, slots=True)
class RankedSchedule:
    """A schedule, and how long it should take; by the cost model alone, and all in all."""

    plan: PlacementPlan
    kernels: tuple[Priced, ...]  # in the plan's order
    seconds: float
    score: float


def candidates(
    call: PricedCall, without: Collection[PlacementPlan] = (), before: Known | None = None
) -> list[RankedSchedule]:
    """Return the layouts that were looked at, the fastest first; without those of some plans.

    `before` has the kernels that were laid out when it was asked for earlier, and gets new ones.
    """
    width = BYTES[call.dtype]
    many = int(call.device["multiprocessors"])
    named = outputs(call.program)
    rows = results_of(call.program, named).values()
    others = {one: None for row in rows for one in row if one not in named}
    every = plans(call.program, named, call.sizes, width, many, others)
    found: list[RankedSchedule] = []
    known: Known = {}
    kept: Known = {} if before is None else before
    # What has fewest kernels is mostly best, and shows early what others must be better than.
    for plan in sorted(every, key=lambda one: (len(one.kernels), -one.joined)):
        if plan in without:
            continue
        if found and sum(map(len, known.values())) > MOST_PRICED:
            break
        best = min((one.seconds for one in found), default=inf)
        found += _of_plan(call, plan, known, best, kept)
    if found:
        first = min(found, key=lambda one: one.score)
        for plan in _copying(call, first.plan):
            if plan in without:
                continue
            found += _of_plan(with_copies(call, plan.copies), plan, known, first.score, kept)
    kept |= known
    return sorted(found, key=lambda one: one.score)


def last_candidates(call: PricedCall) -> list[RankedSchedule]:
    """Return layouts with each Func in a kernel of its own, for where nothing else is legal."""
    named = outputs(call.program)
    stored = (one for row in results_of(call.program, named).values() for one in row)
    plan = apart(call.program, dict.fromkeys((*named, *stored)))
    return sorted(_of_plan(call, plan, {}, inf, {}), key=lambda one: one.score)


def _copying(call: PricedCall, plan: PlacementPlan) -> Iterator[PlacementPlan]:
    """Yield a plan with copies of operands that lie badly for the product of a kernel."""
    for nest in nests_of(call, plan):
        for copies in copies_of(call, nest):
            if not is_read(with_copies(call, copies).program, copies):
                continue
            size = {one.tensor: amount(one.bytes) for one in nest.loads}
            placed = tuple(
                Placed(
                    one.func,
                    ChosenPlace.KERNEL,
                    f"{size[one.tensor]} in the order that the product wants: each tile reads some",
                )
                for one in copies
            )
            yield PlacementPlan((*placed, *plan.placed), copies)


def schedule_of(call: PricedCall, one: RankedSchedule) -> tuple[Directive, ...]:
    """Return the schedule: what is inlined, then each kernel with what is fused into it."""
    places = {placed.func: directive_of(placed, call.primitives) for placed in one.plan.placed}
    inlined = [places[p.func] for p in one.plan.placed if p.how is ChosenPlace.INLINE]
    found: list[Directive] = []
    for members, kernel in zip(one.plan.kernels, one.kernels, strict=True):
        found += [one.directive() for one in said_of(layout_of(kernel), call.primitives)]
        found += [d for name in members[:-1] if (d := places[name]) is not None]
    return (*(d for d in inlined if d is not None), *found, *call.asked, *call.compiled)


def layout_of(kernel: Priced) -> Layout:
    """Return how a kernel is laid out, and how long it is predicted to take."""
    return replace(kernel.layout, busy=kernel.busy)


def alike(call: PricedCall, one: RankedSchedule) -> Iterator[RankedSchedule]:
    """Yield schedules that the cost model cannot tell from this one: its slowest kernel varies."""
    at = max(range(len(one.kernels)), key=lambda number: one.kernels[number].busy)
    slowest = one.kernels[at]
    nests = nests_of(with_copies(call, one.plan.copies), one.plan)
    for layout in variants(nests[at], slowest.layout):
        other = replace(slowest, layout=layout)
        yield replace(one, kernels=(*one.kernels[:at], other, *one.kernels[at + 1 :]))


def nests_of(call: PricedCall, plan: PlacementPlan) -> tuple[KernelNest, ...]:
    """Return the kernels of a plan, of a call for the algorithm with its copies."""
    program = plan.substituted(call.program)
    names = (*call.program.labels, *call.program.inputs, *call.program.funcs)
    taken = frozenset(one.name for one in names)
    places = {placed.func: directive_of(placed, call.primitives) for placed in plan.placed}
    results = frozenset(str(one.target) for d in call.compiled for one in d.arguments)
    found: list[KernelNest] = []
    for members in plan.kernels:
        fusions = tuple(d for name in members[:-1] if (d := places[name]) is not None)
        words = (call.sizes, call.dtype, taken, results)
        nest = nest_of(program, members, fusions, *words, call.orders)
        shared = (one.label for one in plan.placed if one.host == members[-1] and one.reader)
        found.append(replace(nest, joined=frozenset(shared)))
    return tuple(found)


def _of_plan(
    call: PricedCall, plan: PlacementPlan, known: Known, best: float, before: Known
) -> Iterator[RankedSchedule]:
    """Kernel after kernel, until they take longer together than the best plan so far."""
    nests = nests_of(call, plan)
    ranked: list[list[Priced]] = []
    spent = launching(call, len(nests))
    is_new = any(one.program not in known and one.program not in before for one in nests)
    if is_new and spent + least_moved(call, nests) >= best:
        return  # what must be moved alone takes longer than the best plan
    for nest in nests:
        if nest.program in before and not nest.is_chain:
            # What of a chain is looked at depends on how fast others are.
            known.setdefault(nest.program, before[nest.program])
        is_known = nest.program in known
        # To lay out another kernel takes long. Where it would have no time left at all, it is not
        # worth that.
        if spent >= (LIMIT if is_known else 1.0) * best:
            return
        if not is_known:
            others = [kernels[0].layout for kernels in known.values() if kernels]
            most = max(MOST_PRICED - sum(map(len, known.values())), LEAST_PRICED)
            search = _Search(LIMIT * best - spent, best - spent, others, most)
            found = _ranked(call, nest, search)
            known[nest.program] = sorted(found, key=lambda one: one.score)
        mine = known[nest.program]
        if not mine:
            return
        spent += min(one.busy for one in mine)
        ranked.append(mine)
    whole = sum(mine[0].busy for mine in ranked)
    kept = [mine[:KEPT] if mine[0].busy > DECIDES * whole else mine[:1] for mine in ranked]
    # Each beside the best of the others, and not all with all.
    first = tuple(mine[0] for mine in kept)
    seen = {
        (*first[:at], one, *first[at + 1 :]): None for at, mine in enumerate(kept) for one in mine
    }
    for combined in seen:
        launch = launching(call, sum(len(one.launches) for one in combined))
        seconds = launch + sum(one.busy for one in combined)
        score = launch + sum(one.score for one in combined)
        yield RankedSchedule(plan, combined, seconds, score)


@dataclass(frozen=True, slots=True)
class _Search:
    """How a chain of products is searched."""

    limit: float  # seconds that it may take
    near: float  # that it may take in a plan that is as fast as the best one
    others: Sequence[Layout]  # the best ones of kernels of other plans
    most: int  # layouts that are looked at


def _ranked(call: PricedCall, nest: KernelNest, search: _Search) -> list[Priced]:
    """Return the layouts of a kernel that were looked at, with what they take."""
    if nest.is_chain:
        return _descended(call, nest, search)
    if nest.products:
        return _multiplied(call, nest)
    many = int(call.device["multiprocessors"])
    layouts = reductions(nest, many) if nest.sums else elementwise(nest)
    return walked(call, nest, (_with_fused(nest, one) for one in layouts), search.limit)


def _with_fused(nest: KernelNest, layout: Layout) -> Layout:
    """Return a layout in which what is fused in has the tiles of its reader along its own labels.

    What is stored on the way is so in tiles, too, and not element by element.
    """
    said = {label for label, _ in layout.tiles}
    more = ((own, layout.tile(at)) for own, at in nest.read_at.items() if own not in said)
    return replace(layout, tiles=(*layout.tiles, *more)) if nest.read_at else layout


def _multiplied(call: PricedCall, nest: KernelNest) -> list[Priced]:
    """Price all shapes of a product once, and the best ones in all ways.

    Warps, stages and the order of programs change little beside blocks and steps.
    """
    found: list[Priced] = []
    rest: list[tuple[float, tuple[Layout, ...]]] = []
    shapes = list(products(nest, call.device, call.precision))
    bounds = [min(least_seconds(nest, call.device, one) for one in shape.usual) for shape in shapes]
    best = inf
    for bound, shape in sorted(zip(bounds, shapes, strict=True), key=lambda one: one[0]):
        if bound > best:
            break
        some = list(priced(call, nest, shape.usual))
        found += some
        mine = min((one.score for one in some), default=inf)
        best = min(best, mine)
        rest.append((mine, shape.others))
    for _, others in nsmallest(CLOSER, rest, key=lambda one: one[0]):
        found += priced(call, nest, others)
    for one in nsmallest(REFINED, found, key=lambda one: one.score):
        ordered = list(priced(call, nest, orders_of(nest, one.layout)))
        found += ordered
        first = min(ordered, key=lambda one: one.score, default=one)
        found += priced(call, nest, turns_of(nest, call.device, first.layout))
    return list({one.layout: one for one in found}.values())


def _descended(call: PricedCall, nest: KernelNest, search: _Search) -> list[Priced]:
    """Search a chain of products: return the layouts that were met on the way to a good one.

    What was best in another plan is mostly good in this one. If it is far behind here, so is the
    plan, and its kernel is laid out like that.
    """
    made = chain(nest, call.precision, int(call.device["multiprocessors"]))
    scored = 1 + of_operands(nest, call.device, call.precision)  # as scores are
    found: dict[tuple[int, ...], Priced] = {}
    before = [one for layout in search.others if (one := made.chosen(layout)) is not None]
    near = NEAR * search.near * scored if before else inf

    def price(choice: tuple[int, ...]) -> float | None:
        layout = made.layout(choice)
        for one in priced(call, nest, () if layout is None else (layout,)):
            found[choice] = one
            return one.score
        return None

    counts = [len(knob) for knob in made.knobs]
    starts = (*before, *made.starts)
    limit = search.limit * scored
    descended(counts, price, limit, starts, near, search.most, made.least)
    return list(found.values())
