"""The reference in a generated file computes what the reference executor does."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dtpoly.algorithm.expressions import ProgramId, walk
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.carried import values
from dtpoly.checking import load
from dtpoly.codegen.building import Unsupported
from dtpoly.codegen.file_parts import shared_by
from dtpoly.codegen.planned_sizes import passed_labels
from dtpoly.codegen.reference_terms import SHARED
from dtpoly.codegen.reference_text import check_meaning, reference
from dtpoly.diagnostics import DtpolyError
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source
from tests.generation import extents
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import Choose, seeded
from tests.strategies import fitted


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def text_of(one: Program, func: str) -> str:
    names = {i.name: i.name for i in one.inputs}
    return reference(one, func, "reference", names).text


def computed(one: Program, func: str, inputs: Any, sizes: dict[str, int]) -> torch.Tensor:
    names = {i.name: i.name for i in one.inputs}
    made = reference(one, func, "reference", names)
    module: dict[str, Any] = {"torch": torch, **vars(values)}
    exec("\n".join((*shared_by(made.called, SHARED), made.text)), module)
    passed = {label: sizes[label] for label in passed_labels(one)}
    result = module["reference"](**inputs, **passed)
    assert isinstance(result, torch.Tensor)
    return result


def compare(one: Program, sizes: dict[str, int], seed: int = 0) -> None:
    inputs = random_inputs(one, sizes, seed)
    passed = {label: sizes[label] for label in passed_labels(one)}
    wanted = run(one, inputs, sizes=passed)
    for func in one.funcs:
        result = computed(one, func.name, inputs, sizes)
        expected = wanted[func.name]
        about = f"{show(one)}{text_of(one, func.name)}{sizes}"
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape), about
        # A sum of -0 is 0 here and there may stay -0, whose root is the other infinity.
        if expected.is_floating_point():
            result = torch.where(expected.isinf() & (result == -expected), expected, result)
        assert torch.allclose(result, expected, rtol=1e-9, atol=1e-9, equal_nan=True), about


def compare_random(choose: Choose) -> bool:
    one = algorithm(choose, Limits(labels=4, tensors=3, scalars=2, funcs=3, rank=3, depth=3))
    if any(isinstance(node, ProgramId) for f in one.funcs for node in walk(f.body)):
        return False
    sizes = fitted(one, extents.label_sizes(choose, one, 1, 4))
    if 0 in sizes.values():
        return False
    try:
        compare(one, sizes)
    except DtpolyError:
        return False
    return True


@pytest.mark.long
def test_as_the_executor() -> None:
    assert sum(compare_random(seeded(seed)) for seed in range(120)) > 80


@pytest.mark.long
@pytest.mark.parametrize("first", range(10_000, 14_000, 500))
def test_as_the_executor_many_times(first: int) -> None:
    assert sum(compare_random(seeded(seed)) for seed in range(first, first + 500)) > 300


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(st.data())
def test_as_the_executor_for_what_hypothesis_finds(data: st.DataObject) -> None:
    compare_random(lambda n: data.draw(st.integers(0, n - 1)))


ONE_EACH = (
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k) + rprod(A[x, k], k);",
    "Func f; In A: i8; Var x; RVar k; f[x] = rsum(A[x, k], k) * rprod(A[x, k], k);",
    "Func f; In A; Var x; RVar k, l; f[x] = rmax(A[x, k, l], k, l) - rmin(A[l, x, k], l, k);",
    "Func f; In A: bool; Var x; RVar k; f[x] = rany(A[x, k], k) and rall(A[x, k], k);",
    "Func f; In A; Var x; RVar k; f[x] = rargmax(A[k, x], k) + rargmin(A[x, k], k);",
    "Func f; In A, B; Var x, y; RVar k; f[y, x] = rdot(A[x, k], B[k, y], k);",
    "Func f; In A; Var x, y; f[x, y] = A[y, x] * reshape(A[x, x], 1, x);",
    "Func f; In A, B; Var x, y, z; f[x, y, z] = reshape(A[x], x, 1, 1) + B[y, z];",
    "Func f; In A; Var x; RVar k; f[x] = rsum(reshape(A[x], x, k), k);",
    "Func f; In A: f16; Var x; f[x] = cast(cast(A[x], f8e4m3), f16) + cast(A[x], i8);",
    "Func f; In A: u8; Var x; f[x] = A[x] % 3 + A[x] % (A[x] - 1) + cdiv(A[x], 2);",
    "Func f; In A; Var x; f[x] = A[x] % 3 + cdiv(A[x], 0.7) + fma(A[x], A[x], 2);",
    "Func f; In A; Var x; f[x] = clamp(A[x], -0.5, 0.5) + clamp(0.2, A[x], 1 + A[x]);",
    "Func f; In A; Var x; f[x] = maximum(A[x], 0) + minimum(0, A[x]) + pow(A[x], 3);",
    # Not every torch has NaN where that is a limit of its own `clamp`.
    "Func f; In A; Var x; f[x] = minimum(A[x], nan) + clamp(A[x], nan, 1.0);",
    "Func f; In A; Var x; f[x] = where(A[x] < 0 or not A[x] <= 1, 1 / 3, 0.1) * len(x);",
    "Func f; In A; Var x, y; f[x, y] = where(y <= x, A[x, y], -inf);",
    "Func f; In A; Var x; f[x] = pad(A, 0)[x - 1] + pad(A, 1)[2 * x];",
    "Func f; In A, W; Var y; RVar r; f[y] = rdot(A[2 * y + r], W[r], r);",
    "Func g, f; In A; Var x, y; g[x] = A[x]; f[y] = g[y] + g[y + 2];",
    "Func f: i32; In A: u8; SIn n: i8, c: bool; Var x; f[x] = where(c, A[x] * n, A[3]);",
    "Func f: f64; In A: i32; Var x; f[x] = A[x];",
)


@pytest.mark.parametrize("text", ONE_EACH)
def test_each_construct(text: str) -> None:
    one = program(text)
    sizes = {"x": 4, "y": 4, "z": 3, "k": 4, "l": 4, "r": 2}
    sizes = {label.name: sizes[label.name] for label in one.labels}
    compare(one, fitted(one, sizes), seed=3)
    assert all(
        len(line) <= 100 for func in one.funcs for line in text_of(one, func.name).split("\n")
    )


def test_it_reads_like_the_definition() -> None:
    one = program(
        "Func e, s, f; In A; Var x, y; RVar k;"
        "e[x, y] = exp(A[x, y]); s[x] = rsum(e[x, k], k); f[x, y] = e[x, y] / reshape(s[x], x, 1);"
    )
    assert text_of(one, "f") == (
        "def reference(A):\n"
        '    """`f` by its definition, in float64."""\n'
        "    A = A.cpu().double()\n"
        "    e = torch.exp(A)\n"
        "    s = e.sum(1)\n"
        "    f = e / s[:, None]\n"
        "    return f\n"
    )


def test_a_program_id_has_no_reference() -> None:
    one = program("Func f; In A; Var x; f[x] = A[x] + program_id(0);")
    with pytest.raises(Unsupported, match="'program_id' in 'f' depends on the schedule"):
        check_meaning(one)
