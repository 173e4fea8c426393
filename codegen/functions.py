"""Says how operations of the language are spelled in Triton, and has the functions they need.

The functions are texts, which are copied into the generated file. NaN wins every comparison here,
as in torch; Triton's own `tl.max` and `%` behave differently.
"""

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.ir.kinds import Element, Named

DTYPES = {
    DType.BOOL: "tl.int1",
    DType.U8: "tl.uint8",
    DType.I8: "tl.int8",
    DType.I16: "tl.int16",
    DType.I32: "tl.int32",
    DType.I64: "tl.int64",
    DType.F8E4M3: "tl.float8e4nv",
    DType.F8E5M2: "tl.float8e5",
    DType.F16: "tl.float16",
    DType.BF16: "tl.bfloat16",
    DType.F32: "tl.float32",
    DType.F64: "tl.float64",
}

# Written between operands; the number says how tightly Python binds it.
INFIX = {
    "or": ("|", 2),
    "and": ("&", 4),
    "add": ("+", 6),
    "sub": ("-", 6),
    "mul": ("*", 7),
    "div": ("/", 7),
    "lt": ("<", 1),
    "le": ("<=", 1),
    "gt": (">", 1),
    "ge": (">=", 1),
    "eq": ("==", 1),
    "ne": ("!=", 1),
}
PREFIX = {"neg": ("-", 8), "not": ("~", 8)}

PLAIN = {
    "abs": "tl.abs",
    "ceil": "tl.ceil",
    "cos": "tl.cos",
    "erf": "tl.erf",
    "exp": "tl.exp",
    "exp2": "tl.exp2",
    "fdiv": "tl.fdiv",
    "floor": "tl.floor",
    "fma": "tl.fma",
    "log": "tl.log",
    "log2": "tl.log2",
    "rsqrt": "tl.rsqrt",
    "sigmoid": "tl.sigmoid",
    "sin": "tl.sin",
    "sqrt": "tl.sqrt",
    "where": "tl.where",
}
OWN = {
    "cdiv": ("dt_cdiv", "dt_cdiv_whole"),
    "div_rn": ("dt_div_rn", "dt_div_rn"),
    "maximum": ("dt_max", "tl.maximum"),
    "minimum": ("dt_min", "tl.minimum"),
    "clamp": ("dt_clamp", "dt_clamp_whole"),
    "mod": ("dt_mod", "dt_mod_whole"),
    "pow": ("dt_pow", "dt_pow_whole"),
    "sqrt_rn": ("dt_sqrt_rn", "dt_sqrt_rn"),
    "tanh": ("dt_tanh", "dt_tanh"),
}
# The function that joins two partial results.
JOIN = {
    "rprod": ("dt_mul", "dt_mul"),
    "rmax": ("dt_max", "tl.maximum"),
    "rmin": ("dt_min", "tl.minimum"),
    "rany": ("dt_or", "dt_or"),
    "rall": ("dt_and", "dt_and"),
    "rargmax": ("dt_argmax", "dt_argmax"),
    "rargmin": ("dt_argmin", "dt_argmin"),
}
# Reductions that Python joins and assigns by one operator.
ASSIGNED = {"rsum": "+=", "rprod": "*=", "rany": "|=", "rall": "&="}
ATOMIC = {"rsum": "tl.atomic_add", "rmax": "tl.atomic_max", "rmin": "tl.atomic_min"}
# Functions that make NaN win in atomic operations: memory compares the bits of floats.
OF_BITS = {"rmax": "dt_nan_above", "rmin": "dt_nan_below"}

# By how much a line is shifted, and the aligned place before it.
OF_LINES = ("dt_shift", "dt_line")
# Lines are aligned to multiples of so many elements: with two bytes each, to lines of the cache.
UNIT = 64

