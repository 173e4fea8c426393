"""Parts of kernels under other names."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.parts import renamed, walk
from dtpoly.ir.tile_values import Call, IndexValue, Variable

X, Y = Variable("x", ("i",), DType.F32), Variable("y", ("j",), DType.F32)
INNER = Call("-", (Y, X), ("i", "j"), DType.F32)
BOTH = Call("+", (X, INNER), ("i", "j"), DType.F32)


def test_what_has_none_of_the_names_stays_the_same_object() -> None:
    found = renamed(BOTH, {"y": "z"})
    assert found is not BOTH
    assert isinstance(found, Call)
    assert found.operands[0] is X
    assert renamed(BOTH, {"z": "y"}) is BOTH
    assert renamed(BOTH, {"x": "x"}) is BOTH


def test_names_are_exchanged_at_once() -> None:
    found = renamed((X, Y), {"x": "y", "y": "x", "i": "j"})
    assert [(one.name, one.axes) for one in found] == [("y", ("j",)), ("x", ("j",))]


def test_an_index_gets_the_names_too() -> None:
    index = IndexValue(Affine((("x", 2), ("i", 1)), 3), ("i",))
    found = renamed(index, {"x": "z"})
    assert found.index == Affine((("z", 2), ("i", 1)), 3)
    assert renamed(index, {"q": "z"}) is index


def test_words_that_are_no_names_stay() -> None:
    found = renamed(BOTH, {"+": "*", "f32": "f16"})
    assert found.operation == "+"
    assert found.dtype is DType.F32


def test_a_walk_goes_from_the_left_to_the_right() -> None:
    assert list(walk(BOTH)) == [BOTH, X, INNER, Y, X]
