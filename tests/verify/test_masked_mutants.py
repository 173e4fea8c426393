"""No kernel with a mask is proved of an algorithm with another mask, and no text with a mistake."""

import re
from functools import cache
from itertools import permutations

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.test_masks import ATTENTIONS, code, program

# Attentions whose results differ at some sizes.
APART = ("causal", "a window", "rows of which nothing is left", "sizes", "everywhere")
PAIRS = tuple(permutations(APART, 2))
ALONE = {
    "a product": (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(where(k <= m, A[m, k], 0), B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "exponentials": (
        "Func f; In A; Var m; RVar k; f[m] = rsum(exp(where(k <= m, A[m, k], -inf)), k);"
        "f.block(m:16); f.tensorize(m:0, k:16); f.compile();"
    ),
    "a softmax's sum": (
        "Func f; In A; Var m; RVar k;"
        "f[m] = rsum(exp(where(k <= m, A[m, k], -inf) - rmax(where(k <= m, A[m, k], -inf), k)), k);"
        "f.block(m:16); f.tensorize(m:0, k:16); f.compile();"
    ),
    "an attention": ATTENTIONS["causal"][0],
    "rows of nothing": ATTENTIONS["rows of which nothing is left"][0],
}
# What is replaced by what, once in each place of a text.
MISTAKES = {
    "the diagonal is left out": (r"<= m\[:, None\]", "< m[:, None]"),
    "the mask is turned": (r"<= m\[:, None\]", ">= m[:, None]"),
    "the loop ends a tile earlier": (r"m_start - 15\)", "m_start - 31)"),
    "the loop ends a tile later": (r"m_start - 15\)", "m_start + 1)"),
    "the loop begins a tile later": (r"tl\.range\(0, ", "tl.range(16, "),
    "a masked score is 0": (r'float\("-inf"\)', "0.0"),
    "a sum begins at 1": (
        r"(_sum|_acc) = tl\.full\((.*?), 0\.0, real\)",
        r"\1 = tl.full(\2, 1.0, real)",
    ),
    "a masked weight is 1": (r", 0\.0\s*\)(?=\.to|,)", ", 1.0)"),
    "no tile is cut": (r"if (\(?)l_size >= m_start", r"if \g<1>l_size >= m_start + 1000"),
    "nothing is divided": (r"out_acc / \w+(\[:, None\])?", "out_acc"),
    "1 is added to what divides": (r"f_acc / (\w+)\[:, None\]", r"f_acc / (\1[:, None] + 1.0)"),
}


@cache
def text_of(name: str) -> str:
    return code(program(ALONE[name]))


def mutants(text: str) -> dict[str, str]:
    """Return the texts with a mistake in one place, by what the mistake is."""
    found = dict[str, str]()
    for what, (old, new) in MISTAKES.items():
        for at, place in enumerate(re.finditer(old, text)):
            changed = text[: place.start()] + place.expand(new) + text[place.end() :]
            found[f"{what} ({at})"] = changed
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", ALONE)
def test_mistakes_are_not_proved(name: str) -> None:
    of = program(ALONE[name])
    found = mutants(text_of(name))
    assert len(found) > 1
    for what, text in found.items():
        assert verify(of, text, seconds=5).verdict is not LayerVerdict.PROVED, what


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=" for ".join)
def test_kernels_of_other_masks_are_not_proved(pair: tuple[str, str]) -> None:
    of, other = (program(ATTENTIONS[name][0]) for name in pair)
    assert verify(of, code(other), seconds=10).verdict is not LayerVerdict.PROVED
