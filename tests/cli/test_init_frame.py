"""`dtpoly verify --init` writes what a kernel needs to be proved, from launches of it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.cli.lazy import load
from tests.cli.conftest import Entry
from tests.cli.test_compile_verified import here

__all__ = ["here"]

MODULE = """\
import torch
import triton
import triton.language as tl
from triton import autotune


@triton.jit
def rows(Y, Y_stride, X, X_stride, W, n, eps, WITH_W: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    x = tl.load(X + row * X_stride + at, mask=at < n, other=0.0)
    mean = tl.sum(x * x, 0) / n
    y = x * tl.rsqrt(mean + eps)
    if WITH_W:
        y = y * tl.load(W + at, mask=at < n)
    tl.store(Y + row * Y_stride + at, y, mask=at < n)


@triton.jit
def flat(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x * tl.sigmoid(x), mask=at < n)


@triton.jit
def product(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        at = a + m[:, None] * am + k[None, :] * ak
        bt = b + k[:, None] * bk + n[None, :] * bn
        left = tl.load(at, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(bt, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    ct = c + m[:, None] * cm + n[None, :] * cn
    tl.store(ct, total, mask=(m[:, None] < M) & (n[None, :] < N))


def call_rows(x, w):
    y = torch.empty_like(x)
    view = x.view(-1, x.shape[-1])
    n = x.shape[-1]
    rows[(view.shape[0],)](
        y, view.stride(0), view, view.stride(0), w, n, 1e-6, WITH_W=w is not None,
        BLOCK=triton.next_power_of_2(n)
    )
    return y


def rms(x, w, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w


def cumulated(x, w, eps):
    return torch.cumsum(x, -1)


def other(x, w, eps):
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + eps) * w
"""
SIZES = ((7, 3, 131), (11, 5, 257), (5, 2, 1031))
Launched = Callable[[Callable[[ModuleType], Any]], None]


@pytest.fixture
def launched(here: Path, monkeypatch: pytest.MonkeyPatch) -> Launched:
    """Record what some calls launch."""
    name = f"kernels_{abs(hash(here))}"
    (here / f"{name}.py").write_text(MODULE)
    monkeypatch.setattr("sys.path", [str(here), *sys.path])
    module: ModuleType = load(name)

    def launched(calls: Callable[[ModuleType], Any]) -> None:
        with dtpoly.watch(here / "record.json", run=False):
            calls(module)

    (here / "kernels.py").symlink_to(f"{name}.py")
    return launched


def rows(module: ModuleType) -> None:
    for b, s, n in SIZES:
        module.call_rows(torch.empty(b, s, n), torch.empty(n))


def flat(module: ModuleType) -> None:
    for n in (131, 1031, 4099):
        module.flat[(-(-n // 1024),)](torch.empty(n), torch.empty(n), n, BLOCK=1024)


def init(call: Entry, name: str, *more: str) -> tuple[int, str, str]:
    return call("verify", "--init", f"kernels.py::{name}", "--watched", "record.json", *more)


def test_a_frame_is_written_and_proved(call: Entry, launched: Launched, here: Path) -> None:
    launched(rows)
    assert init(call, "rows", "-o", "frame.dt")[0] == 0
    text = (here / "frame.dt").read_text()
    assert text.startswith("# kernel: kernels.py::rows\n")
    assert "# tensors: out(Y[r, n]), X[r, n], W[n], eps\n" in text
    assert "[(len(r),)](" in text
    assert "BLOCK=next_power_of_2(len(n))" in text
    # The file alone is enough for the proof, and the proof is about the kernel as it stands.
    assert call("verify", "frame.dt")[0] == 0
    kernels = here / "kernels.py"
    kernels.write_text(MODULE.replace("at, y, mask=at < n", "at, y, mask=at <= n"))
    code, out, _ = call("verify", "frame.dt")
    assert code == 1
    assert "REFUTED" in out


def test_an_algorithm_of_the_package_is_matched(call: Entry, launched: Launched) -> None:
    launched(rows)
    code, out, err = init(call, "rows", "--against", "rms_norm")
    assert (code, err.split()[1]) == (0, "PROVED"), out + err
    assert "where rms_norm is 'Y', X is 'X', W is 'W'" in " ".join(out.split()).replace("# ", "")
    # The launch passes the number of the algorithm, and not the one of the record.
    assert "eps" in out.partition("# verify:")[2].partition("# assume:")[0]


@pytest.mark.long
def test_a_wrong_algorithm_is_refuted(call: Entry, launched: Launched) -> None:
    launched(rows)
    code, _, err = init(call, "rows", "--against", "torch:kernels.other")
    assert (code, err.split()[1]) == (1, "REFUTED")


def test_a_function_of_torch_is_traced(call: Entry, launched: Launched) -> None:
    launched(rows)
    code, out, err = init(call, "rows", "--against", "torch:kernels.rms")
    assert (code, err.split()[1]) == (0, "PROVED"), out + err
    assert "rsum((x[y, z] * x[y, z]), z)" in out


def test_an_operation_without_a_meaning_is_named(call: Entry, launched: Launched) -> None:
    launched(rows)
    code, _, err = init(call, "rows", "--against", "torch:kernels.cumulated")
    assert code == 1
    assert "error[DT318]" in err
    assert "'aten.cumsum'" in err


def test_each_branch_has_a_frame(call: Entry, launched: Launched, here: Path) -> None:
    def both(module: ModuleType) -> None:
        rows(module)
        for b, s, n in SIZES:
            module.call_rows(torch.empty(b, s, n), None)

    launched(both)
    assert init(call, "rows", "-o", "frame.dt")[0] == 0
    first, second = ((here / one).read_text() for one in ("frame.dt", "frame_2.dt"))
    assert "WITH_W=True" in first
    assert "WITH_W=False" in second
    assert "W[n]" not in second


def test_an_axis_of_the_grid_is_divided_and_a_promise_is_guessed(
    call: Entry, launched: Launched
) -> None:
    launched(flat)
    code, out, _ = init(call, "flat", "--json")
    (frame,) = json.loads(out)["frames"]
    assert (code, frame["verdict"], frame["promises"]) == (0, "proved", ["len(n) <= 2**30"])
    assert "[(cdiv(len(n), 1024),)]" in frame["text"]
    assert "# guessed: callers keep these promises, as all launches did: len(n)" in frame["text"]


def test_what_one_launch_does_not_tell_is_asked(call: Entry, launched: Launched) -> None:
    launched(lambda module: module.flat[(1,)](torch.empty(128), torch.empty(128), 128, BLOCK=128))
    code, out, _ = init(call, "flat", "--json")
    (frame,) = json.loads(out)["frames"]
    assert code == 0
    guess = next(one for one in frame["guesses"] if one["about"] == "'BLOCK'")
    assert {guess["taken"], *guess["others"]} >= {"128", "next_power_of_2(len(n))"}
    assert "a launch with" in guess["further"]
    assert "record launches of two or more sizes" in " ".join(
        frame["text"].replace("#", "").split()
    )


@pytest.mark.long
def test_strides_of_a_product_are_those_of_its_tensors(call: Entry, launched: Launched) -> None:
    def products(module: ModuleType) -> None:
        for m, k, n in ((131, 67, 101), (257, 139, 37), (67, 37, 263)):
            a, b, c = torch.empty(m, k), torch.empty(n, k).t(), torch.empty(m, n)
            strides = (*a.stride(), *b.stride(), *c.stride())
            grid = (-(-m // 32), -(-n // 32))
            module.product[grid](a, b, c, m, n, k, *strides, BM=32, BN=32, BK=16)

    launched(products)
    code, out, err = init(call, "product", "--against", "matmul")
    assert (code, err.split()[1]) == (0, "PROVED"), out + err
    assert "B.stride(0), B.stride(1)" in " ".join(out.replace("#", "").split())


def test_tensors_that_share_memory_are_told(call: Entry, launched: Launched) -> None:
    def halves(module: ModuleType) -> None:
        for n in (131, 1031):
            x = torch.empty(2 * n)
            module.flat[(-(-n // 64),)](x[:n], x[n:], n, BLOCK=64)

    launched(halves)
    assert "'x_ptr' and 'y_ptr' shared memory" in init(call, "flat")[1]


def test_in_place_is_one_tensor(call: Entry, launched: Launched) -> None:
    def in_place(module: ModuleType) -> None:
        for n in (131, 1031):
            x = torch.empty(n)
            module.flat[(-(-n // 64),)](x, x, n, BLOCK=64)

    launched(in_place)
    code, out, _ = init(call, "flat", "--against", "silu")
    assert code == 0
    assert "Func silu: f32 into X;" in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--init", "kernels.py::rows"), "--init needs --watched"),
        (("--init", "kernels.py", "--watched", "record.json"), "FILE::NAME"),
        (("--watched", "record.json", "f.dt"), "belong to --init"),
        (("--init", "kernels.py::rows", "f.dt"), "it verifies no other one"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    call: Entry, here: Path, more: tuple[str, ...], said: str
) -> None:
    code, _, err = call("verify", *more)
    assert code == 2
    assert said in " ".join(err.split())


def test_a_kernel_without_a_launch_and_a_name_without_a_file_are_refused(
    call: Entry, launched: Launched
) -> None:
    launched(flat)
    code, _, err = init(call, "rows")
    assert code == 1
    assert "DT317" in err
    code, _, err = init(call, "flat", "--against", "sillu")
    assert code == 1
    assert "did you mean 'silu'?" in err
