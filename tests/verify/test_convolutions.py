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


COPIED = """Func out, X_turned, W_turned; In X, W; Var z, f, x, at; RVar c, r: 3;
W_turned[f, r, c] = W[f, c, r];
X_turned[z, at, c] = X[z, c, at];
out[z, f, x] = rdot(X_turned[z, 2 * x + r, c], W_turned[f, r, c], c, r);
X_turned.block(z:1, at:128, c:32);
X_turned.tensorize(z:0, at:0, c:0);
W_turned.block(f:2, r:4, c:32);
W_turned.tensorize(f:0, r:0, c:0);
out.block(z:1, f:128, x:64);
out.tensorize(z:0, f:0, x:0, c:64);
out.flatten(c, r);
out.descriptor(X_turned, W_turned);
out.compile();
"""


def copied(text: str, old: str = "", new: str = "") -> LayerVerdict:
    """The verdict of code in which something is replaced."""
    checked = check(Source("copied.dt", text))
    assert checked.program is not None
    assert checked.verdict is not None
    made = code_of(checked.verdict.scheduled).text
    assert old in made
    return verify(checked.program, made.replace(old, new) if old else made).verdict


def test_windows_of_what_another_kernel_stored_are_proved_in_seconds() -> None:
    """All elements are seen to be stored, without a look at how a window is read."""
    assert copied(COPIED) is LayerVerdict.PROVED


def test_an_element_that_no_kernel_stored_is_found() -> None:
    lines = [line for line in COPIED.splitlines() if "out." not in line or "compile" in line]
    bare = "\n".join(lines)
    assert copied(bare) is LayerVerdict.PROVED
    fewer = ("at_mask = (at < at_size) | even", "at_mask = at + 1 < at_size")
    assert copied(bare, *fewer) is not LayerVerdict.PROVED
