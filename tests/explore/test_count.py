"""Counting, numbering and sampling points, against trying all that can be written down."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtpoly.algorithm.program import Directive
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.space.count import broken, counted, index_of, point_at, points, sample
from dtpoly.explore.space.short import read_short, short
from dtpoly.explore.space.space import Point, Space, each_directive, present, program_of
from dtpoly.explore.space.space_file import load_space
from dtpoly.source import Source
from tests.explore.spaces import HEAD, Twice, brute_force, text

MOST = 600  # of what can be written down: brute force takes its time


def space(of: str) -> Space:
    return load_space(Source("space.dt", of), Path())


def small(seed: int) -> Space | None:
    """The space of a seed, if there are not too many points in it."""
    found = space(text(seed))
    sizes = 1
    for parameter in found.parameters:
        sizes *= len(parameter.options)
    return found if sizes <= MOST else None


def check(seed: int) -> int | None:
    """Compare everything with brute force; how many points there are."""
    found = small(seed)
    if found is None:
        return None
    try:
        expected = brute_force(found)
    except Twice:
        return None
    of = counted(found)
    listed = list(points(of))
    assert of.count == len(expected)
    assert listed == expected
    assert [index_of(of, point) for point in listed] == list(range(of.count))
    lines = [short(found, point) for point in listed]
    assert len(set(lines)) == len(lines)
    assert [read_short(found, line) for line in lines] == listed
    assert not any(broken(found, point) for point in listed)
    for point in listed:
        there = {at for at, one in enumerate(point.chosen) if one is not None}
        assert present(found, point) == there
    return of.count


@given(st.integers(0, 1_000_000))
def test_of_random_spaces(seed: int) -> None:
    check(seed)


def test_random_spaces_are_of_all_kinds() -> None:
    counts = [check(seed) for seed in range(60)]
    known = [count for count in counts if count is not None]
    assert len(known) > 30
    assert 0 in known
    assert sum(count > 20 for count in known) > 2


def test_points_that_break_a_constraint() -> None:
    found = space(HEAD + "f.block(x:{1..4}, y:{1..4}); where block.x * 2 <= block.y + 1;")
    raw = counted(found.without_constraints())
    kept = [point for point in points(raw) if not broken(found, point)]
    assert kept == list(points(counted(found)))
    of = counted(found)
    for point in points(raw):
        assert (index_of(of, point) is None) == (point not in kept)


def test_numbers_beyond_the_last_have_no_point() -> None:
    of = counted(space(HEAD + "f.block(x:{1, 2});"))
    assert [point_at(of, number).chosen for number in range(2)] == [(0,), (1,)]
    for number in (-1, 2):
        with pytest.raises(IndexError):
            point_at(of, number)


@pytest.mark.parametrize("chosen", [(0, None), (None,), (2,), (-1,), ()])
def test_what_is_no_point_has_no_number(chosen: tuple[int | None, ...]) -> None:
    of = counted(space(HEAD + "f.block(x:{1, 2});"))
    assert index_of(of, Point(chosen)) is None


def test_a_file_without_choices_has_one_point() -> None:
    found = space(HEAD + "f.block(x:4);\nf.compile();\n")
    of = counted(found)
    assert of.count == 1
    assert short(found, point_at(of, 0)) == ""
    assert read_short(found, "") == point_at(of, 0)
    assert [d.name for d in program_of(found, point_at(of, 0)).directives] == ["block", "compile"]


def test_contradicting_constraints_leave_nothing() -> None:
    of = counted(space(HEAD + "f.block(x:{1, 2});\nwhere block.x < 1;\n"))
    assert (of.count, list(points(of)), sample(of, 5)) == (0, [], ())
    assert counted(space(HEAD + "f.block(x:2);\nwhere block.x < 1;\n")).count == 0


LABELS = [f"x{number}" for number in range(12)]
LARGE = HEAD + "".join(f"f.unroll({label}:{{1..10}});\n" for label in LABELS)


def test_a_large_space_is_counted_and_sampled() -> None:
    of = counted(space(LARGE))
    assert of.count == 10**12
    numbers = sample(of, 100, seed=3)
    assert len(set(numbers)) == 100
    assert all(index_of(of, point_at(of, number)) == number for number in numbers)


def test_constraints_of_a_large_space() -> None:
    """Each number is at least as large as the one before: combinations with repetition."""
    chain = "".join(f"where unroll.{one} <= unroll.{two};\n" for one, two in pairwise(LABELS))
    assert counted(space(LARGE + chain)).count == 293_930  # 21 over 12
    total = "where " + " + ".join(f"unroll.{label}" for label in LABELS) + " <= 14;\n"
    assert counted(space(LARGE + total)).count == 91  # 14 over 12


def test_a_sample_is_even() -> None:
    """Every point is as likely: chi squared of 35 degrees of freedom, for one fixed seed each."""
    of = counted(space(HEAD + "f.block(x:{1..9}, y:{1..9});\nwhere block.x + block.y <= 9;\n"))
    assert of.count == 36
    drawn = Counter(number for seed in range(600) for number in sample(of, 6, seed))
    expected = 600 * 6 / 36
    assert sum((drawn[n] - expected) ** 2 / expected for n in range(36)) < 66.6  # one in a thousand


def test_a_sample_goes_on_as_a_smaller_one_begins() -> None:
    of = counted(space(HEAD + "f.block(x:{1..100});\n"))
    assert sample(of, 10, 5) == sample(of, 60, 5)[:10]
    assert sorted(sample(of, 1000, 5)) == list(range(100))
    assert sample(of, 10, 5) != sample(of, 10, 6)


def test_constraints_that_join_too_much_are_told() -> None:
    squares = " + ".join(f"unroll.{label} * unroll.{label}" for label in LABELS[:3])
    wide = LARGE.replace("1..10", "1..1000")
    with pytest.raises(DtpolyError) as error:
        counted(space(f"{wide}where {squares} < 100000;\n"))
    assert [one.code for one in error.value.diagnostics] == ["DT252"]


def test_what_is_done_with_directives_is_done_once() -> None:
    found = small(7)
    assert found is not None
    seen: list[Directive] = []

    def noted(one: Directive) -> Directive:
        seen.append(one)
        return one

    of = each_directive(found, noted)
    listed = list(points(counted(found)))
    expected = [program_of(found, point).directives for point in listed]
    assert [tuple(of(point)) for point in listed] == expected
    assert 0 < len(seen) < sum(map(len, expected))
    before = len(seen)
    assert [tuple(of(point)) for point in listed] == expected
    assert len(seen) == before
