"""Tests the form of operators whose kernels torch.compile sees, without a GPU.

torch traces kernels that Triton compiles, and none that its interpreter runs. So graphs are made in
a process of their own, where a stub stands for the driver of a GPU, and nothing is run.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.diagnostics import DtpolyError
from dtpoly.training.differentiable import differentiable
from dtpoly.training.visible_kernels import visible_function
from tests.training.test_operators import NORM, compare, expected, leaves, made

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TRACING = """
import sys
import torch, triton
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from triton.backends.compiler import GPUTarget
import dtpoly

class Stub:
    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

triton.runtime.driver.set_active(Stub())
op = dtpoly.differentiable(sys.argv[1], visible=True)
graphs = []

def noted(graph, inputs):
    graphs.append(graph.graph)
    (made,) = next(node for node in graph.graph.nodes if node.op == "output").args

    def run(*given):
        return [torch.zeros(one.meta["val"].shape) for one in made]

    return run

backend = aot_autograd(
    fw_compiler=noted, bw_compiler=noted, partition_fn=min_cut_rematerialization_partition
)
call = torch.compile(lambda *given: op(*given).sin(), fullgraph=True, backend=backend)
x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)
call(x, w, 0.5)[0].sum().backward()
for graph in graphs:
    names = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    print(sum("triton_kernel" in one for one in names), sum("dtpoly" in one for one in names))
"""


def traced(tmp_path: Path, text: str) -> list[str]:
    """Return for each graph how many kernels it has, and how many operators of dtpoly."""
    path = tmp_path / "norm.dt"
    path.write_text(text)
    command = [sys.executable, "-c", TRACING, str(path)]
    env = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("tile", ["y:4", "y:0"])
def test_torch_compile_sees_kernels_and_no_operator(tmp_path: Path, tile: str) -> None:
    forward, backward = traced(tmp_path, NORM.replace("y:4", tile))
    assert forward == "1 0"
    kernels, operators = map(int, backward.split())
    assert kernels > 1
    assert operators == 0


def test_the_form_computes_the_same_without_torch_compile() -> None:
    op = made(save="total", visible=True)
    assert op.name != made(save="total").name

    def call(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = op(x, w, 0.5)
        return found

    compare(call, expected, *leaves(3, 4))


def test_launches_that_are_no_steps_are_refused() -> None:
    schedule = dtpoly.load(EXAMPLES / "tf32_matmul.dt")
    with pytest.raises(DtpolyError, match=r"DT286.*no form that torch.compile sees into"):
        visible_function(schedule.function)


def test_what_is_launched_is_what_the_plan_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form makes the same memory, and hands the kernels the same numbers, as the runtime."""
    noted: list[tuple[Any, ...]] = []

    class Wrapped:
        def __init__(self, kernel: Any) -> None:
            self.kernel = kernel

        def __getitem__(self, grid: tuple[int, ...]) -> Any:
            def launch(*args: Any, **how: Any) -> None:
                noted.append((grid, how["even"]))
                self.kernel[grid](*args, **{k: v for k, v in how.items() if "num_" not in k})

            return launch

    monkeypatch.setattr("dtpoly.training.visible_kernels.WRAP_TRITON", Wrapped)
    call = visible_function(dtpoly.parse(NORM).function)
    for rows, columns in ((1, 1), (2, 4), (5, 7)):
        x, w = (one.detach() for one in leaves(rows, columns))
        torch.testing.assert_close(call(x, w, 0.5), expected(x, w))
        assert noted.pop() == ((-(-rows // 2),), False)
    assert call(*(one.detach() for one in leaves(0, 4)), 0.5).shape == (0, 4)
    assert not noted
    with pytest.raises(ValueError, match="disagree on the size of 'y'"):
        call(torch.ones(2, 3), torch.ones(4), 0.5)


def test_a_copy_of_the_form_is_the_form() -> None:
    op = differentiable(dtpoly.parse(NORM), visible=True)
    function, parts = op.__reduce__()
    assert function(*parts).op is op.op
