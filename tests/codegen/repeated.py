"""A file whose calls are repeated without a GPU, and what each launched; for checks of that.

Tensors are of the CPU, which generated files are made to take for a GPU, and no kernel runs.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.keeping import anew, checks_of, do, ran

EXAMPLES = Path(__file__).parents[2] / "examples"
# There are files with one kernel and with several, with memory between them, with descriptors, and
# with launches that begin early.
NAMES = (
    *("swiglu", "softmax", "cross_entropy", "tvd", "row_sum", "conv2d", "dyt", "layer_norm"),
    *("half_matmul", "ragged_matmul", "tf32_matmul", "mmsigmoid", "two_mm_outer", "attention"),
)
ATOMIC = (
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:4, k:16); f.atomic(k);"
    "f.tensorize(x:0, k:0);"
)
ADD = "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[x, y]; f.block(x:1, y:64);"
ADD_PROGRAM = load(Source("test.dt", ADD))
LAYOUTS = (Layout.PLAIN, Layout.PLAIN, Layout.TRANSPOSED, Layout.SLICED)
SEVERAL = (
    "Func f, t, u; In A; Var x; RVar y; t[x] = rmax(A[x, y], y); u[x] = t[x] * 2;"
    "f[x, y] = A[x, y] - reshape(t[x], x, 1); t.fuse_at(f, x); u.fuse_at(f, x);"
    "f.compile(t, u); f.block(x:4); f.tensorize(x:0, y:16);"
)
IN_PLACE = (
    "Func f, h into H; In A, H; SIn s; Var x, y; h[x, y] = H[x, y] + A[x, y] * s;"
    "f[x, y] = h[x, y] * 2; h.fuse_at(f, x); f.compile(h); f.block(x:4); f.tensorize(x:0, y:16);"
)
Launches = list[tuple[Any, ...]]
Results = torch.Tensor | tuple[torch.Tensor, ...]
made = set[int]()  # the addresses of all memory that was asked for
rooms = dict[int, int]()  # and how many bytes are there


def generated(text: str) -> tuple[Program, ModuleType]:
    """Load a file that takes the CPU for a GPU."""
    program = load(Source("test.dt", text))
    made = code_of(judge(program, DIRECTIVES).scheduled).text
    for one in ("tensor.is_cuda", "outs[0].is_cuda"):
        assert one in made
        made = made.replace(one, one.replace("cuda", "cpu"))
    module: Any = anew(made)
    module.dt_is_current, module.dt_empty = is_current, empty
    return program, module


def empty(shape: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
    """Return memory of the CPU, which checks its arguments as strictly as that of a GPU."""
    assert [type(shape), type(strides)] == [tuple, tuple]
    return torch.empty_strided(shape, strides, dtype=dtype)


def plans_in(module: ModuleType) -> list[str]:
    """Return the functions of a file, by the plans that it has."""
    return [one["function"] for name, one in vars(module).items() if name.endswith("_plan")]


def is_current(_: torch.device) -> bool:
    """Answer as a machine with one GPU does."""
    return True


def noted(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Wrap a function that makes tensors, so that it notes their addresses."""

    def make_one(*args: Any, **named: Any) -> torch.Tensor:
        tensor = make(*args, **named)
        made.add(tensor.data_ptr())
        rooms[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    return make_one


def launched(call: Callable[[], Any]) -> tuple[Launches, Any]:
    """Return what a call launches, and its result or results."""
    ran.all.clear()
    out = call()
    return [*ran.all], out


def named(launches: Launches, inputs: Sequence[torch.Tensor], out: Results) -> list[Any]:
    """Return the grids, kernels and arguments of launches.

    The numbers of tensors take the place of their addresses.
    """
    known = {tensor.data_ptr(): at for at, tensor in enumerate(inputs)}

    def told(one: Any) -> Any:
        base = getattr(one, "base", None)
        if base is not None:
            return told(base), one.shape, one.strides, one.block_shape
        address = one.data_ptr() if isinstance(one, torch.Tensor) else one
        if isinstance(address, int) and (address in known or address in made):
            return "tensor", known.setdefault(address, len(known))
        return address

    found = [(*run[:5], run[5], *map(told, run[9:])) for run in launches]
    outs = out if isinstance(out, tuple) else (out,)
    return [*found, *((told(one), one.shape, one.stride(), one.dtype) for one in outs)]


@contextmanager
def seen(module: ModuleType) -> Generator[list[str]]:
    """Collect the calls that were unlike all earlier ones."""
    found = list[str]()
    keep = module.__dict__["dt_keep"]

    def noted(*args: Any) -> Any:
        found.append("new")
        return keep(*args)

    with mock.patch.object(module, "dt_keep", noted):
        yield found


def is_same(module: ModuleType, inputs: Sequence[Any], function: str = "f", **by_name: Any) -> None:
    """Check that a call launches the same as the function that keeps nothing."""
    f = getattr(module, function)
    got = launched(lambda: f(*inputs, **by_name))
    wanted = launched(lambda: f.__wrapped__(*inputs, **by_name))
    assert got[0], "nothing was launched"
    given = [*inputs, *by_name.values()]
    outs: list[Any] = [*given.pop()] if isinstance(by_name.get("out"), tuple) else []
    tensors = [one for one in (*given, *outs) if isinstance(one, torch.Tensor)]
    first, second = (str(named(launches, tensors, out)) for launches, out in (got, wanted))
    assert first == second  # as texts, since 0.0 is equal to -0.0


def pair(rows: int = 8, columns: int = 64, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two inputs of the same shape."""
    made = Recipe(seed).inputs(ADD_PROGRAM, {"x": rows, "y": columns})
    first, second = made.values()
    assert isinstance(first, torch.Tensor)
    assert isinstance(second, torch.Tensor)
    return first, second


def repeat(names: Mapping[str, Any]) -> int:
    """Do the checks of a module, and note all memory that is asked for."""
    with (
        mock.patch.object(torch, "empty", noted(torch.empty)),
        mock.patch.object(torch, "empty_strided", noted(torch.empty_strided)),
    ):
        return do(checks_of(names))
