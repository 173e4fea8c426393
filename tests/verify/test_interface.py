"""Files that Python and Triton bind otherwise than they are read: none of them is proved.

Each of these was proved once, and computes something else, or fails for calls that it accepts.
"""

import re
from collections.abc import Callable, Mapping

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.test_boxes import HALVES
from tests.verify.test_panels import PRODUCT as PANELS
from tests.verify.texts import ROOT, changed, program_of, text_of, written

Change = Callable[[str], str]

ONE = written(
    "Func f; In A; Var x; f[x] = A[x] * 2.0; f.block(x:64); f.tensorize(x:0); f.compile();"
)
LARGE = written(
    "Func f; In A; Var x; f[x] = A[x] * 2.0; f.block(x:65536); f.tensorize(x:0); f.compile();"
)
SQUARES = written(
    "Func f; In A; Var x, y; f[x, y] = A[x, y] * 2.0;"
    "f.block(x:16, y:16); f.tensorize(x:0, y:0); f.compile();"
)
PRODUCT = written(
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
)
SCALED = written(
    "Func f; In A; SIn s; Var x; f[x] = A[x] * s; f.block(x:64); f.tensorize(x:0); f.compile();"
)
COLUMNS = written(
    "Func f; In A; RVar x; Var y; f[y] = rsum(A[x, y], x); f.block(y:1); f.tensorize(x:65536);"
    "f.compile();"
)
ROWS = written(
    "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y);"
    "f.block(x:16); f.tensorize(x:0, y:16); f.compile();"
)
COPIED = written(
    "Func f, lines, turned; In A, B; Var m, n; RVar k;"
    "lines[m, k] = A[m, k]; turned[n, k] = B[k, n];"
    "f[m, n] = rdot(lines[m, k], turned[n, k], k);"
    "lines.block(m:16, k:16); lines.tensorize(m:0, k:0);"
    "turned.block(n:16, k:16); turned.tensorize(n:0, k:0);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.num_warps(4);"
    "f.descriptor(lines, turned); f.compile();"
)
SPECIALIZED = program_of(ROOT / "tests/data/products/halves_by_two_groups.dt")


def put(old: str, new: str, count: int = 1) -> Change:
    return lambda text: changed(text, old, new, count)


def both(*changes: Change) -> Change:
    def change(text: str) -> str:
        for one in changes:
            text = one(text)
        return text

    return change


def exchanged(one: str, other: str) -> Change:
    words = {one: other, other: one}
    return lambda text: re.sub(rf"\b({one}|{other})\b", lambda found: words[found[1]], text)


def inside(change: Change, first: str, last: str) -> Change:
    """Return the change between two places alone."""

    def change_there(text: str) -> str:
        start, end = text.index(first), text.index(last)
        return text[:start] + change(text[start:end]) + text[end:]

    return change_there


