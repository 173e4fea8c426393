"""Says how operations of the language are spelled in Triton, and has the functions they need.

The functions are texts, which are copied into the generated file. NaN wins every comparison here,
as in torch; Triton's own `tl.max` and `%` behave differently.
"""

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.inference import WIDTHS
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.tile_values import Call, LiteralNumber

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
    "bitor": ("|", 2),
    "bitxor": ("^", 3),
    "bitand": ("&", 4),
    "shl": ("<<", 5),  # by a number; other shifts have a function
    "shr": (">>", 5),
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
PREFIX = {"neg": ("-", 8), "not": ("~", 8), "invert": ("~", 8)}

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
    "quotient": ("dt_quotient", "dt_quotient"),
    "random": ("dt_random_float", "dt_random_float"),
    "random_bits": ("dt_random_bits", "dt_random_bits"),
    "round": ("dt_round", "dt_round"),
    "shl": ("dt_shl", "dt_shl"),
    "shr": ("dt_shr", "dt_shr"),
    "sqrt_rn": ("dt_sqrt_rn", "dt_sqrt_rn"),
    "tanh": ("dt_tanh", "dt_tanh"),
    "trunc": ("dt_trunc", "dt_trunc"),
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
    "rlist": ("dt_list", "dt_list"),
}
# Reductions by an operator of two partial results.
INFIX_OF = {"rsum": "add", "rprod": "mul"}
# The functions by which only scans put two results together.
SCANNED = {"rsum": "dt_add", "raffine": "dt_affine"}
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
    "dt_add": """def dt_add(a, b):
    return a + b
""",
    "dt_affine": """def dt_affine(a, b, c, d):
    # First x * a + b, then that times c, plus d.
    return a * c, b * c + d
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
    "dt_list": """def dt_list(values, places, others, at, axis: tl.constexpr, count: tl.constexpr):
    # The largest pairs of two tiles, as many as the first one has along the last axis, in order:
    # NaN first, and of equal values the smaller place first. Pairs that are equal count as one.
    nowhere = tl.full((), 0x7FFFFFFFFFFFFFFF, tl.int64)
    if values.dtype == tl.float32 or values.dtype == tl.float64:
        nothing = tl.full((), float("-inf"), values.dtype)
    elif values.dtype == tl.uint8:
        nothing = tl.full((), 0, values.dtype)
    else:
        nothing = tl.full((), -(2 ** (values.dtype.primitive_bitwidth - 1)), values.dtype)
    here = tl.arange(0, count)
    row = tl.expand_dims(tl.min(places, axis), axis)
    others = tl.where(row == row, others, nothing)
    at = tl.where(row == row, at, nowhere)
    back = tl.where(places == places, tl.maximum(here - 1, 0), 0)
    # The first tile is a list in order, unless somebody calls this with another one.
    one, two = tl.gather(values, back, axis), tl.gather(places, back, axis)
    is_same = (values == one) | ((values != values) & (one != one))
    is_behind = (one > values) | ((one != one) & (values == values)) | (is_same & (two < places))
    is_behind |= (here == 0) | ((values == nothing) & (places == nowhere))
    if tl.min(is_behind.to(tl.int32)) == 0:
        left_values, left_places = values, places
        for step in tl.range(0, count):
            top = tl.expand_dims(tl.reduce(left_values, axis, dt_max), axis)
            is_top = (left_values == top) | ((left_values != left_values) & (top != top))
            place = tl.expand_dims(tl.min(tl.where(is_top, left_places, nowhere), axis), axis)
            values = tl.where(here == step, top, values)
            places = tl.where(here == step, place, places)
            is_top &= left_places == place
            left_values = tl.where(is_top, nothing, left_values)
            left_places = tl.where(is_top, nowhere, left_places)
    # The best pair that is left moves the pairs behind it by one place, until in no row it comes
    # before the last pair of the list. Behind count pairs of the other tile, none ever does.
    goes_on = tl.full((), 1, tl.int32)
    for step in tl.range(0, count):
        if goes_on == 1:
            top = tl.expand_dims(tl.reduce(others, axis, dt_max), axis)
            is_top = (others == top) | ((others != others) & (top != top))
            place = tl.expand_dims(tl.min(tl.where(is_top, at, nowhere), axis), axis)
            is_same = (values == top) | ((values != values) & (top != top))
            is_before = (values > top) | ((values != values) & (top == top))
            is_before |= is_same & (places < place)
            is_there = is_same & (places == place)
            ahead = tl.where(is_before, 1, tl.where(is_there, count + 1, 0))
            ahead = tl.expand_dims(tl.sum(ahead, axis), axis)
            one, two = tl.gather(values, back, axis), tl.gather(places, back, axis)
            one, two = tl.where(here == ahead, top, one), tl.where(here == ahead, place, two)
            values = tl.where(here < ahead, values, one)
            places = tl.where(here < ahead, places, two)
            is_top &= at == place
            others = tl.where(is_top, nothing, others)
            at = tl.where(is_top, nowhere, at)
            enters = (ahead != count) & ((top != nothing) | (place != nowhere))
            goes_on = tl.max(enters.to(tl.int32))
    return values, places
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
    # The sign of the divisor, as in Python; 0 where that is 0. The least number by -1 has no
    # quotient that fits, and LLVM leaves the rest open, too; so 1, whose rest is 0, divides there.
    if a.dtype == tl.uint8:
        return tl.where(b == 0, 0, a % tl.where(b == 0, 1, b))
    else:
        rest = a % tl.where((b == 0) | (b == -1), 1, b)
        return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
