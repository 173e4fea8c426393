"""Programs in which constructs of the language meet: indices that are data, scans, lists, one pass.

Each construct has tests of its own. These were written by somebody who had built none of them.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.generate import outputs
from dtpoly.source import Source
from tests.codegen.inputs import Data, Inputs, Layout, Recipe
from tests.codegen.running import compared, imported
from tests.verify.texts import text_of

FILES = {path.stem: path for path in sorted(Path("tests/data/crossings").glob("*.dt"))}
EXTENTS = (1, 2, 3, 15, 16, 17, 33)
RECIPES = [
    Recipe(1, DType.F32, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.BF16, Layout.SLICED, Data.RANDOM),
]
# Labels that have the size of another one in a call of these.
SAME = {"s": "t", "d": "k", "r": "k", "y": "t"}


@cache
def program(name: str) -> Program:
    path = FILES[name]
    return load(Source(path.name, path.read_text()))


@cache
def module(name: str) -> Any:
    return imported(text_of(program(name)))


def sizes_of(name: str, extent: int) -> Mapping[str, int]:
    """Return sizes near an extent that fit each other."""
    labels = program(name).labels
    sizes = {
        label.name: label.size or max(1, extent + at % 3 - 1) for at, label in enumerate(labels)
    }
    if name == "paged":
        sizes["l"] = 16 * (extent // 8 + 1)
    if name == "gqa_online":
        sizes["h"] = 4 * (extent // 16 + 1)
    if name == "packed_rows":
        sizes["k"] = 2 * extent
    if name == "topk_of_scan":
        sizes["k"] = sizes["t"]
    same = {one: sizes[other] for one, other in SAME.items() if {one, other} <= sizes.keys()}
    return sizes | same


def with_all_indices(inputs: Inputs, extent: int) -> Inputs:
    """Return the inputs with whole numbers of which some are outside of what they index."""
    return {
        name: torch.randint(-2, extent + 2, value.shape)
        if isinstance(value, torch.Tensor) and value.dtype == torch.int64
        else value
        for name, value in inputs.items()
    }


@pytest.mark.sampled
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", FILES)
def test_computed(name: str, recipe: Recipe) -> None:
    for extent in EXTENTS:
        sizes = sizes_of(name, extent)
        inputs = with_all_indices(recipe.inputs(program(name), sizes), extent)
        compared(module(name), program(name), outputs(program(name)), inputs, sizes)
