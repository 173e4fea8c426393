"""Tests that tracers of torch see one operator, or are told that it has no rule for them."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._mode_utils import no_dispatch

from tests.codegen.calls import ADD, SCALARS
from tests.codegen.dispatched import Dispatched
from tests.codegen.test_operator import (
    COMPILE,
    OPCHECK,
    compiled,
    fresh_compiler,
    module,
    operators,
)

__all__ = ["fresh_compiler"]

TABLE = "Func f; Var x, y; f[x, y] = 10 * x + y;"


@pytest.fixture(scope="module")
def add() -> Any:
    return module(ADD).f


@pytest.fixture
def given() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 8), torch.randn(8)


def test_shapes_without_values(add: Any, given: tuple[torch.Tensor, torch.Tensor]) -> None:
    A, B = given
    made = add(A.half().to("meta"), B.half().to("meta"))
    assert (made.shape, made.dtype, made.is_meta) == ((4, 8), torch.float16, True)
    with FakeTensorMode() as mode:
        fake = add(mode.from_tensor(A), mode.from_tensor(B))
        on_gpu = add(torch.empty(4, 8, device="cuda"), torch.empty(8, device="cuda"))
        table = module(TABLE).f(x=3, y=4, device="cuda:0")
    assert (fake.shape, fake.device.type) == ((4, 8), "cpu")
    assert (on_gpu.shape, on_gpu.device.type) == ((4, 8), "cuda")
    assert (table.shape, table.dtype) == ((3, 4), torch.int64)


RECORD: Callable[..., Any] = make_fx


@pytest.mark.parametrize("is_early", [False, True])
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_a_recorded_graph_has_one_operator(
    add: Any, given: tuple[torch.Tensor, torch.Tensor], mode: str, is_early: bool
) -> None:
    def twice(A: torch.Tensor, B: torch.Tensor) -> Any:
        return add(add(A, B), B)

    graph = RECORD(twice, tracing_mode=mode, pre_dispatch=is_early)(*given)
    called = [node for node in graph.graph.nodes if node.op == "call_function"]
    assert len(called) == 2
    A, B = torch.randn(4, 8), torch.randn(8)
    torch.testing.assert_close(graph(A, B), A + B + B)


@pytest.mark.filterwarnings("ignore:.torch.jit.trace. is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.torch.jit.trace_method. is deprecated:DeprecationWarning")
def test_a_trace_has_one_operator(add: Any, given: tuple[torch.Tensor, torch.Tensor]) -> None:
    A, B = given
    trace: Callable[..., Any] = getattr(torch.jit, "trace")  # noqa: B009 - it has no types

    def once(A: torch.Tensor, B: torch.Tensor) -> Any:
        return add(A, B)

    traced = trace(once, given)
    assert str(traced.graph).count(" = dtpoly::f_") == 1
    assert torch.equal(traced(2 * A, B), 2 * A + B)


def test_a_mode_sees_one_operator(add: Any, given: tuple[torch.Tensor, torch.Tensor]) -> None:
    A, B = given
    with Dispatched() as outer, Dispatched() as inner:
        result = add(A, B)
    assert torch.equal(result, A + B)
    for seen in (outer, inner):
        assert [name.split("_")[0] for name, _ in seen.calls] == ["dtpoly.f"]


def test_torch_runs_the_operator_while_it_looks(add: Any) -> None:
    """In a thread that compiles, beside one that does, or in a mode that is held off."""
    A, B = torch.randn(4, 8), torch.randn(8)
    with Dispatched(), no_dispatch():
        assert torch.equal(add(A, B), A + B)
    found = list[torch.Tensor]()

    def run(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        assert torch.compiler.is_compiling()
        thread = Thread(target=lambda: found.append(add(A, B)))
        thread.start()
        thread.join()
        found.extend(graph(A, B))
        return graph.forward

    def once(A: torch.Tensor, B: torch.Tensor) -> Any:
        return add(A, B)

    graph: Callable[..., Any] = COMPILE(once, backend=run, fullgraph=True)
    found.append(graph(A, B))
    assert len(found) == 3
    assert all(torch.equal(one, A + B) for one in found)


def test_vmap(add: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Torch has a rule for it, and asks nobody to file an issue."""
    A, B = torch.randn(3, 4, 8), torch.randn(8)
    assert torch.equal(torch.vmap(add, (0, None))(A, B), A + B)
    assert torch.equal(torch.vmap(add, (1, None))(A.transpose(0, 1), B), A + B)
    assert torch.vmap(add, (0, None))(A[:0], B).shape == (0, 4, 8)
    graph: Callable[..., Any] = COMPILE(
        lambda: torch.vmap(add, (0, None))(A, B), fullgraph=True, backend="eager"
    )
    assert torch.equal(graph(), A + B)
    assert "issue" not in "".join(capfd.readouterr())


