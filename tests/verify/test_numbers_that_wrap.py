"""Whole numbers that their type does not hold, of constants, sizes, strides and counters."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import is_proved, judged
from tests.verify.texts import text_of, written

TOO_LARGE = "bits do not hold"


def overflow(report: Report) -> str:
    """Return why layer overflow is not proved; nothing if it is."""
    (found,) = (one for one in report.layers if one.name == "overflow")
    return "" if found.verdict is LayerVerdict.PROVED else found.why or str(found.verdict)


# A mask that is true of the exact number, and of the number that is left in the type may be not.
CONSTANTS = {
    "a name": ("s = 65536", "m = m & (s * s > n)"),
    "of one lane": ("s = tl.full((), 65536, tl.int32)", "m = m & (s * s > n)"),
    "of lanes": ("s = tl.full((128,), 65536, tl.int32)", "m = m & (s * s > n)"),
    "a number of its own": ("s = tl.full((128,), 3000000000, tl.int32)", "m = m & (s > 0)"),
    "lanes": ("s = tl.arange(0, 1) + 65536", "m = m & (s * 65536 > n)"),
    "a sum": ("s = 2147483647", "s += n * 0 + 1", "m = m & (s > 0)"),
    "an opposite": ("s = 65536", "m = m & (-s * s < 0)"),
    "the opposite of the least": (
        "s = -2147483647",
        "s = s - 1",
        "m = m & (-s > 0)",
    ),
    "a branch": ("s = 65536", "if s * s > n:", "    m = m & (i >= 0)"),
    "the least of two": ("s = 65536", "m = m & (tl.minimum(s * s, 5) == 5)"),
    "64 bits": ("s = tl.full((128,), 1099511627776, tl.int64)", "m = m & (s * s > 0)"),
    "a size in 64 bits": ("m = m & (tl.cast(n, tl.int64) * 1099511627776 >= 0)",),
    "a lane in 64 bits": ("m = m & (i.to(tl.int64) * 1099511627776 * 1024 >= 0)",),
    "a quotient in 64 bits": (
        "m = m & (tl.cast(n, tl.int64) * 1099511627776 // 1099511627776 == n)",
    ),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_a_number_that_wraps_is_not_proved(case: str) -> None:
    report = judged("X[i]", *CONSTANTS[case], "tl.store(out + i, x, mask=m)")
    assert TOO_LARGE in overflow(report)
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    "lines",
    [
        ("s = 32768", "m = m & (s * 2 > -n)"),
        ("s = tl.full((128,), 65536, tl.int64)", "m = m & (s * s > n)"),
        ("m = m & (tl.cast(n, tl.int64) * 16777216 >= 0)",),
        ("s = 2147483647", "m = m & (s >= n)"),
        ("s = -2147483647", "m = m & (s - 1 < n)"),
    ],
)
def test_a_number_that_fits_is_proved(lines: tuple[str, ...]) -> None:
    assert is_proved(judged("X[i]", *lines, "tl.store(out + i, x, mask=m)"))


def test_a_constant_that_wraps_is_not_the_algorithms() -> None:
    lines = ("c = tl.full((128,), 1048576, tl.int32)", "tl.store(out + i, x + c * c, mask=m)")
    assert overflow(judged("X[i] + 1099511627776", *lines, dtype="i64"))
    wide = ("c = tl.full((128,), 1048576, tl.int64)", "tl.store(out + i, x + c * c, mask=m)")
    assert is_proved(judged("X[i] + 1099511627776", *wide, dtype="i64"))


OPPOSITES = {
    "tl.uint8": ("i32", 252),
    "tl.uint16": ("i32", 65532),
    "tl.uint32": ("i64", 4294967292),
    "tl.int8": ("i32", -4),
    "tl.int32": ("i64", -4),
}


@pytest.mark.parametrize("shape", ["()", "(128,)"])
@pytest.mark.parametrize("kind", OPPOSITES)
def test_the_opposite_of_a_constant_is_a_number_of_its_type(kind: str, shape: str) -> None:
    """That of 4 in 8 bits without a sign is 252, whatever it is brought to afterwards."""
    dtype, right = OPPOSITES[kind]
    lines = (
        f"c = (-tl.full({shape}, 4, {kind})).to(tl.int64)",
        "tl.store(out + i, x + c, mask=m)",
    )
    assert is_proved(judged(f"X[i] + ({right})", *lines, dtype=dtype))
    assert not is_proved(judged(f"X[i] + ({right + 8})", *lines, dtype=dtype))
    if right > 0:
        assert not is_proved(judged("X[i] - 4", *lines, dtype=dtype))


@pytest.mark.parametrize(
    ("value", "added"),
    [
        ("+ cast(X[i] > 3, i64)", "(x > 3)"),
        ("+ 1", "tl.full((), 1, tl.int1)"),
        ("+ cast(i < 5, i64)", "(i < 5)"),
    ],
)
def test_a_truth_that_is_added_to_a_large_number_is_not_refuted(value: str, added: str) -> None:
    """Examples have elements of 64 bits, which floats do not hold exactly."""
    line = f"tl.store(out + i, x + {added}, mask=m)"
    assert judged(f"X[i] {value}", line, dtype="i64").verdict is not LayerVerdict.REFUTED
    assert judged(f"X[i] {value} + 2", line, dtype="i64").verdict is LayerVerdict.REFUTED


@pytest.mark.parametrize(
    ("value", "quotient"),
    [("- 2", "// 3"), ("- 3", "// 3"), ("- 2", "% 3"), ("+ 1", "% 3")],
)
def test_a_quotient_of_a_negative_number_is_neither_proved_nor_refuted(
    value: str, quotient: str
) -> None:
    """Triton rounds it towards 0, and it is read as rounded down: so the first may be right."""
    line = f"c = tl.full((), -8, tl.int32) {quotient}"
    report = judged(f"X[i] {value}", line, "tl.store(out + i, x + c, mask=m)", dtype="i32")
    assert report.verdict is LayerVerdict.UNKNOWN


def test_the_opposite_of_a_constant_in_a_quotient() -> None:
    """A function of the file, in which -4 and 252 are other divisors."""
    program = written("Func f; In A: i32; Var x; f[x] = A[x] // -4; f.block(x:16); f.compile();")
    text = text_of(program)
    right = "(-tl.full((), 4, tl.int64)).to(tl.int32)"
    assert text.count(right) == 1
    assert verify(program, text).verdict is LayerVerdict.PROVED
    for kind in ("tl.uint8", "tl.uint16"):
        wrong = text.replace(right, right.replace("tl.int64", kind))
        assert verify(program, wrong).verdict is not LayerVerdict.PROVED


ELEMENTS = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 128),)](X, f, {given})
# assume: {promise}


@triton.jit
def k(X, out, {parameters}):
    {lines}
    m = {mask}
    tl.store(out + i, tl.load(X + i, mask=m), mask=m)
"""
BACKWARDS = "i = (tl.num_programs(0) - 1 - tl.program_id(0)) * 128 + tl.arange(0, 128)"


