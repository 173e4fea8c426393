"""Tests that the operators of dtpoly.nn compute what torch's do, by kernels that are proved."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import dtpoly
from dtpoly import nn
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.api import Scheduled
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.format import format_source
from dtpoly.frontend.reading import read_file
from dtpoly.generate import outputs
from dtpoly.gradient.differentiate import differentiated
from dtpoly.nn.packaged_operators import FOLDER, LARGE, LOSSES, losing
from dtpoly.training.element_types import with_copies, with_types
from dtpoly.training.gradient_schedules import like
from dtpoly.training.torch_operators import KNOWN
from dtpoly.verification import verified
from tests.cli.server import Server

Call = Callable[..., torch.Tensor]
CLASSES = torch.tensor([0, 3, -100, 7, 2])


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    c, s = cos[:, None], sin[:, None]
    return torch.cat([first * c - second * s, second * c + first * s], dim=-1)


def rms_norm(call: Any) -> Call:
    def normed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return call(x, w.shape, w, 1e-5)  # type: ignore[no-any-return]

    return normed


def layer_norm(call: Any) -> Call:
    def normed(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return call(x, w.shape, w, b, 1e-5)  # type: ignore[no-any-return]

    return normed


def cross_entropy(call: Any, **said: Any) -> Call:
    def loss(x: torch.Tensor) -> torch.Tensor:
        return call(x, CLASSES[: len(x)], **said)  # type: ignore[no-any-return]

    return loss


def linear_cross_entropy(call: Any, reduction: str) -> Call:
    def loss(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return call(x, w, CLASSES[: len(x)], reduction=reduction)  # type: ignore[no-any-return]

    return loss


def gated(a: torch.Tensor, b: torch.Tensor, unit: Any = F.silu, **said: Any) -> torch.Tensor:
    return unit(a, **said) * b  # type: ignore[no-any-return]


def linear(x: torch.Tensor, w: torch.Tensor, classes: torch.Tensor, **said: Any) -> torch.Tensor:
    return F.cross_entropy(x @ w.t(), classes, **said)


def angles(call: Call) -> Call:
    def rotate(x: torch.Tensor) -> torch.Tensor:
        turns = torch.arange(x.shape[1] * x.shape[3] // 2).view(x.shape[1], -1) / 7
        return call(x, turns.cos().to(x.dtype), turns.sin().to(x.dtype))

    return rotate


Shapes = Sequence[Sequence[tuple[int, ...]]]
WIDTHS = (1, 7, 8, 33)
ROWS: Shapes = [[(3, 1)], [(3, 7)], [(3, 8)], [(3, 33)], [(0, 5)]]
MATRICES: Shapes = [[(rows, width)] * 2 for rows in (0, 1, 5) for width in (1, 33)]


def heads(*sizes: int) -> list[tuple[int, ...]]:
    """The shapes of queries, keys and values: batch, heads, both lengths, both widths."""
    b, h, queries, keys, k, n = sizes
    return [(b, h, queries, k), (b, h, keys, k), (b, h, keys, n)]


HEADS: Shapes = [
    heads(1, 1, 1, 1, 16, 16),
    heads(1, 2, 5, 5, 16, 8),
    heads(1, 1, 67, 67, 16, 16),
    heads(1, 1, 5, 3, 8, 8),
]
# By case: our function, torch's, and shapes of the inputs that have gradients.
CASES: dict[str, tuple[Call, Call, Shapes]] = {
    "rms_norm": (
        rms_norm(nn.rms_norm),
        rms_norm(F.rms_norm),
        [[(3, w), (w,)] for w in WIDTHS] + [[(0, 4), (4,)], [(2, 33, 8), (8,)]],
    ),
    "layer_norm": (
        layer_norm(nn.layer_norm),
        layer_norm(F.layer_norm),
        [[(3, w), (w,), (w,)] for w in WIDTHS[1:]]
        + [[(0, 4), (4,), (4,)], [(2, 35, 8), (8,), (8,)]],
    ),
    "softmax": (nn.softmax, partial(F.softmax, dim=-1), ROWS),
    "softmax, another axis": (
        partial(nn.softmax, dim=1),
        partial(F.softmax, dim=1),
        [[(2, 5, 3)]],
    ),
    **{
        f"cross_entropy, {reduction}, {smoothing}": (
            cross_entropy(nn.cross_entropy, reduction=reduction, label_smoothing=smoothing),
            cross_entropy(F.cross_entropy, reduction=reduction, label_smoothing=smoothing),
            [[(5, 9)], [(1, 8)]],
        )
        for reduction in ("mean", "sum", "none")
        for smoothing in (0.0, 0.1)
    },
    **{
        f"linear_cross_entropy, {reduction}": (
            linear_cross_entropy(nn.linear_cross_entropy, reduction),
            linear_cross_entropy(linear, reduction),
            [[(5, 16), (9, 16)], [(1, 7), (8, 7)], [(5, 130), (33, 130)]],
        )
        for reduction in ("mean", "none")
    },
    "swiglu": (nn.swiglu, gated, MATRICES),
    "geglu": (nn.geglu, partial(gated, unit=F.gelu), MATRICES),
    "geglu, tanh": (
        partial(nn.geglu, approximate="tanh"),
        partial(gated, unit=F.gelu, approximate="tanh"),
        MATRICES,
    ),
    "rope": (angles(nn.rope), angles(rotated), [[(2, 5, 3, 8)], [(1, 1, 5, 6)], [(0, 2, 1, 4)]]),
    "attention": (
        nn.scaled_dot_product_attention,
        F.scaled_dot_product_attention,
        HEADS,
    ),
    "attention, causal": (
        partial(nn.scaled_dot_product_attention, is_causal=True),
        partial(F.scaled_dot_product_attention, is_causal=True),
        HEADS,
    ),
    "attention, scaled": (
        partial(nn.scaled_dot_product_attention, scale=0.3),
        partial(F.scaled_dot_product_attention, scale=0.3),
        HEADS[:2],
    ),
}
ROUNDING = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.float16: 1e-2,
    torch.bfloat16: 6e-2,
}
EACH = [(name, at) for name, (_, _, shapes) in CASES.items() for at in range(len(shapes))]


@pytest.mark.long
@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize(("name", "at"), EACH, ids=str)
def test_values_and_gradients(name: str, at: int, dtype: torch.dtype) -> None:
    compare(name, at, dtype)


def test_a_mean_of_16_bit_losses_has_32_bits_under_autocast() -> None:
    x, w = torch.randn(5, 16, requires_grad=True), torch.randn(9, 16, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = nn.linear_cross_entropy(x, w, CLASSES)
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, linear(x, w, CLASSES), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", ["rms_norm", "cross_entropy, mean, 0.1", "swiglu"])
def test_values_and_gradients_of_some(name: str) -> None:
    compare(name, 0, torch.float32)


def compare(name: str, at: int, dtype: torch.dtype) -> None:
    """Assert that results and gradients are those of torch in 64 bits, but for rounding."""
    ours, theirs, shapes = CASES[name]
    generator = torch.Generator().manual_seed(at)
    given = [
        torch.randn(shape, generator=generator).to(dtype).requires_grad_() for shape in shapes[at]
    ]
    exact = [one.detach().double().requires_grad_() for one in given]
    found, wanted = ours(*given), theirs(*exact)
    assert found.dtype is dtype
    assert found.shape == wanted.shape
    gift = torch.randn(found.shape, generator=generator).to(dtype)
    ahead = torch.autograd.grad(found, given, gift)
    behind = torch.autograd.grad(wanted, exact, gift.double())
    for one, other in zip((found, *ahead), (wanted, *behind), strict=True):
        scale = max(1.0, float(other.detach().abs().max()) if other.numel() else 1.0)
        far = (one.double() - other).abs()
        assert one.dtype is dtype
        assert not bool((far > ROUNDING[dtype] * scale).any()), float(far.max())


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "at"), [("rms_norm", 1), ("softmax", 1), ("swiglu", 3), ("layer_norm", 1)]
)
def test_second_derivatives(name: str, at: int) -> None:
    """Also through what is kept for the gradient, which depends on the inputs, too."""
    ours, theirs, shapes = CASES[name]
    generator = torch.Generator().manual_seed(at)
    given = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes[at]]
    found: list[tuple[torch.Tensor, ...]] = []
    for call in (ours, theirs):
        leaves = [one.clone().requires_grad_() for one in given]
        with sdpa_kernel(SDPBackend.MATH):
            result = call(*leaves)
        first = torch.autograd.grad(result.sin().sum(), leaves, create_graph=True)
        total = torch.stack([one.cos().sum() for one in first]).sum()
        found.append((*first, *torch.autograd.grad(total, leaves)))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def is_backward(path: Path) -> bool:
    return path.stem.endswith("_backward")


FILES = sorted(FOLDER.glob("*.dt"))
# The files whose place another one takes, where a device has room for large tiles.
WITH_LARGE = [path.stem.removesuffix(LARGE) for path in FILES if path.stem.endswith(LARGE)]


@pytest.mark.parametrize("path", [one for one in FILES if is_backward(one)], ids=lambda p: p.stem)
def test_gradients_are_derived_of_their_algorithms(path: Path) -> None:
    """What the files of gradients compute is what the algorithm's file says today."""
    name = path.stem.removesuffix("_backward")
    written, forward = dtpoly.load(path), dtpoly.load(path.with_name(f"{name}.dt"))
    inputs = {one.name for one in forward.program.inputs}
    saved = [one.name for one in written.program.inputs if forward.program.find_func(one.name)]
    (func,) = outputs(forward.program)
    by = tuple(one.name for one in forward.program.inputs if f"d_{one.name}" in _funcs(written))
    assert by
    assert set(by) <= inputs
    gradient = differentiated(forward.algorithm.program, (func,), by, tuple(saved))
    assert _algorithm(written.program) == _algorithm(gradient.program)


