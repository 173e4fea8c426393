"""The wrapper: what it takes, what it refuses and how it says so, what it launches."""

import inspect
import os
import subprocess
import sys
import timeit
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from dtpoly.compile import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.dispatched import Dispatched
from tests.codegen.running import imported

ADD = "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[y]; f.tensorize(x:4, y:8);"
SCALARS = (
    "Func f; In A; SIn a, n: u8, c: bool; Var x; f[x] = A[x] * a + where(c, n, 0);f.tensorize(x:4);"
)


def text(source: str) -> str:
    return code_of(judge(load(Source("test.dt", source))).scheduled).text


def module(source: str) -> ModuleType:
    return imported(text(source))


@pytest.fixture(scope="module")
def add() -> Any:
    return module(ADD).f


@pytest.fixture(scope="module")
def scalars() -> Any:
    return module(SCALARS).f


def refused(error: type[Exception], function: Callable[..., Any], *given: Any, **named: Any) -> str:
    """What a call is refused with."""
    with pytest.raises(error) as caught:
        function(*given, **named)
    assert type(caught.value) is error
    return str(caught.value)


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
            "'A' is read outside of axis 0: A.shape[0] is 5, and y + r reaches 5",
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
            "'A' is read outside of axis 0: A.shape[0] is 9, and x - k + 2 reaches -1",
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


# out=


def test_out_is_written_and_returned(add: Any) -> None:
    A, B = torch.randn(3, 5), torch.randn(5)
    for out in (
        torch.empty(3, 5),
        torch.empty(5, 3).t(),
        torch.empty(6, 10)[::2, ::2],
        torch.empty(3, 1, 5).squeeze(1),
    ):
        assert add(A, B, out=out) is out
        assert torch.equal(out, A + B)


def test_out_is_as_the_result(add: Any) -> None:
    A, B = torch.ones(3, 5), torch.ones(5)
    assert refused(TypeError, add, A, B, out=[]) == "'out' must be a tensor, not list"
    assert refused(ValueError, add, A, B, out=torch.empty(5, 3)) == (
        "'out' is torch.float32 (5, 3) on cpu, but the result is torch.float32 (3, 5) on cpu"
    )
    assert refused(ValueError, add, A, B, out=torch.empty(3, 5).half()).startswith(
        "'out' is torch.float16 (3, 5)"
    )
    assert refused(ValueError, add, A, B, out=torch.empty(3, 5, device="meta")).startswith(
        "'out' is torch.float32 (3, 5) on meta"
    )
    out = torch.empty(3, 5, requires_grad=True)
    assert refused(RuntimeError, add, A, B, out=out).startswith("'out' requires a gradient")


def test_out_overlaps_nothing(add: Any) -> None:
    whole, B = torch.randn(3, 10), torch.randn(5)
    A = whole[:, :5]
    expected = A + B
    assert torch.equal(add(A, B, out=whole[:, 5:]), expected)
    assert torch.equal(A + B, expected)
    message = "'out' overlaps 'A': pass a tensor with memory of its own"
    assert refused(ValueError, add, A, B, out=whole[:, 4:9]) == message
    assert refused(ValueError, add, A, B, out=A) == message
    assert refused(ValueError, add, whole[0].expand(3, 10)[:, :5], B, out=A) == message
    assert refused(ValueError, add, torch.ones(3, 5), whole[2, 5:], out=whole[:, 5:]) == (
        message.replace("A", "B")
    )
    assert refused(ValueError, add, A, B, out=torch.empty(5).expand(3, 5)) == (
        "'out' overlaps itself: shape (3, 5), strides (0, 1)"
    )
    windows = torch.empty(7).unfold(0, 5, 1)
    assert refused(ValueError, add, A, B, out=windows).startswith("'out' overlaps itself")