def of_elements(
    lines: str,
    promise: str = "finite",
    given: str = "len(i)",
    parameters: str = "n",
    mask: str = "i < n",
) -> Report:
    """Return what is proved of f[i] = X[i]; of an index i that lines compute."""
    program = written("Func f; In X; Var i; f[i] = X[i]; f.compile();")
    lines = lines.replace("\n", "\n    ")
    text = ELEMENTS.format(
        lines=lines, promise=promise, given=given, parameters=parameters, mask=mask
    )
    return verify(program, text)


SIZE = "i = tl.program_id(0) * 128 + tl.arange(0, 128)"


@pytest.mark.parametrize(
    ("given", "parameters"),
    [
        ("len(i), len(i) * 4", "n, other"),
        ("len(i), len(i) + 1073741824", "n, other"),
        ("len(i), X.shape[0] * 2", "n, other"),
        ("len(i), len(i) * 4, len(i) * 8", "n, other, third"),
    ],
)
def test_a_number_that_is_not_used_says_nothing_of_another(given: str, parameters: str) -> None:
    promise = "len(i) <= 2**31 - 128"
    report = of_elements(SIZE, promise, given, parameters, "(i < n) & (n * 2 >= n)")
    assert TOO_LARGE in overflow(report)
    assert is_proved(of_elements(SIZE, promise, given, parameters))


