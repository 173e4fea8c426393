"""Emitted kernels that draw random numbers, with one mistake each: none of them is proved."""

import pytest

from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import text_of, written

TILES = "f.block(x:8); f.tensorize(x:0, y:16); f.compile();"
PROGRAMS = {
    "dropout": (
        "Func f; In A: f32; SIn seed: i64, p: f32; Var x, y;"
        f"f[x, y] = where(random(seed, x, y) < p, 0, A[x, y] / (1 - p)); {TILES}"
    ),
    "noise": (
        "Func f; In A: f32; SIn seed: i64; Var x; RVar y;"
        f"f[x] = rsum(A[x, y] - log(-log(random(seed, x, y))), y); {TILES}"
    ),
    "bits": (
        "Func f; In A: i64; SIn seed: i64; Var w, x, y;"
        "f[w, x, y] = A[w, x, y] + (random_bits(seed, w, x, y) & 7);"
        "f.block(w:1, x:8); f.tensorize(x:0, y:16); f.compile();"
    ),
    "data": (
        "Func f; In S: i32; Var x, y;"
        f"f[x, y] = random(reshape(S[x], x, 1), x + 1, 2 * y) + random(3, x * len(y) + y); {TILES}"
    ),
}
X, Y = "x.to(tl.int64)[:, None]", "y[None, :].to(tl.int64)"


def drawn(name: str) -> str:
    """Return the text of a program's file."""
    return text_of(written(PROGRAMS[name]))


def call_in(text: str, function: str, which: int = 0) -> str:
    """Return a call of a function in the kernel, with its arguments."""
    kernel = text.index("def f_kernel")
    start = kernel
    for _ in range(which + 1):
        start = text.index(f"{function}(", start + 1)
    depth = 0
    for at in range(start + len(function), len(text)):
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth == 0:
            return text[start : at + 1]
    raise AssertionError(text)


def arguments(call: str) -> list[str]:
    """Return the arguments of a call, as written."""
    inner, depth, last = call[call.index("(") + 1 : -1], 0, 0
    parts: list[str] = []
    for at, sign in enumerate(inner):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append(inner[last:at].strip())
            last = at + 1
    return [*parts, inner[last:].strip()]


FLOAT, BITS = "dt_random_float", "dt_random_bits"
CALLS = [("dropout", FLOAT), ("noise", FLOAT), ("bits", BITS), ("data", FLOAT)]
# What a call of (seed, x, y) becomes.
CHANGED = (
    "{f}({s}, {y}, {x})",
    "{f}({x}, {s}, {y})",
    "{f}({y}, {x}, {s})",
    "{f}({s}, {x}, {x})",
    "{f}({s}, {y}, {y})",
    "{f}({s} + 1, {x}, {y})",
    "{f}({s}, {x} + 1, {y})",
    "{f}({s}, {x}, {y} + 1)",
    "{f}({s}, {x}, {y} * 2)",
    "{f}({s}, {x}, {y} - {x})",
    "{f}({s}, -{x}, {y})",
    "{f}({s}, {x}, {y} + {x} * 0 + 1)",
    "({f}({s}, {x}, {y}) * 2)",
    "(1 - {f}({s}, {x}, {y}))",
    "{f}(({s}) ^ 1, {x}, {y})",
    "{f}({s}, {x}, tl.cast(({y}).to(tl.int8), tl.int64))",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_emitted_is_proved(name: str) -> None:
    report = verify(written(PROGRAMS[name]), drawn(name))
    assert report.verdict is LayerVerdict.PROVED, report.functions[0].layers[0].why


@pytest.mark.sampled
@pytest.mark.parametrize("changed", CHANGED)
@pytest.mark.parametrize(("name", "function"), CALLS)
def test_another_call_is_not_proved(name: str, function: str, changed: str) -> None:
    text = drawn(name)
    call = call_in(text, function)
    seed, x, y = arguments(call)
    edited = text.replace(call, changed.format(f=function, s=seed, x=x, y=y))
    assert edited != text
    assert verify(written(PROGRAMS[name]), edited).verdict is not LayerVerdict.PROVED


@pytest.mark.long
def test_another_function_is_not_proved() -> None:
    for name, function in CALLS:
        text = drawn(name)
        call = call_in(text, function)
        other = FLOAT if function == BITS else BITS
        edited = text.replace(call, call.replace(function, other))
        if f"def {other}" not in edited:
            edited = edited.replace(f"def {BITS}", f"def {other}")
        assert verify(written(PROGRAMS[name]), edited).verdict is not LayerVerdict.PROVED


# Changes in the functions, which are known by their texts.
IN_FUNCTIONS = (
    ("static_range(10)", "static_range(9)"),
    ("static_range(10)", "static_range(7)"),
    ("0xD2511F53", "0xD2511F55"),
    ("0xCD9E8D57", "0xD2511F53"),
    ("0x9E3779B9", "0x9E3779B8"),
    ("0xBB67AE85", "0x9E3779B9"),
    ("high_c ^ b ^ one", "high_c ^ b ^ two"),
    ("high_c ^ b", "high_c ^ d"),
    ("low_c, high_a", "low_a, high_a"),
    ("(seed >> 32)", "(seed >> 31)"),
    ("(x >> 32).to(tl.uint32)", "x.to(tl.uint32)"),
    ("(y >> 32).to(tl.uint32)", "(x >> 32).to(tl.uint32)"),
    ("<< 32)", "<< 31)"),
    ("b.to(tl.int64)", "c.to(tl.int64)"),
    ("tl.umulhi(a, by_a)", "tl.umulhi(a, by_c)"),
)
IN_FLOAT = (
    (">> 8", ">> 7"),
    (">> 8 & 0xFFFFFF", "& 0xFFFFFF"),
    ("0xFFFFFF", "0x1FFFFFF"),
    ("tl.float32", "tl.float16"),
    ("5.9604644775390625e-08", "5.960464477539063e-08 + 0.0"),
)


@pytest.mark.sampled
@pytest.mark.parametrize(("old", "new"), IN_FUNCTIONS)
def test_other_bits_are_not_proved(old: str, new: str) -> None:
    assert old in TEXTS[BITS]
    for name in PROGRAMS:
        text = drawn(name)
        edited = text.replace(TEXTS[BITS], TEXTS[BITS].replace(old, new))
        assert edited != text
        assert verify(written(PROGRAMS[name]), edited).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(("old", "new"), IN_FLOAT)
def test_other_floats_are_not_proved(old: str, new: str) -> None:
    assert old in TEXTS[FLOAT]
    text = drawn("dropout")
    edited = text.replace(TEXTS[FLOAT], TEXTS[FLOAT].replace(old, new))
    assert edited != text
    assert verify(written(PROGRAMS["dropout"]), edited).verdict is not LayerVerdict.PROVED


def test_there_are_many() -> None:
    assert len(CALLS) * (len(CHANGED) + 1) + len(IN_FUNCTIONS) + len(IN_FLOAT) >= 80
