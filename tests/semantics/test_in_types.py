"""The numbers with which entries are checked: types round, wrap and are stored as they should."""

import math

import pytest

from dtpoly.verify.semantics.types import FLOATS, TENSORS, WHOLES
from tests.semantics.expected import agrees, expected
from tests.semantics.in_types import edges, nearest, packed, unpacked, wrapped


@pytest.mark.parametrize("of", TENSORS)
def test_numbers_come_back_from_memory(of: str) -> None:
    found = unpacked(packed(edges(of), of), of)
    assert [repr(one) for one in found] == [repr(one) for one in edges(of)]


@pytest.mark.parametrize("of", FLOATS)
def test_a_number_of_a_type_is_the_nearest_to_itself(of: str) -> None:
    assert [repr(nearest(one, of)) for one in edges(of)] == [repr(one) for one in edges(of)]


def test_rounding_takes_the_even_one_of_two() -> None:
    assert nearest(2049, "tl.float16") == 2048.0
    assert nearest(2051, "tl.float16") == 2052.0
    assert nearest(65520, "tl.float16") == math.inf
    assert nearest(2**24 + 1, "tl.float32") == 2.0**24
    assert nearest(257, "tl.bfloat16") == 256.0


@pytest.mark.parametrize("of", WHOLES)
def test_whole_numbers_wrap(of: str) -> None:
    assert [wrapped(int(one), of) for one in edges(of)] == edges(of)
    assert wrapped(128, "tl.int8") == -128
    assert wrapped(-1, "tl.uint16") == 65535


# An entry with its operands, and what it gives.
VALUES = (
    ("div", ("tl.float16", "tl.float16"), (1.0, 3.0), nearest(1 / 3, "tl.float32")),
    ("floordiv", ("tl.int32", "tl.int32"), (-7, 2), -3),
    ("mod", ("tl.int32", "tl.int32"), (-7, 2), -1),
    ("mod", ("tl.int32", "tl.int32"), (7, 0), None),
    ("add", ("tl.int8", "tl.int8"), (127, 1), -128),
    ("add", ("tl.uint8", "tl.int8"), (0, -1), 255),
    ("lt", ("tl.uint32", "tl.int32"), (1, -1), 1),
    ("invert", ("tl.int1",), (1,), 0),
    ("shr", ("tl.int8", "tl.int8"), (-1, 1), -1),
    ("shr", ("tl.uint8", "tl.uint8"), (255, 1), 127),
    ("shr", ("tl.int8", "tl.uint8"), (-1, 1), 255),
    ("shl", ("tl.int8", "tl.int8"), (1, 8), None),
    ("maximum", ("tl.float32", "tl.float32"), (math.nan, 1.0), 1.0),
    ("cast", ("tl.float32", "tl.int8"), (-1.5,), -1),
    ("cast", ("tl.float32", "tl.int8"), (300.0,), None),
    ("cast", ("tl.float16", "tl.int1"), (0.5,), 1),
    ("add", ("tl.float16", "tl.int64"), (1.0, 2**40), math.inf),
)


@pytest.mark.parametrize(("name", "operands", "given", "wanted"), VALUES)
def test_an_entry_says_a_value(
    name: str, operands: tuple[str, ...], given: tuple[float, ...], wanted: float | None
) -> None:
    assert expected(name, operands, given) == wanted


def test_a_nan_is_one_and_zeros_are_alike() -> None:
    assert expected("maximum of all", ("tl.float32",) * 2, (math.nan, 1.0)) is not None
    assert agrees("add", math.nan, math.nan, "tl.float32")
    assert agrees("add", 0.0, -0.0, "tl.float32")
    assert not agrees("add", 1.0, math.nan, "tl.float32")
    assert not agrees("add", 1.0, 1.0000001, "tl.float32")
    assert agrees("exp", 1.0, 1.0000001, "tl.float32")
