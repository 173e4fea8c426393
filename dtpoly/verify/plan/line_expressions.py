"""Read the expressions in the `# verify:` and `# assume:` lines of a hand-written file.

Arguments may also be None, a float, or a text for a constant.

These expressions are numbers: `len(label)`, `X.shape[axis]`, `X.stride(axis)`, whole numbers, `+ -
* // % **`, `min`, `max`, `cdiv(a, b)` and `next_power_of_2(a)`. `any` may be the number of programs
of an axis; it is at least 1.

These are promises: comparisons of numbers; `a * b < 2**31`; `reach(X) < 2**31`, where the reach of
a tensor is one more than the offset of its last element; and `finite`, which says that inputs, and
what the algorithm makes of them, are neither infinite nor nan, unless the algorithm writes `inf`
itself. `0 <= T[...] < len(n)` says between which numbers the elements of T are, `distinct(T)` that
no two of them are equal, `distinct(T, n)` that none with the same indices but that of n are, and
`ascending(T)` that none is less than one before it. `partly(Y)` says that callers need only those
elements of Y that the kernel stores.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import NoneValue, TextValue, Unread
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.term_building import literal
from dtpoly.verify.algebra.whole import FALSE, TRUE, Whole, both, compare, extreme, name, number
from dtpoly.verify.plan.held import FactorProduct, FunctionReading, Held, PlanType

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
# What a comparison is with its sides exchanged.
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
LIMIT = 2**31
# What `any` may be: more than any GPU runs at once.
MOST_PROGRAMS = 2**20


@dataclass(frozen=True)
class LineReader:
    """A reader for the expressions of lines; `sizes` are those of the labels."""

    reading: FunctionReading
    sizes: Mapping[str, Whole]

    def held(self, node: ast.expr) -> Held:
        """Return the value of an argument or of a grid."""
        match node:
            case ast.Constant(value=bool() as value):
                return TRUE if value else FALSE
            case ast.Constant(value=None):
                return NoneValue()
            case ast.Constant(value=str() as text, kind=None):
                return TextValue(text)
            case ast.Constant(value=float() as value):
                return literal(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() as value)):
                return literal(-value)
            case ast.Name(id=one) if one in self.reading.names:
                return self.reading.names[one]
            case ast.Attribute(value=ast.Name(id="tl")):
                return PlanType(ast.unparse(node))
            case ast.Tuple(elts=elements):
                return tuple(self.held(one) for one in elements)
            case ast.Name(id="any"):
                # Each `any` is a number of its own, with a name that no label or tensor can have.
                where = f"line {node.lineno}, column {node.col_offset}"
                programs = name(f"any, {where}, as a_size")
                self.reading.facts += [
                    compare(">=", programs, number(1)),
                    compare("<=", programs, number(MOST_PROGRAMS)),
                ]
                return programs
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.product(left, right)
            case _:
                return self.whole(node)

    def product(self, left: ast.expr, right: ast.expr) -> Held:
        """Return a product, with its factors kept apart if several are no constants.

        Such a product is a number of programs.
        """
        factors: list[Whole] = []
        for one in (left, right):
            held = self.held(one)
            factors += held.factors if isinstance(held, FactorProduct) else [_size(held, one)]
        known = [one for one in factors if one.constant is None]
        if len(known) > 1:
            return FactorProduct(tuple(factors))
        return _product(factors)

    def whole(self, node: ast.expr) -> Whole:
        """Return the value of an expression that must be a whole number."""
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return number(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.whole(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operated(op, self.whole(left), self.whole(right), node)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=one), attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ):
                return self.part(one, "shape", axis, node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=one), attr=word), args=[axis]) if (
                word in ("stride", "size") and not node.keywords
            ):
                at = self.whole(axis).constant
                part = "strides" if word == "stride" else "shape"
                return self.part(one, part, -1 if at is None else at, node)
            case ast.Call(func=ast.Name(id=word), args=args, keywords=[]):
                return self.called(word, args, node)
            case _:
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")

    def part(self, tensor: str, of: str, axis: int, node: ast.expr) -> Whole:
        """Return a size or a stride of a tensor."""
        array = self.reading.arrays.get(tensor)
        if array is None:
            raise Unread(node.lineno, f"'{tensor}' is not a tensor of the algorithm")
        parts = array.shape if of == "shape" else array.strides
        if not 0 <= axis < len(parts):
            raise Unread(node.lineno, f"'{ast.unparse(node)}': '{tensor}' has {len(parts)} axes")
        return parts[axis]

    def operated(self, op: ast.operator, left: Whole, right: Whole, node: ast.expr) -> Whole:
        """Carry out an arithmetic operation."""
        by = right.constant
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.FloorDiv() if by is not None and by > 0:
                return left.floor(by)
            case ast.Mod() if by is not None and by > 0:
                return left.modulo(by)
            case ast.Pow() if by is not None and left.constant is not None and 0 <= by <= 64:
                return number(left.constant**by)
            case _:
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")

    def called(self, word: str, args: Sequence[ast.expr], node: ast.expr) -> Whole:
        """Return the value of a call."""
        match word, args:
            case "len", [ast.Name(id=label)] if label in self.sizes:
                return self.sizes[label]
            case "cdiv", [left, right]:
                by = self.whole(right).constant
                if by is None or by <= 0:
                    raise Unread(node.lineno, f"'{ast.unparse(node)}' by what is not a number")
                return (self.whole(left) + by - 1).floor(by)
            case (("min" | "max"), [left, right]):
                return extreme(word == "max", self.whole(left), self.whole(right))
            case "next_power_of_2", [size]:
                return self.power(self.whole(size))
            case _:
                raise Unread(node.lineno, f"'{ast.unparse(node)}'")

    def power(self, size: Whole) -> Whole:
        """Return the least power of 2 that is not less than a size.

        If the size is no constant, the power is a name, and facts say how small and how large it
        may be. Whether a tile with so many lanes is too large is asked where a kernel makes the
        tile.
        """
        if size.constant is not None:
            return number(1 << max(size.constant - 1, 0).bit_length())
        lanes = name(power_name(size))
        most = extreme(True, size * 2 - 2, number(1))
        self.reading.facts += [
            compare(">=", lanes, extreme(True, size, number(1))),
            compare("<=", lanes, most),
        ]
        return lanes

    def promise(self, node: ast.expr) -> None:
        """Note a promise of an `# assume:` line."""
        match node:
            case ast.Tuple(elts=elements):
                for element in elements:
                    self.promise(element)
            case ast.Name(id="finite"):
                pass  # see callers.is_finite
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="reach"), args=[ast.Name(id=one)]),
                ops=[ast.Lt()],
                comparators=[bound],
            ) if one in self.reading.arrays:
                most = self.whole(bound).constant
                if most is None or most > LIMIT:
                    raise Unread(node.lineno, f"'{ast.unparse(node)}' says nothing of 32 bits")
                self.reading.near |= {one}
            case ast.Call(func=ast.Name(id=("distinct" | "ascending") as word), args=[of]) if (
                not node.keywords and isinstance(of, ast.Name) and of.id in self.reading.arrays
            ):
                array = self.reading.arrays[of.id]
                is_distinct = array.is_distinct or word == "distinct"
                is_ascending = array.is_ascending or word == "ascending"
                self.reading.arrays[of.id] = replace(
                    array, is_distinct=is_distinct, is_ascending=is_ascending
                )
            case ast.Call(
                func=ast.Name(id="distinct"),
                args=[ast.Name(id=one), ast.Name(id=label)],
                keywords=[],
            ) if one in self.reading.arrays and label in self.sizes:
                array = self.reading.arrays[one]
                axes = [at for at, size in enumerate(array.shape) if size == self.sizes[label]]
                if len(axes) != 1 or array.distinct_axis not in (None, axes[0]):
                    what = f"'{ast.unparse(node)}': which axis of '{one}' is meant is not known"
                    raise Unread(node.lineno, what)
                self.reading.arrays[one] = replace(array, distinct_axis=axes[0])
            case ast.Call(func=ast.Name(id="partly"), args=[ast.Name(id=one)], keywords=[]) if (
                one in self.reading.arrays
            ):
                array = self.reading.arrays[one]
                self.reading.arrays[one] = replace(array, is_partly=True)
            case ast.Compare(
                left=left,
                ops=[ast.Eq()],
                comparators=[ast.Call(func=ast.Name(id="next_power_of_2"), args=[of], keywords=[])],
            ) if ast.unparse(left) == ast.unparse(of):
                self.is_power(self.whole(left), node)
            case ast.Compare(left=left, ops=ops, comparators=right) if any(
                self.elements_of(one) for one in (left, *right)
            ):
                self.of_elements([left, *right], ops, node)
            case ast.Compare(left=left, ops=ops, comparators=right):
                numbers = [self.whole(one) for one in (left, *right)]
                for op, low, high in zip(ops, numbers, numbers[1:], strict=False):
                    self.compared(COMPARISONS.get(type(op)), low, high, node)
            case _:
                raise Unread(node.lineno, f"an assumption '{ast.unparse(node)}'")

    def is_power(self, size: Whole, node: ast.expr) -> None:
        """Note a promise that a size is a power of two."""
        if size.constant is not None:
            count = size.constant
            is_one = count > 0 and not count & (count - 1)
            self.reading.facts.append(TRUE if is_one else FALSE)
        elif size.plain is None:
            raise Unread(node.lineno, f"'{ast.unparse(node)}': what is no size of a label")
        else:
            self.reading.powers |= {size.plain}
            self.reading.facts.append(compare("==", self.power(size), size))

    def elements_of(self, node: ast.expr) -> str:
        """Return the tensor of which `T[...]` means all elements; an empty text for others."""
        match node:
            case ast.Subscript(value=ast.Name(id=one), slice=ast.Constant(value=value)) if (
                value is ... and one in self.reading.arrays
            ):
                return one
            case _:
                return ""

    def of_elements(self, sides: list[ast.expr], ops: list[ast.cmpop], node: ast.expr) -> None:
        """Note a promise such as `0 <= T[...] < len(n)`, between which numbers elements are."""
        for op, low, high in zip(ops, sides, sides[1:], strict=False):
            word = COMPARISONS.get(type(op))
            first, second = self.elements_of(low), self.elements_of(high)
            if word is None or bool(first) == bool(second):
                raise Unread(node.lineno, f"an assumption '{ast.unparse(node)}'")
            bound = self.whole(high if first else low)
            if not is_affine(bound):
                raise Unread(
                    node.lineno, f"an assumption '{ast.unparse(node)}': a product of sizes"
                )
            one = first or second
            sign = word if first else TURNED.get(word, word)
            array = self.reading.arrays[one]
            if not kinds.is_whole(array.kind):
                raise Unread(node.lineno, f"'{ast.unparse(node)}': '{one}' has no whole numbers")
            self.reading.arrays[one] = replace(array, promises=(*array.promises, (sign, bound)))

    def compared(self, word: str | None, left: Whole, right: Whole, node: ast.expr) -> None:
        """Note a comparison that callers promise to be true."""
        if word is None:
            raise Unread(node.lineno, f"an assumption '{ast.unparse(node)}'")
        if is_affine(left) and is_affine(right):
            self.reading.facts.append(compare(word, left, right))
            return
        # The product of all its sizes is how far a contiguous tensor reaches.
        found = {
            one
            for one, array in self.reading.arrays.items()
            if not any(".stride(" in str(stride.plain) for stride in array.strides)
            and _product(array.shape) == left
        }
        most = right.constant
        if word != "<" or most is None or most > LIMIT or not self.is_product(left):
            raise Unread(node.lineno, f"an assumption '{ast.unparse(node)}': a product of sizes")
        self.reading.near |= found
        self.reading.below += ((left, most),)

    def is_product(self, of: Whole) -> bool:
        """Return whether a number is a product of numbers that are known not to be negative."""
        match of.terms:
            case ((monomial, 1),):
                calls = set_of(both(*self.reading.facts))
                factors = [Whole((((atom,), 1),)) for atom in monomial]
                return all(
                    is_affine(one) and self.reading.run.holds(compare(">=", one, number(0)), calls)
                    for one in factors
                )
            case _:
                return False


def _product(factors: Sequence[Whole]) -> Whole:
    total = number(1)
    for one in factors:
        total = total * one
    return total


def _size(held: Held, node: ast.expr) -> Whole:
    if not isinstance(held, Whole):
        raise Unread(node.lineno, f"'{ast.unparse(node)}' is not a whole number")
    return held


def power_name(size: Whole) -> str:
    """Return the name for the least power of two that is not below a number."""
    return f"next_power_of_2({size.plain or size.terms})"
