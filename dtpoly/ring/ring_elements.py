"""Elements of a ring in which exp is a homomorphism, as floats of 64 bits that nothing rounds.

An element is three residues, modulo primes P > Q > R where Q divides P - 1 and R divides Q - 1.
Sums and products are taken residue by residue, so every law of rings holds exactly. `exp` maps the
residue modulo Q to a power of an element of order Q modulo P, and the one modulo R likewise:
exp(a + b) is exp(a) * exp(b), twice nested. What has no law is a tag: a hash of its operands.

By the remainder theorem the residues of 256 times an element are those of one whole number between
-2**61 and 2**61. It is written as sign and bits of a float, which is finite, and floats are in the
order of these numbers: comparing and moving elements needs no code, and numbers that have few
binary digits after the point are in their own order. That of others means nothing, but it is one.
A number as far from 0 as 2**100 is written as a float beyond all others, so that a running maximum
may start with it. 0, inf, -inf and nan are themselves. Floats are only carriers here; no float
arithmetic is ever done on them.
"""

import math
import zlib
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

P, Q, R = 4_188_827, 2_094_413, 523_603
# Of order Q modulo P, and of order R modulo Q.
OF_ORDER_Q, OF_ORDER_R = 4, 16
# exp2 is another homomorphism: powers of another element of the same order.
POWER_FOR_2 = 7
LOG2_E = math.log2(math.e)
# Factors of log2(e) are looked for among numbers with denominators, and sizes, up to this.
LARGEST_DENOMINATOR = 128
# Of what has so many parts the numbers are in order.
SCALE = 256
# A running maximum may start with a number as far from 0 as this, which is below all others.
EXTREME = 2**100
# What is smaller, in these parts, is taken for a number.
SMALL = 2**42

Elements: TypeAlias = NDArray[np.float64]
Residues: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]
MODULI = (np.uint64(P), np.uint64(Q), np.uint64(R))
OF_ONE_PART = tuple(np.uint64(pow(SCALE, -1, modulus)) for modulus in (P, Q, R))
MAGNITUDE = np.uint64(2**63 - 1)  # all bits but the sign
P_IN_Q, PQ_IN_R = np.uint64(pow(P, -1, Q)), np.uint64(pow(P * Q, -1, R))


def residues(elements: Elements) -> Residues:
    """Return the three residues of each element; of what is not finite those of 0."""
    finite = np.where(np.isfinite(elements), elements, 0.0).astype(np.float64)
    bits = finite.view(np.uint64) & MAGNITUDE
    is_below = np.signbit(finite)
    parts = zip(MODULI, OF_ONE_PART, strict=True)
    p, q, r = (np.where(is_below, m - bits % m, bits % m) * part % m for m, part in parts)
    return p, q, r


