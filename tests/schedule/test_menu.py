"""Directives that could come next: those listed as legal are, those listed as refused are not."""

import pytest

from benchmarks.pace import is_kept_once, seconds_of
from dtpoly.algorithm.program import Program, in_order
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.parse import parse
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.directive_variants import ask
from dtpoly.schedule.legality import judge
from dtpoly.schedule.menu import Option, hosts, menu
from dtpoly.schedule.tree_text import show_tree
from dtpoly.source import Source
from tests.schedule.told import ATTENTION, MAP, SUM, TWO, TWO_PRODUCTS, read
from tests.schedule.user_primitives import USER
from tests.test_thesis import DATA

FUSED = TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:16);"
CASES = {
    "elements": (MAP, "f"),
    "two Funcs": (TWO, "f"),
    "blocked": (MAP + "f.block(x:16, y:16);", "f"),
    "a sum": (SUM, "total"),
    "a sum in parts": (SUM + "total.block(k:32);", "total"),
    "two products": (TWO_PRODUCTS, "_2mm"),
    "fused": (FUSED, "_2mm"),
    "the fused one": (FUSED, "mm"),
    "inlined": (TWO + "g.inline();", "f"),
    "a reader of two": (ATTENTION, "sm"),
}


def tried(text: str, func: str, primitives: Primitives = DIRECTIVES) -> dict[str, Option]:
    return {one.directive: one for one in menu(read(text), func, primitives)}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_the_answers_are_true(name: str) -> None:
    text, func = CASES[name]
    before = tree(read(text))
    for directive, one in tried(text, func).items():
        asked = ask(read(text + directive), DIRECTIVES)
        assert asked.is_good == one.is_legal, directive
        if asked.verdict is not None and one.is_legal:
            now = show_tree(asked.verdict.scheduled.kernels)
            options = [k.options for k in asked.verdict.scheduled.kernels]
            old = [k.options for k in judge(read(text), DIRECTIVES).scheduled.kernels]
            assert one.changes == ((now, options) != (before, old)), directive
        if asked.verdict is not None and not one.is_legal:
            assert one.reason == asked.verdict.violations[0].kind


def tree(program: Program) -> str:
    return show_tree(judge(program, DIRECTIVES).scheduled.kernels)


@pytest.mark.long
def test_each_is_one_directive_and_none_is_listed_twice() -> None:
    for text, func in CASES.values():
        listed = [one.directive for one in menu(read(text), func, DIRECTIVES)]
        assert len(listed) == len(set(listed))
        assert all(len(parse(Source("one", one)).file.statements) == 1 for one in listed)


