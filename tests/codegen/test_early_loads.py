"""Tests that loads which a loop does not change come before it, where they are done anyway."""

from dataclasses import replace

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.early_loads import MOST_LANES, with_early_loads
from dtpoly.ir import tile_values
from dtpoly.ir.kernel import (
    Accumulate,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    Mask,
    Step,
    Store,
)
from dtpoly.ir.tile_values import Variable

F32 = DType.F32
SIZE = Affine((("size", 1),))
X, M, K = (Affine(((name, 1),)) for name in ("x_start", "m", "k"))
LAST = SIZE - Affine((), 1)
IN_M = tile_values.Test(LAST - M, ("m",), name="m_mask", own=("m",))
MASK = Mask("m_mask", replace(IN_M, name=None, own=()))
USE = Accumulate("acc", "rsum", Variable("T_value", (), F32), (), F32)
ONE = Load("T_value", "T", (X,), (), (), None, F32)
ROW = Load("T_tile", "T", (M,), (IN_M,), ("m",), 0, F32)


def steps(*instructions: Instruction) -> tuple[Step, ...]:
    """Return a body."""
    return tuple(Step(one, "") for one in instructions)


def loop(*body: Instruction, stop: Affine = SIZE) -> ForLoop:
    """Return a loop over k."""
    return ForLoop("k", Affine(), stop, 1, steps(*body))


def after(*instructions: Instruction) -> tuple[Step, ...]:
    """Return what a body becomes where `x_start` is an index of T."""
    extents = {"T": (frozenset({"size"}),)}
    return with_early_loads(steps(*instructions), extents, {"x_start": LAST})


def test_a_number() -> None:
    assert after(loop(ONE, USE)) == steps(ONE, loop(USE))


def test_not_again_behind_the_loop() -> None:
    end = If((), steps(ONE, USE), "even")
    body = (loop(ONE, USE), end, loop(ONE, USE))
    assert after(*body) == steps(ONE, loop(USE), replace(end, body=steps(USE)), loop(USE))


def test_out_of_several_loops() -> None:
    assert after(replace(loop(loop(ONE, USE)), name="j")) == steps(
        ONE, replace(loop(loop(USE)), name="j")
    )


@pytest.mark.parametrize("start", [Affine(), X])
def test_lanes_that_are_masked(start: Affine) -> None:
    lanes = Lanes("m", start, 8)
    assert after(lanes, MASK, loop(ROW)) == steps(lanes, MASK, ROW, loop())


def test_lanes_that_an_outer_loop_keeps_inside() -> None:
    lanes = Lanes("m", Affine((("m_start", 1),)), 8)
    row = replace(ROW, conditions=())
    inner = steps(lanes, loop(row))
    outer = ForLoop("m_start", Affine(), SIZE - Affine((), 7), 8, inner)
    assert after(outer) == steps(replace(outer, body=steps(lanes, row, loop())))
    further = replace(outer, stop=SIZE - Affine((), 6))
    assert after(further) == steps(further)


LANES = Lanes("m", Affine(), 8)
# A load at data, `T[first + m]`, as it stands in a loop.
HERE = tile_values.IndexValue(M, ("m",))
TOTAL = tile_values.Call("add", (Variable("first", (), DType.I64), HERE), ("m",), DType.I64)
PLACE = Variable("T_at", ("m",), DType.I64)
AT = Let("T_at", TOTAL, ("m",))
ZERO = tile_values.LiteralNumber(0)
INSIDE = Let("T_inside", tile_values.Call("ge", (PLACE, ZERO), ("m",), DType.BOOL), ("m",))
IS_INSIDE = tile_values.Test(Affine(), ("m",), name="T_inside", own=("m",))
GATHER = replace(
    ROW,
    indices=(Affine((("T_at", 1),)),),
    conditions=(IN_M, IS_INSIDE),
    taken=(PLACE,),
)


def test_at_data_with_the_values_of_its_index() -> None:
    body = (LANES, MASK, loop(AT, INSIDE, GATHER, USE))
    assert after(*body) == steps(LANES, MASK, AT, INSIDE, GATHER, loop(USE))


QUOTIENT = tile_values.Call("mod", (HERE, Variable("first", (), DType.I64)), ("m",), DType.I64)
COUNTED = tile_values.Call("add", (tile_values.IndexValue(K, ()), HERE), ("m",), DType.I64)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param((replace(AT, value=COUNTED), INSIDE, GATHER), id="an index of the loop"),
        pytest.param((replace(AT, value=QUOTIENT), INSIDE, GATHER), id="a remainder by 0"),
        pytest.param((AT, INSIDE, replace(GATHER, conditions=(IN_M,))), id="no test"),
        pytest.param((AT, INSIDE, GATHER, AT), id="an index that is set again"),
        pytest.param((AT, MASK, INSIDE, GATHER, MASK), id="a mask of the loop"),
        pytest.param((AT, INSIDE, replace(GATHER, tensor="B")), id="a tensor that is written"),
        pytest.param(
            (
                AT,
                replace(INSIDE, value=Variable("first", (), DType.BOOL)),
                GATHER,
                replace(AT, name="first"),
            ),
            id="a value that the loop sets",
        ),
    ],
)
def test_what_is_at_data_stays_where_it_may_change(body: tuple[Instruction, ...]) -> None:
    assert after(LANES, loop(*body)) == steps(LANES, loop(*body))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param((loop(replace(ONE, indices=(K,)), USE),), id="what the loop counts"),
        pytest.param((loop(LANES, MASK, ROW),), id="lanes of the loop"),
        pytest.param((loop(replace(ONE, indices=(Affine(),))),), id="there may be no element 0"),
        pytest.param((loop(replace(ONE, indices=(X + Affine((), 1),))),), id="one behind the last"),
        pytest.param(
            (loop(replace(ONE, indices=(X - Affine((), 1),))),), id="one before the first"
        ),
        pytest.param((loop(replace(ONE, indices=(LAST - X,))),), id="from the end"),
        pytest.param((loop(replace(ONE, indices=(M,))),), id="a variable that nothing bounds"),
        pytest.param((LANES, loop(replace(ROW, conditions=()))), id="lanes behind the end"),
        pytest.param(
            (Lanes("m", X - Affine((), 1), 8), MASK, loop(ROW)), id="lanes before the start"
        ),
        pytest.param(
            (LANES, MASK, loop(replace(ROW, conditions=(replace(IN_M, unless="even"),)))),
            id="a mask that a flag makes void",
        ),
        pytest.param((replace(LANES, count=2 * MOST_LANES), MASK, loop(ROW)), id="many registers"),
        pytest.param((replace(LANES, count="m_lanes"), MASK, loop(ROW)), id="who knows how many"),
        pytest.param((loop(replace(ONE, tensor="B"), USE),), id="a tensor that is written"),
        pytest.param((loop(ONE, USE, replace(USE, name="T_value")),), id="it is accumulated into"),
        pytest.param(
            (loop(ONE, USE), loop(replace(ONE, tensor="B"))), id="its name stands for another too"
        ),
        pytest.param((LANES, MASK, loop(ROW), LANES), id="lanes that are set again"),
        pytest.param((loop(If((), steps(ONE, USE))),), id="only on a condition"),
        pytest.param((loop(Store("B", (K,), (), Variable("a", (), F32), (), F32)),), id="no load"),
    ],
)
def test_what_stays_as_it_is(body: tuple[Instruction, ...]) -> None:
    assert after(*body) == steps(*body)
