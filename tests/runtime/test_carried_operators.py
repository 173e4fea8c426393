"""Tests what torch sees of a function that carries out a plan: one operator."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad

from tests.codegen.dispatched import Dispatched
from tests.codegen.running import imported
from tests.runtime.planned import (
    ADD,
    ADD_PLAN,
    FILL,
    FILL_PLAN,
    SCALE,
    SCALE_PLAN,
    Plan,
    changed,
    file_of,
    module_of,
)

OPCHECK: Callable[..., Any] = vars(torch.library)["opcheck"]
COMPILE: Callable[..., Any] = vars(torch)["compile"]


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def operators(made: Any, kernel: str, kind: str = "") -> tuple[Any, Any]:
    """The two operators of a file's function: with a new result, and into one that is there."""
    name = f"f_{made.dt_digest(getattr(made, kernel).fn)}{kind}"
    return getattr(torch.ops.dtpoly, name).default, getattr(torch.ops.dtpoly, f"{name}_out").default


def compiled(function: Callable[..., Any], dynamic: bool | None = None) -> Callable[..., Any]:
    made: Callable[..., Any] = COMPILE(
        function, backend="aot_eager", fullgraph=True, dynamic=dynamic
    )
    return made


A = torch.randn(4, 8)
UNREAD = changed(SCALE_PLAN, inputs=SCALE_PLAN["inputs"] | {"C": "unread"})
WITH_SIZE = changed(
    ADD_PLAN, sizes={"x": "A.shape[0]", "k": "2"}, passed={"k": ()}, names={"k": "from"}
)
CASES: list[tuple[str, str, Plan, tuple[Any, ...], dict[str, Any], str]] = [
    (ADD, "add", ADD_PLAN, (A[0], A[1]), {}, "Tensor A, Tensor B"),
    (SCALE, "scale", SCALE_PLAN, (A, 0.5, 2), {}, "Tensor A, float a, int n"),
    (SCALE, "scale", UNREAD, (A, 0.5, 2, None), {}, "Tensor A, float a, int n, Tensor? C"),
    (ADD, "add", WITH_SIZE, (A[0], A[1]), {"k": 3}, "Tensor A, Tensor B, *, SymInt? k=None"),
    (
        FILL,
        "fill",
        FILL_PLAN,
        (0.5,),
        {"x": 3, "device": torch.device("cpu")},
        "float a, *, SymInt x, Device? device=None",
    ),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("text", "kernel", "plan", "given", "named", "schema"), CASES)
def test_torch_finds_nothing_wrong(
    text: str,
    kernel: str,
    plan: Plan,
    given: tuple[Any, ...],
    named: dict[str, Any],
    schema: str,
) -> None:
    made = module_of(text, plan)
    new, into = operators(made, f"{kernel}_kernel")
    assert str(new._schema).partition("(")[2] == f"{schema}) -> Tensor"
    expected = made.f(*given, **named)
    torch.testing.assert_close(new(*given, **named), expected)
    OPCHECK(new, given, named)
    out = torch.empty_like(expected)
    sizes = {name: value for name, value in named.items() if name != "device"}
    OPCHECK(into, (out, *given), sizes)
    assert into(out, *given, **sizes) is None
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(compiled(made.f)(*given, **named), expected)


def test_numbers_in_tensors() -> None:
    made = module_of(SCALE, SCALE_PLAN)
    numbers = torch.tensor(0.5), torch.tensor(2)
    new, _ = operators(made, "scale_kernel", "_tensors")
    torch.testing.assert_close(new(A, *numbers), A / 2 + 2)
    torch.testing.assert_close(compiled(made.f)(A, *numbers), A / 2 + 2)


@pytest.mark.parametrize("dynamic", [None, True])
def test_a_graph_does_not_break(dynamic: bool | None) -> None:
    f = module_of(ADD, ADD_PLAN).f

    def twice(x: torch.Tensor, out: torch.Tensor) -> Any:
        return f(f(x * 2, x), x, out=out) + 1

    function = compiled(twice, dynamic)
    for count in (3, 4, 5):
        x, out = torch.randn(count), torch.empty(count)
        torch.testing.assert_close(function(x, out), 4 * x + 1)
        torch.testing.assert_close(out, 4 * x)


