"""The words of Triton that the verifier takes are words that Triton has."""

import importlib
from functools import reduce
from typing import Any

import pytest

from dtpoly.verify.triton.unit.words import EARLIER, TL

tl: Any = importlib.import_module("triton.language")
# Kernels that use it import it; it is no part of what `import triton.language` brings.
importlib.import_module("triton.language.extra.libdevice")


@pytest.mark.parametrize("word", sorted(TL - {*EARLIER}))
def test_triton_has_it(word: str) -> None:
    assert reduce(getattr, word.split("."), tl) is not None


@pytest.mark.parametrize("word", ["math.sigmoid", "math.maximum", "math.where"])
def test_what_triton_has_not_is_not_taken(word: str) -> None:
    assert word not in TL