BLOCKS = """\
    pid = tl.program_id(0).to(offset)
    y_start = (pid // x_blocks) * 16
    pid = pid % x_blocks
    x_start = pid * 16
"""
OF_TWO = """\
    y_start = tl.program_id(0).to(offset) * 16
    x_start = tl.program_id(1).to(offset) * 16
"""
LANES = "(x_start + tl.arange(0, 65536)).to(offset)"
WAIT = "    if early:\n        tl.extra.cuda.gdc_wait()\n\n"
LAST = "    offset: tl.constexpr,\n"
FUNC = '"func": "f",'
KERNEL, RUNTIME = "def f_kernel", "# The runtime of dtpoly"
WRONG: Mapping[str, tuple[Program, Change]] = {
    "an index that is a float": (LARGE, put(LANES, LANES.replace(".to", ".to(tl.float32).to"))),
    "floats that are compared": (LARGE, put("(x < x_size)", "(x.to(real) < x_size)")),
    "a float in an address": (
        LARGE,
        put("f_ptr + x * f_stride_0", "f_ptr + x.to(real) * f_stride_0"),
    ),
    "a loop to a size that is cut": (
        COLUMNS,
        put(
            "tl.range(0, x_size - 65535, 65536)",
            "tl.range(0, tl.cast(x_size, tl.int32) - 65535, 65536)",
        ),
    ),
    "a mask of a size that is cut": (
        COLUMNS,
        put("x_mask = x < x_size", "x_mask = x < tl.cast(x_size, tl.int32)"),
    ),
    "a mask of a size that is cut again": (
        COLUMNS,
        put("x_mask = x < x_size", "x_mask = x < tl.cast(tl.cast(x_size, tl.int64), tl.int32)"),
    ),
    "a stride that is cut": (
        ONE,
        put("A_ptr + x * A_stride_0", "A_ptr + x * tl.cast(A_stride_0, tl.int32)"),
    ),
    "an index that is cut": (
        LARGE,
        put(LANES, LANES.replace(".to", ".to(offset).to(tl.int32).to")),
    ),
    "a grid of two axes": (
        SQUARES,
        put(BLOCKS, OF_TWO),
    ),
    "an option that is a parameter": (
        ONE,
        both(
            put(LAST, f"{LAST}    num_stages: tl.constexpr = 64,\n"),
            put("x_start = pid * 64", "x_start = pid * num_stages"),
            put(FUNC, f'{FUNC}"num_stages": 2, '),
        ),
    ),
    "warps that are a parameter": (
        ONE,
        both(
            put(LAST, f"{LAST}    num_warps: tl.constexpr = 64,\n"),
            put("x_start = pid * 64", "x_start = pid * num_warps"),
            put(FUNC, f'{FUNC}"num_warps": 8, '),
        ),
    ),
    "a launch that does not wait": (
        ONE,
        both(
            put(LAST, f"{LAST}    launch_pdl: tl.constexpr,\n"),
            put('"even": ', '"launch_pdl": "x == x", "even": '),
        ),
    ),
    "inputs that are exchanged": (
        PRODUCT,
        put(
            '{"A": "m_size k_size", "B": "k_size n_size"',
            '{"B": "k_size n_size", "A": "m_size k_size"',
        ),
    ),
    "inputs in another order": (
        PRODUCT,
        put('{"A": ("float", 2), "B": ("float", 2)}', '{"B": ("float", 2), "A": ("float", 2)}'),
    ),
    "a constant that is set": (PANELS, put(WAIT, f"    early = 0\n{WAIT}")),
    "a descriptor of what is not passed": (
        COPIED,
        put('"of": "lines"', '"of": "A"'),
    ),
    "types and offsets exchanged": (
        SQUARES,
        inside(exchanged("real", "offset"), KERNEL, "f_plan ="),
    ),
    "a constant that the runtime changes": (
        HALVES,
        both(
            put(
                "    even: tl.constexpr,", "    specialized: tl.constexpr,\n    even: tl.constexpr,"
            ),
            put('"even": ', '"specialized": "m == m", "even": '),
        ),
    ),
    "no offsets": (
        SQUARES,
        lambda text: text.replace(".to(offset)", ".to(wide)").replace("offset: tl", "wide: tl"),
    ),
    "half of a number": (SCALED, put("s: tl.float64", "s: tl.float32")),
    "a number of any type": (SCALED, put("s: tl.float64", "s")),
    "another encoding": (ONE, lambda text: f"# coding: raw_unicode_escape\n{text}"),
    "a tile of 48": (
        ONE,
        inside(
            lambda text: re.sub(r"\b64\b", "48", text),
            KERNEL,
            RUNTIME,
        ),
    ),
    "a sum that keeps its axis": (ROWS, put("tl.sum(f_acc, 1)", "tl.sum(f_acc, 1, True)")),
    "lanes in steps": (ROWS, put("tl.arange(0, 16)", "tl.arange(0, 16, 5)")),
    "what is not so": (
        ONE,
        put("    x_start = pid * 64", "    tl.static_assert(False)\n    x_start = pid * 64"),
    ),
    "a parameter by its place only": (
        ONE,
        put(f"{KERNEL}(\n    A_ptr", f"{KERNEL}(\n    a, /, A_ptr"),
    ),
    "a loop that Python has not": (
        PANELS,
        put("tl.range(0, k_size, 16)", "range(0, k_size, 16, num_stages=2)"),
    ),
    "a loop that is written out": (
        PANELS,
        put("tl.range(0, k_size, 16)", "tl.static_range(0, k_size, 16)"),
    ),
    "an option that is not known": (PANELS, put("flatten=even", "flatten=k_size")),
    "three warps": (PANELS, put('"num_warps": 4', '"num_warps": 3')),
    "no warps": (PANELS, put('"num_warps": 4', '"num_warps": 0')),
    "a type in memory for one of operands": (PRODUCT, put("operand(A, B)", "stored(A, B)")),
    "a type that is no constant": (ONE, put("real: tl.constexpr", "real")),
    "the most of one": (PRODUCT, put('("m", "n", "k")', '("max(m)",)')),
    "starts that a descriptor does not take": (
        PANELS,
        put("tl.cast(m_start, tl.int32)", "tl.cast(m_start, tl.int64)"),
    ),
    "tensor cores of other types": (SPECIALIZED, put('"specialized": (2,', '"specialized": (1,')),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, change = WRONG[name]
    text = text_of(program)
    made = change(text)
    assert made != text
    assert verify(program, made, seconds=60).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("program", dict.fromkeys(program for program, _ in WRONG.values()))
def test_as_it_is_emitted_it_is_proved(program: Program) -> None:
    report = verify(program, text_of(program), seconds=60)
    assert report.verdict is LayerVerdict.PROVED, report


@pytest.mark.long
def test_what_triton_may_get_wrong_is_said() -> None:
    loop = "for k_start in tl.range(0, k_size, 16"
    text = changed(text_of(PANELS), loop, f"{loop}, warp_specialize=True")
    for function in verify(PANELS, text, seconds=60).functions:
        assert any("warp_specialize" in one for one in function.assumed)
    for function in verify(PANELS, text_of(PANELS), seconds=60).functions:
        assert not function.assumed
