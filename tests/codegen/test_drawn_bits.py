"""Random bits are those of the reference in each bit; the suite on a GPU runs the same kernels."""

from functools import cache
from typing import Any

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.drawn_bits import DRAWN, SIZES, sizes_of
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported


@cache
def program(name: str) -> Program:
    return load(Source("test.dt", DRAWN[name]))


@cache
def text(name: str) -> str:
    return code_of(judge(program(name), DIRECTIVES).scheduled).text


@pytest.mark.sampled
@pytest.mark.parametrize("name", DRAWN)
def test_each_bit(name: str) -> None:
    module: Any = imported(text(name))
    for seed, (x, y) in enumerate(SIZES[:2]):
        sizes = sizes_of(name, x, y)
        inputs = Recipe(seed).inputs(program(name), sizes)
        found = compared(module, program(name), ("f",), inputs, sizes)
        assert found.known == found.elements > 0


@pytest.mark.sampled
@pytest.mark.parametrize("name", DRAWN)
def test_proved(name: str) -> None:
    assert verify(program(name), text(name)).verdict is LayerVerdict.PROVED
