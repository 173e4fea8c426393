"""A few small sizes at which kernels are tried."""

from dtpoly.ring.small_sizes import few_sizes
from tests.verify.texts import written


def test_one_then_apart_then_ragged() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:16); f.tensorize(x:0);")
    assert list(few_sizes(program)) == [
        {"x": 1, "y": 1},
        {"x": 3, "y": 5},
        {"x": 17, "y": 3},
        {"x": 12, "y": 20},
        {"x": 33, "y": 5},
        {"x": 31, "y": 5},
    ]


def test_large_numbers_are_left_out() -> None:
    program = written("Func f; In A; Var x; f[x] = A[x]; f.block(x:4096);")
    assert list(few_sizes(program)) == [{"x": 1}, {"x": 3}, {"x": 41}, {"x": 12}]


def test_a_larger_number_is_tried_by_itself() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:16, y:256);")
    found = list(few_sizes(program))
    assert found[2:5] == [{"x": 17, "y": 41}, {"x": 12, "y": 20}, {"x": 33, "y": 41}]
    assert found[5:7] == [{"x": 3, "y": 257}, {"x": 3, "y": 513}]


def test_almost_two_tiles_and_a_block_off_both_edges() -> None:
    program = written("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:16, y:256);")
    assert list(few_sizes(program))[7:] == [
        {"x": 31, "y": 5},
        {"x": 3, "y": 511},
        {"x": 17, "y": 257},
    ]


def test_sizes_that_follow_from_others() -> None:
    program = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x + k], k); f.block(x:2);")
    for sizes in few_sizes(program):
        assert set(sizes) == {"x", "k"}


def test_a_program_without_labels() -> None:
    assert list(few_sizes(written("Func f; SIn a; f[] = a;"))) == [{}]
