"""No mistake in what is read at data is proved: what is proved still computes the same."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import code, program
from tests.codegen.running import imported
from tests.codegen.test_indirect import CALLS, inputs
from tests.verify.indirect_mutants import IN_KERNELS, IN_PLANS, NAMES, mutants

SECONDS = 20
# Its proofs take seconds, so only some of the mistakes in it are looked at.
EACH = {"paged_attention": 9}


def results(text: str, name: str) -> list[torch.Tensor | None]:
    """Return the result of each call; None for a call that is refused."""
    found: list[torch.Tensor | None] = []
    for call in CALLS[name]:
        function: Any = imported(text).result
        try:
            found.append(function(*inputs(name, call).values()))
        except (ValueError, TypeError):
            found.append(None)
    return found


def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in NAMES for word, *_ in mutants(name))
    assert found.keys() == IN_KERNELS.keys() | IN_PLANS.keys()
    assert found.total() >= 400


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = results(code(name).text, name)
    found = Counter[LayerVerdict]()
    for word, line, text in islice(mutants(name), 0, None, EACH.get(name, 1)):
        verdict = verify(program(name), text, seconds=SECONDS).verdict
        found[verdict] += 1
        if verdict is LayerVerdict.PROVED:
            # It is another text for the same: where nothing is stored, or something else chosen.
            for one, other in zip(results(text, name), right, strict=True):
                assert other is not None
                assert one is None or torch.equal(one, other), (word, line)
    assert found.total() - found[LayerVerdict.PROVED] >= 10
    assert name in EACH or found[LayerVerdict.REFUTED] >= 1


@pytest.mark.parametrize(("name", "old"), [("two_levels", "U_tile"), ("embedding", "T_tile")])
def test_a_type_without_signs_has_no_number_below_0(name: str, old: str) -> None:
    """A test that the type makes superfluous is not refuted; of other types it is missing."""
    text = code(name).text
    changed = text.replace(f"({old} >= 0) & ({old} <", f"({old} == {old}) & ({old} <")
    assert changed != text
    found = verify(program(name), changed, seconds=SECONDS)
    (layers,) = [one.layers for one in found.functions]
    bounds = next(layer.verdict for layer in layers if layer.name == "bounds")
    wanted = {"two_levels": LayerVerdict.PROVED, "embedding": LayerVerdict.REFUTED}
    assert bounds in (wanted[name], LayerVerdict.UNKNOWN)
