"""No mistake in what goes to places is proved: what is proved still leaves the same."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_placed import FILES, MADE, SIZES, Tensors, program, text
from tests.verify.placed_mutants import IN_KERNELS, IN_PLANS, mutants

SECONDS = 20
# Its proofs take seconds, so only some of the mistakes in it are looked at.
EACH = {"paged": 12, "kv_cache_append": 2, "slots": 2, "started": 3}


def left(of: str, name: str, given: Tensors) -> list[torch.Tensor] | None:
    """Return what a call leaves in the inputs; None if it is refused."""
    passed = {
        one: value.clone() if isinstance(value, torch.Tensor) else value
        for one, value in given.items()
    }
    function: Any = getattr(imported(of), program(name).funcs[0].name)
    try:
        function(**passed)
    except (ValueError, TypeError):
        return None
    return [*passed.values()]


def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in FILES for word, *_ in mutants(text(program(name))))
    assert found.keys() == IN_KERNELS.keys() | IN_PLANS.keys()
    assert found.total() >= 300


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = text(program(name))
    found = Counter[LayerVerdict]()
    for word, line, wrong in islice(mutants(right), 0, None, EACH.get(name, 1)):
        verdict = verify(program(name), wrong, seconds=SECONDS).verdict
        found[verdict] += 1
        if verdict is LayerVerdict.PROVED:
            # It is another text for the same, or it refuses more calls.
            for seed, sizes in enumerate(SIZES):
                given = MADE[name](*sizes, seed, torch.float64)
                wanted, got = left(right, name, given), left(wrong, name, given)
                assert wanted is not None
                for one, other in zip(wanted, got or wanted, strict=True):
                    assert torch.equal(one, other), (word, line)
    assert found.total() - found[LayerVerdict.PROVED] >= 10
