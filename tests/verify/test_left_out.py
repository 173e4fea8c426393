"""Sizes that a call may leave out: a plan that makes others of them is not proved."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

POOL = written(
    "Func f; In X; Var h; RVar r; f[h] = rmax(X[2 * h + r], r);"
    "f.block(h:4); f.tensorize(h:0); f.compile();"
)
SUM = "Func f; In X; Var h; RVar r; f[h] = rsum(X[h + r], r); f.compile();"
LARGEST = '"h": "max((X.shape[0] - max(r - 1, 0) + 1) // 2, 0)"'
LARGEST_R = '"r": "max(X.shape[0] - 2 * max(h - 1, 0), 0)"'
PASSED = '"passed": {"h": ("r",), "r": ()}'
INSIDE = '"high": "2 * h + r - 3",\n            "where": ("h", "r")'
EXTENT = (
    '"extent": "X.shape[0]",\n            "index": "2 * h + r",\n            "high": "2 * h + r'
)


def demand() -> str:
    """Return the demand that the last element of the last window is inside."""
    text = text_of(POOL)
    start = text.index('        {\n            "inside": "X"')
    return text[start : text.index("        },\n", start) + len("        },\n")]


WRONG = [
    # The demand that all is inside.
    (demand(), ""),
    (INSIDE, INSIDE.replace("- 3", "- 4")),
    (INSIDE, INSIDE.replace("2 * h", "h")),
    (INSIDE, INSIDE.replace("+ r", "")),
    (INSIDE, INSIDE.replace("high", "low")),
    (INSIDE, INSIDE.replace('("h", "r")', '("h", "r", "r2")')),
    (EXTENT, EXTENT.replace("X.shape[0]", "X.shape[0] + 1", 1)),
    (EXTENT, EXTENT.replace("X.shape[0]", "2 * X.shape[0]", 1)),
    # What a size is that is left out.
    (LARGEST, LARGEST.replace("+ 1) // 2", "+ 2) // 2")),
    (LARGEST, LARGEST.replace("+ 1) // 2", "- 1) // 2")),
    (LARGEST, LARGEST.replace("// 2", "// 3")),
    (LARGEST, LARGEST.replace("X.shape[0]", "min(X.shape[0], 1000)")),
    (LARGEST, '"h": "1"'),
    (LARGEST, '"h": "r"'),
    (LARGEST, '"h": "h"'),
    (LARGEST, '"h": None'),
    (LARGEST, '"h": "X.shape[0]"'),
    (LARGEST_R, LARGEST_R.replace("2 * ", "")),
    (LARGEST_R, '"r": "3"'),
    (LARGEST_R, '"r": None'),
    # Who may pass what.
    (PASSED, PASSED.replace('("r",)', "()")),
    (PASSED, PASSED.replace('("r",)', '("h",)')),
    (PASSED, PASSED.replace('("r",)', '("r", "h")')),
    (PASSED, '"passed": {"h": ("r",)}'),
    (PASSED, '"passed": {"r": ()}'),
    (PASSED, '"passed": {}'),
    (PASSED, f'{PASSED}, "limits": {{"h": "9"}}'),
    (PASSED, f'{PASSED}, "limits": {{"h": -1}}'),
    # What is passed on.
    ('"h_size": "h", "r_size": "r"', '"h_size": "r", "r_size": "h"'),
    ('"h_size": "h"', '"h_size": "4"'),
    ('"r_size": "r"', '"r_size": "3"'),
]


@pytest.mark.parametrize(
    "text", [SUM, SUM.replace("h + r", "r - 2 * h + 3"), SUM.replace("h + r", "5 - h - r")]
)
def test_sizes_passed_are_proved(text: str) -> None:
    program = written(text)
    assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED
    assert verify(POOL, text_of(POOL)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(("old", "new"), WRONG)
def test_what_is_wrong_is_not_proved(old: str, new: str) -> None:
    assert verify(POOL, changed(text_of(POOL), old, new)).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # All of one window is inside by the demand of the last row.
        (INSIDE, INSIDE.replace("- 3", "- 2")),
        (INSIDE, INSIDE.replace('("h", "r")', '("r", "h")')),
        # Whoever leaves both out is refused for one of them.
        (PASSED, PASSED.replace('"r": ()', '"r": ("h",)')),
        (LARGEST, '"h": "max((X.shape[0] + 1 - max(r - 1, 0)) // 2, 0)"'),
    ],
)
def test_what_is_right_stays_proved(old: str, new: str) -> None:
    assert verify(POOL, changed(text_of(POOL), old, new)).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"h_size": "h", "r_size": "r"', '"h_size": "r", "r_size": "h"'),
        ('"shape": ("h",)', '"shape": ("r",)'),
    ],
)
def test_names_that_change_places_are_not_proved(old: str, new: str) -> None:
    """Of a sum with two labels alike each may be left out as the other is."""
    program = written(SUM)
    assert verify(program, changed(text_of(program), old, new)).verdict is not LayerVerdict.PROVED


def test_a_demand_that_is_missing_is_refuted() -> None:
    assert verify(POOL, changed(text_of(POOL), demand(), "")).verdict is LayerVerdict.REFUTED
