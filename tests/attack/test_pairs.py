"""The generator of pairs makes files that mean something; some are tried here, many elsewhere."""

from random import Random

import pytest

from dtpoly.checking import check
from dtpoly.diagnostics import Severity
from dtpoly.source import Source
from tests.attack.outcome import Verdict
from tests.attack.pair_algorithms import algorithm
from tests.attack.pairs import checked, compiled, why_not, written


@pytest.mark.long
def test_algorithms_are_sound_and_most_schedules_legal() -> None:
    for seed in range(60):
        assert check(Source("pair.dt", algorithm(Random(seed)))).program is not None
    texts = [written(seed) for seed in range(60)]
    found = [check(Source("pair.dt", text)).diagnostics for text in texts]
    errors = [[one for one in some if one.severity is Severity.ERROR] for some in found]
    assert len(set(texts)) == len(texts)
    assert sum(not some for some in errors) >= 30
    words = ("atomic", "fuse_at", "inline", "num_stages", ":0", "pad(", "rdot", "where", "rargmax")
    assert all(any(word in text for text in texts) for word in words)


@pytest.mark.parametrize("seed", range(12))
def test_a_pair_is_checked(seed: int) -> None:
    outcome = checked(seed)
    assert outcome.verdict in (Verdict.PROVED, Verdict.REFUSED), outcome.case


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(4))
def test_a_pair_is_compiled(seed: int) -> None:
    outcome = compiled(seed)
    assert outcome.verdict in (Verdict.PROVED, Verdict.REFUSED), outcome.case


WARNING = "warning[DT311]: 'f' is not proved\n"
CARET = "  --> pair.py:3:1\n3 | x = y\n  | ^^^^^ other values\n"
LATE = "  = note: it takes too long\n  = note: not proved: value\n"
OTHER = "note: overflow\n  --> pair.py:4:1\n4 | z = y\n  | ^^^^^ is of something else\n"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (f"{OTHER}\n{WARNING}{CARET}\n1 warning", "other values"),
        (f"{WARNING}{LATE}\n{OTHER}", "it takes too long"),
        (f"{WARNING}{LATE}{OTHER}", "it takes too long"),
    ],
)
def test_the_cause_is_what_the_warning_says(said: str, why: str) -> None:
    assert why_not(said) == why
