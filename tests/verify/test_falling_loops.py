"""Loops that count down: their counter, their order in time, and what Triton computes beside it.

Triton compiles such a loop as one that counts up, and only if its step is known by then.
"""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.report import Report
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import written

HEAD = """\
import triton
import triton.language as tl

# verify: k[(cdiv(len(i), 128),)](X, f, len(i), len(r), STEP=-1)
# assume: len(i) <= 2**20, reach(X) < 2**31, len(r) <= 2**9


@triton.jit
def k(X, out, n, rows, STEP: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    m = i < n
"""
SUM = "f[i] = rsum(X[r, i], r)"
START = "acc = tl.zeros([128], dtype=tl.float32)"
ADD = "    acc += tl.load(X + r * n + i, mask=m, other=0)"
STORE = "tl.store(out + i, acc, mask=m)"


def loop(over: str, add: str = ADD) -> tuple[str, ...]:
    return (START, f"for r in {over}:", add, STORE)


def program(meant: str) -> Program:
    return written(f"Func f; In X; Var i; RVar r; {meant}; f.compile();")


def judged(meant: str, lines: tuple[str, ...], assumed: str = "") -> Report:
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    return verify(program(meant), text.replace("len(r) <= 2**9", f"len(r) <= 2**9{assumed}"))


def verdict(meant: str, lines: tuple[str, ...], assumed: str = "") -> LayerVerdict:
    return judged(meant, lines, assumed).verdict


RIGHT = (
    "range(rows - 1, -1, -1)",
    "tl.range(rows - 1, -1, -1)",
    "tl.range(rows - 1, -1, -1, num_stages=1)",
)


@pytest.mark.parametrize("over", RIGHT)
def test_a_sum_that_counts_down_is_proved(over: str) -> None:
    assert verdict(SUM, loop(over)) is LayerVerdict.PROVED


def test_steps_of_two_that_count_down_are_proved() -> None:
    both = (
        START,
        "for r in range(rows - 1, -1, -2):",
        ADD,
        "for r in range(rows - 2, -1, -2):",
        ADD,
        STORE,
    )
    assert verdict(SUM, both) is LayerVerdict.PROVED


WRONG = (
    "range(rows - 1, 0, -1)",  # leaves out row 0
    "range(rows - 1, -2, -1)",  # row -1, too
    "range(rows, -1, -1)",  # one row beyond the last
    "range(rows, 0, -1)",
    "range(rows - 2, -1, -1)",  # leaves out the last row
    "range(rows - 1, -1, -2)",  # each second row
    "range(rows - 1, -1, -3)",
    "range(rows - 1, 1, -1)",
    "range(0, rows, -1)",  # runs never
    "range(-1, rows - 1, -1)",
    "range(rows - 1, rows, -1)",
    "range(rows - 1, rows - 2, -1)",  # the last row alone
    "range(rows - 1, -1)",  # counts up, and runs never
    "range(rows - 1, -1, 1)",
    "range(rows - 1, -1, -0)",
    "range(rows + 1, 1, -1)",
    "range(rows // 2, -1, -1)",
    "tl.range(rows - 1, 0, -1)",
    "tl.range(rows, -1, -1)",
    "range(2 * rows - 1, -1, -2)",
    "range(rows - 1, -1, -rows)",
)


@pytest.mark.parametrize("over", WRONG)
def test_no_wrong_loop_that_counts_down_is_proved(over: str) -> None:
    assert verdict(SUM, loop(over), ", len(r) >= 4") is not LayerVerdict.PROVED


ADDED = (
    "    acc += tl.load(X + (r + 1) * n + i, mask=m, other=0)",
    "    acc += tl.load(X + (rows - r) * n + i, mask=m, other=0)",
    "    acc = tl.load(X + r * n + i, mask=m, other=0)",
    "    acc += tl.load(X + r * rows + i, mask=m, other=0)",
    "    acc += r * tl.load(X + r * n + i, mask=m, other=0)",
)


@pytest.mark.parametrize("add", ADDED)
def test_no_wrong_body_is_proved(add: str) -> None:
    over = "range(rows - 1, -1, -1)"
    assert verdict(SUM, loop(over, add), ", len(r) >= 4") is not LayerVerdict.PROVED


def test_each_row_may_be_read_from_the_other_end() -> None:
    add = "    acc += tl.load(X + (rows - 1 - r) * n + i, mask=m, other=0)"
    assert verdict(SUM, loop("range(rows - 1, -1, -1)", add)) is LayerVerdict.PROVED


@pytest.mark.parametrize("over", ["range(rows - 1, -1, STEP)", "range(rows - 1, -1, 0 - 1)"])
def test_a_step_must_be_written_as_a_negative_number(over: str) -> None:
    report = judged(SUM, loop(over))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "counts down" in report.layers[0].why


@pytest.mark.parametrize(
    ("stop", "found"), [("-1", LayerVerdict.PROVED), ("-2147483647", LayerVerdict.UNKNOWN)]
)
def test_the_distance_to_the_start_must_fit_its_type(stop: str, found: LayerVerdict) -> None:
    add = "    acc += tl.load(X + r * n + i, mask=m & (r >= 0), other=0)"
    report = judged(SUM, loop(f"range(rows - 1, {stop}, -1)", add), ", len(r) >= 4")
    assert (report.verdict is LayerVerdict.PROVED) == (found is LayerVerdict.PROVED)
