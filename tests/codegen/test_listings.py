"""Every listing and example, run in Triton's interpreter, computes what its algorithm says."""

from collections.abc import Mapping
from itertools import product

import pytest

from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.listings import DTYPES, NAMES, code, module, program, recipes, size_cases
from tests.codegen.running import Checked, compared

Case = tuple[str, Mapping[str, int], Recipe, Layout]


def in_turn() -> list[Case]:
    """Each listing at each of its sizes, with one dtype and layout after the other."""
    pairs = [(name, sizes) for name in NAMES for sizes in size_cases(name)]
    made = recipes(len(pairs))
    return [(*pair, *recipe) for pair, recipe in zip(pairs, made, strict=True)]


def shown(value: object) -> str:
    """Sizes without what pytest has another meaning for."""
    return str(value).translate(str.maketrans(":", "=", "{}' "))


def run(name: str, sizes: Mapping[str, int], recipe: Recipe, out: Layout) -> Checked:
    inputs = recipe.inputs(program(name), sizes)
    outputs = code(name).stages.outputs
    return compared(module(name), program(name), outputs, inputs, sizes, layout=out)


@pytest.mark.parametrize(("name", "sizes", "recipe", "out"), in_turn(), ids=shown)
def test_at_the_sizes_around_each_tile(
    name: str, sizes: Mapping[str, int], recipe: Recipe, out: Layout
) -> None:
    checked = run(name, sizes, recipe, out)
    assert checked.known >= checked.elements // 2


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_in_every_layout(name: str, dtype: str) -> None:
    data = list(Data)
    for at, (sizes, layout) in enumerate(product(size_cases(name), Layout)):
        recipe = Recipe(at, DTYPES[DTYPES.index(dtype)], layout, data[at % len(data)])
        for out in (Layout.PLAIN, Layout.SLICED):
            run(name, sizes, recipe, out)
