"""Tiles of as many lanes as a row has, up to a limit, and heads whose sizes are powers of two."""

import pytest

from dtpoly.checking import check, load
from dtpoly.cli.without_algorithm import STRUCTURE, algorithm_of
from dtpoly.source import Source
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import deciding, verify
from tests.verify.running_data import declared
from tests.verify.texts import changed

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
LIMIT = "min(next_power_of_2(len(n)), 1024)"
# A row in rounds of so many lanes, and a row in blocks of so many lanes.
TOTAL = f"""\
def k(Y, X, n, B: tl.constexpr):
    row = tl.program_id(0)
    acc = 0.0
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        acc += tl.sum(tl.load(X + row * n + at, mask=at < n, other=0.0), 0)
    tl.store(Y + row, acc)


# verify: k[(len(r),)](Y, X, len(n), B={LIMIT})
# assume: len(n) <= 2**30, reach(X) < 2**31, finite
"""
COPY = f"""\
def k(Y, X, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(X + row * n + at, mask=at < n)
    tl.store(Y + row * n + at, x * 2.0, mask=at < n)


# verify: k[(len(r), cdiv(len(n), {LIMIT}))](Y, X, len(n), B={LIMIT})
# assume: len(n) <= 2**30, reach(X) < 2**31, reach(Y) < 2**31
"""
OF_TOTAL = "Func Y: f32; In X: f32; Var r; RVar n; Y[r] = rsum(X[r, n], n); Y.compile();"
OF_COPY = "Func Y: f32; In X: f32; Var r, n; Y[r, n] = X[r, n] * 2.0; Y.compile();"
OF_BLOCKS = f"cdiv(len(n), {LIMIT})"
RIGHT = {
    "rounds": (TOTAL, OF_TOTAL),
    "blocks": (COPY, OF_COPY),
    "as many blocks": (COPY.replace(OF_BLOCKS, "cdiv(len(n), 1024)"), OF_COPY),
}
# By the kernel: what is changed.
WRONG = {
    "only the first round": ("rounds", "range(0, n, B)", "range(0, B, B)"),
    "it begins later": ("rounds", "range(0, n, B)", "range(B, n, B)"),
    "larger steps": ("rounds", "range(0, n, B)", "range(0, n, 2 * B)"),
    "smaller steps": ("rounds", "range(0, n, B)", "range(0, n, B // 2)"),
    "the first block in each round": ("rounds", "start + tl.arange", "tl.arange"),
    "lanes of the row behind": ("rounds", ", mask=at < n, other=0.0", ""),
    "a mask of few lanes": ("rounds", "mask=at < n,", "mask=at < 1024,"),
    "masked lanes are 1": ("rounds", "other=0.0", "other=1.0"),
    "a power of another size": ("rounds", "2(len(n))", "2(len(r))"),
    "a limit that is no power of two": ("rounds", "1024)", "1000)"),
    "it fits small rows alone": ("rounds", "X + row * n + at", "X + row * B + at"),
    "one block": ("blocks", OF_BLOCKS, "1"),
    "blocks of the limit": ("blocks", OF_BLOCKS, "cdiv(len(n), 1024) // 2"),
    "blocks of another limit": ("blocks", OF_BLOCKS, OF_BLOCKS.replace("1024", "2048")),
    "larger blocks": ("blocks", OF_BLOCKS, "cdiv(len(n), 2048)"),
    "blocks of another size": (
        "blocks",
        OF_BLOCKS,
        OF_BLOCKS.replace("cdiv(len(n)", "cdiv(len(r)"),
    ),
    "one element is left out": ("blocks", "x * 2.0, mask=at < n", "x * 2.0, mask=at < n - 1"),
    "right up to the limit": ("blocks", "x * 2.0, mask=at < n", "x * 2.0, mask=at < 1024"),
    "right above the limit": (
        "blocks",
        "tl.program_id(1) * B",
        "tl.program_id(1) * B + (n < 1024)",
    ),
    "a wrong factor": ("blocks", "x * 2.0", "x * 3.0"),
}


def verdict(text: str, algorithm: str) -> LayerVerdict:
    """Return what is known of a kernel with an algorithm."""
    return verify(load(Source("k.dt", algorithm)), HEAD + text, run_of=deciding).verdict


@pytest.mark.parametrize("one", RIGHT)
def test_it_is_proved(one: str) -> None:
    assert verdict(*RIGHT[one]) is LayerVerdict.PROVED


