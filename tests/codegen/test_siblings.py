"""Loops side by side become one where that loads less, and nowhere else."""

from dataclasses import replace

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.siblings import MOST_LANES, joined_loops
from dtpoly.ir import tile_values
from dtpoly.ir.kernel import (
    Accumulate,
    Barrier,
    Collapse,
    Fill,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    LoopScalar,
    Product,
    Select,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.kernel_text import show_steps
from dtpoly.ir.tile_values import Call, Value, Variable
from dtpoly.poly.loops import Combined, Compared

F32 = DType.F32
START, Y, SIZE = (Affine(((name, 1),)) for name in ("y_start", "y", "size"))
LANES = Lanes("y", START, 8)
ENDS = (Compared(SIZE, Affine((), 1)),)


def steps(*instructions: Instruction) -> tuple[Step, ...]:
    """Return a body."""
    return tuple(Step(one, "") for one in instructions)


def loop(*body: Instruction, lanes: Lanes = LANES, stop: Affine = SIZE, step: int = 8) -> ForLoop:
    """Return a loop over tiles of y."""
    return ForLoop("y_start", Affine(), stop, step, steps(lanes, *body))


def load(tensor: str = "A", name: str = "A_tile") -> Load:
    """Return a tile along y."""
    return Load(name, tensor, (Y,), (), ("y",), None, F32)


def tile(name: str = "A_tile") -> Variable:
    """Return a tile along y."""
    return Variable(name, ("y",), F32)


def store(tensor: str, atomic: str | None = None) -> Store:
    """A tile of A is written."""
    return Store(tensor, (Y,), (), tile(), ("y",), F32, atomic)


def add(name: str, value: Value | None = None) -> Accumulate:
    """Return a step of a sum."""
    return Accumulate(name, "rsum", tile() if value is None else value, ("y",), F32)


def fill(name: str) -> Fill:
    """Return a sum before its loop."""
    return Fill(name, (8,), 0, F32)


def total(name: str) -> Collapse:
    """Return a sum after its loop."""
    return Collapse(f"{name}_sum", name, "rsum", ("y",), ())


def shown(*instructions: Instruction) -> list[str]:
    """Return what a body becomes."""
    return list(show_steps(joined_loops(steps(*instructions), frozenset({"size"}))))


FIRST = (fill("a"), loop(load(), add("a")))
SECOND = (fill("b"), loop(load(), add("b")))


def test_what_both_load_is_loaded_once() -> None:
    assert shown(*FIRST, total("a"), *SECOND, total("b")) == [
        "fill a = 0, 8 of f32",
        "fill b = 0, 8 of f32",
        "for y_start from 0 to below size by 8",
        "  lanes y = 8 from y_start",
        "  load A_tile[y] = A[y]",
        "  rsum a with A_tile",
        "  rsum b with A_tile",
        "let a_sum = rsum of a[y]",
        "let b_sum = rsum of b[y]",
    ]


def test_their_ends_too() -> None:
    ends = [If(ENDS, steps(Lanes("y", SIZE, 8), load(), add(name)), "even") for name in "ab"]
    found = shown(*FIRST, ends[0], total("a"), *SECOND, ends[1], total("b"))
    assert [line.split()[0] for line in found if not line.startswith(" ")] == [
        *("fill", "fill", "for", "if", "let", "let"),
    ]
    assert sum("load" in line for line in found) == 2
    other = shown(*FIRST, ends[0], total("a"), *SECOND, replace(ends[1], unless="odd"))
    assert sum("load" in line for line in other) == 3


def test_names_of_one_are_not_those_of_the_other() -> None:
    squares = Let("part", Call("mul", (tile(), tile()), ("y",), F32), ("y",))
    sums = Let("part", Call("add", (tile(), tile("B_tile")), ("y",), F32), ("y",))
    found = shown(
        loop(load(), squares, add("a", tile("part"))),
        loop(load("A", "tile"), load("B", "A_tile"), replace(sums, value=tile("tile")), add("b")),
    )
    assert found[1:] == [
        "  lanes y = 8 from y_start",
        "  load A_tile[y] = A[y]",
        "  let part[y] = A_tile * A_tile",
        "  rsum a with part",
        "  load A_tile_2[y] = B[y]",
        "  let part_2[y] = A_tile",
        "  rsum b with A_tile_2",
    ]


def test_another_counter() -> None:
    again = loop(load(), add("b"), lanes=Lanes("y", Affine((("z", 1),)), 8))
    found = shown(*FIRST, replace(again, name="z"))
    assert found[1:] == [
        "for y_start from 0 to below size by 8",
        "  lanes y = 8 from y_start",
        "  load A_tile[y] = A[y]",
        "  rsum a with A_tile",
        "  rsum b with A_tile",
    ]


def test_loops_inside() -> None:
    rows = [ForLoop("x", Affine(), SIZE, 1, steps(*one)) for one in (FIRST, SECOND)]
    assert [line.strip().split()[0] for line in shown(*rows)] == [
        *("for", "fill", "fill", "for", "lanes", "load", "rsum", "rsum"),
    ]


NEEDED = add("b", Call("mul", (tile(), Variable("a_sum", (), F32)), ("y",), F32))
WIDE = Lanes("y", START, MOST_LANES // 2 + 1)
UNKNOWN = Lanes("y", START, "y_lanes")
BEST = Select("b", "b_at", "rargmax", tile(), tile(), ("y",))
MATRIX = Product("b", tile(), ("x", "y"), tile(), ("y", "z"), F32, None)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param((*FIRST, total("a"), fill("b"), loop(load(), NEEDED)), id="its result"),
        pytest.param((*FIRST, loop(load(), add("b", tile("a")))), id="what it accumulates"),
        pytest.param((*FIRST, loop(load(), add("a"))), id="the same accumulator"),
        pytest.param((*FIRST, loop(load("B"), add("b"))), id="other elements"),
        pytest.param((*FIRST, loop(load(), add("b"), stop=Y)), id="other bounds"),
        pytest.param((*FIRST, loop(load(), add("b"), step=4)), id="another step"),
        pytest.param((*FIRST, replace(SECOND[1], unroll=2)), id="unrolled"),
        pytest.param((*FIRST, loop(load(), store("A"))), id="a store to what the first loads"),
        pytest.param(
            (loop(load("B"), store("A")), loop(load("B"), load(), add("b"))),
            id="a store to what the second loads",
        ),
        pytest.param(
            (*FIRST, Store("A", (SIZE,), (), tile(), (), F32), *SECOND), id="a store between"
        ),
        pytest.param((*FIRST, loop(load(), store("C", "rsum"))), id="an atomic"),
        pytest.param((*FIRST, loop(load(), Barrier(), add("b"))), id="a barrier"),
        pytest.param((*FIRST, replace(SECOND[1], is_pipelined=False)), id="through memory"),
        pytest.param((*FIRST, loop(load(), MATRIX)), id="a product"),
        pytest.param(
            [loop(load(), add(name), lanes=WIDE) for name in "ab"], id="too many registers"
        ),
        pytest.param(
            [loop(load(), one, lanes=UNKNOWN) for one in (add("a"), BEST)],
            id="three rows of who knows how many",
        ),
        pytest.param(
            [
                loop(load(), one, lanes=replace(WIDE, count=MOST_LANES // 2))
                for one in (add("a"), BEST)
            ],
            id="two tiles for the best and its index",
        ),
        pytest.param((*FIRST, ForLoop("x", Affine(), Y, 1, ()), *SECOND), id="a loop between"),
        pytest.param((*FIRST, *SECOND, add("b", tile("y_start"))), id="a counter that is kept"),
        pytest.param(
            (*FIRST, loop(load(), Let("y_start", tile(), ("y",)), add("b"))),
            id="a counter that is set",
        ),
    ],
)
def test_what_stays_as_it_is(body: tuple[Instruction, ...]) -> None:
    assert joined_loops(steps(*body), frozenset({"size"})) == steps(*body)


def test_two_rows_are_joined_whose_lengths_a_call_decides() -> None:
    found = shown(*(loop(load(), add(name), lanes=UNKNOWN) for name in "ab"))
    assert sum("load" in line for line in found) == 1


def test_a_name_that_means_something_else_by_then() -> None:
    """The tile is loaded again where it was written over, or where other lanes are meant."""
    other = Load("A_tile", "A", (Y,), (tile_values.Test(Y, ("y",)),), ("y",), 0, F32)
    found = shown(*FIRST, loop(load(name="B_tile"), other, add("b")))
    assert [line.strip() for line in found if "load" in line] == [
        "load A_tile[y] = A[y]",
        "load A_tile_2[y] = A[y] where 0 <= y else 0",
    ]


def whole(*body: Instruction, rest: tuple[Instruction, ...] | None = None) -> TiledLoop:
    """A loop over whole tiles of y, and over what is left of it."""
    begin = LoopScalar("y_start", Combined("-", (SIZE, Combined("%", (SIZE, Affine((), 8))))))
    tail = steps(begin, LANES, *(body if rest is None else rest))
    return TiledLoop("y_start", SIZE, 8, steps(LANES, *body), tail, "y")


def test_a_tiled_loop_is_joined_with_its_tail() -> None:
    first, second = whole(load(), add("a")), whole(load(), add("b"))
    made = joined_loops(steps(first, fill("b"), second, total("a")), frozenset({"size"}))
    assert made == steps(fill("b"), whole(load(), add("a"), add("b")), total("a"))


def test_three_tiled_loops_are_one() -> None:
    made = joined_loops(steps(*(whole(load(), add(one)) for one in "abc")), frozenset({"size"}))
    assert made == steps(whole(load(), add("a"), add("b"), add("c")))


def test_names_of_a_tail_are_its_own() -> None:
    squares = Let("part", Call("mul", (tile(), tile()), ("y",), F32), ("y",))
    twice = replace(squares, value=Call("add", (tile(), tile()), ("y",), F32))
    first, second = (
        whole(load(), one, add(to, tile("part")))
        for to, one in zip("ab", (squares, twice), strict=True)
    )
    found = shown(first, second)
    assert [line.strip() for line in found if "let part" in line] == [
        *("let part[y] = A_tile * A_tile", "let part_2[y] = A_tile + A_tile"),
        *("let part[y] = A_tile * A_tile", "let part_3[y] = A_tile + A_tile"),
    ]


def test_tiled_loops_inside_of_one_are_joined() -> None:
    inner = [whole(load(), add(name)) for name in "ab"]
    outer = TiledLoop("x_start", SIZE, 4, steps(*inner), steps(*inner), "x")
    once = steps(whole(load(), add("a"), add("b")))
    assert joined_loops(steps(outer), frozenset({"size"})) == steps(
        replace(outer, main=once, tail=once)
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            (whole(load(), add("a")), whole(load(), add("b"), rest=(load("B"), add("b")))),
            id="the tails have nothing in common",
        ),
        pytest.param(
            (whole(load(), add("a")), whole(load(), add("b"), rest=(load(), add("a")))),
            id="the second tail goes on with the first sum",
        ),
        pytest.param(
            (whole(load(), add("a")), replace(whole(load(), add("b")), unless="even")),
            id="one tail is left out under a flag",
        ),
        pytest.param(
            (whole(load(), add("a")), loop(load(), add("b"))), id="a loop that has no tail"
        ),
        pytest.param(
            (whole(load(), add("a")), whole(load("B"), add("c")), whole(load(), add("b"))),
            id="another loop between",
        ),
        pytest.param(
            (whole(load(), add("a"), rest=(load(), Barrier(), add("a"))), whole(load(), add("b"))),
            id="lanes wait in a tail",
        ),
    ],
)
def test_tiled_loops_that_stay_apart(body: tuple[Instruction, ...]) -> None:
    assert joined_loops(steps(*body), frozenset({"size"})) == steps(*body)