def test_what_is_tried() -> None:
    found = tried(TWO_PRODUCTS, "_2mm")
    assert [one.directive for one in found.values() if one.is_legal and one.changes] == [
        "_2mm.block(m:16);",
        "_2mm.block(m:64);",
        "_2mm.block(n:16);",
        "_2mm.block(n:64);",
        "_2mm.block(l:16);",
        "_2mm.block(l:64);",
        "_2mm.tensorize(m:0);",
        "_2mm.tensorize(m:16);",
        "_2mm.tensorize(m:64);",
        "_2mm.tensorize(n:0);",
        "_2mm.tensorize(n:16);",
        "_2mm.tensorize(n:64);",
        "_2mm.tensorize(l:0);",
        "_2mm.tensorize(l:16);",
        "_2mm.tensorize(l:64);",
        "mm.fuse_at(_2mm, m);",
        "mm.fuse_at(_2mm, n, recompute);",
        "mm.fuse_at(_2mm, l, recompute);",
        "_2mm.num_warps(4);",
        "_2mm.num_stages(4);",
        "_2mm.split(m:mi/4);",
        "_2mm.split(n:ni/4);",
        "_2mm.split(l:li/4);",
        "_2mm.reorder(n, m);",
        "_2mm.reorder(l, m);",
        "_2mm.reorder(l, n);",
        "_2mm.unroll(m:4);",
        "_2mm.unroll(n:4);",
        "_2mm.unroll(l:4);",
        "_2mm.flatten(m, n);",
        "_2mm.precision(tf32);",
        "_2mm.precision(tf32x3);",
        "_2mm.precision(ieee);",
        "_2mm.persistent();",
        "_2mm.persistent(4);",
        "_2mm.descriptor(C);",
        "_2mm.align(C);",
        "_2mm.alternate(m);",
        "_2mm.alternate(n);",
        "_2mm.alternate(l);",
        "_2mm.early();",
        "_2mm.pitch();",
        "_2mm.stream(C);",
        "_2mm.warp_specialize();",
        "_2mm.panels(m:16);",
        "_2mm.panels(m:64);",
        "_2mm.swap();",
        "_2mm.descending(m);",
        "_2mm.descending(n);",
        "_2mm.descending(l);",
        "_2mm.same_bits(m);",
        "_2mm.same_bits(n);",
    ]
    assert {one.directive: one.reason for one in found.values() if not one.is_legal} == {
        "_2mm.same_bits(l);": "'l' is not a label of the result of '_2mm'",
        "mm.fuse_at(_2mm, n);": "recomputes in a loop",
        "mm.fuse_at(_2mm, l);": "recomputes in a loop",
        "_2mm.inline();": "'_2mm' cannot be inlined: it is compiled too",
        "_2mm.atomic(m);": "'_2mm' does not reduce over 'm'",
        "_2mm.atomic(n);": "'_2mm' does not reduce over 'n'",
        "_2mm.atomic(l);": "'l' is not blocked",
        "_2mm.descriptor(A);": "the kernel of '_2mm' does not read 'A'",
        "_2mm.descriptor(B);": "the kernel of '_2mm' does not read 'B'",
        "_2mm.align(A);": "the kernel of '_2mm' does not read 'A'",
        "_2mm.align(B);": "the kernel of '_2mm' does not read 'B'",
        "_2mm.stream(A);": "the kernel of '_2mm' does not read 'A'",
        "_2mm.stream(B);": "the kernel of '_2mm' does not read 'B'",
        "mm.beside(_2mm);": "runs too late",
        "_2mm.store(m:16);": "'_2mm' is not stored through a descriptor",
        "_2mm.store(m:64);": "'_2mm' is not stored through a descriptor",
        "_2mm.store(n:16);": "'_2mm' is not stored through a descriptor",
        "_2mm.store(n:64);": "'_2mm' is not stored through a descriptor",
        "_2mm.store(l:16);": "'l' is not a label of the result of '_2mm'",
        "_2mm.store(l:64);": "'l' is not a label of the result of '_2mm'",
        "_2mm.panels(n:16);": "'_2mm' cannot be computed in panels",
        "_2mm.panels(n:64);": "'_2mm' cannot be computed in panels",
        "_2mm.panels(l:16);": "'l' is not a label of the result of '_2mm'",
        "_2mm.panels(l:64);": "'l' is not a label of the result of '_2mm'",
        "mm.online(_2mm, m);": "'mm' has no reduction over 'm'",
        "mm.online(_2mm, n);": "'mm' has no reduction over 'n'",
        "mm.online(_2mm, l);": "'mm' has no reduction over 'l'",
    }


def test_what_the_file_says_already_is_left_out() -> None:
    found = tried(FUSED + "_2mm.tensorize(n:64);", "_2mm")
    assert "_2mm.block(n:16);" in found
    assert not any("block(m:" in one or "tensorize(n:" in one for one in found)
    assert not any("fuse_at" in one for one in found)


def test_orders_of_blocks_need_blocks() -> None:
    assert not any(".map(" in one for one in tried(MAP, "f"))
    found = tried(MAP + "f.block(x:16, y:16);", "f")
    assert [(one, found[one].changes) for one in found if ".map(" in one] == [
        ("f.map(x, y);", True),
        ("f.map(y, x);", False),
    ]


def test_new_names_are_free() -> None:
    text = "Func f, xi; In A; Var x, xi1; f[x] = A[x]; xi[xi1] = A[xi1]; f.compile(); xi.compile();"
    assert "f.split(x:xi2/4);" in tried(text, "f")


def test_a_fused_func_has_no_kernel_to_speak_of() -> None:
    found = [one for one in tried(FUSED, "mm") if ".online(" not in one]
    assert found == ["mm.inline();"]
    assert hosts(read(FUSED), "mm", DIRECTIVES) == ("_2mm",)
    assert hosts(read(FUSED), "_2mm", DIRECTIVES) == ()


def test_primitives_of_a_user_are_tried_as_well() -> None:
    found = tried(TWO + "g.fuse_at(f, x);", "f", USER)
    assert found["f.interchange(x);"].reason == ""
    assert found["f.upside_down();"].reason == "runs too late"
    assert found["f.backwards(y);"].is_legal
    assert {"f.skew(x, y);", "f.skew(y, x);"} <= set(found)


@pytest.mark.sampled
@pytest.mark.parametrize("func", [func.name for func in in_order(read(ATTENTION))])
def test_every_func_of_a_large_schedule(func: str) -> None:
    program = load(Source("attention", (DATA / "listing_4_04_attention.dt").read_text()))
    assert all(one.is_legal or one.reason for one in menu(program, func, DIRECTIVES))


@pytest.mark.alone
def test_the_menu_of_attention_takes_less_than_a_second() -> None:
    program = load(Source("attention", (DATA / "listing_4_04_attention.dt").read_text()))
    assert len(list(menu(program, "attention", DIRECTIVES))) > 20
    assert is_kept_once(1, lambda: seconds_of(lambda: list(menu(program, "attention", DIRECTIVES))))