@pytest.mark.parametrize("one", WRONG)
def test_a_wrong_kernel_is_not_proved(one: str) -> None:
    of, old, new = WRONG[one]
    text, algorithm = RIGHT[of]
    assert verdict(changed(text, old, new), algorithm) is not LayerVerdict.PROVED


def test_a_mistake_that_only_one_case_has_is_refuted() -> None:
    text = changed(COPY, "mask=at < n)\n    tl.store", "mask=at < n + (n > 1024))\n    tl.store")
    text = changed(COPY, "at < n)\n    tl.store", "at <= n)\n    tl.store")
    report = verify(load(Source("k.dt", OF_COPY)), HEAD + text)
    assert report.verdict is LayerVerdict.REFUTED


def test_a_case_that_promises_leave_no_call_is_left_out() -> None:
    few = changed(TOTAL, "len(n) <= 2**30", "len(n) <= 512")
    assert verdict(few, OF_TOTAL) is LayerVerdict.PROVED
    none = changed(TOTAL, "len(n) <= 2**30", "len(n) <= 512, len(n) >= 513")
    assert verdict(none, OF_TOTAL) is LayerVerdict.UNKNOWN


@pytest.mark.parametrize("one", RIGHT)
def test_its_certificate_is_accepted(one: str) -> None:
    text, algorithm = RIGHT[one]
    written = certificate(load(Source("k.dt", algorithm)), algorithm, HEAD + text)
    checked = check_certificate(written, algorithm, HEAD + text)
    assert checked.complaints == ()
    assert checked.accepted


HEADS = """\
# tensors: X[s, h, d], cos[s, d], out(Y[s, h, d])
# verify: k[(len(s), len(h))](X, cos, Y, len(h), D=len(d))
# assume: reach(X) < 2**31, reach(Y) < 2**31, reach(cos) < 2**31
# assume: len(s) * len(h) * len(d) < 2**30, len(d) <= 4096, len(d) == next_power_of_2(len(d))
@triton.jit
def k(X, cos, Y, H, D: tl.constexpr):
    s = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, D)
    x = tl.load(X + (s * H + h) * D + d)
    c = tl.load(cos + s * D + d)
    tl.store(Y + (s * H + h) * D + d, x * c)
"""
POWER = "len(d) == next_power_of_2(len(d))"
WRONG_HEADS = {
    "no promise": (f", {POWER}", ""),
    "a promise of another size": (POWER, POWER.replace("(d)", "(h)")),
    "a promise that is less": (POWER, "len(d) <= next_power_of_2(len(d))"),
    "a promise of a multiple": (POWER, "len(d) % 16 == 0"),
    "three times as many lanes": ("tl.arange(0, D)", "tl.arange(0, 3 * D)"),
    "twice as many lanes": ("tl.arange(0, D)", "tl.arange(0, 2 * D)"),
    "half as many lanes": ("tl.arange(0, D)", "tl.arange(0, D // 2)"),
    "one lane more": ("tl.arange(0, D)", "tl.arange(0, D + 1)"),
    "the next row": ("cos + s * D", "cos + (s + 1) * D"),
    "another number of heads": ("Y + (s * H + h)", "Y + (s * D + h)"),
}


def verdict_of_heads(text: str) -> LayerVerdict:
    """Return what is known of a kernel without an algorithm."""
    whole = "import triton\nimport triton.language as tl\n\n" + text
    made = check(Source("k.py", algorithm_of(declared(whole))))
    assert made.program is not None
    return verify(made.program, whole, only=STRUCTURE, run_of=deciding).verdict


def test_a_size_may_be_a_number_of_lanes_if_it_is_promised() -> None:
    assert verdict_of_heads(HEADS) is LayerVerdict.PROVED


@pytest.mark.parametrize("one", WRONG_HEADS)
def test_a_wrong_kernel_of_heads_is_not_proved(one: str) -> None:
    old, new = WRONG_HEADS[one]
    assert verdict_of_heads(changed(HEADS, old, new)) is not LayerVerdict.PROVED


def test_a_power_of_two_that_other_promises_forbid_is_refused() -> None:
    text = changed(HEADS, "len(d) <= 4096", "len(d) >= 33, len(d) <= 63")
    assert verdict_of_heads(text) is LayerVerdict.UNKNOWN
