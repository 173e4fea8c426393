"""Evaluate calls of the file's own functions, reductions and matrix products of a kernel.

`calls` hands these over. A function of the file is followed, if its body is one expression, or it
is known by its text: then what it computes is an assumption of the proof.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from dtpoly.verify import kinds, known, shifts
from dtpoly.verify.asking import Lemma, assume
from dtpoly.verify.axes import shape_of
from dtpoly.verify.building import applied, is_product, rounded
from dtpoly.verify.casts import brought
from dtpoly.verify.compiled import note_reduced
from dtpoly.verify.gathering import OF_BITS
from dtpoly.verify.helpers import MEANINGS
from dtpoly.verify.operators import in_kind, joined, not_in_eight
from dtpoly.verify.reader import Reader
from dtpoly.verify.regions import holds, is_affine, set_of
from dtpoly.verify.residues import RING, leaving, settled
from dtpoly.verify.semantics.types import MADE
from dtpoly.verify.state import KernelState
from dtpoly.verify.terms import (
    EXTREMES,
    EXTREMES_OF_TRUTHS,
    Apply,
    Literal,
    Pair,
    PlaceOf,
    Total,
    ValueOf,
    fresh,
    pair,
    put,
)
from dtpoly.verify.tiles import aligned
from dtpoly.verify.typed import LANES, kept, meaning, of_tile
from dtpoly.verify.values import (
    Group,
    Item,
    Nothing,
    Pointer,
    Text,
    Tile,
    Type,
    Unread,
    Value,
    as_term,
    lanes_of,
)
from dtpoly.verify.whole import Whole, both, compare, name, number, within

PRECISIONS = ("tf32", "tf32x3", "ieee")
# The least number of products that a dot adds up, in each version of Triton. For operands of 8 bits
# it is twice as many.
LEAST_SUM = 16
# The functions that are known by their texts, and the types for which their texts are right. For
# other types they would compute other values (whole numbers by way of floats, or floats without
# regard to NaN), or Triton does not compile them.
OF_FLOATS = ("dt_clamp", "dt_mod", "dt_cdiv", "dt_div_rn", "dt_sqrt_rn", "dt_tanh", "dt_pow")
OF_WHOLES = ("dt_clamp_whole", "dt_mod_whole", "dt_cdiv_whole", "dt_pow_whole")
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
# If each step of such a reduction is rounded, its order matters: so it gets a name of its own.
STEPS = ("add", "mul")


def called(read: Reader, of: str, values: list[Value], line: int) -> Value:
    """Evaluate a call of a function of the file, by its body or by what is known of its text."""
    state = read.state
    definition = state.file.jitted[of]
    meaning_of = known.meaning(state.file, of)
    if meaning_of is not None:
        assume(Lemma.KNOWN, of, *MEANINGS[of])
        if meaning_of in shifts.MEANINGS:
            return shifts.called(state, meaning_of, values, line)
        for value in values:
            state.leaves(value, line)
        if meaning_of in OF_BITS.values():
            return _of_bits(state, meaning_of, values, line)
        tiles = [value for value in values if isinstance(value, Tile)]
        if len(tiles) != len(values):
            raise Unread(line, f"a call of '{of}'")
        _check_types(of, tiles, line)
        axes, items = aligned(state, tiles, line)
        operands = [as_term(item, line) for item in items]
        if meaning_of in EXTREMES:
            # Both values are brought to one type, and so are both places: the least number of
            # another type would not be recognised as one that changes nothing.
            types = [
                meaning(
                    "where", (kinds.BOOL, of_tile(tiles[at]), of_tile(tiles[at + 2])), line
                ).kind
                for at in (0, 1)
            ]
            not_in_eight(types[0], line)
            a, i, b, j = (
                settled(kind, brought(operand, tile.kind, kind))
                for operand, tile, kind in zip(operands, tiles, types * 2, strict=True)
            )
            both = Apply(_of_kind(meaning_of, types[0]), (pair(a, i), pair(b, j)))
            first = Tile(axes, ValueOf(both), types[0])
            return Group((first, Tile(axes, PlaceOf(both), types[1])))
        kind = of_tile(tiles[0])
        for tile in tiles[1:]:
            word = SPELLED.get(of) or SPELLED.get(meaning_of, "add")
            kind = meaning(word, (kind, of_tile(tile)), line).kind
        kind = kinds.SIZE if kind == LANES else MADE.get(kind, kind)
        if not (meaning_of == "pow" and is_product(operands)):
            operands = [
                settled(tile.kind, operand) for operand, tile in zip(operands, tiles, strict=True)
            ]
        return Tile(axes, in_kind(applied(meaning_of, operands), kind, meaning_of, line), kind)
    match definition.body:
        case [ast.Return(value=ast.expr() as result)]:
            pass
        case [ast.Expr(value=ast.Constant()), ast.Return(value=ast.expr() as result)]:
            pass
        case _:
            raise Unread(line, f"a call of '{of}', whose body is more than one expression")
    outer = state.names
    parameters = [argument.arg for argument in definition.args.args]
    if len(parameters) != len(values):
        raise Unread(line, f"a call of '{of}'")
    state.names = dict(zip(parameters, values, strict=True))
    try:
        return kept(read.value(result))
    finally:
        state.names = outer


def _of_kind(extreme: str, kind: str) -> str:
    """Return the operation that finds the place of the largest or smallest value of a type."""
    return EXTREMES_OF_TRUTHS[extreme] if kind == kinds.BOOL else extreme


def _check_types(of: str, tiles: Sequence[Tile], line: int) -> None:
    """Raise Unread if the text of a function is not known to be right for these types."""
    types = {tile.kind for tile in tiles}
    is_float = types <= {*FULL_FLOATS}
    is_right = len(types) == 1 and (
        is_float if of in OF_FLOATS else all(map(kinds.is_whole, types))
    )
    if of in (*OF_FLOATS, *OF_WHOLES) and not is_right:
        words = " and ".join(sorted(one or "a constant" for one in types))
        raise Unread(line, f"'{of}' of {words}, of which its text is not known to be right")


def _of_bits(state: KernelState, meaning: str, values: list[Value], line: int) -> Tile:
    """Return a float in the type of a tensor, where a NaN gets the bits that win by their order.

    Atomic operations compare bits, so this is what makes a NaN win there.
    """
    match values:
        case [Tile() as value, Tile(item=Pointer(tensor=tensor))]:
            held = state.arrays[tensor].kind
            term = brought(as_term(value.item, line), value.kind, held)
            return Tile(value.axes, Apply(f"{meaning} in {held}", (term,)), held)
        case _:
            raise Unread(line, f"'{meaning}' of what is no value and an address")


def reduced(state: KernelState, tile: Tile, axis: int | None, operation: str, line: int) -> Tile:
    """Reduce a tile along an axis: all lanes are put together by an operation."""
    if axis is None or not -len(tile.axes) <= axis < len(tile.axes):
        raise Unread(line, "a reduction of an axis that is not there")
    lane = tile.axes[axis]
    rest = list(tile.axes)
    del rest[axis]
    term = as_term(tile.item, line)
    kind = tile.kind
    if operation not in RING and not isinstance(term, Pair):
        term = settled(kind, term)
    if operation in STEPS and kinds.is_narrow(kind) and not kinds.is_whole(kind):
        operation = f"{operation} in {kind}"
    if lane is None:
        return Tile(tuple(rest), term, kind)
    bound = {one: fresh("lane") for one in lanes_of((lane,))}
    ranges = (within(number(0), name(new), state.extents[one]) for one, new in bound.items())
    moved = put(term, {one: name(new) for one, new in bound.items()})
    total = Total(operation, tuple(bound.values()), both(*ranges), moved)
    if kinds.is_float(kind):
        note_reduced(state, operation.partition(" in ")[0], term, bound.values())
    return Tile(tuple(rest), in_kind(total, kind, operation, line), kind)


def reduced_by(read: Reader, operand: Value, axis: int | None, function: str, line: int) -> Value:
    """Evaluate `tl.reduce` by a function of the file.

    To find the operation, the function is evaluated on two probes: it must put them together by one
    operation. A pair of values and places is reduced by a function that is known by its text.
    """
    state = read.state
    if isinstance(operand, Group):
        for part in operand.parts:
            state.leaves(part, line)
        meaning_of = known.meaning(state.file, function)
        if meaning_of is not None:
            assume(Lemma.KNOWN, function, *MEANINGS[function])
        match operand.parts:
            case (Tile() as first, Tile() as second) if meaning_of in EXTREMES:
                not_in_eight(first.kind, line)
                axes, (a, b) = aligned(state, (first, second), line)
                values = (
                    settled(tile.kind, as_term(item, line))
                    for item, tile in ((a, first), (b, second))
                )
                both = Tile(axes, pair(*values))
                result = reduced(state, both, axis, _of_kind(str(meaning_of), first.kind), line)
                term = as_term(result.item, line)
                value = Tile(result.axes, ValueOf(term), first.kind)
                return Group((value, Tile(result.axes, PlaceOf(term), second.kind)))
            case _:
                raise Unread(line, f"a reduction by '{function}'")
    if not isinstance(operand, Tile):
        raise Unread(line, "a reduction of what is not a tile")
    state.leaves(operand, line)
    left, right = Literal("left"), Literal("right")
    probes: list[Value] = [Tile((), left, operand.kind), Tile((), right, operand.kind)]
    match called(read, function, probes, line):
        case Tile(item=Apply(operation=operation, operands=operands)) if operands == (left, right):
            return reduced(state, operand, axis, operation, line)
        case Tile(
            item=Apply(operands=(Apply(operation=operation, operands=operands),), operation=outer)
        ) if operands == (left, right) and outer == f"round {operand.kind}":
            return reduced(state, operand, axis, operation, line)
        case _:
            raise Unread(line, f"a reduction by '{function}'")


def dot(read: Reader, args: list[ast.expr], named: dict[str, ast.expr], line: int) -> Tile:
    """Evaluate `tl.dot`: a product of matrices, added to an accumulator if one is given."""
    state = read.state
    left, right = read.tile(args[0]), read.tile(args[1])
    if len(left.axes) != len(right.axes) or len(left.axes) not in (2, 3) or len(args) > 3:
        raise Unread(line, "a dot of tiles that are not matrices")
    precision = read.value(named["input_precision"]) if "input_precision" in named else None
    if left.kind != right.kind:
        raise Unread(line, "a dot of tiles of two types")
    kind = left.kind
    least = LEAST_SUM * (2 if kinds.may_be_eight(kind) else 1)
    if not _is_at_least(state, shape_of(state, left.axes)[-1], least):
        state.doubt(line, f"a dot of fewer than {least} columns, which Triton does not compile")
    first, second = (_operand(tile, kind, precision, line) for tile in (left, right))
    *batch, m, k = left.axes
    *other_batch, k_too, n = right.axes
    # The right matrix is read as [..., 1, n, k]. Its axes are only names, so this costs nothing.
    axes, (a, b) = aligned(
        state,
        (Tile((*batch, m, None, k), first), Tile((*other_batch, None, n, k_too), second)),
        line,
        is_made=False,
    )
    start = args[2] if len(args) > 2 else named.get("acc")
    onto_tile = Nothing() if start is None else read.value(start)
    out = _product_kind(read, kind, onto_tile, named, line)
    a, b = leaving(a, kind, out, "mul"), leaving(b, kind, out, "mul")
    product = Tile(axes, joined(state, "mul", a, b, line), out)
    total = reduced(state, product, len(axes) - 1, "add", line)
    if not kinds.holds(out, kind):
        total = replace(total, item=rounded(out, as_term(total.item, line)))
    if not isinstance(onto_tile, Tile):
        return total
    tile = onto_tile
    result, (old, new) = aligned(state, (tile, total), line)
    if shape_of(state, tile.axes) != shape_of(state, total.axes):
        state.doubt(line, "a dot onto a tile of another shape")
    onto = brought(as_term(old, line), tile.kind, out)
    return Tile(result, in_kind(Apply("add", (onto, as_term(new, line))), out, "add", line), out)


def _is_at_least(state: KernelState, count: Whole, least: int) -> bool:
    """Whether a number of lanes is at least `least`, in each call.

    A product of numbers of lanes is at least as large as each of its factors.
    """
    if count.constant is not None:
        return count.constant >= least
    match count.terms:
        case ((monomial, times),) if times > 0:
            factors = [Whole((((atom,), times),)) for atom in monomial]
        case _:
            factors = [count]
    enough = (compare(">=", one, number(least)) for one in factors)
    known = [one for one in enough if is_affine(both(state.facts, one))]
    return any(holds(one, set_of(state.facts)) for one in known)


def _product_kind(
    read: Reader, kind: str, onto: Value, named: dict[str, ast.expr], line: int
) -> str:
    """Return the type of a product of matrices; if it is added to a tile, that decides the type."""
    state = read.state
    out = meaning("dot", (kind, kind), line).kind
    if "out_dtype" in named:
        wanted = read.value(named["out_dtype"])
        if not isinstance(wanted, Type):
            raise Unread(line, "a dot into what is not a type")
        out = meaning("dot as", (kind, wanted.name), line).kind
        if isinstance(onto, Tile) and wanted.name != onto.kind:
            what = f"a dot into {wanted.name} that is added to {onto.kind}"
            raise Unread(line, f"{what}: Triton refuses it")
    if isinstance(onto, Nothing):
        return out
    if not isinstance(onto, Tile):
        raise Unread(line, "a dot onto what is not a tile")
    state.leaves(onto, line)
    return meaning("dot onto", (kind, of_tile(onto)), line).kind


def _operand(tile: Tile, kind: str, precision: Value | None, line: int) -> Item:
    """Return an operand of a product, rounded as Triton does it.

    Unless it is told otherwise, Triton multiplies f32 as tf32, with only 10 bits of the fraction.
    """
    term = brought(as_term(tile.item, line), tile.kind, kind)
    words = precision.text if isinstance(precision, Text) else "" if precision else "tf32"
    if words not in PRECISIONS:
        raise Unread(line, "a dot in a precision that is not known")
    if words == "ieee" or kind in ("tl.float16", "tl.bfloat16", "tl.float64"):
        return term
    return rounded(words, term)


def permuted(read: Reader, tile: Tile, args: list[ast.expr], line: int) -> Tile:
    """Return a tile with its axes in another order."""
    order = [read.whole(arg).constant for arg in args]
    if not order:
        order = [*range(len(tile.axes) - 2), len(tile.axes) - 1, len(tile.axes) - 2]
    if {*order} != {*range(len(tile.axes))} or len(order) != len(tile.axes):
        raise Unread(line, "a permutation that is not one")
    return replace(tile, axes=tuple(tile.axes[one] for one in order if one is not None))
