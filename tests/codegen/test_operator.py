"""Each function is an operator of torch too, which is what torch.compile and export see."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.running import imported

SOFTMAX = (
    "Func e, f; In A; Var x, y; RVar k; e[x, y] = exp(A[x, y]);"
    "f[x, y] = e[x, y] / reshape(rsum(e[x, k], k), x, 1); f.block(x:2); f.tensorize(y:4, k:4);"
    "e.fuse_at(f, x);"
)
SCALED = (
    "Func f; In A, B: f16; SIn a, n: i32, c: bool; Var x, y;"
    "f[x, y] = where(c, reshape(A[x] * a, x, 1) + B[y] * n, 0); f.tensorize(x:4, y:4);"
)
TABLE = "Func f; SIn a; Var x, y; f[x, y] = a * x + y; f.tensorize(x:4, y:4);"
PASSED = "Func f; In A; Var x, y; f[x, y] = A[x] * y; f.tensorize(x:4, y:4);"
CONVOLUTION = (
    "Func f; In A, W; Var y; RVar r; f[y] = rdot(A[2 * y + r], W[r], r); f.tensorize(y:4, r:0);"
)


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def text(source: str, header: str = "") -> str:
    return code_of(judge(load(Source("test.dt", source)), DIRECTIVES).scheduled, header).text


def module(source: str, header: str = "") -> Any:
    """Return the generated file."""
    return imported(text(source, header))


def operators(made: Any) -> tuple[Any, Any]:
    """Return the two operators: with a new result, and into one that is there."""
    name = f"f_{made.dt_digest(made.f_kernel.fn)}"
    return getattr(torch.ops.dtpoly, name).default, getattr(torch.ops.dtpoly, f"{name}_out").default


# What torch says of their types is not complete.
OPCHECK: Callable[..., Any] = vars(torch.library)["opcheck"]
COMPILE: Callable[..., Any] = vars(torch)["compile"]

Arguments = tuple[Any, ...]
CASES: list[tuple[str, Arguments, dict[str, Any], tuple[int, ...]]] = [
    (SOFTMAX, (torch.randn(5, 7),), {}, (5, 7)),
    (SOFTMAX, (torch.randn(7, 5).half().t(),), {}, (5, 7)),
    (SCALED, (torch.randn(3), torch.randn(5).half(), 2.0, 3, True), {}, (3, 5)),
    (PASSED, (torch.randn(3),), {"y": 4}, (3, 4)),
    (TABLE, (2.0,), {"x": 3, "y": 4, "device": torch.device("cpu")}, (3, 4)),
    (CONVOLUTION, (torch.randn(13), torch.randn(3)), {}, (6,)),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("source", "given", "named", "shape"), CASES)
def test_torch_finds_nothing_wrong(
    source: str, given: Arguments, named: dict[str, Any], shape: tuple[int, ...]
) -> None:
    made = module(source)
    new, into = operators(made)
    expected = made.f(*given, **named)
    assert expected.shape == shape
    torch.testing.assert_close(new(*given, **named), expected)
    OPCHECK(new, given, named)
    out = torch.empty_like(expected)
    sizes = {name: value for name, value in named.items() if name != "device"}
    OPCHECK(into, (out, *given), sizes)
    assert into(out, *given, **sizes) is None
    torch.testing.assert_close(out, expected)


def compiled(function: Callable[..., Any], dynamic: bool | None = None) -> Callable[..., Any]:
    made: Callable[..., Any] = COMPILE(
        function, backend="aot_eager", fullgraph=True, dynamic=dynamic
    )
    return made


@pytest.mark.long
@pytest.mark.parametrize("dynamic", [None, True])
def test_a_graph_does_not_break(dynamic: bool | None) -> None:
    made = module(SOFTMAX)

    def twice(A: torch.Tensor) -> Any:
        return made.f(made.f(A * 2) + 1).sum(0)

    function = compiled(twice, dynamic)
    for shape in ((5, 7), (6, 7), (6, 9)):
        A = torch.randn(shape)
        torch.testing.assert_close(function(A), twice(A))
        torch.testing.assert_close(twice(A), ((A * 2).softmax(1) + 1).softmax(1).sum(0))


def test_into_a_tensor_that_is_there() -> None:
    made = module(SOFTMAX)

    def function(A: torch.Tensor, out: torch.Tensor) -> Any:
        result = made.f(A, out=out)
        assert result is out
        return result + 1

    A, out = torch.randn(5, 7), torch.zeros(5, 7)
    torch.testing.assert_close(compiled(function)(A, out), A.softmax(1) + 1)
    torch.testing.assert_close(out, A.softmax(1))


def test_numbers_and_sizes() -> None:
    made = module(PASSED)
    A = torch.randn(3)
    expected = A[:, None] * torch.arange(5)

    def function(A: torch.Tensor, B: torch.Tensor) -> Any:
        return made.f(A, y=B.shape[0])

    torch.testing.assert_close(compiled(function, dynamic=True)(A, torch.ones(5)), expected)
    scaled = module(SCALED)
    B = torch.randn(4).half()
    given = (A, B, 2, 3, True)
    torch.testing.assert_close(compiled(scaled.f)(*given), scaled.f(*given))


def test_without_tensors() -> None:
    made = module(TABLE)

    def function(A: torch.Tensor) -> Any:
        return A + made.f(0.5, x=3, y=4)

    torch.testing.assert_close(compiled(function)(torch.ones(3, 4)), 1 + made.f(0.5, x=3, y=4))


def test_tensors_that_disagree_are_told_by_name() -> None:
    made = module("Func f; In A, B; Var x; f[x] = A[x] + B[x + 1]; f.tensorize(x:4);")
    with pytest.raises(Exception, match="disagree on the size of 'x'"):
        compiled(made.f)(torch.randn(13), torch.randn(3))


def test_no_backward_is_told() -> None:
    made = module(SOFTMAX)
    A = torch.randn(5, 7, requires_grad=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        compiled(made.f)(A).sum().backward()
    with torch.no_grad():
        torch.testing.assert_close(compiled(made.f)(A), A.softmax(1))


def test_export() -> None:
    made = module(SOFTMAX)

    class Model(torch.nn.Module):
        def forward(self, A: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = made.f(A) * 2
            return result

    A = torch.randn(5, 7)
    exported = torch.export.export(Model(), (A,))
    assert any("dtpoly" in str(node.target) for node in exported.graph.nodes)
    torch.testing.assert_close(exported.module()(A), A.softmax(1) * 2)


def test_two_versions_and_two_copies_of_a_file() -> None:
    first, again = module(SOFTMAX), module(SOFTMAX, "another header")
    second = module(SOFTMAX.replace("exp(A[x, y])", "exp(2 * A[x, y])"))
    assert operators(first) == operators(again)
    assert operators(first) != operators(second)
    A = torch.randn(5, 7)
    for made, scale in zip((first, again, second), (1, 1, 2), strict=True):
        expected = (scale * A).softmax(1)
        torch.testing.assert_close(operators(made)[0](A), expected)
        torch.testing.assert_close(compiled(made.f)(A), expected)


@pytest.mark.parametrize("name", ["class", "Tensor", "self", "print", "int", "from", "as", "a"])
def test_names_that_a_schema_may_not_have(name: str) -> None:
    source = "Func f; In NAME; Var x; f[x] = NAME[x] * 2;".replace("NAME", name)
    made = module(source)
    assert operators(made)[0](torch.ones(2)).tolist() == [2, 2]


def test_a_func_with_the_name_of_a_word() -> None:
    made = module("Func class; In A; Var x; class[x] = A[x] * 2;")
    assert compiled(made.class_)(torch.ones(2)).tolist() == [2, 2]
