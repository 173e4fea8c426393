"""Verdicts that points share, against those of each point by itself."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.legality import verdicts
from dtpoly.explore.legality.classes import Class, class_of, is_aligned
from dtpoly.explore.legality.shared_verdicts import Disagreement
from dtpoly.explore.legality.verdicts import (
    PointVerdict,
    Rule,
    SpaceQuestion,
    answer_of,
    decided,
    verdict_of,
)
from dtpoly.explore.space.count import counted, point_at, points, sample
from dtpoly.explore.space.space import Point, Space, program_of
from dtpoly.explore.space.space_file import load_space, read_space
from dtpoly.generate import code_of
from dtpoly.plan.launch import Launch
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.initial import Begin
from dtpoly.schedule.primitive import LaunchEdit
from dtpoly.schedule.tree import Kernel
from dtpoly.source import Source
from tests.explore.renumbered import pairs
from tests.oracle.cases import Case, case, ordinary_case
from tests.schedule.told import ATTENTION
from tests.test_thesis import DATA

SPACES = Path(__file__).parents[2] / "examples" / "spaces"

PRODUCT = """\
Func mm;
In A, B;
Var m, n;
RVar k;

mm[m, n] = rdot(A[m, k], B[k, n], k);
mm.compile();
"""
CHAIN = """\
Func f, g;
In A;
Var x, y;
RVar k;

g[x] = rsum(A[x, k], k);
f[x, y] = A[x, y] / reshape(g[x], x, 1);
f.compile();
"""


def space(text: str) -> Space:
    return load_space(Source("space.dt", text), Path())


def answers(of: Space, again: int = 0, workers: int = 1) -> list[PointVerdict]:
    """The answer for each point, in order."""
    chosen = list(points(counted(of)))
    found: dict[int, PointVerdict] = {}
    for one in decided(SpaceQuestion(of, DIRECTIVES), chosen, again, workers=workers):
        if not one.is_again:
            assert found.keys().isdisjoint(one.places)
            found |= dict.fromkeys(one.places, one.answer)
    return [found[place] for place in range(len(chosen))]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "directives",
    [
        "f.block(x:{1, 4, 8});\nf.tensorize(x:{0, 1, 2, 4});\ng.fuse_at(f, {x, y});\n",
        "f.block(x:{2, 6}, y:{1, 8});\n{ g.fuse_at(f, x) | };\n{ f.map(x, y) | };\n"
        "f.num_stages({1, 3});\n",
        "f.tensorize(x:{1, 3, 8}, y:{0, 5, 16});\ng.fuse_at(f, x);\nf.num_warps({3, 4});\n",
        "f.split(x:xi/{2, 4});\nf.tensorize(xi:{0, 2, 4});\ng.fuse_at(f, {x, xi});\n",
    ],
)
def test_shared_verdicts_are_those_of_each_point(directives: str) -> None:
    of = space(CHAIN + directives)
    expected = [answer_of(program_of(of, point), DIRECTIVES) for point in points(counted(of))]
    assert answers(of, again=1000) == expected


# Spaces in which loads must not run ahead.
AHEAD = ATTENTION + "attention.tensorize(m:16, l:16, n:16);\nattention.reorder(l, n);\n"
STENCIL = """\
Func f, g;
In A;
Var x, u;

