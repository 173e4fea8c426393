"""Tests what becomes `tl.dot`: sides of several labels, batches, types of operands."""

import re
from functools import cache

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.plan.runtime_text import FIRST
from dtpoly.schedule.legality import judge
from tests.codegen.inputs import Inputs, Layout, Recipe
from tests.codegen.listings import PRODUCTS, module, program
from tests.codegen.listings import code as code_of_file
from tests.codegen.running import compared, imported
from tests.schedule.told import read

HEAD = "Func f; In A, B; Var b, m, n; RVar k, l;"
SIZES = {"b": 3, "m": 5, "n": 9, "k": 19, "l": 3}
TILES = "f.tensorize(b:2, m:4, n:8, k:16);"
PAIRS = "f.tensorize(b:2, m:4, n:8, k:8, l:2);"
WHOLE = "f.tensorize(b:0, m:2, n:8, k:0, l:2);"
# A Program, and what is brought into the shape of a matrix.
FORMS = {
    "plain": ("f[m, n] = rdot(A[m, k], B[k, n], k); f.tensorize(m:4, n:8, k:16);", ""),
    "the other side first": (
        "f[n, m] = rdot(A[m, k], B[k, n], k); f.tensorize(n:8, m:4, k:0);",
        "",
    ),
    "a batch": (f"f[b, m, n] = rdot(A[b, m, k], B[b, k, n], k); {TILES}", ""),
    "a batch inside": (f"f[m, b, n] = rdot(A[b, m, k], B[n, k, b], k); {TILES}", ""),
    "two are rows": (f"f[m, b, n] = rdot(A[b, m, k], B[n, k], k); {TILES}", "A"),
    "two are columns": (f"f[n, m, b] = rdot(A[b, m, k], B[n, k], k); {TILES}", "A"),
    "rows around columns": (f"f[m, n, b] = rdot(A[b, m, k], B[n, k], k); {TILES}", "A"),
    "two are reduced": (
        "f[m, n] = rdot(A[m, k, l], B[l, n, k], k, l); f.tensorize(m:4, n:8, k:8, l:2);",
        "A B",
    ),
    "all at once": (f"f[m, b, n] = rdot(A[k, b, m, l], B[l, n, b, k], k, l); {PAIRS}", "A B"),
    "lanes by size": (f"f[m, b, n] = rdot(A[k, b, m, l], B[l, n, k], k, l); {WHOLE}", "A B"),
    "repeated along the rows": (
        "f[m, n] = rdot(reshape(B[k], m, k), A[k, n], k); f.tensorize(m:4, n:8, k:16);",
        "operand",
    ),
    "in parts": (f"f[b, m, n] = rdot(A[b, m, k], B[n, k], k); {TILES} f.block(k:16);", "A"),
}
# A product of what another one gives, which is fused.
BETWEEN = """
    Func f, g; In A, B, C; Var m, n; RVar k, l;
    g[m, l] = rdot(A[m, k], B[k, l], k);
    f[m, n] = rdot(g[m, l], C[l, n], l);
    g.fuse_at(f, m); f.block(m:16);
"""
NO_FORMS = {
    "too few steps": "f[m, n] = rdot(A[m, k], B[k, n], k); f.tensorize(m:4, n:8, k:8);",
    "no columns": "f[b, m] = rdot(A[b, m, k], B[b, k], k); f.tensorize(b:2, m:4, k:16);",
    "a side without the reduced label": "f[m, n] = rdot(g[m, k], B[k, n], k); In C; Func g;"
    "g[m, k] = C[m] * len(k); g.inline(); f.tensorize(m:4, n:8, k:16); f.compile();",
}


@cache
def made(text: str) -> tuple[Program, Code]:
    """Return a Program, and what is generated for it."""
    given = read(text)
    return given, code_of(judge(given, DIRECTIVES).scheduled)


