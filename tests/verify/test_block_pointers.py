"""Block pointers: what is proved, and that no wrong kernel is."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
ROWS = """\
def k(Y, X, m, n, ys, xs, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.make_block_ptr(X, (m, n), (xs, 1), (pid * BM, 0), (BM, BN), (1, 0))
    y = tl.make_block_ptr(Y, shape=(m, n), strides=(ys, 1), offsets=(pid * BM, 0),
                          block_shape=(BM, BN), order=(1, 0))
    for start in range(0, n, BN):
        v = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        tl.store(y, v * 2.0, boundary_check=(0, 1))
        x = tl.advance(x, (0, BN))
        y = tl.advance(y, (0, BN))


# verify: k[(cdiv(len(r), 16),)](Y, X, len(r), len(n), Y.stride(0), X.stride(0), BM=16, BN=64)
# assume: len(n) <= 2**20, len(r) <= 2**20
"""
OF_ROWS = "Func Y: f32; In X: f32; Var r, n; Y[r, n] = X[r, n] * 2.0; Y.compile();"
TOTAL = """\
def k(Y, X, m, n, xs, BN: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.make_block_ptr(X, (m, n), (xs, 1), (pid, 0), (1, BN), (1, 0))
    y = tl.make_block_ptr(Y, (m,), (1,), (pid,), (1,), (0,))
    acc = tl.zeros((1, BN), tl.float32)
    for start in range(0, n, BN):
        acc += tl.load(x, boundary_check=(1,), padding_option="zero")
        x = tl.advance(x, (0, BN))
    tl.store(y, tl.sum(acc, 1))


# verify: k[(len(r),)](Y, X, len(r), len(n), X.stride(0), BN=64)
# assume: len(n) <= 2**20, len(r) <= 2**20
"""
OF_TOTAL = "Func Y: f32; In X: f32; Var r; RVar n; Y[r] = rsum(X[r, n], n); Y.compile();"
TURNED = """\
def k(Y, X, m, n, xs, ys, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    x = tl.make_block_ptr(X, (n, m), (1, xs), (j * BN, i * BM), (BN, BM), (0, 1))
    y = tl.make_block_ptr(Y, (m, n), (ys, 1), (i * BM, j * BN), (BM, BN), (1, 0))
    if n % BN == 0:
        v = tl.load(x, boundary_check=(1,))
    else:
        v = tl.load(x, boundary_check=(0, 1), padding_option="nan")
    tl.store(y, tl.trans(v), boundary_check=(0, 1))


# verify: k[(cdiv(len(r), 16), cdiv(len(n), 32))](Y, X, len(r), len(n), X.stride(0),
#     Y.stride(0), BM=16, BN=32)
# assume: len(n) <= 2**20, len(r) <= 2**20
"""
OF_TURNED = "Func Y: f32; In X: f32; Var r, n; Y[r, n] = X[r, n]; Y.compile();"
WHOLE = """\
def k(Y, X, m, n, xs: tl.int32, ys: tl.int32, BN: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.make_block_ptr(X, (m, n), (xs, 1), (pid, 0), (1, BN), (1, 0))
    y = tl.make_block_ptr(Y, (m, n), (ys, 1), (pid, 0), (1, BN), (1, 0))
    v = tl.load(x, boundary_check=(1,), padding_option="zero")
    tl.store(y, v - tl.sum(v, 1)[:, None], boundary_check=(1,))


# verify: k[(len(r),)](Y, X, len(r), len(n), len(n), len(n), BN=next_power_of_2(len(n)))
# assume: len(n) <= 65536, len(r) <= 2**20
"""
OF_WHOLE = (
    "Func Y: f32; In X: f32; Var r; RVar n; Y[r, n] = X[r, n] - reshape(rsum(X[r, n], n), r, 1);"
    " Y.compile();"
)
RIGHT = {
    "rows": (ROWS, OF_ROWS),
    "total": (TOTAL, OF_TOTAL),
    "turned": (TURNED, OF_TURNED),
    "whole": (WHOLE, OF_WHOLE),
}
LOAD = 'v = tl.load(x, boundary_check=(0, 1), padding_option="zero")'
STORE = "tl.store(y, v * 2.0, boundary_check=(0, 1))"
NEXT = "        x = tl.advance(x, (0, BN))\n"
WRONG_ROWS: dict[str, tuple[str, str]] = {
    "a load checks rows alone": (LOAD, LOAD.replace("(0, 1)", "(0,)")),
    "a load checks columns alone": (LOAD, LOAD.replace("(0, 1)", "(1,)")),
    "a load checks nothing": (LOAD, "v = tl.load(x)"),
    "a load has a check of no axis": (LOAD, LOAD.replace("(0, 1)", "()")),
    "a check of an axis that is none": (LOAD, LOAD.replace("(0, 1)", "(0, 1, 2)")),
    "a check of an axis from behind": (LOAD, LOAD.replace("(0, 1)", "(0, -1)")),
    "a check that names an axis twice": (LOAD, LOAD.replace("(0, 1)", "(0, 0)")),
    "a check that is one number": (LOAD, LOAD.replace("(0, 1)", "0")),
    "a store checks rows alone": (STORE, STORE.replace("(0, 1)", "(0,)")),
    "a store checks columns alone": (STORE, STORE.replace("(0, 1)", "(1,)")),
    "a store checks nothing": (STORE, "tl.store(y, v * 2.0)"),
    "a store has padding": (STORE, STORE.replace(")", ', padding_option="zero")', 1)),
    "a load has a mask": (LOAD, LOAD.replace("x,", "x, mask=True,")),
    "a load has an other": (LOAD, LOAD.replace("x,", "x, other=0.0,")),
    "a store has a mask": (STORE, STORE.replace("v * 2.0,", "v * 2.0, mask=True,")),
    "padding of another word": (LOAD, LOAD.replace('"zero"', '"one"')),
    "the load stays where it is": (NEXT, ""),
    "the load moves by a method": (NEXT, "        x = x.advance((0, BN))\n"),
    "the load moves without a name": (NEXT, "        tl.advance(x, (0, BN))\n"),
    "the load moves along rows": (NEXT, NEXT.replace("(0, BN)", "(BN, 0)")),
    "the load moves twice": (NEXT, NEXT * 2),
    "the load moves by less": (NEXT, NEXT.replace("BN)", "BN - 1)")),
    "the load moves back": (NEXT, NEXT.replace("BN)", "-BN)")),
    "the load moves along one axis": (NEXT, NEXT.replace("(0, BN)", "(BN,)")),
    "the load moves too early": (f"        {LOAD}\n", f"{NEXT}        {LOAD}\n"),
    "the store moves too early": (
        f"        {STORE}\n",
        f"        y = tl.advance(y, (0, BN))\n{STORE}\n".replace("\ntl", "\n        tl"),
    ),
    "the load takes the place of the store": (NEXT, "        x = tl.advance(y, (0, BN))\n"),
    "the load moves in some rounds": (NEXT, f"        if start > 0:\n    {NEXT}"),
    "another block in the second round": (
        NEXT,
        "        x = tl.make_block_ptr(Y, (m, n), (ys, 1), (pid * BM, 0), (BM, BN), (1, 0))\n",
    ),
    "another stride in the second round": (
        NEXT,
        "        x = tl.make_block_ptr(X, (m, n), (1, xs), (pid * BM, BN), (BM, BN), (1, 0))\n",
    ),
    "the shape is turned": ("(X, (m, n), (xs, 1)", "(X, (n, m), (xs, 1)"),
    "the strides are turned": ("(X, (m, n), (xs, 1)", "(X, (m, n), (1, xs)"),
    "the offsets are turned": (
        "(pid * BM, 0), (BM, BN), (1, 0))",
        "(0, pid * BM), (BM, BN), (1, 0))",
    ),
    "the block is turned": ("(BM, BN), (1, 0))", "(BN, BM), (1, 0))"),
    "the block begins one row further": ("(pid * BM, 0), (BM", "(pid * BM + 1, 0), (BM"),
    "the block begins before the row": ("(pid * BM, 0), (BM", "(pid * BM, -1), (BM"),
    "the order is none": ("(BM, BN), (1, 0))", "(BM, BN), (1, 1))"),
    "the order is too short": ("(BM, BN), (1, 0))", "(BM, BN), (1,))"),
    "one offset": ("(pid * BM, 0), (BM, BN)", "(pid * BM,), (BM, BN)"),
    "a block of no power of two": ("(BM, BN), (1, 0))", "(BM, BN - 1), (1, 0))"),
    "the shape is larger than the tensor": ("(X, (m, n)", "(X, (m, n + 1)"),
    "the shape is smaller than the tensor": ("(X, (m, n)", "(X, (m, n - 1)"),
    "the store has a smaller shape": ("shape=(m, n)", "shape=(m, n - 1)"),
    "the store has a larger shape": ("shape=(m, n)", "shape=(m + 1, n)"),
    "another tensor": ("make_block_ptr(X,", "make_block_ptr(Y,"),
    "the tensor one element further": ("make_block_ptr(X,", "make_block_ptr(X + 1,"),
    "the last columns are left out": ("range(0, n, BN)", "range(0, n - BN, BN)"),
    "steps are larger than blocks": ("range(0, n, BN)", "range(0, n, 2 * BN)"),
    "offsets of 64 bits": ("(pid * BM, 0), (BM", "(pid.to(tl.int64) * BM, 0), (BM"),
    "what is stored is one row": (STORE, STORE.replace("v * 2.0", "tl.sum(v, 0)")),
    "what is stored is turned": (STORE, STORE.replace("v * 2.0", "tl.trans(v)")),
    "what is stored has another type": (
        STORE,
        STORE.replace("v * 2.0", "(v * 2.0).to(tl.float16)"),
    ),
    "the pointer is kept from the round before": (
        f"        {LOAD}\n",
        f"        z = x\n        {LOAD.replace('x,', 'z,')}\n        x = y\n",
    ),
}
OF_LOAD = 'tl.load(x, boundary_check=(1,), padding_option="zero")'
WRONG_TOTAL: dict[str, tuple[str, str]] = {
    "padding is undefined": (OF_LOAD, "tl.load(x, boundary_check=(1,))"),
    "padding is an empty word": (OF_LOAD, OF_LOAD.replace('"zero"', '""')),
    "padding is None": (OF_LOAD, OF_LOAD.replace('"zero"', "None")),
    "padding is nan": (OF_LOAD, OF_LOAD.replace('"zero"', '"nan"')),
    "no check": (OF_LOAD, "tl.load(x)"),
    "padding without a check": (OF_LOAD, 'tl.load(x, padding_option="zero")'),
    "a check of the other axis": (OF_LOAD, OF_LOAD.replace("(1,)", "(0,)")),
    "the store of another row": ("(1,), (pid,), (1,)", "(1,), (pid + 1,), (1,)"),
    "the store of the first row": ("(1,), (pid,), (1,)", "(1,), (0,), (1,)"),
    "the store of two rows": ("(1,), (pid,), (1,), (0,)", "(1,), (pid,), (2,), (0,)"),
    "the store with another stride": ("(m,), (1,), (pid,)", "(m,), (2,), (pid,)"),
    "the load stays": ("        x = tl.advance(x, (0, BN))\n", ""),
    "rows move along": ("tl.advance(x, (0, BN))", "tl.advance(x, (1, BN))"),
    "the loop begins later": ("range(0, n, BN)", "range(BN, n, BN)"),
}
WRONG_TURNED: dict[str, tuple[str, str]] = {
    "a branch checks too little": ("boundary_check=(1,))", "boundary_check=())"),
    "the other branch checks too little": ("(0, 1), padding_option", "(1,), padding_option"),
    "the branch asks for less": ("n % BN == 0", "n % 2 == 0"),
    "it is not turned back": ("tl.trans(v)", "v"),
    "the block is another": ("(j * BN, i * BM), (BN, BM)", "(i * BM, j * BN), (BN, BM)"),
    "the strides are those of rows": ("(n, m), (1, xs)", "(n, m), (xs, 1)"),
    "the check of the store lacks an axis": (
        "tl.store(y, tl.trans(v), boundary_check=(0, 1))",
        "tl.store(y, tl.trans(v), boundary_check=(0,))",
    ),
}


def _proved(text: str, algorithm: str) -> Report:
    program = load(Source("k.dt", algorithm))
    return verify(program, HEAD + text)


@pytest.mark.parametrize("one", RIGHT)
def test_what_is_right_is_proved(one: str) -> None:
    text, algorithm = RIGHT[one]
    report = _proved(text, algorithm)
    assert report.verdict is LayerVerdict.PROVED, report
    assert any("Triton has block pointers" in said for f in report.functions for said in f.assumed)


@pytest.mark.sampled
@pytest.mark.parametrize("wrong", WRONG_ROWS)
def test_no_wrong_copy_of_rows_is_proved(wrong: str) -> None:
    text = changed(ROWS, *WRONG_ROWS[wrong])
    assert _proved(text, OF_ROWS).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("wrong", WRONG_TOTAL)
def test_no_wrong_sum_is_proved(wrong: str) -> None:
    text = changed(TOTAL, *WRONG_TOTAL[wrong])
    assert _proved(text, OF_TOTAL).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("wrong", WRONG_TURNED)
def test_no_wrong_turned_copy_is_proved(wrong: str) -> None:
    text = changed(TURNED, *WRONG_TURNED[wrong])
    assert _proved(text, OF_TURNED).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('boundary_check=(1,), padding_option="zero")', "boundary_check=(1,))"),
        ("v - tl.sum(v, 1)[:, None], boundary_check=(1,))", "v - tl.sum(v, 1)[:, None])"),
        ("BN=next_power_of_2(len(n))", "BN=len(n)"),
        ("BN=next_power_of_2(len(n))", "BN=next_power_of_2(len(r))"),
        ("BN=next_power_of_2(len(n))", "BN=64"),
        ("len(n), len(n), len(n), BN", "len(n), len(n), len(r), BN"),
        ("len(n), len(n), len(n), BN", "len(n), len(n) + 1, len(n), BN"),
        ("# assume: len(n) <= 65536, len(r) <= 2**20", "# assume: len(r) <= 2**20"),
    ],
)
def test_a_block_of_a_whole_row_needs_all_that_it_has(old: str, new: str) -> None:
    report = _proved(changed(WHOLE, old, new), OF_WHOLE)
    assert report.verdict is not LayerVerdict.PROVED


OF_FAR = "Func Y: f32; In X: f32; Var r, n: 1; Y[r, n] = X[r, n] * 2.0; Y.compile();"
FAR = """\
def k(Y, X, m, n, BN: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.make_block_ptr(X + pid * n * 4, (m,), (-3 * n,), (pid,), (1,), (0,))
    y = tl.make_block_ptr(Y + pid * n, (n,), (1,), (0,), (1,), (0,))
    tl.store(y, tl.load(x) * 2.0)


# verify: k[(len(r),)](Y, X, len(r), len(n), BN=1)
# assume: reach(X) < 2**31, reach(Y) < 2**31
"""


def test_a_base_beyond_32_bits_is_not_proved_although_the_block_goes_back() -> None:
    """The address is right, but 32 bits do not hold the product that the base is made of."""
    assert _proved(FAR, OF_FAR).verdict is not LayerVerdict.PROVED
    few = changed(FAR, "reach(X) < 2**31, reach(Y) < 2**31", "len(r) <= 2**20")
    assert _proved(few, OF_FAR).verdict is LayerVerdict.PROVED
