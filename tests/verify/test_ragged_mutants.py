"""No mistake in a loop that begins and ends at data is proved: what is proved computes the same."""

from collections import Counter
from typing import Any

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import code, program
from tests.codegen.running import imported
from tests.codegen.test_data_ranges import KINDS, NAMES, RaggedCall, inputs, result
from tests.verify.ragged_mutants import MISTAKES, mutants

SECONDS = 20
CALLS = (RaggedCall(5, 7, 17), RaggedCall(9, 67, 5), RaggedCall(4, 16, 16))


def results(text: str, name: str) -> list[torch.Tensor | None]:
    """Return the result of each call; None for a call that is refused."""
    found: list[torch.Tensor | None] = []
    for call in CALLS:
        for kind in KINDS:
            function: Any = getattr(imported(text), result(name))
            try:
                found.append(function(*inputs(name, call, kind).values()))
            except (ValueError, TypeError):
                found.append(None)
    return found


def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in NAMES for word, *_ in mutants(name))
    assert found.keys() == MISTAKES.keys()
    assert len(MISTAKES) >= 50
    assert found.total() >= 250


def test_a_quotient_that_python_rounds_down_is_not_proved() -> None:
    """`max(first, -1) // 16` is 0 where Triton compiles it, and -1 in Triton's interpreter."""
    found = [text for word, _, text in mutants("counted") if word == "begins at -1 at least"]
    assert found
    for text in found:
        verdict = verify(program("counted"), text, seconds=SECONDS).verdict
        assert verdict is not LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = results(code(name).text, name)
    found = Counter[LayerVerdict]()
    for word, line, text in mutants(name):
        verdict = verify(program(name), text, seconds=SECONDS).verdict
        found[verdict] += 1
        if verdict is LayerVerdict.PROVED:
            # It is another text for the same, such as a loop over more tiles.
            for one, other in zip(results(text, name), right, strict=True):
                assert other is not None
                assert one is not None, (word, line)
                what = f"{word} {line}"
                torch.testing.assert_close(
                    one, other, rtol=1e-11, atol=1e-12, equal_nan=True, msg=what
                )
    assert found.total() - found[LayerVerdict.PROVED] >= 10
