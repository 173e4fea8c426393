"""`dtpoly verify --init` knows numbers of lanes from the text, and counts blocks."""

from pathlib import Path

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

HEADS = ((7, 64), (11, 32), (5, 128))
ROWS = RecordedKernel(
    """\
def k(x, y, N: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.program_id(0) * N
    tl.store(y + row + at, tl.load(x + row + at, mask=at < N), mask=at < N)
""",
    [((r,), (tensor(r, n), tensor(r, n), n, n)) for r, n in HEADS],
    ("N", "B"),
)
SIZES = ((700, 131), (1100, 257), (500, 1031))
TURNS = RecordedKernel(
    """\
def k(x, y, r, n, stride_x, stride_y, P: tl.constexpr):
    p = tl.program_id(0)
    rows = tl.cdiv(r, 16)
    columns = tl.cdiv(n, 16)
    for tile in range(p, rows * columns, P):
        at = tile // columns * 16 + tl.arange(0, 16)[:, None]
        to = tile % columns * 16 + tl.arange(0, 16)[None, :]
        v = tl.load(x + at * stride_x + to, mask=(at < r) & (to < n))
        tl.store(y + at * stride_y + to, v, mask=(at < r) & (to < n))
""",
    [((7,), (tensor(r, n), tensor(r, n), r, n, n, n, 7)) for r, n in SIZES],
    ("P",),
)


def test_a_constant_that_is_no_number_of_lanes_is_a_size(call: Entry, here: Path) -> None:
    text = framed(call, here, ROWS)
    assert "N=len(n), B=next_power_of_2(len(n))" in text
    assert call("verify", FRAME)[0] == 0


def test_a_number_of_blocks_needs_a_promise_about_a_product(call: Entry, here: Path) -> None:
    text = framed(call, here, TURNS)
    assert "len(r) * len(n) < 2**30" in text
    assert call("verify", FRAME)[0] == 0


def test_where_no_blocks_are_counted_nothing_is_said_of_a_product(call: Entry, here: Path) -> None:
    assert " * len(" not in framed(call, here, ROWS).partition("# assume:")[2]


UNREAD = RecordedKernel(
    """\
def k(x, y, b: tl.constexpr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
""",
    [((-(-n // 64),), (tensor(n), tensor(n), b, n, 64)) for b, n in ((19, 131), (3, 257), (8, 67))],
    ("b", "B"),
)
RAGGED = RecordedKernel(
    """\
def k(starts, x, y, B: tl.constexpr):
    row = tl.program_id(1)
    at = tl.program_id(0) * B + tl.arange(0, B)
    start, end = tl.load(starts + row), tl.load(starts + row + 1)
    v = tl.load(x + start + at, mask=start + at < end)
    tl.store(y + start + at, v, mask=start + at < end)
""",
    [
        ((-(-n // 64), rows), (tensor(rows + 1, dtype="int32"), tensor(n), tensor(n), 64))
        for rows, n in ((7, 131), (11, 257), (5, 1031))
    ],
    ("B",),
)


def test_a_constant_that_is_never_read_does_not_part_launches(call: Entry, here: Path) -> None:
    framed(call, here, UNREAD)
    assert not (here / "frame_2.dt").exists()
    assert call("verify", FRAME)[0] == 0


def test_numbers_that_differ_are_as_many_as_there_are_sizes(call: Entry, here: Path) -> None:
    text = framed(call, here, RAGGED)
    assert "ascending(starts)" in text
    assert "distinct" not in text
    code, out, _ = call("verify", FRAME)
    assert code == 0
    assert "PROVED*" in out
