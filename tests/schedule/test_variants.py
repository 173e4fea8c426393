"""Tests which directives could stand in the place of another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.fuse_at import FuseAt
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.directive_variants import (
    as_written,
    ask,
    is_good,
    legal_neighbours,
    moved_together,
    neighbours,
    replaced,
    with_directive,
    without,
)
from dtpoly.schedule.facts import Fact, Fused, Inlined
from dtpoly.schedule.primitive import Primitive
from tests.schedule.told import ATTENTION, MAP, TWO, TWO_PRODUCTS, read
from tests.schedule.user_primitives import USER


def primitive(program: Program, name: str, primitives: Primitives = DIRECTIVES) -> Primitive:
    return next(p for p in bind(program.directives, primitives).primitives if p.name == name)


def shown(text: str, name: str, primitives: Primitives = DIRECTIVES) -> list[str]:
    """The neighbours of the directive of that name, without its `;`."""
    program = read(text)
    found = neighbours(program, primitive(program, name, primitives), primitives)
    return [show_directive(v.new).rstrip(";") if v.new else "" for v in found]


def test_a_fusion_may_be_at_another_loop_or_inlined() -> None:
    assert shown(TWO + "g.fuse_at(f, x);", "fuse_at") == [
        "g.fuse_at(f, x, recompute)",
        "g.fuse_at(f, y)",
        "g.fuse_at(f, y, recompute)",
        "g.inline()",
        "",
    ]


def test_a_fusion_may_be_into_another_reader() -> None:
    text = ATTENTION + "e.fuse_at(attention, l); sm.fuse_at(attention, m); dvsr.fuse_at(sm, m);"
    found = shown(text, "fuse_at")
    assert {"e.fuse_at(attention, m)", "e.fuse_at(sm, m)", "e.fuse_at(dvsr, l)"} <= set(found)
    assert "e.fuse_at(mm, m)" not in found  # mm does not read e


def test_other_directives_have_another_order_or_fewer_arguments() -> None:
    blocked = MAP + "f.block(x:8, y:4); f.tensorize(x:8, y:2);"
    assert shown(blocked, "block") == ["f.block(y:4)", "f.block(x:8)", ""]
    assert shown(blocked, "tensorize") == [
        "f.tensorize(y:2)",
        "f.tensorize(x:8)",
        "f.tensorize(x:0, y:2)",
        "f.tensorize(x:8, y:0)",
        "",
    ]
    assert shown(MAP + "f.reorder(y, x);", "reorder") == ["f.reorder(x, y)", ""]
    assert shown(MAP + "f.num_warps(4);", "num_warps") == ["f.num_warps(1)", ""]


def test_primitives_of_a_user_have_neighbours_too() -> None:
    assert shown(MAP + "f.backwards(x);", "backwards", USER) == ["f.backwards(y)", ""]
    assert shown(MAP + "f.skew(x, y);", "skew", USER) == ["f.skew(y, x)", ""]


def test_which_neighbours_are_legal() -> None:
    program = read(TWO_PRODUCTS + "mm.fuse_at(_2mm, n);")
    found = legal_neighbours(program, primitive(program, "fuse_at"), DIRECTIVES)
    assert [str(v.new and show_directive(v.new)) for v in found] == [
        "mm.fuse_at(_2mm, n, recompute);",
        "mm.fuse_at(_2mm, m);",
        "mm.fuse_at(_2mm, m, recompute);",
        "mm.fuse_at(_2mm, l, recompute);",
        "None",
    ]


def test_ask() -> None:
    program = read(TWO_PRODUCTS)
    fused = read(TWO_PRODUCTS + "mm.fuse_at(_2mm, n);").directives[-1]
    wrong = read(TWO_PRODUCTS + "mm.fuse_at(_2mm, k);").directives[-1]
    assert ask(program, DIRECTIVES).is_good
    refused = ask(with_directive(program, fused), DIRECTIVES)
    assert refused.verdict is not None
    assert str(refused.verdict.blame) == show_directive(fused)
    assert not is_good(with_directive(program, fused), DIRECTIVES)
    assert [d.code for d in ask(with_directive(program, wrong), DIRECTIVES).diagnostics] == [
        "DT185"
    ]
    assert ask(with_directive(program, wrong), DIRECTIVES).verdict is None
    assert not is_good(with_directive(program, wrong), DIRECTIVES)


def test_a_directive_said_twice_goes_as_a_whole() -> None:
    program = read(MAP + "f.block(x:8); f.block(x:8);")
    (*_, old) = program.directives
    (new,) = read(MAP + "f.block(x:4);").directives[1:]
    assert replaced(program, old, None).directives == program.directives[:1]
    assert replaced(program, old, new).directives == (program.directives[0], new)


def test_a_directive_is_found_under_its_other_name() -> None:
    program = read(TWO_PRODUCTS)
    (directive,) = program.directives
    assert directive.name == "compile_to_kernel"
    found = as_written(program, primitive(program, "compile"), DIRECTIVES)
    assert (found, found.span) == (directive, directive.span)


def test_what_says_nothing_without_a_directive_goes_with_it() -> None:
    program = read(TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.tensorize(m:2, k:4, mm.m:2);")
    _, fusion, _ = program.directives
    left = without(program, fusion, DIRECTIVES)
    assert left is not None
    assert [show_directive(d) for d in left[0].directives] == [
        "_2mm.compile_to_kernel();",
        "_2mm.tensorize(m:2);",
    ]
    assert [new and show_directive(new) for _, new in left[1]] == [None, "_2mm.tensorize(m:2);"]


def test_fusions_at_one_loop_move_together() -> None:
    text = ATTENTION + "sm.fuse_at(attention, n); e.fuse_at(attention, n); dvsr.fuse_at(sm, m);"
    program = read(text)
    found = [
        [show_directive(new) for _, new in changes if new]
        for _, changes in moved_together(program, fusion(program), DIRECTIVES)
    ]
    assert ["sm.fuse_at(attention, m);", "e.fuse_at(attention, m);"] in found
    alone = read(TWO + "g.fuse_at(f, x);")
    assert list(moved_together(alone, fusion(alone), DIRECTIVES)) == []


def fusion(program: Program) -> FuseAt:
    found = primitive(program, "fuse_at")
    assert isinstance(found, FuseAt)
    return found


@dataclass(frozen=True, slots=True)
class Expand(Primitive):
    """A directive of one's own that inlines, and may itself be a fusion instead."""

    name: ClassVar[str] = "expand"

    @classmethod
    def saying(cls, fact: Fact) -> Self | None:
        return cls(fact.func) if isinstance(fact, Inlined) else None

    def instead(self) -> Iterator[Fact]:
        yield Fused(self.func, "f", "x")


def test_directives_of_ones_own_say_what_may_be_instead() -> None:
    primitives = (*DIRECTIVES, Expand)
    assert shown(TWO + "g.expand();", "expand", primitives) == ["g.fuse_at(f, x)", ""]
    inlined = shown(TWO + "g.fuse_at(f, x);", "fuse_at", primitives)[-3:]
    assert inlined == ["g.inline()", "g.expand()", ""]