def test_shapes_without_values() -> None:
    f, fill = module_of(ADD, ADD_PLAN).f, module_of(FILL, FILL_PLAN).f
    made = f(*torch.ones(2, 3, device="meta").half())
    assert (made.shape, made.dtype, made.is_meta) == ((3,), torch.float16, True)
    with FakeTensorMode():
        on_gpu = f(torch.empty(3, device="cuda"), torch.empty(3, device="cuda").double())
        assert (on_gpu.dtype, on_gpu.device.type) == (torch.float64, "cuda")
        assert fill(1.0, x=4, device="cuda:0").shape == (4,)


def test_only_sizes_that_a_result_needs_are_computed_for_it() -> None:
    """The others would limit what torch may know of sizes."""
    plan = changed(ADD_PLAN, sizes={"x": "A.shape[0]", "k": "1 // (B.shape[0] - 3)"})
    f = module_of(ADD, plan).f
    assert f(*torch.ones(2, 3, device="meta")).shape == (3,)
    with pytest.raises(ZeroDivisionError):
        f(*torch.ones(2, 3))


# What torch does for its own operators' sake.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_modes_vmap_and_derivatives() -> None:
    f = module_of(ADD, ADD_PLAN).f
    one, two = A[0], A[1]
    with Dispatched() as seen:
        f(one, two)
    assert [name.split("_")[0] for name, _ in seen.calls] == ["dtpoly.f"]
    torch.testing.assert_close(torch.vmap(f, (0, None))(A, A[1]), A + A[1])
    torch.testing.assert_close(torch.vmap(f, (1, None))(A, A[:, 1]), A.t() + A[:, 1])
    assert torch.vmap(f, (0, None))(A[:0], A[1]).shape == (0, 8)

    def into(x: torch.Tensor, out: torch.Tensor) -> Any:
        return f(x, two, out=out)

    def total(x: torch.Tensor) -> Any:
        return f(x, two).sum()

    with pytest.raises(RuntimeError, match=r"call without out=, or call without torch\.vmap"):
        torch.vmap(into)(A, torch.empty_like(A))
    with pytest.raises(RuntimeError, match="'A' requires a gradient"):
        torch.func.grad(total)(one)
    with forward_ad.dual_level():
        make: Callable[..., torch.Tensor] = vars(forward_ad)["make_dual"]
        with pytest.raises(RuntimeError, match="an input has a tangent"):
            f(A[0], make(A[1], A[1]))
    nested: Callable[..., torch.Tensor] = vars(torch.nested)["nested_tensor"]
    with pytest.raises(TypeError, match=r"pass its values\(\)"):
        f(nested([A[0], A[1][:2]], layout=torch.jagged), A[0])


def test_files_do_not_clash() -> None:
    """Another kernel is another operator; the same file, imported twice, is not."""
    text = file_of(ADD, ADD_PLAN)
    one, again = imported(text), imported(f"# A comment at the top.\n{text}")
    other = imported(text.replace("a + b", "a - b"))
    assert operators(one, "add_kernel") == operators(again, "add_kernel")
    assert operators(one, "add_kernel") != operators(other, "add_kernel")
    for made, expected in ((one, A[0] + A[1]), (again, A[0] + A[1]), (other, A[0] - A[1])):
        torch.testing.assert_close(compiled(made.f)(A[0], A[1]), expected)


def test_a_name_that_something_else_took() -> None:
    text = file_of(ADD.replace("a + b", "a * b"), ADD_PLAN)
    imported(text.replace("dt_digest(kernel)", "'taken'"))
    name = "f_taken"
    assert hasattr(torch.ops.dtpoly, name)
    longer = imported(f"{text}# more\n".replace("dt_digest(kernel)", "'taken'"))
    assert hasattr(torch.ops.dtpoly, f"{name}_other")
    torch.testing.assert_close(compiled(longer.f)(A[0], A[1]), A[0] * A[1])
