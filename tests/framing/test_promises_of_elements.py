"""`dtpoly verify --init` guesses what elements are, and writes only what the proof needs."""

from pathlib import Path

import pytest

from dtpoly.framing.element_promises import weaker
from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here
from tests.framing.records import FRAME, RecordedKernel, framed, tensor

__all__ = ["call", "here"]

SIZES = ((7, 131, 19), (11, 257, 23), (5, 1031, 29))
GATHER = """\
def k(ids, e, y, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(ids + row)
    at = tl.arange(0, B)
    x = tl.load(e + t * n + at, mask=(at < n){check}, other=0.0)
    tl.store(y + {place} * n + at, x, mask=at < n)
"""


def gathering(check: str = "", place: str = "row") -> RecordedKernel:
    """Return a kernel that loads rows which data name, with its launches."""
    return RecordedKernel(
        GATHER.format(check=check, place=place),
        [
            (
                (r,),
                (
                    tensor(r, dtype="int64"),
                    tensor(v, n),
                    tensor(r, n),
                    n,
                    1 << (n - 1).bit_length(),
                ),
            )
            for r, n, v in SIZES
        ],
        ("B",),
    )


def promises(text: str) -> str:
    """Return the lines of a frame that promise something."""
    return "\n".join(one for one in text.splitlines() if one.startswith("# assume"))


def test_the_range_of_an_index_is_guessed(call: Entry, here: Path) -> None:
    text = framed(call, here, gathering())
    (label,) = [one for one in text.partition("e[")[2].partition("]")[0].split(", ")[:1]]
    assert f"0 <= ids[...] < len({label})" in promises(text)
    assert promises(text).count("ids[...]") == 1
    assert "distinct" not in text
    assert "no launch shows it, because no element is looked at" in " ".join(text.split())
    assert call("verify", FRAME)[0] == 0


def test_what_no_proof_needs_is_not_guessed(call: Entry, here: Path) -> None:
    text = framed(call, here, gathering(check=" & (t < 0) & (t > 0)"))
    assert "ids[...]" not in text
    assert call("verify", FRAME)[0] == 0


@pytest.mark.parametrize(
    ("promise", "less"),
    [
        ("0 <= ids[...] < len(v)", ("0 <= ids[...]", "0 <= ids[...] <= len(v)")),
        ("0 <= ids[...] < 2**30", ("0 <= ids[...]",)),
        ("0 <= ids[...] <= len(v)", ()),
        ("distinct(ids)", ()),
    ],
)
def test_an_index_may_be_an_end_if_that_is_enough(promise: str, less: tuple[str, ...]) -> None:
    assert weaker(promise) == less
