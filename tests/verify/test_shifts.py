"""Lanes that are shifted to where memory is aligned: what is proved, and what is not."""

import re

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of

SOFTMAX = load(
    Source(
        "f.dt",
        "Func f, top, e, total; In A; Var x; RVar y;"
        "top[x] = rmax(A[x, y], y); e[x, y] = exp(A[x, y] - reshape(top[x], x, 1));"
        "total[x] = rsum(e[x, y], y); f[x, y] = e[x, y] / reshape(total[x], x, 1);"
        "f.block(x:1); f.tensorize(x:0, y:128); e.inline(); top.fuse_at(f, x); total.fuse_at(f, x);"
        "f.align(A); f.alternate(y); f.compile();",
    )
)
# What is summed is summed again by a kernel that loads it.
TWICE = load(
    Source(
        "f.dt",
        "Func f, g; In A; RVar x, y; g[x] = rsum(A[x, y], y); f[] = rsum(g[x], x);"
        "g.block(x:1); g.tensorize(x:0, y:128); g.align(A); f.tensorize(x:64); f.compile();",
    )
)
TURNED = load(
    Source(
        "f.dt",
        "Func f, g; In A; Var x; RVar y; g[x] = rsum(A[x, y], y);"
        "f[x, y] = A[x, y] - reshape(g[x], x, 1);"
        "f.block(x:1); f.tensorize(x:0, y:64); g.fuse_at(f, x); f.alternate(y); f.compile();",
    )
)
# Lines of one tensor are shared between programs.
COPY = load(
    Source(
        "f.dt",
        "Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:1, y:64); f.tensorize(x:0, y:0);"
        "f.compile();",
    )
)
PLACE = "x_start * A_stride_0, A_stride_1, 64"
FRONT = "y_mask = (0 <= y) & (y < y_size) & (y_at <= 63)"
END = "y_end = max(y_stop, 64) // 64 * 64"
WHOLE = "tl.range(64, y_end - 127, 128)"
REST = "if (y_end - 64) % 128 != 0:"
BEGIN = "y_start = y_end - (y_end - 64) % 128"
UNITS = "y_mask = y_at < y_end"
BEHIND = "if y_stop >= y_end + 1:"
TURN = "y_turn = (y_end - 64) // 128 * 128"


@pytest.mark.parametrize("program", [SOFTMAX, TWICE, TURNED])
def test_it_is_proved(program: Program) -> None:
    report = verify(program, text_of(program), seconds=60)
    assert report.verdict is LayerVerdict.PROVED, report.layers


