"""Calls that a plan refuses need no proof, and all others do."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

# Two kernels: the first leaves sums in parts for the second.
PROGRAM = written(
    "Func f; In A; SIn n: i32; Var x; RVar k; f[x] = rsum(A[x, k] * n, k);"
    "f.block(x:16, k:32); f.compile();"
)
TEXT = text_of(PROGRAM)
PARTS = '"shape": ("cdiv(k, 32)", "x")'
FEW = '"shape": ("min(cdiv(k, 32), 2)", "x")'  # room for sums over 64 numbers
LIMITS = '    "indices": '
NUMBER = '"n": ("int", -2147483648, 2147483647)'
STAGES = '"func": "f",'


def verdict(*edits: tuple[str, str]) -> LayerVerdict:
    text = TEXT
    for old, new in edits:
        text = changed(text, old, new)
    return verify(PROGRAM, text).verdict


def limited(limits: str) -> tuple[str, str]:
    return LIMITS, f'    "limits": {limits},\n{LIMITS}'


def test_the_text_is_proved() -> None:
    assert verdict() is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("limits", ["{}", '{"k": 65}', '{"x": 64}', '{"k": 10**2}', '{"k": "64"}'])
def test_what_is_not_refused_must_be_right(limits: str) -> None:
    assert verdict((PARTS, FEW)) is not LayerVerdict.PROVED
    assert verdict((PARTS, FEW), limited(limits)) is not LayerVerdict.PROVED


@pytest.mark.parametrize("limits", ['{"k": 64}', '{"k": 8}', '{"k": 64, "x": 64}'])
def test_what_is_refused_early_needs_no_proof(limits: str) -> None:
    assert verdict((PARTS, FEW), limited(limits)) is LayerVerdict.PROVED


@pytest.mark.parametrize(
    "number", ['"n": ("int", 0, 5)', '"n": ("int", -2147483648, 2147483648)', '"n": "float"']
)
def test_numbers_are_refused_as_the_algorithm_says(number: str) -> None:
    assert verdict((NUMBER, number)) is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("count", ["2147483648", "10000000000000000000000", "-1", "2.0"])
def test_a_number_of_stages_that_triton_does_not_take(count: str) -> None:
    assert verdict((STAGES, f'{STAGES} "num_stages": {count},')) is LayerVerdict.UNKNOWN
