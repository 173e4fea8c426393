"""Calls that a generated function takes, and the words in which it refuses others."""

import inspect
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from tests.codegen.calls import ADD, SCALARS, module, refused, text


@pytest.fixture(scope="module")
def add() -> Any:
    return module(ADD).f


@pytest.fixture(scope="module")
def scalars() -> Any:
    return module(SCALARS).f


# What it takes


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        (ADD, "(A, B, *, out=None)"),
        (SCALARS, "(A, a, n, c, *, out=None)"),
        ("Func f; SIn a; In A; Var x; f[x] = a * A[x];", "(a, A, *, out=None)"),
        ("Func f; In A; Var x, y; f[x, y] = A[x] + y;", "(A, *, out=None, y)"),
        ("Func f; Var x, y; f[x, y] = x + y;", "(*, out=None, x, y, device=None)"),
        ("Func f; In A; Var x; f[x] = x;", "(A, *, out=None, x, device=None)"),
        ("Func f; SIn a; f[] = a;", "(a, *, out=None, device=None)"),
    ],
)
def test_signature(source: str, signature: str) -> None:
    assert str(inspect.signature(module(source).f)) == signature


def test_no_more_and_no_fewer_arguments(add: Any) -> None:
    A, B = torch.ones(2, 3), torch.ones(3)
    assert "missing 1 required positional argument: 'B'" in refused(TypeError, add, A)
    assert "takes 2 positional arguments" in refused(TypeError, add, A, B, None)
    assert "unexpected keyword argument 'x'" in refused(TypeError, add, A, B, x=2)


def test_sizes_that_no_tensor_shows() -> None:
    function = module("Func f; Var x, y; f[x, y] = 10 * x + y;").f
    expected = torch.tensor([[0, 1], [10, 11], [20, 21]])
    assert torch.equal(function(x=3, y=2), expected)
    assert torch.equal(function(x=np.int64(3), y=torch.tensor(2)), expected)
    assert function(x=0, y=2).shape == (0, 2)
    assert refused(ValueError, function, x=-1, y=2).startswith("'x' is -1, but must be from 0 to")
    assert refused(TypeError, function, x=3.0, y=2) == "'x' must be a whole number, not 3.0"
    assert "missing 1 required keyword-only argument: 'y'" in refused(TypeError, function, x=3)


# What tensors it refuses


def test_tensors(add: Any) -> None:
    A, B = torch.ones(2, 3), torch.ones(3)
    assert refused(TypeError, add, [1.0], B) == "'A' must be a tensor, not list"
    assert refused(TypeError, add, A, np.ones(3)) == "'B' must be a tensor, not ndarray"
    assert refused(ValueError, add, A, A) == ("'B' must have 1 dimensions, but its shape is (2, 3)")
    assert refused(TypeError, add, A.to_sparse(), B) == (
        "'A' is torch.sparse_coo: pass A.to_dense()"
    )
    assert refused(TypeError, add, A.int(), B) == (
        "'A' is torch.int32, and without a declared dtype it must be a float: "
        "declare one, as in `In A: i32;`, and generate this file again"
    )
    assert refused(ValueError, add, A, B.to("meta")) == "'B' is on meta, but others are on cpu"
    assert refused(ValueError, add, A.to("meta"), B).startswith("'A' is on meta: move it to a GPU")


def test_a_declared_dtype() -> None:
    function = module("Func f; In A: bf16; Var x; f[x] = A[x];").f
    assert function(torch.ones(2).bfloat16()).dtype is torch.bfloat16
    assert refused(TypeError, function, torch.ones(2)) == (
        "'A' is torch.float32, but is declared torch.bfloat16"
    )


