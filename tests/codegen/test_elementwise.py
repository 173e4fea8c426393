"""Sets of floats hold what torch computes in f32 and f64, and little more."""

import math
from collections.abc import Callable

import pytest
import torch

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.reference.labelled_operations import ELEMENTWISE
from dtpoly.reference.labelled_values import TORCH_DTYPE
from tests.codegen.elementwise import ONE, THREE, TWO, applied
from tests.codegen.floats import DOUBLE, SINGLE, Floats, Precision, perhaps_rounded, point
from tests.codegen.reductions import (
    dotted,
    first_largest,
    first_smallest,
    largest,
    product,
    smallest,
    summed,
)

Tensor = torch.Tensor
ARITY = dict.fromkeys(ONE, 1) | dict.fromkeys(TWO, 2) | dict.fromkeys(THREE, 3)
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, 3e38, 0.5, 2])
PRECISIONS = (SINGLE, DOUBLE)


def operands(count: int, dtype: torch.dtype) -> list[Tensor]:
    """Ordinary numbers of every size, then every combination of special ones."""
    generator = torch.Generator().manual_seed(count)
    shape = (count, 400)
    ordinary = torch.randn(shape, generator=generator) * torch.tensor(
        [0.01, 1.0, 5.0, 60.0]
    ).repeat(100)
    grids = torch.meshgrid(*[SPECIAL] * count, indexing="ij")
    return [
        torch.cat([row, grid.flatten()]).to(dtype)
        for row, grid in zip(ordinary, grids, strict=True)
    ]


def inside(got: Tensor, bound: Floats) -> Tensor:
    values = got.double()
    return torch.where(values.isnan(), bound.nan, (bound.low <= values) & (values <= bound.high))


def shown(value: object) -> str:
    return str(value.dtype).removeprefix("torch.") if isinstance(value, Precision) else str(value)


@pytest.mark.parametrize("precision", PRECISIONS, ids=shown)
@pytest.mark.parametrize("name", ARITY)
def test_holds_what_torch_computes(name: str, precision: Precision) -> None:
    given = operands(ARITY[name], precision.dtype)
    bound = applied(name, list(map(point, given)), precision)
    for dtype in (precision.dtype, torch.float64):
        got = ELEMENTWISE[name](*(one.to(dtype) for one in given))
        good = inside(got, bound)
        assert good.all(), [one[~good][0].item() for one in (*given, got, bound.low, bound.high)]


# The rest of a division, and what lies near 0, are known less well.
SHARE = {"exp": 0.97, "mod": 0.8, "pow": 0.5, "div": 0.9, "fdiv": 0.9, "div_rn": 0.9}


@pytest.mark.parametrize("name", ARITY)
def test_holds_little_more(name: str) -> None:
    given = [one[:400] for one in operands(ARITY[name], torch.float32)]
    bound = applied(name, list(map(point, given)), SINGLE)
    width, size = bound.high - bound.low, bound.size.clamp(min=1e-30)
    tight = bound.is_point | (width <= 1e-4 * size) | (width <= 1e-5)
    assert tight.double().mean() >= SHARE.get(name, 0.99)
    # A result that is off by a thousandth is not allowed.
    exact = ELEMENTWISE[name](*(one.double() for one in given))
    off = exact + 2e-3 * (1 + exact.abs())
    told = ~inside(off, bound) | (off == exact) | exact.isnan()
    assert told.double().mean() >= SHARE.get(name, 0.99)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "pow"])
def test_holds_what_comes_of_every_number_between(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    ends = torch.randn(2, 300, generator=generator).double() * 3
    low, high = ends.amin(0), ends.amax(0)
    values = Floats(low, high, torch.zeros(300, dtype=torch.bool))
    second = point(torch.full((300,), 3.0)) if name == "pow" else None
    bound = applied(name, [values] if second is None else [values, second], SINGLE)
    for share in (0.0, 0.1, 0.5, 0.77, 1.0):
        at = low + (high - low) * share
        got = ELEMENTWISE[name](at, *([torch.tensor(3.0)] if second is not None else []))
        assert inside(got, bound).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rounding_to_a_type(dtype: DType) -> None:
    theirs = TORCH_DTYPE[dtype]
    values = torch.cat([operands(1, torch.float64)[0], torch.tensor([1e6, -1e6, 500.0, 460.0])])
    bound = perhaps_rounded(point(values), dtype)
    assert inside(values, bound).all()
    assert inside(values.to(theirs), bound).all()
    # And to one side only.
    finite = values.isfinite() & (values.abs() < torch.finfo(theirs).max)
    assert ((bound.high - bound.low)[finite] <= values[finite].abs() / 8 + 0.01).all()


def random_lines(count: int, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(count)
    return torch.randn(200, count, generator=generator, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, 1000])
@pytest.mark.parametrize("precision", PRECISIONS, ids=shown)
def test_sums_and_products(count: int, precision: Precision) -> None:
    lines = random_lines(count, precision.dtype)
    backwards = lines.flip(-1)
    in_turn = torch.zeros(200, dtype=precision.dtype)
    for at in range(count):
        in_turn = in_turn + lines[:, at]
    total = summed(point(lines), precision)
    for got in (lines.sum(-1), backwards.sum(-1), in_turn, lines.double().sum(-1)):
        assert inside(got, total).all()
    steps = count * precision.unit * lines.double().abs().sum(-1)
    assert ((total.high - total.low) <= 4 * steps + 1e-5).all()
    assert not inside(lines.double().sum(-1) + 0.1 * (1 + count / 500), total).any()
    of_all = product(point(lines), precision)
    assert inside(lines.prod(-1), of_all).all()
    assert inside(backwards.double().prod(-1), of_all).all()


def test_extremes() -> None:
    lines = random_lines(9)
    lines[3, 4] = math.nan
    lines[5, :] = math.inf
    for ours, theirs in ((largest, torch.amax), (smallest, torch.amin)):
        bound = ours(point(lines))
        assert bound.is_point.all()
        assert inside(theirs(lines, -1), bound).all()
        assert not inside(theirs(lines, -1) - 1, bound)[:3].any()
    assert largest(point(lines[:, :0])).low.isneginf().all()
    assert smallest(point(lines[:, :0])).high.isposinf().all()


@pytest.mark.parametrize("find", [first_largest, first_smallest])
def test_the_first_among_equals(find: Callable[[Floats], tuple[Tensor, Tensor]]) -> None:
    lines = torch.tensor([[1.0, 3, 3, -2, -2], [5, math.nan, 7, math.nan, 0]])
    place, known = find(point(lines))
    assert torch.equal(place, torch.tensor([1 if find is first_largest else 3, 1]))
    assert known.all()
    wide = Floats(
        torch.tensor([[0.0, 1.0, 5.0]]),
        torch.tensor([[2.0, 1.5, 5.0]]),
        torch.zeros(1, 3, dtype=torch.bool),
    )
    _, known = find(wide)
    assert bool(known.all()) is (find is first_largest)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_products_of_matrices(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    left = torch.randn(20, 50, generator=generator, dtype=torch.float64).to(dtype)
    right = torch.randn(50, 30, generator=generator, dtype=torch.float64).to(dtype)
    precision = DOUBLE if dtype is torch.float64 else SINGLE
    bound = dotted(point(left), point(right), "mk,kn->mn", 50, precision, 0.0)
    exact = left.double() @ right.double()
    assert inside(exact, bound).all()
    assert inside(left.to(precision.dtype) @ right.to(precision.dtype), bound).all()
    assert not inside(exact + 0.01, bound).any()
    assert ((bound.high - bound.low) <= 2e-3).all()
