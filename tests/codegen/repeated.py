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
from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.keeping import anew, checks_of, do, ran

EXAMPLES = Path(__file__).parents[2] / "examples"
# Of one kernel and of several; with memory between, with descriptors, and early ones.
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
Launches = list[tuple[Any, ...]]
made = set[int]()  # the addresses of all memory that was asked for


def generated(text: str) -> tuple[Program, ModuleType]:
    """A file that takes the CPU for a GPU."""
    program = load(Source("test.dt", text))
    made = code_of(judge(program, DIRECTIVES).scheduled).text
    for one in ("tensor.is_cuda", "tensors[0].is_cuda"):
        assert one in made
        made = made.replace(one, one.replace("cuda", "cpu"))
    module: Any = anew(made)
    module.dt_is_current, module.dt_empty = is_current, empty
    return program, module


def empty(shape: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
    """Memory of the CPU; it is as particular as what makes that of a GPU."""
    assert [type(shape), type(strides)] == [tuple, tuple]
    return torch.empty_strided(shape, strides, dtype=dtype)


def is_current(_: torch.device) -> bool:
    """What a machine with one GPU says."""
    return True


def noted(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """What makes tensors, with their addresses noted."""

    def make_one(*args: Any, **named: Any) -> torch.Tensor:
        tensor = make(*args, **named)
        made.add(tensor.data_ptr())
        return tensor

    return make_one


def launched(call: Callable[[], torch.Tensor]) -> tuple[Launches, torch.Tensor]:
    """What a call launches, and gives."""
    ran.all.clear()
    out = call()
    return [*ran.all], out


def named(launches: Launches, inputs: Sequence[torch.Tensor], out: torch.Tensor) -> list[Any]:
    """The grids, kernels and arguments of launches; addresses by the numbers of their tensors."""
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
    return [*found, told(out), out.shape, out.stride(), out.dtype]


@contextmanager
def seen(module: ModuleType) -> Generator[list[str]]:
    """Which calls were like none before."""
    found = list[str]()
    keep = module.__dict__["dt_keep"]

    def noted(*args: Any) -> Any:
        found.append("new")
        return keep(*args)

    with mock.patch.object(module, "dt_keep", noted):
        yield found


def is_same(module: ModuleType, inputs: Sequence[Any], function: str = "f") -> None:
    """What is launched for inputs is what the whole wrapper launches."""
    f = getattr(module, function)
    got, wanted = launched(lambda: f(*inputs)), launched(lambda: f.__wrapped__(*inputs))
    assert got[0], "nothing was launched"
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    first, second = (str(named(launches, tensors, out)) for launches, out in (got, wanted))
    assert first == second  # as texts, since 0.0 is equal to -0.0


def pair(rows: int = 8, columns: int = 64, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Two inputs of the same shape."""
    made = Recipe(seed).inputs(ADD_PROGRAM, {"x": rows, "y": columns})
    first, second = made.values()
    assert isinstance(first, torch.Tensor)
    assert isinstance(second, torch.Tensor)
    return first, second


def repeat(names: Mapping[str, Any]) -> int:
    """Do the checks of a module, with all memory noted that is asked for."""
    with (
        mock.patch.object(torch, "empty", noted(torch.empty)),
        mock.patch.object(torch, "empty_strided", noted(torch.empty_strided)),
    ):
        return do(checks_of(names))
