"""Schedules that are refused: what is said of each, and that it is true."""

import time
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.pace import is_kept
from dtpoly.algorithm.program import Program
from dtpoly.checking import Checked, check, load, understand
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity, apply_edits
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.frontend.parse import parse
from dtpoly.poly.order import ViolationKind
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.schedule.legality import judge, judge_state
from dtpoly.schedule.refusal import CODES, refusals
from dtpoly.schedule.verdict import Instance, Violation
from dtpoly.source import Source
from tests.conftest import Golden
from tests.oracle.built import Placed
from tests.oracle.cases import case
from tests.oracle.nest import build
from tests.oracle.pairs import Named, Pair, pairs
from tests.oracle.run import Illegal, Legal, judge_schedule
from tests.oracle.run import judge as run
from tests.schedule.folded import folded
from tests.schedule.told import MAP
from tests.schedule.user_primitives import USER

FOLDER = Path(__file__).parents[1] / "data" / "refused"
GOLDEN = Path(__file__).parents[1] / "golden" / "refused"
NAMES = sorted(path.stem for path in FOLDER.glob("*.dt"))
# The oracle knows of places and storage, not of registers and loads that run ahead: what it can
# say of `num_stages`, and what emitted code says, is asked in `test_ahead`.
OF_ORDER = [name for name in NAMES if not name.startswith("stages_")]


def source(name: str) -> Source:
    return Source(f"{name}.dt", (FOLDER / f"{name}.dt").read_text())


@cache
def timed(name: str) -> tuple[Checked, float]:
    """Return what is said, and the seconds of processor time until then."""
    start = time.process_time()
    found = check(source(name), USER)
    return found, time.process_time() - start


def checked(name: str) -> Checked:
    return timed(name)[0]


def errors(found: Checked) -> list[Diagnostic]:
    return [one for one in found.diagnostics if one.severity is Severity.ERROR]


def program(name: str) -> Program:
    found = understand(parse(source(name)).file, (), USER).program
    assert found is not None
    return found


def first(name: str) -> Violation:
    verdict = checked(name).verdict
    assert verdict is not None
    return verdict.violations[0]


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_message(name: str, golden: Golden) -> None:
    golden(f"refused/{name}.txt", plain(render(checked(name).diagnostics)))


def test_no_golden_file_is_left_over() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == NAMES


@pytest.mark.long
def test_there_are_many_of_all_kinds() -> None:
    kinds = Counter(first(name).kind for name in NAMES)
    assert sum(kinds.values()) >= 40
    # Lanes are innermost in every tree, so that only a changed Model can make them race.
    # A copy lacks elements only by a fault of what makes copies.
    unseen = {ViolationKind.RACE, ViolationKind.UNWRITTEN}
    assert set(kinds) == set(ViolationKind) - unseen
    assert min(kinds.values()) >= 4
    assert len([name for name in NAMES if not name.startswith("user_")]) >= 35


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_what_is_said(name: str) -> None:
    found = checked(name)
    verdict = found.verdict
    assert verdict is not None
    assert found.program is None
    assert verdict.blame is not None
    if isinstance(verdict.blame, FuseAt):
        assert verdict.blame.func == verdict.violations[0].source
    (told,) = [one for one in errors(found) if one.span == verdict.blame.span]
    assert told.code == CODES[first(name).kind]
    assert any(note.text.startswith("example") for note in told.notes)
    assert all(note.span is None or note.span.source == source(name) for note in told.notes)
    # The statements are shown where they are written.
    assert any(note.span is not None for note in told.notes)
    assert told.hint


def test_what_is_refused_is_not_loaded() -> None:
    with pytest.raises(DtpolyError) as refused:
        load(source("stencil"), USER)
    assert refused.value.diagnostics == checked("stencil").diagnostics


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_the_program_stays_as_it_was(name: str) -> None:
    before = program(name)
    judge(before, USER)
    assert before == program(name)


@pytest.mark.parametrize("name", OF_ORDER)
def test_the_order_is_broken_at_the_sizes_of_the_example(name: str) -> None:
    violation = first(name)
    found = judge_schedule(program(name), violation.witness.sizes)
    assert isinstance(found, Illegal)
    assert found.kind == str(violation.kind)


