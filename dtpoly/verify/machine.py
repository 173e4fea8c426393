"""Execute a kernel symbolically: `run_kernel` returns what one launch does to memory.

The machine runs each Python statement of the kernel once, for all programs, lanes and iterations
together: these are names in formulas. Loads, stores, barriers and computed numbers are recorded
with the condition under which they happen. A statement that is not understood raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from dtpoly.frozen import dataclass
from dtpoly.verify import calls, descriptors, kinds, loops, persistent, shifts, wrapping
from dtpoly.verify.access import Access, Array, Barrier, Computed, Divided, Launch, Ran, Shift
from dtpoly.verify.asking import about
from dtpoly.verify.axes import LaidOutAnewError
from dtpoly.verify.building import literal
from dtpoly.verify.carrying import merged
from dtpoly.verify.compiled import check_lanes, check_named, check_side, check_sides
from dtpoly.verify.digits import Digits, split
from dtpoly.verify.domains import ranged
from dtpoly.verify.early import after_waiting
from dtpoly.verify.operators import (
    both_or_either,
    compared,
    exact,
    is_part,
    operated,
    restored,
    signed,
)
from dtpoly.verify.pairs import COUNTED
from dtpoly.verify.regions import holds, is_affine, set_of
from dtpoly.verify.specialized import after_making
from dtpoly.verify.terms import fresh
from dtpoly.verify.tiles import subscripted
from dtpoly.verify.typed import HALF, kept
from dtpoly.verify.unchanged import DOUBT, changes_nothing, is_rounding
from dtpoly.verify.unit.unit import Unit
from dtpoly.verify.values import (
    MOST_LANES,
    Descriptor,
    Function,
    Group,
    Item,
    Lost,
    Nothing,
    Pointer,
    Text,
    Tile,
    Type,
    Unread,
    Value,
    is_truth,
    scalar,
)
from dtpoly.verify.whole import (
    FALSE,
    TRUE,
    Some,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    negation,
    number,
    one_of,
    within,
)


@dataclass
class Machine:
    """The state of one symbolic run. Names of lanes, loops and coordinates are never reused."""

    file: Unit
    arrays: Mapping[str, Array]
    launch: Launch
    names: dict[str, Value]
    # What holds for every call.
    facts: Truth = TRUE
    extents: dict[str, Whole] = field(default_factory=dict[str, Whole])
    ranges: dict[str, Truth] = field(default_factory=dict[str, Truth])
    digits: Digits = field(default_factory=Digits)
    accesses: list[Access] = field(default_factory=list[Access])
    barriers: list[Barrier] = field(default_factory=list[Barrier])
    pipelined: dict[str, int] = field(default_factory=dict[str, int])
    where: Truth = TRUE
    loops: tuple[str, ...] = ()
    # Numbers that are divided. They must not be negative, since Triton does not round down.
    divided: list[Divided] = field(default_factory=list[Divided])
    numbers: list[Computed] = field(default_factory=list[Computed])
    time: tuple[Whole, ...] = ()
    clock: int = 0
    # Loops in which the programs along an axis of the grid take turns (see persistent): together
    # they run through all iterations.
    over_programs: list[persistent.OverPrograms] = field(
        default_factory=list[persistent.OverPrograms]
    )
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
    # The factors of extents that are products, where a reshape has shown their order (see axes).
    laid_out: Mapping[Whole, tuple[Whole, ...]] = field(
        default_factory=dict[Whole, tuple[Whole, ...]]
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

    def leaves(self, value: Value, line: int, *, is_widened: bool = False) -> None:
        """Note a product that is used for more than a part of an address, so it must not wrap.

        In an address only the final sum must fit: if parts of it wrap, the sum is still right.
        """
        if isinstance(value, Tile) and isinstance(value.item, Whole) and is_part(value.item):
            one = Computed(
                value.item,
                value.kind,
                self.where,
                line,
                is_left=not is_widened,
                is_widened=is_widened,
            )
            self.numbers.append(one)

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
        about(self.line, "one condition follows from another")
        for weak, strong in ((first, second), (second, first)):
            if holds(weak, set_of(both(self.facts, ranges, strong))):
                return weak
        return result

    def lane(self, extent: Whole) -> str | None:
        """Make a new axis of lanes; None for one lane."""
        if extent.constant == 1:
            return None
        if extent.constant is not None:
            check_side(self, extent.constant)
        else:
            check_lanes(self, extent)
        one = fresh("lane")
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

    # Statements

    def block(self, body: list[ast.stmt]) -> None:
        """Run statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Run one statement."""
        self.line = node.lineno
        try:
            self._done(node)
        except Unread as error:
            # Functions that build terms know no lines, so the line of the statement is added here.
            raise error if error.line else Unread(node.lineno, error.what) from error

    def _done(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=changed), op=op, value=value):
                old = self.look(changed, node.lineno)
                self.names[changed] = kept(operated(self, op, old, self.value(value), node))
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self.value(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(test, body, orelse)
            case ast.For(target=ast.Name(id=counter), orelse=[]):
                loops.run(self, counter, node)
            case _:
                raise Unread(node.lineno, f"a statement '{ast.unparse(node).splitlines()[0]}'")

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a name, or several."""
        match target, value:
            case ast.Name(id=one), _:
                check_named(target, value)
                self.names[one] = kept(value)
            case ast.Tuple(elts=elements), Group(parts=parts) if len(elements) == len(parts):
                for element, part in zip(elements, parts, strict=True):
                    self.assign(element, part)
            case _:
                raise Unread(target.lineno, f"an assignment to '{ast.unparse(target)}'")

    def branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        """Run both sides, each where its condition holds, and put their values together."""
        found = self.value(test)
        condition = _said(found, test, self)
        is_constant = isinstance(found, Tile) and found.kind == kinds.WEAK
        if is_constant and condition in (TRUE, FALSE):
            self.block(body if condition == TRUE else orelse)
            return
        if is_rounding(test, body, orelse):
            if not changes_nothing(self, condition, body):
                self.doubts.append((test.lineno, DOUBT))
            return
        before, outside = dict(self.names), self.where
        self.where = both(outside, condition)
        self.block(body)
        after_yes, self.names = self.names, dict(before)
        self.where = both(outside, negation(condition))
        self.block(orelse)
        self.where = outside
        if not is_constant:
            check_sides(self, after_yes, self.names, test.lineno)
        self.names = merged(self, condition, after_yes, self.names, test.lineno)

    # Values

    def look(self, one: str, line: int) -> Value:
        """Return what a name holds. Raises Unread if it is not known."""
        match self.names.get(one):
            case None:
                if one in self.file.jitted:
                    return Function(one)
                raise Unread(line, f"'{one}' is not known")
            case Lost(why=why):
                raise Unread(line, f"'{one}' {why}")
            case value:
                return value

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        match node:
            case ast.Constant(value=constant):
                return _constant(constant, node)
            case ast.Name(id=one):
                return self.look(one, node.lineno)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return Group(tuple(self.value(element) for element in elements))
            case ast.BinOp(left=left, op=ast.Sub(), right=ast.Name(id=one)) if (
                one == self.launch.before and one not in self.names and ast.dump(left) == COUNTED
            ):
                return scalar(self.digits.of("program_0", self.launch.grid[0]), "tl.int32")
            case ast.BinOp(left=left, op=op, right=right):
                return operated(self, op, self.value(left), self.value(right), node)
            case ast.UnaryOp(op=sign, operand=operand):
                return signed(self, sign, self.value(operand), node)
            case ast.Compare(
                left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]
            ) if isinstance(found := self.value(left), Descriptor):
                return scalar(found.there)
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return compared(self, comparison, self.value(left), self.value(right), node)
            case ast.BoolOp(op=joint, values=values):
                result: Value = self._one_truth(values[0])
                for other in values[1:]:
                    result = both_or_either(self, joint, result, self._one_truth(other), node)
                return result
            case ast.Subscript(value=value, slice=index):
                return subscripted(self, self.value(value), index, node)
            case ast.Attribute() if (dotted := ast.unparse(node)).startswith("tl."):
                return Type(dotted)
            case ast.Attribute(
                value=ast.Attribute(value=value, attr="dtype"), attr="element_ty"
            ) if isinstance(self.tile(value).item, Pointer):
                return Type(self.tile(value).kind)
            case ast.Attribute(value=value, attr="dtype"):
                of = self.tile(value)
                if isinstance(of.item, Pointer):
                    raise Unread(node.lineno, "the type of an address: write '.dtype.element_ty'")
                return Type(of.kind)
            case ast.Call():
                return calls.call(self, node)
            case _:
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")

    def _one_truth(self, node: ast.expr) -> Tile:
        """Return a side of `and` or `or`, which must be one truth.

        For other operands Python returns one of the sides as it is, which is not read.
        """
        found = self.tile(node)
        if found.axes or not is_truth(found.item):
            what = f"'{ast.unparse(node)}' beside 'and' or 'or', which is not one truth"
            raise Unread(node.lineno, what)
        return found

    def tile(self, node: ast.expr, *, stays: bool = False) -> Tile:
        """Return the value of an expression that must be a tile of numbers.

        `stays` says that only its shape is changed, not its values.
        """
        value = self.value(node)
        if not isinstance(value, Tile):
            raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a number")
        if not stays:
            self.leaves(value, node.lineno)
        return value

    def whole(self, node: ast.expr) -> Whole:
        """Return the value of an expression that must be one whole number."""
        value = self.value(node)
        value = restored(value) if isinstance(value, Tile) else value
        if isinstance(value, Tile) and isinstance(value.item, Whole) and not value.axes:
            exact(self, value, node.lineno)
            self.leaves(value, node.lineno)
            return value.item
        what = f"'{ast.unparse(node)}' is not one whole number of indices and sizes"
        raise Unread(node.lineno, what)

    def truth(self, node: ast.expr) -> Truth:
        """Return the value of a condition, which must be about sizes and indices alone."""
        return _said(self.value(node), node, self)


