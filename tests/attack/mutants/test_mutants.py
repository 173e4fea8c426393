"""The engine of mutants: it has enough kinds of changes, does what it says, and finds faults."""

import ast
from collections import Counter
from random import Random

import pytest

from tests.attack.mutants.campaign import attempt, said
from tests.attack.mutants.operators import GROUPS, OPERATORS, mutant
from tests.attack.mutants.running import Shown, ran
from tests.attack.mutants.source import Operator, Source
from tests.attack.mutants.subjects import by_hand, emitted
from tests.attack.outcome import Verdict
from tests.verify.texts import changed

CLASSES = {
    *("types", "masks", "other", "bounds", "order", "names", "module", "plan", "runtime", "launch"),
    *("barriers", "atomics", "constants", "text"),
}
TEXTS = (
    *("softmax", "listing_3_14_swish_partly_fused", "matmul", "listing_3_20_sum_block"),
    *("tiny_k_matmul", "half_cross_entropy", "tf32_matmul", "ragged_matmul", "avg_pool2d"),
    *("listing_3_09_relu_tensorize", "halves_by_two_groups"),
)


def test_there_are_enough_kinds_in_all_classes() -> None:
    assert len({one.name for one in OPERATORS}) == len(OPERATORS) >= 60
    assert set(GROUPS) == CLASSES


@pytest.mark.sampled
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: one.name)
def test_a_kind_changes_some_text(operator: Operator) -> None:
    sources = [emitted(name).source for name in TEXTS] + [by_hand("matmul").source]
    made = [operator.change(source, Random(seed)) for source in sources for seed in range(3)]
    texts = {source.text for source in sources}
    assert any(one is not None and one not in texts for one in made)


@pytest.mark.long
def test_the_same_seed_makes_the_same_mutant() -> None:
    source = emitted("softmax").source
    made = [mutant(source, Random(seed)).text for seed in range(30)]
    assert made == [mutant(Source(source.text), Random(seed)).text for seed in range(30)]
    assert len(set(made)) > 25
    assert sum(_is_python(one) for one in made) >= 20


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("name", ["softmax", "listing_3_20_sum_block"])
def test_what_is_emitted_is_proved_and_right(name: str) -> None:
    one = emitted(name)
    data = one.text.encode()
    assert said(one, data)[0] == "proved"
    assert ran(one, data, one.text).shown is Shown.RIGHT


@pytest.mark.long
def test_what_is_written_by_hand_is_proved_and_right() -> None:
    one = by_hand("softmax")
    data = one.text.encode()
    assert said(one, data)[0] == "proved"
    assert ran(one, data, one.text).shown is Shown.RIGHT


# What running must show, since a finding depends on nothing else.
FAULTS = {
    "another value": ("total_acc += tl.exp(A_tile)", "total_acc += A_tile", Shown.WRONG),
    "outside": ("(x < x_size) | even", "(x < x_size + 1) | even", Shown.WRONG),
    "not there": ("tl.sum(total_acc, 1)", "tl.summed(total_acc, 1)", Shown.RAISES),
    "not loaded": ("import threading\n", "import threadings\n", Shown.RAISES),
    "ends": ("    pid = ", "    import os\n    os.abort()\n    pid = ", Shown.CRASHES),
    "for ever": ("    pid = ", "    while True:\n        pass\n    pid = ", Shown.SLOW),
    "refused": ('    "indices": ', '    "limits": {"x": 1},\n    "indices": ', Shown.REFUSES),
    "refused in a kernel": ("    pid = ", "    raise ValueError\n    pid = ", Shown.RAISES),
    "in the plan": ('"x_size": "x"', '"x_size": "x - 1"', Shown.WRONG),
}


@pytest.mark.sampled
@pytest.mark.parametrize("fault", FAULTS)
def test_running_shows_a_fault(fault: str) -> None:
    old, new, shown = FAULTS[fault]
    one = emitted("softmax")
    text = changed(one.text, old, new)
    assert ran(one, text.encode(), text).shown is shown


@pytest.mark.long
def test_some_mutants_are_tried() -> None:
    found = [attempt(seed) for seed in range(24)]
    assert not [one.what for one in found if one.is_finding]
    assert len(Counter(one.verdict for one in found)) > 1
    assert {one.verdict for one in found} <= {
        *(Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN, Verdict.REFUSED)
    }
