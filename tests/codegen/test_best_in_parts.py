"""Index reductions in parts: kernels that pass the best value of a block and its index."""

from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import check, load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.parted_indices import PARTED, RECIPES, sizes_of
from tests.codegen.running import compared, imported
from tests.verify.running_texts import edited


@cache
def program(name: str) -> Program:
    return load(Source("test.dt", PARTED[name]))


@cache
def text(name: str) -> str:
    return code_of(judge(program(name), DIRECTIVES).scheduled).text


@cache
def module(name: str) -> Any:
    return imported(text(name))


@pytest.mark.sampled
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", PARTED)
def test_at_the_sizes_around_parts(name: str, recipe: Recipe) -> None:
    for k in (1, 64, 65, 203):
        sizes = sizes_of(name, 5, k)
        inputs = recipe.inputs(program(name), sizes)
        compared(module(name), program(name), ("f",), inputs, sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("name", PARTED)
def test_proved(name: str) -> None:
    """A pair that grows in memory, and is passed from there, is too much for a proof."""
    wanted = LayerVerdict.UNKNOWN if name == "in memory" else LayerVerdict.PROVED
    assert verify(program(name), text(name)).verdict is wanted


def test_the_first_of_equal_ones_and_the_first_nan_win() -> None:
    A = torch.zeros(4, 200)
    A[1, [70, 130]] = 1.0
    A[2, 199] = torch.nan
    A[2, 64] = torch.inf
    A[3] = -torch.inf
    assert module("one row at a time").f(A).tolist() == [0, 70, 199, 0]
    A[2, 63] = torch.nan
    assert module("one row at a time").f(A).tolist() == [0, 70, 63, 0]


# What a person may get wrong in such kernels.
WRONG = [
    # The index inside of a part.
    ("A_tile, k.to(tl.int64))", "A_tile, (k - 64 * k_block).to(tl.int64))"),
    # The index of the part.
    (
        "dt_argmax(f_acc, f_at, f_k_partial_tile, f_k_partial_index_tile)",
        "dt_argmax(f_acc, f_at, f_k_partial_tile, p.to(tl.int64))",
    ),
    # Indices of other parts than the values.
    (
        "        f_k_partial_index_ptr\n        + p *",
        "        f_k_partial_index_ptr\n        + 0 * p *",
    ),
    # Parts that do not exist win.
    ('other=float("-inf")', 'other=float("inf")'),
    ("other=9223372036854775807", "other=-1"),
    # A part is left out.
    ("p_mask = 64 * p", "p_mask = 64 + 64 * p"),
    # The smallest value of all parts.
    (
        "    _, f_argmax = tl.reduce((f_acc, f_at), 0, dt_argmax)",
        "    _, f_argmax = tl.reduce((-f_acc, f_at), 0, dt_argmax)",
    ),
    # The value of this part with the index of another reduction.
    (
        "    f_acc, f_at = tl.reduce((f_acc, f_at), 0, dt_argmax)",
        "    f_acc, f_at = tl.max(f_acc), tl.min(f_at)",
    ),
]


@pytest.mark.parametrize("edit", WRONG, ids=range(len(WRONG)))
def test_wrong_ones_are_not_proved(edit: tuple[str, str]) -> None:
    name = "one row at a time"
    wrong = edited(text(name), edit)
    assert verify(program(name), wrong).verdict is not LayerVerdict.PROVED


def test_neither_parts_of_lists_nor_atomic_indices() -> None:
    rows = "Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k); f.block(x:1, k:64);"
    found = check(Source("test.dt", f"{rows} f.atomic(k); f.compile();"))
    assert [one.code for one in found.diagnostics] == ["DT194"]
