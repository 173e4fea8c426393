"""Tests that questions which take too long stay open, and that isl works afterwards."""

import islpy as isl
import pytest

from benchmarks.pace import is_kept_once, seconds_of
from dtpoly.algorithm.show import show
from dtpoly.budget import OverBudgetError, within
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.effort import answered, limited
from dtpoly.schedule import legality, ways_out
from dtpoly.schedule.legality import judge, legal_state
from dtpoly.source import Source
from tests.generation import schedules
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.schedule.told import TWO, read

GOOD = TWO + "g.fuse_at(f, x); f.block(x:16); f.tensorize(x:0);"
WRONG = """
Func f, g; In A; Var x, y; RVar k;
g[x] = rsum(A[x, k], k); f[x, y] = reshape(g[x], x, 1) * y;
f.compile(); g.fuse_at(f, y);
"""


def test_a_limit_ends_with_its_block() -> None:
    def some() -> isl.Set:
        return isl.Set("{ [x] : x > 2 }")

    with limited(3):
        assert [answered(some) for _ in range(3)] == [None] * 3
    found = answered(some)
    assert found is not None
    assert found.is_equal(some())


def test_another_failure_passes() -> None:
    with limited(10**6):
        with pytest.raises(ValueError, match="no number"):
            answered(lambda: int("no number"))
        with pytest.raises(isl.Error):
            answered(lambda: isl.Set("{ [ }"))


def test_a_verdict_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legality, "VERDICT", 1000)
    monkeypatch.setattr(legality, "EACH", 0)
    with pytest.raises(DtpolyError) as raised:
        judge(read(GOOD), DIRECTIVES)
    (told,) = raised.value.diagnostics
    assert (told.code, told.label) == ("DT208", "not decided")
    assert told.span is not None
    assert told.span.text == "g.fuse_at(f, x)"
    checked = check(Source("test.dt", GOOD))
    assert checked.program is None
    assert [d.code for d in checked.diagnostics if d.code.startswith("DT2")] == ["DT208"]
    monkeypatch.undo()
    assert judge(read(GOOD), DIRECTIVES).is_legal


@pytest.mark.parametrize("operations", [1, 20, 100, 1000])
def test_a_state_that_takes_too_long(monkeypatch: pytest.MonkeyPatch, operations: int) -> None:
    """The limit may end while directives are applied, too."""
    monkeypatch.setattr(legality, "VERDICT", operations)
    monkeypatch.setattr(legality, "EACH", 0)
    with pytest.raises(DtpolyError) as raised:
        legal_state(read(GOOD), DIRECTIVES)
    assert [one.code for one in raised.value.diagnostics] == ["DT208"]


def test_without_time_no_verdict_is_given() -> None:
    """Isl answers nothing then, which must not look like a schedule that is hard to judge."""
    for ask in (judge, legal_state):
        with pytest.raises(OverBudgetError), within(0.0):
            ask(read(GOOD), DIRECTIVES)


def test_blame_that_takes_too_long_is_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = judge(read(WRONG + "f.tensorize(x:4);"), DIRECTIVES)
    assert (str(exact.blame), exact.accomplices) == ("g.fuse_at(f, y);", ())
    monkeypatch.setattr(legality, "BLAME", 1)
    rough = judge(read(WRONG + "f.tensorize(x:4);"), DIRECTIVES)
    assert rough.violations == exact.violations
    assert {str(one) for one in (rough.blame, *rough.accomplices)} == {
        "g.fuse_at(f, y);",
        "f.tensorize(x:4);",
    }


def test_ways_out_that_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> tuple[str | None, bool]:
        (error,) = (d for d in check(Source("test.dt", WRONG)).diagnostics if d.code == "DT203")
        return error.hint, bool(error.edits)

    hint, has_edits = told()
    assert hint is not None
    assert hint.startswith("fuse at x is legal")
    assert has_edits
    monkeypatch.setattr(ways_out, "OPERATIONS", 1)
    assert told() == (ways_out.TOO_LONG, False)


@pytest.mark.alone
@pytest.mark.parametrize("seed", [2507, 5433])
def test_strided_reads_in_tiles_that_do_not_divide_each_other(seed: int) -> None:
    text = show(schedules.program(seeded(seed), Limits(funcs=3)))
    assert is_kept_once(4, lambda: seconds_of(lambda: check(Source("test.dt", text))))
