"""Directives become primitives and read as directives again; a user's primitive is one of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest

from dtpoly.algorithm.program import Argument, Directive, Split
from dtpoly.diagnostics import Diagnostic, Severity, apply_edits
from dtpoly.directives.block import Block
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.directives.map import Map
from dtpoly.directives.tensorize import Tensorize
from dtpoly.schedule.argument_kinds import IntegerKind
from dtpoly.schedule.argument_values import Divided, Name, Sized
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import LabelKind
from dtpoly.schedule.primitive import Parameter, Primitive, Stage, signatures
from dtpoly.schedule.static_checks import check_schedule
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.generation.schedules import program
from tests.schedule.told import ATTENTION, MAP, TWO, only, read, told


def test_every_primitive_is_in_the_tuple_once_and_has_a_rule() -> None:
    words = [word for cls in DIRECTIVES for word in (cls.name, *cls.aliases)]
    assert len(set(words)) == len(words)
    for cls in DIRECTIVES:
        assert "-->" in (cls.__doc__ or ""), cls.name
        assert cls.__module__ == f"dtpoly.directives.{cls.name}"


def test_arguments_get_types() -> None:
    directives = (
        Directive("f", "block", (Argument("x", 16), Argument("k", Split("kb", 4096)))),
        Directive("f", "tensorize", (Argument("mm.l", 16), Argument("x", 0))),
        Directive("f", "map", (Argument("y", Split("yi", 8)), Argument("x"), Argument("yi"))),
    )
    assert bind(directives, DIRECTIVES).primitives == (
        Block("f", (Sized("x", 16), Divided("k", "kb", 4096))),
        Tensorize("f", (Sized("l", 16, "mm"), Sized("x", 0))),
        Map("f", (Divided("y", "yi", 8), Name("x"), Name("yi"))),
    )


def test_spans_do_not_count() -> None:
    text = "f.block(x:16); f.map(x); f.tensorize(x:0);"
    primitives = bind(read(MAP + text).directives, DIRECTIVES).primitives
    again = bind(read(MAP + "# elsewhere\n" + text).directives, DIRECTIVES).primitives
    assert primitives == again
    assert hash(primitives) == hash(again)
    assert repr(primitives) == repr(again)


def test_a_generated_schedule_is_accepted_and_prints_as_it_was_written() -> None:
    for seed in range(300):
        generated = program(seeded(seed), Limits(funcs=4))
        assert {one.code for one in check_schedule(generated, DIRECTIVES)} <= {"DT198"}
        bound = bind(generated.directives, DIRECTIVES)
        assert len(bound.primitives) == len(generated.directives)
        for primitive, directive in zip(bound.primitives, generated.directives, strict=True):
            name = directive.name.removesuffix("_to_kernel")
            assert primitive.directive() == Directive(directive.func, name, directive.arguments)
            assert str(primitive).startswith(f"{directive.func}.{name}(")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tensorise", "did you mean tensorize?"),
        ("Block", "did you mean block?"),
        ("fuseat", "did you mean fuse_at?"),
        ("vectorize", "here it is f.tensorize(label:size, ...)"),
        ("compute_at", "here it is f.fuse_at(func, label)  or  f.fuse_at(func, label, recompute)"),
    ],
)
def test_an_unknown_directive(name: str, hint: str) -> None:
    found = only(f"{MAP} f . # which?\n {name}(x:16);")
    assert (found.code, found.title) == ("DT180", f"unknown directive '{name}'")
    assert found.span is not None
    assert found.span.text == name
    assert found.hint == hint


def test_an_unknown_directive_that_is_like_no_other() -> None:
    assert only(f"{MAP} f.zzz();").hint.startswith("the directives are align, alternate, atomic")


def test_all_wrong_arguments_of_a_directive_are_told() -> None:
    assert told(f"{MAP} f.block(x, y:0);") == ["DT181 x", "DT182 y:0"]


def test_signatures() -> None:
    written = {cls.name: signatures(cls) for cls in DIRECTIVES}
    assert written["compile"] == ("f.compile()", "f.compile(func, ...)")
    assert written["block"] == ("f.block(label:size or label:new/size, ...)",)
    assert written["tensorize"] == ("f.tensorize(label:size, ...)",)
    assert written["map"] == ("f.map(label or label:new/factor, ...)",)
    assert written["fuse_at"] == ("f.fuse_at(func, label)", "f.fuse_at(func, label, recompute)")
    assert written["precision"] == ("f.precision(tf32, tf32x3 or ieee)",)
    assert written["descriptor"] == ("f.descriptor(input, ...)",)
    assert written["align"] == ("f.align(input, ...)",)
    assert written["stream"] == ("f.stream(input, ...)",)
    assert written["alternate"] == ("f.alternate(label, ...)",)


@dataclass(frozen=True, slots=True)
class Skew(Primitive):
    """Skew one loop by another, as a user's file would add it."""

    name: ClassVar[str] = "skew"
    stage: ClassVar[Stage] = Stage.REWRITES
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("outer", LabelKind()),
        Parameter("inner", LabelKind(), is_key=True),
        Parameter("factor", IntegerKind(1, 8)),
    )

    outer: Name
    inner: Name
    factor: int

    def check(self, view: View) -> Iterator[Diagnostic]:
        """The loops differ."""
        if self.outer == self.inner:
            yield Diagnostic("DT900", Severity.ERROR, "one loop", self.inner.span)


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("f.skew(x, y, 2);", []),
        ("f.skew(x, x, 2);", ["DT900 x"]),
        ("f.skew(x, y, 9);", ["DT182 9"]),
        ("f.skew(x, y);", ["DT181 f.skew(x, y)"]),
        ("f.skew(x:2, y, 2);", ["DT181 x:2"]),
        ("f.skew(z, y, 2);", ["DT185 z"]),
        ("f.skwe(x, y, 2);", ["DT180 skwe"]),
        ("f.skew(x, y, 2); f.skew(x, y, 4);", ["DT187 f.skew(x, y, 4)"]),
        ("f.skew(x, y, 2); f.skew(x, y, 2);", ["DT188 f.skew(x, y, 2)"]),
        ("g.fuse_at(f, x); g.skew(x, y, 2);", ["DT186 g.skew(x, y, 2)"]),
    ],
)
def test_a_primitive_of_a_user_gets_all_checks(directives: str, expected: list[str]) -> None:
    found = check_schedule(read(TWO + directives), (*DIRECTIVES, Skew))
    assert [f"{d.code} {d.span.text if d.span else ''}" for d in found] == expected


def test_a_name_that_was_mended_is_right() -> None:
    text = f"{ATTENTION} sm.fuse_at(atention, m); attention.tensorise(m:16);"
    found = check_schedule(read(text), DIRECTIVES)
    assert [d.code for d in found] == ["DT184", "DT180"]
    mended = apply_edits(text, [edit for d in found for edit in d.edits])
    assert check_schedule(read(mended), DIRECTIVES) == []


def test_names_that_are_there_are_listed_as_many() -> None:
    assert only(f"{MAP} f.descriptor(zzzz);").hint.startswith("there are ")
    text = "Func f, g; In A; g[] = A[]; f[] = g[];"
    assert only(f"{text} f.beside(zzzz); f.compile();").hint == "there is g"
