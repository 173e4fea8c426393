"""Apply Python's operators to the symbolic values of a kernel.

Whole numbers are computed exactly, comparisons of them become formulas, and everything else becomes
a term. `running` calls these functions for the expressions that it meets.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.casts import (
    as_kind,
    brought,
    is_rounded_between,
    refuse_not_held,
    uncut,
)
from dtpoly.verify.algebra.infinite import decided
from dtpoly.verify.algebra.kernel_values import (
    Item,
    PointerValue,
    Radix,
    TileValue,
    TupleValue,
    Unread,
    Value,
    as_term,
    is_truth,
)
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.residues import leaving
from dtpoly.verify.algebra.term_building import applied, rounded
from dtpoly.verify.algebra.terms import Literal, Term, choose
from dtpoly.verify.algebra.whole import (
    Truth,
    Whole,
    both,
    compare,
    either,
    negation,
    number,
    one_of,
    rounded_down,
)
from dtpoly.verify.triton.access import Dividend
from dtpoly.verify.triton.broadcast_tiles import aligned
from dtpoly.verify.triton.counted_sizes import as_size
from dtpoly.verify.triton.data_bits import bits_of
from dtpoly.verify.triton.data_indices import with_data
from dtpoly.verify.triton.data_names import may_be
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.scaled_products import inside_extreme
from dtpoly.verify.triton.typed_operations import (
    UNKNOWN,
    meaning,
    of_operand,
    of_tile,
    refuse_rounded,
)
from dtpoly.verify.triton.whole_operators import (
    BITWISE,
    OF_BITS,
    fits_f32,
    refuse_zero,
)
from dtpoly.verify.triton.wrapped_lanes import quotient, remainder

WORDS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "rem",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
LONG = "tl.int64"
BY_ZERO = "divides whole numbers by what may be 0 or less"
DIVIDES = ("div", "floordiv", "rem")
BOTH = (Literal("True"), Literal("False"))
# The table's words for operations, where terms have other words.
NAMES = {"rem": "mod"}
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not",
}


def operated(
    state: KernelState, op: ast.operator, left: Value, right: Value, node: ast.AST
) -> Value:
    """Return `left op right`, for a binary operator of Python."""
    line: int = getattr(node, "lineno", 0)
    word = WORDS.get(type(op))
    match left, right:
        case TupleValue(parts=first), TupleValue(parts=second) if word == "add":
            return TupleValue((*first, *second))
        case TileValue(), TileValue() if word is not None:
            if isinstance(left.item, PointerValue) or isinstance(right.item, PointerValue):
                left, right = restored(left), restored(right)
            axes, kind, a, b = _met(state, word, left, right, line)
            if word == "add" and kinds.is_whole(kind):
                for zero, other, of in ((a, b, right), (b, a, left)):
                    is_data = not isinstance(other, Whole | PointerValue)
                    if is_zero(zero) and of.kind == kind and is_data:
                        return TileValue(axes, other, kind, left.is_cut or right.is_cut)
            if word in OF_BITS:
                bits = bits_of(state, word, kind, (left, right), (a, b), line)
                if not isinstance(bits, str):
                    for one in (left, right):
                        state.leaves(one, line)
                    return TileValue(axes, bits, kind, left.is_cut or right.is_cut)
                word = bits
            item = further(state, word, (left, a), (right, b), line) or may_be(
                state, joined(state, word, a, b, line), kind
            )
            if word in ("floordiv", "rem") and isinstance(item, Term) and kinds.is_whole(kind):
                _check_divisor(state, b, line)
            is_cut = left.is_cut or right.is_cut
            _note(state, word, (left, right), kind, item, line)
            if word == "sub" and isinstance(item, Whole) and _is_product(b):
                state.computed(b, kind, line, is_less=True)
            made = not left.is_number_of_python or not right.is_number_of_python
            return TileValue(axes, in_kind(item, kind, word, line), kind, is_cut, is_tensor=made)
        case _:
            raise Unread(line, f"'{ast.unparse(node)}'")


def _met(
    state: KernelState, word: str, left: TileValue, right: TileValue, line: int
) -> tuple[tuple[str | None, ...], str, Item, Item]:
    """Return the axes and the type of a result, and its operands as they meet."""
    axes, (a, b) = aligned(state, (left, right), line)
    if isinstance(a, PointerValue) + isinstance(b, PointerValue) == 1:
        # An address has the type of the elements it points to, which is not promoted.
        exact(state, right if isinstance(a, PointerValue) else left, line)
        return axes, left.kind if isinstance(a, PointerValue) else right.kind, a, b
    kind, (a, b) = met(NAMES.get(word, word), (left, right), (a, b), word, line)
    if kind == kinds.BOOL and word in ("add", "sub"):
        raise Unread(line, "a sum of truths, of which Triton keeps one bit")
    return axes, kind, a, b


def _note(
    state: KernelState,
    word: str,
    operands: tuple[TileValue, TileValue],
    kind: str,
    item: Item,
    line: int,
) -> None:
    """Note which whole numbers are computed here, and which are used for something else."""
    left, right = operands
    for one, other in ((left, right), (right, left)):
        if word in DIVIDES or not isinstance(item, Whole | PointerValue):
            state.leaves(one, line)
        elif isinstance(item, Whole):
            # What is added to an address is a part of it as it is.
            state.widens(one, other.kind, kind, line)
    state.computed(item, kind, line)
    if any(one.is_cut for one in operands):
        state.computed(item, kind, line, is_cut=True)


def _check_divisor(state: KernelState, by: Item, line: int) -> None:
    """Refuse to divide data by what may be 0, or note a size that must not be. Raises Unread."""
    if state.is_valued or not isinstance(by, Whole) or by.constant is not None:
        refuse_zero(as_term(by, line), line)
        return
    # A program runs here, which may show that the size is not 0.
    there = both(state.here(), *state.digits.ranges.values())
    state.divided.append(Dividend(by - 1, None, there, line, BY_ZERO))


def further(
    state: KernelState,
    word: str,
    one: tuple[TileValue, Item],
    other: tuple[TileValue, Item],
    line: int,
) -> PointerValue | None:
    """Return an address with a number added that is data; None for any other operation."""
    for (_, address), (tile, item) in ((one, other), (other, one)):
        if isinstance(address, PointerValue) and isinstance(item, Term) and word == "add":
            return with_data(address, item, tile.kind, line, is_valued=state.is_valued)
    return None


def both_or_either(
    state: KernelState, op: ast.boolop, left: Value, right: Value, node: ast.expr
) -> Value:
    """Read `left and right` or `left or right`; of constants, Python chooses one by its truth."""
    name, word = ("both", "and") if isinstance(op, ast.And) else ("either", "or")
    if not isinstance(left, TileValue) or not isinstance(right, TileValue):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    axes, (a, b) = aligned(state, (left, right), node.lineno)
    found = meaning(name, [of_operand(left, a), of_operand(right, b)], node.lineno)
    if isinstance(a, Whole) and left.kind == kinds.WEAK and a.constant is not None:
        return right if (name == "both") == (a.constant != 0) else left
    if isinstance(a, Whole) or isinstance(b, Whole) or found.kind == kinds.LOST:
        raise Unread(node.lineno, f"'{ast.unparse(node)}' of what are no truths")
    return TileValue(axes, joined(state, word, a, b, node.lineno), found.kind)


def met(
    name: str, tiles: Sequence[TileValue], items: Sequence[Item], word: str, line: int
) -> tuple[str, list[Item]]:
    """Return the kind of a result, and the operands in the type in which it is computed.

    Both follow the table of Triton's operations (see semantics).
    """
    found = meaning(name, [of_operand(*one) for one in zip(tiles, items, strict=True)], line)
    if name == "div" and found.kind == kinds.NUMBER and not all(map(fits_f32, items)):
        raise Unread(line, "a number that f32 does not hold, divided by a size that may be 1")
    if name == "mod" and kinds.is_float(found.within):
        raise Unread(line, "a remainder of floats, whose quotient is rounded on a GPU")
    made = [
        in_type(item, tile.kind, found.within, word, line)
        for tile, item in zip(tiles, items, strict=True)
    ]
    if found.within == kinds.WEAK and word in DIVIDES and is_zero(items[-1]):
        raise Unread(line, "a constant divided by 0, where Python gives up")
    if found.within == kinds.WEAK and not (word in BITWISE and all(map(is_truth, made))):
        made = [counted(item) for item in made]
    if found.within == kinds.WEAK:
        refuse_rounded(made, line)
    return found.kind, made


def is_zero(item: Item) -> bool:
    """True for the number 0."""
    is_whole = isinstance(item, Whole) and item.constant == 0
    return is_whole or (isinstance(item, Literal) and finite(item.text) == 0)


def counted(item: Item) -> Item:
    """Return a truth of Python's as the whole number that Python computes with, 1 or 0."""
    if is_truth(item):
        return either(item, number(1), number(0))
    return number(int(item.text == "True")) if item in BOTH else item