g[u] = A[u];
f[x] = g[x] + g[x + 1];
f.compile();
g.fuse_at(f, x, recompute);
f.tensorize(u:2);
"""


@pytest.mark.parametrize(
    "text",
    [
        STENCIL + "f.num_stages({1, 4});\n",
        AHEAD + "attention.num_stages({1, 2});\nattention.split(m:mi/4);\n",
        STENCIL.replace("Func f", "Func h, f").replace("f.compile", "h[u] = A[u];\nf.compile")
        + "h.compile();\nf.num_stages({1, 4});\nh.num_stages({1, 3});\n",
        AHEAD + "attention.num_stages({1, 2});\ndvsr.num_stages({1, 3});\n",
    ],
    ids=["not aligned", "a split loop", "two kernels", "two kernels of an aligned algorithm"],
)
def test_loads_that_must_not_run_ahead(text: str) -> None:
    """Whether loads run ahead is a part of each class, also of classes that share no numbers."""
    of = space(text)
    expected = [answer_of(program_of(of, point), DIRECTIVES) for point in points(counted(of))]
    assert {one.rule for one in expected} == {Rule.NONE, Rule.LEGALITY}
    assert answers(of, again=1000) == expected


def test_answers_are_what_check_says() -> None:
    of = space(CHAIN + "f.block(x:{1, 4});\nf.tensorize(x:{0, 8, 3});\ng.fuse_at(f, {x, y});\n")
    rules: Counter[Rule] = Counter()
    for point in points(counted(of)):
        answer = answer_of(program_of(of, point), DIRECTIVES)
        rules[answer.rule] += 1
        checked = check(Source("point.dt", _text(of, point)))
        assert (checked.program is not None) == answer.is_legal
        assert answer.is_legal or answer.code in {d.code for d in checked.diagnostics}
    assert set(rules) == {Rule.CHECK, Rule.LEGALITY, Rule.NONE}


def _text(of: Space, point: Point) -> str:
    return show(program_of(of, point))


def test_a_tile_that_triton_refuses() -> None:
    of = space(PRODUCT + "mm.tensorize(m:{1024, 2048}, n:{512, 1024}, k:16);\n")
    found = answers(of)
    assert [one.rule for one in found] == [Rule.NONE, Rule.NONE, Rule.NONE, Rule.LIMIT]
    for point, answer in zip(points(counted(of)), found, strict=True):
        verdict = check(Source("point.dt", _text(of, point))).verdict
        assert verdict is not None
        if answer.is_legal:
            code_of(verdict.scheduled)
        else:
            with pytest.raises(DtpolyError, match="DT300"):
                code_of(verdict.scheduled)


def test_a_block_bounds_its_tile() -> None:
    of = space(PRODUCT + "mm.block(m:{24, 4096}, n:4096);\nmm.tensorize(m:0, n:0);\n")
    assert [one.rule for one in answers(of)] == [Rule.NONE, Rule.LIMIT]


@pytest.mark.long
def test_several_processes_answer_the_same() -> None:
    of = read_space(str(SPACES / "softmax.dts"))
    chosen = [point_at(counted(of), number) for number in sample(counted(of), 60, 1)]
    tally: Counter[PointVerdict] = Counter()
    again = 0
    for one in decided(SpaceQuestion(of, DIRECTIVES), chosen, again=40, workers=2):
        again += one.is_again
        if not one.is_again:
            tally[one.answer] += len(one.places)
    assert again > 10
    assert tally == Counter(answer_of(program_of(of, point), DIRECTIVES) for point in chosen)


def always(monkeypatch: pytest.MonkeyPatch, answer: PointVerdict) -> None:
    """Let every class have one answer."""

    def one(
        program: Program, primitives: Primitives, begin: Begin
    ) -> tuple[PointVerdict, PointVerdict]:
        return answer, answer

    monkeypatch.setattr(verdicts, "with_and_without", one)


def test_a_wrong_shared_verdict_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    of = space(CHAIN + "f.block(x:{1, 2, 4, 8});\ng.fuse_at(f, x);\n")
    always(monkeypatch, PointVerdict(Rule.LEGALITY, "DT201"))
    with pytest.raises(Disagreement, match=r"'block=x:\d' is legal, but refused by legality"):
        answers(of, again=10)


def test_what_is_undecided_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    of = space(CHAIN + "f.block(x:{2, 4, 8});\ng.fuse_at(f, x);\n")
    always(monkeypatch, PointVerdict(Rule.LEGALITY, "DT208"))
    assert answers(of, again=10) == [PointVerdict(Rule.NONE)] * 3


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [
        ("f.block(x:4);", "f.block(x:32);", True),
        ("f.block(x:4);", "f.block(x:1);", False),
        ("f.block(x:8); f.tensorize(x:4);", "f.block(x:64); f.tensorize(x:16);", True),
        ("f.block(x:8); f.tensorize(x:8);", "f.block(x:8); f.tensorize(x:4);", False),
        ("f.block(x:8); f.tensorize(x:4);", "f.block(x:6); f.tensorize(x:4);", False),
        ("f.tensorize(x:0);", "f.tensorize(x:4);", False),
        ("f.tensorize(x:2, g.x:4);", "f.tensorize(x:4, g.x:4);", False),
        ("f.num_warps(4);", "f.num_warps(8);", True),
        (
            "f.block(x:4, y:4); f.map(x:xi/2, y, xi);",
            "f.block(x:4, y:4); f.map(x:xi/8, y, xi);",
            True,
        ),
        ("f.block(x:4, y:4); f.map(x, y);", "f.block(x:4, y:4); f.map(y, x);", False),
        ("f.num_stages(2);", "f.num_stages(3);", True),
        ("f.split(x:xi/2);", "f.split(x:xi/4);", False),
        ("f.num_warps(4); f.num_warps(8);", "f.num_warps(4); f.num_warps(4);", False),
    ],
)
def test_classes(one: str, two: str, is_same: bool) -> None:
    keys: list[Class] = []
    for directives in (one, two):
        program = program_of(*_only(CHAIN + directives))
        keys.append(class_of(bind(program.directives, DIRECTIVES).primitives, aligned=True))
    assert (keys[0] == keys[1]) is is_same


@dataclass(frozen=True, slots=True)
class Patient(LaunchEdit):
    """A directive of one's own of which nobody knows on what it depends."""

    name: ClassVar[str] = "patient"

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        return launch


