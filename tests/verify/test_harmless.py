"""Launches that do more or less than a proof needs: none of them is proved."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import COPIES, changed, text_of, written

SUMS = written(
    "Func f, g, h; In A, B; Var x, y; RVar k, l;"
    "g[x] = rsum(A[x, k], k); h[y] = rsum(B[y, l], l);"
    "f[x, y] = reshape(g[x], x, 1) + reshape(h[y], 1, y); g.tensorize(k:0); h.tensorize(l:0);"
    "f.compile();"
)


@pytest.mark.parametrize("program", [COPIES, SUMS], ids=["copies", "sums"])
def test_as_written_it_is_proved(program: Program) -> None:
    assert verify(program, text_of(program), seconds=60).verdict is LayerVerdict.PROVED


BEFORE, AFTER = (
    '"before": ("cdiv(k, 16)", "cdiv(m, 4)")',
    '"programs": ("cdiv(k, 8)", "cdiv(n, 8)")',
)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Nothing is launched, of one kernel or of both.
        (BEFORE, '"before": ("0",)'),
        (AFTER, '"programs": ("0",)'),
        (f"{AFTER},\n            {BEFORE}", '"programs": ("0",),\n            "before": ("0",)'),
        # Numbers of programs that are no product of sizes.
        (BEFORE, '"before": ("cdiv(k, 16)", "cdiv(m, 4) - 1")'),
        (AFTER, '"programs": ("cdiv(k, 8)", "0 - cdiv(n, 8)")'),
        (AFTER, '"programs": ("0 - cdiv(k, 8)", "0 - cdiv(n, 8)")'),
        # Calls of what may do anything, where only formulas may stand.
        (AFTER, '"programs": (print(4),)'),
        (AFTER, '"programs": ("print(4)",)'),
        (AFTER, '"programs": ("A.zero_()",)'),
        (AFTER, '"programs": (*(),)'),
        (AFTER, '"programs": ("cdiv(k, 8)", f"{1}")'),
        ('"num_warps": 4', '"num_warps": A.zero_().dim() * 2'),
        ('"num_warps": 4', '"num_warps": (lambda: 4)()'),
        ('"num_warps": 4', '"num_warps": 2 + 2'),
        ('"num_warps": 4', '"num_warps": True'),
        ('"num_warps": 4', '**{"num_warps": 4}'),
        ('"num_warps": 4', '"num_warps": 4, "num_warps": 4'),
        ('"num_warps": 4', '"num_warps": 4, 1: 2'),
    ],
)
def test_what_a_launch_may_not_be(old: str, new: str) -> None:
    report = verify(COPIES, changed(text_of(COPIES), old, new), seconds=60)
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.long
def test_lanes_are_those_of_a_size_and_not_of_a_name() -> None:
    text = text_of(SUMS)
    for old, new in (("lanes(k)", "lanes(l)"), ("lanes(l)", "lanes(k)"), ("lanes(l)", "lanes(4)")):
        assert verify(SUMS, changed(text, old, new), seconds=60).verdict is not LayerVerdict.PROVED


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
    assert verify(COPIES, text.replace(old, new), seconds=60).verdict is not LayerVerdict.PROVED


@pytest.mark.long
def test_descriptors_do_not_see_what_is_stored_by_address() -> None:
    """Nor the other way round: a barrier is for one way to memory."""
    program = written(
        "Func f, g; In A; Var x, y; g[x, y] = A[x, y] * 2.0; f[x, y] = g[x, y] + 1.0;"
        "g.block(x:16, y:16); g.tensorize(x:0, y:0); f.block(x:16, y:16); f.tensorize(x:0, y:0);"
        "f.descriptor(g, f); f.compile();"
    )
    text = text_of(program)
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED
    starts = "[tl.cast(x_start, tl.int32), tl.cast(y_start, tl.int32)]"
    line = f"        f_blocks.store({starts}, g_tile + 1.0)\n"
    again = f"        f_blocks.store({starts}, f_blocks.load({starts}))\n"
    twice = f"{line}        tl.debug_barrier()\n{again}"
    assert (
        verify(program, changed(text, line, twice), seconds=60).verdict is not LayerVerdict.PROVED
    )
