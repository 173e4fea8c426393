"""The laws that make the ring an oracle: sums, products and exp of elements are exact."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dtpoly.ring import ring_elements as field
from dtpoly.ring.ring_elements import Elements

LOG2_E = math.log2(math.e)


def elements(seed: int, *shape: int) -> Elements:
    """Random elements."""
    return field.chosen(np.random.default_rng(seed), shape)


A, B, C = (elements(seed, 6, 9) for seed in range(3))


def test_ring() -> None:
    assert np.array_equal(field.add(A, B), field.add(B, A))
    assert np.array_equal(field.multiply(A, B), field.multiply(B, A))
    assert np.array_equal(
        field.multiply(A, field.add(B, C)),
        field.add(field.multiply(A, B), field.multiply(A, C)),
    )
    assert not field.subtract(A, A).any()
    assert np.array_equal(field.multiply(field.divide(A, B), B), A)
    assert np.array_equal(field.add(A, field.negative(A)), np.zeros(A.shape))


@pytest.mark.parametrize("power", [field.exp, field.exp2])
def test_exp_is_a_homomorphism(power: Callable[[Elements], Elements]) -> None:
    once = power(field.add(A, B))
    assert np.array_equal(once, field.multiply(power(A), power(B)))
    assert np.array_equal(power(once), power(field.multiply(power(A), power(B))))
    assert len(np.unique(power(power(A)))) > A.size // 2


@pytest.mark.parametrize("factor", [1.0, 0.125, -1.0, 3.0, 1 / 3])
def test_exp2_with_log2_e_is_exp(factor: float) -> None:
    for by in (factor * LOG2_E, float(np.float32(factor * LOG2_E))):
        scaled = field.multiply(A, np.asarray(field.number(by)))
        exact = field.number(Fraction(factor).limit_denominator(3 if factor == 1 / 3 else 128))
        assert np.array_equal(field.exp2(scaled), field.exp(field.multiply(A, np.asarray(exact))))


@pytest.mark.parametrize("by", [1.4427, LOG2_E + 1e-6, 0.7])
def test_other_numbers_are_no_log2_e(by: float) -> None:
    scaled = field.multiply(A, np.asarray(field.number(by)))
    assert not np.array_equal(field.exp2(scaled), field.exp(A))


def test_elements_are_floats_in_order() -> None:
    everything = np.concatenate([A.ravel(), field.exp(A).ravel(), field.tag("sin", A).ravel()])
    assert np.isfinite(everything).all()
    assert (np.abs(everything).view(np.uint64) < 2**61).all()
    assert (np.maximum(A, -np.inf) == A).all()
    assert np.array_equal(field.negative(A), -A)
    assert not np.signbit(field.negative(np.zeros(1))).any()


def test_numbers_are_in_order() -> None:
    numbers = [-(2.0**33), -97.0, -2.75, -1.0, -1 / 256, 0.0, 0.5, 1.0, 2.5, 128.0, 2.0**33]
    found = [field.number(one) for one in numbers]
    assert found == sorted(found)
    wholes, known = field.wholes_of(np.array(found))
    assert known.all()
    assert wholes.tolist() == [int(one) for one in numbers]


def test_what_is_no_number_is_seldom_taken_for_one() -> None:
    tags = field.tag("sin", field.whole(np.arange(10_000)))
    others = np.array([field.number(1e-5), np.inf, -np.inf, np.nan])
    assert field.wholes_of(tags)[1].mean() < 0.001
    assert not field.wholes_of(others)[1].any()


def test_numbers() -> None:
    half = np.asarray(field.number(0.5))
    assert field.add(half, half) == field.number(1)
    assert field.whole(np.asarray(-3)) == field.negative(np.asarray(field.number(3)))
    assert field.number(float("-inf")) == -np.inf
    assert field.exp(np.asarray(-np.inf)) == field.number(0)
    assert field.add(half, np.asarray(-np.inf)) == -np.inf
    assert field.exp(field.subtract(np.asarray(-np.inf), half)) == 0
    assert np.isnan(field.add(np.asarray(np.inf), np.asarray(-np.inf)))
    assert np.isnan(field.add(half, np.asarray(np.nan)))
    assert field.multiply(half, np.asarray(-np.inf)) == -np.inf
    assert np.isnan(field.multiply(field.number(0) * half, np.asarray(np.inf)))
    assert field.total(np.array([0.0, -np.inf, half]), 0) == -np.inf
    assert np.isnan(field.total(np.array([np.inf, -np.inf]), 0))


def test_rows_that_ascend_have_the_same_elements() -> None:
    elements = field.chosen(np.random.default_rng(1), (4, 5))
    found = field.ascending(elements)
    assert np.array_equal(np.sort(found), np.sort(elements))
    assert np.array_equal(found[1::2], elements[1::2])
    assert (np.diff(found[::2]) >= 0).all()


def test_sums_and_matrices() -> None:
    product = field.product_of_matrices(A, field.exp(B.T))
    one = field.total(field.multiply(A[2], field.exp(B[3])), 0)
    assert product[2, 3] == one
    assert np.array_equal(field.total(A, 1), field.total(A[:, ::-1], 1))


def test_tags_have_no_law() -> None:
    assert np.array_equal(field.tag("sin", A), field.tag("sin", A.copy()))
    assert not np.array_equal(field.tag("sin", A), field.tag("cos", A))
    assert not np.array_equal(field.tag("f", A, B), field.tag("f", B, A))


@pytest.mark.parametrize("start", [-(2.0**100), 2.0**100, -1e38])
def test_a_start_is_beyond_all_elements(start: float) -> None:
    """A running maximum that starts with such a number ends as one that starts with -inf."""
    far = np.full(A.shape, field.number(start))
    assert np.isfinite(far).all()
    assert ((far < A) if start < 0 else (far > A)).all()
    back = field.subtract(field.add(far, A), far)
    assert np.array_equal(back, A)
    same = field.multiply(far, np.full(A.shape, field.number(1.0)))
    assert np.array_equal(field.add(far, A), field.add(same, A))
