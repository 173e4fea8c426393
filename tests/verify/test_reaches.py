"""Numbers of 32 bits beside a promised reach: it says only of addresses that they fit.

A number that may become a part of an address may wrap where the address is not used. Where it is
compared, divided or stored as well, or is above the address, it must fit by itself.
"""

import pytest

from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.test_data_named import proof_of_text
from tests.verify.texts import written

COPY = written("Func Y; In X: f32; Var r, n; Y[r, n] = X[r, n]; Y.compile();")
HEAD = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(n) + 8, 16), len(r))](X, Y, len(n))
# assume: reach(X) < 2**31, reach(Y) < 2**31, len(n) <= {most}


@triton.jit
def k(X, Y, n):
    r = tl.program_id(1)
    o = tl.program_id(0) * 16 + tl.arange(0, 16)
"""
ROW = "q = r * n + o"
STORE = "tl.store(Y + q, tl.load(X + q, mask=m), mask=m)"
SHORT = "2**30"
LONG = "2**31 - 100"
# With a row of more than 2^30 elements, or of nearly so many, each of these is wrong.
WRONG = {
    "compared": (LONG, "m = o * 2 < n * 2", ROW, STORE),
    "compared sums": (LONG, "m = (o < n) & (o + 1000 < n + 1000)", ROW, STORE),
    "compared with itself": (LONG, "m = (o < n) & (o + o >= o)", ROW, STORE),
    "divided": (LONG, "m = o < (n + n) // 2", ROW, STORE),
    "the larger one": (LONG, "m = (o < n) & (tl.maximum(n * 2, 0) > o)", ROW, STORE),
    "in 64 bits": (LONG, "m = (o < n) & ((o * 2).to(tl.int64) >= 0)", ROW, STORE),
    "a truth": (LONG, "m = (o < n) & (o * 2 >= 0)", ROW, STORE),
    "a bound": (
        LONG,
        "m = o < n",
        ROW,
        f"for i in range(n + 100, n + 101):\n        {STORE}",
    ),
    "a branch": (LONG, "m = o < n", ROW, f"if n + n + 2 > n:\n        {STORE}"),
    "above its address": (
        SHORT,
        "m = (o >= 8) & (o < n + 8)",
        "q = tl.cast(r * n + o, tl.int64) - 8",
        STORE,
    ),
}
RIGHT = {
    "as it is": (SHORT, "m = o < n", ROW, STORE),
    "of a long row": (LONG, "m = o < n", ROW, STORE),
    "in 64 bits": (SHORT, "m = o < n", "q = tl.cast(r * n, tl.int64) + o", STORE),
    "what wraps and comes back": (LONG, "m = (o < n) & (n - o * 2 <= n)", ROW, STORE),
    "from 64 bits": (
        SHORT,
        "m = (o >= 8) & (o < n + 8)",
        "q = tl.cast(r * n, tl.int64) + o - 8",
        STORE,
    ),
}


def judged(most: str, *lines: str) -> Report:
    body = "".join(f"    {line}\n" for line in lines)
    return verify(COPY, HEAD.format(most=most) + body)


@pytest.mark.parametrize("case", WRONG)
def test_a_number_that_shows_must_fit(case: str) -> None:
    (layer,) = (one for one in judged(*WRONG[case]).layers if one.name == "overflow")
    assert layer.verdict in (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN)


@pytest.mark.parametrize("case", RIGHT)
def test_a_part_of_an_address_may_wrap(case: str) -> None:
    assert judged(*RIGHT[case]).verdict is LayerVerdict.PROVED


STORED = """\
import triton
import triton.language as tl

# verify: k[(len(z),)](X, f, g, len(x), len(k), B=next_power_of_2(len(k)))
# assume: reach(X) < 2**31, reach(g) < 2**31, len(k) <= 2**20, len(x) <= len(z), len(z) <= 2**30


@triton.jit
def k(X, f, g, R, n, B: tl.constexpr):
    p = tl.program_id(0)
    q = {row}
    tl.store(f + p, q)
    o = tl.arange(0, B)
    m = (o < n) & (p < R)
    tl.store(g + q + o, tl.load(X + q + o, mask=m), mask=m)
"""


@pytest.mark.parametrize(
    ("row", "is_right"),
    [("p.to(tl.int64) * n", True), ("tl.cast(p * n, tl.int64)", False)],
)
def test_a_part_that_is_stored_must_fit(row: str, is_right: bool) -> None:
    """The last programs load nothing, and store a product that wrapped."""
    program = written(
        "Func f: i64, g: f32; In X: f32; Var z, x, k;"
        "f[z] = z * len(k); g[x, k] = X[x, k]; f.compile(g);"
    )
    report = verify(program, STORED.format(row=row))
    assert (report.verdict is LayerVerdict.PROVED) == is_right


BYTES = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 128),)](X, f, len(i))
# assume: len(i) <= 2**30


@triton.jit
def k(X, f, n):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    x = tl.load(X + i, mask=i < n, other=0)
    {line}
    tl.store(f + i, x, mask=i < n)
"""


