"""Random statements at random places of files: such a file is refused, or means what it meant."""

import warnings
from random import Random

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.splices import is_harmless, spliced
from tests.verify.texts import text_of, written

SUMS = written(
    "Func f; In A; SIn s; Var x; RVar y; f[x] = rsum(A[x, y] * s, y);"
    "f.block(x:4); f.tensorize(x:0, y:32); f.compile();"
)
TEXT = text_of(SUMS)
CASES = 40


def is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "spliced", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(x, marks=pytest.mark.long) for x in (2, 3))])
def test_what_is_spliced_in_is_refused_or_does_nothing(seed: int) -> None:
    random = Random(seed)
    refused = 0
    for _ in range(CASES):
        text, statement = spliced(random, TEXT)
        while not is_python(text):
            text, statement = spliced(random, TEXT)
        report = verify(SUMS, text)
        if report.verdict is LayerVerdict.PROVED:
            assert is_harmless(statement), text
        else:
            refused += 1
    assert refused > CASES / 3


def test_as_it_is_emitted_it_is_proved() -> None:
    assert verify(SUMS, TEXT).verdict is LayerVerdict.PROVED
