"""A row that two runs compute in two ways is written out, with the grouping of both."""

from pathlib import Path

import numpy as np
import pytest

from dtpoly.algorithm.program import Program
from dtpoly.ring.grouping_texts import TreeRecord, groupings, name_elements, recorded
from dtpoly.ring.hand_launches import NoLaunch, called_by_hand, hand_lines
from dtpoly.ring.rounding_trees import add, mark, multiply, number, summed
from dtpoly.ring.row_trials import row_that_differs
from dtpoly.runtime.load import load_module
from tests.batch.bits_mutants import ROW_SUM, text_of
from tests.batch.test_row_trees import program_of

FOLDER = Path(__file__).parents[1] / "data" / "handwritten"
SUMS = "Func s; In A: f32; Var x; RVar y; s[x] = rsum(A[x, y], y);"
ATOMIC = """import triton
import triton.language as tl

# verify: sums[(len(x), cdiv(len(y), 16))](
#     s, A, A.stride(0), len(y)
# )
# assume: reach(A) < 2**31


@triton.jit
def sums(out, a, row, n):
    at = tl.program_id(0)
    y = tl.program_id(1) * 16 + tl.arange(0, 16)
    tile = tl.load(a + at * row + y, mask=y < n, other=0.0)
    tl.atomic_add(out + at, tl.sum(tile, 0))
"""


def of_four() -> tuple[TreeRecord, list[np.ndarray]]:
    """A record with the names of four elements, and their marks."""
    record = TreeRecord()
    values = np.array([float(mark("element", float(at))) for at in range(4)])
    name_elements(record, values, lambda at: f"A[{at[0]}]")
    return record, [np.asarray(one) for one in values]


def test_two_sums_are_written_with_their_brackets() -> None:
    with recorded() as record:
        names, (a, b, c, d) = of_four()
        in_pairs = add(add(a, b), add(c, d))
        one_by_one = add(a, add(b, add(c, d)))
    record.nodes.update(names.nodes)
    found = groupings(record, float(in_pairs), float(one_by_one))
    assert found is not None
    assert (found.first, found.second) == ("((x0 + x1) + x2)", "(x0 + (x1 + x2))")
    assert found.names == {"x0": "A[0]", "x1": "A[1]", "x2": "(A[2] + A[3])"}


def test_only_the_part_that_differs_is_written() -> None:
    with recorded() as record:
        names, (a, b, c, d) = of_four()
        first = multiply(mark("exp", add(add(a, b), c)), d)
        second = multiply(mark("exp", add(a, add(b, c))), d)
    record.nodes.update(names.nodes)
    found = groupings(record, float(first), float(second))
    assert found is not None
    assert (found.first, found.second) == ("((x0 + x1) + x2)", "(x0 + (x1 + x2))")
    assert groupings(record, float(first), float(first)) is None


def test_lanes_of_a_tile_and_written_numbers() -> None:
    with recorded() as record:
        names, (a, b, c, _) = of_four()
        lanes = np.stack([a, b, c, *[np.asarray(0.0)] * 13])
        one = summed(lanes, 0, (16,))
        other = add(add(a, b), multiply(c, np.asarray(number(0.5))))
    record.nodes.update(names.nodes)
    found = groupings(record, float(one), float(other))
    assert found is not None
    assert found.first == "tl.sum(x0, x1, x2, 0, ..., 0: 16 lanes)"
    assert found.second == "((x0 + x1) + (x2 * 0.5))"


def test_two_lanes_have_one_sum_whatever_the_shape() -> None:
    _, (a, b, c, _) = of_four()
    zero = np.asarray(0.0)
    sums = [summed(np.stack(lanes), 0, (len(lanes),)) for lanes in ((a, b), (zero, b, zero, a))]
    assert sums[0] == sums[1] == add(a, b)
    assert summed(np.stack([a, b, c]), 0, (3,)) != summed(np.stack([a, b, c, zero]), 0, (4,))


def program_of_sums() -> Program:
    return program_of(SUMS)


def test_the_order_of_atomic_additions_is_shown_in_two_runs() -> None:
    found = row_that_differs(program_of_sums(), ATOMIC, "s", "x", (), 20.0)
    assert found is not None
    assert found.is_of_order
    assert found.calls[0] == found.calls[1]
    # There must be three programs: two numbers have one sum.
    assert found.calls[0].sizes["y"] == 33
    assert found.groupings is not None
    first, second = found.groupings.first, found.groupings.second
    assert (first, second) == ("((x0 + x1) + x2)", "(x0 + (x1 + x2))")


def test_atomic_additions_of_a_generated_file_are_refuted() -> None:
    algorithm = ROW_SUM.replace("x:4);", "x:4, y:16);", 1).replace("y:32", "y:0")
    algorithm = algorithm.replace("s.compile", "s.atomic(y); s.compile").replace(
        "In A", "In A: f32"
    )
    found = row_that_differs(program_of(algorithm), text_of(algorithm), "s", "x", (), 20.0)
    assert found is not None
    assert found.is_of_order


def test_without_atomic_additions_the_order_of_programs_is_not_looked_at() -> None:
    text = ATOMIC.replace("tl.atomic_add(", "tl.store(").replace("cdiv(len(y), 16)", "1")
    text = text.replace("16 + tl.arange(0, 16)", "64 + tl.arange(0, 64)")
    assert row_that_differs(program_of_sums(), text, "s", "x", (), 20.0) is None


def test_a_promise_that_a_call_breaks_is_no_call() -> None:
    program = program_of(SUMS)
    text = ATOMIC.replace("reach(A) < 2**31", "len(y) % 16 == 0")
    assert [one.word for one in hand_lines(text)] == ["verify", "assume"]
    module = load_module(text, "promised")
    with pytest.raises(NoLaunch, match="does not keep"):
        called_by_hand(module, text, program, "s", {"x": 1, "y": 17}, {})
