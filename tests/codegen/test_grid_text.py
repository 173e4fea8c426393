"""The way from a program's number to its block: numbers in mixed radix, with their brackets."""

from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.grid_text import (
    GridSetting,
    ProgramNumber,
    counts,
    every_block,
    needed,
    way_to_block,
)
from dtpoly.ir.kernel import GridAxis, TileKernel
from dtpoly.poly.loops import Combined
from tests.ir.by_hand import kernel_of

PID = Affine((("pid", 1),))


def axis(label: str, step: int, group: int | None = None, block: str = "") -> GridAxis:
    """An axis of blocks, or of groups of them."""
    name = f"{label}_{'group' if group else 'start'}"
    return GridAxis(name, label, f"{label}_size", step, 1, group, block or name)


def grid(*axes: GridAxis) -> TileKernel:
    """A kernel with nothing but a grid."""
    return kernel_of("f", (), tuple(dict.fromkeys(one.label for one in axes)), axes, ())


def way(kernel: TileKernel) -> list[str]:
    """The lines that find the block."""
    return [one.line.text for one in needed([*counts(kernel), *way_to_block(kernel)])]


def test_a_number_in_mixed_radix() -> None:
    kernel = grid(axis("m", 64), axis("n", 1), axis("k", 32))
    assert way(kernel) == [
        "n_blocks = n_size",
        "k_blocks = tl.cdiv(k_size, 32)",
        "pid = tl.program_id(0).to(offset)",
        "m_start = (pid // (n_blocks * k_blocks)) * 64",
        "pid = pid % (n_blocks * k_blocks)",
        "n_start = pid // k_blocks",
        "pid = pid % k_blocks",
        "k_start = pid * 32",
    ]
    assert every_block(kernel) == "m_blocks * n_blocks * k_blocks"


def test_a_group_at_the_edge_may_be_short() -> None:
    kernel = grid(axis("m", 256, 4, "m_start"), axis("n", 64), axis("m", 64))
    assert way(kernel) == [
        "n_blocks = tl.cdiv(tl.cast(n_size, offset), 64)",
        "m_blocks = tl.cdiv(tl.cast(m_size, offset), 64)",
        "pid = tl.program_id(0).to(offset)",
        "m_group_id = pid // (4 * n_blocks)",
        "pid = pid % (4 * n_blocks)",
        "m_in_group = min(m_blocks - m_group_id * 4, 4)",
        "n_start = (pid // m_in_group) * 64",
        "pid = pid % m_in_group",
        "m_start = (m_group_id * 4 + pid) * 64",
    ]


def test_numbers_that_nothing_needs_are_left_out() -> None:
    kernel = grid(axis("m", 64))
    assert way(kernel) == ["pid = tl.program_id(0).to(offset)", "m_start = pid * 64"]
    assert way(grid()) == []


def test_a_value_says_what_it_is_computed_from() -> None:
    setting = GridSetting("pid", Combined("%", (PID, Affine((("n_blocks", 1),)))), None)
    assert setting.names == {"pid", "n_blocks"}
    assert GridSetting("pid", ProgramNumber.BEHIND_OTHERS, None).names == frozenset()
