"""Tests that values which a loop does not change are computed before it, and no others."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.hoisting import hoisted
from dtpoly.codegen.rewrites import without_detours
from dtpoly.codegen.scopes import OFFSET
from dtpoly.ir.kernel import (
    Accumulate,
    Fill,
    ForLoop,
    Instruction,
    Lanes,
    Let,
    Load,
    Step,
    Store,
)
from dtpoly.ir.kernel_text import show_steps
from dtpoly.ir.tile_values import Call, Converted, IndexValue, LiteralNumber, Value, Variable
from tests.codegen.listings import code

M, K = Affine((("m", 1),)), Affine((("k", 1),))
F32 = DType.F32


def steps(*instructions: Instruction) -> tuple[Step, ...]:
    """Return a body."""
    return tuple(Step(one, "") for one in instructions)


def loop(name: str, *body: Instruction) -> ForLoop:
    """Return a loop."""
    return ForLoop(name, Affine(), Affine((("size", 1),)), 1, steps(*body))


def shown(body: tuple[Step, ...]) -> list[str]:
    """Return the instructions, those of loops indented."""
    return list(show_steps(body))


def load(*indices: Affine) -> Load:
    """Return a tile of A."""
    axes = tuple(dict.fromkeys(n for i in indices for n in i.labels if n == "m"))
    return Load("A_tile", "A", indices, (), axes, None, F32)


def times(left: Value, right: Value) -> Call:
    """Return a product of tiles along m."""
    return Call("mul", (left, right), ("m",), F32)


def of(name: str) -> Variable:
    """Return a tile along m."""
    return Variable(name, ("m",), F32)


def test_the_address_of_what_is_known_outside() -> None:
    before = steps(Lanes("m", Affine(), 16), loop("k", load(M, K)), loop("k", load(M, K)))
    assert shown(hoisted(before, frozenset())) == [
        "lanes m = 16 from 0",
        "let A_at_m[m] = address of A[m, :]",
        "for k from 0 to below size",
        "  load A_tile[m] = A[m, k] from A_at_m",
        "for k from 0 to below size",
        "  load A_tile[m] = A[m, k] from A_at_m",
    ]


def test_nothing_where_there_is_no_loop() -> None:
    before = steps(Lanes("m", Affine(), 16), load(M, Affine()))
    assert hoisted(before, frozenset()) == before


def test_an_address_grows_from_loop_to_loop() -> None:
    index = Affine((("x", 1),))
    before = steps(Lanes("m", Affine(), 16), loop("x", loop("k", load(M, index, K))))
    assert shown(hoisted(before, frozenset({"A_at_m"}))) == [
        "lanes m = 16 from 0",
        "let A_at_m_2[m] = address of A[m, :, :]",
        "for x from 0 to below size",
        "  let A_at_m_x[m] = address of A_at_m_2[:, x, :]",
        "  for k from 0 to below size",
        "    load A_tile[m] = A[m, x, k] from A_at_m_x",
    ]


def test_a_value_that_no_iteration_changes() -> None:
    fixed = Call("exp", (of("b"),), ("m",), F32)
    before = steps(
        Let("b", Call("neg", (of("a"),), ("m",), F32), ("m",)),
        loop("k", load(M, K), Accumulate("acc", "rsum", times(of("A_tile"), fixed), ("m",), F32)),
    )
    assert shown(hoisted(before, frozenset({"m", "acc"})))[1:] == [
        "let A_at_m[m] = address of A[m, :]",
        "let exp_tile[m] = exp(b)",
        "for k from 0 to below size",
        "  load A_tile[m] = A[m, k] from A_at_m",
        "  rsum acc with A_tile * exp_tile",
    ]


def test_not_what_the_loop_itself_accumulates() -> None:
    grown = Call("exp", (of("acc"),), ("m",), F32)
    before = steps(
        Fill("acc", (16,), 0, F32),
        loop("k", Accumulate("acc", "rsum", grown, ("m",), F32)),
    )
    assert hoisted(before, frozenset({"m"})) == before


def test_not_again_once_an_operand_has_changed() -> None:
    grown = Call("exp", (of("acc"),), ("m",), F32)
    use = loop("k", Store("A", (M, K), (), times(grown, of("b")), ("m",), DType.F32))
    before = steps(Fill("acc", (16,), 0, F32), use, Fill("acc", (16,), 1, F32), use)
    values = [line for line in shown(hoisted(before, frozenset({"m", "b"}))) if "exp(" in line]
    assert values == ["let mul_tile[m] = exp(acc) * b", "let mul_tile_2[m] = exp(acc) * b"]


def test_division_of_whole_numbers_stays_in_its_loop() -> None:
    """It would fail where the loop runs zero times."""
    part = Call("div", (of("a"), of("b")), ("m",), DType.I32)
    value = Call("add", (part, LiteralNumber(1)), ("m",), DType.I32)
    before = steps(loop("k", Accumulate("acc", "rsum", value, ("m",), DType.I32)))
    assert hoisted(before, frozenset({"m", "a", "b"})) == before


def test_an_index_that_counts_from_where_it_stands() -> None:
    text = code("listing_3_14_swish_partly_fused").text
    assert "x - x_start" not in text
    assert without_detours(steps(load(M, K))) == steps(load(M, K))


def test_what_cancels_leaves_an_index_as_wide_as_offsets() -> None:
    """Of `y` and what loops count, which has 32 bits, the first is multiplied by a stride."""
    start, y = Affine((("y_start", 1),)), Affine((("y", 1),))
    at_y = Let("y", Converted(IndexValue(start, ()), (), OFFSET), ())
    twice = Let("twice", Converted(IndexValue(start.scaled(2), ()), (), OFFSET), ())
    index = y.scaled(3) - Affine((("twice", 1),), 7)
    known = loop("y_start", at_y, twice, load(index), load(start - y))
    assert shown(without_detours(steps(known)))[3:] == [
        "  load A_tile = A[y - 7]",
        "  load A_tile = A[0]",
    ]
    unknown = steps(loop("y_start", twice, load(Affine((("twice", 1),)) - start)))
    assert without_detours(unknown) == unknown


def test_what_cancels_leaves_no_size_alone() -> None:
    """A size may have 32 bits; and only what is as wide as offsets stands for an index."""
    n = Affine((("n", 1),))
    twice = Let("twice", Converted(IndexValue(n.scaled(2), ()), (), OFFSET), ())
    body = steps(twice, load(Affine((("twice", 1),)) - n))
    assert without_detours(body, ["n"]) == body
    narrow = Let("m", Converted(IndexValue(n, ()), (), DType.I8), ())
    body = steps(narrow, load(M - n))
    assert without_detours(body) == body
