"""Tests the files, rows and ratios of what the autoscheduler chose."""

import pytest

from benchmarks.blind import form
from benchmarks.chosen import mean, place_of, reached, record
from benchmarks.files import RESULTS
from benchmarks.gpu.manifest import Prepared
from benchmarks.gpu.rows import rows
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source
from tests.benchmarks.made_up import results, row, timed

SUM = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y);"


def test_a_name_says_for_which_case() -> None:
    assert Prepared("softmax__4x8_f32__02", "").tag == "4x8_f32"
    assert Prepared("softmax__two_rows", "").tag == ""
    line = row("softmax 4x8 f32", timed("softmax", 1.0, ours=True))
    assert place_of(line, "softmax__4x8_f32__02") == 2
    assert place_of(line, "softmax__4x9_f32__02") is None
    assert place_of(line, "softmax__two_rows") is None


def test_the_best_of_those_chosen_beside_the_best_known() -> None:
    mine = (
        timed(f"softmax__4x8_f32__{at:02}", time, ours=True) for at, time in ((1, 4.0), (3, 2.0))
    )
    failed = timed("softmax__4x8_f32__02", 0.0, ours=True, failure="it broke")
    peer = timed("torch", 0.1)
    line = row("softmax 4x8 f32", timed("softmax", 1.0, ours=True), *mine, failed, peer)
    again = row("softmax 4x8 f32", timed("softmax", 0.8, ours=True))
    (found,) = reached([results(line), results(again)])
    assert (found.chosen, found.failed, found.place) == (2, 1, 3)
    assert (found.known, found.known_name, found.best, found.first) == (0.8, "softmax", 2.0, 4.0)
    assert (found.share, found.share_of_first) == (0.4, 0.2)


def test_what_is_faster_than_all_that_was_known_counts_once() -> None:
    line = row(
        "softmax 4x8 f32",
        timed("softmax", 1.0, ours=True),
        timed("softmax__4x8_f32__01", 0.5, ours=True),
    )
    (found,) = reached([results(line)])
    assert (found.share, found.share_of_first) == (1.0, 1.0)
    assert mean([0.5, 2.0]) == pytest.approx(1.0)
    assert mean([]) == mean([1.0, 0.0]) == 0.0


def test_records_of_all_kinds_are_read() -> None:
    names = ("kernels", "variants", "searches")
    for found in (record(RESULTS / f"{name}_h200.json") for name in names):
        every = {line.name for line in found.rows}
        assert every
        assert every <= {one.name for one in rows()}
        assert all(0 < one.median < 1e3 for line in found.rows for one in line.times if one.median)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("f.block(x:4); f.tensorize(x:0, y:0);", "f.block(x:4); f.tensorize(x:4, y:512);", True),
        ("f.block(x:4); f.tensorize(x:0);", "f.tensorize(x:0); f.block(x:4); f.compile();", True),
        ("f.block(x:4); f.map(x);", "f.block(x:4);", True),
        ("f.block(x:4); f.map(x:xi/2, xi);", "f.block(x:4);", False),
        ("f.tensorize(y:256);", "f.tensorize(y:128);", False),
        ("f.num_warps(4);", "f.num_warps(8);", False),
    ],
)
def test_schedules_that_mean_the_same_are_equal(one: str, other: str, is_same: bool) -> None:
    def formed(text: str) -> frozenset[str]:
        program = resolve(parse(Source("f.dt", f"{SUM} {text}")).file).program
        return form(program, {"x": 64, "y": 500})

    assert (formed(one) == formed(other)) is is_same
