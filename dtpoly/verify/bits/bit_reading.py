"""Read how a kernel rounds: for each store the term of what is stored.

The text is read a second time, beside the notes of the verifier's run. These say what is an index,
a size or a condition, and which element a load or store touches. Everything else becomes a term of
the operations in the order of the text. What is not understood becomes an unknown value, of which
nothing is proved.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from dtpoly.verify.algebra import terms
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Radix, TileValue, Unread, is_truth, lanes_of
from dtpoly.verify.algebra.whole import FALSE, TRUE, Truth, Whole, compare, name, number
from dtpoly.verify.bits.bit_calls import called, method_called
from dtpoly.verify.bits.bit_state import BitState, Held, literal, moved, subscripted, unknown
from dtpoly.verify.bits.bit_terms import (
    BitChoice,
    BitKernel,
    BitLoop,
    BitLoopEnd,
    BitLoopStart,
    BitMoved,
    BitNumber,
    BitOperation,
    BitStore,
    BitTerm,
    BitUnknown,
    BitValue,
)
from dtpoly.verify.bits.watched_run import ExpressionNote, WatchedRun
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.carrying import assigned

STORES = ("store", "atomic_add", "atomic_max", "atomic_min")


def block(state: BitState, body: Sequence[ast.stmt]) -> None:
    """Read statements in order."""
    for one in body:
        statement(state, one)


def statement(state: BitState, node: ast.stmt) -> None:
    """Read one statement. Raises Unread."""
    match node:
        case ast.Assign(targets=[target], value=value):
            assign(state, target, state.held(value))
        case ast.AugAssign(target=ast.Name(id=one), op=op, value=value):
            old = state.names.get(one, unknown(node.lineno, f"'{one}' has no value that rounds"))
            word = type(op).__name__
            state.names[one] = state.operation(word, (old, state.held(value)), node.lineno)
        case ast.Expr(value=ast.Call() as call):
            stored(state, call)
        case ast.If():
            branch(state, node)
        case ast.For(target=ast.Name(id=counter)):
            loop(state, node, counter)
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None):
            pass
        case _:
            raise Unread(node.lineno, "a statement whose rounding is not read")


def assign(state: BitState, target: ast.expr, value: Held) -> None:
    """Bind a name, or several."""
    match target:
        case ast.Name(id=one):
            state.names[one] = value
        case ast.Tuple(elts=elements):
            parts = value if isinstance(value, tuple) else ()
            for at, element in enumerate(elements):
                lost = unknown(target.lineno, "a value in a tuple")
                assign(state, element, parts[at] if at < len(parts) else lost)
        case _:
            raise Unread(target.lineno, "an assignment whose rounding is not read")


def held(state: BitState, node: ast.expr) -> Held:
    """Return the value of an expression, which may be a tuple."""
    note = state.note(node)
    if note is not None and isinstance(note.value, TileValue):
        item = note.value.item
        if (isinstance(item, Whole) or is_truth(item)) and not kinds.is_float(note.value.kind):
            kind = f"{note.value.kind} cut" if note.value.is_cut else note.value.kind
            return state.known(note.value.axes, BitNumber(item, kind))
        is_leaf = isinstance(node, ast.Name | ast.Constant) or is_float_call(node)
        if isinstance(item, terms.Literal) and is_leaf and not is_set(state, node):
            return state.known(note.value.axes, literal(item.text, note.value.kind, node))
    match node:
        case ast.Name(id=one):
            return named(state, one, note, node.lineno)
        case ast.Constant(value=value):
            return BitValue((), literal(repr(value), "", node))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return tuple(state.held(one) for one in elements)
        case ast.BinOp(left=left, op=op, right=right):
            both = (state.held(left), state.held(right))
            return state.operation(type(op).__name__, both, node.lineno)
        case ast.UnaryOp(op=op, operand=operand):
            return state.operation(type(op).__name__, (state.held(operand),), node.lineno)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            both = (state.held(left), state.held(right))
            return state.operation(type(op).__name__, both, node.lineno)
        case ast.BoolOp(op=op, values=values):
            parts = tuple(state.held(one) for one in values)
            return state.operation(type(op).__name__, parts, node.lineno)
        case ast.IfExp(test=test, body=yes, orelse=no):
            return chosen(state, test, yes, no)
        case ast.Subscript(value=value, slice=index):
            return subscripted(state.value(value), index, node.lineno)
        case ast.Call(func=ast.Attribute(value=of, attr=word)) if state.note(of) is not None:
            return method_called(state, of, word, node)
        case ast.Call():
            return called(state, node)
        case _:
            return unknown(node.lineno, f"'{ast.unparse(node)}'")


def named(state: BitState, one: str, note: ExpressionNote | None, line: int) -> Held:
    """Return what a name holds: what the kernel set it to, or an input."""
    if one in state.names:
        return state.names[one]
    value = None if note is None else note.value
    if isinstance(value, TileValue) and isinstance(value.item, terms.Given):
        return BitValue((), BitOperation(f"scalar {value.item.name}", (), line))
    return unknown(line, f"'{one}', of which the rounding is not known")


def chosen(state: BitState, test: ast.expr, yes: ast.expr, no: ast.expr) -> Held:
    """Return `yes if test else no`."""
    where = condition(state, test)
    if where in (TRUE, FALSE):
        return state.held(yes if where == TRUE else no)
    first, second = state.value(yes), state.value(no)
    if where is None:
        return state.operation("where", (state.value(test), first, second), test.lineno)
    axes, (one, other) = state.aligned((first, second), test.lineno)
    return BitValue(axes, BitChoice(where, one, other))


def condition(state: BitState, test: ast.expr) -> Truth | None:
    """Return a condition on sizes and places; None for one on data."""
    note = state.note(test)
    item = note.value.item if note and isinstance(note.value, TileValue) else None
    if isinstance(item, Whole):
        return compare("!=", item, number(0))
    return item if is_truth(item) else None


def stored(state: BitState, node: ast.Call) -> None:
    """Read a call that stands alone: a store, or one that has no value."""
    note = state.note(node)
    for access in () if note is None else note.accesses:
        if access.kind in STORES:
            if access.scattered is None:
                term = at_lanes(state, state.value(node.args[1]), access)
            else:
                term = BitUnknown(access.line, "a store at a place that is data")
            state.stores.append(BitStore(access, term))


def at_lanes(state: BitState, value: BitValue, access: KernelAccess) -> BitTerm:
    """Return what is stored, over the lanes of the store."""
    own = [axis for axis in value.axes if axis is not None]
    shape = [one for one in access.shape if one.constant != 1]
    if not own:
        return value.term
    lanes, put = list(access.lanes), dict[str, Whole]()
    if len(own) != len(shape) or len(lanes_of(own)) != len(lanes):
        return BitUnknown(access.line, "a store of a tile that is broadcast")
    for old, new in zip(lanes_of(own), lanes, strict=True):
        if state.extents[old] != state.state.extents.get(new):
            return BitUnknown(access.line, "a store of a tile of another shape")
        put[old] = name(new)
    return BitMoved(value.term, tuple(put.items()))


def branch(state: BitState, node: ast.If) -> None:
    """Read both sides of a branch, or the side that the verifier's run took."""
    done = [ran(state, side) for side in (node.body, node.orelse)]
    where = condition(state, node.test)
    if not done[0] and not (done[1] and node.orelse):
        return  # it rounds addresses to multiples that they are, or is never taken
    if where is None:
        raise Unread(node.lineno, "a branch on data")
    if where in (TRUE, FALSE):
        block(state, node.body if where == TRUE else node.orelse)
        return
    before = dict(state.names)
    block(state, node.body)
    after = state.names
    state.names = dict(before)
    block(state, node.orelse)
    for one in sorted({*after, *state.names}):
        state.names[one] = merged(state, where, one, after, node.lineno)


