"""Tuned schedules in a text file: read, written, merged, and which of them a call takes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.space.space_file import read_space
from dtpoly.frontend.format import format_source
from dtpoly.source import Source
from dtpoly.tuned.merge import merged
from dtpoly.tuned.tuned_entry import Range, TunedEntry, distance, picked
from dtpoly.tuned.tuned_file import empty, load_tuned, read_tuned, show_tuned

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = read_space(str(EXAMPLES / "softmax.dt")).program
TEXT = """\
# Mine.
algorithm "softmax.dt";

{
    # for NVIDIA H200, f32: x = 4096, y = 1024..4096
    # 0.04 ms at x = 4096, y = 4096
    softmax.block(x:4),
    softmax.tensorize(x:0, y:0),
    total.fuse_at(softmax, x),
    softmax.compile()
|
    # for NVIDIA H200, bf16: x = 4096, y = 65536
    softmax.tensorize(x:1, y:2048), total.fuse_at(softmax, x), softmax.compile()
};
# The end.
"""


def read(text: str = TEXT) -> tuple[TunedEntry, ...]:
    return load_tuned(Source("softmax.tuned.dts", text), EXAMPLES).entries


def entry(
    block: int = 4, device: str = "NVIDIA H200", dtype: str = "f32", **ranges: Range
) -> TunedEntry:
    """A schedule with this block."""
    one = read()[0]
    other = read(TEXT.replace("x:4)", f"x:{block})"))[0]
    return replace(one, dtype=dtype, ranges=ranges, directives=other.directives, notes=())


def test_a_file_says_what_each_schedule_is_for() -> None:
    first, second = read()
    assert (first.device, first.dtype) == ("NVIDIA H200", "f32")
    assert first.ranges == {"x": (4096, 4096), "y": (1024, 4096)}
    assert first.notes == ("0.04 ms at x = 4096, y = 4096",)
    assert first.where == "NVIDIA H200, f32: x = 4096, y = 1024..4096"
    assert [len(one.directives) for one in (first, second)] == [4, 3]
    assert second.dtype == "bf16"


def test_reading_what_was_written_gives_the_same(tmp_path: Path) -> None:
    tuned = load_tuned(Source("softmax.tuned.dts", TEXT), EXAMPLES)
    again = load_tuned(Source("softmax.tuned.dts", show_tuned(tuned)), EXAMPLES)
    assert again == tuned
    assert (again.before, again.after) == (tuned.before, tuned.after)
    made = replace(empty(PROGRAM, str(EXAMPLES / "softmax.dt")), entries=tuned.entries)
    path = tmp_path / "new.dts"
    path.write_text(show_tuned(made))
    assert read_tuned(path) == made


def test_what_is_written_is_formatted() -> None:
    text = show_tuned(replace(empty(PROGRAM, "softmax.dt"), entries=read()))
    assert format_source(Source("softmax.tuned.dts", text)) == text


def test_each_schedule_is_a_point_of_a_space(tmp_path: Path) -> None:
    path = tmp_path / "softmax.tuned.dts"
    path.write_text(TEXT.replace('"softmax.dt"', f'"{EXAMPLES / "softmax.dt"}"'))
    (choice,) = read_space(str(path)).parameters
    assert choice.options == (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("# for NVIDIA H200, f32: x", "# of NVIDIA H200, f32: x"),
        TEXT.replace("x = 4096, y = 1024", "x = 4096, z = 1024"),
        TEXT.replace("x = 4096, y = 65536", "y = 65536"),
        TEXT.replace("y = 1024..4096", "y = 4096..1024"),
        TEXT.replace("x = 4096, y = 1024", "x = 4096, x = 1, y = 1024"),
        TEXT.replace("x:4", "x:{4, 8}"),
        TEXT.partition("{")[0] + "softmax.compile();\n",
    ],
)
def test_what_does_not_say_what_it_is_for_is_told(text: str) -> None:
    with pytest.raises(DtpolyError) as error:
        read(text)
    assert [one.code for one in error.value.diagnostics] == ["DT253"]


def at(entries: tuple[TunedEntry, ...], dtype: str = "f32", **sizes: int) -> TunedEntry:
    found = picked(entries, "NVIDIA H200", dtype, sizes)
    assert found is not None
    return found.entry


def test_the_nearest_one_is_picked() -> None:
    small, large = entry(1, x=(64, 64), y=(512, 512)), entry(2, x=(64, 64), y=(4096, 8192))
    both = (small, large)
    assert at(both, x=64, y=512) is small
    assert at(both, x=64, y=6000) is large
    # In doublings, 1,400 is nearer to 512 than to 4,096, and 1,500 is not.
    assert at(both, x=64, y=1400) is small
    assert at(both, x=64, y=1500) is large
    assert at(both, x=0, y=0) is small
    assert distance(small, {"x": 128, "y": 256}) == 2.0


def test_inside_of_several_ranges_the_narrowest_counts() -> None:
    wide, narrow = entry(1, x=(1, 64), y=(1, 8192)), entry(2, x=(64, 64), y=(512, 512))
    assert at((wide, narrow), x=64, y=512) is at((narrow, wide), x=64, y=512) is narrow
    assert at((wide, narrow), x=64, y=511) is wide


def test_another_device_is_no_neighbour_and_another_dtype_the_last() -> None:
    sizes: Mapping[str, int] = {"x": 64, "y": 512}
    x, y = (64, 64), (512, 512)
    half, far = entry(1, dtype="bf16", x=x, y=y), entry(2, x=x, y=(65536, 65536))
    assert picked((half, far), "NVIDIA A100", "f32", sizes) is None
    found = picked((half, far), "NVIDIA H200", "f32", sizes)
    assert found is not None
    assert found.entry is far
    assert found.doubts == ("y = 512 is far from 65536",)
    found = picked((half,), "NVIDIA H200", "f32", sizes)
    assert found is not None
    assert found.doubts == ("it is for bf16, not for f32",)
    found = picked((half,), "NVIDIA H200", "bf16", {"x": 64, "y": 1024})
    assert found is not None
    assert found.doubts == ()


def test_ranges_of_one_schedule_join() -> None:
    one = replace(entry(4, x=(64, 64), y=(512, 512)), notes=("first",))
    two = replace(entry(4, x=(64, 64), y=(4096, 4096)), notes=("second",))
    (both,) = merged((one,), two)
    assert both.ranges == {"x": (64, 64), "y": (512, 4096)}
    assert both.notes == ("first", "second")


def test_ranges_do_not_join_across_another_schedule() -> None:
    one, two = entry(4, x=(64, 64), y=(512, 512)), entry(4, x=(64, 64), y=(4096, 4096))
    between = entry(8, x=(64, 64), y=(1024, 1024))
    assert merged((one, between), two) == (one, between, two)
    # Another dtype is not in between.
    other = replace(between, dtype="bf16")
    assert len(merged((one, other), two)) == 2


def test_a_schedule_for_the_very_sizes_is_replaced() -> None:
    one, new = entry(4, x=(64, 64), y=(512, 512)), entry(8, x=(64, 64), y=(512, 512))
    assert merged((one,), new) == (new,)
    elsewhere = replace(new, device="NVIDIA A100")
    assert merged((one,), elsewhere) == (elsewhere, one)


SIZES = st.integers(1, 1 << 20)


@given(st.lists(st.tuples(st.sampled_from([1, 2, 4]), SIZES, SIZES), min_size=1, max_size=12))
def test_after_merging_each_size_has_the_schedule_that_was_last_found_for_it(
    found: list[tuple[int, int, int]],
) -> None:
    entries: tuple[TunedEntry, ...] = ()
    last: dict[tuple[int, int], TunedEntry] = {}
    for block, x, y in found:
        new = replace(BLOCKS[block], ranges={"x": (x, x), "y": (y, y)})
        entries = merged(entries, new)
        last[x, y] = new
    for (x, y), new in last.items():
        assert at(entries, x=x, y=y).directives == new.directives


BLOCKS = {block: entry(block, x=(1, 1), y=(1, 1)) for block in (1, 2, 4)}
