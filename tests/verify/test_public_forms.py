"""Forms of statements that are in many public kernels are read, and mistakes in them are seen."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

PROGRAM = written("Func y: f32; In x: f32; SIn s: f32; Var i; y[i] = x[i] * s + 1; y.compile();")
KERNEL = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 64),)](
#     x, y, s, len(i), None, 2.5, BLOCK=64, WORD="plain", STEP=0.5, FLAG=True)
# assume: len(i) < 2**30


@triton.jit
def scaled(a, by, plus=1.0):
    wide = a.to(tl.float32)
    product = wide * by
    return product + plus


@triton.jit
def type_of(a):
    return a.dtype


@triton.jit
def with_axis_that_is_set(a):
    axis = 0
    return a + tl.sum(a - a, axis)


@triton.jit
def k(
    x_ptr, y_ptr, s, n, z_ptr, c, BLOCK: tl.constexpr, WORD: tl.constexpr, STEP: tl.constexpr,
    FLAG: tl.constexpr,
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    BODY
    tl.store(y_ptr + at, y, mask=at < n)
"""
OVERFLOWS = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x, y, len(j), BLOCK=next_power_of_2(len(j)))
# assume: len(j) <= 65536


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)WIDE * n
    x = tl.load(x_ptr + row + at, mask=at < n)
    tl.store(y_ptr + row + at, x, mask=at < n)
