"""Chains of reductions in parts: `f.block(y:p/32); top.online(f, y);`."""

from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import check, load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.parted_programs import (
    OF_DATA,
    PARTED,
    ROWS,
    attention,
    calls_of_data,
    program,
    program_of_data,
    sizes_around_parts,
)
from tests.codegen.running import compared, imported
from tests.verify.texts import text_of

RECIPES = [
    Recipe(1, DType.F32, Layout.PLAIN, Data.ASCENDING),
    Recipe(2, DType.BF16, Layout.SLICED, Data.RANDOM),
    Recipe(3, DType.F16, Layout.TRANSPOSED, Data.ASCENDING),
    Recipe(4, DType.F64, Layout.EXPANDED, Data.BELOW_ZERO),
]


@cache
def module(name: str) -> Any:
    return imported(text_of(program(name)))


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", PARTED)
def test_at_the_sizes_around_each_part(name: str, recipe: Recipe) -> None:
    of = program(name)
    for sizes in sizes_around_parts(of):
        compared(module(name), of, ("f",), recipe.inputs(of, sizes), sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("name", PARTED)
def test_at_some_sizes(name: str) -> None:
    of = program(name)
    for sizes in [one for one in sizes_around_parts(of) if one["x"] == 5 and one["y"] % 2]:
        compared(module(name), of, ("f",), RECIPES[0].inputs(of, sizes), sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("name", OF_DATA)
def test_of_ranges_from_data(name: str) -> None:
    """Where a range is data, a part may have nothing of it, and so may a whole row."""
    of = program_of_data(name)
    made = imported(text_of(of))
    for sizes, given in calls_of_data(of):
        compared(made, of, ("f",), given, sizes)


@pytest.mark.parametrize("name", ["attention", "attention, causal", "log-sum-exp"])
def test_a_part_has_a_program(name: str) -> None:
    """The first kernel has a program for each part, and reads no index of another one."""
    kernels = code_of(judge(program(name), DIRECTIVES).scheduled).stages.kernels
    assert [one.name for one in kernels] == ["f_parts", "f"]
    assert "p_block" in [axis.name for axis in kernels[0].grid]


def test_what_is_infinite_in_the_first_parts() -> None:
    """Parts in which all is -inf add nothing; a row in which all is has a sum of 0."""
    A = torch.randn(3, 150)
    A[0, :64] = -torch.inf
    A[1, 64:] = -torch.inf
    A[2] = -torch.inf
    torch.testing.assert_close(module("log-sum-exp").f(A), A.logsumexp(1))


def test_scratch_is_not_rounded() -> None:
    """Sums of parts stay in f32 where inputs and results are bf16."""
    text = text_of(program("attention"))
    between = text[text.index('"between"') : text.index('"indices"')]
    assert between.count('"type(real)"') == 3


REFUSED = {
    "in another way": (
        f"Func f, top; {ROWS} f[x] = rsum(floor(A[x, y] / reshape(top[x], x, 1) * 127), y);",
        "no factor and no sum brings this to another frame: A[x, y] / reshape(top[x], x, 1)",
    ),
    "a frame that is a sum": (
        f"Func f, top; {ROWS.replace('rmax', 'rsum')}"
        "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);",
        "'top' is no maximum and no minimum",
    ),
    "something is computed from the frame": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', 'pow(rmax(A[x, y], y), 2)')}"
        "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);",
        "'top' is no maximum and no minimum",
    ),
    "the factor of twice a minimum would be infinite": (
        f"Func f, top; {ROWS.replace('rmax(A[x, y], y)', '2 * rmin(A[x, y], y)')}"
        "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);",
        "exponents subtract a maximum, and add a minimum",
    ),
    "the factor would be infinite": (
        f"Func f, top; {ROWS} f[x] = rsum(exp(reshape(top[x], x, 1) - A[x, y]), y);",
        "exponents subtract a maximum, and add a minimum",
    ),
    "a factor does not pass a maximum": (
        f"Func f, top; {ROWS} f[x] = rmax(exp(A[x, y] - reshape(top[x], x, 1)), y);",
        "no factor and no sum brings this to another frame",
    ),
    "a maximum that moves by a sum": (
        f"Func f, top; {ROWS} f[x] = rmax(A[x, y] - reshape(top[x], x, 1), y);",
        "it moves by a sum, which is no number where a part has nothing to reduce",
    ),
    "an index": (
        f"Func f, top; {ROWS} f[x] = rargmax(A[x, y] - reshape(top[x], x, 1), y);",
        "'rargmax' has no partial results",
    ),
    "two reductions": (
        f"Func f, top; {ROWS} f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y) +"
        "rsum(A[x, y], y);",
        "it is more than one reduction over the label",
    ),
}


# What asks for parts of a chain whose maximum is `top`.
IN_PARTS = "f.block(x:2, y:p/32); f.tensorize(x:0, y:16, p:2); top.online(f, y); f.compile();"


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    algorithm, why = REFUSED[name]
    found = check(Source("f.dt", algorithm + IN_PARTS)).diagnostics
    (one,) = [diagnostic for diagnostic in found if diagnostic.code == "DT239"]
    assert one.span is not None
    assert any(why in note.text for note in one.notes), one.notes


def test_parts_are_not_added_atomically() -> None:
    text = (
        f"Func f, top; {ROWS} f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "f.block(x:2, y:32); f.tensorize(x:0, y:16); f.atomic(y); top.online(f, y); f.compile();"
    )
    assert [one.code for one in check(Source("f.dt", text)).diagnostics] == ["DT194"]


def test_other_readers_have_their_own() -> None:
    """A Func that another kernel reads, too, is merged there from the same parts."""
    text = (
        attention()
        .replace("Func f,", "Func f, g,")
        .replace("f.compile();", "g[x] = top[x] * 2; top.fuse_at(g, x); g.compile(); f.compile();")
    )
    of = load(Source("f.dt", text))
    made = imported(text_of(of))
    A, K, V = torch.randn(5, 4), torch.randn(70, 4), torch.randn(70, 3)
    scores = A @ K.T / 2
    torch.testing.assert_close(made.g(A, K, V), scores.amax(1) * 2)
    torch.testing.assert_close(made.f(A, K, V), scores.softmax(1) @ V)