@dataclass(frozen=True, slots=True)
class Blind(Patient):
    """One that says that it depends on no sizes."""

    name: ClassVar[str] = "blind"
    ignores_sizes: ClassVar[bool] = True


@pytest.mark.parametrize("cls", [Patient, Blind])
def test_a_directive_of_ones_own_shares_verdicts_if_it_says_so(cls: type[Patient]) -> None:
    keys: list[Class] = []
    for size in (4, 32):
        bound = bind(
            program_of(*_only(CHAIN + f"f.block(x:{size});")).directives, (*DIRECTIVES, cls)
        )
        keys.append(class_of((*bound.primitives, cls("f")), aligned=True))
    assert (keys[0] == keys[1]) is cls.ignores_sizes


def _only(text: str) -> tuple[Space, Point]:
    of = space(text)
    return of, point_at(counted(of), 0)


@pytest.mark.parametrize(
    ("body", "is_good"),
    [
        ("reshape(g[x], x, 1) * A[x, y]", True),
        ("rsum(g[x], x) * A[x, y]", True),
        ("A[x, y + 1] * A[y, x]", True),
        ("g[y] * A[x, y]", False),
        ("pad(g, 0)[x + 1] * A[x, y]", False),
        ("reshape(pad(g, 0)[x], x, 1) * A[x, y]", False),
        ("program_id(0) * A[x, y]", False),
    ],
)
def test_which_algorithms_are_aligned(body: str, is_good: bool) -> None:
    text = f"Func f, g; In A; Var y; RVar k, x;\ng[x] = rsum(A[x, k], k);\nf[x, y] = {body};\n"
    assert is_aligned(space(text).program) is is_good


def test_algorithms_of_the_thesis_are_aligned() -> None:
    for path in DATA.glob("*.dt"):
        assert is_aligned(read_space(str(path)).program), path


def disagreeing(
    first: int, last: int, makes: tuple[Callable[[int], Case], ...]
) -> tuple[int, list[object]]:
    """Pairs of one class among random cases, and those with two verdicts."""
    found = [
        pair
        for seed in range(first, last)
        for make in makes
        for pair in pairs(Random(seed), make(seed).program, 12)
    ]
    return len(found), [pair for pair in found if not pair.agrees]


@pytest.mark.long
def test_schedules_of_one_class_have_one_verdict() -> None:
    count, wrong = disagreeing(0, 16, (ordinary_case,))
    assert count > 3
    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_many_schedules_of_one_class_have_one_verdict(part: int) -> None:
    count, wrong = disagreeing(1000 + 20 * part, 1020 + 20 * part, (case, ordinary_case))
    assert count > 25
    assert wrong == []


@pytest.mark.long
def test_ten_thousand_points_of_attention() -> None:
    """500 of them are decided again, each by itself."""
    of = counted(read_space(str(SPACES / "attention.dts")))
    chosen = [point_at(of, number) for number in sample(of, 10_000, 0)]
    tally: Counter[Rule] = Counter()
    again = 0
    for one in decided(SpaceQuestion(of.space, DIRECTIVES), chosen, again=500):
        again += one.is_again
        if not one.is_again:
            tally[one.answer.rule] += len(one.places)
    assert (sum(tally.values()), again) == (10_000, 500)
    assert tally[Rule.NONE] > 1000
    assert tally[Rule.LEGALITY] > 1000
    assert verdict_of(program_of(of.space, chosen[0]), DIRECTIVES).rule in tally