@pytest.mark.parametrize(
    "lines",
    [
        BACKWARDS,
        "p = tl.num_programs(0)\ni = (p - 1 - tl.program_id(0)) * 128 + tl.arange(0, 128)",
        "p = tl.num_programs(0) - 1\np = p - tl.program_id(0)\ni = p * 128 + tl.arange(0, 128)",
        "p = tl.maximum(tl.num_programs(0), 1)\n"
        "i = (p - 1 - tl.program_id(0)) * 128 + tl.arange(0, 128)",
        "p = tl.cast((tl.num_programs(0) - 1 - tl.program_id(0)) * 128, tl.int64)\n"
        "i = p + tl.arange(0, 128)",
    ],
)
def test_the_number_of_programs_has_32_bits(lines: str) -> None:
    """However many the size has that the grid is computed from."""
    assert TOO_LARGE in overflow(of_elements(lines))
    assert is_proved(of_elements(lines, "len(i) <= 2**30"))


def test_the_number_of_programs_may_be_widened() -> None:
    first = "p = (tl.num_programs(0) - 1 - tl.program_id(0)).to(tl.int64)"
    assert is_proved(of_elements(f"{first}\ni = p * 128 + tl.arange(0, 128)"))


ROWS = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](X, f, X.stride(0), len(j))
# assume: reach(X) < 2**31{more}


@triton.jit
def k(X, out, stride, n):
    row = tl.program_id(0)
    total = 0.0
    for j in {over}:
        total += tl.load(X + row * stride + j)
        {rest}
    tl.store(out + row, total)
"""
PAIRS = "total += tl.load(X + row * stride + j + 1, mask=j + 1 < n, other=0.0)"


def of_rows(over: str, rest: str, more: str = "") -> Report:
    """Return what is proved of a sum of rows, in a loop."""
    program = written("Func f; In X; Var i; RVar j; f[i] = rsum(X[i, j], j); f.compile();")
    return verify(program, ROWS.format(over=over, rest=rest, more=more))


@pytest.mark.parametrize(
    "over",
    [
        "range(0, n, 2)",
        "tl.range(0, n, 2)",
        "tl.range(0, n, 2, num_stages=2)",
        "tl.range(0, n, 2, loop_unroll_factor=4)",
        "range(0, n + 0, 2)",
    ],
)
def test_the_counter_after_the_last_iteration_must_fit(over: str) -> None:
    """If it wraps, the loop goes on, from below 0."""
    assert TOO_LARGE in overflow(of_rows(over, PAIRS))
    assert is_proved(of_rows(over, PAIRS, ", len(j) <= 2**31 - 2"))
    assert is_proved(of_rows(over, PAIRS, ", len(j) <= 2**30"))


def test_a_counter_in_steps_of_one_fits_where_the_end_does() -> None:
    assert is_proved(of_rows("range(0, n)", "pass"))


def test_a_counter_that_goes_by_a_multiple_fits() -> None:
    assert is_proved(of_rows("range(0, n, 2)", PAIRS, ", len(j) % 2 == 0, len(j) <= 2**31 - 2"))


COPY = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](X, f, X.stride(0), f.stride(0), len(i), len(j), B=next_power_of_2(len(j)))
# assume: reach(X) < 2**31, reach(f) < 2**31, len(i) <= 2**20


@triton.jit
def part(a, b: tl.constexpr):
    return a // b


@triton.jit
def k(X, out, sx, so, rows, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    m = j < n
    {lines}
    tl.store(out + {at} + j, tl.load(X + r * sx + j, mask=m), mask=m)
"""


def copied(at: str, *lines: str) -> Report:
    """Return what is proved of a copy whose rows are stored at an offset."""
    program = written("Func f; In X; Var i, j; f[i, j] = X[i, j]; f.compile();")
    return verify(program, COPY.format(at=at, lines="\n    ".join(lines or ("pass",))))


@pytest.mark.parametrize(
    ("at", "lines"),
    [
        ("r * (so * 2 // 2)", ()),
        ("r * so + so * 2 % 1", ()),
        ("r * part(so * 4, 4)", ()),
        ("r * (q // 4)", ("q = so * 4",)),
        ("r * (q // t)", ("q, t = so * 4, 4",)),
        ("r * (q // 4)", ("q = so", "q *= 4")),
        ("(tl.cast(r * 4 * so, tl.int64) - tl.cast(r * 3 * so, tl.int64))", ()),
        ("((r * 4 * so + tl.full((), 0, tl.int64)) - r * 3 * so)", ()),
        ("tl.cast(r * 4 * so, tl.int64) // 4", ()),
        ("tl.cdiv(r * so * 4, 4)", ()),
        ("r * (q // 4)", ("q = so * 4", "for _ in range(0, 2):", "    q = q + 0")),
    ],
)
def test_what_is_no_part_of_an_address_may_not_wrap(at: str, lines: tuple[str, ...]) -> None:
    """The reach that is promised bounds what is added up to an address, and nothing else."""
    assert copied(at, *lines).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    "at",
    [
        "r * so",
        "tl.cast(r * so, tl.int64)",
        "tl.cast(r, tl.int64) * so",
        "(r * so + 0)",
    ],
)
def test_a_part_of_an_address_may(at: str) -> None:
    assert is_proved(copied(at))


