"""Asks the cost model how long a kernel takes with a layout."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import Directive, Program
from dtpoly.autoschedule.layout_directives import said_of
from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.preferences import reluctance, spilling
from dtpoly.diagnostics import Severity, has_errors
from dtpoly.explore.accesses.accesses import Orders
from dtpoly.explore.cost.cost import KernelCost, cost
from dtpoly.explore.devices.devices import Device
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Layout
from dtpoly.row_proofs import Rows, rows_asked
from dtpoly.schedule.applied_directives import finished, shaping
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.static_checks import check_schedule


def _nothing(_: str) -> None:
    """Do nothing with a code."""


@dataclass(frozen=True)
class PricedCall:
    """The task: a Program with only the directives that ask for Funcs, sizes and a device."""

    program: Program
    sizes: Sizes
    dtype: DType
    device: Device
    primitives: Primitives
    precision: str = ""  # of products of 32-bit numbers
    is_warm: bool = False
    orders: Orders = field(default_factory=dict[str, tuple[int, ...]])  # of inputs, in memory
    # Directives that ask for something of results, apart from `compiled`: they are kept.
    asked: tuple[Directive, ...] = ()
    # Called with the code of the diagnostic for which a candidate is given up.
    tell_refused: Callable[[str], None] = field(default=_nothing, compare=False)

    @property
    def compiled(self) -> tuple[Directive, ...]:
        """Return the directives that ask for Funcs."""
        return self.program.directives

    @property
    def rows(self) -> Rows:
        """Return the rows that are to have the same bits in each batch."""
        return rows_asked(replace(self.program, directives=self.asked), self.primitives)


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """A layout of a kernel, and how long its launches take apart from being launched.

    The score is that with what the cost model does not know.
    """

    layout: Layout
    busy: float
    score: float
    launches: tuple[KernelCost, ...]


def priced(call: PricedCall, nest: KernelNest, layouts: Iterable[Layout]) -> Iterator[Priced]:
    """Yield the layouts that can be written and that fit, each with its predicted time.

    Nothing is said of their legality: a proof takes longer, and only a few layouts that are chosen
    later need one.
    """
    for layout in layouts:
        if any(not 0 < layout.tile(label) < nest.sizes[label] for label in nest.joined):
            continue  # without a loop, nothing is joined
        said = said_of(layout, call.primitives)
        directives = (*(one.directive() for one in said), *nest.program.directives)
        program = replace(nest.program, directives=directives)
        found = check_schedule(program, call.primitives)
        if has_errors(found):
            for code in dict.fromkeys(d.code for d in found if d.severity is Severity.ERROR):
                call.tell_refused(code)
            continue
        chosen = bind(directives, call.primitives).primitives
        state = finished(nest.begun(shaping(chosen)), program, chosen)
        words = (call.sizes, call.dtype, call.device, call.is_warm, nest.shapes, call.orders)
        price = cost(state, *words)
        if price.fits and _is_full(layout, price.kernels):
            busy = sum(one.seconds - one.launch for one in price.kernels)
            extra = spilling(one.resources for one in price.kernels)
            score = busy * (1 + extra + reluctance(nest, layout, call.device))
            yield Priced(layout, busy, score, price.kernels)


def launching(call: PricedCall, count: int) -> float:
    """Seconds that so many launches take."""
    following = call.device["next_launch"]
    first = following if call.is_warm else call.device["launch"]
    return first + (count - 1) * following


def _is_full(layout: Layout, kernels: tuple[KernelCost, ...]) -> bool:
    """Return whether programs that stay take about all the room there is, and no more."""
    room = kernels[-1].resources.resident
    return not layout.each or room - 1 <= layout.each <= room