def test_autograd_knows_that_out_was_written(add: Any) -> None:
    A, B, out = torch.ones(3, 5), torch.ones(5), torch.ones(3, 5)
    weight = torch.ones(3, 5, requires_grad=True)
    total = (weight * out).sum()
    with torch.no_grad():
        add(A, B, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(total, weight)


# Nothing at all


@pytest.mark.parametrize(
    ("source", "shape", "expected"),
    [
        ("f[x] = rsum(A[x, k], k); f.block(x:2); f.tensorize(k:4);", (3, 0), [0.0] * 3),
        ("f[x] = rmax(A[x, k], k); f.tensorize(x:0, k:0);", (3, 0), [float("-inf")] * 3),
        ("f[x] = rprod(A[x, k], k);", (2, 0), [1.0] * 2),
        ("f[x] = rsum(A[x, k], k);", (0, 3), []),
        ("f[x] = rsum(A[x, k], k); f.block(k:2);", (2, 0), [0.0] * 2),
        ("f[x] = rsum(A[x, k], k); f.block(k:2); f.atomic(k);", (2, 0), [0.0] * 2),
    ],
)
def test_no_elements(source: str, shape: tuple[int, ...], expected: list[float]) -> None:
    function = module(f"Func f; In A; Var x; RVar k; {source}").f
    assert function(torch.empty(shape)).tolist() == expected
    out = torch.full((shape[0],), 7.0)
    assert function(torch.empty(shape), out=out).tolist() == expected


PRODUCT = (
    "Func p, f; In A, B; Var m, n; RVar k; p[m, n] = rdot(A[m, k], B[k, n], k);"
    "f[m, n] = exp(p[m, n]) + rsum(B[k, n], k);"
)
SCHEDULES = {
    "one element at a time": "",
    "two kernels": "p.block(m:2, n:2); f.block(n:4); p.tensorize(m:0, n:0, k:16);",
    "fused": "f.block(m:16); f.tensorize(n:16); p.fuse_at(f, m);",
    "partial results": "p.block(k:2); f.tensorize(m:0);",
    "a whole size": "f.tensorize(m:0, n:0, k:0);",
}


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("label", ["m", "n", "k", "mnk"])
def test_any_size_may_be_0(schedule: str, label: str) -> None:
    m, n, k = (0 if one in label else size for one, size in (("m", 3), ("n", 5), ("k", 4)))
    A, B = torch.randn(m, k), torch.randn(k, n)
    expected = (A @ B).exp() + B.sum(0)
    torch.testing.assert_close(module(PRODUCT + schedule).f(A, B), expected)


def test_nothing_to_choose_from() -> None:
    function = module("Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k);").f
    message = "'rargmax' has nothing to choose from: the size of 'k' is 0"
    assert refused(ValueError, function, torch.empty(3, 0)) == message
    assert refused(ValueError, function, torch.empty(0, 0)) == message
    assert function(torch.empty(0, 3)).tolist() == []


# Limits


def test_a_tile_that_sizes_make_too_large() -> None:
    function = module("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.tensorize(k:0);").f
    assert refused(ValueError, function, torch.ones(1, 1).expand(2, 2**20 + 1)) == (
        "a tile of 'f' would have 2097152 elements, and Triton's limit is 1048576: "
        "write f.tensorize(k:16384) and generate this file again"
    )


def test_a_tile_of_two_labels() -> None:
    function = module("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:0, y:0);").f
    assert refused(ValueError, function, torch.ones(1, 1).expand(1025, 1000)) == (
        "a tile of 'f' would have 2097152 elements, and Triton's limit is 1048576: "
        "write f.tensorize(x:128, y:128) and generate this file again"
    )


def test_a_tile_that_is_always_too_large() -> None:
    source = "Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:2048, y:1024);"
    with pytest.raises(DtpolyError) as caught:
        text(source)
    (found,) = caught.value.diagnostics
    assert found.notes[0].text == (
        "a tile of 'f' has 2097152 elements, and Triton's limit is 1048576: "
        "tensorize by smaller numbers"
    )


def test_more_programs_than_a_grid_has() -> None:
    made: Any = module("Func f; In A; Var x, y; f[x, y] = A[x]; f.block(x:1, y:2);")
    room = torch.empty(1).expand(2**16, 2**17)
    A = torch.ones(1).expand(2**16)
    with mock.patch.object(torch, "empty", return_value=room):
        assert refused(ValueError, made.f, A, y=2**17) == (
            "'f' would need 4294967296 programs, and a grid has at most 2147483647: "
            "give each a larger block, and generate this file again"
        )


# Launches


class Kernel:
    """Stands for what launches a kernel, and keeps what it is launched with."""

    def __init__(self) -> None:
        self.launches: list[tuple[tuple[int, ...], tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, grid: tuple[int, ...], *given: Any, **named: Any) -> None:
        self.launches.append((grid, given, named))


def launched(source: str, func: str, *given: Any, **named: Any) -> dict[str, Kernel]:
    made = module(source)
    kernels = {name: Kernel() for name in vars(made) if name.endswith("_launch")}
    with mock.patch.dict(vars(made), kernels):
        getattr(made, func)(*given, **named)
    return kernels


def test_each_func_launches_what_it_needs() -> None:
    source = (
        "Func e, f, g; In A; Var x; e[x] = exp(A[x]); f[x] = e[x] + 1; g[x] = A[x] * 2;"
        "f.compile(); g.compile();"
    )
    for func, needed in {"f": ["e_launch", "f_launch"], "g": ["g_launch"]}.items():
        kernels = launched(source, func, torch.ones(3))
        assert [name for name, one in kernels.items() if one.launches] == needed


def test_what_a_kernel_is_launched_with() -> None:
    source = (
        "Func f; In A; SIn a; Var x, y; f[x, y] = A[x, y] * a;"
        "f.block(x:4, y:16); f.tensorize(x:0, y:0); f.num_warps(8); f.num_stages(3);"
    )
    A = torch.ones(9, 32).t().contiguous().t()
    ((grid, given, named),) = launched(source, "f", A, 2)["f_launch"].launches
    out = given[3]
    assert grid == (3 * 2,)
    assert given == (A, 1, 9, out, 32, 1, 2.0, 9, 32)
    names = {"even": False, "num_warps": 8, "num_stages": 3}
    assert {name: named[name] for name in names} == names
    assert str(named["offset"]) == "int32"
    assert str(named["real"]) == "fp32"


@pytest.mark.parametrize(
    ("A", "offset"),
    [
        (torch.ones(1).expand(2**30 - 2**20 - 1), "int32"),
        (torch.ones(1).expand(2**30 - 2**20), "int64"),
        (torch.empty(0).expand(0), None),
    ],
)
def test_64_bit_offsets_only_where_they_are_needed(A: torch.Tensor, offset: str | None) -> None:
    source = "Func f; In A; RVar k; f[] = rsum(A[k], k); f.tensorize(k:1024);"
    ((_, _, named),) = launched(source, "f", A)["f_launch"].launches
    assert str(named["offset"]) == (offset or "int32")


def test_few_elements_far_apart_need_64_bits() -> None:
    whole = torch.empty(2**31 + 1, dtype=torch.uint8)  # of which no page is touched
    source = "Func f; In A: u8; Var x; f[x] = A[x] + 1;"
    for step, offset in ((2**29, "int32"), (2**31, "int64")):
        A = torch.as_strided(whole, (2,), (step,))
        ((_, _, named),) = launched(source, "f", A)["f_launch"].launches
        assert str(named["offset"]) == offset
    out = torch.as_strided(whole, (2,), (2**31,))
    near = torch.ones(2, dtype=torch.uint8)
    ((_, _, named),) = launched(source, "f", near, out=out)["f_launch"].launches
    assert str(named["offset"]) == "int64"


def test_indices_that_are_larger_than_sizes() -> None:
    source = "Func f; In A; RVar k; f[] = rsum(pad(A, 0)[100 * k], k);"
    for size, offset in ((10**7, "int32"), (10**8, "int64")):
        ((_, _, named),) = launched(source, "f", torch.ones(5), k=size)["f_launch"].launches
        assert str(named["offset"]) == offset


def test_a_size_just_below_the_limit_of_32_bits_is_refused() -> None:
    source = "Func f; In A; RVar k; f[] = rsum(A[k], k); f.tensorize(k:1024);"
    for size, is_refused in ((2**31 - 2**20 - 1, False), (2**31 - 5, True), (2**31, False)):
        A = torch.ones(1).expand(size)
        if is_refused:
            with pytest.raises(ValueError, match=r"too near to 2\*\*31: split the work"):
                launched(source, "f", A)
        else:
            ((_, _, named),) = launched(source, "f", A)["f_launch"].launches
            assert str(named["offset"]) == "int64"


def test_a_full_group_counts_also_where_there_are_few_programs() -> None:
    """A kernel divides by the programs of a full group: 1024 times those of y, though x has 1."""
    source = (
        "Func f; In A: u8; Var x, y; f[x, y] = A[x, y];f.block(x:1, y:16); f.map(x:xi/1024, y, xi);"
    )
    for size, offset in ((2**23, "int32"), (2**25, "int64")):
        A = torch.ones(1, dtype=torch.uint8).expand(1, size)
        ((_, _, named),) = launched(source, "f", A)["f_launch"].launches
        assert str(named["offset"]) == offset


class Device:
    """Stands for the GPU that is current, with a way to another."""

    def __init__(self) -> None:
        self.current = 0

    @contextmanager
    def made_current(self, device: torch.device) -> Generator[None]:
        before, self.current = self.current, device.index
        yield
        self.current = before


def test_kernels_run_on_the_gpu_of_their_inputs() -> None:
    made: Any = module(ADD)
    gpus, kernel, seen = Device(), Kernel(), list[int]()

    def second_gpu(*_: object) -> torch.device:
        return torch.device("cuda", 1)

    def is_current(device: torch.device) -> bool:
        return device.index == gpus.current

    def empty(shape: tuple[int, ...], **_: Any) -> torch.Tensor:
        seen.append(gpus.current)
        return torch.zeros(shape)

    with (
        mock.patch.dict(vars(made), dt_check=second_gpu, dt_is_current=is_current, f_launch=kernel),
        mock.patch.object(torch.cuda, "device", gpus.made_current),
        mock.patch.object(torch, "empty", empty),
    ):
        made.f(torch.ones(2, 3), torch.ones(3))
    assert (seen, len(kernel.launches), gpus.current) == ([1], 1, 0)


@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        (ADD, [(3, 5)]),
        (
            "Func g, f; In A, B; Var x, y; g[x] = A[x, 0]; f[x, y] = reshape(g[x], x, 1) + B[y];",
            [(3, 5), (3,)],
        ),
        (
            "Func f; In A, B; Var x; RVar y; f[x] = rsum(A[x, y] * B[y], y); f.block(y:2);",
            [(3,), (3, 3)],
        ),
    ],
)
def test_only_results_and_scratch_are_allocated(source: str, shapes: list[tuple[int, ...]]) -> None:
    made = module(source)
    stubs: dict[str, Any] = {name: Kernel() for name in vars(made) if name.endswith("_launch")}
    stubs["dt_is_traced"] = never  # though something does look at this call
    A, B = torch.ones(5, 3).t(), torch.ones(10)[::2]
    with mock.patch.dict(vars(made), stubs), Dispatched() as seen:
        made.f(A, B)
    empty = [result.shape for name, result in seen.calls if name.startswith("aten.empty")]
    assert empty == shapes


def never(*_: object) -> bool:
    return False


def test_the_text_depends_on_the_source_alone() -> None:
    code = (
        "from tests.codegen.test_wrapper import ADD, SCALARS, text\n"
        "print(text(ADD + 'f.num_warps(4);'), text(SCALARS))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.alone
def test_host_time() -> None:
    made: Any = module(ADD)
    A, B = torch.ones(64, 64), torch.ones(64)
    with mock.patch.object(made, "f_launch", Kernel()):
        empty = min(timeit.repeat(lambda: torch.empty((64, 64)), number=2000, repeat=20))
        whole = min(timeit.repeat(lambda: made.f(A, B), number=2000, repeat=20))
    # A launch by Triton takes 40 us; all else, without the allocation, is to be little beside it.
    assert (whole - empty) / 2000 < 20e-6
