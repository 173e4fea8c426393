"""Tiles are converted once, where they are loaded, if every use wants the same type."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.loading import converted_at_loads
from dtpoly.ir.kernel import Accumulate, ForLoop, Instruction, Let, Load, Select, Step, Store
from dtpoly.ir.kernel_text import show_steps
from dtpoly.ir.tile_values import Call, Converted, Value, Variable

M = Affine((("m", 1),))
LOAD = Load("A_tile", "A", (M,), (), ("m",), None, DType.F16)
TILE = Variable("A_tile", ("m",), DType.F16)
WIDE = Converted(TILE, ("m",), DType.F32)


def after(*instructions: Instruction) -> list[str]:
    """Return what a body becomes."""
    return list(show_steps(converted_at_loads(tuple(Step(one, "") for one in instructions))))


def added(value: Value) -> Accumulate:
    """Return a step of a sum."""
    return Accumulate("acc", "rsum", value, ("m",), DType.F32)


def test_a_type_that_all_uses_want() -> None:
    both = Call("mul", (WIDE, WIDE), ("m",), DType.F32)
    loop = ForLoop("k", Affine(), M, 1, (Step(added(WIDE), ""),))
    assert after(LOAD, added(both), loop) == [
        "load A_tile[m] = A[m] as f32",
        "rsum acc with A_tile * A_tile",
        "for k from 0 to below m",
        "  rsum acc with A_tile",
    ]


def test_not_where_one_use_wants_another() -> None:
    narrow = Store("B", (M,), (), TILE, ("m",), DType.F32)
    assert after(LOAD, added(WIDE), narrow) == [
        "load A_tile[m] = A[m]",
        "rsum acc with f32(A_tile)",
        "store B[m] = A_tile",
    ]


def test_each_load_of_a_name_for_itself() -> None:
    wider = Converted(TILE, ("m",), DType.F64)
    assert after(LOAD, added(WIDE), LOAD, added(wider)) == [
        "load A_tile[m] = A[m] as f32",
        "rsum acc with A_tile",
        "load A_tile[m] = A[m] as f64",
        "rsum acc with A_tile",
    ]


def test_not_what_is_accumulated_into() -> None:
    best = Select("A_tile", "A_at", "rargmax", WIDE, WIDE, ("m",))
    assert after(LOAD, best)[0] == "load A_tile[m] = A[m]"


def test_no_second_name_for_it() -> None:
    base = Variable("base", ("m",), DType.F32)
    square = Call("mul", (base, base), ("m",), DType.F32)
    assert after(LOAD, Let("base", WIDE, ("m",)), added(square)) == [
        "load A_tile[m] = A[m] as f32",
        "rsum acc with A_tile * A_tile",
    ]