def test_dtypes_that_do_not_promote(add: Any) -> None:
    A, B = torch.ones(2, 3), torch.ones(3)
    assert add(A.half(), B.bfloat16()).dtype is torch.float32
    assert add(A.to(torch.float8_e5m2), B.to(torch.float8_e5m2)).dtype is torch.float8_e5m2
    assert refused(TypeError, add, A, B.to(torch.float8_e5m2)) == (
        "no dtype holds both torch.float32 and torch.float8_e5m2, of A and B: convert one"
    )


def test_dtypes_that_meet_out_of_sight() -> None:
    function = module("Func f: f32; In A, B; Var x; f[x] = where(A[x] < B[x], 1.0, 0.0);").f
    A = torch.ones(2)
    assert function(A, A.half()).tolist() == [0, 0]
    assert "no dtype holds both" in refused(TypeError, function, A, A.to(torch.float8_e4m3fn))


def test_a_gradient_would_be_lost(add: Any) -> None:
    A, B = torch.ones(2, 3), torch.ones(3, requires_grad=True)
    assert refused(RuntimeError, add, A, B) == (
        "'B' requires a gradient, and there is no backward of this function: "
        "call it under torch.no_grad(), or pass B.detach()"
    )
    assert refused(RuntimeError, add, A, torch.nn.Parameter(B)).startswith("'B' requires")
    with torch.no_grad():
        assert not add(A, B).requires_grad
    with torch.inference_mode():
        assert add(A, B).is_inference()
    assert not add(A, torch.nn.Parameter(B, requires_grad=False)).requires_grad


def test_a_flipped_sign_is_not_seen_by_kernels(add: Any) -> None:
    A = torch.randn(2, 3, dtype=torch.complex64).conj().imag
    assert A.is_neg()
    assert refused(TypeError, add, A, torch.ones(3)) == (
        "'A' is stored with its sign flipped: pass A.resolve_neg()"
    )


def test_an_input_that_nothing_reads_may_be_anything() -> None:
    function = module("Func f; In A, B; Var x; f[x] = A[x];").f
    assert function(torch.ones(2), None).shape == (2,)


@pytest.mark.long
def test_the_cpu_only_in_the_interpreter(tmp_path: Any) -> None:
    path = tmp_path / "generated.py"
    path.write_text(text(ADD))
    code = "import torch, generated; generated.f(torch.ones(2, 3), torch.ones(3))"
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == (
        "ValueError: 'A' is on cpu: move it to a GPU, or start Python with "
        "TRITON_INTERPRET=1, and kernels run on the CPU in Triton's interpreter"
    )


# Sizes


@pytest.mark.parametrize(
    ("source", "shapes", "message"),
    [
        (
            ADD,
            [(2, 3), (4,)],
            "the tensors disagree on the size of 'y': it is 3 by A.shape[1], but 4 by B.shape[0]",
        ),
        (
            "Func f; In A; Var x; f[x] = A[x, x];",
            [(2, 3)],
            "the tensors disagree on the size of 'x': it is 2 by A.shape[0], but 3 by A.shape[1]",
        ),
        (
            "Func f; In A, B; Var x; f[x] = A[x + 2] + B[x];",
            [(5,), (4,)],
            "the tensors disagree on the size of 'x': it is 4 by B.shape[0], "
            "but 3 by A.shape[0], which is 5 and read at x + 2",
        ),
        (
            "Func f; In A, B; Var x; f[x] = A[x] + A[x + 2] + B[x + 1];",
            [(5,), (3,)],
            "the tensors disagree on the size of 'x': it is 3 by A.shape[0], which is 5 and "
            "read at x and x + 2, but 2 by B.shape[0], which is 3 and read at x + 1",
        ),
        (
            "Func f; In A, W, B; Var y; RVar r; f[y] = rsum(A[y + r] * W[r], r) + B[y];",
            [(5,), (3,), (4,)],
            "'A' is read outside of axis 0: A.shape[0] is 5, "
            "and y + r reaches 5 for sizes y=4, r=3",
        ),
        (
            "Func f; In A; Var x; f[x] = A[x] + A[3];",
            [(3,)],
            "'A' is read outside of axis 0: A.shape[0] is 3, and 3 reaches 3",
        ),
        (
            "Func f; In A, B, C; Var x; RVar k;"
            "f[x] = rsum(A[x - k + 2] * reshape(B[x], x, 1) * C[k], k);",
            [(9,), (4,), (4,)],
            "'A' is read outside of axis 0: A.shape[0] is 9, "
            "and x - k + 2 reaches -1 for sizes x=4, k=4",
        ),
        (
            "Func g, f; In A; Var x, y; g[x] = A[x]; f[y] = g[y] + g[4];",
            [(3,)],
            "'g' is read outside of axis 0: g.shape[0] is 3, and 4 reaches 4",
        ),
    ],
)
def test_sizes(source: str, shapes: list[tuple[int, ...]], message: str) -> None:
    function = module(source).f
    assert refused(ValueError, function, *map(torch.ones, shapes)) == message


