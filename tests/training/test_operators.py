"""Tests operators of torch that train: values, gradients, and what torch does with operators."""

import copy
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import checkpoint

import dtpoly
from dtpoly.diagnostics import DtpolyError
from dtpoly.training.differentiable import Differentiable, differentiable
from dtpoly.training.torch_operators import KNOWN

NORM = """
Func norm, total;
In X, W;
SIn eps;
Var x;
RVar y;

total[x] = rsum(X[x, y] * X[x, y], y) + eps;
norm[x, y] = X[x, y] * W[y] / reshape(total[x], x, 1);

norm.block(x:2);
norm.tensorize(x:0, y:4);
total.fuse_at(norm, x);
norm.compile();
"""
SIZES = [(0, 3), (3, 0), (1, 1), (2, 4), (3, 5)]


OPCHECK: Callable[..., Any] = vars(torch.library)["opcheck"]
COMPILE: Callable[..., Any] = vars(torch)["compile"]
CHECKPOINT: Callable[..., Any] = vars(checkpoint)["checkpoint"]
Call = Callable[..., torch.Tensor]


def sine(call: Call) -> Call:
    """What computes the sine of another function's result."""

    def computed(*given: torch.Tensor) -> torch.Tensor:
        return call(*given).sin()

    return computed


def made(text: str = NORM, **said: Any) -> Differentiable:
    return differentiable(dtpoly.parse(text), **said)


def expected(x: torch.Tensor, w: torch.Tensor, eps: float = 0.5) -> torch.Tensor:
    return x * w / ((x * x).sum(1, keepdim=True) + eps)


def leaves(rows: int, columns: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(rows * 31 + columns)
    shapes = [(rows, columns), (columns,)]
    return [torch.randn(s, generator=generator).to(dtype).requires_grad_() for s in shapes]


def gradients(op: Differentiable) -> set[tuple[str, ...]]:
    """What was computed so far by the backward of an operator."""
    return {one.operator.content.results for one in KNOWN[op.name].gradients.values()}


def compare(call: Call, other: Call, *given: torch.Tensor) -> None:
    """Assert that two functions have the same results, and the same gradients by all inputs."""
    again = [one.detach().clone().requires_grad_() for one in given]
    found, wanted = call(*given), other(*again)
    torch.testing.assert_close(found, wanted)
    gift = torch.randn(found.shape, dtype=found.dtype)
    for one, two in zip(
        torch.autograd.grad(found, given, gift),
        torch.autograd.grad(wanted, again, gift),
        strict=True,
    ):
        torch.testing.assert_close(one, two)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("save", ["", "total"])
def test_value_and_gradient(shape: tuple[int, int], save: str) -> None:
    op = made(save=save)
    compare(partial(op, eps=0.5), expected, *leaves(*shape))


def test_the_gradient_agrees_with_differences() -> None:
    op, given = made(), leaves(1, 2)
    assert torch.autograd.gradcheck(partial(op, eps=0.5), given)


@pytest.mark.long
def test_the_second_order_agrees_with_differences() -> None:
    op, given = made(), leaves(2, 2)
    assert torch.autograd.gradgradcheck(partial(op, eps=0.5), given)


@pytest.mark.long
def test_what_is_saved_is_differentiated_through_twice() -> None:
    op, given = made(save="total"), leaves(2, 3)
    assert torch.autograd.gradgradcheck(partial(op, eps=0.5), given)


def test_a_third_derivative() -> None:
    op = made("Func f; In A; Var x; f[x] = A[x] * A[x] * A[x] * A[x]; f.compile();")
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    value = op(x)
    for wanted in (4 * x**3, 12 * x**2, 24 * x):
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
        torch.testing.assert_close(value, wanted)


def test_there_is_no_graph_where_nothing_requires_a_gradient() -> None:
    op, (x, w) = made(), leaves(2, 4)
    assert op(x.detach(), w.detach(), 0.5).grad_fn is None
    with torch.no_grad():
        assert op(x, w, 0.5).grad_fn is None
    assert op(x, w, 0.5).grad_fn is not None


def test_only_gradients_that_are_asked_for_are_computed() -> None:
    op, (x, w) = made(name="mine::asked"), leaves(2, 4)
    op(x, w.detach(), 0.5).sum().backward()
    assert gradients(op) == {("d_X",)}
    x.grad = None
    op(x.detach(), w, 0.5).sum().backward()
    assert x.grad is None
    assert w.grad is not None
    assert gradients(op) == {("d_X",), ("d_W",)}


def test_what_the_gradient_does_not_read_is_not_kept() -> None:
    op = made("Func f; In A, B; Var x; f[x] = A[x] * 2 + B[x]; f.compile();")
    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    kept: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda one: one):
        op(a, b).sum().backward()
    assert kept == []


