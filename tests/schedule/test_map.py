"""The primitive `map`."""

import pytest

from dtpoly.diagnostics import apply_edits
from tests.schedule.told import MAP, SUM, diagnostics, only, told

BLOCKED = f"{MAP} f.block(x:4, y:4);"


@pytest.mark.parametrize(
    "loops", ["x, y", "y, x", "y:yi/2, x, yi", "y:yi/2, x:xi/2, yi, xi", "x:xi/1, xi, y"]
)
def test_each_blocked_label_once(loops: str) -> None:
    assert told(f"{BLOCKED} f.map({loops});") == []


def test_a_blocked_label_that_is_reduced() -> None:
    assert told(f"{SUM} total.block(k:32, x:2); total.map(k, x);") == []


def test_one_left_out() -> None:
    text = f"{BLOCKED} f.map(y:yi/8, yi);"
    found = only(text)
    assert (found.code, found.title) == ("DT192", "this map leaves out 'x'")
    assert [note.span.text for note in found.notes if note.span] == ["x:4"]
    assert told(apply_edits(text, found.edits)) == []


def test_one_that_is_not_blocked() -> None:
    assert told(f"{MAP} f.block(x:4); f.map(x, y);") == ["DT192 y"]
    assert told(f"{MAP} f.map(x);") == ["DT192 x"]
    assert told(f"{MAP} f.block(x:4); f.map(x, y:yi/4, yi);") == ["DT192 y"]


def test_one_that_is_none() -> None:
    assert told(f"{BLOCKED} f.map(x, y, z);") == ["DT185 z"]


@pytest.mark.parametrize(
    ("loops", "culprit"),
    [
        ("x, y, x", "x"),
        ("x, y:yi/2, yi, yi", "yi"),
        ("yi, y:yi/2, x", "yi"),
        ("x, y, y:yi/2, yi", "y"),
        ("y:yi/4, x, yi:yj/2, yj", "yi"),
    ],
)
def test_wrong_orders(loops: str, culprit: str) -> None:
    assert told(f"{BLOCKED} f.map({loops});") == [f"DT193 {culprit}"]


def test_an_inner_loop_that_is_missing() -> None:
    text = f"{BLOCKED} f.map(y:yi/4, x);"
    found = only(text)
    assert (found.code, found.title) == ("DT193", "'yi' has no place in the order")
    assert told(apply_edits(text, found.edits)) == []


def test_factors() -> None:
    assert told(f"{BLOCKED} f.map(x, y:yi/0, yi);") == ["DT182 y:yi/0"]
    assert told(f"{BLOCKED} f.map(x, y:4);") == ["DT181 y:4"]
    assert told(f"{BLOCKED} f.map();") == ["DT181 f.map()"]


def test_a_block_that_is_wrong_is_not_told_again() -> None:
    assert told(f"{MAP} f.block(x:0, y:16); f.map(x, y);") == ["DT182 x:0"]


def test_but_the_blocks_that_are_right_count() -> None:
    assert told(f"{MAP} f.block(x:16); f.block(y:0); f.map(y);") == ["DT182 y:0", "DT192 f.map(y)"]


def test_several_mistakes_at_once() -> None:
    codes = [d.code for d in diagnostics(f"{BLOCKED} f.map(x, x, z, y:x/0);")]
    assert codes == ["DT182"]
    codes = [d.code for d in diagnostics(f"{BLOCKED} f.map(x, x, z);")]
    assert codes == ["DT192", "DT193", "DT185"]
