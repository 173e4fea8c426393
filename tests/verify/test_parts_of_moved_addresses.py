"""What moves an address in a loop or a branch stays a part of it: 32 bits may not hold it."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.test_reaches import LONG, judged

MASK, ROW = "m = o < n", "q = r * n + o"
STORE = "tl.store(at, tl.load(X + q, mask=m), mask=m)"
# With n = 2^29 and 2 rows, n * 4 is below 0 in 32 bits, and n * 3 is not. With n = 2^31 - 100 and
# one row, n + 100 is below 0.
WRONG = {
    "a loop adds more than it leaves": (
        "at = Y + o",
        "for i in range(0, r):\n        at += n * 4\n        at -= n * 3",
    ),
    "in one statement": (
        "at = Y + o",
        "for i in range(0, r):\n        at = at + n * 4 - n * 3",
    ),
    "a loop leaves it where it was": (
        "at = Y + q",
        "for i in range(0, 2):\n        at += n + 100\n        at -= n\n        at -= 100",
    ),
    "an inner loop": (
        "at = Y + q",
        "for i in range(0, 2):\n        for j in range(0, 2):\n            at += n + 100\n"
        "            at -= n\n        at -= 200",
    ),
    "a loop sets it to what it was": (
        "at = Y + q",
        "for i in range(0, 2):\n        at = Y + (n + 200) - n - 200 + q",
    ),
    "a branch sets it": (
        "at = Y + q",
        "if n <= 5:\n        at = Y + q\n    else:\n        at = Y + (n + 200) - n - 200 + q",
    ),
}
RIGHT = {
    "by names": (
        "at = Y + o",
        "for i in range(0, r):\n        at += n\n        at += n\n        at -= n",
    ),
    "by what it keeps": ("at = Y + o", "for i in range(0, r):\n        at += n"),
    "by sums": ("at = Y + o", "for i in range(0, r):\n        at += n + n - n"),
    "in a branch": (
        "at = Y",
        "if n <= 5:\n        at = Y + q\n    else:\n        at = Y + q",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_part_that_wraps_is_not_forgotten(case: str) -> None:
    report = judged(LONG, MASK, ROW, *WRONG[case], STORE)
    assert report.verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("case", RIGHT)
def test_an_address_that_moves_is_proved(case: str) -> None:
    report = judged(LONG, MASK, ROW, *RIGHT[case], STORE)
    assert report.verdict is LayerVerdict.PROVED
