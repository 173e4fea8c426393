"""Numbers of program instances, against listing 3.8, listing 3.11 and the figures of the thesis."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.program_id import program_index
from tests.generation.choice import seeded, shuffled
from tests.schedule.told import read

OUT = "Func out; In A; Var x, y; out[x, y] = A[x, y]; out.compile();"


def table(directives: str, x: int = 4, y: int = 4) -> list[list[int]]:
    """The program of each element; x runs down and y to the right."""
    number = program_index(read(OUT + directives), "out", {"x": x, "y": y}, DIRECTIVES)
    return [[number({"x": i, "y": j}) for j in range(y)] for i in range(x)]


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", [[0, 0, 0, 0]] * 4),
        ("out.block(x:4, y:4);", [[0, 0, 0, 0]] * 4),
        ("out.block(x:2);", [[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]),
        ("out.block(y:1);", [[0, 1, 2, 3]] * 4),
        ("out.block(y:2, x:2);", [[0, 0, 2, 2], [0, 0, 2, 2], [1, 1, 3, 3], [1, 1, 3, 3]]),
        ("out.block(x:1, y:2);", [[0, 0, 4, 4], [1, 1, 5, 5], [2, 2, 6, 6], [3, 3, 7, 7]]),
        ("out.block(x:3, y:3);", [[0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 2], [1, 1, 1, 3]]),
    ],
)
def test_blocks_as_in_figure_3_3(directives: str, expected: list[list[int]]) -> None:
    assert table(directives) == expected


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        ("x, y", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
        ("y, x", [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]),
        ("y:yi/2, x, yi", [[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]]),
        (
            "y:yi/2, x:xi/2, yi, xi",
            [[0, 2, 8, 10], [1, 3, 9, 11], [4, 6, 12, 14], [5, 7, 13, 15]],
        ),
        # The last group of y has one block only, and no number is left out.
        ("y:yi/3, x, yi", [[0, 1, 2, 12], [3, 4, 5, 13], [6, 7, 8, 14], [9, 10, 11, 15]]),
        ("y:yi/9, x, yi", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
    ],
)
def test_maps_as_in_figure_3_5(loops: str, expected: list[list[int]]) -> None:
    assert table(f"out.block(x:1, y:1); out.map({loops});") == expected


def test_listing_3_8() -> None:
    number = program_index(
        read(OUT + "out.block(x:16, y:64);"), "out", {"x": 64, "y": 256}, DIRECTIVES
    )
    for program in range(16):
        y_pid, x_pid = program // 4 % 4, program % 4
        assert number({"x": x_pid * 16 + 15, "y": y_pid * 64}) == program


def test_listing_3_11() -> None:
    directives = "out.block(x:8, y:16); out.map(x:xi/4, y, xi);"
    number = program_index(read(OUT + directives), "out", {"x": 64, "y": 48}, DIRECTIVES)
    x_count, y_count = 8, 3
    for program in range(x_count * y_count):
        x_pid = program // (y_count * 4) % (x_count // 4)
        y_pid = program // 4 % y_count
        xi_pid = program % 4
        assert number({"x": (x_pid * 4 + xi_pid) * 8, "y": y_pid * 16 + 15}) == program


def passed(loops: list[str], left: Mapping[str, range]) -> Iterator[dict[str, int]]:
    """Blocks in the order in which the loops of a map come to them, by running the loops.

    `left` are the blocks of each label that the loops further out have left.
    """
    if not loops:
        yield {label: blocks.start for label, blocks in left.items()}
        return
    first, *inside = loops
    label = first[0]
    if ":" in first:
        group = int(first.split("/")[1])
        for start in left[label][::group]:
            chosen = left[label][start : start + group]
            yield from passed(inside, {**left, label: chosen})
    else:
        for block in left[label]:
            yield from passed(inside, {**left, label: range(block, block + 1)})


def maps(seed: int) -> list[str]:
    """Loops over the blocks of x, y and z, some in groups."""
    choose = seeded(seed)
    loops: list[str] = []
    for label in shuffled(choose, ("x", "y", "z")):
        loops.append(f"{label}:{label}i/{1 + choose(4)}" if choose(2) else label)
    for loop in list(loops):
        if ":" in loop:
            at = loops.index(loop) + 1
            loops.insert(at + choose(len(loops) - at + 1), f"{loop[0]}i")
    return loops


@pytest.mark.parametrize("seed", range(60))
def test_numbers_count_the_blocks_as_the_loops_pass_them(seed: int) -> None:
    choose = seeded(seed)
    sizes = {label: 1 + choose(9) for label in "xyz"}
    block = {label: 1 + choose(3) for label in "xyz"}
    blocks = ", ".join(f"{label}:{size}" for label, size in block.items())
    text = "Func f; In A; Var x, y, z; f[x, y, z] = A[x, y, z]; f.compile();"
    loops = maps(seed)
    number = program_index(
        read(f"{text} f.block({blocks}); f.map({', '.join(loops)});"),
        "f",
        sizes,
        DIRECTIVES,
    )
    left = {label: range(-(-sizes[label] // block[label])) for label in "xyz"}
    for expected, at in enumerate(passed(loops, left)):
        first = {label: at[label] * block[label] for label in "xyz"}
        last = {label: min(first[label] + block[label], sizes[label]) - 1 for label in "xyz"}
        assert number(first) == number(last) == expected


def test_arrays_of_indices() -> None:
    directives = "out.block(x:2, y:3); out.map(y:yi/3, x, yi);"
    number = program_index(read(OUT + directives), "out", {"x": 7, "y": 23}, DIRECTIVES)
    i, j = np.meshgrid(np.arange(7), np.arange(23), indexing="ij")
    expected = [[number({"x": a, "y": b}) for b in range(23)] for a in range(7)]
    assert np.array_equal(number({"x": i, "y": j}), np.array(expected))


def test_a_blocked_reduction_has_two_kernels() -> None:
    text = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();"
    blocked = f"{text} f.block(x:2, k:4);"
    number = program_index(read(blocked), "f", {"x": 6, "k": 8}, DIRECTIVES)
    assert [number({"x": x}) for x in range(6)] == [0, 0, 1, 1, 2, 2]
    assert [number({"x": x, "k": 4}) for x in range(6)] == [3, 3, 4, 4, 5, 5]
    mapped = program_index(read(f"{blocked} f.map(x, k);"), "f", {"x": 6, "k": 8}, DIRECTIVES)
    assert [mapped({"x": x}) for x in range(6)] == [0, 0, 1, 1, 2, 2]
    assert [mapped({"x": x, "k": 4}) for x in range(6)] == [1, 1, 3, 3, 5, 5]


def test_without_blocks_there_is_one_program() -> None:
    number = program_index(read(OUT), "out", {"x": 0, "y": 5}, DIRECTIVES)
    assert number({"x": 0, "y": 4}) == 0
