"""The evaluator: in which floats whole numbers are computed with, where terms do not say it."""

import numpy as np
import pytest

from tests.attack.arithmetic import applied
from tests.attack.case import Call, Case, Given
from tests.attack.generating import algorithm_of, case_of_seed
from tests.attack.inputs import tensors_of
from tests.attack.kernels import judged
from tests.attack.numbers import Number
from tests.attack.outcome import Verdict
from tests.attack.reading import executed, read

SIZE = 128


def case_with(value: str, dtype: str, out: str, wide: str = "f32") -> Case:
    """Return a kernel that stores one value, made of two tiles."""
    tensors = (
        Given("A", dtype, ("i",), False),
        Given("B", dtype, ("i",), False),
        Given("out", out, ("i",), True),
    )
    text = f"""import triton
import triton.language as tl

# verify: kernel[(1,)](A, B, out, len(i))
# assume: len(i) == {SIZE}


@triton.jit
def kernel(a_ptr, b_ptr, o_ptr, n):
    at = tl.arange(0, {SIZE})
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    tl.store(o_ptr + at, {value})
"""
    calls = tuple(Call({"i": SIZE}, 5, values) for values in ("lattice", "wide", "edges"))
    return Case(text, algorithm_of([*tensors], {}), tensors, {}, calls, wide=wide)


F32, F64 = ("to(tl.float32)", "f32"), ("to(tl.float64)", "f64")
VALUES = (
    "a.TO / 3",
    "0.5 + a.TO",
    "a.TO * b.TO",
    "tl.abs(a.TO)",
    "tl.abs(a).TO",
    "(a * b).TO",
    "a.TO * b.TO + a.TO",
    "tl.where(a > 2, a.TO * b.TO, b.TO) - a.TO",
    "tl.maximum(a.TO * b.TO, b.TO) * a.TO",
    "(a.TO * b.TO < b.TO * b.TO + b.TO).TO / 3.0",
    "-(a.TO * b.TO) + b.TO",
    "(a + 0).TO",
    "(0 + a).TO * b.TO",
)


@pytest.mark.sampled
@pytest.mark.parametrize(("to", "wide"), [F32, F64])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (value, dtype)
        for value in VALUES
        for dtype in ("i8", "i16", "i32", "i64")
        # This is not read: a GPU does not wrap it.
        if (value, dtype) != ("tl.abs(a).TO", "i16")
    ],
)
def test_whole_numbers_become_floats_of_the_case(
    value: str, dtype: str, to: str, wide: str
) -> None:
    outcome = judged(case_with(value.replace("TO", to), dtype, "f64", wide))
    assert outcome.verdict is Verdict.AGREE, outcome.what
    assert outcome.figures["elements to the last bit"] >= SIZE


def test_a_product_of_floats_is_rounded_though_its_operands_are_whole() -> None:
    case = case_with("a.to(tl.float32) * b.to(tl.float32) + a.to(tl.float32)", "i16", "f64")
    tensors = tensors_of(case, case.calls[1])
    found = executed(case, read(case), case.calls[1], tensors).memory["out"]
    a, b = (tensors[name].numpy().astype(np.float32) for name in "AB")
    np.testing.assert_array_equal(found.data, (a * b + a).astype(np.float64))
    assert not found.slack.any()
    # If the numbers were not rounded, other ones would come out.
    assert (found.data != a.astype(np.float64) * b + a).any()


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("value", ["a + 0", "0 + a", "a * 1", "a - 0"])
def test_whole_numbers_that_are_stored_in_floats_are_not_rounded_before(
    value: str, dtype: str
) -> None:
    outcome = judged(case_with(value, dtype, "f64"))
    assert outcome.verdict is Verdict.AGREE, outcome.what


@pytest.mark.parametrize("value", ["a / 3.0", "(a > b).to(tl.float32) / 3"])
def test_a_truth_as_a_number_has_a_type(value: str) -> None:
    outcome = judged(case_with(value, "bool" if "/ 3.0" in value else "i8", "f64"))
    assert outcome.verdict is Verdict.AGREE, outcome.what


# A sum in f16, whole numbers in f64 and in f32, a scalar beside f64, one rounding for two.
@pytest.mark.sampled
@pytest.mark.parametrize("seed", [1310, 1341, 2001009, 2002958, 2000223, 9000430, 34001040])
def test_what_the_campaign_found_is_mended(seed: int) -> None:
    outcome = judged(case_of_seed(seed))
    assert outcome.verdict is Verdict.AGREE, outcome.what


@pytest.mark.parametrize(
    "value",
    [
        # What f8e5 has not is the largest number on one machine, and infinity on another.
        "(a * 65504.0).to(tl.float8e5).to(tl.float32)",
        "(a * 3e38).to(tl.float8e5).to(tl.float32)",
        # Of 0 the sign is not proved.
        "1.0 / (0.0 - tl.abs(a) * 0.0)",
    ],
)
def test_what_the_language_leaves_open_is_not_compared(value: str) -> None:
    case = case_with(value, "f32", "f32")
    tensors = tensors_of(case, case.calls[0])
    slack = executed(case, read(case), case.calls[0], tensors).memory["out"].slack
    a = tensors["A"].numpy()
    assert np.isinf(slack[a == 2049.0]).all()
    assert not np.isnan(slack).any()


@pytest.mark.parametrize(
    ("word", "others"),
    [("ceil", (1.0, 0.0)), ("floor", (0.0,)), ("sqrt", (1e-20, 0.0)), ("exp2", (1.0,))],
)
def test_a_gpu_may_take_0_for_what_is_tiny(word: str, others: tuple[float, ...]) -> None:
    tiny, small = np.float32(1e-40), np.float32(1e-30)
    given = Number(np.asarray([tiny, small], np.float32))
    loose = applied(word, [given], 8.0)
    error = np.broadcast_to(loose.error, (2,))
    for other in others:
        assert abs(float(loose.data[0]) - other) <= error[0]
    # What is no such number is not looser than without: a wrong ceiling would be seen.
    if word in ("ceil", "floor"):
        assert error[1] == 0
    assert applied(word, [given]).data[0] == loose.data[0]


def test_floats_of_8_bits_are_given_as_numbers_that_these_have() -> None:
    case = case_with("a.to(tl.float32)", "f8e4m3", "f32")
    values = tensors_of(case, case.calls[0])["A"].float().numpy()
    assert np.nanmax(values) == 448.0
    assert np.isnan(values).sum() < SIZE / 8