def run(text: str, dtype: DType = DType.F32, inputs: Inputs | None = None) -> str:
    """Run a Program at ragged sizes; its text."""
    given, code = made(text)
    sizes = {label.name: SIZES[label.name] for label in given.labels}
    theirs = inputs or Recipe(2, dtype, Layout.SLICED).inputs(given, sizes)
    compared(imported(code.text), given, code.stages.outputs, theirs, sizes)
    return code.text


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [DType.F32, DType.F16, DType.F8E5M2, DType.F64], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_product_of_matrices(form: str, dtype: DType) -> None:
    source, reshaped = FORMS[form]
    text = run(f"{HEAD} {source}", dtype)
    assert "tl.dot(" in text
    assert sorted(set(re.findall(r"(\w+)_matrix =", text))) == reshaped.split()


def test_a_product_with_columns_first_is_read_as_it_is() -> None:
    """Two labels are its rows, so that it is computed the other way round."""
    text = run(
        "Func f, g; In A, B; Var b, m, n; RVar k; g[b, m, n] = rdot(A[b, m, k], B[k, n], k);"
        "f[b, m, n] = exp(0 - abs(g[b, m, n])); g.fuse_at(f, n);"
        "f.block(b:4, m:4, n:64);"
        "f.tensorize(b:0, m:0, n:0, g.b:0, g.m:0, g.n:0, g.k:16); f.compile();"
    )
    assert "tl.reshape(g_acc, (64, 4, 4))" in text
    assert "tl.permute(g_tile, 1, 2, 0)" in text


@pytest.mark.parametrize("form", NO_FORMS)
def test_no_product_of_matrices(form: str) -> None:
    assert "tl.dot(" not in run(f"{HEAD} {NO_FORMS[form]}")


@pytest.mark.parametrize("dtype", ["i8", "f8e4m3", "u8", "bf16"])
@pytest.mark.parametrize("steps", [16, 32])
def test_bytes_need_more_steps(dtype: str, steps: int) -> None:
    text = run(
        f"Func f; In A: {dtype}, B: {dtype}; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[n, k], k);"
        f"f.tensorize(m:4, n:8, k:{steps});"
    )
    assert ("tl.dot(" in text) == (dtype in ("f8e4m3", "bf16") or (dtype == "i8" and steps == 32))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [DType.F8E4M3, DType.F8E5M2, DType.F16, DType.BF16], ids=str)
@pytest.mark.parametrize("where", ["registers", "one by one", "scratch"])
def test_what_was_computed_is_multiplied_as_if_it_had_been_stored(dtype: DType, where: str) -> None:
    schedule = {
        "registers": "f.tensorize(m:16, n:16, k:16, l:0);",
        "one by one": "f.tensorize(n:4, l:4);",
        "scratch": "f.tensorize(m:16, n:16, g.l:16, l:8, k:16);",
    }[where]
    text = run(f"{BETWEEN} {schedule}", dtype)
    assert ".to(A_B_C_stored)" in text or ", A_B_C_stored)" in text
    assert ("scratch" in text.partition(FIRST)[0]) == (where != "registers")


def test_what_was_computed_is_not_rounded_to_f16_first() -> None:
    """Just below 1.1875 is 1.125 in 8 bits; by way of f16 it would be 1.25."""
    a, b, c = torch.zeros(5, 19), torch.zeros(19, 3), torch.zeros(3, 9)
    a[0, :3], b[:3, 0], c[0, 0] = torch.tensor([1.125, 2**-4, -(2**-7)]), 1, 1
    b[2, 0] = 2**-6
    inputs: Inputs = {
        name: t.to(torch.float8_e4m3fn) for name, t in zip("ABC", (a, b, c), strict=True)
    }
    run(f"{BETWEEN} f.tensorize(m:16, n:16, k:16, l:0);", inputs=inputs)


@pytest.mark.sampled
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_file(name: str) -> None:
    sizes = {label.name: 2 * at + 3 for at, label in enumerate(program(name).labels)}
    inputs = Recipe(3, DType.F16).inputs(program(name), sizes)
    compared(module(name), program(name), code_of_file(name).stages.outputs, inputs, sizes)
