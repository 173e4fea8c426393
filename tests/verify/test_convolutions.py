"""Poolings and convolutions as networks have them are proved, each in seconds, all seven layers.

Each is proved without a schedule and with an obvious one: blocks, and tiles as large as they are.
"""

import pytest

from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify

CONV = "rdot(pad(X, 0)[b, {c}, {h}, {w}], W[{f}, r, s], c, r, s)"
WINDOW = "X, 0)[b, c, {0}*h + r - {1}, {0}*w + s - {1}]"
MEAN = "rsum(pad(" + WINDOW + ", r, s) / (len(r) * len(s))"
# The labels with the sizes of their blocks, the inputs, the reduced labels, and the value.
PROGRAMS: dict[str, tuple[str, str, str, str]] = {
    "average pooling, two padded axes": ("b:1, c:1, h:8, w:16", "X", "r, s", MEAN.format(2, 1)),
    "average pooling, wide": ("b:1, c:4, h:4, w:32", "X", "r, s", MEAN.format(3, 2)),
    "average pooling, counted": (
        "b:1, c:1, h:8, w:16",
        "X",
        "r, s",
        "rsum(pad(X, 0)[b, c, 2*h + r - 1, 2*w + s - 1], r, s)"
        " / rsum(where(2*h + r >= 1 and 2*w + s >= 1, 1.0, 0.0), r, s)",
    ),
    "largest of a window": (
        "b:1, c:1, h:8, w:16",
        "X",
        "r, s",
        "rmax(pad(X, -inf)[b, c, 2*h + r - 1, 2*w + s - 1], r, s)",
    ),
    "root mean square of a window": (
        "b:1, h:8, w:16",
        "X",
        "r, s",
        "sqrt(rsum(pow(pad(X, 0)[b, 2*h + r, 2*w + s], 2), r, s) / (len(r) * len(s)))",
    ),
    "same size": (
        "b:1, f:32, h:4, w:16",
        "X, W",
        "c, r, s",
        CONV.format(c="c", h="h + r - 1", w="w + s - 1", f="f, c"),
    ),
    "stride 2, padding 3": (
        "b:1, f:32, h:4, w:16",
        "X, W",
        "c, r, s",
        CONV.format(c="c", h="2*h + r - 3", w="2*w + s - 3", f="f, c"),
    ),
    "dilated": (
        "b:1, f:32, h:4, w:16",
        "X, W",
        "c, r, s",
        CONV.format(c="c", h="h + 2*r - 2", w="w + 2*s - 2", f="f, c"),
    ),
    "groups of channels, strided": (
        "b:1, g:1, f:16, h:4, w:16",
        "X, W",
        "c, r, s",
        CONV.format(c="g, c", h="2*h + r - 1", w="2*w + s - 1", f="g, f, c"),
    ),
    "groups within one axis": (
        "b:1, g:1, f:16, h:4, w:16",
        "X, W",
        "c, r, s",
        CONV.format(c="16*g + c", h="h + r - 1", w="w + s - 1", f="g, f, c"),
    ),
    "transposed": (
        "b:1, f:32, h:4, w:16",
        "X, W",
        "c, r, s",
        CONV.format(c="c", h="h - r + 1", w="w - s + 1", f="c, f"),
    ),
    "each channel by itself": (
        "b:1, c:4, h:4, w:16",
        "X, W",
        "r, s",
        "rsum(pad(X, 0)[b, c, 2*h + r - 1, 2*w + s - 1] * W[c, r, s], r, s)",
    ),
    "a line, stride 2, padding 3": (
        "b:1, f:32, l:64",
        "X, W",
        "c, r",
        "rdot(pad(X, 0)[b, c, 2*l + r - 3], W[f, c, r], c, r)",
    ),
    "a line, what came before": (
        "b:1, f:32, l:64",
        "X, W",
        "c, r",
        "rdot(pad(X, 0)[b, c, l - r], W[f, c, r], c, r)",
    ),
    "a volume": (
        "b:1, f:16, d:2, h:4, w:8",
        "X, W",
        "c, q, r, s",
        "rdot(pad(X, 0)[b, c, d + q - 1, h + r - 1, w + s - 1], W[f, c, q, r, s], c, q, r, s)",
    ),
    "sizes multiplied": ("x:64", "A", "r, s", "rsum(A[x + r + s], r, s) / (len(r) * len(s))"),
    "sizes of strided reads multiplied": (
        "x:64",
        "A",
        "r, s",
        "rsum(A[2*x + r + 3*s], r, s) / (len(r) * len(s))",
    ),
    "three sizes multiplied": (
        "x:64",
        "A",
        "r, s",
        "rsum(A[x + r] * A[s], r, s) / (len(r) * len(s) * len(x))",
    ),
}


def text_of(name: str, *, is_tiled: bool) -> str:
    """Return the .dt file of a program."""
    blocks, inputs, reduced, value = PROGRAMS[name]
    labels = ", ".join(one.split(":")[0] for one in blocks.split(", "))
    schedule = f"out.block({blocks}); out.tensorize({blocks});\n" if is_tiled else ""
    head = f"Func out; In {inputs}; Var {labels}; RVar {reduced};\n"
    return f"{head}out[{labels}] = {value};\n{schedule}out.compile();\n"


@pytest.mark.sampled
@pytest.mark.parametrize("is_tiled", [False, True], ids=["plain", "tiled"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_proved(name: str, is_tiled: bool) -> None:
    checked = check(Source("out.dt", text_of(name, is_tiled=is_tiled)))
    assert checked.verdict is not None, checked.diagnostics
    assert checked.program is not None
    report = verify(checked.program, code_of(checked.verdict.scheduled).text)
    assert report.verdict is LayerVerdict.PROVED, report


def test_another_product_of_sizes_is_not_proved() -> None:
    right = text_of("sizes multiplied", is_tiled=True)
    for wrong in ("len(r) * len(r)", "len(s) * len(s)", "len(r) * len(x)", "(len(r) + len(s))"):
        checked = check(Source("out.dt", right))
        other = check(Source("out.dt", right.replace("(len(r) * len(s))", f"({wrong})")))
        assert checked.program is not None
        assert other.verdict is not None
        report = verify(checked.program, code_of(other.verdict.scheduled).text)
        assert report.verdict is not LayerVerdict.PROVED, wrong
