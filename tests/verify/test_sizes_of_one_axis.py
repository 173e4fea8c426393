"""A kernel is given a size and a multiple of it: which one a number is made of decides its bits.

The height of a picture that is made twice as large is 2^31 where the axis of the picture has 2^30:
then the one has 64 bits, and the other one 32.
"""

import ast

import pytest

from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from dtpoly.verify.triton.sources import sources_of

TWICE = """Func up; In X; Var n, h, w;
up[n, h, w] = 0.75 * X[n, h // 2, w] + 0.25 * pad(X, 0)[n, h // 2 + 2 * (h % 2) - 1, w];
up.block(n:1, h:128, w:64); up.tensorize(n:0, h:0, w:0); up.compile();"""
BLOCKS = "    h_blocks = tl.cdiv(h_size, 128)\n"


def verdict_with(blocks: str, helper: str = "") -> LayerVerdict:
    """Return the verdict on the kernel with other lines that count its blocks of rows."""
    checked = check(Source("t.dt", TWICE))
    assert checked.verdict is not None
    text = code_of(checked.verdict.scheduled).text
    assert text.count(BLOCKS) == 1
    assert "X_shape_1" in text
    text = text.replace(BLOCKS, blocks)
    if helper:
        text = text.replace("@triton.jit\ndef up_kernel", f"{helper}\n\n@triton.jit\ndef up_kernel")
    return verify(checked.verdict.scheduled.program, text).verdict


def test_a_size_that_has_64_bits_fits() -> None:
    assert verdict_with(BLOCKS) is LayerVerdict.PROVED


@pytest.mark.parametrize(
    "blocks",
    [
        "    h_blocks = tl.cdiv(2 * X_shape_1, 128)\n",
        "    rows = 2 * X_shape_1\n    h_blocks = tl.cdiv(rows, 128)\n",
        "    rows = X_shape_1\n    rows += X_shape_1\n    h_blocks = tl.cdiv(rows, 128)\n",
        "    rows = X_shape_1 + X_shape_1\n    rows = rows + 127\n    h_blocks = rows // 128\n",
        "    rows = X_shape_1\n    if n_size > 3:\n        rows = 2 * rows\n    else:\n"
        "        rows = 2 * rows\n    h_blocks = tl.cdiv(rows, 128)\n",
        "    rows = 2 * X_shape_1\n    h_blocks = tl.cdiv(h_size, 128) + rows - h_size\n",
        "    h_blocks = (\n        h_size\n        - 2 * X_shape_1\n        + (2 * X_shape_1 + 127)"
        " // 128\n    )\n",
        "    one, rows = h_size, 2 * X_shape_1\n    h_blocks = tl.cdiv(rows, 128)\n",
    ],
)
def test_the_same_number_of_32_bits_does_not(blocks: str) -> None:
    assert verdict_with(blocks) is not LayerVerdict.PROVED


def test_nor_does_one_that_a_helper_computes() -> None:
    helper = "@triton.jit\ndef rows_of(size):\n    return tl.cdiv(2 * size, 128)\n"
    assert verdict_with("    h_blocks = rows_of(X_shape_1)\n", helper) is not LayerVerdict.PROVED


def definition(text: str) -> ast.FunctionDef:
    (found,) = ast.parse(text).body
    assert isinstance(found, ast.FunctionDef)
    return found


KERNEL = """def kernel(a, b, c, d, n):
    x = a
    for i in range(0, n, b):
        x += i
        if x > c:
            y = (
                d
                + 1
            )
        else:
            y = x
    while (z := y) < d:
        y += z
    w = c
    return w
"""


def test_no_source_of_a_line_is_missing() -> None:
    found = sources_of(definition(KERNEL), {})
    every = {line: "".join(sorted(names - {"range"})) for line, names in found.items()}
    assert every == {
        2: "abinx",
        3: "abcdinxyz",
        4: "abcdinxyz",
        5: "abcdinxyz",
        6: "abcdinxyz",
        7: "abdinxyz",
        8: "abdinxyz",
        9: "abdinxyz",
        11: "abdinxyz",
        12: "abdinxyz",
        13: "abdinxyz",
        14: "cw",
        15: "cw",
    }


def test_nothing_is_known_where_two_functions_have_the_same_lines() -> None:
    kernel, other = definition(KERNEL), definition("\n\ndef other(a):\n    return a\n")
    assert sources_of(kernel, {"kernel": kernel, "other": other}) == {}
