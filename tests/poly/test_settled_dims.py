"""Dims that isl is not told of: its loops are the same, and two passes are one question."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.poly import loop_trees
from dtpoly.poly.generation import loop_ast
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.loop_trees import NamedTree
from dtpoly.poly.model import Model, by_name
from dtpoly.poly.remembered import Answers, remembering
from dtpoly.poly.settled_dims import places_of
from dtpoly.poly.tiles import StatementTiles, tiles_of
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree import paths
from dtpoly.source import Source
from tests.codegen.cases import random_case
from tests.schedule.user_primitives import USER

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> Program:
    """The program of an example."""
    return load(Source(name, (EXAMPLES / f"{name}.dt").read_text()))


def kernels_of(program: Program) -> tuple[Model, list[list[StatementTiles]]]:
    """The tiles of each kernel of a program."""
    state = judge(program, USER).scheduled
    known, ways = by_name(state.model), list(paths(state.kernels))
    mine = [[way for way in ways if way.kernel == at] for at in range(len(state.kernels))]
    return state.model, [[tiles_of(known[w.statement], w) for w in some] for some in mine]


def plain(_: Sequence[StatementTiles], context: isl.Set, schedule: isl.Schedule) -> NamedTree:
    """Make the tree of a schedule with all of its dims."""
    return NamedTree(isl.AstBuild.from_context(context).node_from_schedule(schedule), {}, {})


def loops_of(model: Model, kernels: list[list[StatementTiles]]) -> list[str]:
    """The loops of kernels as text, without sets: isl prints equal ones in several ways."""
    shown = (str(loop_ast(model, tiles)) for tiles in kernels)
    return [re.sub(r'occurs=Set\("[^"]*"\)', "", one) for one in shown]


def test_a_private_copy_has_one_dim_that_is_not_settled() -> None:
    _, (tiles,) = kernels_of(example("causal_flash_attention"))
    context = isl.Set.universe(tiles[0].domain.get_space().params())
    places = places_of(tiles, context)["scores@causal_flash_attention"]
    blocks = [Affine(((f"causal_flash_attention.{x}.block", 1),)) for x in "bhm"]
    assert places == (*blocks, 0, *blocks, 0)


def test_a_place_that_is_a_number_in_the_context_is_that_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`B[x]` and `B[x + y]` leave one index of y, so a block of y has one start."""
    text = """Func c, f; In A, B; Var x, y;
        c[x, y] = A[x, y] + reshape(B[x], x, 1); f[x, y] = c[x, y] * B[x + y];
        c.fuse_at(f, y); f.block(x:5, y:2); f.tensorize(x:4, y:0); f.compile();"""
    model, kernels = kernels_of(load(Source("f.dt", text)))
    found = loops_of(model, kernels)
    monkeypatch.setattr(loop_trees, "_made", plain)
    assert found == loops_of(model, kernels)


@pytest.mark.parametrize("seed", [7, 29])
def test_loops_are_those_of_all_dims(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, kernels = kernels_of(random_case(seed).program)
    found = loops_of(model, kernels)
    monkeypatch.setattr(loop_trees, "_made", plain)
    assert found == loops_of(model, kernels)


@pytest.mark.parametrize("name", ["causal_flash_attention", "attentions/window", "conv2d"])
def test_loops_of_copies_are_those_of_all_dims(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, kernels = kernels_of(example(name))
    with remembering(Answers()):  # so that names differ, too
        found = loops_of(model, kernels)
    monkeypatch.setattr(loop_trees, "_made", plain)
    with remembering(Answers()):
        assert found == loops_of(model, kernels)


def test_the_passes_of_an_attention_are_one_question() -> None:
    """They have other copies and other loops, and one of them writes no copy."""
    model, (tiles,) = kernels_of(example("causal_flash_attention"))
    answers = Answers()
    with remembering(answers):
        loop_ast(model, tiles)
    asked = [str(one) for one in answers.known]
    assert sum(one.startswith("('loops of dims that are left'") for one in asked) == 1
    assert sum(one.startswith("('loops',") for one in asked) > 1
