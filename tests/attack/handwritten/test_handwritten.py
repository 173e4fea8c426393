"""Right kernels as people write them: what was proved stays proved, and each is right."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.attack.handwritten.campaign import attempt
from tests.attack.handwritten.files import FILES, proved_before, report, subject
from tests.attack.mutants.running import prepared
from tests.attack.outcome import Verdict as Attempted

OURS = [name for name in FILES if name.startswith("kernels/")]
# Of one kind each; the others are run by the longer suite.
QUICK = ("kernels/bias_gelu", "kernels/row_sum_atomic", "kernels/transpose_tiles")


def test_there_are_enough() -> None:
    assert len(OURS) >= 25
    commit, before = proved_before()
    assert commit
    assert before <= set(FILES)
    assert len(before) >= 0.9 * len(FILES)


@pytest.mark.sampled
@pytest.mark.parametrize("name", OURS)
def test_no_proof_is_lost(name: str) -> None:
    verdict = report(name).verdict
    assert verdict is not LayerVerdict.REFUTED
    if name in proved_before()[1]:
        assert verdict is LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [one if one in QUICK else pytest.param(one, marks=pytest.mark.long) for one in OURS]
)
def test_it_is_right(name: str) -> None:
    assert len(prepared(subject(name))) >= 5  # a slow machine leaves some out
    assert attempt(sorted(FILES).index(name)).verdict in (Attempted.PROVED, Attempted.UNKNOWN)
