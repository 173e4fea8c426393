"""The rule of each elementwise operation: what it gives to its operands of the gradient `d`.

Where a function has a kink, the rule takes the value that torch takes.
"""

import math
from collections.abc import Callable, Mapping

from dtpoly.algorithm.expressions import Expr, Float, Integer
from dtpoly.frozen import dataclass
from dtpoly.gradient.derived_nodes import (
    ONE,
    ZERO,
    applied,
    chosen,
    minus,
    number,
    number_of,
    over,
    times,
)

# Of the gradient, of the result, and of the operands: what each operand gets; None is nothing.
Given = tuple[Expr | None, ...]
Giving = Callable[..., Given]
LN2 = Float(math.log(2))


@dataclass(frozen=True, slots=True)
class ElementRule:
    """The rule of an operation: the gradient of each operand, and the sentence that says it.

    If what it gives to one of them, number `reuses`, is made of its result, that is a Func of its
    own, so that it is not computed twice.
    """

    said: str
    gives: Giving
    reuses: int | None = None


def of_one(
    said: str, gives: Callable[[Expr, Expr, Expr], Given], reuses: int | None = None
) -> ElementRule:
    """Return the rule of a function of one operand, of the gradient, the result and the operand."""
    return ElementRule(said, gives, reuses)


def of_two(said: str, gives: Callable[[Expr, Expr, Expr, Expr], Given]) -> ElementRule:
    """Return the rule of an operation of two operands, of the gradient, the result and these."""
    return ElementRule(said, gives)


def of_three(said: str, gives: Callable[[Expr, Expr, Expr, Expr, Expr], Given]) -> ElementRule:
    """Return the rule of a function of three operands, of the gradient, the result and these."""
    return ElementRule(said, gives)


def _power(d: Expr, out: Expr, base: Expr, exponent: Expr) -> Given:
    known = number_of(exponent)
    if known is None:
        less = applied("pow", base, applied("sub", exponent, ONE))
        own = chosen(applied("eq", exponent, ZERO), ZERO, times(d, exponent, less))
        flat = applied("and", applied("eq", base, ZERO), applied("ge", exponent, ZERO))
        return own, chosen(flat, ZERO, times(d, out, applied("log", base)))
    return times(d, number(known), applied("pow", base, number(known - 1))), None


def _larger(d: Expr, left: Expr, right: Expr) -> Given:
    half = chosen(applied("eq", left, right), over(d, Integer(2)), ZERO)
    return tuple(
        chosen(applied("gt", one, other), d, half) for one, other in ((left, right), (right, left))
    )


def _clamp(d: Expr, value: Expr, low: Expr, high: Expr) -> Given:
    is_inside = applied("and", applied("ge", value, low), applied("le", value, high))
    is_low = applied("and", applied("lt", value, low), applied("lt", low, high))
    is_high = applied("or", applied("gt", value, high), applied("lt", high, low))
    return chosen(is_inside, d), chosen(is_low, d), chosen(is_high, d)


def _quotient(d: Expr, out: Expr, left: Expr, right: Expr) -> Given:
    return over(d, right), minus(over(times(d, out), right))


QUOTIENT = ElementRule("a / b gives d / b to a, and -d * (a / b) / b to b", _quotient)
ROOT = of_one(
    "sqrt(a) gives d / (2 * sqrt(a))", lambda d, out, a: (over(d, times(Integer(2), out)),), 0
)
# These give nothing: they are whole numbers, conditions or drawn, so that the derivative is 0
# wherever there is one.
FLAT = frozenset(
    [
        *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"),
        *("bitand", "bitor", "bitxor", "invert", "shl", "shr"),
        *("floor", "ceil", "round", "trunc", "cdiv", "quotient"),
        *("random", "random_bits", "rargtopk"),
    ]
)
# An operation that is neither here nor there is refused: nobody knows what it gives.
RULES: Mapping[str, ElementRule] = {
    "neg": of_one("-a gives -d", lambda d, out, a: (minus(d),)),
    "add": of_two("a + b gives d to each", lambda d, out, a, b: (d, d)),
    "sub": of_two("a - b gives d to a, and -d to b", lambda d, out, a, b: (d, minus(d))),
    "mul": of_two(
        "a * b gives d * b to a, and d * a to b",
        lambda d, out, a, b: (times(d, b), times(d, a)),
    ),
    "div": QUOTIENT,
    "div_rn": QUOTIENT,
    "fdiv": QUOTIENT,
    "mod": of_two(
        "a % b gives d to a, and -d * floor(a / b) to b",
        lambda d, out, a, b: (d, minus(times(d, applied("floor", over(a, b))))),
    ),
    "fma": of_three(
        "fma(a, b, c) gives d * b to a, d * a to b, and d to c",
        lambda d, out, a, b, c: (times(d, b), times(d, a), d),
    ),
    "abs": of_one(
        "abs(a) gives d with the sign of a, and 0 where a is 0",
        lambda d, out, a: (
            chosen(applied("gt", a, ZERO), d, chosen(applied("lt", a, ZERO), minus(d))),
        ),
    ),
    "maximum": of_two(
        "maximum(a, b) gives d to the larger one, and d / 2 to each where they are equal",
        lambda d, out, a, b: _larger(d, a, b),
    ),
    "minimum": of_two(
        "minimum(a, b) gives d to the smaller one, and d / 2 to each where they are equal",
        lambda d, out, a, b: _larger(d, b, a),
    ),
    "clamp": of_three(
        "clamp(a, low, high) gives d to a inside of the range and at its ends, else to the end",
        lambda d, out, a, low, high: _clamp(d, a, low, high),
    ),
    "where": of_three(
        "where(c, a, b) gives d to the one that is chosen, and 0 to the other one",
        lambda d, out, c, a, b: (None, chosen(c, d), chosen(c, ZERO, d)),
    ),
    "pow": ElementRule("pow(a, n) gives d * n * pow(a, n - 1)", _power, 1),
    "exp": of_one("exp(a) gives d * exp(a)", lambda d, out, a: (times(d, out),), 0),
    "exp2": of_one("exp2(a) gives d * exp2(a) * ln(2)", lambda d, out, a: (times(d, out, LN2),), 0),
    "log": of_one("log(a) gives d / a", lambda d, out, a: (over(d, a),)),
    "log2": of_one("log2(a) gives d / (a * ln(2))", lambda d, out, a: (over(d, times(a, LN2)),)),
    "sqrt": ROOT,
    "sqrt_rn": ROOT,
    "rsqrt": of_one(
        "rsqrt(a) gives -d * pow(rsqrt(a), 3) / 2",
        lambda d, out, a: (minus(over(times(d, applied("pow", out, Integer(3))), Integer(2))),),
        0,
    ),
    "sigmoid": of_one(
        "sigmoid(a) gives d * s * (1 - s) for its result s",
        lambda d, out, a: (times(d, out, applied("sub", ONE, out)),),
        0,
    ),
    "tanh": of_one(
        "tanh(a) gives d * (1 - t * t) for its result t",
        lambda d, out, a: (times(d, applied("sub", ONE, times(out, out))),),
        0,
    ),
    "sin": of_one("sin(a) gives d * cos(a)", lambda d, out, a: (times(d, applied("cos", a)),)),
    "cos": of_one(
        "cos(a) gives -d * sin(a)", lambda d, out, a: (minus(times(d, applied("sin", a))),)
    ),
    "erf": of_one(
        "erf(a) gives d * exp(-a * a) * 2 / sqrt(pi)",
        lambda d, out, a: (
            times(d, Float(2 / math.sqrt(math.pi)), applied("exp", minus(times(a, a)))),
        ),
    ),
}