def packed(of: Residues) -> Elements:
    """Elements of these residues."""
    pairs = zip(of, MODULI, strict=True)
    p, q, r = (np.asarray(one * np.uint64(SCALE) % m, np.uint64) for one, m in pairs)
    # The number with these residues, one modulus after the other.
    rest = _lifted(p, MODULI[0], (q + MODULI[1] - p % MODULI[1]) * P_IN_Q % MODULI[1])
    more = (r + MODULI[2] - rest % MODULI[2]) * PQ_IN_R % MODULI[2]
    number = _lifted(rest, MODULI[0] * MODULI[1], more)
    is_below = number > np.uint64(P * Q * R // 2)
    bits = np.asarray(np.where(is_below, np.uint64(P * Q * R) - number, number))
    return (bits | np.where(is_below, ~MAGNITUDE, np.uint64(0))).view(np.float64)


def _lifted(
    rest: NDArray[np.uint64], modulus: np.uint64, times: NDArray[Any]
) -> NDArray[np.uint64]:
    return np.asarray(rest + times * modulus, np.uint64)


def number(value: float | Fraction) -> float:
    """Return a number as an element; inf, -inf and nan are themselves."""
    if isinstance(value, float) and not np.isfinite(value):
        return value
    k = _times_log2_e(float(value)) if -LARGEST_DENOMINATOR < value < LARGEST_DENOMINATOR else None
    # exp2 takes powers of the element whose power is exp's: so its log2(e) is what undoes that.
    exact = Fraction(value) if k is None else k / POWER_FOR_2
    parts = [
        np.asarray(exact.numerator * pow(exact.denominator, -1, modulus) % modulus, np.uint64)
        for modulus in (P, Q, R)
    ]
    found = packed((parts[0], parts[1], parts[2]))
    return float(found if abs(exact) < EXTREME else _beyond(found, exact < 0))


def _times_log2_e(value: float) -> Fraction | None:
    """Return k for a float that is k * log2(e), as exactly as f32 or f64 has it; k must be short.

    Kernels compute exp(k * x) as exp2 of such a number times x.
    """
    k = Fraction(value / LOG2_E).limit_denominator(LARGEST_DENOMINATOR)
    exact = float(k) * LOG2_E
    is_near = abs(exact - value) <= abs(exact) * 2.0**-51 or value == float(np.float32(exact))
    return k if k and is_near else None


def _beyond(element: Elements, is_below: bool) -> Elements:
    """Return the same element as a float that is below, or above, all that others are written as.

    It stands for the number that is a whole turn around further.
    """
    magnitude = int(np.abs(element).view(np.uint64))
    canonical = -magnitude if np.signbit(element) else magnitude
    further = abs(canonical + (-P * Q * R if is_below else P * Q * R))
    result = np.asarray(further, np.uint64).view(np.float64)
    return -result if is_below else result


def chosen(random: np.random.Generator, shape: tuple[int, ...]) -> Elements:
    """Elements of which each is as likely as any other."""
    p, q, r = (random.integers(0, modulus, shape, np.uint64) for modulus in (P, Q, R))
    return packed((p, q, r))


def ascending(elements: Elements) -> Elements:
    """Return the elements with every second row in order.

    There a running maximum grows until the end of the row, so that a correction is made.
    """
    found = elements.copy()
    if found.ndim > 1:
        found[::2] = np.sort(found[::2], axis=-1)
    return found


def whole(values: NDArray[np.integer]) -> Elements:
    """Return whole numbers as elements."""
    wide = np.asarray(values).astype(np.int64)
    p, q, r = ((wide % np.int64(modulus)).astype(np.uint64) for modulus in (P, Q, R))
    return packed((p, q, r))


def wholes_of(elements: Elements) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the whole part of each number that needs few binary digits after the point.

    The second array says for which elements that is known: an element that is no such number seldom
    looks like one.
    """
    known = np.isfinite(elements)
    magnitudes = np.abs(np.where(known, elements, 0.0)).view(np.int64)
    numbers = np.where(np.signbit(elements), -1, 1) * (magnitudes // SCALE)
    return numbers, known & (magnitudes < SMALL)


def floats(values: NDArray[np.float64]) -> Elements:
    """Floats, each taken as the number that it is."""
    flat = [number(float(one)) for one in np.asarray(values, np.float64).ravel()]
    return np.array(flat, np.float64).reshape(np.shape(values))


def add(a: Elements, b: Elements) -> Elements:
    """Return the sum; an infinity plus an element is the infinity, as a masked score needs it."""
    pairs = zip(residues(a), residues(b), MODULI, strict=True)
    p, q, r = ((x + y) % m for x, y, m in pairs)
    with np.errstate(invalid="ignore"):
        sums = np.where(np.isinf(a) | np.isinf(b), _carrier(a) + _carrier(b), packed((p, q, r)))
    return np.where(np.isnan(a) | np.isnan(b), np.nan, sums)


def _carrier(a: Elements) -> Elements:
    """Return infinities as they are, and 0 for elements."""
    return np.where(np.isinf(a), a, 0.0)


def negative(a: Elements) -> Elements:
    """Return the element whose sum with the given one is 0."""
    p, q, r = ((m - x) % m for x, m in zip(residues(a), MODULI, strict=True))
    return np.where(np.isinf(a), -a, _finite(packed((p, q, r)), a))


def subtract(a: Elements, b: Elements) -> Elements:
    """Return the difference."""
    return add(a, negative(b))


def multiply(a: Elements, b: Elements) -> Elements:
    """Return the product; an infinity times an element is the infinity, as it is in `add`.

    An element has no sign. So this is for masked scores, which are multiplied by a scale above 0.
    """
    pairs = zip(residues(a), residues(b), MODULI, strict=True)
    p, q, r = (x * y % m for x, y, m in pairs)
    found = _finite(packed((p, q, r)), a, b)
    for one, other in ((a, b), (b, a)):
        is_scaled = np.isinf(one) & np.isfinite(other) & (other != 0)
        found = np.where(is_scaled, one, found)
    return found


def divide(a: Elements, b: Elements) -> Elements:
    """Return the product with the inverse; 0 has itself as inverse, but 0 / 0 is a nan.

    So is the mean of a row of which a mask leaves nothing, and exp(-inf - -inf), which is added up
    in such a row where the mask is not known to leave nothing.
    """
    inverse = tuple(
        _power(x, np.full_like(x, m - np.uint64(2)), m)
        for x, m in zip(residues(b), MODULI, strict=True)
    )
    found = _finite(multiply(a, packed((inverse[0], inverse[1], inverse[2]))), a, b)
    return np.where((a == 0) & (b == 0), np.nan, found)


def exp(a: Elements, power: int = 1) -> Elements:
    """Sums to products; of -inf it is 0."""
    _, q, r = residues(a)
    base_p, base_q = pow(OF_ORDER_Q, power, P), pow(OF_ORDER_R, power, Q)
    p_new = _power(np.full_like(q, base_p), q, MODULI[0])
    q_new = _power(np.full_like(r, base_q), r, MODULI[1])
    result = _finite(packed((p_new, q_new, np.ones_like(r))), a)
    return np.where(np.isneginf(a), 0.0, result)


def exp2(a: Elements) -> Elements:
    """Sums to products, with another base."""
    return exp(a, POWER_FOR_2)


def tag(name: str, *operands: Elements) -> Elements:
    """Return a value that only depends on the operation and its operands, and has no law."""
    mixed = np.uint64(zlib.crc32(name.encode()))
    total = np.zeros(np.broadcast_shapes(*(np.shape(one) for one in operands)), np.uint64) + mixed
    for one in operands:
        total = _mixed(total ^ np.asarray(one, np.float64).view(np.uint64))
    p, q, r = (_mixed(total + np.uint64(at)) % m for at, m in enumerate(MODULI))
    return packed((p, q, r))


def log(a: Elements) -> Elements:
    """Return the logarithm, a tag; of 0 it is -inf, as the sum of a row without elements has it."""
    return np.where(a == 0, -np.inf, tag("log", a))


def log2(a: Elements) -> Elements:
    """Return the logarithm to the base 2, a tag; of 0 it is -inf."""
    return np.where(a == 0, -np.inf, tag("log2", a))


def total(elements: Elements, axis: int) -> Elements:
    """Return the sum along an axis."""
    parts = zip(residues(elements), MODULI, strict=True)
    p, q, r = (np.asarray(np.sum(x, axis=axis, dtype=np.uint64) % m) for x, m in parts)
    with np.errstate(invalid="ignore"):
        odd = np.sum(np.where(np.isfinite(elements), 0.0, elements), axis=axis)
    return np.where(np.isfinite(odd), packed((p, q, r)), odd)


def product_of_matrices(a: Elements, b: Elements) -> Elements:
    """Return the matrix product."""
    parts = zip(residues(a), residues(b), MODULI, strict=True)
    # Residues are below 2**22, so products of 2**20 terms stay below 2**64.
    p, q, r = (np.matmul(x, y) % m for x, y, m in parts)
    bad = np.logical_or(
        np.any(~np.isfinite(a), axis=-1)[..., :, None],
        np.any(~np.isfinite(b), axis=-2)[..., None, :],
    )
    return np.where(bad, np.nan, packed((p, q, r)))


def _finite(result: Elements, *operands: Elements) -> Elements:
    """Nan where an operand is not finite: inf is compared, chosen, added and scaled, no more."""
    finite = np.isfinite(operands[0])
    for one in operands[1:]:
        finite = finite & np.isfinite(one)
    return np.where(finite, result, np.nan)


def _power(
    base: NDArray[np.uint64], exponent: NDArray[np.uint64], modulus: np.uint64
) -> NDArray[np.uint64]:
    result = np.ones_like(base)
    square, left = base % modulus, exponent.copy()
    one = np.uint64(1)
    while np.any(left):
        result = np.where(left & one, result * square % modulus, result)
        square = square * square % modulus
        left = left >> one
    return result


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix bits, so that each bit of the result depends on every bit given (splitmix64)."""
    with np.errstate(over="ignore"):
        bits = bits + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))