WRONG: dict[str, tuple[Program, str, str]] = {
    "what is before the line is not masked": (
        *(SOFTMAX, FRONT, "y_mask = (y < y_size) & (y_at <= 63)"),
    ),
    "the end of a short line is not masked": (
        *(SOFTMAX, FRONT, "y_mask = (0 <= y) & (y_at <= 63)"),
    ),
    "the front goes on after its unit": (TWICE, FRONT, "y_mask = (0 <= y) & (y < y_size)"),
    "too much of the front is masked": (SOFTMAX, FRONT, FRONT.replace("0 <= y)", "0 < y)")),
    "the front is a lane too short": (SOFTMAX, FRONT, FRONT.replace("63", "62")),
    "the front is a lane too long": (TWICE, FRONT, FRONT.replace("63", "64")),
    "whole tiles begin with the first unit": (TWICE, WHOLE, WHOLE.replace("(64", "(0")),
    "whole tiles begin one early": (SOFTMAX, WHOLE, WHOLE.replace("(64", "(-64")),
    "whole tiles begin one late": (SOFTMAX, WHOLE, WHOLE.replace("(64", "(192")),
    "whole tiles begin where the line does": (SOFTMAX, WHOLE, WHOLE.replace("(64", "(A_shift")),
    "whole tiles go on for too long": (SOFTMAX, WHOLE, WHOLE.replace("127", "63")),
    "whole tiles are one too few": (SOFTMAX, WHOLE, WHOLE.replace("127", "128")),
    "units end behind the line": (SOFTMAX, END, "y_end = (max(y_stop, 64) + 63) // 64 * 64"),
    "units end one before": (SOFTMAX, END, f"{END} - 64"),
    "units end in front of the first": (SOFTMAX, END, "y_end = y_stop // 64 * 64"),
    "units that are left are left out": (SOFTMAX, REST, "if y_end < 0:"),
    "units that are left begin one early": (TWICE, BEGIN, f"{BEGIN} - 64"),
    "units that are left have no mask": (SOFTMAX, UNITS, "y_mask = y_at == y_at"),
    "units that are left are masked to the end": (TWICE, UNITS, "y_mask = y < y_size"),
    "what is behind is left out": (SOFTMAX, BEHIND, "if y_stop >= y_end + 2:"),
    "the end is where it is without a shift": (
        *(SOFTMAX, "y_stop = y_size + A_shift", "y_stop = y_size"),
    ),
    "indices are shifted the other way": (SOFTMAX, "y = y_at - A_shift", "y = y_at + A_shift"),
    "the line is not shifted": (
        *(SOFTMAX, f"A_line = A_ptr + dt_line({PLACE})", "A_line = A_ptr + x_start * A_stride_0"),
    ),
    "the line is that of the next row": (
        *(SOFTMAX, f"dt_line({PLACE})", f"dt_line({PLACE.replace('x_start', '(x_start + 1)')})"),
    ),
    "the shift is that of the next row": (
        *(SOFTMAX, f"dt_shift({PLACE})", f"dt_shift({PLACE.replace('x_start', '(x_start + 1)')})"),
    ),
    "the shift is to another unit": (
        *(SOFTMAX, f"dt_shift({PLACE})", f"dt_shift({PLACE.replace('64', '32')})"),
    ),
    "the shift is to a larger unit": (SOFTMAX, PLACE, PLACE.replace("64", "128")),
    "the unit is no power of two": (SOFTMAX, PLACE, PLACE.replace("64", "48")),
    "the shift is along another axis": (
        *(SOFTMAX, PLACE, PLACE.replace("A_stride_1", "A_stride_0")),
    ),
    "the shift is along another tensor": (
        *(SOFTMAX, PLACE, PLACE.replace("A_stride_1", "f_stride_1")),
    ),
    "the shift is that of another tensor": (
        *(SOFTMAX, PLACE, PLACE.replace("A_stride_0", "f_stride_0")),
    ),
    "lines of the result need not be alike": (
        *(SOFTMAX, "if f_shift == A_shift:", "if f_shift >= A_shift:"),
    ),
    "the other lines of the result": (
        *(SOFTMAX, "if f_shift == A_shift:", "if f_shift != A_shift:"),
    ),
    "the result begins where the input does": (
        *(SOFTMAX, "dt_line(x_start * f_stride_0, f", "dt_line(x_start * A_stride_0, f"),
    ),
    "a loop goes back from elsewhere": (SOFTMAX, TURN, f"{TURN} + 128"),
    "a loop goes back from one before the last": (*(SOFTMAX, TURN, f"{TURN} - 128"),),
    "a loop goes back too slowly": (SOFTMAX, "y_turn - y_back", "y_turn - y_back // 2"),
    "it is another shift": (SOFTMAX, "first & (unit - 1)", "first & unit"),
    "a shift may be negative": (SOFTMAX, "first & (unit - 1)", "first % unit"),
    "a line that is not contiguous is shifted": (
        SOFTMAX,
        "tl.where(stride == 1, first &",
        "(first &",
    ),
    "a loop without a shift goes back from elsewhere": (TURNED, " * 64 - 64", " * 64"),
    "the front of what is loaded again": (TWICE, FRONT, "y_mask = (y < y_size) & (y_at <= 63)"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    report = verify(program, changed(text_of(program), old, new), seconds=60)
    assert report.verdict is not LayerVerdict.PROVED
    assert "it takes too long" not in {layer.why for layer in report.layers}


def shifted_by(line: str) -> str:
    """Return the copy with blocks of a row that begin before it, by the shift of some line."""
    text = changed(text_of(COPY), "y = (y_start +", f"y = (y_start - dt_shift({line}) +")
    text = changed(text, "y_mask = (y < y_size) | even", "y_mask = (0 <= y) & (y < y_size)")
    text = changed(text, '"cdiv(y, 64)"', '"cdiv(y + 63, 64)"')
    softmax = text_of(SOFTMAX)
    begin, end = (
        softmax.index("@triton.jit\ndef dt_shift"),
        softmax.index("@triton.jit\ndef dt_line"),
    )
    return changed(text, "@triton.jit\n", f"{softmax[begin:end]}@triton.jit\n")


def test_blocks_of_a_row_are_shifted_alike() -> None:
    report = verify(COPY, shifted_by("x_start * A_stride_0, A_stride_1, 64"))
    assert report.verdict is LayerVerdict.PROVED, report.layers


@pytest.mark.parametrize(
    ("line", "why"),
    [
        # Each for itself, blocks of a row overlap, or leave gaps.
        ("y_start * A_stride_0, A_stride_1, 64", "does not tell whose shifted lanes stored it"),
        ("(x_start + y_start) * A_stride_0, A_stride_1, 64", "does not tell whose"),
        ("(x_start - x_size) * A_stride_0, A_stride_1, 64", "a line that begins at a difference"),
        ("x_start * A_stride_0 + tl.arange(0, 64), A_stride_1, 64", "a shift of what is no line"),
    ],
)
def test_lines_that_elements_do_not_tell(line: str, why: str) -> None:
    report = verify(COPY, shifted_by(line))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert any(why in layer.why for layer in report.layers), report.layers


def test_what_depends_on_shifts_is_loaded_again_as_a_func_alone() -> None:
    """As `h` nothing says that it is one; then rows of different shifts would be added up."""
    text = re.sub(r"\bg\b(?![._])", "h", text_of(TWICE))
    report = verify(TWICE, text.replace("*g.stride", "*h.stride"))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert any("shifted lanes that is loaded again" in layer.why for layer in report.layers)
