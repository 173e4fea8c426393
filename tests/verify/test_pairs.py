"""Two kernels in one launch: proved, and mistakes in it not."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import COPIES, changed, text_of, written

# The same input, one program of one of them, a number and a size of an axis.
OTHERS = written(
    "Func f, g, h; In A; SIn c; Var x; RVar y;"
    "g[] = rmax(A[y, 0], y) + c; h[x] = A[x, 1] * c; f[x] = h[x] + g[];"
    "h.block(x:8); h.tensorize(x:0); h.beside(g); f.compile();"
)
FIRST, SECOND = "lines_kernel(", "turned_kernel("
COUNTS = 'dt_grid("turned", before + after)'


@pytest.mark.parametrize("program", [COPIES, OTHERS], ids=["copies", "others"])
def test_it_is_proved(program: Program) -> None:
    assert verify(program, text_of(program), seconds=60).verdict is Verdict.PROVED


BODY = text_of(COPIES)[text_of(COPIES).index("    if tl.program_id(0) < before:") :]
CALL = BODY[: BODY.index("\n\n\n")]


def swapped(text: str, one: str, other: str) -> str:
    """The text with two arguments of its first call in each other's place."""
    return (
        text.replace(f"{one},", "?", 1).replace(f"{other},", f"{one},", 1).replace("?", f"{other},")
    )


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if tl.program_id(0) < before:", "if tl.program_id(0) <= before:"),
        ("if tl.program_id(0) < before:", "if tl.program_id(0) > before:"),
        ("if tl.program_id(0) < before:", "if tl.program_id(0) < m_size:"),
        ("if tl.program_id(0) < before:", "if tl.num_programs(0) < before:"),
        ("if tl.program_id(0) < before:", "before = 3\n    if tl.program_id(0) < before:"),
        (COUNTS, COUNTS.replace("before + after", "after + before")),
        (COUNTS, COUNTS.replace("before + after", "before + after + 1")),
        (COUNTS, COUNTS.replace("before + after", "before + before")),
        (COUNTS, COUNTS.replace("before + after", "after")),
        ("    if before + after:", "    if before:"),
        ("    if before + after:", "    if after + before:"),
        ("            before,\n            even", "            after,\n            even"),
        ("            before,\n            even", "            m_size,\n            even"),
        ("pid = (tl.program_id(0) - before)", "pid = tl.program_id(0)"),
        ("pid = (tl.program_id(0) - before)", "pid = (tl.program_id(0) - before - 1)"),
        ("pid = (tl.program_id(0) - before)", "pid = (tl.program_id(0) - m_size)"),
        ("pid = (tl.program_id(0) - before)", "before = 0\n    pid = (tl.program_id(0) - before)"),
        ("pid = (tl.program_id(0) - before)", "pid = (tl.num_programs(0) - before)"),
        # The first one stores what the second one stores, or reads.
        (CALL, CALL.replace("lines_ptr", "turned_ptr")),
        (CALL, CALL.replace("lines_ptr", "B_ptr")),
        (CALL, CALL.replace("A_ptr", "turned_ptr", 1)),
        # Arguments in another order, of another type, one too few.
        (CALL, swapped(CALL, "m_size", "n_size")),
        (CALL, swapped(CALL, "A_stride_0", "A_stride_1")),
        (CALL, CALL.replace("even", "m_size", 1)),
        (CALL, CALL.replace("offset", "real", 1)),
        (CALL, CALL.replace("turned_kernel", "lines_kernel")),
        (CALL, CALL.replace("else:", "else:\n        tl.debug_barrier()")),
        (CALL, f"    lines_ptr = A_ptr\n{CALL}"),
    ],
)
def test_mistakes(old: str, new: str) -> None:
    assert old != new
    text = changed(text_of(COPIES), old, new)
    assert verify(COPIES, text, seconds=60).verdict is not Verdict.PROVED
