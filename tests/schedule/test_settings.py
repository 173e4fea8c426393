"""Settings that are given twice."""

import pytest

from dtpoly.diagnostics import Severity, apply_edits
from tests.schedule.told import MAP, TWO, TWO_PRODUCTS, diagnostics, told


def mended(text: str) -> str:
    """The text without what is repeated."""
    return apply_edits(text, [edit for d in diagnostics(text) for edit in d.edits])


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("f.block(x:16); f.block(x:32);", ["DT187 x:32"]),
        ("f.block(x:16, y:4, x:32);", ["DT187 x:32"]),
        ("f.tensorize(x:16); f.block(x:32);", []),
        ("f.num_stages(4); f.num_stages(8);", ["DT187 f.num_stages(8)"]),
        ("f.block(x:1, y:2); f.map(x, y); f.map(y, x);", ["DT187 f.map(y, x)"]),
        ("f.split(x:a/4); f.split(x:b/4);", ["DT187 x:b/4"]),
    ],
)
def test_contradictions(directives: str, expected: list[str]) -> None:
    assert told(MAP + directives) == expected


def test_a_contradiction_shows_both_places() -> None:
    (found,) = diagnostics(f"{MAP} f.block(x:16, y:4); f.block(x:32);")
    assert found.title == "'f.block(x:32)' contradicts 'f.block(x:16)'"
    assert [note.span.text for note in found.notes if note.span] == ["x:16"]


def test_a_tile_for_all_and_one_for_a_single_func_do_not_contradict() -> None:
    fused = f"{TWO_PRODUCTS} mm.fuse_at(_2mm, l);"
    assert told(f"{fused} _2mm.tensorize(l:32, mm.l:16);") == []
    assert told(f"{fused} _2mm.tensorize(mm.l:32, mm.l:16);") == ["DT187 mm.l:16"]


def test_of_different_funcs() -> None:
    assert told(f"{TWO} f.num_warps(4); g.num_warps(8); f.block(x:2); g.block(x:4);") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f.block(x:16);\nf.block(x:16);\n", "f.block(x:16);\n"),
        ("f.block(x:16); f.block( x : 16 ) ; # again\n", "f.block(x:16);  # again\n"),
        ("f.block(x:16, x:16);\n", "f.block(x:16);\n"),
        ("f.block(x:16);\nf.block(x:16, y:4);\n", "f.block(x:16);\nf.block(y:4);\n"),
        ("f.block(x:16, y:4, x:16, y:4);\n", "f.block(x:16, y:4);\n"),
        ("f.block(x:4, y:8);\nf.block(y:8, x:4);\n", "f.block(x:4, y:8);\n"),
        (
            "f.split(x:xi/4); f.unroll(x:2, y:2);\nf.unroll(y:2,    x:2, xi:4);\n",
            "f.split(x:xi/4); f.unroll(x:2, y:2);\nf.unroll(xi:4);\n",
        ),
        ("f.num_warps(8);\n  f.num_warps(8);\nf.num_warps(8);", "f.num_warps(8);\n"),
        ("f.num_stages(2); f.num_stages(2);", "f.num_stages(2); "),
        ("f.split(x:a/4); f.split(x:a/4);", "f.split(x:a/4); "),
        ("f.block(x:2, y:2); f.map(x, y);\nf.map(x, y);", "f.block(x:2, y:2); f.map(x, y);\n"),
    ],
)
def test_repetitions_are_warnings_that_a_machine_can_mend(before: str, after: str) -> None:
    found = diagnostics(MAP + before)
    assert found
    assert {(d.code, d.severity) for d in found} == {("DT188", Severity.WARNING)}
    assert mended(MAP + before) == MAP + after
    assert told(MAP + after) == []
    for diagnostic in found:  # each edit is right by itself, too
        assert len(diagnostics(apply_edits(MAP + before, diagnostic.edits))) == len(found) - 1