""",
    "dt_cdiv": """def dt_cdiv(a, b):
    # A quotient of 32 bits may be off by so little that it is not whole; of 64, it is rounded.
    return tl.ceil(a.to(tl.float64) / b.to(tl.float64)).to(a.dtype)
""",
    "dt_cdiv_whole": """def dt_cdiv_whole(a, b):
    # Rounded up, also below 0; 0 where the divisor is 0. The least number by -1 wraps to itself.
    if a.dtype == tl.uint8:
        divisor = tl.where(b == 0, 1, b)
        down = a // divisor
        return tl.where(b == 0, 0, tl.where(a % divisor != 0, down + 1, down))
    else:
        divisor = tl.where((b == 0) | (b == -1), 1, b)
        down = a // divisor
        is_short = (a % divisor != 0) & ((a < 0) == (divisor < 0))
        down = tl.where(is_short, down + 1, down)
        return tl.where(b == 0, 0, tl.where(b == -1, -a, down))
""",
    "dt_quotient": """def dt_quotient(a, b):
    # Rounded down, as in Python; 0 where the divisor is 0. The least number by -1 wraps to itself.
    if a.dtype == tl.uint8:
        return tl.where(b == 0, 0, a // tl.where(b == 0, 1, b))
    else:
        divisor = tl.where((b == 0) | (b == -1), 1, b)
        down = a // divisor
        is_above = (a % divisor != 0) & ((a < 0) != (divisor < 0))
        down = tl.where(is_above, down - 1, down)
        return tl.where(b == 0, 0, tl.where(b == -1, -a, down))
""",
    "dt_shl": """def dt_shl(a, b):
    # A shift by the width or more, or by less than 0, leaves no bit; hardware differs there.
    is_far = (b < 0) | (b >= b.dtype.primitive_bitwidth)
    return tl.where(is_far, 0, a << tl.where(is_far, 0, b))
""",
    "dt_shr": """def dt_shr(a, b):
    # A shift by the width or more, or by less than 0, leaves only the sign; hardware differs there.
    is_far = (b < 0) | (b >= b.dtype.primitive_bitwidth)
    sign = a >> (b.dtype.primitive_bitwidth - 1) >> 1
    return tl.where(is_far, sign, a >> tl.where(is_far, 0, b))
""",
    "dt_random_bits": """def dt_random_bits(seed, x, y):
    # Philox 4x32-10 (Salmon and others, 2011): the seed is its key, x and y are its counter. The
    # first two of the four words that it gives are the result.
    one, two = seed.to(tl.uint32), (seed >> 32).to(tl.uint32)
    a, b = x.to(tl.uint32), (x >> 32).to(tl.uint32)
    c, d = y.to(tl.uint32), (y >> 32).to(tl.uint32)
    by_a, by_c = tl.full((), 0xD2511F53, tl.uint32), tl.full((), 0xCD9E8D57, tl.uint32)
    for _ in tl.static_range(10):
        high_a, low_a, high_c, low_c = tl.umulhi(a, by_a), a * by_a, tl.umulhi(c, by_c), c * by_c
        a, b, c, d = high_c ^ b ^ one, low_c, high_a ^ d ^ two, low_a
        one += tl.full((), 0x9E3779B9, tl.uint32)
        two += tl.full((), 0xBB67AE85, tl.uint32)
    return a.to(tl.int64) | (b.to(tl.int64) << 32)
""",
    "dt_random_float": """def dt_random_float(seed, x, y):
    # The upper 24 bits of the first word, which an f32 holds.
    return (dt_random_bits(seed, x, y) >> 8 & 0xFFFFFF).to(tl.float32) * 5.9604644775390625e-08
""",
    "dt_round": """def dt_round(a):
    # The nearest whole number, of two the even one. No step rounds, so no contraction matters.
    size = tl.abs(a)
    down = tl.floor(size)
    rest = size - down
    is_odd = down - 2.0 * tl.floor(down * 0.5) == 1.0
    is_above = (rest > 0.5) | ((rest == 0.5) & is_odd)
    near = tl.where(is_above, down + 1.0, down)
    return tl.where(a < 0, -near, tl.where(a == 0, a, near))
""",
    "dt_trunc": """def dt_trunc(a):
    return tl.where(a < 0, tl.ceil(a), tl.floor(a))
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


# What operations on the bits of bools are called elsewhere.
OF_BOOLS = {"bitand": "and", "bitor": "or", "bitxor": "ne", "invert": "not"}
# The functions of generated files that another one calls.
NEEDED = {"dt_random_float": ("dt_random_bits",), "dt_list": ("dt_max",)}
# Operations that change no whole number.
ROUNDS = ("ceil", "floor", "round", "trunc")


def is_operator(call: Call) -> bool:
    """Return whether an operation is written as an operator between its operands.

    A shift is, if it is by a number that is not negative and less than the width.
    """
    match call:
        case Call(operation="shl" | "shr", operands=(first, LiteralNumber(value=number))):
            width = WIDTHS[call.dtype] if isinstance(call.dtype, DType) else 0
            return not isinstance(first, LiteralNumber) and 0 <= number < width
        case Call(operation="shl" | "shr"):
            return False
        case _:
            return call.operation in INFIX


def is_float_element(element: Element) -> bool:
    """Return whether values of the type are floats; the runtime passes only those."""
    return isinstance(element, Named) or is_float(element)


def scan_function(reduction: str) -> str:
    """Return the function by which a scan puts two results together."""
    return SCANNED.get(reduction) or JOIN[reduction][0]


def function(names: tuple[str, str], element: Element) -> str:
    """Return the spelling for floats, or the one for whole numbers."""
    return names[0] if is_float_element(element) else names[1]
