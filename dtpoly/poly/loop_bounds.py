"""Turns an expression of isl's tree into a bound or conditions of our own loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.loops import Bound, Chosen, Combined, Compared, Condition, OneOfWays, plus

# The iterators and axes of isl, as expressions over our loops.
Names: TypeAlias = Mapping[str, Affine]


def operation_of(expr: isl.AstExpr) -> str:
    """Return the name of the operation that an expression of isl's tree applies to its operands."""
    # The stubs call the type an int, and lack the members whose names end in an underscore.
    return isl.ast_expr_op_type(expr.get_op_type()).name


def conditions_of(expr: isl.AstExpr, names: Names) -> Iterator[Condition]:
    """Yield the conditions that together say what a boolean expression of isl's tree says."""
    kind = operation_of(expr)
    if kind in ("and_", "and_then"):
        for i in range(expr.get_op_n_arg()):
            yield from conditions_of(expr.get_op_arg(i), names)
        return
    if kind in ("or_", "or_else"):
        arguments = (expr.get_op_arg(i) for i in range(expr.get_op_n_arg()))
        yield OneOfWays(tuple(tuple(conditions_of(one, names)) for one in arguments))
        return
    left, right = (bound(expr.get_op_arg(i), names) for i in range(2))
    match kind:
        case "ge":
            yield Compared(left, right)
        case "gt":
            yield Compared(left, plus(right, 1))
        case "le":
            yield Compared(right, left)
        case "lt":
            yield Compared(right, plus(left, 1))
        case "eq":
            yield _odd(left, right) or Compared(left, right, is_equal=True)
        case _:
            raise AssertionError(expr.to_C_str())


def _odd(left: Bound, right: Bound) -> Compared | None:
    """Return `(x + 1) % 2 == 0` as `x % 2 != 0`, the form that other remainders have."""
    match left, right:
        case (
            Combined("%", (Affine(constant=constant) as one, Affine(terms=(), constant=2))),
            Affine(terms=(), constant=0),
        ) if constant % 2:
            rest = Combined("%", (_remainder(one + Affine((), -1), 2), Affine((), 2)))
            return Compared(rest, Affine((), 1))
        case _:
            return None


def _remainder(value: Affine, divisor: int) -> Affine:
    """Return the value, or a smaller one of the same remainder if that is never negative either."""
    if _grows_with_sizes(value):
        return Affine(value.terms, value.constant % divisor)
    return value + Affine((), _times_below(value, divisor) * divisor)


def negated(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that not all of some conditions hold."""
    ways = tuple(way for one in conditions for way in _negated(one))
    return ways[0][0] if len(ways) == len(ways[0]) == 1 else OneOfWays(ways)


def _negated(condition: Condition) -> tuple[tuple[Condition, ...], ...]:
    """Return the ways in which a condition does not hold."""
    match condition:
        case OneOfWays(ways=ways):
            return (tuple(negated(way) for way in ways),)
        case Compared(
            left=Combined(operation="%") as left, right=Affine(terms=(), constant=1), is_equal=False
        ):
            # Such a condition says that there is a rest, which may be negative.
            return ((Compared(left, Affine(), is_equal=True),),)
        case Compared(left=left, right=right, is_equal=is_equal):
            below = Compared(plus(right, -1), left)
            return ((below,), (Compared(left, plus(right, 1)),)) if is_equal else ((below,),)


def _grows_with_sizes(value: Bound) -> bool:
    return isinstance(value, Affine) and all(c > 0 and _is_size(n) for n, c in value.linear)


def _is_size(name: str) -> bool:
    """True if a name is that of a size; names of axes have the Func before a point."""
    return name.startswith("N_") and "." not in name


def _times_below(value: Affine, divisor: int) -> int:
    return max(0, -(value.constant // divisor))


def _not_negative(value: Bound, divisor: int) -> tuple[Bound, int]:
    """Return the value plus a number of divisors, so that it is not negative for sizes of 0.

    isl's tree is for sizes of at least 1, and its division rounds down. Triton's rounds towards 0.
    """
    if not isinstance(value, Affine):
        return value, 0
    times = _times_below(value, divisor)
    return value + Affine((), times * divisor), times


def _rounded_down(value: Bound, divisor: int) -> Bound:
    """Return a quotient that is rounded down, of a value that may be negative.

    It is made of quotients of values that are not negative, because Triton's division rounds to 0.
    """
    last = Affine((), divisor - 1)
    below = last - value if isinstance(value, Affine) else Combined("-", (last, value))
    up, down = (Combined("max", (one, Affine())) for one in (value, below))
    quotients = (Combined("//", (one, Affine((), divisor))) for one in (up, down))
    return Combined("-", tuple(quotients))


def bound(expr: isl.AstExpr, names: Names) -> Bound:
    """Turn an expression of isl's tree into a bound."""
    match expr.get_type():
        case isl.ast_expr_type.int:
            return Affine((), expr.get_val().to_python())
        case isl.ast_expr_type.id:
            name = expr.get_id().get_name().removesuffix("@")
            return names.get(name, Affine(((name, 1),)))
        case _:
            pass
    kind = operation_of(expr)
    if kind in ("cond", "select"):
        conditions = tuple(conditions_of(expr.get_op_arg(0), names))
        left, right = (bound(expr.get_op_arg(i), names) for i in (1, 2))
        return Chosen(conditions, left, right)
    operands = tuple(bound(expr.get_op_arg(i), names) for i in range(expr.get_op_n_arg()))
    match kind, operands:
        case "add", (Affine() as one, Affine() as two):
            return one + two
        case "sub", (Affine() as one, Affine() as two):
            return one - two
        case "minus", (Affine() as one,):
            return one.scaled(-1)
        case "mul", (Affine(terms=()) as one, Affine() as two):
            return two.scaled(one.constant)
        case "mul", (Affine() as one, Affine(terms=()) as two):
            return one.scaled(two.constant)
        case "minus", (one,):
            return Combined("-", (Affine(), one))
        case "fdiv_q", (one, Affine(terms=()) as two) if not _grows_with_sizes(one):
            return _rounded_down(one, two.constant)
        case (("fdiv_q" | "pdiv_q" | "div"), (one, Affine(terms=()) as two)):
            one, times = _not_negative(one, two.constant)
            return plus(Combined("//", (one, two)), -times)
        case (("pdiv_r" | "zdiv_r"), (one, Affine(terms=()) as two)):
            left = _remainder(one, two.constant) if isinstance(one, Affine) else one
            return Combined("%", (left, two))
        case _:
            words = {"add": "+", "sub": "-", "mul": "*", "min": "min", "max": "max"}
            assert kind in words, expr.to_C_str()
            return Combined(words[kind], operands)
