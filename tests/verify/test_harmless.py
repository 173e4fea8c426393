"""Wrappers that do more than a proof looks at: none of them is proved."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import COPIES, changed, text_of, written

SUMS = written(
    "Func f, g, h; In A, B; Var x, y; RVar k, l;"
    "g[x] = rsum(A[x, k], k); h[y] = rsum(B[y, l], l);"
    "f[x, y] = reshape(g[x], x, 1) + reshape(h[y], 1, y); g.tensorize(k:0); h.tensorize(l:0);"
    "f.compile();"
)
BEFORE = "    before = ((k_size + 15) // 16) * ((m_size + 3) // 4)\n"
AFTER = "    after = ((k_size + 7) // 8) * ((n_size + 7) // 8)\n"
BRANCH = "    if before + after:\n"
GRID = 'dt_grid("turned", before + after)'


@pytest.mark.parametrize("program", [COPIES, SUMS], ids=["copies", "sums"])
def test_as_written_it_is_proved(program: Program) -> None:
    assert verify(program, text_of(program), seconds=60).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Nothing is launched.
        (BEFORE, "    before = 0\n    after = 0\n"),
        (
            f"{BEFORE}{AFTER}{BRANCH}",
            f"    before = 0\n    after = 0\n{BRANCH}    {BEFORE}    {AFTER}",
        ),
        # What is refused there is so for some calls only.
        (BRANCH, f"{BRANCH}        if k_size == 0:\n            raise ValueError(1)\n"),
        (BRANCH, f"{BRANCH}        m_size = n_size\n"),
        (BRANCH, f"{BRANCH}        return out\n"),
        (BRANCH, f"{BRANCH}        lanes = dt_lanes(m_size)\n"),
        (BRANCH, f'{BRANCH}        dt_check("B", B, 2, dt_floats, device)\n'),
        # Calls of what may do anything, where nothing else is looked at.
        (GRID, "dt_grid(A.zero_(), before + after)"),
        (GRID, 'dt_grid("turned" if A.zero_() is None else "", before + after)'),
        ("num_warps=4", "num_warps=A.zero_().dim() * 2"),
        ("num_warps=4", "num_warps=(lambda: 4)()"),
        ("num_warps=4", "num_warps=[4 for _ in A.zero_()][0]"),
        ("num_warps=4", "num_warps=(m_size := 4)"),
        ("num_warps=4", "num_warps=print(4) or 4"),
        ("num_warps=4", "num_warps=f_launch((1,)) or 4"),
        ("num_warps=4", "num_warps=torch.manual_seed(4) and 4"),
        (BEFORE, f'    if A.zero_() is None:\n        raise dt_too_large("x", 1, "x")\n{BEFORE}'),
        (BEFORE, f'    seen = dt_promoted("x", A.zero_().dtype)\n{BEFORE}'),
        (BEFORE, f"    seen = dt_is_current(A.zero_().device)\n{BEFORE}"),
        (BEFORE, f"    seen = A.zero_().dtype\n{BEFORE}"),
        (BEFORE, f"    seen = dt_empty((A.zero_(),), (), 4)\n{BEFORE}"),
        ('dt_check("B", B, 2', 'dt_check("B", B.zero_(), 2'),
    ],
)
def test_what_a_wrapper_may_not_do(old: str, new: str) -> None:
    report = verify(COPIES, changed(text_of(COPIES), old, new), seconds=60)
    assert report.verdict is not Verdict.PROVED


def test_lanes_are_those_of_a_size_and_not_of_a_name() -> None:
    text = text_of(SUMS)
    one, other = "k_lanes = dt_lanes(k_size)", "l_lanes = dt_lanes(l_size)"
    mixed = changed(text, one, "some = l_size\n    k_lanes = dt_lanes(some)\n    some = k_size")
    mixed = changed(mixed, other, "l_lanes = dt_lanes(some)")
    assert verify(SUMS, mixed, seconds=60).verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "    m_size, n_size, k_size,\n    before,",
            "    m_size, n_size, k_size,\n    before: tl.uint8,",
        ),
        ("    m_size, n_size, k_size,\n", "    m_size: tl.int8, n_size, k_size,\n"),
        ("    m_size, n_size, k_size,\n", "    m_size: 'constexpr', n_size, k_size,\n"),
        ("A_ptr, A_stride_0,", "A_ptr: tl.int32, A_stride_0,"),
    ],
)
def test_types_that_a_parameter_is_declared_to_have(old: str, new: str) -> None:
    text = text_of(COPIES)
    assert old in text
    assert verify(COPIES, text.replace(old, new), seconds=60).verdict is not Verdict.PROVED


def test_descriptors_do_not_see_what_is_stored_by_address() -> None:
    """Nor the other way round: a barrier is for one way to memory."""
    program = written(
        "Func f, g; In A; Var x, y; g[x, y] = A[x, y] * 2.0; f[x, y] = g[x, y] + 1.0;"
        "g.block(x:16, y:16); g.tensorize(x:0, y:0); f.block(x:16, y:16); f.tensorize(x:0, y:0);"
        "f.descriptor(g, f); f.compile();"
    )
    text = text_of(program)
    assert verify(program, text, seconds=60).verdict is Verdict.PROVED
    starts = "[tl.cast(x_start, tl.int32), tl.cast(y_start, tl.int32)]"
    line = f"        f_blocks.store({starts}, g_tile + 1.0)\n"
    again = f"        f_blocks.store({starts}, f_blocks.load({starts}))\n"
    twice = f"{line}        tl.debug_barrier()\n{again}"
    assert verify(program, changed(text, line, twice), seconds=60).verdict is not Verdict.PROVED