def test_strided_and_expanded_inputs_and_gradients() -> None:
    op = made()
    x, w = (one.detach() for one in leaves(6, 10))
    views = [
        (x[::2, 1::3], w[1::3]),
        (x.t()[:4, :3], w[:3]),
        (x[:1].expand(4, 10), w[:1].expand(10)),
    ]
    for view, weight in views:
        given = [view.requires_grad_(), weight.requires_grad_()]
        compare(partial(op, eps=0.5), expected, *given)
        op(*given, 0.5).sum().backward()  # what it is given is expanded


@pytest.mark.long
def test_numbers_in_tensors_have_gradients() -> None:
    op, (x, w) = made(), leaves(2, 4)
    eps = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)

    def with_eps(x: torch.Tensor, w: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
        return x * w / ((x * x).sum(1, keepdim=True) + e)

    compare(op, with_eps, x, w, eps)


@pytest.mark.long
def test_several_results_of_which_some_are_used() -> None:
    op = made(NORM.replace("norm.compile();", "norm.compile(total);"))
    x, w = leaves(3, 4)

    def wanted(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return expected(x, w), (x * x).sum(1) + 0.5

    def only(call: Callable[..., Any], at: int) -> Call:
        def computed(x: torch.Tensor) -> torch.Tensor:
            return call(x, w.detach())[at]  # type: ignore[no-any-return]

        return computed

    def both(call: Callable[..., Any]) -> Call:
        def computed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            one, two = call(x, w)
            return one.sum() + two.sum()  # type: ignore[no-any-return]

        return computed

    ours = partial(op, eps=0.5)
    for at in range(2):
        compare(only(ours, at), only(wanted, at), x)
    compare(both(ours), both(wanted), x, w)


def test_a_size_that_only_the_inputs_of_the_algorithm_show() -> None:
    op = made("Func total; In A; Var x; RVar y; total[x] = rsum(A[x, y], y); total.compile();")
    compare(op, partial(torch.sum, dim=1), leaves(3, 4)[0])


def test_a_size_that_is_passed() -> None:
    op = made(
        "Func pooled; In A; Var h; RVar r;"
        "pooled[h] = rsum(A[2 * h + r] * A[2 * h + r], r); pooled.compile();"
    )
    a = leaves(1, 9)[0].detach()[0].requires_grad_()

    def pooled(a: torch.Tensor) -> torch.Tensor:
        rows = [a[at : at + 3] for at in range(0, 7, 2)]
        return (torch.stack(rows) ** 2).sum(1)

    compare(partial(op, r=3), pooled, a)


def test_gradients_have_the_types_of_their_inputs() -> None:
    op = made(save="total")
    x, w = leaves(3, 4, torch.bfloat16)
    wide = w.detach().float().requires_grad_()
    result = op(x, wide, 0.5)
    found = torch.autograd.grad(result.sum(), (x, wide))
    dtypes = [one.dtype for one in (result, *found)]
    assert dtypes == [torch.float32, torch.bfloat16, torch.float32]
    exact = [one.detach().double().requires_grad_() for one in (x, w)]
    wanted = torch.autograd.grad(expected(exact[0], exact[1]).sum(), exact)
    torch.testing.assert_close(found[0], wanted[0].bfloat16())
    torch.testing.assert_close(found[1], wanted[1].float(), rtol=1e-2, atol=1e-2)


def test_what_is_saved_of_narrow_inputs_has_32_bits() -> None:
    op = made(save="total")
    x, w = leaves(3, 4, torch.bfloat16)
    assert [one.dtype for one in op.op(x.detach(), w.detach(), 0.5)] == [
        torch.bfloat16,
        torch.float32,
    ]


def test_names_are_tied_to_content() -> None:
    op = made(name="mine::norm")
    assert op.name.startswith("mine::norm_")
    assert made(name="mine::norm").op is op.op
    other = made(NORM.replace("block(x:2)", "block(x:4)"), name="mine::norm")
    assert other.name != op.name
    assert made(save="total", name="mine::norm").name not in (op.name, other.name)
    assert made().name.startswith("dtpoly::norm_")


def test_torch_checks_the_operator() -> None:
    op, (x, w) = made(save="total"), leaves(3, 4, torch.float32)
    OPCHECK(op.op, (x, w, 0.5))


@pytest.mark.long
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_torch_checks_the_operator_at_more_sizes(shape: tuple[int, int]) -> None:
    for op in (made(), made(NORM.replace("norm.compile();", "norm.compile(total);"))):
        OPCHECK(op.op, (*leaves(*shape, torch.float32), 0.5))


def test_compiling_what_was_never_called() -> None:
    # No other test has this schedule, so nothing was made of it.
    op = made(NORM.replace("y:4", "y:8"))
    torch.compiler.reset()
    call = COMPILE(sine(partial(op, eps=0.5)), fullgraph=True, backend="aot_eager")
    for rows in (3, 5, 6):
        compare(call, sine(expected), *leaves(rows, 4, torch.float32))


def test_modules_are_copied_and_saved() -> None:
    class Norm(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4))
            self.op = made(save="total")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.op(x, self.weight, 0.5)
            return found

    module, x = Norm(), leaves(3, 4, torch.float32)[0]
    other = copy.deepcopy(module)
    assert other.op.op is module.op.op
    assert torch.equal(other(x), module(x))
    again = pickle.loads(pickle.dumps(module.op))
    assert (again.op, repr(again)) == (module.op.op, repr(module.op))
    buffer = io.BytesIO()
    torch.save(module.op, buffer)
    buffer.seek(0)
    assert torch.load(buffer, weights_only=False).op is module.op.op


def test_checkpoints() -> None:
    op, (x, w) = made(save="total"), leaves(3, 4)
    part = sine(partial(op, eps=0.5))

    def again(*given: torch.Tensor) -> torch.Tensor:
        return CHECKPOINT(part, *given, use_reentrant=False)  # type: ignore[no-any-return]

    compare(again, sine(expected), x, w)


def test_vmap_of_nothing() -> None:
    found = torch.vmap(partial(made(), W=torch.ones(4), eps=0.5))(torch.empty(0, 2, 4))
    assert found.shape == (0, 2, 4)


@pytest.mark.parametrize("size", [1, 3])
def test_vmap(size: int) -> None:
    op = made()
    x = torch.randn(size, 2, 4, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, dtype=torch.float64, requires_grad=True)
    compare(
        torch.vmap(partial(op, eps=0.5), in_dims=(0, None)),
        torch.vmap(expected, in_dims=(0, None)),
        x,
        w,
    )


@pytest.mark.long
def test_autocast_casts_as_torch_does() -> None:
    x, w = leaves(3, 4, torch.float32)
    product = made("Func f; In A, B; Var x; RVar k; f[x] = rdot(A[x, k], B[k], k); f.compile();")
    scaled = made("Func f; In A, B; Var x, k; f[x, k] = A[x, k] * B[k]; f.compile();")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for op, dtype in ((product, torch.bfloat16), (scaled, torch.float32)):
            result = op(x, w)
            assert result.dtype is dtype
            assert torch.autograd.grad(result.sum(), x)[0].dtype is torch.float32
        # A sum of 16-bit numbers is one of 32 bits.
        assert made()(x.bfloat16(), w.bfloat16(), 0.5).dtype is torch.float32
        assert made(autocast="low")(x, w, 0.5).dtype is torch.bfloat16
        assert made(autocast="low to float32")(x, w, 0.5).dtype is torch.float32
        assert made(autocast="keep")(x.bfloat16(), w.bfloat16(), 0.5).dtype is torch.bfloat16
        # What has 64 bits keeps them.
        assert product(x.double(), w.double()).dtype is torch.float64
    assert product(x, w).dtype is torch.float32


GRADIENT = """
Func d_X;
In W, d_norm, total, X;
RVar x, y, z;

d_X[x, y] = d_norm[x, y] * W[y] / reshape(total[x], x, 1)
    - reshape(rsum(d_norm[x, z] * W[z] * X[x, z], z), x, 1) * 2 * X[x, y]
    / reshape(total[x] * total[x], x, 1);
d_X.compile();
"""


def test_a_gradient_that_somebody_wrote() -> None:
    written = dtpoly.parse(GRADIENT)
    op = made(backward=written)
    compare(partial(op, eps=0.5), expected, *leaves(3, 4))
    assert op.gradient("X") is written
    assert op.gradient("W") is not written
    assert len(op.op._schema.returns) == 2, "what the gradient reads is kept"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GRADIENT.replace("d_X", "dx"), "returns 'dx', which is no gradient of an input"),
        (GRADIENT.replace("total", "sums"), "reads 'sums', which is no input of <text>"),
        (f"{GRADIENT}Func e; e[x] = total[x]; e.compile();", "must compile one Func"),
    ],
)
def test_gradients_that_fit_no_algorithm_are_refused(text: str, said: str) -> None:
    with pytest.raises(DtpolyError, match=rf"DT276.*{said}"):
        made(backward=dtpoly.parse(text))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"of": "nor"}, "DT275.*no compiled Func 'nor'(.|\n)*did you mean 'norm'"),
        ({"by": "Y"}, "DT275.*there is no input 'Y'"),
        ({"save": "totl"}, "DT275.*Func to save called 'totl'(.|\n)*did you mean 'total'"),
        ({"name": "a norm"}, "DT275.*'a norm' is no name of an operator"),
        ({"autocast": "high"}, "DT275.*autocast='high' is none of"),
    ],
)
def test_wrong_words_are_refused(said: dict[str, str], message: str) -> None:
    with pytest.raises(DtpolyError, match=message):
        made(**said)


