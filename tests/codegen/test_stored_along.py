"""Results that are stored in the loop of another one's reduction, and what they are."""

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs
from dtpoly.schedule.legality import judge
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import compared, imported
from tests.codegen.stored_along import PROGRAMS, TRIED, program, rectangles

RECIPES = [
    (DType.F32, Layout.PLAIN, Layout.PLAIN),
    (DType.BF16, Layout.TRANSPOSED, Layout.SLICED),
    (DType.F16, Layout.SLICED, Layout.TRANSPOSED),
]
FEW = (0, 1, 5, 17)
IN_PARTS = "gradients of a norm in parts"


def text(name: str) -> str:
    return code_of(judge(program(name), DIRECTIVES).scheduled).text


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_proved(name: str) -> None:
    report = verify(program(name), text(name), seconds=60)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


def check(name: str, tried: tuple[int, ...], dtype: DType, layout: Layout, out: Layout) -> None:
    of, made = program(name), imported(text(name))
    for seed, sizes in enumerate(rectangles(of, tried)):
        inputs = Recipe(seed=seed, dtype=dtype, layout=layout).inputs(of, sizes)
        checked = compared(made, of, outputs(of), inputs, sizes, layout=out)
        assert checked.known == checked.elements


@pytest.mark.parametrize("name", ["rows at once of parts", IN_PARTS])
def test_at_a_few_sizes(name: str) -> None:
    check(name, FEW, *RECIPES[0])


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("dtype", "layout", "out"), RECIPES)
def test_at_the_sizes_around_each_tile(
    name: str, dtype: DType, layout: Layout, out: Layout
) -> None:
    plain = Layout.PLAIN  # what is replaced in place is an input
    check(name, TRIED, dtype, *((plain, plain) if name == "in place" else (layout, out)))


def test_rows_are_read_once() -> None:
    """One loop has all that is summed, and what is stored of each row."""
    kernel = text(IN_PARTS).split("def dw_kernel")[0]
    assert [kernel.count(f"tl.load({one}_at_y") for one in ("D", "X")] == [1, 1]
    assert kernel.count("for x_start in tl.range(") == 1


def test_it_is_what_torch_computes() -> None:
    made = imported(text(IN_PARTS))
    x = torch.randn(13, 33, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    d, w = x.flip(0) * 2 + 1, x[0] + 1
    mean, var = x.mean(1, keepdim=True), x.var(1, keepdim=True, correction=0)
    rstd = (var + 1e-5).rsqrt()
    asked = torch.ops.aten.native_layer_norm_backward.default(
        d, x, [33], mean, rstd, w, w, [True, True, True]
    )
    found = made.dx(d, x, w, mean[:, 0], rstd[:, 0])
    for one, other in zip(found, asked, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_a_merge_without_a_row() -> None:
    """No program has a part where there is no row, and sums of nothing are 0."""
    made, none = imported(text(IN_PARTS)), torch.ones(0, 33)
    dx, dw, db = made.dx(none, none, torch.ones(33), torch.ones(0), torch.ones(0))
    assert (dx.shape, dw.tolist(), db.tolist()) == ((0, 33), [0.0] * 33, [0.0] * 33)
