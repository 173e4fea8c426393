"""Descriptors, and programs that take blocks in turn: what is proved, and what is not."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of

PROGRAM = load(
    Source(
        "f.dt",
        "Func g, f; In A, B; Var m, n; RVar k;"
        "g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k], k);"
        "f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.map(m:mi/2, n, mi);"
        "f.descriptor(A, g); f.persistent(2); f.compile();",
    )
)
SCALAR = load(
    Source(
        "f.dt",
        "Func f; In A; SIn beta: i32; Var x; f[x] = A[x] * beta;"
        "f.persistent(); f.block(x:64); f.compile();",
    )
)
SHIFTED = load(
    Source(
        "f.dt",
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k + 1], B[k, n], k);"
        "f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.compile();",
    )
)
FRONT = "    beta = tl.full((), beta, tl.int32)\n"
BETA = f"    {FRONT}"
START = "        x_start = pid * 64\n"
OF_SCALAR: dict[str, tuple[str, str]] = {
    "it grows from turn to turn": (BETA, BETA.replace("beta, tl", "beta + 1, tl")),
    "it is another in the second turn": (BETA, BETA.replace("beta, tl", "2 - beta, tl")),
    "it is wrapped in less": (BETA, BETA.replace("tl.int32", "tl.int16")),
    "it is looked at before": (START, START.replace("pid *", "(pid + beta - beta) *")),
    "it is set once more": (BETA, f"{BETA}        beta = beta * 1\n"),
    "it is what the turn is": (BETA, BETA.replace("beta, tl", "block, tl")),
    "it depends on the turn": (BETA, BETA.replace("beta, tl", "beta * (block + 1), tl")),
    "it is set under a condition": (BETA, f"        if block > 0:\n    {BETA}"),
    "it is loaded": (BETA, "        beta = tl.load(A_ptr + beta)\n"),
}
NAMED = '"A_blocks": {"of": "A", "block": (16, 16), "axes": (0, 1)}'
OTHER = '"g_blocks": {"of": "g", "block": (32, 16), "axes": (0, 1)}'
THERE = "A_blocks is not None and g_blocks is not None"
LOOP = f"""tl.range(
        tl.program_id(0),
        n_blocks * m_blocks,
        tl.num_programs(0),
        flatten=even or {THERE},
    )"""
WRONG: dict[str, tuple[str, str]] = {
    "a block starts elsewhere": (
        *(
            "[tl.cast(m_start, tl.int32), tl.cast(k",
            "[tl.cast(m_start + 1, tl.int32), tl.cast(k",
        ),
    ),
    "a block starts at another label": (
        *("[tl.cast(m_start, tl.int32), tl.cast(k", "[tl.cast(n_start, tl.int32), tl.cast(k"),
    ),
    "a block is not turned": (
        "                    1,\n                    0,\n",
        "                    0,\n                    1,\n",
    ),
    "a descriptor of another tensor": (NAMED, NAMED.replace('"of": "A"', '"of": "g"')),
    "a block of another shape": (NAMED, NAMED.replace("(16, 16)", "(16, 8)")),
    "nobody asks whether there is a descriptor": ("if A_blocks is not None:", "if m_size > 0:"),
    "it is asked of another": ("if A_blocks is not None:", "if g_blocks is not None:"),
    "descriptors change places": (
        f"{NAMED},\n                {OTHER}",
        f"{OTHER},\n                {NAMED}",
    ),
    "descriptors have each other's names": (NAMED, NAMED.replace("A_blocks", "g_blocks")),
    "one descriptor": (f"                {NAMED},\n", ""),
    "a descriptor of what is not passed": (NAMED, NAMED.replace('"of": "A"', '"of": "B"')),
    "a descriptor of a step": (NAMED, NAMED.replace("(0, 1)", '(0, 1), "step": 0')),
    "some blocks are left out": (LOOP, LOOP.replace("n_blocks * m_blocks", "m_blocks")),
    "more blocks than there are": (
        LOOP,
        LOOP.replace("n_blocks * m_blocks", "n_blocks * m_blocks * 2"),
    ),
    "turns begin later": (LOOP, LOOP.replace("tl.program_id(0)", "tl.program_id(0) + 1")),
    "turns are longer": (LOOP, LOOP.replace("tl.num_programs(0)", "tl.num_programs(0) + 1")),
    "every second turn": (LOOP, LOOP.replace("tl.num_programs(0)", "2 * tl.num_programs(0)")),
    "programs of another grid": (
        '"programs": ("cdiv(n, 32)", "cdiv(m, 16)")',
        '"programs": ("n",)',
    ),
    "it is asked of one of two": (f"if {THERE}:", "if A_blocks is not None:"),
    "it is not asked": (f"if {THERE}:", "if m_size > 0:"),
    "what overhangs is left out": ("tl.range(0, k_size, 16)", "tl.range(0, k_size - 15, 16)"),
    "without a descriptor it overhangs": (
        "tl.range(0, k_size - 15, 16)",
        "tl.range(0, k_size, 16)",
    ),
    "no turns at all": ('            "turns": 2,\n', ""),
    "a name outlives a turn": (
        "        f_acc = tl.full((16, 32), 0.0, real)\n",
        "        f_acc = tl.full((16, 32), 0.0, real) if block == 0 else f_acc\n",
    ),
}
STEPS = '"A_blocks": {"of": "A", "block": (16, 16), "axes": (0, 1), "step": 1}'
OF_SHIFTED: dict[str, tuple[str, str]] = {
    "another tensor": (STEPS, STEPS.replace('"of": "A"', '"of": "B"')),
    "a block of another shape": (STEPS, STEPS.replace("(16, 16)", "(16, 8)")),
    "a block of nothing": (STEPS, STEPS.replace("(16, 16)", "(16, 0)")),
    "at no number": (STEPS, STEPS.replace('"step": 1', '"step": "A"')),
    "at nothing": (STEPS, STEPS.replace('"step": 1', '"step": 0')),
    "without a shift": ("tl.cast(k_start + 1, tl.int32)", "tl.cast(k_start, tl.int32)"),
    "nobody asks whether there is a descriptor": ("if A_blocks is not None:", "if m_size > 0:"),
}


def test_as_it_is_emitted_it_is_proved() -> None:
    assert verify(PROGRAM, text_of(PROGRAM)).verdict is LayerVerdict.PROVED


def test_grids_of_three_axes_are_proved_too() -> None:
    """Two of three numbers of blocks are multiplied on the way to the product of all."""
    text = (
        "Func f; In A; Var b, m, n; f[b, m, n] = exp(A[b, m, n]);"
        "f.block(b:1, m:4, n:64); f.tensorize(m:0, n:0); f.map(b, m:mi/2, n, mi); f.persistent();"
    )
    program = load(Source("f.dt", text))
    assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_not_proved(name: str) -> None:
    report = verify(PROGRAM, changed(text_of(PROGRAM), *WRONG[name]))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.long
def test_blocks_that_start_anywhere_are_proved() -> None:
    assert STEPS in text_of(SHIFTED)
    assert verify(SHIFTED, text_of(SHIFTED)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", OF_SHIFTED)
def test_wrong_ones_are_not(name: str) -> None:
    report = verify(SHIFTED, changed(text_of(SHIFTED), *OF_SHIFTED[name]))
    assert report.verdict is not LayerVerdict.PROVED


def test_a_number_whose_type_is_told_in_each_turn_is_proved() -> None:
    assert verify(SCALAR, text_of(SCALAR)).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", OF_SCALAR)
def test_a_number_that_turns_change_is_not(name: str) -> None:
    old, new = OF_SCALAR[name]
    # Earlier files bring the number to its type in each turn.
    begun = changed(changed(text_of(SCALAR), FRONT, ""), START, f"{BETA}{START}")
    assert verify(SCALAR, begun).verdict is LayerVerdict.PROVED
    assert verify(SCALAR, changed(begun, old, new)).verdict is not LayerVerdict.PROVED