def _funcs(schedule: Scheduled) -> set[str]:
    return {one.name for one in schedule.program.funcs}


def _algorithm(program: Program) -> str:
    return show(replace(program, directives=()))


@pytest.mark.parametrize("name", WITH_LARGE)
def test_other_schedules_are_of_the_same_algorithm(name: str) -> None:
    """A file with large tiles computes what the file does whose place it takes."""
    large, small = (dtpoly.load(FOLDER / f"{name}{end}.dt") for end in (LARGE, ""))
    assert _algorithm(large.program) == _algorithm(small.program)
    assert losing(name, is_wide=False, has_room=True).program.directives != small.program.directives
    assert losing(name, is_wide=True, has_room=True).program == small.program


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_files_are_formatted(path: Path) -> None:
    source = read_file(str(path))
    assert format_source(source) == source.text


def test_each_algorithm_has_a_gradient() -> None:
    stems = {path.stem for path in FILES}
    gradients = {f"{name}_backward" for name in nn.names()}
    assert stems == {*nn.names(), *gradients, *LOSSES, *(f"{one}{LARGE}" for one in WITH_LARGE)}
    with pytest.raises(DtpolyError, match=r"DT275.*there is no operator 'relu'"):
        nn.operator("relu")


@pytest.mark.long
@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16], ids=str)
@pytest.mark.parametrize("name", nn.names())
def test_kernels_are_proved(name: str, dtype: DType) -> None:
    """Both kernels of each operator, also with the types that they have for 16-bit inputs."""
    operator = KNOWN[nn.operator(name).name]
    forward, backward = operator.content.schedule, operator.written[0].schedule
    if dtype is DType.BF16:
        content = operator.content
        copies = with_copies(forward.program, content.kept_wide, DType.F32)
        forward = like(forward, show(copies), forward.name)
        types: dict[str, DType] = {
            one.name: dtype for one in backward.program.tensors if one.dtype is None
        }
        types |= {one: DType.F32 for one in content.kept_wide}
        results = dict.fromkeys(operator.written[0].results.values(), dtype)
        program = with_types(backward.program, types, results)
        backward = like(backward, show(program), backward.name)
    for one in (forward, backward):
        report = verified(one.program, one.source, outputs(one.program), 100)
        assert report.verdict == "proved", str(report)


SIZES = {
    "linear_cross_entropy_chunk_large": "x=512,y=1024,k=512",
    "linear_cross_entropy_chunk": "x=512,y=1024,k=512",
    "attention": "b=2,h=3,m=512,l=512,k=64,n=64",
    "causal_attention": "b=2,h=3,m=512,l=512,k=64,n=64",
    "linear_cross_entropy": "x=512,y=1024,k=512",
    "rope": "b=2,m=512,h=12,j=32",
}


@pytest.mark.long
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_kernels_compile_for_gpus(served: Server, tmp_path: Path, path: Path, target: str) -> None:
    sizes = SIZES.get(path.stem.removesuffix("_backward"), "x=512,y=1024")
    out = str(tmp_path / "kernels.py")
    words = ("--target", target, "--dtype", "bf16", "--size", sizes, "--no-verify", "-o", out)
    code, out, err = served("compile", str(path), *words, "--seconds", "100")
    assert code == 0, err
    assert f"for {target}:" in out + err
    assert "spills" in out + err
