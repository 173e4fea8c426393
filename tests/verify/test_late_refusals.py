"""Tests wrappers that refuse a call behind a launch, which then ran for such calls."""

import pytest

from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import Verdict, verify

# Two kernels; the scalar is there so that the file has `dt_int`.
PROGRAM = load(
    Source(
        "test.dt",
        "Func f; In A; SIn n: i32; Var x; RVar k; f[x] = rsum(A[x, k] * n, k);"
        "f.block(x:16, k:32); f.compile();",
    )
)
TEXT = code_of(judge(PROGRAM, DIRECTIVES).scheduled).text
EMPTY = "    if not out.numel():\n        return out\n"
SECOND = "    programs = (x_size + 15) // 16\n    if programs:\n"
PARTS = "(x_size, (k_size + 31) // 32), dtype"
FEW = "(x_size, min((k_size + 31) // 32, 2)), dtype"  # room for sums over 64 numbers


def verdict(*edits: tuple[str, str]) -> Verdict:
    text = TEXT
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return verify(PROGRAM, text).verdict


def refused(check: str) -> list[tuple[str, str]]:
    """The memory of parts has room for some calls alone; others are refused by a statement."""
    return [(PARTS, FEW), (SECOND, f"    {check}\n{SECOND}")]


WRONG = {
    "the result is empty": [(EMPTY, ""), (SECOND, EMPTY + SECOND)],
    "the result is empty, and is the last that is asked": [
        (EMPTY, ""),
        ("    return out\n\n\n# What", f"{EMPTY}    return out\n\n\n# What"),
    ],
    "few numbers": refused('k_size = dt_int("k", k_size, 0, 64)'),
    "few numbers, by another name": refused('m = dt_int("k", k_size, 0, 64)'),
    "few numbers, of the tensor": refused('m = dt_int("k", A.shape[1], 0, 64)'),
    "few numbers, in a sum": refused('m = dt_int("k", k_size + 1, 0, 65)'),
    "few numbers, in a sum with itself": refused('m = 1 + dt_int("k", k_size, 0, 64)'),
    "few numbers, as a condition": refused("if k_size > 64:\n        raise ValueError('k')"),
    "few numbers, of a size": refused('m = max(dt_int("k", k_size, 0, 64), 1)'),
    "few numbers, in a shape": refused('m = (x_size, dt_int("k", k_size, 0, 64))'),
}


def test_the_text_is_proved() -> None:
    assert verdict() is Verdict.PROVED


@pytest.mark.parametrize("edits", WRONG.values(), ids=WRONG)
def test_what_is_refused_behind_a_launch_must_be_right(edits: list[tuple[str, str]]) -> None:
    assert verdict(*edits) is not Verdict.PROVED


@pytest.mark.parametrize(
    "check",
    ['k_size = dt_int("k", k_size, 0, 64)', "if k_size > 64:\n        raise ValueError('k')"],
)
def test_what_is_refused_early_needs_no_proof(check: str) -> None:
    before = "    largest = max(x_size, k_size)\n"
    assert verdict((PARTS, FEW), (before, f"    {check}\n{before}")) is Verdict.PROVED


@pytest.mark.parametrize("count", ["2147483648", "10000000000000000000000", "-1", "2.0"])
def test_a_number_of_stages_that_triton_does_not_take(count: str) -> None:
    given = "            real=real,\n"
    edit = (given, f"            num_stages={count},\n{given}")
    assert verdict(edit) is Verdict.UNKNOWN
