"""isl's loops: all tiles, each once; and whoever interrupts isl gets his exception."""

import subprocess
import sys
from functools import reduce

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.generation import loop_ast
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.loops import For, Guard, LoopNode, Once, Tile
from dtpoly.poly.model import by_name
from dtpoly.poly.tiles import tiles_of
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree import paths
from dtpoly.source import Source
from tests.codegen.cases import random_case
from tests.schedule.user_primitives import USER


def occurrences(nodes: tuple[LoopNode, ...]) -> list[Tile]:
    """Every tile statement."""
    found: list[Tile] = []
    for node in nodes:
        match node:
            case Tile():
                found.append(node)
            case For() | Once() | Guard():
                found += occurrences(node.body)
    return found


def loops(nodes: tuple[LoopNode, ...]) -> list[For]:
    """Every loop."""
    found: list[For] = []
    for node in nodes:
        match node:
            case Tile():
                pass
            case For():
                found += [node, *loops(node.body)]
            case Once() | Guard():
                found += loops(node.body)
    return found


@pytest.mark.parametrize("seed", [7, 20, 29, 340])
def test_each_tile_is_in_one_place(seed: int) -> None:
    state = judge(random_case(seed).program, USER).scheduled
    for at in range(len(state.kernels)):
        mine = [way for way in paths(state.kernels) if way.kernel == at]
        tiles = [tiles_of(by_name(state.model)[w.statement], w) for w in mine]
        found = occurrences(loop_ast(state.model, tiles))
        for one in tiles:
            parts = [tile.occurs for tile in found if tile.statement == one.name]
            assert all(
                first.is_disjoint(second) for i, first in enumerate(parts) for second in parts[:i]
            )
            nothing = isl.Set.empty(one.domain.get_space())
            assert reduce(lambda a, b: a | b, parts, nothing).is_subset(one.domain)


@pytest.mark.parametrize("sizes", ["r, g", "r, g: 4", "r: 96, g"])
@pytest.mark.parametrize(
    ("block", "tile"), [(5, 4), (12, 8), (48, 32), (96, 64), (20, 8), (48, 16), (24, 1)]
)
def test_loops_go_from_tile_to_tile(block: int, tile: int, sizes: str) -> None:
    """Also if tiles do not divide a block, the rest is not searched index by index."""
    program = load(
        Source(
            "test.dt",
            f"Func f; In X; Var {sizes}; f[r, g] = X[r, g] * 2; f.block(r:{block});"
            f"f.tensorize(r:{tile}, g:0); f.compile();",
        )
    )
    state = judge(program, DIRECTIVES).scheduled
    tiles = [tiles_of(by_name(state.model)[w.statement], w) for w in paths(state.kernels)]
    nodes = loop_ast(state.model, tiles)
    assert all(one.step % tile == 0 for one in loops(nodes) if one.axis == "f.r")
    assert occurrences(nodes)


INTERRUPTED = """
import random, signal, time
from dtpoly.generate import code_of
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.legality import judge
from tests.codegen.listings import program

class Rung(Exception):
    pass

armed = False

def ring(*_):
    if armed:
        raise Rung

signal.signal(signal.SIGALRM, ring)
state = judge(program("listing_4_02_softmax"), DIRECTIVES).scheduled
code_of(state)  # later calls find what this one has kept
started = time.perf_counter()
code_of(state)
whole = time.perf_counter() - started
seeded, rung = random.Random(1), 0
for _ in range(50):
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, seeded.uniform(1e-4, whole))
        code_of(state)
        armed = False
    except Rung:
        rung += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
print(rung > 20)
"""


@pytest.mark.long
def test_an_interruption_at_any_time_is_an_exception() -> None:
    """None inside of a callback from isl, where Python's exceptions end the process."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
