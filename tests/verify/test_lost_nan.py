"""`tl.max` and `tl.min` leave out NaN: a kernel that loses one is refuted, and the reason says so.

A witness of numbers must show the mistake with numbers: of these, an extreme that leaves out NaN is
the extreme.
"""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.evaluate import differ, differ_by_nan
from dtpoly.verify.algebra.terms import AppliedOperation, Element, Literal, Term
from dtpoly.verify.algebra.whole import number
from dtpoly.verify.proof.report import Layer, LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.mutation.execution import Shown
from tests.verify.mutation.judging import Job, judge
from tests.verify.texts import written

LARGEST = written("Func f; In A; Var i; RVar j; f[i] = rmax(A[i, j], j);")
TOTAL = written("Func f; In A; Var i; RVar j; f[i] = rsum(A[i, j], j);")
KERNEL = """\
import triton
import triton.language as tl

# verify: rows[(len(i),)](A, f, len(j), A.stride(0), B=next_power_of_2(len(j)))
# assume: len(i) <= 2**30, reach(A) < 2**31{promise}


@triton.jit
def rows(a, o, m, s, B: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, B)
    x = tl.load(a + i * s + j, mask=j < m, other=-float("inf"))
    tl.store(o + i, tl.max(x, axis=0))
"""
NONE = frozenset[str]()


def value_of(program: Program, promise: str = "") -> Layer:
    """Return the layer that says what is stored."""
    report = verify(program, KERNEL.format(promise=promise))
    (value,) = [layer for layer in report.layers if layer.name == "value"]
    return value


def element(tensor: str, at: int) -> Element:
    return Element(tensor, (number(at),), 0, ())


def test_a_lost_nan_is_refuted_and_the_reason_says_so() -> None:
    value = value_of(LARGEST)
    assert value.verdict is LayerVerdict.REFUTED
    assert value.why.endswith("it shows where some elements are NaN")


def test_where_values_are_promised_to_be_finite_nothing_is_lost() -> None:
    assert value_of(LARGEST, ", finite").verdict is LayerVerdict.PROVED


def test_a_maximum_for_a_sum_is_seen_in_numbers() -> None:
    value = value_of(TOTAL)
    assert value.verdict is LayerVerdict.REFUTED
    assert "NaN" not in value.why
    assert value.witness is not None
    # Of one number the sum is the maximum.
    assert dict(value.witness.sizes)["j"] > 1


@pytest.mark.long
def test_witnesses_of_other_reductions_are_real() -> None:
    job = Job("listing_4_04_attention", "another reduction", 1)
    found = [one for said in judge(job, [""]) for one in said.refuted]
    assert found
    assert {one.shown for one in found} == {str(Shown.CONFIRMED)}


@pytest.mark.parametrize("word", ["maximum", "minimum"])
def test_the_extreme_of_numbers_is_the_same_with_and_without_nan(word: str) -> None:
    pair = (element("A", 0), element("A", 1))
    kernel, algorithm = AppliedOperation(f"{word} without nan", pair), AppliedOperation(word, pair)
    assert not differ(kernel, algorithm, {}, NONE)
    assert not differ_by_nan(algorithm, algorithm, {}, NONE)


def test_what_is_done_with_nan_is_only_said_where_nobody_doubts_it() -> None:
    def seen(around: str, *more: Term) -> bool:
        """Return whether some pair of elements, one of them NaN, shows that it was lost."""
        return any(
            differ_by_nan(
                AppliedOperation(around, (AppliedOperation("maximum without nan", pair), *more)),
                AppliedOperation(around, (AppliedOperation("maximum", pair), *more)),
                {},
                NONE,
            )
            for pair in ((element("A", at), element("B", at)) for at in range(8))
        )

    assert seen("add", Literal("1"))
    assert seen("exp")
    assert not seen("lt", Literal("1"))
    assert not seen("some operation")