def test_a_passed_size_that_disagrees() -> None:
    source = "Func g, f; In A; Var x, y; g[x, y] = A[x] + y; f[x] = g[x, 2] + g[x, 5];"
    assert refused(ValueError, module(source).f, torch.ones(3), y=4) == (
        "'g' is read outside of axis 1: g.shape[1] is 4, and 5 reaches 5"
    )


# Scalars


NUMBERS = [
    (1.5, 3, True),
    (np.float32(1.5), np.int64(3), np.bool_(True)),
    (np.float64(1.5), np.uint8(3), np.array(True)),
    (torch.tensor(1.5), torch.tensor(3), torch.tensor(True)),
    (torch.tensor(1.5).half(), torch.tensor(3, dtype=torch.uint8), torch.tensor(True)),
]


@pytest.mark.parametrize("given", NUMBERS, ids=str)
def test_numbers(scalars: Any, given: tuple[Any, Any, Any]) -> None:
    assert scalars(torch.tensor([2.0, 4.0]), *given).tolist() == [6.0, 9.0]


def test_a_number_of_a_lower_kind_will_do(scalars: Any) -> None:
    A = torch.tensor([2.0, 4.0])
    assert scalars(A, 2, True, False).tolist() == [4.0, 8.0]
    assert torch.equal(scalars(A, 10**20, 255, True), A * 1e20 + 255)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1j, 3, True), "'a' must be a number, not 1j"),
        (("1", 3, True), "'a' must be a number, not '1'"),
        ((None, 3, True), "'a' must be a number, not None"),
        ((torch.ones(1), 3, True), "'a' must be a number, not tensor([1.])"),
        ((torch.tensor(1j), 3, True), "'a' must be a number, not 1j"),
        ((1.0, 3.5, True), "'n' must be a whole number, not 3.5"),
        ((1.0, torch.tensor(3.0), True), "'n' must be a whole number, not 3.0"),
        ((1.0, 3, 1), "'c' must be True or False, not 1"),
        ((1.0, 3, torch.tensor(1)), "'c' must be True or False, not 1"),
    ],
)
def test_numbers_of_another_kind(scalars: Any, given: tuple[Any, ...], message: str) -> None:
    assert refused(TypeError, scalars, torch.ones(2), *given) == message


@pytest.mark.parametrize("number", [256, -1, 10**30])
def test_whole_numbers_out_of_range(scalars: Any, number: int) -> None:
    assert refused(ValueError, scalars, torch.ones(2), 1.0, number, True) == (
        f"'n' is {number}, but must be from 0 to 255"
    )


def test_a_number_with_a_gradient(scalars: Any) -> None:
    number = torch.tensor(1.0, requires_grad=True)
    message = refused(RuntimeError, scalars, torch.ones(2), number, 3, True)
    assert message.startswith("'a' requires a gradient, and there is no backward")
    with torch.no_grad():
        assert scalars(torch.ones(2), number, 3, True).tolist() == [4.0, 4.0]
