"""No mistake in what is divided is proved: what is proved still computes the same, or refuses."""

from collections import Counter
from typing import Any

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import code, program
from tests.codegen.running import imported
from tests.codegen.test_quotients import CALLS, inputs
from tests.verify.quotient_mutants import IN_KERNELS, IN_PLANS, NAMES, mutants

SECONDS = 20


def results(text: str, name: str) -> list[torch.Tensor | None]:
    """Return the result of each call; None for a call that is refused."""
    found: list[torch.Tensor | None] = []
    (compiled,) = [one.func for one in program(name).directives if one.name == "compile"]
    for call in CALLS[name]:
        function: Any = getattr(imported(text), compiled)
        try:
            found.append(function(*inputs(name, call).values(), **call.sizes))
        except ValueError:
            found.append(None)
    return found


@pytest.mark.long
def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in NAMES for word, *_ in mutants(name))
    assert found.keys() == IN_KERNELS.keys() | IN_PLANS.keys()
    assert found.total() >= 150


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = results(code(name).text, name)
    not_proved = 0
    for word, line, text in mutants(name):
        if verify(program(name), text, seconds=SECONDS).verdict is not LayerVerdict.PROVED:
            not_proved += 1
            continue
        # It is another text for the same: where an element is masked, or always inside.
        for one, other in zip(results(text, name), right, strict=True):
            assert other is not None
            assert one is None or torch.equal(one, other), (word, line)
    assert not_proved >= 3