def _is_short(constant: int | None) -> bool:
    return constant is not None and -HALF <= constant < HALF


def _said(value: Value, node: ast.expr, machine: Machine) -> Truth:
    """Return a value as a condition. Raises Unread if it is none."""
    if isinstance(value, Tile) and not value.axes:
        item = value.item
        if isinstance(item, Whole):
            exact(machine, value, node.lineno)
            return compare("!=", item, number(0))
        if is_truth(item):
            return item
    raise Unread(node.lineno, f"a branch on '{ast.unparse(node)}'")


def _constant(value: object, node: ast.expr) -> Value:
    match value:
        case bool():
            return scalar(TRUE if value else FALSE)
        case int():
            return scalar(number(value))
        case float():
            return scalar(literal(value))
        case str():
            return Text(value)
        case None:
            return Nothing()
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")


def run_kernel(file: Unit, arrays: Mapping[str, Array], launch: Launch, facts: Truth) -> Ran:
    """Return what one launch does.

    There may be several ways to take its grid apart into factors. The first one with which the
    kernel can be read is used.
    """
    first: Unread | None = None
    for one, is_group_first in _ways_to_take_apart(launch):
        try:
            return _run_laid_out(file, arrays, one, facts, is_group_first)
        except Unread as error:
            first = first or error
    assert first is not None, "there is a way to take each grid apart"
    raise first


