"""Sizes are limited where whole numbers made of indices would not fit 64 bits."""

from collections.abc import Mapping

import pytest

from dtpoly.algorithm.expressions import Apply, Expr, Index, Integer, Size
from dtpoly.algorithm.value_limits import LANES, LARGEST, NO_SIZE, largest_sizes
from dtpoly.checking import check, load
from dtpoly.source import Source

# A value of k, and of j where it stands there, and by how much its factors count.
LIMITS = {
    "2147483648 * k": 2**31,
    "2000000000 * k": 2 * 10**9,
    "k * 2147483648 + 1": 2**31,
    "-(2147483648 * k)": 2**31,
    "2147483648 * k + 2147483648 * j": 2**32,
    "2147483648 * k - 2147483648 * j": 2**32,
    "2147483648 * maximum(k, 7)": 2**31,
    "where(k < 5, 2147483648 * k, 0)": 2**31,
    "abs(2147483648 * k)": 2**31,
    "65536 * (65536 * k)": 2**32,
    "cast(2147483648 * k, f32)": 2**31,
    "k * 2199023255552": 2**41,
    "cast(k, i64) * 2147483648": 2**31,
    "pow(k, 1) * 2147483648": 2**31,
}
WITHOUT = [
    "k", "32767 * k", "k * j", "2147483648 * X[k]", "2147483648.0 * k", "cast(k, i32) * 2147483647",
    "pow(k, 2)",
]  # fmt: skip


def text_of(value: str) -> str:
    over = "k, j" if "j" in value else "k"
    read = "In X: i64;" if "X" in value else ""
    declared = f"Func f; RVar {over}; {read}"
    return f"{declared} f[] = rsum({value}, {over}); f.compile();"


def value_at(expr: Expr, at: Mapping[str, int]) -> int:
    """A whole number, without any limit."""
    match expr:
        case Integer(value=value):
            return value
        case Index(label=label):
            return at[label] - 1
        case Size(label=label):
            return at[label]
        case Apply(operation="mul", operands=(left, right)):
            return value_at(left, at) * value_at(right, at)
        case Apply(operation="add", operands=(left, right)):
            return value_at(left, at) + value_at(right, at)
        case Apply(operation="neg", operands=(one,)):
            return -value_at(one, at)
        case _:
            raise AssertionError(expr)


@pytest.mark.parametrize("value", LIMITS)
def test_is_limited(value: str) -> None:
    limits = largest_sizes(load(Source("test.dt", text_of(value))))
    assert limits.keys() == ({"k", "j"} if "j" in value else {"k"})
    factor = LIMITS[value]
    for limit, _ in limits.values():
        # All lanes of a tile fit, and hardly more.
        assert factor * (limit + LANES) <= LARGEST < factor * (limit + LANES + 2)


@pytest.mark.parametrize("value", [*LIMITS][:5])
def test_value_fits_up_to_the_limit(value: str) -> None:
    limits = largest_sizes(load(Source("test.dt", text_of(value))))
    for limit, node in limits.values():
        assert abs(value_at(node, dict.fromkeys("kj", limit + LANES))) <= LARGEST
        assert abs(value_at(node, dict.fromkeys("kj", limit + 2 * LANES))) > LARGEST


def test_a_size_counts_without_lanes() -> None:
    text = "Func f; Var x; f[x] = x + 2147483648 * len(x); f.compile();"
    (limit, _) = largest_sizes(load(Source("test.dt", text)))["x"]
    assert limit * (2**31 + 1) + LANES <= LARGEST < (limit + 1) * (2**31 + 1) + LANES


@pytest.mark.parametrize("value", WITHOUT)
def test_is_not_limited(value: str) -> None:
    assert not largest_sizes(load(Source("test.dt", text_of(value))))
    assert 32767 * NO_SIZE < LARGEST


def test_fixed_size_needs_no_limit() -> None:
    text = "Func f; RVar k: 3; f[] = rsum(2147483648 * k, k); f.compile();"
    assert not largest_sizes(load(Source("test.dt", text)))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("4000000000 * 4000000000 + k", "4000000000 * 4000000000"),
        ("4611686018427387904 * (k + 2)", "4611686018427387904 * (k + 2)"),
        ("2147483648 * (2147483648 * k)", "2147483648 * (2147483648 * k)"),
        ("pow(4398046511104, 2) + k", "pow(4398046511104, 2)"),
        ("pow(3, 1000000) + k", "pow(3, 1000000)"),
        ("cast(4398046511104, i64) * 4398046511104 + k", f"cast({1 << 42}, i64) * {1 << 42}"),
        ("4611686018427387904 * program_id(0) + k", "4611686018427387904 * program_id(0)"),
    ],
)
def test_what_fits_no_tile_is_refused(value: str, told: str) -> None:
    found = check(Source("test.dt", text_of(value))).diagnostics
    assert [one.title for one in found if one.code == "DT131"] == [f"'{told}' is too large"]
