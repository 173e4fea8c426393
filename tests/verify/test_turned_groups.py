"""An older order of blocks takes the row from the whole program id: each block still comes once."""

import itertools

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.handwritten import algorithm, launch, text
from tests.verify.texts import changed

ROW = "pid_m = first_pid_m + (pid % num_pid_in_group) % group_size_m"
COLUMN = "pid_n = (pid % num_pid_in_group) // group_size_m"
TURNED = "pid_m = first_pid_m + (pid % group_size_m)"


def kernel() -> str:
    return changed(text("matmul"), ROW, TURNED)


def test_each_block_comes_once() -> None:
    """The statement of lemma 2 about turned groups, for all small grids."""
    for rows, columns, group in itertools.product(range(1, 8), range(1, 6), range(1, 5)):
        blocks = set[tuple[int, int]]()
        for program in range(rows * columns):
            first = program // (group * columns) * group
            size = min(rows - first, group)
            rest = program % (group * columns)
            blocks.add((first + program % size, rest // size))
        assert blocks == set(itertools.product(range(rows), range(columns)))


def test_it_is_proved() -> None:
    assert verify(algorithm("matmul"), kernel()).verdict is LayerVerdict.PROVED


def test_it_computes_what_is_proved() -> None:
    launch(algorithm("matmul"), kernel(), {"m": 200, "n": 130, "k": 40})


MISTAKES = {
    "the row of the next program": (TURNED, TURNED.replace("pid %", "(pid + 1) %")),
    "all rows of a full group": (TURNED, TURNED.replace("group_size_m)", "GROUP_M)")),
    "a group of columns": (TURNED, TURNED.replace("% group_size_m", "% num_pid_n")),
    "the column of the whole id": (COLUMN, COLUMN.replace("(pid % num_pid_in_group)", "pid")),
    "the column by the full group": (COLUMN, COLUMN.replace("// group_size_m", "// GROUP_M")),
    "both remainders": (
        COLUMN,
        f"{COLUMN} + (pid % num_pid_in_group) % group_size_m - pid % group_size_m",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_another_order_is_not_proved(mistake: str) -> None:
    old, new = MISTAKES[mistake]
    found = verify(algorithm("matmul"), changed(kernel(), old, new))
    assert found.verdict is not LayerVerdict.PROVED