def test_whole_numbers_get_no_gradient() -> None:
    text = "Func f; In A, T: i64; Var x; f[x] = A[x] * T[x]; f.compile();"
    with pytest.raises(DtpolyError, match=r"DT270.*no gradient by 'T', which is i64"):
        made(text, by="T")
    assert made(text)(torch.ones(2, requires_grad=True), torch.tensor([1, 2])).requires_grad


def test_wrong_calls_are_refused() -> None:
    op, (x, w) = made(), leaves(2, 4)
    with pytest.raises(DtpolyError, match=r"DT278.*is missing the input 'eps'"):
        op(x, w)
    with pytest.raises(DtpolyError, match=r"DT278.*'W', which is given twice"):
        op(x, w, 0.5, W=w)
    with pytest.raises(DtpolyError, match=r"DT278.*'eta', which is unknown"):
        op(x, w, 0.5, eta=1)
    with pytest.raises(DtpolyError, match=r"DT278.*takes 3 inputs, but 4 were given"):
        op(x, w, 0.5, 1)
    with pytest.raises(DtpolyError, match=r"DT279.*'W' must have 1 dimensions"):
        op(x, x, 0.5)
    with pytest.raises(DtpolyError, match=r"DT279.*disagree on the size of 'y'"):
        op(x, w[1:], 0.5)
    with pytest.raises(DtpolyError, match=r"DT279.*'eps' must be a number"):
        op(x, w, "0.5")
    torch.testing.assert_close(op(x, W=w, eps=0.5), expected(x, w))