def named(instance: Instance) -> Named:
    place = instance.place
    return Named(
        instance.func,
        str(instance.role),
        instance.indices,
        place.program if place else {},
        place.loops if place else {},
    )


@pytest.mark.parametrize("name", OF_ORDER)
def test_the_pair_of_the_example_breaks_it(name: str) -> None:
    violation = first(name)
    witness = violation.witness
    found = list(pairs(program(name), witness.sizes, named(witness.source), named(witness.target)))
    assert str(violation.kind) in {pair.kind for pair in found if pair.is_placed}


def look_at_pairs(numbers: range) -> None:
    """Also of Programs without places in a text. What is lost may be told of another statement."""
    for number in numbers:
        chosen = case(number).program
        verdict = judge(chosen, USER)
        if verdict.is_legal or verdict.violations[0].kind is ViolationKind.LOST:
            continue
        violation = verdict.violations[0]
        witness = violation.witness
        found = list(pairs(chosen, witness.sizes, named(witness.source), named(witness.target)))
        assert str(violation.kind) in {pair.kind for pair in found if pair.is_placed}, number
        told = refusals(chosen, verdict, USER)
        assert told[0].code == CODES[violation.kind]
        assert plain(render(told))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 30, 10))
def test_the_pairs_of_random_cases(seed: int) -> None:
    look_at_pairs(range(seed, seed + 10))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(30, 300, 30))
def test_the_pairs_of_many_random_cases(seed: int) -> None:
    look_at_pairs(range(seed, seed + 30))


def test_a_pair_that_breaks_nothing_is_told_apart() -> None:
    """Each question that the tests above ask has a case with the answer no."""
    witness = first("stencil").witness
    one, two = named(witness.source), named(witness.target)
    chosen = program("stencil")

    def asked(other: Named) -> list[Pair]:
        return [p for p in pairs(chosen, witness.sizes, one, other) if p.is_placed]

    assert asked(two)
    assert not asked(replace(two, indices={"u": 1}))
    assert not asked(replace(two, loops={"x": 1, "u": 2}))
    assert not asked(replace(two, func="f"))


def test_lanes_that_share_storage() -> None:
    """Only a changed Model makes lanes race; then no directive is to blame."""
    chosen = load(Source("test.dt", MAP + "f.tensorize(y:4);"))
    verdict = judge_state(folded(chosen, "f", "y"))
    violation = verdict.violations[0]
    assert violation.kind is ViolationKind.RACE
    (told,) = refusals(chosen, verdict, DIRECTIVES)
    assert (told.code, told.edits, told.label) == ("DT202", (), "lanes race")
    assert told.span == chosen.func("f").span

    def in_one(one: Placed) -> Placed:
        array, key, (x, _) = one.write
        return one._replace(write=(array, key, (x, 0)))

    placed = [in_one(one) for one in build(chosen, violation.witness.sizes).placed]
    raced = run(placed, {})
    assert isinstance(raced, Illegal)
    assert raced.kind == "lanes race"


@pytest.mark.parametrize("name", NAMES)
def test_no_smaller_sizes_break_it(name: str) -> None:
    """All labels that are as large as one of them smaller: they may be one size.

    Some sizes are those of no tensors: a read is outside.
    """
    chosen, sizes = program(name), first(name).witness.sizes
    for size in set(sizes.values()) - {1}:
        smaller = {label: value - (value == size) for label, value in sizes.items()}
        try:
            found = judge_schedule(chosen, smaller)
        except ValueError as error:
            if "is outside" not in str(error):
                raise
        else:
            assert found == Legal(), smaller


@pytest.mark.parametrize("name", NAMES)
def test_edits_mend_the_mistake(name: str) -> None:
    found = errors(checked(name))
    edits = [edit for one in found for edit in one.edits]
    assert edits
    mended = Source("mended.dt", apply_edits(source(name).text, edits))
    assert errors(check(mended, USER)) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_takes_less_than_a_second(name: str) -> None:
    assert is_kept(1, timed(name)[1])
