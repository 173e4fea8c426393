"""True and False that a launch passes: a tensor of one bit, unless the parameter is a constant."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import launch
from tests.verify.texts import written

TWICE = written("Func f; In A; Var i; f[i] = A[i] * 2.0;")
KERNEL = """\
import triton
import triton.language as tl

# verify: twice[(cdiv(len(i), 64),)](A, f, len(i), {passed})
# assume: len(i) <= 2**30


@triton.jit
def twice(a, o, n, flag{kind}):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    x = tl.load(a + i, mask=i < n)
{body}
"""
STORE = "tl.store(o + i, x * {times}, mask=i < n)"


def choosing(
    test: str, passed: str = "True", kind: str = "", yes: str = "2.0", no: str = "3.0"
) -> str:
    """Return a kernel that stores one of two products."""
    sides = (STORE.format(times=one) for one in (yes, no))
    body = "    if {}:\n        {}\n    else:\n        {}".format(test, *sides)
    return KERNEL.format(passed=passed, kind=kind, body=body)


def setting(body: str, passed: str = "True", kind: str = "") -> str:
    """Return a kernel that sets something before it stores `y`."""
    return KERNEL.format(
        passed=passed, kind=kind, body=f"{body}\n    tl.store(o + i, y, mask=i < n)"
    )


CONSTANT = ": tl.constexpr"
TYPES = "    if flag:\n        y = x * 2.0\n    else:\n        y = 0.0"
OTHER = "    y = x * 2.0\n    if flag:\n        y = y.to(tl.float16)"
RIGHT = {
    "it is asked": choosing("flag"),
    "it is not so": choosing("flag", "False", yes="3.0", no="2.0"),
    "the opposite": choosing("~flag", yes="3.0", no="2.0"),
    "the opposite of False": choosing("~flag", "False"),
    "the opposite in a mask": setting("    y = tl.where(~flag, x * 3.0, x * 2.0)"),
    "the opposite of a constant, which is never 0": choosing("~flag", kind=CONSTANT),
    "a constant, and another shape": setting(TYPES, kind=CONSTANT),
}
WRONG = {
    "the opposite is taken for true": choosing("~flag"),
    "a sum of bits": choosing("flag + flag == 2"),
    "a sum of bits as a number": setting("    y = x * (flag + flag)"),
    "what becomes of False is no number": choosing("~flag == -1", "False"),
    "the opposite, where it hides a store": setting(
        "    y = x * 2.0\n    tl.store(o + i, y, mask=(i < n) & ~flag)"
    ).replace("    tl.store(o + i, y, mask=i < n)", ""),
    "another shape in a branch that is compiled": setting(TYPES),
    "another type in a branch that is compiled": setting(OTHER),
    "another type in a branch that is not taken": setting(OTHER, "False"),
}
RUN = ("the opposite is taken for true", "a sum of bits", "a sum of bits as a number")


@pytest.mark.parametrize("name", RIGHT)
def test_a_bit_is_read_as_it_is(name: str) -> None:
    assert verify(TWICE, RIGHT[name]).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", WRONG)
def test_a_bit_is_no_constant(name: str) -> None:
    assert verify(TWICE, WRONG[name]).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("name", ["the opposite", "the opposite in a mask"])
def test_what_is_proved_is_right(name: str) -> None:
    launch(TWICE, RIGHT[name], {"i": 70})


@pytest.mark.parametrize("name", RUN)
def test_what_is_not_proved_is_wrong(name: str) -> None:
    with pytest.raises(Exception, match="should be"):
        launch(TWICE, WRONG[name], {"i": 70})
