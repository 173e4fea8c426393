"""An axis whose size no label shows may have any size, and the way out is to promise one."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, written

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
PROGRAM = "Func Y: f32; In X: f32; Var r, n; Y[r, n] = pad(X, 0)[r, n - 1]; Y.compile();"
PROMISED = "# assume: X.shape[1] == len(n)\n"
TEXTS = {
    "by addresses": """\
def shifted(Y, X, m, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(X + r * n + c - 1, mask=(c >= 1) & (c < n), other=0.0)
    tl.store(Y + r * n + c, x, mask=c < n)


# verify: shifted[(len(r), cdiv(len(n), 16))](Y, X, len(r), len(n), B=16)
# assume: len(n) <= 2**20, len(r) <= 2**20
""",
    "by blocks": """\
def shifted(Y, X, m, n, ys, xs, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    x = tl.make_block_ptr(X, (m, n), (xs, 1), (i * BM, j * BN - 1), (BM, BN), (1, 0))
    y = tl.make_block_ptr(Y, (m, n), (ys, 1), (i * BM, j * BN), (BM, BN), (1, 0))
    v = tl.load(x, boundary_check=(0, 1), padding_option="zero")
    tl.store(y, v, boundary_check=(0, 1))


# verify: shifted[(cdiv(len(r), 16), cdiv(len(n), 32))](Y, X, len(r), len(n), Y.stride(0),
#     X.stride(0), BM=16, BN=32)
# assume: len(n) <= 2**20, len(r) <= 2**20
""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_size_counts_until_one_is_promised(name: str) -> None:
    program, text = written(PROGRAM), HEAD + TEXTS[name]
    report = verify(program, text)
    assert report.verdict is LayerVerdict.REFUTED
    ways = [one.way for one in report.layers if one.verdict is LayerVerdict.REFUTED]
    assert any(PROMISED.strip() in way for way in ways), ways
    assert verify(program, text + PROMISED).verdict is LayerVerdict.PROVED


def test_an_axis_that_a_label_shows_needs_no_promise() -> None:
    program = written(PROGRAM.replace("pad(X, 0)[r, n - 1]", "X[r, n] - pad(X, 0)[r, n - 1]"))
    right = changed(
        HEAD + TEXTS["by addresses"],
        "    tl.store(Y + r * n + c, x, mask=c < n)\n",
        "    x = tl.load(X + r * n + c, mask=c < n) - x\n"
        "    tl.store(Y + r * n + c, x, mask=c < n)\n",
    )
    assert verify(program, right).verdict is LayerVerdict.PROVED
    report = verify(program, changed(right, "c >= 1", "c >= 2"))
    assert report.verdict is LayerVerdict.REFUTED
    assert not any("no label shows" in one.way for one in report.layers)
