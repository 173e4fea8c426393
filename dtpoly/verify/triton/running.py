"""Execute a kernel symbolically: `run_kernel` returns what one launch does to memory.

Each Python statement of the kernel is run once, for all programs, lanes and iterations together:
these are names in formulas. What it does is noted in a `KernelState`. A statement that is not
understood raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    BlockPointerValue,
    DescriptorValue,
    NoneValue,
    PointerValue,
    TextValue,
    TileValue,
    TupleValue,
    TypeValue,
    Unread,
    Value,
    is_truth,
    scalar,
)
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.term_building import literal
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    Whole,
    both,
    negation,
    number,
)
from dtpoly.verify.triton import calls, loaded_twice, shifts, tile_shapes
from dtpoly.verify.triton import descriptor_access as descriptors
from dtpoly.verify.triton import loop_runs as loops
from dtpoly.verify.triton import shared_iterations as persistent
from dtpoly.verify.triton import wrapped_lanes as wrapping
from dtpoly.verify.triton.access import KernelLaunch, KernelTensor, Ran
from dtpoly.verify.triton.branch_frames import after_updates
from dtpoly.verify.triton.broadcast_tiles import subscripted
from dtpoly.verify.triton.comparisons import compared
from dtpoly.verify.triton.compiler_doubts import check_named, check_sides
from dtpoly.verify.triton.decided_branches import after_branch
from dtpoly.verify.triton.digits import Digits, split
from dtpoly.verify.triton.early_launches import after_waiting
from dtpoly.verify.triton.early_returns import ReturningBranch, with_returns
from dtpoly.verify.triton.kernel_state import KernelState, bound
from dtpoly.verify.triton.lane_operations import calls_nothing, chosen_of_two
from dtpoly.verify.triton.nan_branches import done_again, nan_test, noted
from dtpoly.verify.triton.pairs import COUNTED
from dtpoly.verify.triton.product_axes import LaidOutAnewError
from dtpoly.verify.triton.python_operators import both_or_either, operated, signed
from dtpoly.verify.triton.reader import Evaluate, Execute, Reader, condition
from dtpoly.verify.triton.skipped_lists import enter_test
from dtpoly.verify.triton.sources import sources_of
from dtpoly.verify.triton.specialized import after_making
from dtpoly.verify.triton.typed_operations import kept
from dtpoly.verify.triton.unchanged import DOUBT, changes_nothing, is_rounding
from dtpoly.verify.triton.unit.forms import check_word
from dtpoly.verify.triton.unit.unit import Unit

# Words of Triton that number lanes anew, or give a lane what some other lane holds.
MOVING = frozenset(
    (
        *("associative_scan", "broadcast", "dot", "permute", "reshape", "split", "trans"),
        *("make_block_ptr", "make_tensor_descriptor", "interleave", "join"),
        *("cumsum", "cumprod", "sort", "flip", "gather", "histogram", "T"),
    )
)


def run_kernel(
    run: ProofRun,
    file: Unit,
    arrays: Mapping[str, KernelTensor],
    launch: KernelLaunch,
    facts: Truth,
    reader: Callable[[KernelState, Evaluate, Execute], Reader] = Reader,
    *,
    is_valued: bool = True,
) -> Ran:
    """Return what one launch does.

    There may be several ways to take its grid apart into factors. The first one with which the
    kernel can be read is used. `reader` makes the reader, and may watch what it reads. Without
    `is_valued`, no value of the kernel is compared with anything: then data are unknown numbers.
    """
    first: Unread | None = None
    for one, is_group_first in _ways_to_take_apart(launch):
        try:
            return _run_laid_out(
                run, file, arrays, one, facts, is_group_first, reader, is_valued=is_valued
            )
        except Unread as error:
            first = first or error
    assert first is not None, "there is a way to take each grid apart"
    raise first


def _ways_to_take_apart(launch: KernelLaunch) -> Iterator[tuple[KernelLaunch, bool]]:
    """Yield the ways to read the grid of a launch, each with whether groups are tried first.

    They are the launch as it is; its grid in smaller factors; and both with groups tried first.
    """
    grid = tuple(
        tuple(part for one in axis for part in split(one, launch.factors)) for axis in launch.grid
    )
    yield launch, False
    if grid != launch.grid:
        # An extent may be a product with a constant, as if the grid had twice as many blocks: then
        # it is split into its factors.
        yield replace(launch, grid=grid), False
    for tried in dict.fromkeys((grid, launch.grid)):
        numbers = [one.constant for axis in (*tried, launch.turns or ()) for one in axis]
        if any(numbers) and len(numbers) > 1:
            # The divisor of a program id may be the size of a group of blocks and, by chance, also
            # the number of blocks of another label.
            yield replace(launch, grid=tried), True


def _run_laid_out(
    run: ProofRun,
    file: Unit,
    arrays: Mapping[str, KernelTensor],
    launch: KernelLaunch,
    facts: Truth,
    is_group_first: bool,
    reader: Callable[[KernelState, Evaluate, Execute], Reader],
    *,
    is_valued: bool,
) -> Ran:
    laid_out: dict[Whole, tuple[Whole, ...]] = {}
    while True:
        digits = Digits(run, is_group_first=is_group_first)
        names = dict(launch.arguments)
        state = KernelState(run, file, arrays, launch, names, digits, facts)
        state.laid_out, state.is_valued = dict(laid_out), is_valued
        try:
            return _ran(reader(state, _value, _execute))
        except LaidOutAnewError as found:
            laid_out[found.extent] = found.factors


def _ran(read: Reader) -> Ran:
    """Run all statements of a kernel, and return what was noted."""
    state = read.state
    launch = state.launch
    state.run.loaded_twice.clear()
    definition = state.file.jitted[launch.kernel]
    for axis, extents in enumerate(launch.grid):
        state.digits.of(f"program_{axis}", extents)
    body = after_waiting(definition) if launch.is_early else definition.body
    if isinstance(body[-1], ast.Return) and body[-1].value is None:
        body = body[:-1]  # the kernel ends there in any case
    body = body if state.is_valued else with_returns(body)
    read.block(after_making(read, body) if launch.is_specialized else body)
    descriptors.check(state)
    persistent.check(state)
    wrapping.check(state)
    shifts.check(state)
    loaded_twice.check(state)
    stored = {one.tensor for one in state.accesses if one.kind != "load"}
    return Ran(
        launch,
        accesses=tuple(state.accesses),
        barriers=tuple(state.barriers),
        programs=state.digits.all(),
        ranges=state.ranges | state.digits.numbers,
        pipelined=state.pipelined,
        divided=tuple(state.divided),
        computed=tuple(state.numbers),
        divisors=frozenset(state.digits.divisors),
        numbers=dict(state.digits.numbers),
        facts=both(
            state.digits.facts(),
            *state.tiles,
            *(state.ranges[one] for one in state.shifts),
        ),
        shifts=dict(state.shifts),
        doubts=tuple(state.doubts),
        described=frozenset(state.described),
        keeps_lanes=_keeps_lanes(state.file, definition),
        mentioned=frozenset(one.id for one in ast.walk(definition) if isinstance(one, ast.Name)),
        sources=sources_of(definition, state.file.jitted),
        data={
            one: replace(of, is_free=of.is_free or bool(of.tensors & stored))
            for one, of in state.data_names.items()
        },
    )


def _keeps_lanes(file: Unit, definition: ast.FunctionDef) -> bool:
    """Return whether a kernel, and what it calls, only uses words that leave lanes where they are.

    A value is brought along another axis by a subscript, which changes its shape.
    """
    waiting, seen = [definition.name], set[str]()
    while waiting:
        one = waiting.pop()
        if one in seen or one not in file.jitted:
            continue
        seen.add(one)
        for node in ast.walk(file.jitted[one]):
            match node:
                case ast.Attribute(attr=word) if word in MOVING:
                    return False
                case ast.Name(id=name):
                    waiting.append(name)
                case _:
                    pass
    return True


def _execute(read: Reader, node: ast.stmt) -> None:
    """Run one statement."""
    state = read.state
    match node:
        case ast.Assign(targets=[target], value=value):
            _assign(state, target, read.value(value))
        case ast.AnnAssign(target=ast.Name(id=one), value=ast.expr() as value):
            _name_constant(state, one, read.constant(value), node.lineno)
        case ast.AugAssign(target=ast.Name(id=changed), op=op, value=value):
            old = state.look(changed, node.lineno)
            state.names[changed] = kept(operated(state, op, old, read.value(value), node))
        case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
            pass
        case ast.Expr(value=value):
            read.value(value)
        case ast.If(test=test, body=body, orelse=orelse):
            state.names = after_updates(state, state.begun, state.names)
            _branch(read, test, body, orelse, returns=isinstance(node, ReturningBranch))
            state.begun.append(dict(state.names))
        case ast.For(target=ast.Name(id=counter), orelse=[]):
            state.names = after_updates(state, state.begun, state.names)
            loops.run(read, counter, node)
            state.begun.append(dict(state.names))
        case _:
            raise Unread(node.lineno, f"a statement '{ast.unparse(node).splitlines()[0]}'")


def _assign(state: KernelState, target: ast.expr, value: Value) -> None:
    """Bind a name, or several."""
    match target, value:
        case ast.Name(id=one), _:
            check_named(target, value)
            set_now = bound(one, kept(value))
            state.names.update(set_now)
            for name_of_part, part in set_now.items():
                state.begun[-1].setdefault(name_of_part, part)
        case ast.Tuple(elts=elements), TupleValue(parts=parts) if len(elements) == len(parts):
            for element, part in zip(elements, parts, strict=True):
                _assign(state, element, part)
        case _:
            raise Unread(target.lineno, f"an assignment to '{ast.unparse(target)}'")


def _name_constant(state: KernelState, one: str, value: Value, line: int) -> None:
    """Bind a name to a constant, by `name: tl.constexpr = ...`, which Triton does only once."""
    if one in state.names:
        raise Unread(line, f"'{one}' is set before, and no constant after that")
    state.names[one] = value
    state.begun[-1].setdefault(one, value)


def _branch(
    read: Reader,
    test: ast.expr,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
    *,
    returns: bool,
) -> None:
    """Run both sides, each where its condition holds, and put their values together.

    If one of them `returns`, the kernel ends after the other one, so no name is used after both.
    """
    state = read.state
    found = read.value(test)
    tested = None if orelse or not state.is_valued else nan_test(found) or enter_test(found)
    if tested is not None:
        since, before = noted(state), dict(state.names)
        again = _side(read, before, state.where, body)
        state.names = done_again(state, tested, before, again, since, test.lineno)
        return
    where = condition(state, found, test)
    is_constant = isinstance(found, TileValue) and found.kind == kinds.WEAK
    if is_constant and where in (TRUE, FALSE):
        read.block(body if where == TRUE else orelse)
        return
    if state.is_valued and is_rounding(test, body, orelse):
        if not changes_nothing(state, where, body):
            state.doubt(test.lineno, DOUBT)
        return
    before, outside = dict(state.names), state.where
    after_yes = _side(read, before, both(outside, where), body)
    state.names = _side(read, before, both(outside, negation(where)), orelse)
    state.where = outside
    if returns:
        return
    if not is_constant:
        check_sides(state, after_yes, state.names, test.lineno)
    state.names = dict(after_branch(state, where, after_yes, state.names, test.lineno))


def _side(
    read: Reader, before: Mapping[str, Value], where: Truth, body: list[ast.stmt]
) -> dict[str, Value]:
    """Run a side of a branch, where its condition holds, and return what names hold after it."""
    state = read.state
    around = state.begun
    state.where, state.names, state.begun = where, dict(before), [dict(before)]
    read.block(body)
    found = after_updates(state, state.begun, state.names)
    state.begun = around
    return found


def _value(read: Reader, node: ast.expr) -> Value:  # noqa: C901  # one case for each form
    """Return the value of an expression."""
    state = read.state
    match node:
        case ast.Constant(value=constant):
            return _constant(constant, node)
        case ast.Name(id=one):
            return state.look(one, node.lineno)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return TupleValue(tuple(read.value(element) for element in elements))
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Name(id=one)) if (
            one == state.launch.before and one not in state.names and ast.dump(left) == COUNTED
        ):
            return scalar(state.digits.of("program_0", state.launch.grid[0]), "tl.int32")
        case ast.BinOp(left=left, op=op, right=right):
            return operated(state, op, read.value(left), read.value(right), node)
        case ast.UnaryOp(op=sign, operand=operand):
            return signed(state, sign, read.value(operand), node)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]) if (
            isinstance(found := read.value(left), DescriptorValue)
        ):
            return scalar(found.there)
        case ast.Compare(
            left=left, ops=[(ast.Is() | ast.IsNot()) as op], comparators=[ast.Constant(value=None)]
        ):
            return _is_none(read.value(left), op, node)
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return compared(state, comparison, read.value(left), read.value(right), node)
        case ast.BoolOp(op=joint, values=values):
            sides = [read.tile(one) for one in values]
            if not state.is_valued and any(one.axes for one in sides):
                return _of_tiles(state, joint, sides, node)
            result: Value = _one_truth(state, sides[0], values[0])
            for side, other in zip(sides[1:], values[1:], strict=True):
                result = both_or_either(state, joint, result, _one_truth(state, side, other), node)
            return result
        case ast.Subscript(value=value, slice=index):
            return subscripted(state, read.value(value), index, node)
        case ast.Attribute() if (dotted := ast.unparse(node)).startswith("tl."):
            check_word(node)
            return TypeValue(dotted)
        case ast.Attribute(
            value=ast.Attribute(value=value, attr=("dtype" | "type") as word), attr="element_ty"
        ) if (kind := _elements(read, value, word, node)) is not None:
            return TypeValue(kind)
        case ast.Attribute(value=value, attr="T"):
            return tile_shapes.transposed(read.tile(value, stays=True), node.lineno)
        case ast.Attribute(value=value, attr="dtype"):
            of = read.tile(value)
            if isinstance(of.item, PointerValue):
                raise Unread(node.lineno, "the type of an address: write '.dtype.element_ty'")
            return TypeValue(of.kind)
        case ast.Call(func=func):
            check_word(func)
            return calls.call(read, node)
        case ast.IfExp(test=test, body=yes, orelse=no):
            return _chosen(read, test, yes, no)
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")


def _elements(read: Reader, value: ast.expr, word: str, node: ast.expr) -> str | None:
    """Return the type of `value.dtype.element_ty` or `value.type.element_ty`; None if it has none.

    An address points to such elements, and so does a block pointer; a tile has them, by `type`.
    Elements of a tile of addresses are addresses; and a number by itself has no elements.
    """
    if isinstance(value, ast.Name):
        held = read.state.names.get(value.id)
        if isinstance(held, BlockPointerValue):
            return held.pointer.kind
    of = read.tile(value)
    is_address = isinstance(of.item, PointerValue)
    if word == "type" and is_address == bool(of.axes):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    return of.kind if is_address or word == "type" else None


def _chosen(read: Reader, test: ast.expr, yes: ast.expr, no: ast.expr) -> Value:
    """Return `yes if test else no`.

    Where Triton knows the test while it compiles, only the side that is chosen is compiled. Else
    both sides are, and they must be two numbers of one type.
    """
    found = read.tile(test)
    if found.kind == kinds.WEAK:
        where = condition(read.state, found, test)
        if where in (TRUE, FALSE):
            return read.value(yes if where == TRUE else no)
    first, second = read.value(yes), read.value(no)
    is_plain = found.kind in (kinds.BOOL, kinds.TRUTH) and not found.axes
    if not is_plain or not calls_nothing(yes, no):
        raise Unread(test.lineno, f"a choice by '{ast.unparse(test)}': write tl.where")
    return chosen_of_two(read.state, found, kept(first), kept(second), test.lineno)


def _is_none(found: Value, op: ast.Is | ast.IsNot, node: ast.expr) -> Value:
    """Return whether a kernel was given None for a tensor: a constant, while Triton compiles."""
    is_tensor = isinstance(found, TileValue) and isinstance(found.item, PointerValue)
    if not is_tensor and not isinstance(found, NoneValue):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    return scalar(FALSE if is_tensor == isinstance(op, ast.Is) else TRUE)


def _of_tiles(
    state: KernelState, joint: ast.boolop, sides: Sequence[TileValue], node: ast.BoolOp
) -> Value:
    """Return `and` or `or` of tiles of truths as Triton's compiler reads it; it warns of it.

    A constant decides the result, or is left out. Where constants stand before the only tile,
    Python does the same. Triton's interpreter does what Python does, so values are not compared
    with an algorithm where the two differ.
    """
    tiles: list[TileValue] = []
    for side, text in zip(sides, node.values, strict=True):
        known = _known_truth(side)
        if known is None and side.kind != kinds.BOOL:
            what = f"'{ast.unparse(text)}' beside 'and' or 'or', which is no tile of truths"
            raise Unread(node.lineno, what)
        if tiles:
            state.run.assume(Lemma.COMPILED, node.lineno)
        if known is isinstance(joint, ast.Or):
            return side
        tiles += [side] if known is None else []
    operator = ast.BitAnd() if isinstance(joint, ast.And) else ast.BitOr()
    result: Value = tiles[0]
    for tile in tiles[1:]:
        result = operated(state, operator, result, tile, node)
    return result


def _known_truth(side: TileValue) -> bool | None:
    """Return the truth of a constant; None for other values."""
    if side.kind not in (kinds.WEAK, kinds.TRUTH) or side.axes:
        return None
    match side.item:
        case Whole() as number_of if number_of.constant is not None:
            return number_of.constant != 0
        case item if item in (TRUE, FALSE):
            return item == TRUE
        case _:
            return None


def _one_truth(state: KernelState, found: TileValue, node: ast.expr) -> TileValue:
    """Return a side of `and` or `or`, which must be one truth.

    For other operands Python returns one of the sides as it is, which is not read.
    """
    is_data = not state.is_valued and found.kind in (kinds.BOOL, kinds.TRUTH)
    if found.axes or not (is_truth(found.item) or is_data):
        what = f"'{ast.unparse(node)}' beside 'and' or 'or', which is not one truth"
        raise Unread(node.lineno, what)
    return found


def _constant(value: object, node: ast.expr) -> Value:
    match value:
        case bool():
            return scalar(TRUE if value else FALSE)
        case int():
            return scalar(number(value))
        case float():
            return scalar(literal(value))
        case str():
            return TextValue(value)
        case None:
            return NoneValue()
        case _:
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")
