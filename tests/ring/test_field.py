"""The laws that make the ring an oracle: sums, products and exp of elements are exact."""

from collections.abc import Callable

import numpy as np
import pytest

from dtpoly.ring import field
from dtpoly.ring.field import Elements


def elements(seed: int, *shape: int) -> Elements:
    """Random elements."""
    return field.whole(np.random.default_rng(seed).integers(-(2**40), 2**40, shape))


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


def test_elements_are_floats_in_order() -> None:
    everything = np.concatenate([A.ravel(), field.exp(A).ravel(), field.tag("sin", A).ravel()])
    assert np.isfinite(everything).all()
    assert (everything >= 0).all()
    assert (everything < np.inf).all()
    assert (np.maximum(A, -np.inf) == A).all()


def test_numbers() -> None:
    half = np.asarray(field.number(0.5))
    assert field.add(half, half) == field.number(1)
    assert field.whole(np.asarray(-3)) == field.negative(np.asarray(field.number(3)))
    assert field.number(float("-inf")) == -np.inf
    assert field.exp(np.asarray(-np.inf)) == field.number(0)
    assert np.isnan(field.add(half, np.asarray(np.inf)))


def test_sums_and_matrices() -> None:
    product = field.product_of_matrices(A, field.exp(B.T))
    one = field.total(field.multiply(A[2], field.exp(B[3])), 0)
    assert product[2, 3] == one
    assert np.array_equal(field.total(A, 1), field.total(A[:, ::-1], 1))


def test_tags_have_no_law() -> None:
    assert np.array_equal(field.tag("sin", A), field.tag("sin", A.copy()))
    assert not np.array_equal(field.tag("sin", A), field.tag("cos", A))
    assert not np.array_equal(field.tag("f", A, B), field.tag("f", B, A))
