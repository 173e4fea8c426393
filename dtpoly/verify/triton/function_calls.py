"""Evaluate calls of the file's own functions.

Such a function is followed, if its body is one expression, or it is known by its text: then what it
computes is an assumption of the proof.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import brought
from dtpoly.verify.algebra.kernel_values import (
    NoneValue,
    PointerValue,
    TileValue,
    TupleValue,
    Unread,
    Value,
    as_term,
)
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.term_building import applied, is_product
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    EXTREMES_OF_TRUTHS,
    AppliedOperation,
    PlaceOf,
    Term,
    ValueOf,
    pair,
)
from dtpoly.verify.algebra.whole import FALSE, TRUE
from dtpoly.verify.semantics.types import MADE
from dtpoly.verify.triton import known, list_calls, shifts
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.compiler_doubts import check_named
from dtpoly.verify.triton.gathering import OF_BITS
from dtpoly.verify.triton.kernel_state import KernelState, bound
from dtpoly.verify.triton.python_operators import in_kind, not_in_eight
from dtpoly.verify.triton.reader import Reader, condition
from dtpoly.verify.triton.typed_operations import LANES, kept, meaning, of_tile
from dtpoly.verify.triton.unit.forms import is_docstring

# The functions that are known by their texts, and the types for which their texts are right. For
# other types they would compute other values (whole numbers by way of floats, or floats without
# regard to NaN), or Triton does not compile them.
OF_FLOATS = (
    *("dt_clamp", "dt_mod", "dt_cdiv", "dt_div_rn", "dt_sqrt_rn", "dt_tanh", "dt_pow"),
    *("dt_round", "dt_trunc"),
)
OF_WHOLES = ("dt_clamp_whole", "dt_pow_whole")
# The functions whose texts are right for the types of whole numbers that tensors have.
OF_TENSORS = ("dt_mod_whole", "dt_cdiv_whole", "dt_quotient", "dt_shl", "dt_shr")
TENSORS = ("tl.uint8", "tl.int8", "tl.int16", "tl.int32", "tl.int64")
# The functions that draw for a seed and two numbers of 64 bits, and the types of what they give.
OF_COUNTERS = ("dt_random_bits", "dt_random_float")
COUNTER = "tl.int64"
DRAWN = {"random_bits": COUNTER, "random": "tl.float32"}
FULL_FLOATS = ("tl.float32", "tl.float64", kinds.REAL)
# The rows of the table of semantics that say how functions known by their text treat types. A
# remainder of floats is computed from exact operations: Triton's own `%` is not read.
SPELLED = {
    "dt_mod": "div",
    "mod": "mod",
    "div_rn": "div",
    "maximum": "maximum of all",
    "minimum": "minimum of all",
}


def called(
    read: Reader,
    of: str,
    values: list[Value],
    line: int,
    named: Sequence[ast.keyword] = (),
) -> Value:
    """Evaluate a call of a function of the file, by its body or by what is known of its text.

    A body that is followed sets names of its own, one after another, and returns a value.
    """
    state = read.state
    definition = state.file.jitted[of]
    entry = known.entry(state.file, of)
    if entry is not None:
        if named:
            raise Unread(line, f"a call of '{of}' by names")
        state.run.assume(Lemma.KNOWN, of, *entry)
        return _known(state, of, entry[1], values, line)
    given = _bound(read, definition, values, named, line)
    outer, begun = state.names, state.begun
    state.names, state.begun = given, [dict(given)]
    try:
        result = _result(read, definition.body)
        if result is None and not state.is_valued and not _returns(definition):
            return NoneValue()  # it only stores, or says something
        if result is None:
            what = "whose body is more than names that are set and one value that is returned"
            raise Unread(line, f"a call of '{of}', {what}")
        returned = read.value(result)
        if not isinstance(returned, TileValue | TupleValue | NoneValue):
            raise Unread(line, f"a call of '{of}', which returns what is no number")
        return kept(returned)
    finally:
        state.names, state.begun = outer, begun


def _result(read: Reader, body: Sequence[ast.stmt]) -> ast.expr | None:
    """Set the names of a body, and return the value at its end; None if it is another body.

    Of a branch on a constant only one side is read, as Triton compiles only that one. It may return
    the value if nothing follows it. Where no values are compared, other statements are read as if
    they stood in the kernel.
    """
    for at, one in enumerate(body):
        names = read.state.names
        is_last = at + 1 == len(body)
        match one:
            case ast.Return(value=ast.expr() as returned) if is_last:
                return returned
            case ast.Assign(targets=[ast.Name() as target], value=value):
                found = read.value(value)
                check_named(target, found)
                names.update(bound(target.id, kept(found)))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                if name in names:
                    raise Unread(one.lineno, f"'{name}' is set before, and no constant after that")
                names[name] = read.constant(value)
            case _ if not read.state.is_valued and _is_of_kernels(read, one):
                read.statement(one)
            case ast.If(test=test, body=yes, orelse=no):
                side = yes if _is_true(read, test) else no
                result = _result(read, side)
                if (result is not None) != is_last:
                    return None
                if is_last:
                    return result
            case _ if is_docstring(one) or isinstance(one, ast.Pass):
                pass
            case _:
                return None
    return None


def _returns(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Return) for one in ast.walk(node))


def _is_of_kernels(read: Reader, node: ast.stmt) -> bool:
    """Return whether a statement is read as those of a kernel are, and leads on to the next one."""
    match node:
        case ast.If(test=test):
            return not _returns(node) and read.tile(test).kind != kinds.WEAK
        case ast.For() | ast.AugAssign():
            return not _returns(node)
        case ast.Assign(targets=[ast.Tuple()]):
            return True
        case ast.Expr(value=ast.Call()):
            return True
        case _:
            return False


def _is_true(read: Reader, test: ast.expr) -> bool:
    """Return whether a condition holds that Triton knows while it compiles. Raises Unread."""
    found = read.tile(test)
    where = condition(read.state, found, test)
    if found.kind != kinds.WEAK or where not in (TRUE, FALSE):
        raise Unread(test.lineno, f"a branch on '{ast.unparse(test)}' in a function")
    return where == TRUE


def _bound(
    read: Reader,
    definition: ast.FunctionDef,
    values: Sequence[Value],
    named: Sequence[ast.keyword],
    line: int,
) -> dict[str, Value]:
    """Return what the parameters of a function are in a call. Raises Unread."""
    parameters = [argument.arg for argument in definition.args.args]
    by_name = {one.arg: read.value(one.value) for one in named if one.arg is not None}
    given = dict(zip(parameters, values, strict=False))
    is_clear = len(by_name) == len(named) and len(values) <= len(parameters)
    if not is_clear or given.keys() & by_name.keys() or by_name.keys() - set(parameters):
        raise Unread(line, f"a call of '{definition.name}'")
    defaults = definition.args.defaults
    for parameter, default in zip(parameters[-len(defaults) :], defaults, strict=False):
        if parameter not in given and parameter not in by_name:
            by_name[parameter] = read.value(default)
    if set(parameters) != {*given, *by_name}:
        raise Unread(line, f"a call of '{definition.name}'")
    names: dict[str, Value] = {}
    for parameter, value in {**given, **by_name}.items():
        names.update(bound(parameter, value))
    return names


def _known(state: KernelState, of: str, meaning_of: str, values: list[Value], line: int) -> Value:
    """Evaluate a call of a function that is known by its text."""
    if meaning_of in shifts.MEANINGS:
        return shifts.called(state, meaning_of, values, line)
    for value in values:
        state.leaves(value, line)
    if meaning_of in OF_BITS.values():
        return _of_bits(state, meaning_of, values, line)
    tiles = [value for value in values if isinstance(value, TileValue)]
    if len(tiles) != len(values):
        raise Unread(line, f"a call of '{of}'")
    _check_types(of, tiles, line)
    if meaning_of == list_calls.MEANING:
        return list_calls.listed(state, tiles, line)
    axes, items = aligned(state, tiles, line)
    operands = [as_term(item, line) for item in items]
    if meaning_of in EXTREMES:
        return TupleValue(_extreme_and_place(meaning_of, axes, tiles, operands, line))
    if meaning_of in DRAWN:
        operands = [settled(COUNTER, operand) for operand in operands]
        return TileValue(axes, applied(meaning_of, operands), DRAWN[meaning_of])
    kind = of_tile(tiles[0])
    for tile in tiles[1:]:
        word = SPELLED.get(of) or SPELLED.get(meaning_of, "add")
        kind = meaning(word, (kind, of_tile(tile)), line).kind
    kind = kinds.SIZE if kind == LANES else MADE.get(kind, kind)
    if not (meaning_of == "pow" and is_product(operands)):
        operands = [
            settled(tile.kind, operand) for operand, tile in zip(operands, tiles, strict=True)
        ]
    return TileValue(axes, in_kind(applied(meaning_of, operands), kind, meaning_of, line), kind)


def _extreme_and_place(
    extreme: str,
    axes: tuple[str | None, ...],
    tiles: Sequence[TileValue],
    operands: Sequence[Term],
    line: int,
) -> tuple[TileValue, TileValue]:
    """Return the larger or smaller of two values, and its place.

    Both values are brought to one type, and so are both places: the least number of another type
    would not be recognised as one that changes nothing.
    """
    types = [
        meaning("where", (kinds.BOOL, of_tile(tiles[at]), of_tile(tiles[at + 2])), line).kind
        for at in (0, 1)
    ]
    not_in_eight(types[0], line)
    a, i, b, j = (
        settled(kind, brought(operand, tile.kind, kind))
        for operand, tile, kind in zip(operands, tiles, types * 2, strict=True)
    )
    both = AppliedOperation(of_kind(extreme, types[0]), (pair(a, i), pair(b, j)))
    return TileValue(axes, ValueOf(both), types[0]), TileValue(axes, PlaceOf(both), types[1])


def of_kind(extreme: str, kind: str) -> str:
    """Return the operation that finds the place of the largest or smallest value of a type."""
    return EXTREMES_OF_TRUTHS[extreme] if kind == kinds.BOOL else extreme


def _check_types(of: str, tiles: Sequence[TileValue], line: int) -> None:
    """Raise Unread if the text of a function is not known to be right for these types."""
    types = {tile.kind for tile in tiles}
    is_float = types <= {*FULL_FLOATS}
    is_right = len(types) == 1 and (
        is_float if of in OF_FLOATS else all(map(kinds.is_whole, types))
    )
    if of in OF_COUNTERS and types != {COUNTER}:
        raise Unread(line, f"'{of}' of what is no whole number of 64 bits")
    if of == "dt_list" and not (types - {""} <= {*FULL_FLOATS, *TENSORS, kinds.SIZE}):
        raise Unread(line, "a list of values of a type for which its text is not known")
    if of in OF_TENSORS:
        is_right = len(types) == 1 and types <= {*TENSORS}
    if of in (*OF_FLOATS, *OF_WHOLES, *OF_TENSORS) and not is_right:
        words = " and ".join(sorted(one or "a constant" for one in types))
        raise Unread(line, f"'{of}' of {words}, of which its text is not known to be right")


def _of_bits(state: KernelState, meaning: str, values: list[Value], line: int) -> TileValue:
    """Return a float in the type of a tensor, where a NaN gets the bits that win by their order.

    Atomic operations compare bits, so this is what makes a NaN win there.
    """
    match values:
        case [TileValue() as value, TileValue(item=PointerValue(tensor=tensor))]:
            held = state.arrays[tensor].kind
            term = brought(as_term(value.item, line), value.kind, held)
            return TileValue(value.axes, AppliedOperation(f"{meaning} in {held}", (term,)), held)
        case _:
            raise Unread(line, f"'{meaning}' of what is no value and an address")
