"""`dtpoly verify --init`: heads, strides by their places, padded sizes, and rows that differ."""

from pathlib import Path

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

SIZES = ((3, 5, 67, 64), (5, 7, 131, 128), (7, 2, 41, 32))


def strides(*shape: int) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor."""
    return tensor(*shape).strides


# Heads without a mask, and strides whose names say nothing.
HEADS = RecordedKernel(
    """\
def k(x, ids, y, xa, xb, xc, xd, ia, ib, ya, yb, yc, yd, H, D: tl.constexpr):
    b = tl.program_id(0) // H
    h = tl.program_id(0) % H
    s = tl.program_id(1)
    d = tl.arange(0, D)
    i = tl.load(ids + b * ia + s * ib).to(tl.int64)
    v = tl.load(x + b * xa + h * xb + i * xc + d * xd, mask=(i <= s) & (d >= 0), other=0.0)
    tl.store(y + b * ya + h * yb + s * yc + d * yd, v)
""",
    [
        (
            (b * h, s),
            (
                tensor(b, h, s, d),
                tensor(b, s, dtype="int32"),
                tensor(b, h, s, d),
                *strides(b, h, s, d),
                *strides(b, s),
                *strides(b, h, s, d),
                h,
                d,
            ),
        )
        for b, h, s, d in SIZES
    ],
    ("D",),
)
# A buffer that is padded to whole blocks.
PADDED = RecordedKernel(
    """\
def k(x, y, n, m, B: tl.constexpr):
    r = tl.program_id(0)
    at = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(y + r * m + at, tl.load(x + r * n + at, mask=at < n, other=0.0))
""",
    [
        ((r, -(-n // 16)), (tensor(r, n), tensor(r, -(-n // 64) * 64), n, -(-n // 64) * 64, 16))
        for r, n in ((7, 131), (11, 257), (5, 1031))
    ],
    ("B",),
)
# Each row is put into another order.
PERMUTED = RecordedKernel(
    """\
def k(x, order, y, S: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0)
    at = tl.program_id(1) * B + tl.arange(0, B)
    to = tl.load(order + r * S + at, mask=at < S, other=0)
    tl.store(y + r * S + to, tl.load(x + r * S + at, mask=at < S), mask=at < S)
""",
    [
        ((r, -(-n // 32)), (tensor(r, n), tensor(r, n, dtype="int32"), tensor(r, n), n, 32))
        for r, n in ((7, 131), (11, 257), (5, 1031))
    ],
    ("S", "B"),
)


def joined(text: str) -> str:
    """Return the lines of a frame without the signs of comments, in one line."""
    return " ".join(line.lstrip("# ") for line in text.splitlines())


def test_heads_have_a_power_of_two_of_elements_and_strides_of_their_tensors(
    call: Entry, here: Path
) -> None:
    text = framed(call, here, HEADS)
    assert call("verify", FRAME)[0] == 0
    (label,) = {one.split(", ")[3] for one in (text.partition("x[")[2].partition("]")[0],)}
    assert f"len({label}) == next_power_of_2(len({label}))" in text
    assert f"D=len({label})" in text
    launch = joined(text).partition("verify: ")[2]
    assert "x.stride(0), x.stride(1), x.stride(2)" in launch
    assert "y.stride(0), y.stride(1), y.stride(2)" in launch
    assert "0 <= ids[...]" in text
    assert "0 <= ids[...] <" not in text


def test_a_padded_size_is_one_that_is_rounded_up(call: Entry, here: Path) -> None:
    text = framed(call, here, PADDED)
    assert call("verify", FRAME)[0] == 0
    assert "len(m) == 64 * cdiv(len(n), 64)" in joined(text)
    assert "partly(y)" in text


def test_the_elements_of_a_row_differ_and_not_all(call: Entry, here: Path) -> None:
    text = framed(call, here, PERMUTED)
    assert call("verify", FRAME)[0] == 0
    assert ", distinct(order, " in joined(text) or ": distinct(order, " in joined(text)
    assert "distinct(order)" not in text
