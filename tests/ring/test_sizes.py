"""A few small sizes at which kernels are tried."""

from dtpoly.ring.small_sizes import few_sizes
from tests.verify.texts import written


def test_one_then_apart_then_ragged() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:16); f.tensorize(x:0);")
    assert list(few_sizes(program)) == [
        {"x": 1, "y": 1},
        {"x": 3, "y": 5},
        {"x": 17, "y": 3},
        {"x": 33, "y": 5},
        {"x": 16, "y": 2},
        {"x": 12, "y": 20},
        {"x": 31, "y": 5},
    ]


def test_large_numbers_are_left_out() -> None:
    program = written("Func f; In A; Var x; f[x] = A[x]; f.block(x:4096);")
    assert list(few_sizes(program)) == [{"x": 1}, {"x": 3}, {"x": 41}, {"x": 40}, {"x": 12}]


def test_a_larger_number_is_tried_by_itself() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:16, y:256);")
    found = list(few_sizes(program))
    assert found[2:5] == [{"x": 17, "y": 41}, {"x": 33, "y": 41}, {"x": 16, "y": 40}]
    assert found[5:8] == [{"x": 12, "y": 20}, {"x": 3, "y": 257}, {"x": 3, "y": 513}]


def test_almost_two_tiles_and_a_block_off_both_edges() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:16, y:256);")
    assert list(few_sizes(program))[8:] == [
        {"x": 31, "y": 5},
        {"x": 3, "y": 511},
        {"x": 17, "y": 257},
    ]


PARTS = """
Func f, top; In A; Var x; RVar k{range};
top[x] = rmax(A[x, k], k); f[x] = rsum(exp(A[x, k] - reshape(top[x], x, 1)), k);
f.block(x:4, k:p/64); f.tensorize(x:0, k:16, p:8); top.online(f, k); f.compile();
"""


def test_two_parts_then_more_than_tiles_of_parts() -> None:
    """The last part has a whole tile of 16 and one index; nine whole ones are one more than 8."""
    found = list(few_sizes(written(PARTS.format(range=""))))
    columns = [one["k"] for one in found[:4] if one["x"] in (1, 4)]
    assert columns == [1, 81, 9 * 64 + 17, 17 * 64 + 17]


def test_as_many_rows_as_columns_where_a_range_depends_on_the_row() -> None:
    found = list(few_sizes(written(PARTS.format(range=" in [0, x + 1)"))))
    assert {"x": 81, "k": 81} in found
    assert {"x": 593, "k": 593} in found


def test_almost_three_tiles_where_there_are_ranges() -> None:
    given = "Func f; In A; Var x; RVar y{range}; f[x] = rsum(A[x, y], y); f.block(x:16);"
    given += "f.tensorize(x:0, y:16);"
    ranged = list(few_sizes(written(given.format(range=" in [0, x + 1)"))))
    assert {"x": 45, "y": 45} in ranged
    assert {"x": 45, "y": 45} not in list(few_sizes(written(given.format(range=""))))


def test_parts_without_a_name_for_their_tile() -> None:
    text = PARTS.format(range="").replace(", p:8", "")
    assert list(few_sizes(written(text)))[1:4] == [
        {"x": 4, "k": 64 * parts + 17} for parts in (1, 2, 3)
    ]


def test_sizes_that_follow_from_others() -> None:
    program = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x + k], k); f.block(x:2);")
    for sizes in few_sizes(program):
        assert set(sizes) == {"x", "k"}


def test_a_program_without_labels() -> None:
    assert list(few_sizes(written("Func f; SIn a; f[] = a;"))) == [{}]