def test_an_input_without_gradient_is_not_lost() -> None:
    op, (x, w) = made(by="X"), leaves(2, 4)
    weight = w.detach()
    compare(partial(op, W=weight, eps=0.5), partial(expected, w=weight), x)
    with pytest.raises(DtpolyError, match=r"DT280.*'W' requires a gradient(.|\n)*W.detach\(\)"):
        op(x, w, 0.5)


def test_what_is_rounded_gets_no_gradient() -> None:
    op = made("Func f; In A, B; Var x; f[x] = A[x] * floor(B[x]); f.compile();")
    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    op(a, b).sum().backward()
    assert b.grad is None
    torch.testing.assert_close(a.grad, b.detach().floor())


def test_results_in_place_are_refused() -> None:
    text = "Func w into W; In W, G; Var x; w[x] = W[x] - G[x]; w.compile();"
    with pytest.raises(DtpolyError, match=r"DT277.*'w' is written into 'W'"):
        made(text)


def test_what_has_no_gradient_says_so_at_the_call() -> None:
    text = "Func f; In A; Var x; f[x] = A[x] * program_id(0); f.block(x:1); f.compile();"
    op = differentiable(dtpoly.parse(text, verify=False))
    with pytest.raises(DtpolyError) as caught:
        op(torch.randn(3, requires_grad=True))
    assert [one.code for one in caught.value.diagnostics] == ["DT272"]


EXPORTING = """
import sys, torch, dtpoly
from pathlib import Path
op = dtpoly.differentiable(sys.argv[1], save="total")
x, w = torch.arange(12.0).view(3, 4), torch.arange(4.0)
path = Path(sys.argv[2])
if not path.exists():
    class Module(torch.nn.Module):
        def forward(self, x, w):
            return op(x, w, 0.5).sin()

    torch.export.save(torch.export.export(Module(), (x, w)), path)
else:
    loaded = torch.export.load(path)
    assert op.name.replace("::", ".") in str(loaded.graph)
    torch.testing.assert_close(loaded.module()(x, w), op(x, w, 0.5).sin())
    print("the same")
"""


@pytest.mark.long
def test_an_exported_graph_runs_in_a_fresh_process(tmp_path: Path) -> None:
    path, saved = tmp_path / "norm.dt", tmp_path / "norm.pt2"
    path.write_text(NORM)
    for wanted in ("", "the same\n"):
        command = [sys.executable, "-c", EXPORTING, str(path), str(saved)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, wanted), done.stderr


def test_it_is_made_of_a_path(tmp_path: Path) -> None:
    path = tmp_path / "norm.dt"
    path.write_text(NORM)
    assert differentiable(path).op is made().op
    assert dtpoly.differentiable(str(path), of="norm").op is made().op