def ran(state: BitState, body: Sequence[ast.stmt]) -> bool:
    """Return whether the verifier's run looked at a side of a branch."""
    return bool(body) and id(body[0]) in state.notes.statements


def merged(state: BitState, where: Truth, one: str, after: Mapping[str, Held], line: int) -> Held:
    """Return what a name holds after a branch."""
    yes, no = after.get(one), state.names.get(one)
    if yes is None or no is None:
        return unknown(line, f"'{one}', which only one side of a branch sets")
    if yes == no:
        return yes
    if isinstance(yes, tuple) or isinstance(no, tuple):
        return unknown(line, f"'{one}', a tuple that a branch sets")
    axes, (first, second) = state.aligned((no, yes), line)
    return BitValue(axes, BitChoice(where, second, first))


def loop(state: BitState, node: ast.For, counter: str) -> None:
    """Read a loop: its body once, for any iteration."""
    if not ran(state, node.body):
        raise Unread(node.lineno, "a loop that was not looked at")
    bounds = node.iter.args if isinstance(node.iter, ast.Call) else []
    if any(not _is_known(state, one) for one in bounds):
        raise Unread(node.lineno, "a loop whose bounds are data")
    inner = state.notes.statements[id(node.body[0])].loops
    outer = state.notes.statements[id(node)].loops
    own = inner[len(outer) :]
    set_inside = assigned(node.body)
    before = dict(state.names)
    changed = [one for one in set_inside if isinstance(before.get(one), BitValue)]
    if not own:
        over_programs(state, node, before, set_inside)
        return
    found = BitLoop(node.lineno, {one: state.state.ranges[one] for one in own})
    key = own[-1]
    state.loops[key] = found
    for one in set_inside:
        value = before.get(one)
        if isinstance(value, BitValue):
            found.first[one] = value
            lanes = tuple(map(name, lanes_of(value.axes)))
            state.names[one] = BitValue(value.axes, BitLoopStart(key, one, lanes))
        else:
            state.names.pop(one, None)
    block(state, node.body)
    for one in changed:
        value, first = state.names[one], found.first[one]
        found.last[one] = like(state, value, first, node.lineno)
    state.names = before
    for one in changed:
        axes = found.first[one].axes
        lanes = tuple(map(name, lanes_of(axes)))
        state.names[one] = BitValue(axes, BitLoopEnd(key, one, lanes))
    for one in (*(one for one in set_inside if one not in changed), counter):
        state.names[one] = unknown(node.lineno, f"'{one}', which a loop sets")