def in_type(item: Item, kind: str, within: str, word: str, line: int) -> Item:
    """Return an operand in the type that an operation is done in."""
    if isinstance(item, PointerValue | Radix) or kind == within or within == kinds.WEAK:
        return leaving(item, kind, within, word)
    if within == kinds.LOST:
        raise Unread(line, "an operation in a type that is not known")
    if isinstance(item, Whole):
        refuse_not_held(item, kind, within, line)
        if is_rounded_between(item, kind, within):
            return rounded("tl.float32", as_term(item, line))
        if not kinds.is_float(within) or not kinds.is_narrow(within):
            return item
        return brought(as_term(item, line), kind, within)
    if is_truth(item) and within in (kinds.BOOL, kinds.TRUTH):
        return item
    if kinds.is_whole(within) and kinds.holds(within, kind):
        return leaving(item, kind, within, word)
    return as_kind(as_term(item, line), kinds.BOOL if is_truth(item) else kind, within)


def widened(
    items: Sequence[Item], tiles: Sequence[TileValue], within: str, line: int
) -> list[Item]:
    """Return operands that meet in a type.

    A whole number that f32 may not hold exactly is rounded to f32 before it becomes f64.
    """
    return [
        rounded("tl.float32", as_term(item, line))
        if isinstance(item, Whole) and is_rounded_between(item, tile.kind, within)
        else item
        for item, tile in zip(items, tiles, strict=True)
    ]


