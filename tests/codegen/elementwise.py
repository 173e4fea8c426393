"""Elementwise operations on sets of floats, with the accuracy that Triton's have on a GPU.

Units are those of half a last digit: `exp` is off by some of them for its own, and by as many as
its argument is large, which is rounded before.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf, log

import torch

from tests.codegen.floats import (
    Floats,
    Precision,
    anything_where,
    moved,
    rounded,
    settled,
    widened,
)

Tensor = torch.Tensor


def _infinite(values: Floats) -> Tensor:
    return values.low.isneginf() | values.high.isposinf()


def _corners(one: Floats, two: Floats, f: Callable[[Tensor, Tensor], Tensor]) -> list[Tensor]:
    return [f(a, b) for a in (one.low, one.high) for b in (two.low, two.high)]


def _spanned(corners: list[Tensor], nan: Tensor, *operands: Floats) -> Floats:
    low = high = corners[0]
    for corner in corners[1:]:
        low, high = torch.minimum(low, corner), torch.maximum(high, corner)
    return settled(low, high, nan, *operands)


def added(one: Floats, two: Floats) -> Floats:
    """Return the sums, not rounded."""
    nan = (one.high.isposinf() & two.low.isneginf()) | (one.low.isneginf() & two.high.isposinf())
    return settled(one.low + two.low, one.high + two.high, nan, one, two)


def negated(values: Floats) -> Floats:
    """Return the numbers with the other sign."""
    return Floats(-values.high, -values.low, values.nan)


def multiplied(one: Floats, two: Floats) -> Floats:
    """Return the products, not rounded; 0 times a finite number is 0."""
    nan = (one.has(0) & _infinite(two)) | (two.has(0) & _infinite(one))

    def product(a: Tensor, b: Tensor) -> Tensor:
        return torch.where((a == 0) | (b == 0), 0.0, a * b)

    return _spanned(_corners(one, two, product), nan, one, two)


def divided(one: Floats, two: Floats, precision: Precision) -> Floats:
    """Return the quotients, not rounded, and all floats if the divisor may be 0."""
    near = precision.tiny
    is_zero = (two.low <= near) & (two.high >= -near)
    nan = (one.has(0) & is_zero) | (_infinite(one) & _infinite(two))

    def quotient(a: Tensor, b: Tensor) -> Tensor:
        return torch.where(b.isinf() & ~a.isinf(), 0.0, a / b)

    found = _spanned(_corners(one, two, quotient), nan, one, two)
    wide = torch.broadcast_to(is_zero, found.low.shape) & ~found.is_nan
    return Floats(torch.where(wide, -inf, found.low), torch.where(wide, inf, found.high), found.nan)


def _growing(
    f: Callable[[Tensor], Tensor], values: Floats, least: float = -inf, most: float = inf
) -> Floats:
    """Apply a function that grows where it is defined, and gives NaN elsewhere."""
    nan = (values.low < least) | (values.high > most)
    inside = (values.high >= least) & (values.low <= most)
    found = settled(
        f(values.low.clamp(least, most)), f(values.high.clamp(least, most)), nan, values
    )
    outside = ~inside & ~values.is_nan
    return Floats(
        torch.where(outside, inf, found.low), torch.where(outside, -inf, found.high), found.nan
    )


def _argument(values: Floats) -> Tensor:
    """Return the absolute value of finite arguments."""
    return values.size.clamp(max=2000.0)


def _exp(values: Floats, precision: Precision) -> Floats:
    return widened(_growing(torch.exp, values), precision, 6 + 2 * _argument(values))


def _exp2(values: Floats, precision: Precision) -> Floats:
    return widened(_growing(torch.exp2, values), precision, 6)


def _log(values: Floats, precision: Precision) -> Floats:
    found = _growing(torch.log, _reaching_zero(values, precision), 0.0)
    return moved(widened(found, precision, 8), 8 * precision.unit)


def _log2(values: Floats, precision: Precision) -> Floats:
    found = _growing(torch.log2, _reaching_zero(values, precision), 0.0)
    return moved(widened(found, precision, 8), 8 * precision.unit)


def _reaching_zero(values: Floats, precision: Precision) -> Floats:
    """Return the sets, in which numbers without all their digits may be 0."""
    small = (values.low > 0) & (values.low < precision.tiny)
    return Floats(torch.where(small, 0, values.low), values.high, values.nan)


def _sqrt(values: Floats, precision: Precision) -> Floats:
    return widened(_growing(torch.sqrt, _reaching_zero(values, precision), 0.0), precision, 4)


def _rsqrt(values: Floats, precision: Precision) -> Floats:
    reached = _reaching_zero(values, precision)
    roots = _growing(torch.sqrt, reached, 0.0)
    low = torch.where(roots.high.isinf(), 0.0, 1 / roots.high)
    found = settled(low, 1 / roots.low.clamp(min=0), roots.nan, roots)
    return widened(found, precision, 8)


def _wave(f: Callable[[Tensor], Tensor], values: Floats, precision: Precision) -> Floats:
    radius = (values.high - values.low) / 2
    middle = values.low + radius
    spread = radius + 16 * precision.unit
    low, high = (f(middle) - spread).clamp(-1, 1), (f(middle) + spread).clamp(-1, 1)
    return anything_where(_infinite(values), settled(low, high, values.nan, values))


def _erf(values: Floats, precision: Precision) -> Floats:
    return widened(_growing(torch.erf, values), precision, 16)


def _sigmoid(values: Floats, precision: Precision) -> Floats:
    return widened(_growing(torch.sigmoid, values), precision, 12 + 2 * _argument(values))


def _tanh(values: Floats, precision: Precision) -> Floats:
    return widened(_growing(torch.tanh, values), precision, 16)


def _abs(values: Floats, _: Precision) -> Floats:
    low = torch.where(values.has(0), 0, torch.minimum(values.low.abs(), values.high.abs()))
    return settled(low, values.size, values.nan, values)


def _larger(one: Floats, two: Floats) -> Floats:
    low, high = torch.maximum(one.low, two.low), torch.maximum(one.high, two.high)
    return settled(low, high, torch.zeros_like(low, dtype=torch.bool), one, two)


def _smaller(one: Floats, two: Floats) -> Floats:
    return negated(_larger(negated(one), negated(two)))


def _mod(one: Floats, two: Floats, precision: Precision) -> Floats:
    """Return the remainders, with the sign of the divisor.

    Near a multiple both ends are possible.
    """
    quotient = widened(divided(one, two, precision), precision, 8)
    down = quotient.low.floor()
    is_clear = (down == quotient.high.floor()) & down.isfinite() & (down.abs() < 2**50)
    times = Floats(down, down, torch.zeros_like(is_clear))
    rest = added(one, negated(multiplied(times, two)))
    slack = 8 * precision.unit * (one.size + two.size)
    rest = moved(rest, torch.where(is_clear & slack.isfinite(), slack, 0))
    # An exact quotient may also be computed as slightly less.
    zero = torch.zeros_like(two.low)
    any_rest = Floats(torch.minimum(two.low, zero), torch.maximum(two.high, zero), two.nan)
    any_rest = moved(any_rest, torch.where(slack.isfinite(), slack, 0))
    is_zero = (two.low <= precision.tiny) & (two.high >= -precision.tiny)
    open_ended = is_zero | _infinite(one) | _infinite(two) | _infinite(quotient)
    clear = Floats(
        torch.where(is_clear, rest.low, any_rest.low),
        torch.where(is_clear, rest.high, any_rest.high),
        torch.where(is_clear, rest.nan, any_rest.nan),
    )
    return anything_where(open_ended, settled(clear.low, clear.high, clear.nan, one, two))


def _pow(one: Floats, two: Floats, precision: Precision) -> Floats:
    """Return the powers, for positive bases and whole exponents; all floats for other sets."""
    whole = two.is_point & (two.low == two.low.floor()) & two.low.isfinite()
    positive = one.low > precision.tiny
    even = whole & (two.low % 2 == 0)
    corners = _corners(one, two, torch.pow)
    crossing = torch.where(one.has(0) & even, 0.0, corners[0])
    found = _spanned([*corners, crossing], torch.zeros_like(positive), one, two)
    steep = two.size * (1 + torch.log2(one.size.clamp(1e-300)).abs()) * log(2)
    found = widened(found, precision, 8 + 2 * steep.clamp(max=2e4))
    is_clear = (positive & two.size.isfinite()) | (whole & (two.low >= 0) & one.size.isfinite())
    found = anything_where(~is_clear, found)
    # 1 to any power is 1, and anything to the power 0 is 1, even NaN.
    nan = one.nan | two.nan
    return Floats(
        torch.where(nan, found.low.clamp(max=1), found.low),
        torch.where(nan, found.high.clamp(min=1), found.high),
        found.nan,
    )


def _fma(one: Floats, two: Floats, three: Floats, precision: Precision) -> Floats:
    return rounded(added(rounded(multiplied(one, two), precision), three), precision)


def _clamp(value: Floats, low: Floats, high: Floats, _: Precision) -> Floats:
    return _smaller(_larger(value, low), high)


ONE: Mapping[str, Callable[[Floats, Precision], Floats]] = {
    "neg": lambda a, _: negated(a),
    "abs": _abs,
    "ceil": lambda a, _: _growing(torch.ceil, a),
    "floor": lambda a, _: _growing(torch.floor, a),
    "round": lambda a, _: _growing(torch.round, a),
    "trunc": lambda a, _: _growing(torch.trunc, a),
    "cos": lambda a, p: _wave(torch.cos, a, p),
    "sin": lambda a, p: _wave(torch.sin, a, p),
    "erf": _erf,
    "exp": _exp,
    "exp2": _exp2,
    "log": _log,
    "log2": _log2,
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "sqrt": _sqrt,
    "sqrt_rn": lambda a, p: widened(_growing(torch.sqrt, _reaching_zero(a, p), 0.0), p, 2),
    "tanh": _tanh,
}
TWO: Mapping[str, Callable[[Floats, Floats, Precision], Floats]] = {
    "add": lambda a, b, p: rounded(added(a, b), p),
    "sub": lambda a, b, p: rounded(added(a, negated(b)), p),
    "mul": lambda a, b, p: rounded(multiplied(a, b), p),
    "div": lambda a, b, p: widened(divided(a, b, p), p, 4),
    "fdiv": lambda a, b, p: widened(divided(a, b, p), p, 6),
    "div_rn": lambda a, b, p: widened(divided(a, b, p), p, 2),
    "mod": _mod,
    "cdiv": lambda a, b, p: _growing(torch.ceil, widened(divided(a, b, p), p, 2)),
    "maximum": lambda a, b, _: _larger(a, b),
    "minimum": lambda a, b, _: _smaller(a, b),
    "pow": _pow,
}
THREE: Mapping[str, Callable[[Floats, Floats, Floats, Precision], Floats]] = {
    "clamp": _clamp,
    "fma": _fma,
}


def applied(operation: str, operands: Sequence[Floats], precision: Precision) -> Floats:
    """Return the possible results of an operation of the language."""
    match operands:
        case [one]:
            return ONE[operation](one, precision)
        case [one, two]:
            return TWO[operation](one, two, precision)
        case [one, two, three]:
            return THREE[operation](one, two, three, precision)
        case _:
            raise AssertionError(operation)
