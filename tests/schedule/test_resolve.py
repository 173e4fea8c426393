"""Directives of random Programs resolve: every statement is somewhere, and nothing is changed."""

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.model import by_name
from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree import launch_of, statements
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.generation.schedules import program
from tests.schedule.tables import scheduled
from tests.schedule.told import TWO, TWO_PRODUCTS


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(0, 100, 10))
def test_of_random_programs(seed: int) -> None:
    for number in range(seed, seed + 10):
        made = program(seeded(number), Limits(funcs=3))
        before = repr(made)
        judged = judge(made, DIRECTIVES)
        assert repr(made) == before
        assert all(v.kind is not ViolationKind.LOST for v in judged.violations)
        placed = [n for k in judged.scheduled.kernels for n in statements(k.body)]
        assert sorted(placed) == sorted(by_name(judged.scheduled.model))


def test_a_fused_func_with_another_reader_keeps_its_kernel() -> None:
    text = TWO + "Func h; h[x, y] = g[x, y] * 2; h.compile(); g.fuse_at(f, x); g.block(x:4);"
    kernels = {kernel.name: kernel for kernel in scheduled(text).kernels}
    assert list(kernels) == ["g", "f", "h"]
    assert [axis.label for axis in kernels["g"].grid] == ["x"]
    assert statements(kernels["f"].body) == ("g@f", "f")
    state = scheduled(text)
    reads = {s.name: [read.array for read in s.reads] for s in state.model.statements}
    assert (reads["f"], reads["h"]) == (["g@f"], ["g"])


def test_a_copy_is_named_in_the_expression_that_reads_it() -> None:
    state = scheduled(TWO_PRODUCTS + "mm.fuse_at(_2mm, m);")
    update = by_name(state.model)["_2mm.l.update"]
    assert "tensor='mm@_2mm'" in repr(update.body)


def test_a_fusion_may_be_at_the_loop_of_a_fused_func() -> None:
    text = """
    Func h, g, f; In A; Var x, y;
    h[x, y] = A[x, y] + 1; g[x, y] = h[x, y] + 1; f[x, y] = g[x, y] + 1; f.compile();
    h.fuse_at(g, y); g.fuse_at(f, x);
    """
    (kernel,) = scheduled(text).kernels
    assert statements(kernel.body) == ("h@f", "g@f", "f")


def test_options_stand_on_the_kernel() -> None:
    text = TWO_PRODUCTS + (
        "_2mm.num_warps(8); _2mm.num_stages(3); _2mm.precision(tf32); _2mm.persistent();"
        "_2mm.descriptor(C); _2mm.warp_specialize(); _2mm.align(C); _2mm.alternate(m, l);"
        "_2mm.early(); _2mm.pitch(); _2mm.stream(C);"
    )
    kernel = scheduled(text).kernels[-1]
    launch = launch_of(kernel)
    assert (launch.num_warps, launch.num_stages, launch.precision) == (8, 3, "tf32")
    assert (launch.each, launch.is_specialized) == (1, True)
    assert (launch.is_early, launch.is_pitched) == (True, True)
    assert launch.descriptors == ("C",)
    assert (launch.aligned, [*launch.turned.values()]) == (("C",), ["m", "l"])
    assert [one.words() for one in kernel.options.asked if one.name == "stream"] == [("C",)]
    assert launch.boxes == {}
    text = f"{TWO_PRODUCTS} _2mm.descriptor(_2mm); _2mm.store(m:16, n:8);"
    assert launch_of(scheduled(text).kernels[-1]).boxes == {"m": 16, "n": 8}