def exact(state: KernelState, tile: TileValue, line: int) -> None:
    """Refuse a float as an index or a size, since it may not hold that number. Raises Unread.

    A number that was cut to 32 bits must have fitted into them.
    """
    if not is_exact(tile):
        raise Unread(line, "a float where a whole number counts")
    if tile.is_cut:
        state.computed(tile.item, "tl.int32", line, is_cut=True)


def restored(tile: TileValue) -> TileValue:
    """Return a number that was cut to 32 bits as it was before; `exact` sees that it fitted."""
    number_before = uncut(tile.item)
    return tile if number_before is None else replace(tile, item=number_before)


def is_exact(tile: TileValue) -> bool:
    """Return whether a whole number has a type that holds it, however large; written numbers do."""
    known = isinstance(tile.item, Whole) and tile.item.constant is not None
    return known or not kinds.is_float(tile.kind)


def _is_product(item: Item) -> bool:
    """True for a number that has a product in it, as a part of an address may."""
    return isinstance(item, Whole) and any(len(monomial) > 1 for monomial, _ in item.terms)


# These operations round nothing: their result is an operand, or a value that every type holds.
EXACT = (
    *("and", "or", "xor", "not", "neg", "abs", "maximum", "minimum", "ceil", "floor", "where"),
    *("bitand", "bitor", "bitxor", "shr"),
)
# Of whole numbers these are not exact, since the least number of a type has no opposite in it.
WRAPPING = ("neg", "abs")