def _is_known(state: BitState, bound: ast.expr) -> bool:
    """Return whether a bound of a loop follows from sizes and places, or is a program id."""
    note = state.note(bound)
    item = note.value.item if note and isinstance(note.value, TileValue) else None
    return isinstance(item, Whole | Radix)


def over_programs(
    state: BitState, node: ast.For, before: Mapping[str, Held], set_inside: Sequence[str]
) -> None:
    """Read a loop in which programs share out the iterations: no iteration needs another.

    The verifier's run has shown that. A name that is set before may be set again to what a cast
    makes of it, and two such casts give the bits of one.
    """
    block(state, node.body)
    for one in (*set_inside, *(one for one in state.names if one not in before)):
        state.names[one] = unknown(node.lineno, f"'{one}', which a loop over programs sets")


def like(state: BitState, value: Held, first: BitValue, line: int) -> BitValue:
    """Return a value over the lanes of another one of the same shape."""
    if not isinstance(value, BitValue) or len(value.axes) != len(first.axes):
        return unknown(line, "a name that changes its shape in a loop")
    return BitValue(first.axes, moved(value.term, value.axes, first.axes, line))


def read_kernel(notes: WatchedRun, run: Ran) -> BitKernel:
    """Return how a kernel rounds, given the notes of its run. Raises Unread."""
    assert notes.state is not None, "it has run"
    state = BitState(notes, notes.state, held)
    block(state, notes.outermost)
    return BitKernel(run, state.stores, state.loops, {**notes.state.extents, **state.extents})


def is_float_call(node: ast.expr) -> bool:
    """Return whether an expression is `float(...)` of what is written."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "float"


def is_set(state: BitState, node: ast.expr) -> bool:
    """Return whether the kernel has set a name, so that its value is followed."""
    return isinstance(node, ast.Name) and node.id in state.names
