"""Every listing and example, run in Triton's interpreter, computes what its algorithm says."""

from collections.abc import Mapping
from itertools import product
from math import prod

import pytest

from dtpoly.algorithm.dtypes import DType
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.listings import (
    COMPARED,
    DTYPES,
    FEW_STEPS,
    MOST_PROGRAMS,
    NAMES,
    code,
    module,
    program,
    programs,
    ragged_case,
    recipes,
    size_cases,
    steps,
)
from tests.codegen.running import Checked, compared

# In the interpreter; these are left to the longer suite.
SLOW = ("conv2d",)
# Elements, where a kernel has many programs.
MOST = 100_000
Case = tuple[str, Mapping[str, int], Recipe, Layout]


def in_turn() -> list[Case]:
    """Return each listing at each of its sizes, with one dtype and layout after the other."""
    pairs = [(name, sizes) for name in NAMES for sizes in size_cases(name)]
    made = recipes(len(pairs))
    return [(*pair, *recipe) for pair, recipe in zip(pairs, made, strict=True)]


def shown(value: object) -> str:
    """Return sizes without what pytest has another meaning for."""
    return str(value).translate(str.maketrans(":", "=", "{}' "))


def run(name: str, sizes: Mapping[str, int], recipe: Recipe, out: Layout) -> Checked:
    inputs = recipe.inputs(program(name), sizes)
    outputs = code(name).stages.outputs
    return compared(module(name), program(name), outputs, inputs, sizes, layout=out)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "sizes", "recipe", "out"), in_turn(), ids=shown)
def test_at_the_sizes_around_each_tile(
    name: str, sizes: Mapping[str, int], recipe: Recipe, out: Layout
) -> None:
    checked = run(name, sizes, recipe, out)
    assert checked.known >= checked.elements // 2


def ragged_kernels() -> list[Case]:
    """Examples with large tiles, each at one choice of sizes."""
    cases = [(name, ragged_case(name)) for name in COMPARED if name not in SLOW]
    made = recipes(len(cases))
    return [(*case, *recipe) for case, recipe in zip(cases, made, strict=True)]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "sizes", "recipe", "out"), ragged_kernels(), ids=shown)
def test_a_kernel_at_ragged_sizes(
    name: str, sizes: Mapping[str, int], recipe: Recipe, out: Layout
) -> None:
    checked = run(name, sizes, recipe, out)
    assert checked.known >= checked.elements // 2


@pytest.mark.long
@pytest.mark.parametrize("name", COMPARED)
def test_a_kernel_around_each_tile(name: str) -> None:
    given = program(name)
    few = [sizes for sizes in size_cases(name) if steps(given, sizes) <= FEW_STEPS]
    # Sizes around the tile of a last kernel are many programs of the one before. Both at the edge
    # of their tiles take minutes; each is there in a call in which the others are small.
    few = [one for one in few if programs(given, one) <= MOST_PROGRAMS or prod(one.values()) < MOST]
    cases = [ragged_case(name), *few]
    for sizes, (recipe, out) in zip(cases, recipes(len(cases)), strict=True):
        run(name, sizes, recipe, out)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_in_every_layout(name: str, dtype: DType) -> None:
    """Each dtype has each pair of layouts; of each size, one dtype after the other has them."""
    data, layouts = list(Data), list(Layout)
    first = DTYPES.index(dtype)
    for at, (sizes, layout) in enumerate(product(size_cases(name), layouts)):
        recipe = Recipe(at, dtype, layout, data[at % len(data)])
        is_sliced = (first + at // len(layouts) + at % len(layouts)) % 2
        run(name, sizes, recipe, Layout.SLICED if is_sliced else Layout.PLAIN)