"""
RIGHT = {
    "a helper with names of its own": "y = scaled(x, s)",
    "an argument by name": "y = scaled(x, by=s, plus=1.0)",
    "a float of a kernel in another type": "y = x * s.to(tl.float32) + 1",
    "a tile by names": "y = tl.full(shape=[BLOCK], value=1.0, dtype=tl.float32) + x * s",
    "a name that a builtin has": "sum = x * s\n    y = sum + 1",
    "a tensor that is there": (
        "if y_ptr is not None:\n        y = x * s + 1\n    else:\n        y = x"
    ),
    "a comparison of types": (
        "if tl.constexpr(x_ptr.dtype.element_ty == tl.float16):\n        y = x\n"
        "    else:\n        y = x * s + 1"
    ),
    "None for a tensor": (
        "y = x * s + 1\n    if z_ptr is not None:\n        y += tl.load(z_ptr + at)"
    ),
    "a float of the launch": "y = x * s + (c - 1.5)",
    "a text of the launch": (
        "if WORD == 'other':\n        y = x\n    elif WORD != None:\n        y = x * s + 1"
    ),
    "a float that is a constant": "y = x * s + 1\n    if STEP != 0.5:\n        y = x",
    "a choice by a constant": "y = x * s + 1 if FLAG else x",
    "a type by its name": "y = tl.cast(x, dtype=tl.float32) * s + 1",
    "a mask that is a product": (
        "m = (at < n) * (at >= 0)\n    y = tl.load(x_ptr + at, mask=m) * s + 1"
    ),
    "a mask instead of zeros": "y = tl.load(x_ptr + at, mask=at < n, other=at < n) * s + 1",
    "elements of an address": "y = (x * s + 1).to(y_ptr.type.element_ty)",
    "elements of a tile": "y = (x * s + 1).to(x.type.element_ty)",
    "types that differ": "if x_ptr.dtype.element_ty != tl.float16:\n        y = x * s + 1",
}
WRONG = {
    "another default": "y = scaled(x, s, 2.0)",
    "an argument of another name": "y = scaled(x, plus=s, by=1.0)",
    "another number in a tile": "y = tl.full(shape=[BLOCK], value=2.0, dtype=tl.float32) + x * s",
    "another float of the launch": "y = x * s + c",
    "another text of the launch": (
        "if WORD == 'other':\n        y = x * s + 1\n    else:\n        y = x"
    ),
    "the other choice by a constant": "y = x if FLAG else x * s + 1",
    "a mask that is half of a product": (
        "m = (at < n) * (at >= 1)\n    y = tl.load(x_ptr + at, mask=m, other=0.0) * s + 1"
    ),
    "elements of another address": (
        "y = x\n    if x_ptr.type.element_ty != tl.float32:\n        y = x * s + 1"
    ),
    "a tensor that is not missing": (
        "if y_ptr is None:\n        y = x * s + 1\n    else:\n        y = x"
    ),
    "the other side": (
        "if tl.constexpr(x_ptr.dtype.element_ty == tl.float32):\n        y = x\n"
        "    else:\n        y = x * s + 1"
    ),
}
UNREAD = {
    "a choice by lanes": "y = x * s + 1 if x == x else x",
    "a choice with a load": "y = x * s + 1\n    z = tl.load(x_ptr) if s == s else 1.0",
    "a call of a type": "y = x * s + tl.float32(1.0)",
    "all axes of one of several kinds": "y = x * s + 1 + tl.sum(x - x, keep_dims=True)",
    "truths of several lanes, one by one": (
        "y = tl.load(x_ptr + at, mask=at < n and at >= 0) * s + 1"
    ),
    "a step by its name": "y = x\n    for i in range(0, 1, step=1):\n        y = x * s + 1",
    "a number that f32 rounds by a size": "y = x * s + 0.1 / n * n + 0.9",
    "a clamp that drops a nan": "y = tl.clamp(x, -1.0, 1.0) * s + 1",
    "the library with a whole number": "y = x * s + tl.extra.libdevice.tanh(n)",
    "a builtin that is not bound yet": "y = sum\n    sum = x * s + 1",
    "a builtin that kernels use": "max = x * s + 1\n    y = max",
    "no tensor": "y = x * s + 1\n    if s is None:\n        y = x",
    "an argument twice": "y = scaled(x, s, by=s)",
    "an argument that is not there": "y = scaled(x, s, minus=1.0)",
    "an argument too few": "y = scaled(x)",
    "a constant of data": "y = x * s + tl.constexpr(x)",
    "a whole number that a float rounds": ("y = x * s + (9007199254740993 - 9007199254740992.0)"),
    "a function that returns a type": "y = x.to(type_of(x)) * s + 1",
    "an axis that is set to a name": "y = with_axis_that_is_set(x) * s + 1",
    "elements of a tile of addresses": (
        "y = x * s + 1\n    if (x_ptr + at).type.element_ty == tl.float32:\n        y = x"
    ),
    "elements of a number": "y = (x * s + 1).to(s.type.element_ty)",
    "the type of an address": "y = (x * s + 1).to(x_ptr.type)",
    "a turned row": "y = x.T * s + 1",
    "types of values without one": "if s.dtype == tl.float32:\n        y = x * s + 1",
}


def verdict(body: str) -> LayerVerdict:
    return verify(PROGRAM, KERNEL.replace("BODY", body)).verdict


@pytest.mark.parametrize("form", RIGHT)
def test_it_is_proved(form: str) -> None:
    assert verdict(RIGHT[form]) is LayerVerdict.PROVED


@pytest.mark.parametrize("form", WRONG)
def test_a_mistake_is_refuted(form: str) -> None:
    assert verdict(WRONG[form]) is LayerVerdict.REFUTED


@pytest.mark.parametrize("form", UNREAD)
def test_what_is_not_clear_is_unknown(form: str) -> None:
    assert verdict(UNREAD[form]) is LayerVerdict.UNKNOWN


TURNED = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 16), cdiv(len(j), 16))](x, y, len(i), len(j))
# assume: len(i) * len(j) < 2**31, len(i) <= 2**30, len(j) <= 2**30


@triton.jit
def k(x, y, n, m):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    j = tl.program_id(1) * 16 + tl.arange(0, 16)
    mask = (i[:, None] < n) & (j[None, :] < m)
    tile = tl.load(x + i[:, None] * m + j[None, :], mask=mask)
    tl.store(y + j[:, None] * n + i[None, :], VALUE, mask=MASK)
"""