TEXTS = {
    "dt_shift": """def dt_shift(first, stride, unit: tl.constexpr):
    # How far behind a multiple of a power of two the first element is, if they lie side by side.
    return tl.where(stride == 1, first & (unit - 1), 0)
""",
    "dt_line": """def dt_line(first, stride, unit: tl.constexpr):
    # The first element less that, written so that Triton sees that it is a multiple.
    return tl.where(stride == 1, first // unit * unit, first)
""",
    "dt_max": """def dt_max(a, b):
    return tl.maximum(a, b, tl.PropagateNan.ALL)
""",
    "dt_min": """def dt_min(a, b):
    return tl.minimum(a, b, tl.PropagateNan.ALL)
""",
    "dt_nan_above": """def dt_nan_above(a, pointer):
    # To an atomic maximum, a NaN without a sign is above inf, and one with a sign below -inf.
    a = tl.cast(a, pointer.dtype.element_ty)
    if a.dtype == tl.float64:
        bits = tl.where(a != a, 0x7FF8000000000000, a.to(tl.int64, bitcast=True))
        return bits.to(tl.float64, bitcast=True)
    else:
        bits = tl.where(a != a, 0x7FC00000, a.to(tl.int32, bitcast=True))
        return bits.to(tl.float32, bitcast=True)
""",
    "dt_nan_below": """def dt_nan_below(a, pointer):
    # To an atomic minimum, a NaN with a sign is below -inf, and one without a sign above inf.
    a = tl.cast(a, pointer.dtype.element_ty)
    if a.dtype == tl.float64:
        bits = tl.where(a != a, -0x8000000000000, a.to(tl.int64, bitcast=True))
        return bits.to(tl.float64, bitcast=True)
    else:
        bits = tl.where(a != a, -0x400000, a.to(tl.int32, bitcast=True))
        return bits.to(tl.float32, bitcast=True)
""",
    "dt_mul": """def dt_mul(a, b):
    return a * b
""",
    "dt_or": """def dt_or(a, b):
    return a | b
""",
    "dt_and": """def dt_and(a, b):
    return a & b
""",
    "dt_argmax": """def dt_argmax(a, i, b, j):
    # The first of the largest; NaN is larger than any number.
    is_same = (a == b) | ((a != a) & (b != b))
    is_better = (b > a) | ((b != b) & (a == a)) | (is_same & (j < i))
    return tl.where(is_better, b, a), tl.where(is_better, j, i)
""",
    "dt_argmin": """def dt_argmin(a, i, b, j):
    # The first of the smallest; NaN is smaller than any number.
    is_same = (a == b) | ((a != a) & (b != b))
    is_better = (b < a) | ((b != b) & (a == a)) | (is_same & (j < i))
    return tl.where(is_better, b, a), tl.where(is_better, j, i)
""",
    "dt_clamp": """def dt_clamp(a, low, high):
    at_least = tl.maximum(a, low, tl.PropagateNan.ALL)
    return tl.minimum(at_least, high, tl.PropagateNan.ALL)
""",
    "dt_clamp_whole": """def dt_clamp_whole(a, low, high):
    return tl.minimum(tl.maximum(a, low), high)
""",
    "dt_mod": """def dt_mod(a, b):
    # The sign of the divisor, as in Python. For `a % b` a GPU rounds the quotient, which is wrong
    # if that is large. Here 26 binary digits of the quotient are found at a time: 64 bits hold
    # exactly what that many digits take away.
    steps = 11
    if a.dtype == tl.float64:
        steps = 81
    divisor = tl.abs(b).to(tl.float64)
    rest = tl.where(divisor > 0, tl.abs(a).to(tl.float64), float("nan"))
    for step in tl.range(0, steps):
        power = (steps - 1) - tl.cast(step, tl.int64)
        nine = (((9 * power) + 1023) << 52).to(tl.float64, bitcast=True)
        eight = (((8 * power) + 1023) << 52).to(tl.float64, bitcast=True)
        larger = divisor * nine * nine * eight
        by = tl.where(larger <= rest, larger, 1.0)
        times = tl.where(larger <= rest, tl.floor(rest / by), 0.0)
        head = (by.to(tl.int64, bitcast=True) & -134217728).to(tl.float64, bitcast=True)
        rest = (rest - times * head) - times * (by - head)
        rest = tl.where(rest < 0, rest + by, rest)
    rest = tl.where(tl.abs(a) < float("inf"), rest, float("nan")).to(a.dtype)
    rest = tl.where(a < 0, -rest, rest)
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
""",
    "dt_mod_whole": """def dt_mod_whole(a, b):
    # The sign of the divisor, as in Python; 0 where that is 0.
    rest = a % tl.where(b == 0, 1, b)
    rest = tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    return tl.where(b == 0, 0, rest)
""",
    "dt_cdiv": """def dt_cdiv(a, b):
    # A quotient of 32 bits may be off by so little that it is not whole; of 64, it is rounded.
    return tl.ceil(a.to(tl.float64) / b.to(tl.float64)).to(a.dtype)
""",
    "dt_cdiv_whole": """def dt_cdiv_whole(a, b):
    # Rounded up, also below 0; 0 where the divisor is 0.
    divisor = tl.where(b == 0, 1, b)
    down = a // divisor
    is_short = (a % divisor != 0) & ((a < 0) == (divisor < 0))
    return tl.where(b == 0, 0, tl.where(is_short, down + 1, down))
""",
    "dt_div_rn": """def dt_div_rn(a, b):
    if a.dtype == tl.float64:
        return a / b
    else:
        return tl.div_rn(a, b)
""",
    "dt_sqrt_rn": """def dt_sqrt_rn(a):
    if a.dtype == tl.float64:
        return tl.sqrt(a)
    else:
        return tl.sqrt_rn(a)
""",
    "dt_tanh": """def dt_tanh(a):
    if a.dtype == tl.float64:
        # Near 0 the first quotient loses digits; the second, a continued fraction, does not.
        small = tl.exp(-2.0 * tl.abs(a))
        quotient = (1.0 - small) / (1.0 + small)
        far = tl.where(a < 0, -quotient, quotient)
        x = a * a
        above = 135135.0 + x * (17325.0 + x * (378.0 + x))
        below = 135135.0 + x * (62370.0 + x * (3150.0 + x * 28.0))
        return tl.where(tl.abs(a) < 0.5, a * (above / below), far)
    else:
        # exp2 and rsqrt are one instruction each, exp and a quotient five or more. 1 - root * root
        # is 1 - 2 / (1 + exp(2 |a|)); near 0 it loses digits, and a polynomial fitted in ulps not.
        root = tl.rsqrt(0.5 + 0.5 * tl.exp2(2.885390081777927 * tl.abs(a)))
        x = a * a
        rest = -0.052258879 + x * 0.015683051
        near = a + a * (x * (-0.33332673 + x * (0.13314131 + x * rest)))
        result = tl.where(tl.abs(a) < 0.6, near, 1.0 - root * root)
        sign = a.to(tl.int32, bitcast=True) & -2147483648
        return (result.to(tl.int32, bitcast=True) | sign).to(tl.float32, bitcast=True)
""",
    "dt_pow": """def dt_pow(a, b):
    wide_a, wide_b = tl.broadcast(a.to(tl.float64), b.to(tl.float64))
    is_whole = tl.floor(wide_b) == wide_b
    is_odd = is_whole & (wide_b - 2 * tl.floor(wide_b / 2) == 1)
    size = tl.exp2(wide_b * tl.log2(tl.abs(wide_a)))
    if a.dtype == tl.float64:
        # A product of few factors is exact where it fits, and the largest numbers stay finite.
        rest = tl.where(is_whole & (tl.abs(wide_b) < 64), tl.abs(wide_b), 0)
        result, factor = rest * 0 + 1.0, tl.abs(wide_a)
        for _ in range(6):
            result = tl.where(rest - 2 * tl.floor(rest / 2) == 1, result * factor, result)
            factor = factor * factor
            rest = tl.floor(rest / 2)
        result = tl.where(wide_b < 0, 1.0 / result, result)
        is_near = is_whole & (tl.abs(wide_b) < 64) & (result > 0) & (result < float("inf"))
        size = tl.where(is_near, result, size)
    size = tl.where((wide_b == 0) | (tl.abs(wide_a) == 1), 1.0, size)
    signed = tl.where(is_odd & (wide_a < 0), -size, size)
    has_none = (wide_a < 0) & (wide_a > float("-inf")) & ~is_whole
    return tl.where(has_none, float("nan"), signed).to(a.dtype)
""",
    "dt_pow_whole": """def dt_pow_whole(a, b):
    # Squares, from the lowest bit on; below 0 only 1 and -1 have whole powers.
    one = a * 0 + b * 0 + 1
    result, factor, rest = one, a * one, tl.abs(b) * one
    for _ in range(b.dtype.primitive_bitwidth):
        result = tl.where(rest % 2 == 1, result * factor, result)
        factor = factor * factor
        rest = rest // 2
    is_odd = b % 2 != 0
    below = tl.where(a == one, one, tl.where(a == -one, tl.where(is_odd, -one, one), one - one))
    return tl.where(b < 0, below, result)
""",
}


def is_float_element(element: Element) -> bool:
    """Whether values of the type are floats; the wrapper passes only those."""
    return isinstance(element, Named) or is_float(element)


def function(names: tuple[str, str], element: Element) -> str:
    """The spelling for floats, or the one for whole numbers."""
    return names[0] if is_float_element(element) else names[1]