def in_kind(item: Item, kind: str, word: str, line: int) -> Item:
    """Return the result of an operation in a type: it is rounded if the type is a narrow one."""
    if isinstance(item, PointerValue | Radix | Whole):
        return item
    if word != "where":
        not_in_eight(kind, line)
    is_exact = word in EXACT and not (kinds.is_whole(kind) and word in WRAPPING)
    if not kinds.is_narrow(kind) or is_exact:
        return item
    return item if is_truth(item) else rounded(kind, as_term(item, 0))


def not_in_eight(kind: str, line: int) -> None:
    """Refuse arithmetic and comparisons in 8-bit floats: interpreters take the bits for numbers."""
    if kinds.may_be_eight(kind):
        raise Unread(line, "arithmetic in what may be 8-bit floats, which Triton has not")


def joined(state: KernelState, word: str, left: Item, right: Item, line: int) -> Item:
    """Apply a binary operator to two values at one lane."""
    match left, right:
        case PointerValue(), (Whole() | Radix()) if word in ("add", "sub"):
            by = state.digits.number(right)
            return left.plus(by if word == "add" else -by)
        case Whole(), PointerValue() if word == "add":
            return right.plus(left)
        case Radix(), Whole() if word in ("floordiv", "rem"):
            divided = state.digits.quotient if word == "floordiv" else state.digits.remainder
            coordinate = divided(left, right)
            if coordinate is None:
                raise Unread(line, "a program id divided by what its grid is not a multiple of")
            return coordinate
        case ((Radix() | Whole()), (Radix() | Whole())) if word in ("add", "sub", "mul"):
            first, second = state.digits.number(left), state.digits.number(right)
            return whole(state, word, first, second, line)
        case Whole(), Whole() if word in ("floordiv", "rem") and state.digits.is_below(left, right):
            return number(0) if word == "floordiv" else left
        case Whole(), Whole() if word in OF_BITS.values():
            return value_of(state, word, (as_term(left, line), as_term(right, line)))
        case Whole(), Whole() if word != "div":
            return whole(state, word, left, right, line)
        case _ if is_truth(left) and is_truth(right) and word == "or":
            return state.either(left, right)
        case _ if is_truth(left) and is_truth(right) and word == "mul":
            return both(left, right)  # of one bit each
        case _ if is_truth(left) and is_truth(right) and word in ("and", "xor"):
            return formula(word, left, right)
        case _:
            term = value_of(state, word, (as_term(left, line), as_term(right, line)))
            return inside_extreme(state, term) if word == "mul" else term


def value_of(state: KernelState, word: str, operands: Sequence[Term]) -> Term:
    """Apply an operation to values; infinite operands decide more if all else is finite."""
    return (decided if state.launch.is_finite else applied)(word, operands)


def formula(word: str, first: Truth, second: Truth) -> Truth:
    """Join two conditions by `and`, `or` or `xor`."""
    match word:
        case "and":
            return both(first, second)
        case "or":
            return one_of(first, second)
        case _:
            return one_of(both(first, negation(second)), both(negation(first), second))


def whole(state: KernelState, word: str, left: Whole, right: Whole, line: int) -> Item:
    """Apply an operator to two whole numbers.

    A division rounds down only where the left side is not negative, so `machine.divided` notes each
    left side for which that must still be shown.
    """
    match word:
        case "add":
            return left + right
        case "sub":
            return rounded_down(left, right) or left - right
        case "mul":
            return left * right
        case "floordiv" | "rem":
            by = right.constant
            if by is None and word == "rem":
                return remainder(state, left, right, line)
            if by is None or by <= 0:
                raise Unread(line, "a division by what is not a positive number")
            if left.constant is None or left.constant < 0:
                state.divided.append(Dividend(left, by, state.here(), line))
            if word == "rem":
                return left.modulo(by)
            return quotient(state, left, by) or as_size(state, left.floor(by))
        case "and" | "or" | "xor" if left.constant is not None and right.constant is not None:
            return number(BITWISE[word](left.constant, right.constant))
        case _:
            raise Unread(line, f"'{word}' of whole numbers")


