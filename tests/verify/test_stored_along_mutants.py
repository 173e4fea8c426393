"""Mistakes in kernels that store results in the loop of another result's reduction, or in parts."""

import pytest

from dtpoly.generate import outputs
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.stored_along import program, rectangles
from tests.verify.mutation.operators import NAMED, mutants
from tests.verify.texts import changed, text_of

MUTATED = ("rows of parts", "gradients of a norm in parts", "extremes in parts")
SHOWING = (0, 1, 4, 5, 9, 17)  # of rows and columns: an end of a tile and of a part
FEW = 2  # of an operator and a program

# By hand, in the kernels of "rows of parts": what is replaced, and by what.
STORED = "tl.store(g_at_y + x * g_stride_0, g, mask=y_mask)"
PARTIAL = (
    "tl.store(f_parts_ptr + p_block * f_parts_stride_0 + y * f_parts_stride_1, f_parts_acc, "
    "mask=y_mask)"
)
BY_HAND = {
    "rows are never stored": (STORED, "pass"),
    "rows are stored one further": (STORED, STORED.replace("x *", "(x + 1) *")),
    "the first row of a part alone": (STORED, STORED.replace("x *", "5 * p_block *")),
    "rows of another part": (STORED, STORED.replace("x *", "(x - 5 * p_block) *")),
    "the sum in the place of the row": (STORED, STORED.replace(", g,", ", f_parts_acc,")),
    "a column too few": (STORED, STORED.replace("mask=y_mask", "mask=y < y_size - 1")),
    "a column too many": (STORED, STORED.replace("mask=y_mask", "mask=y <= y_size")),
    "partial sums are dropped": (PARTIAL, "pass"),
    "partial sums go to the next part": (PARTIAL, PARTIAL.replace("p_block *", "(p_block + 1) *")),
    "all go to the first part": (PARTIAL, PARTIAL.replace("p_block *", "0 *")),
    "a row of the next part": ("5 * p_block + 5)", "5 * p_block + 6)"),
    "a row too few": ("5 * p_block + 5)", "5 * p_block + 4)"),
    "each part begins late": ("tl.range(5 * p_block,", "tl.range(5 * p_block + 1,"),
    "each part begins with the last row of the one before": (
        "tl.range(5 * p_block,",
        "tl.range(tl.maximum(5 * p_block - 1, 0),",
    ),
    "each part has all rows": ("tl.range(5 * p_block,", "tl.range(0,"),
    "the last row alone": ("f_parts_acc +=", "f_parts_acc ="),
    "larger parts are launched": ('"programs": ("cdiv(x, 5)",)', '"programs": ("cdiv(x, 6)",)'),
    "a part is not launched": ('"programs": ("cdiv(x, 5)",)', '"programs": ("x // 5",)'),
    "there is memory for fewer parts": ('("cdiv(x, 5)", "y")', '("x // 5", "y")'),
}


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", BY_HAND)
def test_a_mistake_by_hand_is_not_proved(mistake: str) -> None:
    wrong = by_hand(mistake)
    assert verify(program("rows of parts"), wrong).verdict is not LayerVerdict.PROVED


def by_hand(mistake: str) -> str:
    """Return the text of "rows of parts" with a mistake."""
    return changed(_joined(text_of(program("rows of parts"))), *BY_HAND[mistake])


def _joined(text: str) -> str:
    """Return the text with the store of partial sums on one line."""
    head, _, rest = text.partition("    tl.store(\n")
    inside, _, tail = rest.partition("\n    )\n")
    one = " ".join(line.strip() for line in inside.splitlines()).rstrip(",")
    return f"{head}    tl.store({one})\n{tail}"


def is_wrong_and_proved(name: str, operator: str, each: int | None) -> list[str]:
    """Return the mutants of an operator that are proved although they compute something else."""
    of, text = program(name), text_of(program(name))
    found: list[str] = []
    for mutant in mutants(text, frozenset(outputs(of)), NAMED[operator], each):
        if verify(of, mutant.text, seconds=20).verdict is not LayerVerdict.PROVED:
            continue
        try:
            made = imported(mutant.text)
            for sizes in rectangles(of, SHOWING):
                compared(made, of, outputs(of), Recipe().inputs(of, sizes), sizes)
        except AssertionError:
            found.append(f"{mutant.line}: {mutant.what}")
    return found


@pytest.mark.long
@pytest.mark.parametrize("operator", NAMED)
def test_what_is_wrong_is_not_proved(operator: str) -> None:
    assert is_wrong_and_proved("rows of parts", operator, FEW) == []


@pytest.mark.long
@pytest.mark.parametrize("operator", NAMED)
@pytest.mark.parametrize("name", MUTATED)
def test_what_is_wrong_is_not_proved_anywhere(name: str, operator: str) -> None:
    assert is_wrong_and_proved(name, operator, None) == []