def _ways_to_take_apart(launch: Launch) -> Iterator[tuple[Launch, bool]]:
    """Yield the ways to read the grid of a launch, each with whether groups are tried first.

    They are the launch as it is; its grid in smaller factors; and that with groups tried first.
    """
    grid = tuple(
        tuple(part for one in axis for part in split(one, launch.factors)) for axis in launch.grid
    )
    yield launch, False
    if grid != launch.grid:
        # An extent may be a product with a constant, as if the grid had twice as many blocks: then
        # it is split into its factors.
        yield replace(launch, grid=grid), False
    numbers = [one.constant for axis in (*grid, launch.turns or ()) for one in axis]
    if any(numbers) and len(numbers) > 1:
        # The divisor of a program id may be the size of a group of blocks and, by chance, also the
        # number of blocks of another label.
        yield replace(launch, grid=grid), True


def _run_laid_out(
    file: Unit, arrays: Mapping[str, Array], launch: Launch, facts: Truth, is_group_first: bool
) -> Ran:
    laid_out: dict[Whole, tuple[Whole, ...]] = {}
    while True:
        machine = Machine(file, arrays, launch, dict(launch.arguments), facts)
        machine.digits.is_group_first = is_group_first
        try:
            return _run(machine, laid_out)
        except LaidOutAnewError as found:
            laid_out[found.extent] = found.factors


def _run(machine: Machine, laid_out: Mapping[Whole, tuple[Whole, ...]]) -> Ran:
    machine.laid_out = laid_out
    launch = machine.launch
    definition = machine.file.jitted[launch.kernel]
    for axis, extents in enumerate(launch.grid):
        machine.digits.of(f"program_{axis}", extents)
    body = after_waiting(definition) if launch.is_early else definition.body
    machine.block(after_making(machine, body) if launch.is_specialized else body)
    descriptors.check(machine)
    persistent.check(machine)
    wrapping.check(machine)
    shifts.check(machine)
    return Ran(
        launch,
        tuple(machine.accesses),
        tuple(machine.barriers),
        machine.digits.all(),
        machine.ranges | machine.digits.numbers,
        machine.pipelined,
        tuple(machine.divided),
        tuple(machine.numbers),
        frozenset(machine.digits.divisors),
        dict(machine.digits.numbers),
        both(
            machine.digits.facts(),
            *machine.tiles,
            *(machine.ranges[one] for one in machine.shifts),
        ),
        dict(machine.shifts),
        tuple(machine.doubts),
    )
