"""Directives that are not in the file, read as if they were."""

import pytest

from dtpoly.frontend.added import add_directives
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source
from tests.schedule.told import TWO

FILE = parse(Source("two.dt", TWO)).file


@pytest.mark.parametrize("text", ["f.block(x:4)", "f.block(x:4);", " f.block(x:4) ;\n# four\n"])
def test_the_last_semicolon_may_be_missing(text: str) -> None:
    added = add_directives(FILE, Source("asked", text))
    assert (added.found, added.others, len(added.directives)) == ((), (), 1)
    program = resolve(added.file).program
    new = program.directives[-1]
    assert new.span is not None
    assert (new.span.source.name, new.span.text) == ("asked", text.strip().split(")")[0] + ")")
    assert program.directives[:-1] == resolve(FILE).program.directives


def test_several_with_a_semicolon_between() -> None:
    added = add_directives(FILE, Source("asked", "f.block(x:4); g.fuse_at(f, x)"))
    assert [one.name.text for one in added.directives] == ["block", "fuse_at"]
    assert added.found == ()


def test_a_semicolon_between_two_is_needed() -> None:
    added = add_directives(FILE, Source("asked", "f.block(x:4)\ng.fuse_at(f, x)"))
    assert [one.code for one in added.found] == ["DT109"]


def test_other_statements_are_kept_apart() -> None:
    added = add_directives(FILE, Source("asked", "Func h; f.block(x:4);"))
    assert (len(added.directives), len(added.others)) == (1, 1)
    assert added.file.statements == (*FILE.statements, *added.directives)


@pytest.mark.parametrize("text", ["", "   ", "# f.block(x:4)", ";"])
def test_nothing(text: str) -> None:
    added = add_directives(FILE, Source("asked", text))
    assert added.directives == ()


@pytest.mark.parametrize("text", ["f.block(", "f.block(x:4", "f block x", "f.block(x:1.5.2)", "é"])
def test_what_cannot_be_read(text: str) -> None:
    added = add_directives(FILE, Source("asked", text))
    assert added.found
    assert all(d.span is None or d.span.source.name == "asked" for d in added.found)


def test_a_huge_text_is_refused_at_once() -> None:
    added = add_directives(FILE, Source("asked", "f.block(x:4);" * 100_000))
    assert [one.code for one in added.found] == ["DT119"]
