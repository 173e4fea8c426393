"""Tiles that are stored in boxes: proved, and mistakes in which part goes where are not."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import ROOT, changed, text_of, written

HEAD = (
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:32, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.compile();"
)
HALVES = written(f"{HEAD} f.store(n:16);")
ROWS = written(f"{HEAD} f.store(m:16);")
QUARTERS = written(f"{HEAD} f.store(m:16, n:16); f.persistent(); f.map(m:mi/2, n, mi);")
LINE = written(
    "Func f; In A; Var x; f[x] = exp(A[x]); f.block(x:64); f.tensorize(x:0); f.descriptor(f);"
    "f.store(x:16); f.compile();"
)
BATCHES = written(
    "Func f; In A, B; Var b, m, n; RVar k; f[b, m, n] = rdot(A[b, m, k], B[b, k, n], k);"
    "f.block(b:1, m:16, n:32); f.tensorize(b:0, m:0, n:0, k:16); f.descriptor(A, B, f);"
    "f.store(n:16); f.compile();"
)
# Of examples: what stands there, and what would be said of boxes.
EXAMPLES = {
    "half_matmul": ("{0}.num_stages(3);", "{0}.num_stages(4); {0}.store(n:128);"),
    "ragged_matmul": ("{0}.compile();", "{0}.store(n:64); {0}.compile();"),
    "tf32_matmul": (
        "{0}.descriptor(A, columns);",
        "{0}.descriptor(A, columns, {0}); {0}.persistent(); {0}.store(n:64);",
    ),
}


def verdict(program: Program, text: str) -> LayerVerdict:
    return verify(program, text, seconds=60).verdict


@pytest.mark.long
@pytest.mark.parametrize("program", [HALVES, ROWS, QUARTERS, LINE, BATCHES])
def test_it_is_proved(program: Program) -> None:
    text = text_of(program)
    assert "tl.split(" in text
    assert verdict(program, text) is LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.dt").read_text()
    if f"{name}.store(" not in text:
        old, new = EXAMPLES[name]
        text = changed(text, old.format(name), new.format(name))
    program = written(text)
    assert verdict(program, text_of(program)) is LayerVerdict.PROVED


FIRST = "[tl.cast(m_start, tl.int32), tl.cast(n_start, tl.int32)]"
SECOND = FIRST.replace("n_start", "n_start + 16")
LEFT = f"        f_blocks.store({FIRST}, f_left)\n"
RIGHT = f"        f_blocks.store({SECOND}, f_right)\n"
BOX = '"f_blocks": {"of": "f", "block": (32, 16)'
CUT = "tl.permute(tl.reshape(f_acc, (32, 2, 16)), 0, 2, 1)"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Halves that change places.
        ("f_left, f_right = ", "f_right, f_left = "),
        (LEFT + RIGHT, LEFT.replace("left", "right") + RIGHT.replace("right", "left")),
        # Another offset.
        (RIGHT, RIGHT.replace("+ 16", "+ 8")),
        (RIGHT, RIGHT.replace("+ 16", "+ 17")),
        (RIGHT, RIGHT.replace("+ 16", "+ 32")),
        (RIGHT, RIGHT.replace("n_start + 16", "n_start - 16")),
        (RIGHT, RIGHT.replace("m_start", "m_start + 16")),
        # One box is missing.
        (LEFT, ""),
        (RIGHT, ""),
        # One is there twice, at its place or at that of the other.
        (RIGHT, LEFT),
        (LEFT, RIGHT),
        (RIGHT, RIGHT.replace("n_start + 16", "n_start")),
        (RIGHT, RIGHT.replace("right", "left")),
        # Columns in turn; rows for columns.
        (CUT, "tl.reshape(f_acc, (32, 16, 2))"),
        (CUT, "tl.permute(tl.reshape(f_acc, (2, 32, 16)), 1, 2, 0)"),
        (CUT, "tl.permute(tl.reshape(f_acc, (16, 2, 32)), 2, 0, 1)"),
    ],
)
def test_mistakes_are_refuted(old: str, new: str) -> None:
    assert verdict(HALVES, changed(text_of(HALVES), old, new)) is LayerVerdict.REFUTED


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Other axes are split, or stored.
        (CUT, CUT.replace("f_acc", "f_acc.T")),
        (CUT, "tl.reshape(f_acc, (32, 2, 16))"),
        (CUT, "tl.permute(tl.reshape(f_acc, (32, 2, 16)), 2, 0, 1)"),
        (CUT, "f_acc"),
        (CUT, f"{CUT}, 1"),
        (CUT, f"{CUT}, can_reorder=True"),
        (CUT, CUT.replace("(32, 2, 16)", "(32, 2, 16), can_reorder=True")),
        (CUT, CUT.replace("(32, 2, 16)", "(32, 2, 8)")),
        ("f_left, f_right = ", "f_left = f_right = "),
        ("f_left, f_right = ", "f_left, f_right, _ = "),
        # The descriptor has other boxes, or is another one.
        (BOX, BOX.replace("(32, 16)", "(32, 32)")),
        (BOX, BOX.replace("(32, 16)", "(16, 32)")),
        ("f_blocks.store", "B_blocks.store"),
    ],
)
def test_mistakes_are_not_proved(old: str, new: str) -> None:
    assert verdict(HALVES, changed(text_of(HALVES), old, new)) is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.reshape(f_upper, (16, 2, 16))", "tl.reshape(f_lower, (16, 2, 16))"),
        ("f_upper, f_lower = ", "f_lower, f_upper = "),
        ("m_start + 16", "m_start"),
    ],
)
def test_mistakes_in_quarters_are_refuted(old: str, new: str) -> None:
    assert verdict(QUARTERS, changed(text_of(QUARTERS), old, new)) is LayerVerdict.REFUTED


@pytest.mark.long
def test_a_part_on_its_side_is_not_proved() -> None:
    """It has as many rows as columns."""
    part = "tl.reshape(f_upper, (16, 2, 16)), "
    text = changed(text_of(QUARTERS), f"{part}0, 2, 1", f"{part}2, 0, 1")
    assert verdict(QUARTERS, text) is not LayerVerdict.PROVED


def test_a_line_whose_elements_go_in_turn_is_refuted() -> None:
    text = changed(text_of(LINE), "(2, 32)), 1, 0", "(32, 2)), 0, 1")
    assert verdict(LINE, text) is LayerVerdict.REFUTED
