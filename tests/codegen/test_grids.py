"""Launch grids that a user's primitives made: what is emitted is right, or nothing is."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from dtpoly.algorithm.expressions import Affine
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.poly.axes import Axis
from dtpoly.poly.launched import numbered
from dtpoly.schedule.legality import judge, judge_state
from dtpoly.schedule.state import State
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.schedule.told import MAP, TWO, read

Grid = tuple[Axis, ...]
MAPPED = "f.block(x:2, y:2); f.map(y:yi/3, x, yi);"
ALIKE = "Func f; In A; Var x; RVar k; f[x] = rsum(A[k], k) * A[x]; f.compile(); f.block(x:2);"


def axis(name: str, label: str, step: int, outer: str = "", extent: int | None = None) -> Axis:
    """Return an axis of a label, within blocks of another one if that is given."""
    origin = Affine(((outer, 1),)) if outer else Affine()
    return Axis(name, label, Affine(((label, 1),)), step, origin, extent)


def laid_out(text: str, change: Callable[[Grid], Grid]) -> State:
    """Return the schedule of a text with another grid."""
    state = judge(read(text), DIRECTIVES).scheduled
    kernels = (replace(kernel, grid=change(kernel.grid)) for kernel in state.kernels)
    return replace(state, kernels=tuple(kernels))


# Axes of one label stand side by side, in groups, in groups of their own, and between others.
RIGHT: dict[str, tuple[str, Callable[[Grid], Grid]]] = {
    "blocks of 4 and each": (MAP + "f.block(y:4);", lambda g: (*g, axis("s", "y", 1))),
    "blocks of 4 and of 3": (
        MAP + "f.block(y:4); f.tensorize(x:2, y:2);",
        lambda g: (axis("s", "y", 3), *g),
    ),
    "with a fused Func": (
        TWO + "g.fuse_at(f, x); f.block(y:4); f.tensorize(x:2, y:2);",
        lambda g: (*g, axis("s", "y", 1)),
    ),
    "inside of groups": (MAP + MAPPED, lambda g: (*g, axis("s", "y", 2))),
    "between a group and its blocks": (
        MAP + MAPPED,
        lambda g: (g[0], axis("s", "y", 4), *g[1:]),
    ),
    "a group inside of its blocks": (
        MAP,
        lambda _: (axis("in", "y", 2, "o", 4), axis("o", "y", 4)),
    ),
    "two groups": (
        MAP,
        lambda _: (
            *(axis("o", "y", 4), axis("p", "y", 6)),
            *(axis("in", "y", 2, "o", 4), axis("at", "y", 3, "p", 6)),
        ),
    ),
    "a label that no statement is spread over": (ALIKE, lambda g: (*g, axis("s", "k", 4))),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", RIGHT)
def test_programs_without_work_do_nothing(name: str) -> None:
    verdict = judge_state(laid_out(*RIGHT[name]))
    assert verdict.is_legal
    report = verify(verdict.scheduled.program, code_of(verdict.scheduled).text)
    assert report.verdict is LayerVerdict.PROVED, report


# Legal, but the number of a program does not tell where it stands.
REFUSED: dict[str, Callable[[Grid], Grid]] = {
    "blocks that do not divide a group": lambda _: (
        axis("o", "y", 4),
        axis("in", "y", 3, "o", 4),
    ),
    "groups of groups": lambda _: (
        *(axis("o", "y", 8), axis("p", "y", 4, "o", 8)),
        axis("in", "y", 2, "p", 4),
    ),
    "blocks from before 0 on": lambda _: (replace(axis("o", "y", 4), origin=Affine((), -2)),),
    "blocks of a sum": lambda _: (replace(axis("o", "y", 4), index=Affine((("x", 1), ("y", 1)))),),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_numbered_is_refused(name: str) -> None:
    verdict = judge_state(laid_out(MAP, REFUSED[name]))
    assert verdict.is_legal
    with pytest.raises(DtpolyError) as caught:
        code_of(verdict.scheduled)
    (told,) = caught.value.diagnostics
    assert told.code == "DT300"
    assert "has an axis of 'y' that is neither blocks of a label" in told.notes[0].text


def test_a_group_counts_the_blocks_that_are_its_own() -> None:
    group, blocks, others = axis("o", "y", 8), axis("in", "y", 2, "o", 8), axis("s", "y", 4)
    assert numbered((group, others, blocks)) == (
        (group, blocks),
        (others, None),
        (blocks, None),
    )
    assert numbered((blocks, group)) == ((blocks, None),)
