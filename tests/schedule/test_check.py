"""All checks of a schedule together: no cascades, no surprises, fast."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.pace import is_kept_once, seconds_of
from dtpoly.algorithm.expressions import Affine, Apply, Read
from dtpoly.algorithm.program import Argument, Directive, Func, Label, Program, Split, Tensor
from dtpoly.diagnostics import Diagnostic
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.static_checks import check_schedule
from tests.generation.algorithms import Limits
from tests.generation.choice import Choose, pick, seeded
from tests.generation.schedules import program
from tests.schedule.told import ATTENTION, MAP, TWO, TWO_PRODUCTS, only, read, told

CODES = ["DT177", "DT178", *(f"DT{number}" for number in range(180, 198))]
FOLDER = Path(__file__).parent.parent / "data" / "diagnostics"
EXAMPLES = [path for path in sorted(FOLDER.glob("DT1[89]*.dt")) if path.stem[:5] in CODES]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_gives_its_diagnostic_and_no_other(path: Path) -> None:
    text = path.read_text()
    assert [d.code for d in check_schedule(read(text), DIRECTIVES)] == [path.stem[:5]]


def test_there_is_an_example_of_each_code() -> None:
    folder = Path(__file__).parent.parent / "data" / "diagnostics"
    for code in CODES:
        text = (folder / f"{code}.dt").read_text()
        assert [d.code for d in check_schedule(read(text), DIRECTIVES)] == [code]


def test_a_wrong_directive_spoils_no_other() -> None:
    wrong = "f.block(x:0); f.tensorize(y:3); f.num_warps(64); f.reorder(x); f.descriptor(Q);"
    assert told(MAP + wrong) == [
        "DT182 x:0",
        "DT183 y:3",
        "DT182 64",
        "DT181 f.reorder(x)",
        "DT184 Q",
    ]


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        # What the wrong directive would have said is not missed by the others.
        ("mm.fuse_at(_2m, l); _2mm.tensorize(k:16); mm.num_warps(4);", ["DT184 _2m"]),
        ("mm.fus_at(_2mm, l); _2mm.tensorize(k:16);", ["DT180 fus_at"]),
        ("mm.fuse_at(_2mm, q); _2mm.tensorize(k:16);", ["DT185 q"]),
        ("_2mm.split(m:mi/0); _2mm.unroll(mi:2); mm.fuse_at(_2mm, mi);", ["DT182 m:mi/0"]),
        ("_2mm.block(l:lb/0); _2mm.tensorize(lb:16); _2mm.atomic(l);", ["DT182 l:lb/0"]),
        ("_2mm.block(m:-1, n:4); _2mm.map(n, m);", ["DT182 m:-1"]),
        # But what is wrong in itself is told.
        ("_2mm.split(m:mi/0); _2mm.tensorize(k:16);", ["DT182 m:mi/0", "DT185 k"]),
        ("mm.fuse_at(_2m, l); _2mm.tensorize(m:3);", ["DT184 _2m", "DT183 m:3"]),
    ],
)
def test_no_cascades(directives: str, expected: list[str]) -> None:
    assert told(TWO_PRODUCTS + directives) == expected


def test_no_cascade_along_a_chain_of_fusions() -> None:
    text = f"{ATTENTION} e.fuse_at(attention, m); dvsr.fuse_at(sm, m);"
    assert told(f"{text} sm.fuse_at(attention, z);") == ["DT185 z"]
    assert told(f"{text} sm.fuse_at(atention, m);") == ["DT184 atention"]
    assert told(f"{text} sm.fuse_at(attention);") == ["DT181 sm.fuse_at(attention)"]
    assert told(text) == ["DT195 attention"]


def test_directives_on_what_is_no_func_are_left_to_the_frontend() -> None:
    built = read(MAP)
    more = (*built.directives, Directive("g", "block", (Argument("x", 0),)))
    assert check_schedule(replace(built, directives=more), DIRECTIVES) == []


def test_a_fused_func_without_a_kernel() -> None:
    fused = f"{TWO_PRODUCTS} mm.fuse_at(_2mm, m);"
    for directive in ("block(m:16)", "num_warps(4)", "map(m)", "precision(tf32)", "unroll(k:2)"):
        found = only(f"{fused} mm.{directive};")
        assert (found.code, found.label) == ("DT186", "'mm' is computed inside of '_2mm'")
        assert found.hint == f"put it on '_2mm': _2mm.{directive}"
    found = only(f"{fused} mm.tensorize(l:16);")
    assert found.hint == "put it on '_2mm': _2mm.tensorize(mm.l:16)"


@pytest.mark.parametrize(
    "directives",
    [
        "g.beside(f); g.fuse_at(f, y);",  # f beside itself
        "g.panels(y:4); g.fuse_at(f, y);",  # f needs no other kernel
        "g.descriptor(g); g.fuse_at(f, y);",  # f does not read it from memory
        "g.inline(); g.beside(f);",
        "f.beside(g); g.inline();",
        "f.beside(f);",
        "f.beside(g); g.fuse_at(f, y);",
    ],
)
def test_a_hint_that_could_not_be_followed_is_none(directives: str) -> None:
    assert only(f"{TWO} {directives}").hint == "remove it"


def test_what_could_share_a_launch_is_named() -> None:
    text = (
        "Func e, f, g, h; In A; Var x; e[x] = A[x]; g[x] = A[x]; h[x] = g[x]; f[x] = h[x] + e[x];"
    )
    assert only(f"{text} f.compile(); h.beside(h);").hint == "name e"
    assert told(f"{text} f.compile(); h.beside(e);") == []


def test_a_function_is_not_missed_where_another_one_needs_the_same() -> None:
    text = "Func f, g, q; In A; Var x; g[x] = A[x]; f[x] = g[x] * 2.0; q[x] = f[x] + g[x];"
    assert only(f"{text} f.panels(x:3); q.compile();").hint == "remove it"
    text = "Func f, g; In A; Var x; g[x] = A[x]; f[x] = g[x] * 2.0;"
    assert "add f.compile()" in [
        one.hint for one in check_schedule(read(f"{text} f.panels(x:3);"), DIRECTIVES)
    ]


def test_a_fused_func_that_keeps_its_kernel() -> None:
    assert told(f"{TWO_PRODUCTS} mm.fuse_at(_2mm, m); mm.compile(); mm.block(m:16);") == []
    other = "Func h; h[x, y] = g[x, y] + 1; h.compile();"
    assert told(f"{TWO} {other} g.fuse_at(f, x); g.block(x:16);") == []


def test_the_host_at_the_end_of_a_chain_is_named() -> None:
    chain = "mm.fuse_at(e, l); dvsr.fuse_at(sm, m); sm.fuse_at(attention, m);"
    found = only(f"{ATTENTION} {chain} e.fuse_at(attention, m); mm.tensorize(k:16);")
    assert found.hint == "put it on 'attention': attention.tensorize(mm.k:16)"


def wrong_directives(choose: Choose, scheduled: Program) -> Iterator[Directive]:
    """The directives of a Program, some moved, lost, doubled, or with other arguments."""
    funcs = [func.name for func in scheduled.funcs]
    names = [*funcs, *(label.name for label in scheduled.labels), "A0", "q", "recompute"]
    for directive in scheduled.directives:
        func = pick(choose, funcs)
        arguments = list(directive.arguments)
        match choose(6):
            case 0:
                continue
            case 1:
                yield replace(directive, func=func)
            case 2:
                yield from (directive, directive)
            case 3 if arguments:
                values = (None, 0, 3, 64, pick(choose, names), Split(pick(choose, names), 2))
                changed = Argument(pick(choose, names), pick(choose, values))
                arguments[choose(len(arguments))] = changed
                yield replace(directive, arguments=tuple(arguments))
            case 4:
                yield Directive(func, "fuse_at", (Argument(pick(choose, funcs)), Argument("x")))
            case _:
                yield directive


@pytest.mark.long
def test_any_schedule_gets_an_answer() -> None:
    seen: set[str] = set()
    for seed in range(500):
        choose = seeded(seed)
        scheduled = program(choose, Limits(funcs=5))
        scheduled = replace(scheduled, directives=tuple(wrong_directives(choose, scheduled)))
        found = check_schedule(scheduled, DIRECTIVES)
        assert all(isinstance(diagnostic, Diagnostic) for diagnostic in found)
        seen |= {diagnostic.code for diagnostic in found}
    assert len(seen) >= 12


def long_chain(count: int, *directives: Directive) -> Program:
    x, y = Affine((("x", 1),)), Affine((("y", 1),))
    names = ["A", *(f"f{at}" for at in range(count))]
    funcs = (
        Func(name, ("x", "y"), Apply("exp", (Read(before, (x, y)),)))
        for before, name in pairwise(names)
    )
    return Program((Label("x"), Label("y")), (Tensor("A"),), tuple(funcs), directives)


@pytest.mark.alone
def test_500_funcs_and_1000_directives() -> None:
    blocks = [
        Directive(f"f{at}", "block", (Argument("x", 16), Argument("y", 64))) for at in range(500)
    ]
    fusions = [
        Directive(f"f{at}", "fuse_at", (Argument(f"f{at + 1}"), Argument("x"))) for at in range(499)
    ]
    compiled = [Directive(f"f{at}", "compile") for at in range(500)]
    for directives in ([*blocks, *compiled], [*fusions, *compiled], [*blocks, *fusions]):
        built = long_chain(500, *directives)
        check = partial(check_schedule, built, DIRECTIVES)
        assert is_kept_once(1, partial(seconds_of, check))  # it takes a tenth of that


def test_a_func_of_rank_0_has_a_hint_too() -> None:
    text = "Func f; f[] = 1; f.compile();"
    assert only(f"{text} f.tensorize(x:4);").hint == "remove it"
    assert only(f"{text} f.descriptor(A);").hint == "there is f"
