"""Folders for a machine with a GPU; here the interpreter is in its place."""

from collections import Counter
from itertools import islice

from tests.attack.outcome import Verdict
from tests.attack.prepare import kernels, operations
from tests.attack.prepared import judged


def test_what_is_prepared_is_what_happens() -> None:
    # What the interpreter computes as a GPU does.
    every = [*islice(kernels(5, 0, Counter(), ()), 5)]
    every += islice(operations(50, 0, Counter(), ("f16", "f32", "i8", "i16")), 2)
    outcomes = [judged(case, wanted) for case, wanted in every]
    assert [one.what for one in outcomes if one.verdict is Verdict.WRONG] == []
    assert sum(one.figures["outputs"] for one in outcomes) >= 40


def test_another_result_is_seen() -> None:
    ((case, wanted),) = islice(kernels(1, 0, Counter()), 1)
    for name in wanted:
        if name.endswith("data"):
            wanted[name] = wanted[name] + 1
        else:
            wanted[name] = wanted[name] * 0
    assert judged(case, wanted).verdict is Verdict.WRONG
