"""A size that is the sum of two others, or one more than another, is guessed and named."""

from pathlib import Path

import pytest

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

# Rows of a, and behind each of them the row of b.
SIDE_BY_SIDE = """\
def k(a, b, y, n, m, w, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * B + tl.arange(0, B)
    first = tl.load(a + row * n + at, mask=at < n, other=0.0)
    second = tl.load(b + row * m + (at - n), mask=(at >= n) & (at < w), other=0.0)
    tl.store(y + row * w + at, tl.where(at < n, first, second), mask=at < w)
"""
# The length of each part, between two ends.
ENDS = """\
def k(ends, y):
    part = tl.program_id(0)
    low = tl.load(ends + part)
    tl.store(y + part, tl.load(ends + part + 1) - low)
"""
# A row, and one more element behind it.
ONE_MORE = """\
def k(x, y, s, w, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    v = tl.load(x + row * s + at, mask=at < s, other=0.0)
    tl.store(y + row * w + at, v, mask=at < s)
    tl.store(y + row * w + s, tl.sum(v, 0))
"""
SIZES = ((7, 131, 67), (5, 257, 101), (11, 1031, 149))


def side_by_side(more: int) -> RecordedKernel:
    """Return the kernel with launches in which rows of y are so much longer than both others."""
    return RecordedKernel(
        SIDE_BY_SIDE,
        [
            (
                (r, -(-(n + m + more) // 64)),
                (tensor(r, n), tensor(r, m), tensor(r, n + m + more), n, m, n + m + more, 64),
            )
            for r, n, m in SIZES
        ],
        ("B",),
    )


@pytest.mark.parametrize("more", [0, 1])
def test_rows_that_are_put_side_by_side(call: Entry, here: Path, more: int) -> None:
    """With one more element there is no such sum, and the load reaches outside of b."""
    frame = framed(call, here, side_by_side(more))
    code, out, _ = call("verify", FRAME)
    assert code == (1 if more else 0), frame
    told = [line for line in out.splitlines() if "guessed from launches" in line]
    promise = "len(w) == len(n) + len(m)"
    assert (promise in frame) is (more == 0), frame
    assert any(promise in line for line in told) is (more == 0)


def test_a_grid_has_one_program_less_than_there_are_ends(call: Entry, here: Path) -> None:
    given = [((z,), (tensor(z + 1, dtype="int32"), tensor(z + 3))) for z in (5, 12, 33)]
    frame = framed(call, here, RecordedKernel(ENDS, given))
    assert "k[(len(n) - 1,)]" in frame.replace("len(r)", "len(n)"), frame


def test_a_row_and_one_more_element(call: Entry, here: Path) -> None:
    given = [
        ((r,), (tensor(r, n), tensor(r, n + 1), n, n + 1, 1 << (n - 1).bit_length()))
        for r, n, _ in SIZES
    ]
    frame = framed(call, here, RecordedKernel(ONE_MORE, given, ("B",)))
    assert call("verify", FRAME)[0] == 0, frame
