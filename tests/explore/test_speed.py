"""Points are decided and texts emitted as fast as is said, by a wide margin: see `speed`."""

import pytest

from tests.explore.speed import TEXTS, alone, generation, legal, legality, timed

pytestmark = [pytest.mark.long, pytest.mark.alone]


def test_ten_thousand_points_are_decided_in_seconds() -> None:
    assert timed("legality", legality).seconds < 100.0


def test_a_thousand_texts_are_emitted_in_a_minute() -> None:
    jobs = legal()[:TEXTS]
    took = timed("texts", lambda: generation(jobs))
    assert took.count == TEXTS
    assert took.seconds < 600.0


def test_a_thousand_texts_of_attention_are_emitted_in_two_minutes() -> None:
    jobs = alone()[:TEXTS]
    took = timed("texts of attention", lambda: generation(jobs))
    assert took.count == TEXTS
    assert took.seconds < 1200.0
