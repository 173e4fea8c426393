"""Packed inputs: two numbers of 4 bits in a byte, on each route, and what is wrong with them."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.checking import check, load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_reference_text import computed
from tests.verify.texts import ROOT, program_of

COPY = """\
Func f; In W: {dtype} packed k; Var x; RVar k;
f[x, k] = W[x, k];
f.block(x:4); f.tensorize(x:0, k:{tile}); f.compile();
"""
SUM = """\
Func f; In A, W: {dtype} packed k; Var x; RVar k;
f[x] = rsum(A[k] * W[x, k] + pad(W, 0)[x, k + 1], k);
f.block(x:4); f.tensorize(x:0, k:16); f.compile();
"""


def unpacked(bytes_: torch.Tensor, dtype: str) -> torch.Tensor:
    """Return the numbers of the halves of bytes: the lower one first."""
    low, high = bytes_.int() % 16, bytes_.int() // 16
    both = torch.stack((low, high), -1).flatten(-2)
    return torch.where(both > 7, both - 16, both) if dtype == "i4" else both


@cache
def text_of(source: str) -> tuple[Any, str]:
    program = load(Source("test.dt", source))
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["i4", "u4"])
@pytest.mark.parametrize("tile", [1, 16, 0])
def test_all_bytes(dtype: str, tile: int) -> None:
    program, text = text_of(COPY.format(dtype=dtype, tile=tile))
    bytes_ = torch.arange(256, dtype=torch.uint8).reshape(8, 32)[:, ::1]
    module: Any = imported(text)
    for given in (bytes_, bytes_.t().contiguous().t(), bytes_[:, :7], bytes_[:0], bytes_[:3, :0]):
        wanted = unpacked(given, dtype)
        for found in (module.f(given), run(program, {"W": given})["f"]):
            assert found.dtype is {"i4": torch.int8, "u4": torch.uint8}[dtype]
            assert torch.equal(found.int(), wanted.int())
        assert torch.equal(computed(program, "f", {"W": given}, {}).int(), wanted.int())
    assert verify(program, text).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["i4", "u4"])
@pytest.mark.parametrize("size", [0, 2, 6, 16, 34])
def test_sums_at_even_sizes(dtype: str, size: int) -> None:
    program, text = text_of(SUM.format(dtype=dtype))
    bytes_ = torch.randint(0, 256, (5, size // 2)).to(torch.uint8)
    a = torch.randn(size)
    module: Any = imported(text)
    every = torch.cat((unpacked(bytes_, dtype), torch.zeros(5, 2, dtype=torch.int32)), 1)
    wanted = (a * every[:, :size] + every[:, 1 : size + 1]).sum(1)
    assert torch.allclose(module.f(a, bytes_), wanted, 1e-4, 1e-4)
    assert torch.allclose(run(program, {"A": a, "W": bytes_})["f"].float(), wanted, 1e-4, 1e-4)
    assert verify(program, text).verdict is LayerVerdict.PROVED
    with pytest.raises(ValueError, match="disagree on the size of 'k'"):
        module.f(torch.randn(size + 1), bytes_)


@pytest.mark.parametrize("sizes", [(1, 1, 2), (17, 65, 130), (16, 64, 256), (0, 3, 4), (5, 3, 78)])
def test_product_with_weights_of_four_bits(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    program = program_of(ROOT / "examples/packed_w4a16.dt")
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    a = torch.randn(m, k).half()
    w = torch.randint(0, 256, (n, k // 2)).to(torch.uint8)
    s = (torch.rand(n, (k + 127) // 128) / 8).half()
    weight = unpacked(w, "i4")[:, :k].half() * s.repeat_interleave(128, 1)[:, :k]
    wanted = a.double() @ weight.double().t()
    module: Any = imported(text)
    assert torch.allclose(module.product(a, w, s).double(), wanted, 2e-2, 2e-2)


def test_the_product_is_proved() -> None:
    program = program_of(ROOT / "examples/packed_w4a16.dt")
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text).verdict is LayerVerdict.PROVED


def in_groups_of_64(bytes_: torch.Tensor) -> torch.Tensor:
    """Return the weights of w4a16.dt: 64 lower halves, then their 64 upper ones."""
    grouped = bytes_.int().reshape(len(bytes_), -1, 1, 64)
    return torch.cat((grouped % 16, grouped // 16), 2).flatten(1) - 8


OF_TYPES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "w4a16": in_groups_of_64,
    "packed_w4a16": lambda bytes_: unpacked(bytes_, "i4"),
    "wide_packed_w4a16": lambda bytes_: unpacked(bytes_, "i4"),
}
OTHER_TYPES = {"bf16": torch.bfloat16, "f32": torch.float32, "f16": torch.float16}


@pytest.mark.sampled
@pytest.mark.parametrize("name", OF_TYPES)
@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_products_in_other_types(name: str, dtype: str) -> None:
    """The examples are for f16; with another type in the file they are as right, and proved."""
    file = (ROOT / f"examples/{name}.dt").read_text()
    program, text = text_of(re.sub(r"\bf16\b", dtype, file))
    assert verify(program, text).verdict is LayerVerdict.PROVED
    module: Any = imported(text)
    for m, n, k in ((0, 3, 128), (1, 1, 128), (17, 65, 384), (5, 33, 256)):
        a = torch.randn(m, k).to(OTHER_TYPES[dtype])
        w = torch.randint(0, 256, (n, k // 2)).to(torch.uint8)
        s = (torch.rand(n, k // 128) / 8).to(a.dtype)
        weight = (OF_TYPES[name](w).double() * s.double().repeat_interleave(128, 1)).to(a.dtype)
        wanted = a.double() @ weight.double().t()
        turned = s.t().contiguous().t()
        for scales in (s, turned):
            found = module.product(a, w, scales)
            assert found.dtype is a.dtype
            share = 1e-5 if dtype == "f32" else 2e-2
            torch.testing.assert_close(found.double(), wanted, rtol=share, atol=share * 2)


# One mistake each in what is emitted for a sum of packed numbers.
MISTAKES = (
    *((" & 15", " & 7"), (" & 15", ""), (" ^ 8", ""), (" ^ 8", " ^ 7"), (" - 8", " - 7")),
    *(("4 *", "3 *"), ("4 *", "-4 *"), ("// 2", "// 4"), ("dt_shr(", "dt_shl("), ("& 1)", "& 3)")),
)


@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_no_mistake_is_proved(old: str, new: str) -> None:
    program, text = text_of(COPY.format(dtype="i4", tile=16))
    start, end = text.index("def f_kernel"), text.index("f_plan = {")
    kernel, tried = text[start:end], 0
    at = kernel.find(old)
    while at >= 0:
        wrong = text[:start] + kernel[:at] + new + kernel[at + len(old) :] + text[end:]
        assert verify(program, wrong).verdict is not LayerVerdict.PROVED, (old, new)
        at, tried = kernel.find(old, at + 1), tried + 1
    assert tried


WRONG = {
    "a label": ("In W: i4 packed 4; Var x; Func f; f[x] = W[x];", "DT111"),
    "a dtype": ("In W: u8 packed x; Var x; Func f; f[x] = W[x];", "DT219"),
    "a Func": ("In A; Var x; Func f: i4 packed x; f[x] = A[x];", "DT219"),
    "not packed": ("In W: i4; Var x; Func f; f[x] = W[x];", "DT219"),
    "a scalar": ("In W: i4 packed s; SIn s; Var x; Func f; f[x] = W[x] * s;", "DT219"),
    "another label": ("In W: i4 packed y; Var x, y; Func f; f[x, y] = W[x] * y;", "DT219"),
    "two axes": ("In W: u4 packed x; Var x; Func f; f[x] = W[x, x];", "DT219"),
    "a pad": ("In W: u4 packed x; Var x; Func f; f[x] = pad(W, 1)[x - 1];", "DT219"),
    "in place": ("In W: u4 packed x; Var x; Func f into W; f[x] = W[x];", "DT219"),
    "a cast": ("In W; Var x; Func f; f[x] = cast(W[x], i4);", "DT219"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str) -> None:
    text, code = WRONG[name]
    found = check(Source("test.dt", text)).diagnostics
    assert code in {one.code for one in found}, [one.code for one in found]
