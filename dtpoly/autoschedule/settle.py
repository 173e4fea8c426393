"""Keeps the candidates that are proved legal and have code, and words their reasons."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from dtpoly.algorithm.program import Directive, Program
from dtpoly.autoschedule.choose import RankedSchedule, layout_of, nests_of, schedule_of
from dtpoly.autoschedule.operand_copies import OperandCopy, with_copies
from dtpoly.autoschedule.plans import PlacementPlan, directive_of, with_directives
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.reasons import ReasonLine, decided, lines_of
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.cost.sureness import Spread, spread_of
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of
from dtpoly.schedule.initial import Begin, initial_once
from dtpoly.schedule.legality import legal_state

NOT_ONE_PASS = "DT307"
KEPT = "proved of these kernels, as of each schedule that was considered"
ILLEGAL = "illegal"  # what stands for a code where an order is broken
# Schedules of a plan that are judged before it is dropped: most reasons do not depend on blocks.
TRIES = 4


class _TangledError(Exception):
    """A Func depends on a result so far in a way that no factor brings up to date."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """What is given up for rows with the same bits: the schedule that is best without them.

    `why` says why that is not proved, and `refused` how many schedules were not.
    """

    seconds: float
    lines: tuple[ReasonLine, ...]
    why: str
    refused: int


@dataclass(frozen=True)
class Settled:
    """A schedule that can be used, with the reason for each directive.

    The algorithm may have copies of inputs that the one that was given does not have.
    """

    program: Program
    lines: tuple[ReasonLine, ...]
    seconds: float
    spread: Spread  # how well times of such kernels are predicted
    text: str  # of its kernels
    given_up: GivenUp | None = None  # for rows with the same bits


@dataclass(frozen=True, slots=True)
class HopelessPlan:
    """A plan that was refused again and again, whatever its blocks were."""

    plan: PlacementPlan


def settled(
    call: PricedCall, candidates: Iterable[RankedSchedule]
) -> Iterator[Settled | HopelessPlan]:
    """Yield candidates that are legal for all sizes and whose code no earlier one has.

    Between them come the plans of which nothing comes, when that is known.
    """
    seen: set[str] = set()
    hopeless: set[PlacementPlan] = set()
    refused: Counter[PlacementPlan] = Counter()
    good: set[PlacementPlan] = set()
    begins: dict[tuple[OperandCopy, ...], Begin] = {}
    for one in candidates:
        if one.plan in hopeless:
            continue
        copies = one.plan.copies
        algorithm = with_copies(call, copies).program
        if copies not in begins:
            begins[copies] = initial_once(replace(algorithm, directives=()))
        program = with_directives(algorithm, schedule_of(call, one))
        try:
            code = _code(call, program, begins[copies])
        except _TangledError:
            code, refused[one.plan] = None, TRIES
        if code is None:
            refused[one.plan] += 1
            if refused[one.plan] >= TRIES and one.plan not in good:
                hopeless.add(one.plan)
                yield HopelessPlan(one.plan)
            continue
        text = _without_comments(code)
        good.add(one.plan)
        if text not in seen:
            seen.add(text)
            costs = ((k.kind, k.seconds) for kernel in one.kernels for k in kernel.launches)
            lines = tuple(_lines(call, one))
            yield Settled(program, lines, one.seconds, spread_of(costs), code)


def _code(call: PricedCall, program: Program, begin: Begin) -> str | None:
    """Return the emitted text.

    None if there is none. Raises _TangledError where loops do not become one, whatever the blocks.
    """
    try:
        state = legal_state(program, call.primitives, begin)
        if state is None:
            call.tell_refused(ILLEGAL)
            return None
        return code_of(state).text
    except DtpolyError as error:
        for code in dict.fromkeys(one.code for one in error.diagnostics):
            call.tell_refused(code)
        if any(one.code == NOT_ONE_PASS for one in error.diagnostics):
            raise _TangledError from error
        return None


def _without_comments(text: str) -> str:
    """Return a text without comments, which say by what directives it was made."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def _lines(call: PricedCall, one: RankedSchedule) -> Iterator[ReasonLine]:
    """Yield the directives of a schedule in its order, each with its reason."""
    reasons: dict[Directive, str] = {}
    for placed in one.plan.placed:
        directive = directive_of(placed, call.primitives)
        if directive is not None:
            reasons[directive] = placed.why
    nests = nests_of(with_copies(call, one.plan.copies), one.plan)
    for nest, kernel in zip(nests, one.kernels, strict=True):
        known = decided(nest, layout_of(kernel), kernel.launches[0], call.device)
        reasons |= {line.directive: line.why for line in lines_of(known, call.primitives)}
    reasons |= dict.fromkeys(call.asked, KEPT)
    for directive in schedule_of(call, one):
        yield ReasonLine(directive, reasons.get(directive, ""))
