"""A directive that is not in the file: in whose place it stands, and who is to blame."""

import pytest

from dtpoly.algorithm.program import Directive, Program
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.directive_question import Answer, may_add
from tests.schedule.told import MAP, SUM, TWO, TWO_PRODUCTS, read

FUSED = TWO_PRODUCTS + (
    "_2mm.block(m:16); _2mm.tensorize(m:16, n:64, k:32, l:0); mm.fuse_at(_2mm, m);"
)


def asked(text: str, directive: str) -> Answer:
    program = read(text)
    answer = may_add(program, only(directive, text), DIRECTIVES)
    assert program == read(text)
    return answer


def only(directive: str, text: str) -> Directive:
    return read(text + directive).directives[-1]


def replacements(answer: Answer) -> list[tuple[str, str | None]]:
    return [
        (show_directive(one.old), None if one.left is None else show_directive(one.left))
        for one in answer.replaced
    ]


def directives(program: Program) -> list[str]:
    return [show_directive(one) for one in program.directives]


def test_a_new_directive_is_added() -> None:
    answer = asked(FUSED, "_2mm.block(n:64);")
    assert (answer.is_legal, answer.is_there, answer.replaced) == (True, False, ())
    assert directives(answer.program)[-1] == "_2mm.block(n:64);"
    assert answer.explained is not None
    assert [str(one.count) for one in answer.explained.recomputed or ()] == ["ceil(n / 64)"]


REPLACED: dict[str, tuple[str, str, list[tuple[str, str | None]]]] = {
    "another size": (FUSED, "_2mm.block(m:32);", [("_2mm.block(m:16);", None)]),
    "one of several": (
        FUSED,
        "_2mm.tensorize(n:128);",
        [("_2mm.tensorize(m:16, n:64, k:32, l:0);", "_2mm.tensorize(m:16, k:32, l:0);")],
    ),
    "of several directives": (
        MAP + "f.block(x:4); f.block(y:8);",
        "f.block(x:16, y:16);",
        [("f.block(x:4);", None), ("f.block(y:8);", None)],
    ),
    "another loop": (
        FUSED,
        "mm.fuse_at(_2mm, l, recompute);",
        [("mm.fuse_at(_2mm, m);", None)],
    ),
    "another order": (
        MAP + "f.block(x:4, y:4); f.map(x, y);",
        "f.map(y, x);",
        [("f.map(x, y);", None)],
    ),
    "another option": (MAP + "f.num_warps(4);", "f.num_warps(8);", [("f.num_warps(4);", None)]),
    "another Func": (TWO + "g.compile();", "g.fuse_at(f, x);", []),
}


@pytest.mark.parametrize("name", REPLACED)
def test_it_stands_in_the_place_of_what_says_otherwise(name: str) -> None:
    text, directive, gone = REPLACED[name]
    answer = asked(text, directive)
    assert replacements(answer) == gone
    assert answer.is_legal
    assert not answer.is_there
    assert directives(answer.program)[-1] == directive


def test_the_change_is_told_against_the_file() -> None:
    answer = asked(FUSED, "_2mm.block(m:32);")
    assert answer.explained is not None
    assert [change.words("now") for change in answer.explained.changes] == [
        "programs of '_2mm': ceil(m / 32), one for each block of 32 of m "
        "(now: ceil(m / 16), one for each block of 16 of m)",
        "the loop over m of '_2mm': 32 of m in steps of 16 lanes "
        "(now: 16 of m in 1 step of 16 lanes)",
    ]


@pytest.mark.parametrize("directive", ["_2mm.block(m:16);", "_2mm.tensorize(l:0, m:16);"])
def test_what_the_file_says_already(directive: str) -> None:
    answer = asked(FUSED, directive)
    assert answer.is_legal
    assert answer.is_there
    assert answer.explained is not None
    assert answer.explained.changes == ()


def test_what_is_refused_is_the_directive_in_question() -> None:
    answer = asked(FUSED, "_2mm.reorder(n, m);")
    assert not answer.is_legal
    (error,) = answer.diagnostics
    assert error.code == "DT203"
    assert error.span is not None
    assert error.span.text == "_2mm.reorder(n, m)"
    together = [note.span.text for note in error.notes if note.span and "together" in note.text]
    assert together == ["mm.fuse_at(_2mm, m)"]


def test_another_loop_is_refused_with_the_ways_out() -> None:
    answer = asked(FUSED, "mm.fuse_at(_2mm, n);")
    (error,) = answer.diagnostics
    assert (answer.is_legal, error.code) == (False, "DT203")
    assert "fuse at m is legal" in error.hint


STATIC = {
    "no such directive": ("f.blok(x:16);", "DT180"),
    "no such label": ("f.block(z:16);", "DT185"),
    "too large": ("f.num_warps(64);", "DT182"),
    "compiled": ("f.inline();", "DT196"),
}


@pytest.mark.parametrize("name", STATIC)
def test_static_checks_refuse(name: str) -> None:
    directive, code = STATIC[name]
    answer = asked(TWO, directive)
    assert not answer.is_legal
    assert has_errors(answer.diagnostics)
    assert [one.code for one in answer.diagnostics] == [code]
    assert answer.explained is None


def test_a_schedule_that_is_refused_as_it_stands() -> None:
    wrong = TWO_PRODUCTS + "mm.fuse_at(_2mm, n);"
    answer = asked(wrong, "_2mm.num_warps(8);")
    (error,) = answer.diagnostics
    assert error.span is not None
    assert error.span.text == "mm.fuse_at(_2mm, n)"
    assert asked(wrong, "_2mm.tensorize(n:0);").is_legal


def test_partial_results() -> None:
    answer = asked(SUM + "total.block(k:32);", "total.atomic(k);")
    assert answer.is_legal
    assert answer.explained is not None
    assert answer.explained.changes[0].topic == "kernel"
