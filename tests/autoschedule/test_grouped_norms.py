"""Norms of groups of channels: what is read at a quotient of a label is computed where it is read.

A program that has all channels of a group computes their mean once and keeps it in a register.
"""

import pytest
import torch

from dtpoly.algorithm.expressions import Affine, divided
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.show import show_directive
from dtpoly.autoschedule.schedules import schedules
from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs
from dtpoly.poly.axes import Axis
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths
from dtpoly.source import Source
from dtpoly.verification import proved
from dtpoly.verify.proof.report import LayerVerdict
from tests.autoschedule.asked import call_of
from tests.codegen.inputs import Recipe
from tests.codegen.running import imported

MEAN = """Func f, mean; In X; Var n, c, g; RVar i: GROUP, s;
mean[n, g] = rsum(X[n, GROUP * g + i, s], i, s);
f[n, c, s] = X[n, c, s] - mean[n, c // GROUP];
"""
SCHEDULE = """f.block(n:1, c:BLOCK);
f.tensorize(n:0, c:0, i:0, s:32);
mean.fuse_at(f, c);
f.compile();
"""


def text_of(group: int, block: int) -> str:
    return (MEAN + SCHEDULE).replace("GROUP", str(group)).replace("BLOCK", str(block))


def judged(text: str) -> State:
    program = check(Source("given.dt", text)).program
    assert program is not None
    state = judge(program, DIRECTIVES).scheduled
    assert state is not None
    return state


def groups_of(state: State) -> Axis:
    """The loop over the groups that a program computes."""
    return next(
        axis for path in paths(state.kernels) for axis in path.loops if axis.name == "mean.g"
    )


@pytest.mark.parametrize(("group", "block"), [(16, 16), (16, 8), (16, 1), (12, 12), (12, 4)])
def test_a_block_within_a_group_keeps_its_mean_in_a_register(group: int, block: int) -> None:
    state = judged(text_of(group, block))
    axis = groups_of(state)
    assert axis.origin == divided("//", Affine((("f.c.block", 1),)), group)
    assert axis.extent == 1
    assert "scratch_ptr" not in code_of(state).text


@pytest.mark.parametrize(("group", "block", "count"), [(16, 32, 2), (12, 8, 2)])
def test_a_block_of_several_groups_has_memory_for_their_means(
    group: int, block: int, count: int
) -> None:
    state = judged(text_of(group, block))
    assert groups_of(state).extent == count
    assert "scratch_ptr" in code_of(state).text


@pytest.mark.parametrize(
    ("group", "block"),
    [(16, 16), *(pytest.param(*one, marks=pytest.mark.long) for one in [(16, 32), (12, 4)])],
)
def test_such_kernels_are_proved_and_right(group: int, block: int) -> None:
    text = text_of(group, block)
    program = check(Source("given.dt", text)).program
    assert program is not None
    made = code_of(judged(text))
    assert proved(program, made.text, outputs(program)).report.verdict is LayerVerdict.PROVED
    known = filled(program, {"n": 2, "c": 3 * group, "g": 3, "s": 37})
    inputs = Recipe().inputs(program, known)
    wanted = run(program, inputs, sizes=known)["f"]
    result = imported(made.text).f(*inputs.values())
    torch.testing.assert_close(result.double(), wanted.double(), rtol=1e-3, atol=1e-3)


def test_a_norm_of_groups_is_scheduled_as_one_kernel() -> None:
    call = call_of(MEAN.replace("GROUP", "16") + "f.compile();", "f16", n=8, c=512, g=32, s=4096)
    best = next(iter(schedules(call)))
    directives = [str(line.directive) for line in best.lines]
    assert any("fuse_at" in one for one in directives)
    moved = 2 * 2 * 8 * 512 * 4096  # bytes: X and f once each
    assert best.seconds < 3 * moved / call.device.memory
    assert "scratch_ptr" not in best.text


APART = """Func f, mean; In X; Var n, c, g, h, w; RVar i: 16, p, q;
mean[n, g] = rsum(X[n, 16 * g + i, p, q], i, p, q);
f[n, c, h, w] = X[n, c, h, w] - mean[n, c // 16];
f.compile();
"""


def test_the_result_has_the_tiles_of_what_is_reduced_whatever_its_labels_are_called() -> None:
    sizes = {"h": 32, "w": 32, "p": 32, "q": 32}
    call = call_of(APART, "f32", n=8, c=512, g=32, **sizes)
    best = next(iter(schedules(call)))
    directives = [show_directive(line.directive) for line in best.lines]
    assert "f.block(n:1, c:16);" in directives
    moved = 4 * 2 * 8 * 512 * 32 * 32  # bytes: X and f once each
    assert best.seconds < 3 * moved / call.device.memory
