"""Kernels over ranges with one mistake each: none that computes something wrong is proved."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import Wrong, compared, imported
from tests.codegen.test_ranges import program, text

# What is written, and what stands in its place. Each place makes a mutant of its own.
CHANGES: tuple[tuple[str, str], ...] = (
    (r"(?<=[^<>=!]) <= ", " < "),
    (r"(?<=[^<>=!]) < ", " <= "),
    (r" >= ", " > "),
    (r" <= ", " >= "),
    (r"(?<=_start) \+ (?=\d)", " - "),
    (r"(?<=_start) - (?=\d)", " + "),
    (r"\bmin\(", "max("),
    (r"(?<=range\()0(?=,)", "1"),
    (r"(?<=range\()m_start(?=,)", "m_start + 16"),
    (r"(?<=_start \+ )16(?=\))", "15"),
    (r"(?<=_start \+ )16(?=\))", "17"),
    (r"(?<=_start - )15(?=\))", "14"),
    (r"(?<=_start - )15(?=\))", "31"),
    (r"(?<=, )16(?=\):)", "32"),
    (r" & [a-z_0-9]+\[[^\]]*\](?=[,\n ])", ""),
    (r"\([a-z_0-9]+\[[^\]]*\] <=? [a-z_0-9]+\[[^\]]*\]\) & ", ""),
    (r"(?<=\()m_mask_2 & ", ""),
    (r"(?<=, )0\.0(?=[,\n)])", "1.0"),
    (r"other=0\.0", "other=1.0"),
    (r'float\("-inf"\)', "0.0"),
    (r"_acc \+= ", "_acc = "),
    (r"\bm_size\b(?=,| |\))", "k_size"),
    (r"\bk_size\b(?=,| |\)|:)", "m_size"),
    (r"k_index\b(?=, offset)", "k_index + 1"),
    (r"\btl\.exp\(", "-tl.exp("),
)
NAMES = (
    "triangular product",
    "upper triangle",
    "band",
    "cumulative sum",
    "causal scores and their softmax",
    "weights in registers",
    "a band of elements",
)
SIZES = ((37, 37), (5, 17), (20, 3), (16, 48))
# Of all mutants of a program, every third one is looked at.
EACH = 3


def mutants(name: str) -> Iterator[tuple[str, str]]:
    """Yield what is changed, and the text with this change, for every place of every change."""
    whole = text(program(name))
    start, end = whole.index("@triton.jit\ndef f_kernel"), whole.index("f_plan = {")
    kernel = whole[start:end]
    for pattern, new in CHANGES:
        for found in re.finditer(pattern, kernel):
            changed = kernel[: found.start()] + new + kernel[found.end() :]
            line = kernel[: found.start()].count("\n")
            yield f"line {line}: {found[0]!r} to {new!r}", whole[:start] + changed + whole[end:]


def is_right(name: str, made: str) -> bool:
    """Return whether a text computes what the algorithm says, at some sizes."""
    of = program(name)
    module: Any = imported(made)
    for seed, (rows, columns) in enumerate(SIZES):
        sizes = {one.name: rows if one.name in ("m", "c") else columns for one in of.labels}
        try:
            compared(module, of, ("f",), Recipe(seed=seed).inputs(of, sizes), sizes)
        except Wrong:
            return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_no_wrong_kernel_is_proved(name: str) -> None:
    wrong = proved = 0
    for what, made in islice(mutants(name), 0, None, EACH):
        verdict = verify(program(name), made, seconds=20).verdict
        if verdict is not LayerVerdict.PROVED:
            wrong += 1
            continue
        proved += 1
        assert is_right(name, made), f"proved, but wrong: {what}"
    assert wrong >= 5, f"{wrong} mutants, {proved} that are equivalent"