def test_vmap_has_no_out(add: Any) -> None:
    B = torch.randn(8)

    def into(out: torch.Tensor, A: torch.Tensor) -> Any:
        return add(A, B, out=out)

    with pytest.raises(RuntimeError, match="call without out="):
        torch.vmap(into)(torch.empty(3, 4, 8), torch.randn(3, 4, 8))


def test_a_nested_tensor_is_refused(add: Any) -> None:
    nested: Callable[..., torch.Tensor] = vars(torch.nested)["nested_tensor"]
    given = nested([torch.randn(3, 8), torch.randn(2, 8)], layout=torch.jagged)
    with pytest.raises(TypeError, match=r"pass its values\(\), or its to_padded_tensor"):
        add(given, torch.randn(8))


DUAL: Callable[..., torch.Tensor] = vars(forward_ad)["make_dual"]


# What torch does for its own operators' sake.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_no_derivative_is_lost(add: Any, given: tuple[torch.Tensor, torch.Tensor]) -> None:
    A, B = given

    def total(A: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = add(A, B)
        return result.sum()

    with pytest.raises(RuntimeError, match="'A' requires a gradient, and there is no backward"):
        torch.func.grad(total)(A)
    message = "an input has a tangent, and this function has no derivative"
    with pytest.raises(RuntimeError, match=message):
        torch.func.jvp(total, (A,), (A,))
    with forward_ad.dual_level():
        assert torch.equal(add(A, B), A + B)
        with pytest.raises(RuntimeError, match=message):
            add(A, DUAL(B, B))


class Plain(torch.Tensor):
    """A class of its own with nothing to say of operators."""


class Unknown(torch.Tensor):
    """A class that knows no operators."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, *_: Any) -> Any:
        raise NotImplementedError(f"no rule for {func}")


def test_other_classes(add: Any, given: tuple[torch.Tensor, torch.Tensor]) -> None:
    A, B = given
    assert torch.equal(add(A.as_subclass(Plain), B), A + B)
    unknown = torch.Tensor._make_subclass(Unknown, A)
    with pytest.raises(NotImplementedError, match=r"no rule for dtpoly\.f_"):
        add(unknown, B)


NUMBERS: list[tuple[Any, Any, Any]] = [
    (torch.tensor(1.5), 3, True),
    (torch.tensor(1.5), torch.tensor(3), torch.tensor(True)),
    (1.5, torch.tensor(3, dtype=torch.uint8), False),
    (torch.tensor(0.1, dtype=torch.float64), 3, torch.tensor(False)),
]


@pytest.mark.sampled
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_numbers_in_tensors_do_not_break_a_graph(numbers: tuple[Any, Any, Any]) -> None:
    made = module(SCALARS)
    A = torch.ones(3)
    expected = made.f(A, *numbers)

    def function(A: torch.Tensor, a: Any, n: Any, c: Any) -> Any:
        return made.f(A + 0, a, n, c) * 1

    torch.testing.assert_close(compiled(function)(A, *numbers), expected)
    torch.testing.assert_close(compiled(function, dynamic=True)(A, *numbers), expected)


def test_torch_finds_nothing_wrong_with_numbers_in_tensors() -> None:
    new, _ = operators(module(SCALARS))
    name = new.name().partition("::")[2]
    with_tensors = getattr(torch.ops.dtpoly, f"{name}_tensors").default
    OPCHECK(with_tensors, (torch.ones(3), *map(torch.tensor, (1.5, 3, True))))


def test_a_number_that_a_graph_computes() -> None:
    made = module(SCALARS)

    def function(A: torch.Tensor, out: torch.Tensor) -> Any:
        return made.f(A, A.amax(), 2, True, out=out)

    A, out = torch.tensor([1.0, 2.0]), torch.empty(2)
    assert compiled(function)(A, out).tolist() == [4.0, 6.0]
    assert torch.equal(out, torch.tensor([4.0, 6.0]))


def test_a_mixture_is_refused(add: Any, given: tuple[torch.Tensor, torch.Tensor]) -> None:
    A, B = given
    with pytest.raises(ValueError, match="'B' is on meta, but others are on cpu"):
        add(A, B.to("meta"))
    with pytest.raises(TypeError, match="'B' must be a tensor, not NoneType"):
        add(A, None)
