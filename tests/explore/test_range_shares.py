"""The share of instances and tiles that ranges leave, as the cost model counts it."""

import pytest

from dtpoly.algorithm.expressions import Affine
from dtpoly.explore.accesses.range_shares import TakenTiles, share

BELOW = Affine((("m", 1), ("k", -1)))  # k <= m
BAND = Affine((("k", 1), ("m", -1)), 7)  # m - 7 <= k
SQUARE = (("k", 64), ("m", 64))
ONE = (("m", 1), ("k", 1))
TILES = (("m", 16), ("k", 16))


def test_half_of_a_triangle() -> None:
    assert share((BELOW,), SQUARE, ONE, TakenTiles.SOME) == pytest.approx(0.5, abs=0.02)


def test_tiles_at_the_diagonal_count_as_some_and_not_as_all() -> None:
    assert share((BELOW,), SQUARE, TILES, TakenTiles.SOME) == 10 / 16
    assert share((BELOW,), SQUARE, TILES, TakenTiles.ALL) == 6 / 16


def test_a_band_of_tiles() -> None:
    assert share((BELOW, BAND), SQUARE, TILES, TakenTiles.SOME) == 7 / 16
    assert share((BELOW, BAND), SQUARE, TILES, TakenTiles.ALL) == 0


def test_sizes_in_a_range() -> None:
    half = Affine((("N_m", 1), ("k", -2)), -1)  # 2 * k < len(m)
    assert share((half,), SQUARE, ONE, TakenTiles.SOME) == 0.5


def test_everything_without_a_range_and_without_indices() -> None:
    assert share((), SQUARE, ONE, TakenTiles.SOME) == 1
    assert share((BELOW,), (("k", 0), ("m", 64)), ONE, TakenTiles.SOME) == 1
