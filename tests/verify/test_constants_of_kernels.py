"""Constants that a kernel names, and branches on constants: only one side is compiled and read."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.kernels_by_hand import HEAD, LOAD, START, judged, program
from tests.verify.texts import written

SCALED = written("Func f; In X: f32; SIn s: f32; Var i; f[i] = X[i] * s; f.compile();")
STORE = "tl.store(out + i, x * 2, mask=m)"
NAMED = {
    "a number": (("TWO: tl.constexpr = 4 // 2", "tl.store(out + i, x * TWO, mask=m)"), "PROVED"),
    "another number": (
        ("TWO: tl.constexpr = 6 // 2", "tl.store(out + i, x * TWO, mask=m)"),
        "REFUTED",
    ),
    "the shape of a tile": (
        ("S: tl.constexpr = 64 * 2", "z = tl.zeros((S,), tl.float32)", STORE),
        "PROVED",
    ),
    "a truth": (
        (
            "YES: tl.constexpr = 4 != 5",
            "if YES:",
            "    x = x * 2",
            "tl.store(out + i, x, mask=m)",
        ),
        "PROVED",
    ),
    # Triton refuses these, or what it makes of them is not read.
    "a name that is set": (("T = 2", "T: tl.constexpr = 2", STORE), "UNKNOWN"),
    "a name that is set twice": (
        ("T: tl.constexpr = 2", "T: tl.constexpr = 2", STORE),
        "UNKNOWN",
    ),
    "a size": (("T: tl.constexpr = n", STORE), "UNKNOWN"),
    "data": (("T: tl.constexpr = x", STORE), "UNKNOWN"),
    "a name that is no constant": (("T = 2", "U: tl.constexpr = T", STORE), "UNKNOWN"),
}
WORDS = {
    "in a branch that is left out": (("if False:", "    x = tl.flip(x)", STORE), "PROVED"),
    "in a choice that is left out": (("y = tl.flip(x) if False else x", STORE), "PROVED"),
    "in the branch that is compiled": (("if True:", "    x = tl.flip(x)", STORE), "UNKNOWN"),
    "in a branch on a size": (("if n > 5:", "    y = tl.flip(x)", STORE), "UNKNOWN"),
    "as a type": (("x = x.to(tl.float8e4b8)", STORE), "UNKNOWN"),
    "alone": (("tl.device_print('one')", STORE), "UNKNOWN"),
}
CHOICE = """\
@triton.jit
def chosen(x, how: tl.constexpr):
    factor: tl.constexpr = 2
    if how == "twice":
        y = x * factor
    elif how == "drawn":
        y = tl.rand(3, x)
    else:
        y = -x
    return y


"""
RETURNED = CHOICE.replace("y = ", "return ").replace("    return y\n", "")
# The second value would be returned where Triton compiles the first one, and goes on.
GOES_ON = CHOICE.replace("y = x * factor", "return x")
ON_DATA = CHOICE.replace('how == "twice"', "x > 0")


def ended(*lines: str) -> str:
    return judged("X[i] * 2", *lines).verdict.name


def called(functions: str, how: str) -> LayerVerdict:
    lines = (LOAD, f"tl.store(out + i, chosen(x, {how!r}), mask=m)")
    text = HEAD + functions + START + "".join(f"    {line}\n" for line in lines)
    return verify(program("X[i] * 2"), text).verdict


@pytest.mark.parametrize("case", NAMED)
def test_a_name_that_is_set_to_a_constant(case: str) -> None:
    lines, verdict = NAMED[case]
    assert ended(*lines) == verdict


@pytest.mark.parametrize("case", WORDS)
def test_words_that_are_not_known_matter_where_they_are_compiled(case: str) -> None:
    lines, verdict = WORDS[case]
    assert ended(*lines) == verdict


@pytest.mark.parametrize("functions", [CHOICE, RETURNED], ids=["set", "returned"])
def test_a_function_with_branches_on_constants(functions: str) -> None:
    assert called(functions, "twice") is LayerVerdict.PROVED
    assert called(functions, "other") is LayerVerdict.REFUTED
    assert called(functions, "drawn") is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("functions", [GOES_ON, ON_DATA], ids=["goes on", "on data"])
def test_a_function_of_which_it_is_not_clear_what_it_returns(functions: str) -> None:
    assert called(functions, "twice") is LayerVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("declared", "verdict"),
    [("tl.float32", "PROVED"), ("tl.float64", "PROVED"), ("tl.float16", "UNKNOWN")],
)
def test_a_number_that_is_declared_as_a_float(declared: str, verdict: str) -> None:
    head = HEAD.replace("len(i))\n", "len(i), s)\n", 1)
    start = START.replace("out, n)", f"out, n, s: {declared})")
    text = f"{head}{start}    {LOAD}\n    tl.store(out + i, x * s, mask=m)\n"
    assert verify(SCALED, text).verdict.name == verdict