@pytest.mark.parametrize(
    ("line", "is_right"),
    [
        ("y = x + 127", True),
        ("y = x + 128", False),
        ("y = x // 200", False),
        ("y = x & 255", False),
        ("y = x == 255", False),
        ("y = x >= -129", False),
        ("y = tl.where(i < 5, x, 128)", False),
    ],
)
def test_triton_takes_no_written_number_that_the_type_does_not_hold(
    line: str, is_right: bool
) -> None:
    program = written("Func f; In X: i8; Var i; f[i] = X[i]; f.compile();")
    report = verify(program, BYTES.format(line=line))
    assert (report.verdict is LayerVerdict.PROVED) == is_right


COUNTED = """\
import triton
import triton.language as tl

# verify: k[(any,)](X, Y, len(r), len(n), B=next_power_of_2(len(n)))
# assume: reach(X) < 2**31, reach(Y) < 2**31, len(n) <= 2**20{more}


@triton.jit
def k(X, Y, r, n, B: tl.constexpr):
    o = tl.arange(0, B)
    for i in range({loop}):
        tl.store(Y + i * n + o, tl.load(X + i * n + o, mask=o < n), mask=o < n)
"""
PROGRAMS = "tl.program_id(0), r, tl.num_programs(0)"


@pytest.mark.parametrize(
    ("more", "is_right"), [(", len(r) <= 2**30", True), ("", False), (", len(r) < 2**31", False)]
)
def test_a_counter_beyond_its_end_must_fit(more: str, is_right: bool) -> None:
    report = verify(COPY, COUNTED.format(more=more, loop=PROGRAMS))
    assert (report.verdict is LayerVerdict.PROVED) == is_right


GATHERED = """\
import triton
import triton.language as tl

# tensors: T[r].i32, E[v, n], out(Y[r, n])
# verify: k[(len(r),)](T, E, Y, len(v), len(n), B=next_power_of_2(len(n)))
# assume: reach(E) < 2**31, reach(Y) < 2**31, len(n) <= 2**20, len(v) <= 2**29, 0 <= T[...]


@triton.jit
def k(T, E, Y, v, n, B: tl.constexpr):
    p = tl.program_id(0)
    o = tl.arange(0, B)
    t = tl.load(T + p)
    m = (o < n) & ({mask})
    tl.store(Y + p * n + o, tl.load(E + ({place}), mask=m), mask=o < n)
"""


@pytest.mark.parametrize(
    ("mask", "place", "is_right"),
    [
        ("t < v", "t * n + o", True),
        ("t < v", "tl.cast(t * n, tl.int64) + o", True),
        ("t < v", "tl.cast(t + 1000, tl.int64) * n - 1000 * tl.cast(n, tl.int64) + o", True),
        ("t + 1000 < v + 1000", "t * n + o", False),
        ("t * 2 < v * 2", "t * n + o", False),
        ("(t + 5) // 2 * 2 < v", "t * n + o", False),
        ("tl.cast(t + 1000, tl.int64) - 1000 < v", "t * n + o", False),
        ("t < v", "tl.cast(t * n + o + 7, tl.int64) - 7", False),
        ("t < v", "tl.cast((t + 1000) * n, tl.int64) - 1000 * tl.cast(n, tl.int64) + o", False),
    ],
)
def test_data_that_show_must_fit(mask: str, place: str, is_right: bool) -> None:
    """A number that was loaded may be 2^31 - 1, of which the sum with 1000 is below 0."""
    report = proof_of_text(GATHERED.format(mask=mask, place=place))
    assert (report.verdict is LayerVerdict.PROVED) == is_right


# Two tensors of which a call passes no strides: their extents are at most 2^31.
WHOLE = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(r), 16), len(n))](X, Y, len(r), len(n){strides})
# assume: reach(X) < 2**31, reach(Y) < 2**31


@triton.jit
def k(X, Y, r, n, s=1):
    o = tl.program_id(0) * 16 + tl.arange(0, 16)
    m = {mask}
    q = o * n + tl.program_id(1)
    tl.store(Y + q, tl.load(X + {load}, mask=m), mask=m)
"""


@pytest.mark.parametrize(
    ("mask", "strides", "load", "wanted"),
    [
        ("o < r", "", "q", LayerVerdict.PROVED),
        ("o + 16 < r + 16", "", "q", LayerVerdict.REFUTED),
        # A stride that is passed may be 0. But the strides of Y are those of a contiguous tensor.
        ("o < r", ", X.stride(0)", "o * s + tl.program_id(1)", LayerVerdict.PROVED),
    ],
)
def test_an_extent_is_below_the_reach(
    mask: str, strides: str, load: str, wanted: LayerVerdict
) -> None:
    text = WHOLE.format(mask=mask, strides=strides, load=load)
    assert verify(COPY, text).verdict is wanted
