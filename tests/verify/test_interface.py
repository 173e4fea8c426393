"""Files that Python, torch and Triton bind otherwise than they are read: none of them is proved.

Each of these was proved once, and computes something else, or fails for calls that it accepts.
"""

import re
from collections.abc import Callable, Mapping

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import Verdict, verify
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
TWO = written(
    "Func f, g; In A; Var x; g[x] = A[x] * 2.0; f[x] = g[x] + 1.0; g.compile(); f.compile();"
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
    """The change between two places alone."""

    def change_there(text: str) -> str:
        start, end = text.index(first), text.index(last)
        return text[:start] + change(text[start:end]) + text[end:]

    return change_there


def without(first: str, last: str) -> Change:
    return inside(lambda _: "", first, last)


def beyond_lanes(text: str) -> str:
    """The helper comes from another file."""
    other = text_of(
        written(
            "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.block(x:1); f.tensorize(x:0, y:0);"
            "f.compile();"
        )
    )
    start = other.index("def dt_lanes")
    helper = other[start : other.index("\n\n", start)]
    text = changed(text, "\n\n\ndef dt_is_traced", f"\n\n\n{helper}\n\n\ndef dt_is_traced")
    programs = "(x_size + 65535) // 65536"
    lanes = f"    lanes = dt_lanes(x_size)\n    programs = min({programs}, 16)\n"
    return changed(text, f"    programs = {programs}\n", lanes)


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
STORE = "    tl.store(f_ptr + x * f_stride_0, A_tile * 2.0, mask=x_mask)\n"
BY_TRUTH = """\
    if even == True:
        tl.store(f_ptr + x * f_stride_0, A_tile * 2.0)
    if even == False:
        tl.store(f_ptr + x * f_stride_0, A_tile * 2.0, mask=x_mask)
"""
LANES = "(x_start + tl.arange(0, 65536)).to(offset)"
WAIT = "    if early:\n        tl.extra.cuda.gdc_wait()\n\n"
LAST = "    offset: tl.constexpr,\n"
WRAPPER, KERNEL, SHARED = "def f(A", "def f_kernel", "# What the functions above share."
OWN = "def f(A, *, out=None):"
OTHER = "def f_(A, *, out=None):\n    return torch.zeros_like(A)\n\n\n"
CURRENT = "    if not dt_is_current(device):\n"

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
        both(
            put(BLOCKS, OF_TWO),
            put('dt_grid("f", programs)', "((y_size + 15) // 16, (x_size + 15) // 16)"),
        ),
    ),
    "a grid that is a number": (SQUARES, put('dt_grid("f", programs)', "programs")),
    "an option that is a parameter": (
        ONE,
        both(
            put(LAST, f"{LAST}    num_stages: tl.constexpr = 64,\n"),
            put("x_start = pid * 64", "x_start = pid * num_stages"),
            put("real=real,", "real=real, num_stages=2,"),
        ),
    ),
    "warps that are a parameter": (
        ONE,
        both(
            put(LAST, f"{LAST}    num_warps: tl.constexpr = 64,\n"),
            put("x_start = pid * 64", "x_start = pid * num_warps"),
            put("real=real,", "real=real, num_warps=8,"),
        ),
    ),
    "a launch that does not wait": (
        ONE,
        both(
            put(LAST, f"{LAST}    launch_pdl: tl.constexpr,\n"),
            put("real=real,", "real=real, launch_pdl=1,"),
        ),
    ),
    "lanes that nobody has": (LARGE, beyond_lanes),
    "another name for an input": (
        PRODUCT,
        inside(
            both(
                put("    if out is None:", "    C = B\n    B = A\n    if out is None:"),
                put('{"A": A, "B": B}', '{"A": A}'),
                put("            B,\n", "            C,\n"),
                put("*B.stride()", "*C.stride()"),
            ),
            "def f(A, B, *",
            SHARED,
        ),
    ),
    "inputs that are exchanged": (
        PRODUCT,
        put('    device = dt_check("A"', '    A, B = B, A\n    device = dt_check("A"'),
    ),
    "inputs in another order": (
        PRODUCT,
        both(
            put("def f(A, B, *, out=None)", "def f(B, A, *, out=None)"),
            put("return f(A, B, out=out)", "return f(B, A, out=out)"),
            put("f_operator(out, A, B)", "f_operator(out, B, A)"),
            put("dt_is_traced(A, B)", "dt_is_traced(B, A)"),
            put("def f_like(A, B)", "def f_like(B, A)"),
            put('"Tensor A, Tensor B"', '"Tensor B, Tensor A"'),
        ),
    ),
    "an operator of another function": (
        ONE,
        both(put(", f, f_like,", ", f_, f_like,"), put(OWN, OTHER + OWN)),
    ),
    "two operators of one name": (
        TWO,
        lambda text: re.sub(r'dt_operator\("\w+"', 'dt_operator("a"', text),
    ),
    "a constant that is set": (PANELS, put(WAIT, f"    early = 0\n{WAIT}")),
    "a descriptor of what is not passed": (
        COPIED,
        put("lines_blocks = dt_blocks(lines,", "lines_blocks = dt_blocks(A,"),
    ),
    "types and offsets exchanged": (
        SQUARES,
        both(
            inside(exchanged("real", "offset"), KERNEL, "def f_like"),
            put("real=real", "offset=real"),
            put("offset=dt_offset", "real=dt_offset"),
        ),
    ),
    "a constant that a launcher changes": (
        HALVES,
        both(
            put(
                "    even: tl.constexpr,", "    specialized: tl.constexpr,\n    even: tl.constexpr,"
            ),
            put("            even=", "            specialized=1,\n            even="),
        ),
    ),
    "no offsets": (
        SQUARES,
        lambda text: changed(
            text.replace(".to(offset)", ".to(wide)").replace("offset: tl", "wide: tl"),
            "offset=dt_offset",
            "wide=dt_offset",
        ),
    ),
    "a truth that is a number": (
        ONE,
        both(
            put("even=x_size % 64 == 0", "even=x_size % 64 == 0 and x_size"),
            put("    x_mask = (x < x_size) | even\n", "    x_mask = x < x_size\n"),
            put(STORE, BY_TRUTH),
        ),
    ),
    "half of a number": (SCALED, put("s: tl.float64", "s: tl.float32")),
    "a number of any type": (SCALED, put("s: tl.float64", "s")),
    "a number that nobody looks at": (SCALED, put('    s = dt_float("s", s)\n', "")),
    "what the caller gives is not used": (
        PRODUCT,
        both(
            without("    if dt_is_traced(A, B):", "    device = dt_check("),
            inside(
                lambda _: "    out = torch.empty((m_size, n_size), dtype=dtype, device=device)\n",
                "    if out is None:",
                "    if not out.numel()",
            ),
        ),
    ),
    "another encoding": (ONE, lambda text: f"# coding: raw_unicode_escape\n{text}"),
    "a tile of 48": (
        ONE,
        inside(
            lambda text: re.sub(r"\b64\b", "48", text).replace("+ 63)", "+ 47)"),
            KERNEL,
            SHARED,
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
    "three warps": (PANELS, put("num_warps=4", "num_warps=3")),
    "no warps": (PANELS, put("num_warps=4", "num_warps=0")),
    "a name that nobody set": (PANELS, put("device, 2, panel)", "device, 2, pannel)")),
    "no device that is known": (PANELS, put("programs, device, 2", "programs, n_size, 2")),
    "a type of torch": (
        PRODUCT,
        put(
            'dt_operand(dt_promoted("A and B", A.dtype, B.dtype), real)',
            'dt_promoted("A and B", A.dtype, B.dtype)',
        ),
    ),
    "a type that is no constant": (ONE, put("real: tl.constexpr", "real")),
    "the most of one": (PRODUCT, put("max(m_size, n_size, k_size)", "max(m_size)")),
    "Python's function as Triton's": (PANELS, put("def dt_part(", "@triton.jit\ndef dt_part(")),
    "what is not imported": (ONE, put("import threading\n", "")),
    "a launcher above what it needs": (
        ONE,
        lambda text: re.sub(r"\n\n\nf_launch = .*", "", text).replace(
            "@triton.jit\n",
            f"{re.findall('f_launch = .*', text)[0]}\n\n\n@triton.jit\n",
            1,
        ),
    ),
    "tensors on two devices": (
        PRODUCT,
        put('dt_check("B", B, 2, dt_floats, device)', 'dt_check("B", B, 2, dt_floats)'),
    ),
    "launches where the tensors are not": (PRODUCT, without(CURRENT, "    m_size, k_size")),
    "launches on the first device": (
        PRODUCT,
        put("torch.cuda.device(device)", "torch.cuda.device(0)"),
    ),
    "starts that a descriptor does not take": (
        PANELS,
        put("tl.cast(m_start, tl.int32)", "tl.cast(m_start, tl.int64)"),
    ),
    "tensor cores of other types": (SPECIALIZED, put("dt_specialized(2,", "dt_specialized(1,")),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, change = WRONG[name]
    text = text_of(program)
    made = change(text)
    assert made != text
    assert verify(program, made, seconds=60).verdict is not Verdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("program", dict.fromkeys(program for program, _ in WRONG.values()))
def test_as_it_is_emitted_it_is_proved(program: Program) -> None:
    report = verify(program, text_of(program), seconds=60)
    assert report.verdict is Verdict.PROVED, report


def test_what_triton_may_get_wrong_is_said() -> None:
    loop = "for k_start in tl.range(0, k_size, 16"
    text = changed(text_of(PANELS), loop, f"{loop}, warp_specialize=True")
    for function in verify(PANELS, text, seconds=60).functions:
        assert any("warp_specialize" in one for one in function.assumed)
    for function in verify(PANELS, text_of(PANELS), seconds=60).functions:
        assert not function.assumed
