"""Ends of indices and the sizes that they decide, beside every index one by one."""

from itertools import product
from random import Random

import pytest

from dtpoly.algorithm.expressions import Affine, DividedIndex, Read, divided, division
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.index_ends import decides, ends, is_natural
from dtpoly.algorithm.label_sizes import input_shapes, largest_size, sizes_of
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source

LABELS = ("x", "y", "z")


def random_index(random: Random, depth: int = 2) -> Affine:
    """Return a sum of labels, quotients and remainders."""
    total = Affine((), random.choice((0, 0, 0, 1, 2, -1, -3)))
    for _ in range(random.choice((1, 1, 2, 2, 3))):
        one = Affine(((random.choice(LABELS), 1),))
        if depth and random.random() < 0.5:
            inner = random_index(random, depth - 1)
            one = divided(random.choice(("//", "%")), inner, random.choice((1, 2, 3, 5)))
        total = total + one.scaled(random.choice((1, 1, 1, 2, 3, -1)))
    return total


def value(index: Affine, at: dict[str, int]) -> int:
    """Return the value of an index at one point."""
    total = index.constant
    for term, coefficient in index.terms:
        if isinstance(term, str):
            total += coefficient * at[term]
        else:
            term = division(term)
            quotient, rest = divmod(value(term.inner, at), term.divisor)
            total += coefficient * (quotient if term.operator == "//" else rest)
    return total


def values(index: Affine, sizes: dict[str, int]) -> list[int]:
    """Return the values of an index at all points."""
    points = product(*(range(sizes[label]) for label in LABELS))
    return [value(index, dict(zip(LABELS, point, strict=True))) for point in points]


@pytest.mark.parametrize("part", range(4))
def test_every_value_is_between_the_ends(part: int) -> None:
    random, exact = Random(part), 0
    for _ in range(400):
        index = random_index(random)
        sizes = {label: random.randint(1, 6) for label in LABELS}
        low, high = ends(index, sizes)
        found = values(index, sizes)
        assert low <= min(found) <= max(found) <= high, show_affine(index)
        assert not is_natural(index) or min(found) >= 0
        exact += (low, high) == (min(found), max(found))
    assert exact >= 200


@pytest.mark.parametrize("part", range(4))
def test_the_largest_size_is_the_largest_for_which_all_is_inside(part: int) -> None:
    random, tried = Random(f"largest {part}"), 0
    while tried < 300:
        index, label = random_index(random), random.choice(LABELS)
        if not decides(index, label):
            continue
        tried += 1
        sizes = {one: random.randint(1, 4) for one in LABELS}
        extent = random.randint(0, 12)
        found = largest_size(index, label, extent, sizes)
        for size in range(1, 50):
            low, high = ends(index, {**sizes, label: size})
            is_inside = low >= 0 and high < extent
            assert is_inside is (size <= found), (show_affine(index), label, extent, sizes, found)


def test_what_is_divided_by_1_is_not_divided() -> None:
    x = Affine((("x", 1),))
    assert divided("//", x, 1) == x
    assert divided("%", x, 1) == Affine()
    assert divided("//", x.scaled(4) + Affine((), 7), 4) == x + Affine((), 1)
    assert divided("%", x.scaled(4) + Affine((), 7), 4) == Affine((), 3)
    assert divided("//", x, 2).divisions == (DividedIndex("//", x, 2),)


def test_a_label_is_put_into_quotients() -> None:
    x, y = Affine((("x", 1),)), Affine((("y", 2),), 1)
    half = divided("//", x, 2)
    assert half.substitute({"x": y}) == Affine((("y", 1),))
    assert half.substitute({"x": Affine((), 5)}) == Affine((), 2)
    assert half.labels == ("x",)
    assert half.plain is None
    with pytest.raises(TypeError):
        assert half.linear


def program(read: str, labels: str = "x") -> Program:
    """Return a Program that reads a tensor once."""
    return load(Source("one.dt", f"Func f; In A; Var {labels}; f[{labels}] = {read}; f.compile();"))


SIZES = {
    "A[x // 2]": ((3,), {"x": 6}),
    "A[x // 2 + 1]": ((3,), {"x": 4}),
    "A[(x + 1) // 2]": ((3,), {"x": 5}),
    "A[2 * (x // 3) + 1]": ((4,), {"x": 6}),
    "A[(9 - x) // 4]": ((3,), {"x": 10}),
    "A[x % 3, x // 3]": ((3, 4), {"x": 12}),
    "A[x % 3, x // 3] * A[x % 2, x // 3]": ((3, 1), {"x": 3}),
}


@pytest.mark.parametrize("read", SIZES)
def test_a_quotient_decides_a_size(read: str) -> None:
    shape, sizes = SIZES[read]
    assert sizes_of(program(read), {"A": shape}) == sizes
    assert input_shapes(program(read), sizes) == {"A": shape}
    assert filled(program(read), {}, {"x": sizes["x"]}) == sizes


def test_sizes_that_no_tensor_gives_are_refused() -> None:
    of = program("A[x // 2]")
    assert filled(of, {}, {"x": 5}) == {"x": 6}
    with pytest.raises(DtpolyError, match="disagree on the size of 'x'"):
        filled(of, {"x": 5})


def test_remainders_must_be_inside() -> None:
    of = program("A[x % 3, y]", "x, y")
    assert sizes_of(of, {"A": (3, 2)}, {"x": 7}) == {"x": 7, "y": 2}
    assert sizes_of(of, {"A": (2, 2)}, {"x": 2}) == {"x": 2, "y": 2}
    with pytest.raises(DtpolyError, match="read outside of axis 0"):
        sizes_of(of, {"A": (2, 2)}, {"x": 3})


MISTAKES = {
    "A[x // 0]": "DT217",
    "A[x % -2]": "DT217",
    "A[x // x]": "DT217",
    "A[x / 2]": "DT135",
    "A[(x - 3) // 2]": "DT137",
    "A[(x + 1) // 99999999999]": "DT131",
}


@pytest.mark.parametrize("read", MISTAKES)
def test_mistakes_have_a_code(read: str) -> None:
    with pytest.raises(DtpolyError) as found:
        program(read)
    assert [one.code for one in found.value.diagnostics][:1] == [MISTAKES[read]]


SHOWN = (
    "A[x // 2]",
    "A[2 * (x // 2) + 1 - x % 2]",
    "A[(x - 3) // 2 + x]",
    "A[-(x // 2) + 5]",
    "A[(x // 2) % 3]",
    "A[x - x % 4]",
)


@pytest.mark.parametrize("read", SHOWN)
def test_an_index_is_shown_as_it_is_read(read: str) -> None:
    padded = f"pad({read[0]}, 0){read[1:]}"
    (func,) = program(padded).funcs
    assert isinstance(func.body, Read)
    again = f"pad(A, 0)[{show_affine(func.body.indices[0])}]"
    assert program(again).funcs == program(padded).funcs
