"""Tests ratios, families, and what became slower between results."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.__main__ import main
from benchmarks.gpu.manifest import Prepared
from benchmarks.gpu.results import Broken, HostTime, Results, Timed, lacks, read, write
from benchmarks.gpu.rows import Aim, rows
from benchmarks.gpu.summary import families, lines, mean_of, reaches
from benchmarks.gpu.tables import tables
from tests.benchmarks.made_up import results, row, timed

FAST = row("attention 4 f32", timed("attention", 1.0, ours=True), timed("a", 2.0), timed("b", 4.0))
SLOW = row("attention 8 f32", timed("attention", 4.0, ours=True), timed("a", 2.0))


def printed(given: Results) -> str:
    out = io.StringIO()
    console = Console(width=160, file=out)
    for table in tables(given):
        console.print(table)
    return out.getvalue()


def test_ratios_and_families() -> None:
    known = lines(results(FAST, SLOW))
    assert [line.ratio for line in known] == [2.0, 0.5]
    assert [line.peer and line.peer.name for line in known] == ["a", "a"]
    assert known[0].floor == pytest.approx(0.001)
    assert known[0].share == pytest.approx(0.001)
    (family,) = families(known)
    assert (family.rows, family.least, family.is_reached) == (2, 0.5, False)
    assert family.mean == pytest.approx(1.0)
    assert family.of == sum(row.family == "attention" for row in rows())


def test_an_aim_may_be_for_some_rows() -> None:
    assert reaches([1.2, 1.1, 0.4], Aim(least=1.0, rows=2))
    assert not reaches([1.2, 1.1, 0.4], Aim(least=1.0))
    assert not reaches([1.0, 1.0], Aim(mean=1.03))
    assert mean_of([2.0, 8.0]) == pytest.approx(4.0)


def test_what_is_not_proved_is_apart_and_does_not_count() -> None:
    unproved = results(FAST, layers={"stores": "proved", "value": "unknown"})
    assert [line.counts for line in lines(unproved)] == [False]
    assert [*families(lines(unproved))] == []
    told = printed(unproved)
    assert "not proved or not compared" in told
    assert "families" not in told
    # Nor does a text that differs from the one that was proved.
    other = results(FAST)
    other = replace(other, texts=tuple(replace(one, text_hash="other") for one in other.texts))
    assert [line.is_proved for line in lines(other)] == [False]
    tested = results(FAST, layers={"stores": "proved", "value": "tested"})
    assert [line.is_proved for line in lines(tested)] == [False]
    assert [line.is_proved for line in lines(results(FAST, layers={}))] == [False]


def test_what_has_no_time_is_told() -> None:
    broken = row("attention 4 f32", timed("attention", 0.0, True, "wrong: off"), timed("a", 1.0))
    given = replace(
        results(broken),
        missing=("dyt",),
        absent={"liger": "liger_kernel is not installed"},
        host=(HostTime("dyt", "torch", median=3.0), HostTime("dyt", "x", failure="no host")),
    )
    given = replace(given, texts=(*given.texts, Prepared("a", "a.dt", failure="DT128: unknown")))
    told = printed(given)
    for words in ("dyt.dt", "it is missing", "is not installed", "wrong: off", "no host", "DT128"):
        assert words in told
    assert lines(given)[0].ratio is None


def test_variants_are_listed_with_the_fastest_first() -> None:
    more = replace(FAST, times=(*FAST.times, timed("attention__wide", 0.5, ours=True)))
    told = printed(results(more))
    assert told.index("attention__wide") < told.index("attention (counts)")
    assert lines(results(more))[0].ratio == 2.0  # variants do not count


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    given = replace(results(FAST, SLOW), broken=(Broken("attention 4 f32", "a", "", "it crashed"),))
    write(tmp_path / "deeper" / "r.json", given)
    assert read(tmp_path / "deeper" / "r.json") == given
    assert [path.name for path in (tmp_path / "deeper").iterdir()] == ["r.json"]


def test_what_a_row_lacks() -> None:
    there = [(one.name, one.text_hash) for one in FAST.times]
    assert not lacks(FAST, there, again=False)
    assert not lacks(FAST, there[1:], again=True)
    assert lacks(None, there, again=False)
    assert lacks(FAST, [*there, ("new", "")], again=False)
    assert lacks(FAST, [("attention", "another hash")], again=False)
    failed = replace(FAST, times=(Timed("c", failure="out of memory"),))
    unfit = replace(FAST, times=(Timed("c", failure="too long", is_unfit=True),))
    assert not lacks(failed, [("c", "")], again=False)
    assert lacks(failed, [("c", "")], again=True)
    assert not lacks(unfit, [("c", "")], again=True)


@pytest.mark.parametrize(
    ("now", "percent", "code", "said"),
    [
        (1.02, "3", 0, "+2.0%"),
        (1.02, "1", 1, "+2.0%"),
        (1.1, "3", 1, "+10.0%"),
        (0.5, "3", 0, "-50.0%"),
        (0.0, "3", 1, "failed"),
    ],
)
def test_compare(
    now: float,
    percent: str,
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path / "a.json", results(FAST, SLOW))
    changed = row("attention 4 f32", timed("attention", now, ours=True), timed("a", 2.0))
    write(tmp_path / "b.json", results(changed))
    given = ["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    assert main([*given, "--percent", percent]) == code
    told = capsys.readouterr().out
    assert said in told
    assert "not measured" in told  # the other row
    assert "1 of 2 rows were measured again" in told


def test_a_row_whose_file_is_gone_is_a_regression(tmp_path: Path) -> None:
    write(tmp_path / "a.json", results(FAST))
    write(tmp_path / "b.json", replace(results(), missing=("attention",)))
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 1


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "r.json", results(FAST, SLOW))
    assert main(["report", str(tmp_path / "r.json")]) == 0
    told = capsys.readouterr().out
    assert "2.000" in told
    assert "made up" in told
    assert ("r.png" in told) == (tmp_path / "r.png").exists()
