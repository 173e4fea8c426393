"""Forged certificates: there are many kinds, each changes something, and each is rejected."""

import json
from collections import Counter
from random import Random

import pytest

from dtpoly.verify.checker import CheckedCertificate
from tests.attack.certificates import campaign
from tests.attack.certificates.bases import BY_HAND, NAMES, base
from tests.attack.certificates.campaign import attempt
from tests.attack.certificates.documents import CHANGES, Change
from tests.attack.certificates.forging import FORGES, Forge, forged, unchanged
from tests.attack.outcome import Verdict


def test_there_are_twenty_proofs() -> None:
    assert len({*NAMES, *BY_HAND}) >= 20
    assert [base(at).subject.name for at in (0, len(NAMES))] == ["softmax", "add by hand"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_a_change_changes_the_document(change: Change) -> None:
    one = base(NAMES.index("listing_3_05_relu"))
    made: set[str] = set()
    for seed in range(12):
        document = one.document()
        change(document, Random(seed))
        made.add(json.dumps(document))
    assert len(made - {json.dumps(one.document())}) >= 1


@pytest.mark.sampled
@pytest.mark.parametrize("forge", [one for one, _ in FORGES], ids=lambda one: one.__name__)
def test_a_forgery_is_made(forge: Forge) -> None:
    one = base(NAMES.index("listing_3_05_relu"))
    made = [forge(one, Random(seed)) for seed in range(4)]
    assert made == [forge(one, Random(seed)) for seed in range(4)]
    if forge is not unchanged:
        assert any(each.certificate != one.certificate for each in made)


@pytest.mark.long
def test_the_same_seed_makes_the_same_forgery() -> None:
    made = [forged(seed)[1] for seed in range(6)]
    assert made == [forged(seed)[1] for seed in range(6)]
    assert len({one.certificate for one in made}) == len(made)


@pytest.mark.long
def test_what_is_accepted_wrongly_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(*_: str) -> CheckedCertificate:
        return CheckedCertificate(True, (), 1, 0, 0.0, ())

    monkeypatch.setattr(campaign, "check_certificate", careless)
    found = Counter(attempt(seed).verdict for seed in range(1, 13))
    assert found[Verdict.WRONG] > 4


@pytest.mark.long
def test_some_forgeries_are_tried() -> None:
    found = [attempt(seed) for seed in range(8)]
    assert not [one.what for one in found if one.is_finding]
    assert {one.verdict for one in found} <= {Verdict.REFUSED, Verdict.AGREE}


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 400, 30))
def test_many_forgeries_are_tried(first: int) -> None:
    found = [attempt(seed) for seed in range(first, first + 30)]
    assert not [one.what for one in found if one.is_finding]
    assert sum(one.verdict is Verdict.REFUSED for one in found) > 15
