"""Tests which tensor decides which size, and what is said where tensors disagree."""

import itertools

import pytest

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.label_sizes import (
    check_sizes,
    input_shapes,
    largest_size,
    reach,
    size_rules,
    sizes_of,
    used_labels,
)
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.source import Source

SOFTMAX = """
    Func s, f; In A; Var x; RVar y;
    s[x] = rsum(A[x, y], y); f[x, y] = A[x, y] / reshape(s[x], x, 1);
"""
RMS = "Func f; In X, W; Var x, y; RVar k; f[x, y] = X[x, y] * rsqrt(rsum(X[x, k], k)) * W[y];"
STENCIL = "Func f; In A; Var x, y; f[x, y] = A[x, y] + A[x, y + 2];"
CONVOLUTION = "Func f; In X, W; Var h; RVar r; f[h] = rdot(X[2 * h + r], W[r], r);"
MATMUL = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
ONES = "Func g, f; In A; Var u, x; g[u] = 1.0; f[x] = g[x] + A[x];"
IOTA = "Func f; Var x; f[x] = x;"
SHIFTED = "Func f; In A, B; Var x; f[x] = A[x] + B[x + 2];"


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def refused(
    text: str, shapes: dict[str, tuple[int, ...]], passed: dict[str, int] | None = None
) -> Diagnostic:
    with pytest.raises(DtpolyError) as error:
        sizes_of(program(text), shapes, passed)
    return error.value.diagnostics[0]


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (SOFTMAX, ["x from A.shape[0]", "y from A.shape[1]"]),
        (RMS, ["x from X.shape[0]", "y from X.shape[1]", "k from X.shape[1]"]),
        (STENCIL, ["x from A.shape[0]", "y from A.shape[1] (read at y + 2)"]),
        (CONVOLUTION, ["r from W.shape[0]", "h from X.shape[0] (read at 2 * h + r)"]),
        (MATMUL, ["m from A.shape[0]", "k from A.shape[1]", "n from B.shape[1]"]),
        (ONES, ["x from A.shape[0]", "u from g.shape[0]"]),
        (IOTA, ["x must be passed"]),
        (SHIFTED, ["x from A.shape[0]"]),
    ],
)
def test_who_decides(text: str, rules: list[str]) -> None:
    assert sorted(map(str, size_rules(program(text)))) == sorted(rules)


@pytest.mark.parametrize(
    ("text", "shapes", "passed", "sizes"),
    [
        (SOFTMAX, {"A": (3, 5)}, {}, {"x": 3, "y": 5}),
        (RMS, {"X": (3, 5), "W": (5,)}, {}, {"x": 3, "y": 5, "k": 5}),
        (STENCIL, {"A": (3, 5)}, {}, {"x": 3, "y": 3}),
        (STENCIL, {"A": (3, 1)}, {}, {"x": 3, "y": 0}),
        (CONVOLUTION, {"X": (9,), "W": (3,)}, {}, {"h": 4, "r": 3}),
        (CONVOLUTION, {"X": (8,), "W": (3,)}, {}, {"h": 3, "r": 3}),
        (CONVOLUTION, {"X": (8,), "W": (9,)}, {}, {"h": 0, "r": 9}),
        (MATMUL, {"A": (2, 0), "B": (0, 4)}, {}, {"m": 2, "k": 0, "n": 4}),
        (ONES, {"A": (6,)}, {}, {"x": 6, "u": 6}),
        (IOTA, {}, {"x": 7}, {"x": 7}),
        (SHIFTED, {"A": (4,), "B": (6,)}, {"x": 4}, {"x": 4}),
    ],
)
def test_sizes(
    text: str, shapes: dict[str, tuple[int, ...]], passed: dict[str, int], sizes: dict[str, int]
) -> None:
    assert sizes_of(program(text), shapes, passed) == sizes


def test_one_label_has_one_size() -> None:
    found = refused(MATMUL, {"A": (2, 3), "B": (4, 5)})
    assert found.code == "DT172"
    assert found.title == "the tensors disagree on the size of 'k'"
    assert found.notes[0].text == "A.shape[1] is 3, but B.shape[0] is 4"
    assert found.span is not None
    assert found.span.text == "B[k, n]"


def test_a_passed_size_must_be_the_tensors() -> None:
    found = refused(SOFTMAX, {"A": (3, 5)}, {"y": 4})
    assert (found.code, found.notes[0].text) == (
        "DT172",
        "4 was passed, but A.shape[1] is 5",
    )


def test_an_offset_read_of_another_tensor_must_fit_exactly() -> None:
    found = refused(SHIFTED, {"A": (4,), "B": (5,)})
    assert (found.code, found.label) == ("DT172", "B.shape[0] is 5, which gives 3")


def test_a_read_of_two_labels_must_be_inside() -> None:
    text = "Func f; In A, B, C; Var x, y; f[x, y] = reshape(A[x], x, 1) + B[y] + C[x + y];"
    shapes = {"A": (3,), "B": (4,), "C": (6,)}
    assert sizes_of(program(text), shapes) == {"x": 3, "y": 4}
    found = refused(text, {**shapes, "C": (5,)})
    assert found.code == "DT173"
    assert found.title == "'C' is read outside of axis 0"
    assert found.label == "C.shape[0] is 5, and x + y reaches 5"


