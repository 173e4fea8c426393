"""Numbers that are written in types: none is proved that would come of forgetting a type."""

from random import Random

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.constant_texts import number
from tests.verify.kernels_by_hand import judged

SEEDS = 24


def is_ok(seed: int) -> tuple[bool, int]:
    """Return whether the number is not refuted, and how many others were looked at."""
    random = Random(seed)
    one = number(random, random.choice((1, 2, 3)))
    lines = (f"c = {one.text}.to(tl.int64)", "tl.store(out + i, x + c, mask=m)")
    right = judged(f"X[i] + ({one.value})", *lines, dtype="i64").verdict
    wrong = [
        judged(f"X[i] + ({other})", *lines, dtype="i64").verdict for other in sorted(one.forgotten)
    ]
    is_right = right is not LayerVerdict.REFUTED and LayerVerdict.PROVED not in wrong
    return is_right, len(wrong)


@pytest.mark.parametrize("at", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_number_of_another_type_is_not_proved(at: int) -> None:
    found = [is_ok(seed) for seed in range(SEEDS * at, SEEDS * (1 + 9 * at))]
    assert all(is_right for is_right, _ in found), [
        seed for seed, (is_right, _) in enumerate(found, SEEDS * at) if not is_right
    ]
    assert sum(wrong for _, wrong in found) >= 3
