"""Several loops of one kernel begin and end at data: each at its own, under names of its own."""

from functools import cache

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.ir.check import complaints
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import code as listed
from tests.codegen.running import imported

FIRST = "In X, offs: i32; Var b; RVar l in [offs[b], offs[b + 1]), k in "
TWO = "g[b] = rsum(X[l], l); f[b] = rmax(X[k] + reshape(g[b], b, 1), k); g.fuse_at(f, b);"
PROGRAMS = {
    # What is one loop's start is the end of the other one, and is loaded only once.
    "the start is an end": (
        f"Func f, g; {FIRST}[offs[b + 1], offs[b] + 30); {TWO}"
        "f.block(b:1); f.tensorize(k:8, l:16); f.compile();"
    ),
    "the start of lanes is an end": (
        f"Func f, g; {FIRST}[offs[b + 1], offs[b] + 30); {TWO}"
        "f.block(b:4); f.tensorize(b:0, k:8, l:16); f.compile();"
    ),
    # The second loop stands in another one. What both load has the same name in the algorithm.
    "inside of another loop": (
        "Func f, g; In X, offs: i32; Var b, d;"
        "RVar l in [offs[b], offs[b + 1]), k in [offs[b], offs[b + 1]);"
        "g[b] = rsum(X[l], l); f[b, d] = rsum(X[k] * (d + reshape(g[b], b, 1, 1)), k);"
        "g.fuse_at(f, b); f.block(b:4); f.tensorize(b:0, d:8, k:8, l:8); f.compile();"
    ),
}


@cache
def program(name: str) -> Program:
    return load(Source(f"{name}.dt", PROGRAMS[name]))


@cache
def code(name: str) -> Code:
    return code_of(judge(program(name), DIRECTIVES).scheduled)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_loop_has_its_own_ends(name: str) -> None:
    made = torch.Generator().manual_seed(5)
    for size, count in ((1, 1), (33, 6), (70, 9)):
        given = {
            "X": torch.randn(size, generator=made, dtype=torch.float64),
            "offs": torch.randint(-2, size + 3, (count + 1,), generator=made).to(torch.int32),
        }
        sizes = {"d": 9} if "d" in {one.name for one in program(name).labels} else {}
        found = imported(code(name).text).f(*given.values(), **sizes)
        torch.testing.assert_close(found, run(program(name), given, sizes=sizes)["f"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_proved(name: str) -> None:
    """Before, a loop could end where another one does, and a name change its type in a loop."""
    assert not [str(one) for kernel in code(name).stages.kernels for one in complaints(kernel)]
    assert verify(program(name), code(name).text, seconds=60).verdict is LayerVerdict.PROVED


def test_rows_that_are_not_there_do_not_begin_at_0() -> None:
    """The last block of tokens begins with its own sequence, however the other rows are loaded."""
    for name in ("one_pass_packed", "one_pass_levels"):
        assert "tl.where(m_mask, " in listed(name).text, name


def test_a_row_whose_start_is_not_there_begins_at_0() -> None:
    """Its start is 0, since the table names no row there, and its end is data that is there."""
    given: dict[str, torch.Tensor] = {
        "X": torch.arange(40, dtype=torch.float64)[:, None],
        "seq": torch.tensor([-1, 0, -1], dtype=torch.int16),
        "cu": torch.tensor([37, 39], dtype=torch.int32),
    }
    found = imported(listed("levels").text).result(*given.values())
    assert found[:, 0].tolist() == [sum(range(37)), 37 + 38, sum(range(37))]


def test_queries_and_ends_are_loaded_before_the_loop() -> None:
    text = listed("ragged").text
    text = text[: text.index("ragged_plan = ")]
    before, loop = text.split("for l_start in tl.range(l_first, l_stop, 64):")
    assert "Q_tile = tl.load(" in before
    assert "tl.where(\n        m.to(tl.int64) < cu_value" in before
    assert loop.count("tl.load(") == 2 + 2  # of keys and values, and of the place behind it
    assert "tl.where(k_mask" not in text