def signed(state: KernelState, op: ast.unaryop, operand: Value, node: ast.expr) -> Value:
    """Return `-x`, `+x`, `~x` or `not x`."""
    if not isinstance(operand, TileValue):
        raise Unread(node.lineno, f"'{ast.unparse(node)}'")
    item = operand.item
    of = of_tile(operand)
    # A number may get a type only when its sign is put before it: -2147483648 is written with
    # 2147483648, which has no type.
    found = meaning(UNARY[type(op)], ["int" if of == UNKNOWN else of], node.lineno)
    match op:
        case ast.USub():
            if is_truth(item) or operand.kind == kinds.BOOL:
                raise Unread(node.lineno, f"'{ast.unparse(node)}' of a truth")
            match item:
                case Whole():
                    state.computed(-item, operand.kind, node.lineno, is_cut=operand.is_cut)
                    return replace(operand, item=-item)
                case Literal() if operand.kind not in kinds.WIDTHS:
                    return replace(operand, item=applied("neg", [item]))
                case _:
                    negative = applied("neg", [as_term(item, node.lineno)])
                    return replace(
                        operand, item=in_kind(negative, operand.kind, "neg", node.lineno)
                    )
        case ast.Not() | ast.UAdd() if operand.axes or (isinstance(op, ast.UAdd) and operand.kind):
            # Triton's interpreter asks Python, which takes all lanes as one truth, or
            # knows no `+`.
            raise Unread(node.lineno, f"'{ast.unparse(node)}' of several lanes")
        case ast.UAdd() if is_truth(item):
            # Python turns the truth into a whole number, which cannot be a mask.
            raise Unread(node.lineno, f"'{ast.unparse(node)}' of a truth")
        case ast.Not():
            return replace(operand, item=_denied(item, node), kind=found.kind)
        case ast.Invert() if found.kind == kinds.WEAK and operand.kind == kinds.WEAK:
            # Python computes `~x` of a constant as -1 - x. It does so for a truth too,
            # and the result is never 0 then.
            number_of = either(item, number(1), number(0)) if is_truth(item) else item
            if not isinstance(number_of, Whole):
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")
            return replace(operand, item=-number_of - 1)
        case ast.Invert() if found.kind == kinds.BOOL:
            return replace(operand, item=_denied(item, node))
        case ast.Invert() if found.kind == operand.kind and found.kind in kinds.WIDTHS:
            number_of = leaving(item, operand.kind, operand.kind, "invert")
            inverted = applied("invert", [as_term(number_of, node.lineno)])
            return replace(operand, item=in_kind(inverted, operand.kind, "invert", node.lineno))
        case ast.Invert():
            raise Unread(node.lineno, f"'{ast.unparse(node)}'")
        case _:
            return operand


def _denied(item: Item, node: ast.expr) -> Item:
    """Return the negation of a condition; for a number, the condition that it is 0."""
    if is_truth(item):
        return negation(item)
    if isinstance(item, Whole):
        return compare("==", item, number(0))
    return applied("not", [as_term(item, node.lineno)])


def chosen(condition: Item, yes: Item, no: Item, line: int) -> Item:
    """Return `where(condition, yes, no)` at one lane."""
    if isinstance(condition, Whole):
        condition = compare("!=", condition, number(0))
    if not is_truth(condition):
        operands = (condition, yes, no)
        return applied("where", [as_term(one, line) for one in operands])
    match yes, no:
        case Whole(), Whole():
            return either(condition, yes, no)
        case _ if is_truth(yes) and is_truth(no):
            return one_of(both(condition, yes), both(negation(condition), no))
        case _:
            return choose(condition, as_term(yes, line), as_term(no, line))
