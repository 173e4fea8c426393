"""Folders for a machine with a GPU; here the interpreter is in its place."""

from collections import Counter
from itertools import islice

import pytest

from tests.attack.case import Case
from tests.attack.numbers import Array
from tests.attack.outcome import Verdict
from tests.attack.prepare import kernels, operations
from tests.attack.prepared import judged


@pytest.mark.parametrize("make", [kernels, operations])
def test_what_is_prepared_is_what_happens(make: type) -> None:
    every: list[tuple[Case, dict[str, Array]]] = list(islice(make(40, 0, Counter()), 6))
    # The interpreter keeps these as their bits.
    plain = [(case, wanted) for case, wanted in every if "bf16" not in case.algorithm]
    plain = [(case, wanted) for case, wanted in plain if "f8" not in case.algorithm]
    for case, wanted in plain:
        outcome = judged(case, wanted)
        assert outcome.verdict is not Verdict.WRONG, outcome.what


def test_another_result_is_seen() -> None:
    ((case, wanted),) = islice(kernels(1, 0, Counter()), 1)
    for name in wanted:
        if name.endswith("data"):
            wanted[name] = wanted[name] + 1
        else:
            wanted[name] = wanted[name] * 0
    assert judged(case, wanted).verdict is Verdict.WRONG
