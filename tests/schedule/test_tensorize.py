"""The primitive `tensorize`."""

import pytest

from dtpoly.diagnostics import apply_edits
from tests.schedule.told import MAP, TWO_PRODUCTS, only, told


@pytest.mark.parametrize("tile", [0, 1, 2, 64, 128])
def test_powers_of_two_up_to_the_block_rounded_up(tile: int) -> None:
    assert told(f"{MAP} f.block(x:100); f.tensorize(x:{tile}, y:4096);") == []


@pytest.mark.parametrize(("tile", "nearest"), [(3, (2, 4)), (48, (32, 64)), (127, (64, 128))])
def test_other_numbers_name_the_nearest(tile: int, nearest: tuple[int, int]) -> None:
    found = only(f"{MAP} f.tensorize(x:{tile});")
    assert found.code == "DT183"
    assert found.hint == f"the nearest are x:{nearest[0]} and x:{nearest[1]}"


def test_numbers_out_of_range() -> None:
    assert told(f"{MAP} f.tensorize(x:-1);") == ["DT182 x:-1"]


@pytest.mark.parametrize(("block", "tile"), [(100, 256), (64, 128), (1, 2), (17, 64)])
def test_a_tile_larger_than_its_block(block: int, tile: int) -> None:
    text = f"{MAP} f.tensorize(x:{tile}); f.block(x:{block});"
    found = only(text)
    assert found.code == "DT190"
    assert [note.span.text for note in found.notes if note.span] == [f"x:{block}"]
    assert told(apply_edits(text, found.edits)) == []


def test_a_tile_larger_than_what_a_split_leaves() -> None:
    split = f"{MAP} f.block(x:64); f.split(x:xi/4);"
    assert told(f"{split} f.tensorize(xi:4, x:16);") == []
    assert told(f"{split} f.tensorize(xi:8);") == ["DT190 xi:8"]
    assert told(f"{split} f.tensorize(x:32);") == ["DT190 x:32"]


def test_labels_of_fused_funcs() -> None:
    fused = f"{TWO_PRODUCTS} mm.fuse_at(_2mm, l);"
    assert told(f"{fused} _2mm.tensorize(m:0, n:0, l:16, k:32, mm.l:64, _2mm.l:8);") == []
    assert told(f"{TWO_PRODUCTS} _2mm.tensorize(k:32);") == ["DT185 k"]


def test_labels_of_one_func_alone() -> None:
    fused = f"{TWO_PRODUCTS} mm.fuse_at(_2mm, l);"
    assert told(f"{fused} _2mm.tensorize(mm.n:16);") == ["DT185 n"]
    assert told(f"{fused} _2mm.tensorize(nn.l:16);") == ["DT185 nn"]
    assert told(f"{TWO_PRODUCTS} _2mm.tensorize(mm.l:16);") == ["DT185 mm"]


def test_the_tile_of_a_producer_alone_is_not_bound_by_a_block() -> None:
    fused = f"{TWO_PRODUCTS} mm.fuse_at(_2mm, m); _2mm.block(m:16);"
    assert told(f"{fused} _2mm.tensorize(mm.m:32);") == []
