"""Arguments of Triton that have names are those at their places; other orders are refused."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from dtpoly.verify.triton.named_arguments import PARAMETERS
from tests.cli.conftest import Entry, call
from tests.cli.test_compile_verified import here

__all__ = ["call", "here"]

MODULE = """\
import triton
import triton.language as tl


# tensors: x[r, n], out(y[r, n]), out(z[r])
# verify: k[(len(r),)](x, y, z, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096, reach(x) < 2**31, reach(y) < 2**31
@triton.jit
def k(x, y, z, n, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    at = tl.arange(start=0, end=BLOCK)
    there = at < n
    v = tl.load(pointer=x + row * n + at, mask=there, other=0.0)
    v = tl.where(condition=there, x=tl.exp(x=v), y=0.0)
    tl.store(pointer=y + row * n + at, value=v, mask=there)
    tl.store(z + row, value=tl.sum(input=v, axis=0))
"""
WRONG = {
    "a mask that lets one too many through": ("mask=there)", "mask=at <= n)"),
    "an address that is one too far": ("pointer=y + row * n + at", "pointer=y + row * n + at + 1"),
    "another order, in which Python evaluates": (
        "pointer=y + row * n + at, value=v",
        "value=v, pointer=y + row * n + at",
    ),
    "a name that no parameter has": ("input=v", "x=v"),
    "what is given twice": ("tl.store(z + row, value", "tl.store(z + row, pointer=z, value"),
}


def test_names_are_places(call: Entry, here: Path) -> None:
    (here / "m.py").write_text(MODULE)
    code, out, err = call("verify", "--kernel", "m.py::k")
    assert code == 0, out + err


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_not_proved(call: Entry, here: Path, change: tuple[str, str]) -> None:
    assert change[0] in MODULE
    (here / "m.py").write_text(MODULE.replace(*change))
    assert call("verify", "--kernel", "m.py::k")[0] != 0


@pytest.mark.parametrize("word", PARAMETERS)
def test_the_names_are_those_of_triton(word: str) -> None:
    function = getattr(import_module("triton.language"), word)
    found = tuple(inspect.signature(getattr(function, "fn", function)).parameters)
    assert found[: len(PARAMETERS[word])] == PARAMETERS[word]
