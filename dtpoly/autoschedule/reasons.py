"""Words in a line why each directive of a kernel is there."""

from collections.abc import Iterator
from math import prod

from dtpoly.algorithm.program import Directive
from dtpoly.autoschedule.amounts import amount, listed, many
from dtpoly.autoschedule.layout import Layout, directives_of
from dtpoly.autoschedule.nest import Nest
from dtpoly.autoschedule.powers import pieces
from dtpoly.explore.cost.cost import KernelCost
from dtpoly.explore.devices.devices import Device
from dtpoly.frozen import dataclass

WARP = 32


@dataclass(frozen=True, slots=True)
class Line:
    """A directive, and why it is there; nothing where it was asked for."""

    directive: Directive
    why: str


@dataclass(frozen=True)
class Decided:
    """A kernel, what was decided of it, and what that costs: of its last launch, if of several."""

    nest: Nest
    layout: Layout
    cost: KernelCost
    device: Device

    def span(self, label: str) -> int:
        """How many indices of a label are computed together."""
        size = self.nest.sizes.get(label, 0)
        around = self.layout.block(label) or size
        tile = self.layout.tile(label)
        return min(tile or around, around) if around else tile

    @property
    def elements(self) -> int:
        """How many elements a program has at once, of the largest tile that anything has."""
        kept = [(*one.kept, *(() if one.is_product else one.labels)) for one in self.nest.sums]
        return max(prod(self.span(x) for x in labels) for labels in (self.nest.labels, *kept))


def lines_of(decided: Decided) -> Iterator[Line]:
    """Every directive of a kernel with its reason."""
    for directive in directives_of(decided.layout):
        yield Line(directive, _why(directive.name, decided))


def _why(name: str, it: Decided) -> str:
    layout, nest, costs = it.layout, it.nest, it.cost
    match name:
        case "precision":
            return f"products in {layout.precision}, as asked for"
        case "block":
            return _block(it)
        case "tensorize":
            return _tile(it)
        case "map":
            if layout.group is not None:
                count, label = layout.group.count, layout.group.label
                return f"{count} blocks of {label} in turn share what they read: it stays in L2"
            return f"programs go along {layout.order[-1]} first, as memory does"
        case "flatten":
            return f"one loop over {listed(layout.flat)}: loads run ahead from round to round"
        case "descriptor":
            return (
                f"rows of {listed(layout.descriptors)} begin aligned: the copy engine brings tiles"
            )
        case "align":
            return (
                f"lines of {listed(layout.aligned)} begin anywhere: tiles begin where memory does"
            )
        case "alternate":
            return "every second walk goes backwards: it finds in the cache what was read last"
        case "persistent":
            blocks = prod(pieces(nest.sizes[x], size) for x, size in layout.blocks)
            return f"{many(blocks, 'block')} in turn: the next one is loaded while one is stored"
        case "num_warps":
            threads = layout.warps * WARP
            each = max(it.elements // threads, 1)
            return f"{many(each, 'number')} for each of {threads} threads"
        case "num_stages":
            room = amount(costs.resources.shared)
            return f"{layout.stages} steps under way: {room} of shared memory"
        case "early":
            return f"{many(costs.programs, 'program')} placed while the kernel before them ends"
        case _:
            return ""


def _block(it: Decided) -> str:
    layout, nest = it.layout, it.nest
    programs = prod(pieces(nest.sizes[x], size) for x, size in layout.blocks)
    processors = int(it.device["multiprocessors"])
    if layout.partial is not None:
        part = layout.partial
        count = pieces(nest.sizes[part.label], part.size)
        parts = f"{part.label} in {count:,} parts"
        return f"{parts}: {programs * count:,} programs for {processors} multiprocessors"
    of = f"{prod(size for _, size in layout.blocks):,} of its elements"
    return f"{many(programs, 'program')} for {processors} multiprocessors, each with {of}"


def _tile(it: Decided) -> str:
    layout, nest = it.layout, it.nest
    if nest.products:
        one = nest.products[-1]
        deep = prod(it.span(x) for x in one.labels)
        width = max((load.size for load in nest.loads if load.is_operand), default=4)
        beside = f"rows of {amount(deep * width)} in shared memory"
        return f"a product of tiles at a time, {deep} of {listed(one.labels)} deep: {beside}"
    for label, tile in layout.tiles:
        if label in nest.reduced:
            size = nest.sizes[label]
            if tile == 0:
                return f"all {size:,} of {label} at once, in registers: what it loads is read once"
            if tile > 1:
                return f"{tile:,} of {label} at a time: all {size:,} would not fit, or not pay"
    return f"all of a block in one step: {it.elements:,} elements"
