"""The dtypes combine as torch's do."""

import itertools

import pytest
import torch

from dtpoly.algorithm.dtypes import (
    EIGHT_BIT_FLOATS,
    DType,
    accumulator,
    category,
    is_float,
    is_integer,
    promote,
    summed,
)
from dtpoly.algorithm.inference import InferredType, combine, type_of_operation
from dtpoly.reference.labelled_values import DTYPE, TORCH_DTYPE

PAIRS = list(itertools.product(DType, repeat=2))
NUMBERS = (True, 2, 0.5)
NUMBER_TYPES = {bool: DType.BOOL, int: DType.I64, float: DType.F32}


def torch_promotes(left: DType, right: DType) -> DType | None:
    try:
        return DTYPE[torch.promote_types(TORCH_DTYPE[left], TORCH_DTYPE[right])]
    except RuntimeError:
        return None


def weak(number: float) -> InferredType:
    return InferredType(NUMBER_TYPES[type(number)], weak=True)


def test_twelve_dtypes_have_a_torch_dtype_each() -> None:
    assert set(TORCH_DTYPE) == set(DType)
    assert len(DTYPE) == len(DType) == 12


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_promotes_as_torch_does(left: DType, right: DType) -> None:
    assert promote(left, right) == torch_promotes(left, right)


def test_only_eight_bit_floats_do_not_promote() -> None:
    for left, right in PAIRS:
        refused = left != right and (left in EIGHT_BIT_FLOATS or right in EIGHT_BIT_FLOATS)
        assert (promote(left, right) is None) == refused


@pytest.mark.parametrize("dtype", DType)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_counts_by_its_category_as_in_torch(dtype: DType, number: float) -> None:
    tensor = torch.zeros(2).to(TORCH_DTYPE[dtype])
    expected = DTYPE[torch.result_type(tensor, number)]
    assert combine(InferredType(dtype), weak(number)) == InferredType(expected)
    assert combine(weak(number), InferredType(dtype)) == InferredType(expected)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(NUMBERS, repeat=2)))
def test_two_numbers_stay_a_number(left: float, right: float) -> None:
    expected = DTYPE[torch.result_type(left, right)]
    assert combine(weak(left), weak(right)) == InferredType(expected, weak=True)


@pytest.mark.parametrize("dtype", [d for d in DType if d not in EIGHT_BIT_FLOATS])
def test_division_and_roots_are_floats_as_in_torch(dtype: DType) -> None:
    tensor = torch.ones(2).to(TORCH_DTYPE[dtype])
    of_type = [InferredType(dtype)]
    assert type_of_operation("div", of_type * 2) == InferredType(DTYPE[(tensor / tensor).dtype])
    assert type_of_operation("sqrt", of_type) == InferredType(DTYPE[torch.sqrt(tensor).dtype])
    assert type_of_operation("lt", of_type * 2) == InferredType(DType.BOOL)


def test_what_the_caller_decides_stays_open() -> None:
    unknown = InferredType(None)
    assert combine(unknown, InferredType(DType.F32)) == unknown
    assert combine(unknown, weak(2)) == unknown
    number = InferredType(None, weak=True)
    assert combine(InferredType(DType.F16), number) == InferredType(DType.F16)
    assert combine(InferredType(DType.I32), number) == unknown


def test_each_dtype_has_one_category() -> None:
    for dtype in DType:
        assert is_float(dtype) == TORCH_DTYPE[dtype].is_floating_point == (category(dtype) == 2)
        assert is_integer(dtype) == (category(dtype) == 1)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (DType.F8E4M3, DType.F32),
        (DType.F8E5M2, DType.F32),
        (DType.F16, DType.F32),
        (DType.BF16, DType.F32),
        (DType.F32, DType.F32),
        (DType.F64, DType.F64),
        (DType.BOOL, DType.I32),
        (DType.U8, DType.I32),
        (DType.I8, DType.I32),
        (DType.I16, DType.I32),
        (DType.I32, DType.I64),
        (DType.I64, DType.I64),
    ],
)
def test_sums_run_in_a_type_that_holds_them(dtype: DType, expected: DType) -> None:
    assert accumulator(dtype) is expected
    assert summed(dtype) is (dtype if is_float(dtype) else expected)
