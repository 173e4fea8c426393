"""Random whole kernels: the campaign, and the evaluator that it rests on."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.attack.case import Call, Case, Given
from tests.attack.generating import case_of_seed
from tests.attack.kernels import attempt, judged
from tests.attack.launching import launched
from tests.attack.numbers import Number, nearest, rounded
from tests.attack.outcome import Verdict

HEAD = "import triton\nimport triton.language as tl\n\n"
# Rows of a matrix are added up, some elements at a time.
SAID = "kernel[(cdiv(len(i), 8),)](A, B, out, len(i), len(k), A.stride(0), BLOCK=8, K=4)"
ROWS = f"""{HEAD}# verify: {SAID}


@triton.jit
def kernel(a, b, o, n, m, s, BLOCK: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(0, m, K):
        at = k + tl.arange(0, K)
        mask = (i[:, None] < n) & (at[None, :] < m)
        x = tl.load(a + i[:, None] * s + at[None, :], mask=mask, other=0.0)
        total += tl.sum(x, axis=1)
    tl.store(o + i, total * tl.load(b + i, mask=i < n), mask=i < n)
"""
ALGORITHM = """In A: f32, B: f32;
Func out: f32;
RVar i, k;
out[i] = rsum(A[i, k], k) + B[i];
"""
TENSORS = (
    Given("A", "f32", ("i", "k"), False, 3),
    Given("B", "f32", ("i",), False),
    Given("out", "f32", ("i",), True),
)
CALLS = (Call({"i": 13, "k": 10}, 1, "small"), Call({"i": 8, "k": 4}, 2, "wide"))


def test_what_is_read_of_a_kernel_is_what_it_does() -> None:
    outcome = judged(Case(ROWS, ALGORITHM, TENSORS, {}, CALLS))
    assert outcome.verdict is Verdict.AGREE, outcome.what
    assert outcome.figures["elements"] == 21
    # Sums of small whole numbers must be right to the last bit.
    assert outcome.figures["elements to the last bit"] >= 13


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("other=0.0", "other=1.0"),
        ("range(0, m, K)", "range(K, m, K)"),
        ("tl.sum(x, axis=1)", "tl.max(x, axis=1)"),
        ("(at[None, :] < m)", "(at[None, :] < m - 1)"),
        ("i[:, None] * s +", "i[:, None] * m +"),
        ("total * tl.load(b + i, mask=i < n)", "total"),
        ("tl.store(o + i,", "tl.store(o + n - 1 - i,"),
    ],
)
def test_another_kernel_is_seen(said: str, done: str) -> None:
    """The reading of one kernel is not that of a slightly different one."""

    def other(case: Case, call: Call, tensors: Mapping[str, torch.Tensor]) -> None:
        text = case.text.replace(said, done)
        assert text != case.text
        launched(replace(case, text=text), call, tensors)

    outcome = judged(Case(ROWS, ALGORITHM, TENSORS, {}, CALLS), other)
    assert outcome.verdict is Verdict.WRONG


def test_a_seed_makes_one_kernel() -> None:
    assert case_of_seed(3) == case_of_seed(3)
    assert case_of_seed(3) != case_of_seed(4)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_a_slice_of_the_campaign(seed: int) -> None:
    outcome = attempt(seed)
    assert outcome.verdict is not Verdict.CRASH, outcome.case


def test_numbers_are_brought_to_types_as_numpy_and_the_standard_say() -> None:
    ties = np.asarray([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-40, -3.0], np.float64)
    assert nearest("tl.bfloat16", ties).tolist() == [1.0, 1 + 2**-6, 1 + 2**-7, -3.0]
    assert nearest("tl.float16", np.asarray([2049.0, 65520.0])).tolist() == [2048.0, np.inf]
    data = np.asarray([300, -129, 127])
    assert rounded("tl.int8", Number(data)).data.tolist() == [44, 127, 127]
    assert rounded("tl.uint8", Number(data)).data.tolist() == [44, 127, 127]