def test_what_no_tensor_shows_must_be_passed() -> None:
    found = refused(IOTA, {})
    assert (found.code, found.hint) == ("DT170", "pass x=...")


@pytest.mark.parametrize("body", ["x", "len(x)", "rsum(x, x)", "pad(A, 0)[x - 1]", "reshape(1, x)"])
def test_the_text_notes_what_must_be_passed(body: str) -> None:
    func = program(f"Func f; In A; RVar x; f[{'' if body == 'rsum(x, x)' else 'x'}] = {body};")
    notes = [d.title for d in check_sizes(func) if d.code == "DT174"]
    assert notes == ["the size of 'x' must be passed by the caller"]


def test_an_unused_label_needs_no_size() -> None:
    text = "Func f; In A; Var x, idle; f[x] = A[x];"
    assert used_labels(program(text)) == {"x"}
    assert sizes_of(program(text), {"A": (3,)}) == {"x": 3}
    assert check_sizes(program(text)) == []


def indices() -> list[Affine]:
    """Every index of one or two labels with small coefficients."""
    one = [Affine((("x", c),), k) for c in (-2, -1, 1, 2, 3) for k in range(5)]
    two = [
        Affine((("x", a), ("y", b)), k)
        for a, b in itertools.product((-1, 1, 2), repeat=2)
        for k in range(4)
    ]
    return one + two


def values(index: Affine, sizes: dict[str, int]) -> list[int]:
    """Every value of an index."""
    points = itertools.product(*(range(sizes[label]) for label in index.labels))
    coefficients = [coefficient for _, coefficient in index.terms]
    return [
        index.constant + sum(c * p for c, p in zip(coefficients, point, strict=True))
        for point in points
    ]


@pytest.mark.parametrize("extent", range(7))
@pytest.mark.parametrize("y", range(1, 4))
def test_largest_size_is_the_last_that_is_inside(extent: int, y: int) -> None:
    for index in indices():
        inside = [
            size
            for size in range(1, 12)
            if all(0 <= value < extent for value in values(index, {"x": size, "y": y}))
        ]
        assert largest_size(index, "x", extent, {"y": y}) == max(inside, default=0), index


@pytest.mark.parametrize(("x", "y"), list(itertools.product(range(4), repeat=2)))
def test_reach_is_the_first_extent_that_holds_every_value(x: int, y: int) -> None:
    sizes = {"x": x, "y": y}
    for index in indices():
        assert reach(index, sizes) == max((v + 1 for v in values(index, sizes)), default=0)


@pytest.mark.parametrize(("x", "y"), list(itertools.product(range(4), repeat=2)))
def test_reach_decides_a_size(x: int, y: int) -> None:
    sizes = {"x": x, "y": y}
    for index in indices():
        if all(coefficient > 0 for _, coefficient in index.terms):
            assert largest_size(index, "x", reach(index, sizes, "x"), sizes) == x, index


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SOFTMAX, {"x": 3, "y": 5}),
        (SOFTMAX, {"x": 0, "y": 0}),
        (RMS, {"x": 3, "y": 5, "k": 5}),
        (STENCIL, {"x": 3, "y": 0}),
        (STENCIL, {"x": 0, "y": 4}),
        (CONVOLUTION, {"h": 4, "r": 3}),
        (CONVOLUTION, {"h": 0, "r": 3}),
        (CONVOLUTION, {"h": 4, "r": 0}),
        (CONVOLUTION, {"h": 0, "r": 0}),
        (ONES, {"u": 2, "x": 2}),
        (SHIFTED, {"x": 3}),
    ],
)
def test_input_shapes_give_the_sizes_back(text: str, sizes: dict[str, int]) -> None:
    shapes = input_shapes(program(text), sizes)
    assert sizes_of(program(text), shapes) == sizes


def test_input_shapes_are_the_smallest() -> None:
    assert input_shapes(program(CONVOLUTION), {"h": 4, "r": 3}) == {"X": (9,), "W": (3,)}
    padded = "Func f; In A, B; Var x; f[x] = pad(A, 0)[x - 1] + B[x];"
    assert input_shapes(program(padded), {"x": 4}) == {"A": (4,), "B": (4,)}
    unread = "Func f; In A, B; Var x; f[x] = A[x];"
    assert input_shapes(program(unread), {"x": 4}) == {"A": (4,), "B": ()}


def test_a_disagreement_is_told_once() -> None:
    text = "Func g, f; In A, B; Var x, y; g[x] = A[x]; f[y] = g[y] + B[y]; f.compile();"
    with pytest.raises(DtpolyError) as error:
        sizes_of(load(Source("s.dt", text)), {"A": (3,), "B": (4,)})
    assert [d.code for d in error.value.diagnostics] == ["DT172"]