VALUE = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](A, f, len(i), len(j), B=next_power_of_2(len(j)))
# assume: reach(A) < 2**31, len(j) <= 2**20


@triton.jit
def k(A, out, rows, n, B: tl.constexpr):
    r = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.sum(tl.load(A + r * n + j, mask=j < n, other=0.0), 0)
    tl.store(out + r, {value})
"""


def of_value(value: str) -> Report:
    program = written(
        "Func f; In A; Var i; RVar j; f[i] = rsum(A[i, j], j) + len(i) * len(j) * 4; f.compile();"
    )
    return verify(program, VALUE.format(value=value))


@pytest.mark.parametrize(
    "value",
    [
        "x + rows * n * 4",
        "x + n * rows * 4",
        "x + 4 * (rows * n)",
        "x + tl.cast(rows * n * 4, tl.float32)",
        "x + tl.full((), rows * n * 4, tl.float32)",
        "x + tl.where(rows > 0, rows * n * 4, 0)",
        "tl.fma(x, 1.0, tl.cast(rows * n * 4, tl.float32))",
        "x + tl.cast(rows * n * 4, tl.int64)",
    ],
)
def test_a_product_that_is_a_value_may_not_wrap(value: str) -> None:
    assert of_value(value).verdict is not LayerVerdict.PROVED


def test_a_product_of_64_bits_is_a_value() -> None:
    assert is_proved(of_value("x + tl.cast(rows, tl.int64) * n * 4"))


DESCRIBED = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), {tile}),)](X, f, len(i), len(j), X.stride(0))
# assume: len(i) <= 2**20{more}


@triton.jit
def k(X, out, rows, n, stride):
    blocks = tl.make_tensor_descriptor(X, [rows, {size}], [stride, 1], [{tile}, {block}])
    i = tl.program_id(0) * {tile}
    first = tl.arange(0, {block})[None, :] == 0
    x = tl.sum(tl.where(first, blocks.load([i, 0]), 0.0), 1)
    at = i + tl.arange(0, {tile})
    tl.store(out + at, x, mask=at < rows)
"""


def described(more: str = "", size: str = "n", block: int = 8, tile: int = 16) -> Report:
    program: Program = written(
        "Func f, g; In X; Var i, j; f[i] = X[i, 0]; g[i, j] = X[i, j]; f.compile();"
    )
    return verify(program, DESCRIBED.format(more=more, size=size, block=block, tile=tile))


@pytest.mark.parametrize(
    ("more", "size"),
    [
        ("", "n"),
        (", len(j) < 2**33", "n"),
        (", len(j) < 2**31 + 1", "n"),
        ("", "tl.cast(n, tl.int64)"),
    ],
)
def test_a_descriptor_has_sizes_of_32_bits(more: str, size: str) -> None:
    assert TOO_LARGE in overflow(described(more, size))


@pytest.mark.parametrize("more", [", len(j) < 2**31", ", len(j) <= 2**30"])
def test_a_descriptor_of_such_sizes_is_proved(more: str) -> None:
    assert is_proved(described(more))


@pytest.mark.parametrize("block", [1, 2])
def test_a_descriptor_has_rows_of_16_bytes(block: int) -> None:
    report = described(", len(j) < 2**31", block=block)
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "less than 16 bytes" in report.layers[0].why
    assert is_proved(described(", len(j) < 2**31", block=4))


@pytest.mark.parametrize("tile", [2, 4])
def test_a_descriptor_has_blocks_of_128_bytes(tile: int) -> None:
    """Blocks that are loaded ahead lie one behind the other; each begins at such a multiple."""
    report = described(", len(j) < 2**31", block=4, tile=tile)
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "less than 128 bytes" in report.layers[0].why
    assert is_proved(described(", len(j) < 2**31", block=4, tile=8))
