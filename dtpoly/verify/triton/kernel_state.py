"""The state of one symbolic run of a kernel, and all that is noted in it.

Loads, stores, barriers, computed numbers and doubts are noted with the condition under which they
happen. Nothing here reads Python: the modules that say what operations mean take a state, and those
that must read more of the kernel take a `Reader` of it (see reader).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import (
    MOST_LANES,
    BlockPointerValue,
    FileFunction,
    Item,
    LostValue,
    TileValue,
    Unread,
    Value,
    offset_names,
)
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Term
from dtpoly.verify.algebra.type_kinds import HALF, MAY_BE_LONG
from dtpoly.verify.algebra.whole import (
    TRUE,
    Some,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    number,
    one_of,
    within,
)
from dtpoly.verify.triton.access import (
    Computed,
    Dividend,
    KernelAccess,
    KernelBarrier,
    KernelLaunch,
    KernelTensor,
    NamedDatum,
    OverPrograms,
    Shift,
)
from dtpoly.verify.triton.digits import Digits
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.lanes import doubt_of
from dtpoly.verify.triton.unit.unit import Unit

LONG = "tl.int64"


@dataclass
class KernelState:
    """The state of one symbolic run. Names of lanes, loops and coordinates are never reused."""

    run: ProofRun
    file: Unit
    arrays: Mapping[str, KernelTensor]
    launch: KernelLaunch
    names: dict[str, Value]
    digits: Digits
    # What holds for every call.
    facts: Truth = TRUE
    # What names held where this side of a branch began, and after each loop and branch in it; or
    # what they were set to first since then.
    begun: list[dict[str, Value]] = field(default_factory=lambda: [{}])
    extents: dict[str, Whole] = field(default_factory=dict[str, Whole])
    ranges: dict[str, Truth] = field(default_factory=dict[str, Truth])
    accesses: list[KernelAccess] = field(default_factory=list[KernelAccess])
    barriers: list[KernelBarrier] = field(default_factory=list[KernelBarrier])
    pipelined: dict[str, int] = field(default_factory=dict[str, int])
    where: Truth = TRUE
    loops: tuple[str, ...] = ()
    # Numbers that are divided. They must not be negative, since Triton does not round down.
    divided: list[Dividend] = field(default_factory=list[Dividend])
    numbers: list[Computed] = field(default_factory=list[Computed])
    time: tuple[Whole, ...] = ()
    clock: int = 0
    # Loops in which the programs along an axis of the grid take turns (see persistent): together
    # they run through all iterations.
    over_programs: list[OverPrograms] = field(default_factory=list[OverPrograms])
    # The program ids at which such loops begin. If one is inside of another, they must differ.
    shared_out: set[str] = field(default_factory=set[str])
    # Names of remainders by a size, and where they are computed.
    wraps: dict[str, int] = field(default_factory=dict[str, int])
    # By name: how far a line begins behind an aligned address.
    shifts: dict[str, Shift] = field(default_factory=dict[str, Shift])
    # The line of the statement that runs.
    line: int = 0
    # Lines and reasons why nothing is proved although the kernel can be read on (see compiled, and
    # unchanged for branches that are read as if they were not taken).
    doubts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    # Names of lanes over which loaded floats were reduced, each with the operation.
    reduced: dict[str, str] = field(default_factory=dict[str, str])
    # Tensors that the kernel loads or stores through descriptors.
    described: set[str] = field(default_factory=set[str])
    # Facts that hold since Triton makes no larger tiles: for other sizes the launch fails, so there
    # is no such call.
    tiles: list[Truth] = field(default_factory=list[Truth])
    # How many loops around the statement are being tried out: nothing that is noted then is kept.
    trials: int = 0
    # Whether some number that the kernel is given may have 64 bits; None if nobody has asked.
    has_long: bool | None = None
    # The factors of extents that are products, where a reshape has shown their order (see axes).
    laid_out: Mapping[Whole, tuple[Whole, ...]] = field(
        default_factory=dict[Whole, tuple[Whole, ...]]
    )

    # Whether values are compared. If not, data are numbers with names (see data_names): these by
    # term and type, and what is known of them; and by the number of a load, the names of its lanes
    # and loops, and where it happens.
    is_valued: bool = True
    data: dict[tuple[Term, str], str] = field(default_factory=dict[tuple[Term, str], str])
    data_names: dict[str, NamedDatum] = field(default_factory=dict[str, NamedDatum])
    # What is known of unknown numbers, by the text of their own literal: a formula, and the name
    # that it has for the number.
    bounded: dict[str, tuple[str, Truth]] = field(default_factory=dict[str, tuple[str, Truth]])
    loaded: dict[int, tuple[tuple[str, ...], Truth]] = field(
        default_factory=dict[int, tuple[tuple[str, ...], Truth]]
    )

    def tick(self) -> Whole:
        """Return the number of the next place in the text: it orders the events of an iteration."""
        self.clock += 1
        return number(self.clock)

    def here(self) -> Truth:
        """Return the condition under which the current statement runs."""
        return self.where

    def computed(
        self, item: Item, kind: str, line: int, is_less: bool = False, is_cut: bool = False
    ) -> None:
        """Note a whole number that is computed, except constants that each type of sizes holds."""
        if isinstance(item, Whole) and not _is_short(item.constant):
            self.numbers.append(Computed(item, kind, self.where, line, is_less, is_cut))

    def looked_at(self, item: Whole, kind: str, line: int, *, is_cut: bool = False) -> None:
        """Note a whole number that Triton compares or divides, so that it must fit by itself."""
        if not _is_short(item.constant):
            one = Computed(item, kind, self.where, line, is_cut=is_cut, is_left=True)
            self.numbers.append(one)

    def leaves(
        self, value: Value, line: int, *, is_widened: bool = False, is_sure: bool = True
    ) -> None:
        """Note a product that is used for more than a part of an address, so it must not wrap.

        In an address only the final sum must fit: if parts of it wrap, the sum is still right. A
        product that the kernel is given has as many bits as it needs. Where reaches are promised, a
        sum of sizes and lanes may be multiplied by a stride later, and so it counts, too.
        """
        if any(value is given for given in self.launch.arguments.values()):
            return
        if not isinstance(value, TileValue) or not isinstance(value.item, Whole):
            return
        is_sum = bool(self.launch.near) and _is_sum(value.item)
        if is_sum or _is_part(value.item):
            one = Computed(
                value.item,
                value.kind,
                self.where,
                line,
                is_left=is_sum or not is_widened,
                is_widened=is_widened,
                may_never_be=not is_sure,
            )
            self.numbers.append(one)

    def widens(self, value: TileValue, other: str, kind: str, line: int) -> None:
        """Note a number that gets 64 bits where it meets another one, after it may have wrapped.

        Sizes have 32 bits or 64. If no size that the kernel is given can have 64, none gets them.
        """
        if LONG in (value.kind, kind):
            if value.kind != kind:
                self.leaves(value, line, is_widened=True)
        elif other in MAY_BE_LONG and self.launch.near and self._has_long():
            self.leaves(value, line, is_widened=True, is_sure=False)

    def _has_long(self) -> bool:
        if self.has_long is None:
            self.has_long = any(map(self._may_be_long, self.launch.arguments.values()))
        return self.has_long

    def _may_be_long(self, value: Value) -> bool:
        if not isinstance(value, TileValue) or value.kind not in MAY_BE_LONG:
            return False
        if not isinstance(value.item, Whole):
            return True
        fits = within(number(-HALF), value.item, number(HALF))
        facts = both(self.facts, fits)
        return not (is_affine(facts) and self.run.holds(fits, set_of(self.facts)))

    def either(self, first: Truth, second: Truth) -> Truth:
        """Return the disjunction of two conditions: just the weaker one if the other implies it.

        So `x < size or size is even` is `x < size`, which is one condition and not two.
        """
        result = one_of(first, second)
        if not isinstance(result, Some):
            return result
        ranges = ranged(self.digits.ranges, self.ranges, names_of(result))
        if not is_affine(both(self.facts, ranges, result)):
            return result
        self.run.about(self.line, "one condition follows from another")
        for weak, strong in ((first, second), (second, first)):
            if self.run.holds(weak, set_of(both(self.facts, ranges, strong))):
                return weak
        return result

    def doubt(self, line: int, what: str) -> None:
        """Note that Triton may not compile something: nothing is proved of such a kernel."""
        self.doubts.append((line, what))

    def lane(self, extent: Whole) -> str | None:
        """Make a new axis of lanes; None for one lane."""
        if extent.constant == 1:
            return None
        if why := doubt_of(extent, self.launch.powers):
            self.doubt(self.line, why)
        one = self.run.fresh("lane")
        self.bound_lanes(extent)
        self.extents[one] = extent
        self.ranges[one] = within(number(0), name(one), extent)
        return one

    def bound_lanes(self, extent: Whole) -> None:
        """Note that a tile of so many lanes is made: if it were too large, nothing would run."""
        bound = compare("<=", extent, number(MOST_LANES))
        if extent.constant is None and self.where == TRUE and is_affine(bound):
            programs = (one for axis in self.launch.grid for one in axis)
            none = (compare("<=", one, number(0)) for one in programs)
            self.tiles.append(one_of(bound, *none))

    def look(self, one: str, line: int) -> Value:
        """Return what a name holds. Raises Unread if it is not known."""
        match self.names.get(one):
            case None:
                if one in self.file.jitted:
                    return FileFunction(one)
                raise Unread(line, f"'{one}' is not known")
            case LostValue(why=why):
                raise Unread(line, f"'{one}' {why}")
            case BlockPointerValue() as block:
                return replace(block, offsets=tuple(self._offsets(one, block, line)))
            case value:
                return value

    def _offsets(self, one: str, block: BlockPointerValue, line: int) -> Iterator[TileValue]:
        for name_of_offset in offset_names(one, block):
            offset = self.names.get(name_of_offset)
            if not isinstance(offset, TileValue) or not isinstance(offset.item, Whole):
                raise Unread(line, f"'{one}' begins where it is not known")
            yield offset


def bound(one: str, value: Value) -> dict[str, Value]:
    """Return what names hold after one is set to a value."""
    if not isinstance(value, BlockPointerValue):
        return {one: value}
    offsets = zip(offset_names(one, value), value.offsets, strict=True)
    return {one: replace(value, offsets=()), **dict(offsets)}


def _is_short(constant: int | None) -> bool:
    return constant is not None and -HALF <= constant < HALF


def _is_sum(item: Whole) -> bool:
    """True for a number that is computed from others, and that sets can hold."""
    return item.plain is None and item.constant is None and is_affine(item)


def _is_part(item: Whole) -> bool:
    """True for a number that may be a part of an address: a product of sizes, or of a stride."""
    has_stride = item.plain is None and any(".stride(" in one for one in names_of(item))
    return has_stride or not is_affine(item)
