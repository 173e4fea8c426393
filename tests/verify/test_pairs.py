"""Two kernels in one launch: proved, and mistakes in it not."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import COPIES, changed, text_of, written

# The same input, one program of one of them, a number and a size of an axis.
OTHERS = written(
    "Func f, g, h; In A; SIn c; Var x; RVar y;"
    "g[] = rmax(A[y, 0], y) + c; h[x] = A[x, 1] * c; f[x] = h[x] + g[];"
    "h.block(x:8); h.tensorize(x:0); h.beside(g); f.compile();"
)
# The second one has one program.
ONE = written(
    "Func f, g, h; In A; Var x; RVar y;"
    "g[x] = A[x, 1] * 2.0; h[] = rmax(A[y, 0], y); f[x] = g[x] + h[];"
    "g.block(x:8); g.tensorize(x:0); h.beside(g); f.compile();"
)
FIRST, SECOND = "lines_kernel(", "turned_kernel("
AFTER, BEFORE = (
    '"programs": ("cdiv(k, 8)", "cdiv(n, 8)")',
    '"before": ("cdiv(k, 16)", "cdiv(m, 4)")',
)


@pytest.mark.parametrize("program", [COPIES, OTHERS, ONE], ids=["copies", "others", "one"])
def test_it_is_proved(program: Program) -> None:
    assert verify(program, text_of(program), seconds=60).verdict is LayerVerdict.PROVED


BODY = text_of(COPIES)[text_of(COPIES).index("    if tl.program_id(0) < before:") :]
CALL = BODY[: BODY.index("\n\n\n")]


def swapped(text: str, one: str, other: str) -> str:
    """Return the text with two arguments of its first call in each other's place."""
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
        (BEFORE, BEFORE.replace("4", "8")),
        (BEFORE, BEFORE.replace("16", "8")),
        (BEFORE, '"before": ("cdiv(k, 16)",)'),
        (BEFORE, '"before": ()'),
        (f"            {BEFORE},\n", ""),
        (BEFORE, f'{BEFORE}, "turns": 1'),
        (AFTER, AFTER.replace("8", "16")),
        (AFTER, '"programs": ("cdiv(k, 8)",)'),
        (f"            {AFTER},\n", ""),
        (
            f"{AFTER},\n            {BEFORE}",
            f"{AFTER},\n            {BEFORE}".replace("16", "8").replace("4", "8"),
        ),
        ("    before,\n    even", "    even"),
        ("    before,\n    even", "    before: tl.constexpr,\n    even"),
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
    assert verify(COPIES, text, seconds=60).verdict is not LayerVerdict.PROVED
