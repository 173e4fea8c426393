"""`dtpoly verify --init` guesses parts of results, orders of sizes, and axes as they are passed."""

from pathlib import Path

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

SIZES = ((7, 131), (11, 257), (5, 1031))
ABOVE = RecordedKernel(
    """\
def k(x, y, B: tl.constexpr):
    row, col = tl.program_id(0), tl.program_id(1)
    if col > row:
        return
    at = tl.arange(0, B)
    n = tl.num_programs(1)
    tl.store(y + row * n + col, tl.sum(tl.load(x + row * B + at), axis=0))
""",
    [((r, c), (tensor(r, 16), tensor(r, c), 16)) for r, c in SIZES],
    ("B",),
)
PADDED = RecordedKernel(
    """\
def k(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    tl.store(x + at, 0.0, mask=at < n)
""",
    [((-(-long // 64),), (tensor(long), tensor(n), n, 64)) for n, long in SIZES],
    ("B",),
)
BYTES = RecordedKernel(
    """\
def k(w, t, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    code = tl.load(w + at, mask=at < n, other=0).to(tl.int32) & 255
    tl.store(y + at, tl.load(t + code), mask=at < n)
""",
    [((-(-n // 64),), (tensor(n, dtype="uint8"), tensor(256), tensor(n), n, 64)) for _, n in SIZES],
    ("B",),
)


def test_that_parts_stay_as_they_were_is_guessed_last(call: Entry, here: Path) -> None:
    text = framed(call, here, ABOVE)
    assert "# guessed: partly(y): callers need only those elements" in text
    code, out, _ = call("verify", FRAME)
    assert code == 0
    assert "PROVED*" in out


def test_where_all_is_stored_no_part_is_guessed(call: Entry, here: Path) -> None:
    whole = ABOVE.text.replace("    if col > row:\n        return\n", "")
    text = framed(call, here, RecordedKernel(whole, ABOVE.launches, ABOVE.constants))
    assert "partly" not in text


def test_of_bytes_nothing_is_guessed(call: Entry, here: Path) -> None:
    text = framed(call, here, BYTES)
    assert "distinct" not in text
    assert "ascending" not in text
    assert call("verify", FRAME)[0] == 0


def test_that_one_size_is_never_above_another_is_guessed(call: Entry, here: Path) -> None:
    text = framed(call, here, PADDED)
    assert "<= len(" in text
