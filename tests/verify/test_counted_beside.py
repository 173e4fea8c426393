"""Numbers that follow the counter of a loop over programs, in steps of their own."""

from pathlib import Path

import pytest

from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here

__all__ = ["call", "here"]

MODULE = """\
import triton
import triton.language as tl


# tensors: x[r, n], out(y[r, n])
# verify: k[(7,)](x, y, len(r), len(n), x.stride(0), y.stride(0), P=7)
# assume: len(r) <= 2**20, len(n) <= 2**20, reach(x) < 2**31, reach(y) < 2**31
# assume: len(r) * len(n) < 2**30
@triton.jit
def k(x, y, r, n, sx, sy, P: tl.constexpr):
    p = tl.program_id(0)
    rows = tl.cdiv(r, 16)
    columns = tl.cdiv(n, 16)
    after = p - P
    before = p
    for tile in tl.range(p, rows * columns, P, flatten=True):
        at = tile // columns * 16 + tl.arange(0, 16)[:, None]
        to = tile % columns * 16 + tl.arange(0, 16)[None, :]
        v = tl.load(x + at * sx + to, mask=(at < r) & (to < n))
        after += P
        at = after // columns * 16 + tl.arange(0, 16)[:, None]
        to = before % columns * 16 + tl.arange(0, 16)[None, :]
        tl.store(y + at * sy + to, v, mask=(at < r) & (to < n))
        before += P
"""
WRONG = {
    "it begins at the program": ("after = p - P", "after = p"),
    "it begins one before": ("after = p - P", "after = p - P - 1"),
    "its step is another one": ("after += P\n", "after += 8\n"),
    "its step is what the loop sets": ("after += P\n", "P2 = P + 0\n        after += P2\n"),
    "it goes on twice": ("after += P\n", "after += P\n        after += P\n"),
    "it goes on in a branch": (
        "after += P\n",
        "if tile > 3:\n            after += P\n",
    ),
    "it goes back": ("after += P\n", "after -= P\n"),
    "it is looked at too early": ("v = tl.load(x +", "v = tl.load(x + after - tile +"),
    "it is looked at too late": ("before += P", "before += P\n        tl.store(y + before, 1.0)"),
    "one that began as the counter is the next one": (
        "before += P",
        "before += P\n        tl.store(y + before * sy, 1.0)",
    ),
    "the mask lets one too many through": (
        "(at < r) & (to < n))\n        before",
        "(at < r) & (to <= n))\n        before",
    ),
    "the promise is left out": ("# assume: len(r) * len(n) < 2**30\n", ""),
    "the promise is too weak": ("len(r) * len(n) < 2**30", "len(r) * len(n) < 2**31"),
}


def test_it_is_the_counter(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, out + err


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_number_is_not_proved(call: Entry, here: Path, change: tuple[str, str]) -> None:
    assert change[0] in MODULE
    (here / "m.py").write_text(MODULE.replace(*change))
    assert call("verify", "--kernel", "m.py::k")[0] != 0
