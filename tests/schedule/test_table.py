"""Tables of who computes what: sizes, kernels of partial results, copies, a user's loops."""

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.element_table import ElementTable, Most, SizesError, Spot, tables
from dtpoly.schedule.fused_table import FusedTable, fused_tables
from tests.schedule.tables import scheduled
from tests.schedule.told import ATTENTION, MAP, SUM, TWO_PRODUCTS, read
from tests.schedule.user_primitives import Backwards

SHIFTED = "Func f, g; In A; Var x, y; g[x] = exp(A[x]); f[y] = g[y + 1]; f.compile();"


def only(text: str, **sizes: int) -> ElementTable:
    (table,) = tables(scheduled(text), sizes)
    return table


def programs(table: ElementTable) -> dict[tuple[int, ...], int]:
    return {element: spot.program for element, spot in table.spots.items()}


def fused(text: str, **sizes: int) -> list[FusedTable]:
    state = scheduled(text)
    return list(fused_tables(state, sizes, tables(state, sizes)))


def test_a_spot_has_its_place() -> None:
    table = only(MAP + "f.block(x:2); f.tensorize(y:2);", x=3, y=3)
    assert (table.kernel, table.statement, table.extents) == ("f", "f", (3, 3))
    assert (table.programs, table.iterations) == (2, 4)
    spot = table.spots[2, 1]
    assert spot == Spot(1, 0, (1,), spot.place)
    assert str(spot.place) == "kernel f, program (x 1), loop x = 2, loop y = 0, lane y 1"


def test_iterations_are_numbered_in_each_program() -> None:
    table = only(MAP + "f.block(x:2);", x=4, y=1)
    assert [spot.iteration for spot in table.spots.values()] == [0, 1, 0, 1]


def test_lanes_of_one_element_are_no_lanes() -> None:
    table = only(MAP + "f.tensorize(x:1, y:0);", x=2, y=2)
    assert [spot.lane for spot in table.spots.values()] == [(0,), (1,), (0,), (1,)]


@pytest.mark.parametrize("sizes", [{"x": 0, "y": 3}, {"x": 3, "y": 0}])
def test_no_elements(sizes: dict[str, int]) -> None:
    table = only(MAP + "f.block(x:2);", **sizes)
    assert (dict(table.spots), table.programs, table.iterations) == ({}, 0, 0)


def test_one_element_without_labels() -> None:
    table = only("Func f; In A; RVar k; f[] = rsum(A[k], k); f.compile();")
    assert (table.labels, list(table.spots)) == ((), [()])


def test_partial_results_have_a_table_of_blocks() -> None:
    first, final = tables(scheduled(SUM + "total.block(x:2, k:kb/3);"), {"x": 3, "k": 8})
    assert (first.statement, first.labels) == ("total.k.partial", ("x", "kb"))
    assert first.extents == (3, 3)
    assert [programs(first)[x, 1] for x in range(3)] == [2, 2, 3]
    assert programs(final) == {(0,): 0, (1,): 0, (2,): 1}


def test_atomic_results_have_one_of_what_is_added() -> None:
    identity, added = tables(
        scheduled(SUM + "total.block(k:3); total.atomic(k);"), {"x": 1, "k": 8}
    )
    assert (identity.statement, added.statement) == ("total.init", "total.update")
    assert programs(added) == {(0, 0): 0, (0, 1): 1, (0, 2): 2}


def test_a_loop_that_counts_otherwise() -> None:
    program = read("Func f; In A; Var x; f[x] = A[x]; f.backwards(x); f.compile();")
    chosen = bind(program.directives, (*DIRECTIVES, Backwards)).primitives
    (table,) = tables(resolve(program, chosen), {"x": 3})
    assert [spot.iteration for spot in table.spots.values()] == [2, 1, 0]


def test_sizes_that_follow_may_be_left_out() -> None:
    found = tables(scheduled(SHIFTED), {"y": 4})
    assert [table.extents for table in found] == [(5,), (4,)]


@pytest.mark.parametrize(
    ("text", "sizes", "words"),
    [
        (MAP, {"x": 4}, "the table needs the size of 'y', as in y=4"),
        (MAP, {}, "the table needs the size of 'x' and of 'y', as in x=4"),
        (MAP, {"x": 4, "y": 4, "z": 4}, "no size of 'z' is used"),
        (MAP, {"x": 4, "y": 65}, "'y' goes up to 65, a table up to 64; choose smaller sizes"),
        (SHIFTED, {"x": 4, "y": 4}, "the sizes x=4, y=4 do not fit together"),
        (
            "Func f; In A; Var x, y, z; f[x, y, z] = A[x, y, z]; f.compile();",
            {"x": 64, "y": 64, "z": 2},
            "there are 8192 elements, a table has 4096; choose smaller sizes",
        ),
    ],
)
def test_sizes_that_do_not_do(text: str, sizes: dict[str, int], words: str) -> None:
    with pytest.raises(SizesError) as caught:
        tables(scheduled(text), sizes)
    assert str(caught.value) == words


def test_larger_tables_if_asked() -> None:
    assert tables(scheduled(MAP), {"x": 4, "y": 65}, most=Most(65, 65**2))[0].extents == (4, 65)


def test_what_is_fused_is_computed_by_every_program_that_needs_it() -> None:
    text = TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2, n:3);"
    (table,) = fused(text, m=3, n=7, l=2)
    assert (table.func, table.kernel, table.labels) == ("mm", "_2mm", ("m", "l"))
    # By hand: listing 3.8's formula with two blocks of m and three of n.
    expected = {(m, x): tuple(m // 2 + 2 * n for n in range(3)) for m in range(3) for x in range(2)}
    assert table.programs == expected
    assert table.most == 3


def test_what_is_fused_in_a_chain() -> None:
    text = ATTENTION + (
        "attention.block(m:2); mm.fuse_at(e, l); dvsr.fuse_at(sm, m); sm.fuse_at(attention, m);"
        "e.fuse_at(attention, m);"
    )
    found = fused(text, m=4, n=2, l=2)
    assert {table.func for table in found} == {"mm", "e", "dvsr", "sm"}
    for table in found:
        assert set(table.programs) == set(
            (m, x)[: len(table.labels)] for m in range(4) for x in range(2)
        )
        assert all(who == (element[0] // 2,) for element, who in table.programs.items())


def test_what_is_fused_needs_its_sizes() -> None:
    text = TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2);"
    assert fused(text, m=3, n=7) == []


def test_what_nobody_reads_is_not_computed() -> None:
    text = "Func f, g; In A; Var x; g[x] = A[x]; f[x] = pad(g, 0)[x + 2]; f.compile();"
    (table,) = fused(text + "f.block(x:1); g.fuse_at(f, x);", x=4)
    assert table.programs == {(2,): (0,), (3,): (1,)}
