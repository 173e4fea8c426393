"""Sizes that a call may leave out: a wrapper that makes others of them is not proved."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.compile import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import Verdict, verify

POOL = (
    "Func f; In X; Var h; RVar r; f[h] = rmax(X[2 * h + r], r);"
    "f.block(h:4); f.tensorize(h:0); f.compile();"
)
SUM = "Func f; In X; Var h; RVar r; f[h] = rsum(X[h + r], r); f.compile();"
MOST = 2**63 - 1
GIVEN = f'h_size = dt_given("h", h, {MOST})'
LARGEST = "h_size = max((X.shape[0] - max(r_size - 1, 0) + 1) // 2, 0)"
LARGEST_R = "r_size = max(X.shape[0] - 2 * max(h_size - 1, 0), 0)"
INSIDE = "if h_size and r_size and 2 * h_size + r_size - 3 >= X.shape[0]:"
FILLED = f"    if h_size is None:\n        {LARGEST}\n"
LEFT_OUT = f"{FILLED}    if r_size is None:\n        {LARGEST_R}\n"
CHECK = f"    {INSIDE}\n        raise"


def made(text: str) -> tuple[Program, str]:
    program = load(Source("test.dt", text))
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


WRONG = [
    # The check that all is inside.
    (INSIDE, INSIDE.replace(">=", ">")),
    (INSIDE, INSIDE.replace("- 3", "- 4")),
    (INSIDE, INSIDE.replace("2 * h_size + ", "h_size + ")),
    (INSIDE, INSIDE.replace("and 2", "and X.shape[0] > 9 and 2")),
    (INSIDE, INSIDE.replace(">= X.shape[0]", ">= X.shape[0] + 1")),
    (INSIDE, INSIDE.replace("if h_size", "if h is not None")),
    (INSIDE, INSIDE.replace("if h_size", "if False and h_size")),
    (CHECK, f"    {INSIDE}\n        h_size = 1\n    if False:\n        raise"),
    # What a size is that is left out.
    (LARGEST, LARGEST.replace("+ 1) // 2", "+ 2) // 2")),
    (LARGEST, LARGEST.replace("+ 1) // 2", "- 1) // 2")),
    (LARGEST, LARGEST.replace("// 2", "// 3")),
    (LARGEST, LARGEST.replace("X.shape[0]", "min(X.shape[0], 1000)")),
    (LARGEST, "h_size = 1"),
    (LARGEST, "h_size = r_size"),
    (LARGEST, "h_size = h_size"),
    (LARGEST, "h_size = None"),
    (LARGEST, f"h_size = dt_int('h', {LARGEST[9:]}, 0, 5)"),
    (LARGEST_R, LARGEST_R.replace("2 * ", "")),
    (LARGEST_R, "r_size = 3"),
    (LEFT_OUT, FILLED),
    (LEFT_OUT, LEFT_OUT.replace("if r_size is None", "if h_size is None")),
    (LEFT_OUT, LEFT_OUT.replace("if r_size is None", "if r_size is not None")),
    (LEFT_OUT, LEFT_OUT.replace("if h_size is None", "if not h_size")),
    (LEFT_OUT, LEFT_OUT.replace(LARGEST, f"{LARGEST}\n        r_size = 2")),
    # What is looked at.
    (GIVEN, "h_size = h"),
    (GIVEN, GIVEN.replace(", h,", ", r,")),
    (GIVEN, GIVEN.replace(f"{MOST}", "9")),
    (GIVEN, GIVEN.replace(f"{MOST}", "-1")),
    (GIVEN, "h_size = None"),
    (GIVEN, "h_size = 4"),
    (GIVEN, f"{GIVEN}\n    h = 3"),
    (GIVEN, f"{GIVEN}\n    h_size = 3"),
    # What is passed on.
    ("f_operator(out, X, h=h, r=r)", "f_operator(out, X, h=r, r=h)"),
    ("f_operator(out, X, h=h, r=r)", "f_operator(out, X, r=r)"),
    ("f(X, out=out, h=h, r=r)", "f(X, out=out, h=r, r=h)"),
    ("f(X, out=out, h=h, r=r)", "f(X, out=out, h=h)"),
    ("out=None, h=None, r=None):", "out=None, h=3, r=None):"),
    (
        '"Tensor X, *, SymInt? h=None, SymInt? r=None"',
        '"Tensor X, *, SymInt? r=None, SymInt? h=None"',
    ),
    ('"Tensor X, *, SymInt? h=None, SymInt? r=None"', '"Tensor X, *, SymInt? h=3, SymInt? r=None"'),
    ('"Tensor X, *, SymInt? h=None, SymInt? r=None"', '"Tensor X, *, SymInt h, SymInt? r=None"'),
    # Helpers.
    ("return None if size is None else dt_int", "return None if not size else dt_int"),
    ("dt_int(name, size, 0, most)", "dt_int(name, size, -1, most)"),
    ("dt_int(name, size, 0, most)", "size"),
]


def test_sizes_passed_are_proved() -> None:
    for text in (
        POOL,
        SUM,
        SUM.replace("h + r", "r - 2 * h + 3"),
        SUM.replace("h + r", "5 - h - r"),
    ):
        assert verify(*made(text)).verdict is Verdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(("old", "new"), WRONG)
def test_what_is_wrong_is_not_proved(old: str, new: str) -> None:
    program, text = made(POOL)
    start = text.index("\ndef f(")
    head, rest = text[:start], text[start:]
    assert old in rest
    assert verify(program, head + rest.replace(old, new, 1)).verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # One row alone is inside by the check of the window.
        (INSIDE, INSIDE.replace("if h_size", "if h_size > 1")),
        # Without these Python refuses a sum with None, and the result has no rows.
        ("if h_size is None and r_size is None:", "if r_size is None and h_size is None:"),
        ("if r_size and r_size - 1 >= X.shape[0]:", "if r_size and r_size > X.shape[0]:"),
        (LARGEST, "h_size = max((X.shape[0] + 1 - max(r_size - 1, 0)) // 2, 0)"),
    ],
)
def test_what_is_right_stays_proved(old: str, new: str) -> None:
    program, text = made(POOL)
    start = text.index("\ndef f(")
    head, rest = text[:start], text[start:]
    assert old in rest
    assert verify(program, head + rest.replace(old, new, 1)).verdict is Verdict.PROVED


def test_names_that_change_places_are_not_proved() -> None:
    """Of a sum with two labels alike each may be left out as the other is."""
    program, text = made(SUM)
    start = text.index("\ndef f(")
    head, rest = text[:start], text[start:]
    for old, new in (
        ((f'dt_given("h", h, {MOST})', f'dt_given("r", r, {MOST})')),
        ((f'dt_given("r", r, {MOST})', f'dt_given("h", h, {MOST})')),
    ):
        assert old in rest
        assert verify(program, head + rest.replace(old, new, 1)).verdict is not Verdict.PROVED
    both = rest.replace("h_size = dt_given", "? = dt_given").replace(
        "r_size = dt_given", "h_size = dt_given"
    )
    swapped = both.replace("? = dt_given", "r_size = dt_given")
    assert swapped != rest
    assert verify(program, head + swapped).verdict is not Verdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LARGEST, LARGEST.replace("+ 1)", "+ 2)")),
        (f"        {LARGEST}\n", "        h_size = 7\n"),
        (f"    if h_size is None:\n        {LARGEST}\n", ""),
        ("h_size = h\n", "h_size = r\n"),
        ("h_size = h\n", "h_size = None\n"),
    ],
)
def test_what_torch_is_told_of_other_sizes_is_not_proved(old: str, new: str) -> None:
    program, text = made(POOL)
    start, end = text.index("\ndef f_like("), text.index("\ndef f(")
    like = text[start:end]
    assert old in like
    other = text[:start] + like.replace(old, new, 1) + text[end:]
    assert verify(program, other).verdict is not Verdict.PROVED


def test_an_inside_check_that_is_missing_is_refuted() -> None:
    program, text = made(POOL)
    wrong = text.replace(INSIDE, "if X.shape[0] < 0:")
    assert wrong != text
    assert verify(program, wrong).verdict is Verdict.REFUTED
