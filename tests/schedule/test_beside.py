"""Two kernels in one launch: the verdicts are the oracle's, and mistakes are told."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dtpoly.algorithm.program import Argument, Directive, Program
from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.legality import judge_state
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.schedule.tree_text import show_tree
from dtpoly.source import Source
from tests.oracle.built import Placed
from tests.oracle.cases import Case, ordinary_case
from tests.oracle.defining_order import defining
from tests.oracle.nest import build
from tests.oracle.run import Illegal, Legal, judge, results

TWO = "Func f, g, h; In A, B; Var x;g[x] = A[x] + 1.0; h[x] = B[x] * 2.0; f[x] = g[x] + h[x];"


def codes(text: str) -> list[str]:
    return [one.code for one in check(Source("f.dt", text)).diagnostics]


def test_two_that_need_nothing_of_each_other() -> None:
    for one, other in (("g", "h"), ("h", "g")):
        assert codes(f"{TWO} {one}.block(x:4); {one}.beside({other}); f.compile();") == []


def test_of_several_funcs_that_need_one_of_them_the_first_is_named() -> None:
    # What is compiled is a set, whose order is another one in each process.
    names = [f"f{number}" for number in range(20)]
    defined = "".join(f"{name}[x] = g[x] + 1.0; {name}.compile();" for name in names)
    text = (
        f"Func g, h, {', '.join(names)}; In A, B; Var x; g[x] = A[x]; h[x] = B[x];"
        f"{defined} g.block(x:4); h.compile(); g.beside(h);"
    )
    found = [one for one in check(Source("f.dt", text)).diagnostics if one.code == "DT197"]
    assert [note.text for one in found for note in one.notes] == [
        "'h' needs one of them, and not the other"
    ]
    text = text.replace("h.compile(); ", "")
    found = [one for one in check(Source("f.dt", text)).diagnostics if one.code == "DT197"]
    assert [note.text for one in found for note in one.notes] == [
        "'f0' needs one of them, and not the other"
    ]


def test_the_tree_says_so() -> None:
    verdict = check(Source("f.dt", f"{TWO} h.beside(g); f.compile();")).verdict
    assert verdict is not None
    assert "\nkernel h, launched with g\n" in show_tree(verdict.scheduled.kernels)


@pytest.mark.parametrize(
    ("directives", "code"),
    [
        ("f.beside(g);", "DT200"),  # reads it
        ("g.beside(f);", "DT201"),  # would come after it
        ("g.beside(g);", "DT197"),
        ("g.beside(k);", "DT184"),
        ("h.fuse_at(f, x); g.beside(h);", "DT197"),
        ("g.inline(); h.beside(g);", "DT197"),
        ("g.compile(); g.beside(h);", "DT197"),  # nobody who wants g needs h
        ("g.beside(h, f);", "DT181"),
    ],
)
def test_mistakes(directives: str, code: str) -> None:
    assert codes(f"{TWO} {directives} f.compile();") == [code]


def test_a_func_of_two_kernels() -> None:
    text = (
        "Func f, g, h; In A, B; Var x; RVar r;"
        "g[x] = rsum(A[x, r], r); h[x] = B[x] * 2.0; f[x] = g[x] + h[x];"
        "g.block(r:8); h.beside(g); f.compile();"
    )
    assert codes(text) == ["DT197"]


@pytest.mark.parametrize("more", ["g.num_warps(8);", "h.num_stages(2);", "g.early();"])
def test_other_launches_are_no_matter_of_what_is_legal(more: str) -> None:
    """There is no code for them then, which is told where code is made."""
    assert codes(f"{TWO} g.block(x:4); h.block(x:4); h.beside(g); {more} f.compile();") == []


def pairs(case: Case) -> Iterator[tuple[Program, str, str]]:
    """The Program with two of its kernels in one launch, for any two."""
    hosts = build(case.program, case.sizes).hosts
    alone = [func for func, count in Counter(hosts).items() if count == 1]
    for func in alone:
        for other in alone:
            directive = Directive(func, "beside", (Argument(other),))
            program = replace(case.program, directives=(*case.program.directives, directive))
            if func != other and not check_schedule(program, DIRECTIVES):
                yield program, func, other


def executed(case: Case, func: str, other: str) -> Legal | Illegal:
    """Return what comes of the case if the programs of two kernels run in any order."""
    built = build(case.program, case.sizes)
    first, second = (built.hosts.index(one) for one in (other, func))
    order = [at for at in range(len(built.hosts)) if at != second]

    def moved(one: Placed) -> Placed:
        kernel = order.index(first if one.kernel == second else one.kernel)
        if one.kernel in (first, second):
            return one._replace(kernel=kernel, program=(one.kernel == second, *one.program))
        return one._replace(kernel=kernel)

    expected = results(defining(case.program, case.sizes))
    stored = {cell: expected[cell] for cell in built.stored}
    return judge([moved(one) for one in built.placed], stored, ordered=case.ordered)


@pytest.mark.long
def test_the_oracle_says_the_same() -> None:
    found: Counter[tuple[bool, bool]] = Counter()
    for seed in range(160):
        case = ordinary_case(seed)
        if len(build(case.program, case.sizes).hosts) < 2 or isinstance(case.judged(), Illegal):
            continue
        for program, func, other in pairs(case):
            state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
            is_legal = judge_state(state).is_legal
            is_right = isinstance(executed(case, func, other), Legal)
            if min(case.sizes.values()) > 1:  # else what is refused for all sizes may be right
                found[is_legal, is_right] += 1
            assert is_right or not is_legal, (seed, func, other)
    assert not found[False, True], found
    assert min(found[True, True], found[False, False]) >= 20, found
