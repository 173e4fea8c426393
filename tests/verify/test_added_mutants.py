"""No mistake in what is added at places is proved: what is proved still leaves the same."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_added import FILES, SIZES, Tensors, made, program, text
from tests.verify.added_mutants import IN_STATEMENTS, mutants

SECONDS = 20
# Of long files with parts that are alike, only some of the mistakes are looked at.
EACH = {"embedding": 2, "fused": 2, "moe_combine": 2, "rows": 2, "segments": 5}


def left(of: str, name: str, given: Tensors) -> list[torch.Tensor] | None:
    """Return what a call leaves in the inputs; None if it is refused."""
    passed = {
        one: value.clone() if isinstance(value, torch.Tensor) else value
        for one, value in given.items()
    }
    function: Any = getattr(imported(of), program(name).directives[-1].func)
    try:
        function(**passed)
    except (ValueError, TypeError):
        return None
    return [value for value in passed.values() if isinstance(value, torch.Tensor)]


def looked_at(name: str, step: int) -> Counter[LayerVerdict]:
    """Return the verdicts on some mistakes; what is proved must leave what the right text does."""
    right = text(program(name))
    found = Counter[LayerVerdict]()
    for word, line, wrong in islice(mutants(right), 0, None, step):
        verdict = verify(program(name), wrong, seconds=SECONDS).verdict
        found[verdict] += 1
        if verdict is not LayerVerdict.PROVED:
            continue
        # It is another text for the same, or it refuses more calls.
        for seed, sizes in enumerate(SIZES):
            given = made(name, sizes, seed, torch.float64)
            wanted, got = left(right, name, given), left(wrong, name, given)
            assert wanted is not None
            for one, other in zip(wanted, got or wanted, strict=True):
                assert torch.equal(one, other), (word, line)
    return found


def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in FILES for word, *_ in mutants(text(program(name))))
    assert found.keys() >= IN_STATEMENTS.keys()
    assert found.total() >= 300


def test_a_few_mistakes_are_not_proved() -> None:
    found = looked_at("histogram", 3)
    assert found.total() - found[LayerVerdict.PROVED] >= 10


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_not_proved(name: str) -> None:
    found = looked_at(name, EACH.get(name, 1))
    assert found.total() - found[LayerVerdict.PROVED] >= 15
