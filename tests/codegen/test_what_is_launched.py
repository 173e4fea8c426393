"""Tests what a function launches, on which device, and with which type of offsets."""

import os
import subprocess
import sys
import timeit
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
import torch

from benchmarks.pace import is_kept_once
from tests.codegen.calls import ADD, module
from tests.codegen.dispatched import Dispatched


@dataclass(frozen=True)
class Launch:
    """The arguments and options that a kernel is launched with."""

    kernel: str
    programs: int
    args: tuple[Any, ...]
    constants: dict[str, Any]


class Started(list[Launch]):
    """Stands for what launches kernels, and keeps what they are launched with."""

    def __call__(
        self, kernel: Any, _: object, __: object, programs: int, args: list[Any], how: Any
    ) -> None:
        self.append(Launch(kernel.fn.__name__, programs, tuple(args), how))


def launched(source: str, func: str, *given: Any, **named: Any) -> list[Launch]:
    made, started = module(source), Started()
    with mock.patch.object(made, "dt_start", started):
        getattr(made, func)(*given, **named)
    return started


def offset_of(source: str, *given: Any, **named: Any) -> str:
    """Return the type of offsets that the only kernel of `f` is launched with."""
    (launch,) = launched(source, "f", *given, **named)
    return str(launch.constants["offset"])


def test_each_func_launches_what_it_needs() -> None:
    source = (
        "Func e, f, g; In A; Var x; e[x] = exp(A[x]); f[x] = e[x] + 1; g[x] = A[x] * 2;"
        "f.compile(); g.compile();"
    )
    for func, needed in {"f": ["e_kernel", "f_kernel"], "g": ["g_kernel"]}.items():
        assert [one.kernel for one in launched(source, func, torch.ones(3))] == needed


def test_what_a_kernel_is_launched_with() -> None:
    source = (
        "Func f; In A; SIn a; Var x, y; f[x, y] = A[x, y] * a;"
        "f.block(x:4, y:16); f.tensorize(x:0, y:0); f.num_warps(8); f.num_stages(3);"
    )
    A = torch.ones(9, 32).t().contiguous().t()
    (launch,) = launched(source, "f", A, 2)
    out = launch.args[3]
    assert launch.programs == 3 * 2
    assert launch.args == (A, 1, 9, out, 32, 1, 2.0, 9, 32)
    names = {"even": False, "num_warps": 8, "num_stages": 3}
    assert {name: launch.constants[name] for name in names} == names
    assert str(launch.constants["offset"]) == "int32"
    assert str(launch.constants["real"]) == "fp32"


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
    assert offset_of(source, A) == (offset or "int32")


def test_few_elements_far_apart_need_64_bits() -> None:
    whole = torch.empty(2**31 + 1, dtype=torch.uint8)  # of which no page is touched
    source = "Func f; In A: u8; Var x; f[x] = A[x] + 1;"
    for step, offset in ((2**29, "int32"), (2**31, "int64")):
        A = torch.as_strided(whole, (2,), (step,))
        assert offset_of(source, A) == offset
    out = torch.as_strided(whole, (2,), (2**31,))
    near = torch.ones(2, dtype=torch.uint8)
    assert offset_of(source, near, out=out) == "int64"


def test_indices_that_are_larger_than_sizes() -> None:
    source = "Func f; In A; RVar k; f[] = rsum(pad(A, 0)[100 * k], k);"
    for size, offset in ((10**7, "int32"), (10**8, "int64")):
        assert offset_of(source, torch.ones(5), k=size) == offset


def test_a_size_just_below_the_limit_of_32_bits_is_refused() -> None:
    source = "Func f; In A; RVar k; f[] = rsum(A[k], k); f.tensorize(k:1024);"
    for size, is_refused in ((2**31 - 2**20 - 1, False), (2**31 - 5, True), (2**31, False)):
        A = torch.ones(1).expand(size)
        if is_refused:
            with pytest.raises(ValueError, match=r"too near to 2\*\*31: split the work"):
                launched(source, "f", A)
        else:
            assert offset_of(source, A) == "int64"


def test_a_size_near_the_limit_is_refused_where_no_axis_is_so_long() -> None:
    """A label that is read shifted is shorter than the axis that it reads as it is, too."""
    source = (
        "Func f; In A; RVar k; f[] = rsum(A[k] * A[k + 2] + pad(A, 0)[k - 7], k);"
        "f.tensorize(k:1024);"
    )
    for size, is_refused in ((2**31 + 1, True), (2**31 + 2, False)):
        A = torch.ones(1).expand(size)
        if is_refused:
            with pytest.raises(ValueError, match=r"a size of 2147483647 is too near to 2\*\*31"):
                launched(source, "f", A)
        else:
            assert offset_of(source, A) == "int64"


def test_a_full_group_counts_also_where_there_are_few_programs() -> None:
    """A kernel divides by the programs of a full group: 1024 times those of y, though x has 1."""
    source = (
        "Func f; In A: u8; Var x, y; f[x, y] = A[x, y];f.block(x:1, y:16); f.map(x:xi/1024, y, xi);"
    )
    for size, offset in ((2**23, "int32"), (2**25, "int64")):
        A = torch.ones(1, dtype=torch.uint8).expand(1, size)
        assert offset_of(source, A) == offset


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
    gpus, started, seen = Device(), Started(), list[int]()

    def second_gpu(*_: object) -> torch.device:
        return torch.device("cuda", 1)

    def is_current(device: torch.device) -> bool:
        return device.index == gpus.current

    def empty(shape: tuple[int, ...], **_: Any) -> torch.Tensor:
        seen.append(gpus.current)
        return torch.zeros(shape)

    with (
        mock.patch.multiple(made, dt_check=second_gpu, dt_is_current=is_current, dt_start=started),
        mock.patch.object(torch.cuda, "device", gpus.made_current),
        mock.patch.object(torch, "empty", empty),
    ):
        made.f(torch.ones(2, 3), torch.ones(3))
    assert (seen, len(started), gpus.current) == ([1], 1, 0)


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
    # Nothing is traced, though something does look at this call.
    stubs = mock.patch.multiple(made, dt_start=Started(), dt_is_traced=never)
    A, B = torch.ones(5, 3).t(), torch.ones(10)[::2]
    with stubs, Dispatched() as seen:
        made.f(A, B)
    empty = [result.shape for name, result in seen.calls if name.startswith("aten.empty")]
    assert empty == shapes


def never(*_: object) -> bool:
    return False


@pytest.mark.long
def test_the_text_depends_on_the_source_alone() -> None:
    code = (
        "from tests.codegen.calls import ADD, SCALARS, text\n"
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

    def seconds() -> float:
        with mock.patch.object(made, "dt_start", Started()):
            empty = min(timeit.repeat(lambda: torch.empty((64, 64)), number=2000, repeat=20))
            whole = min(timeit.repeat(lambda: made.f(A, B), number=2000, repeat=20))
        return (whole - empty) / 2000

    # A launch by Triton takes 40 us; the plan, without the allocation, is to take no more.
    assert is_kept_once(40e-6, seconds)