@pytest.mark.parametrize(
    ("value", "mask", "wanted"),
    [
        ("tile.T", "mask.T", LayerVerdict.PROVED),
        ("(tile + 0).T", "(i[None, :] < n) & (j[:, None] < m)", LayerVerdict.PROVED),
        ("tile", "mask.T", LayerVerdict.REFUTED),
        ("tile.T.T", "mask.T", LayerVerdict.REFUTED),
        ("tile.T", "mask", LayerVerdict.REFUTED),
    ],
)
def test_a_turned_tile(value: str, mask: str, wanted: LayerVerdict) -> None:
    program = written("Func y: f32; In x: f32; Var j, i; y[j, i] = x[i, j]; y.compile();")
    text = TURNED.replace("VALUE", value).replace("MASK", mask)
    assert verify(program, text).verdict is wanted


def test_a_sum_of_all_lanes() -> None:
    program = written(
        "Func y: f32; In x: f32; Var i; RVar j; y[i] = rsum(x[i, j], j); y.compile();"
    )
    text = OVERFLOWS.replace("WIDE", ".to(tl.int64)").replace(
        "mask=at < n)\n    tl.store(y_ptr + row + at, x, mask=at < n)", "REST"
    )
    right = "mask=at < n, other=0.0)\n    tl.store(y_ptr + tl.program_id(0), tl.sum(x))"
    assert verify(program, text.replace("REST", right)).verdict is LayerVerdict.PROVED
    wrong = right.replace("tl.sum", "tl.max")
    assert verify(program, text.replace("REST", wrong)).verdict is LayerVerdict.REFUTED


SUMMED = """\
import triton
import triton.language as tl

# verify: k[(len(i),)](x, y, len(j), BLOCK=next_power_of_2(len(j)))
# assume: len(j) <= 4096, len(i) * len(j) < 2**31


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    tl.store(y_ptr + tl.program_id(0), SUM)
"""


@pytest.mark.parametrize(
    ("written_sum", "wanted"),
    [
        ("tl.sum(x, axis=0, dtype=tl.float32)", {LayerVerdict.PROVED}),
        ("tl.sum(x, 0, dtype=tl.float32)", {LayerVerdict.PROVED}),
        ("tl.sum(x, axis=0)", {LayerVerdict.REFUTED, LayerVerdict.UNKNOWN}),
        ("tl.sum(x, axis=0, dtype=tl.int32)", {LayerVerdict.REFUTED, LayerVerdict.UNKNOWN}),
        ("tl.sum(x, axis=0, dtype=tl.float16)", {LayerVerdict.UNKNOWN}),
        ("tl.max(x, axis=0, dtype=tl.float32)", {LayerVerdict.UNKNOWN}),
    ],
)
def test_a_sum_in_another_type(written_sum: str, wanted: set[LayerVerdict]) -> None:
    program = written(
        "Func y: f32; In x: f16; Var i; RVar j; y[i] = rsum(cast(x[i, j], f32), j); y.compile();"
    )
    assert verify(program, SUMMED.replace("SUM", written_sum)).verdict in wanted


def test_an_overflow_of_a_product_of_sizes_has_an_example() -> None:
    program = written("Func y: f32; In x: f32; Var i, j; y[i, j] = x[i, j]; y.compile();")
    narrow = verify(program, OVERFLOWS.replace("WIDE", ""))
    assert narrow.verdict is LayerVerdict.REFUTED
    (overflow,) = [one for one in narrow.layers if one.verdict is LayerVerdict.REFUTED]
    assert overflow.name == "overflow"
    assert overflow.witness is not None
    rows, columns = dict(overflow.witness.sizes)["i"], dict(overflow.witness.sizes)["j"]
    assert rows * columns > 2**31
    wide = verify(program, OVERFLOWS.replace("WIDE", ".to(tl.int64)"))
    assert wide.verdict is LayerVerdict.PROVED
