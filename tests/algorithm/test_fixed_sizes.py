"""Sizes that a file fixes: what follows from them, what they refuse, what contradicts them."""

import pytest

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import check, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source

POOL = (
    "Func f; In X; Var b, h, w; RVar r: 3, s: 3;"
    "f[b, h, w] = rmax(X[b, 2 * h + r, 2 * w + s], r, s);"
)
COLUMNS = "Func f; In A; Var x; RVar c: 4; f[x] = rsum(A[x, c], c);"
PADDED = "Func f; In X; Var b, h; RVar r: 3; f[b, h] = rsum(pad(X, 0)[b, 2 * h + r - 1], r);"
LONG = "Func f; In X; Var h: 9; RVar r; f[h] = rmax(X[2 * h + r], r);"
PASSED = "Func f; In X; Var h; RVar r; f[h] = rmax(X[2 * h + r], r);"


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def refused(
    text: str, shapes: dict[str, tuple[int, ...]], passed: dict[str, int] | None = None
) -> str:
    with pytest.raises(DtpolyError) as error:
        sizes_of(program(text), shapes, passed)
    found = error.value.diagnostics[0]
    return " ".join((found.title, found.label, *(note.text for note in found.notes)))


@pytest.mark.parametrize("text", [POOL, COLUMNS, PADDED, LONG])
def test_is_shown_as_it_is_written(text: str) -> None:
    one = program(text)
    assert program(show(one)) == one
    assert any(label.size is not None for label in one.labels)


@pytest.mark.parametrize(
    ("text", "shapes", "passed", "sizes"),
    [
        (POOL, {"X": (2, 7, 9)}, {}, {"b": 2, "h": 3, "w": 4, "r": 3, "s": 3}),
        (POOL, {"X": (2, 8, 3)}, {}, {"b": 2, "h": 3, "w": 1, "r": 3, "s": 3}),
        (POOL, {"X": (2, 3, 3)}, {"r": 3}, {"b": 2, "h": 1, "w": 1, "r": 3, "s": 3}),
        (COLUMNS, {"A": (5, 4)}, {}, {"x": 5, "c": 4}),
        (PADDED, {"X": (6, 5)}, {"h": 3}, {"b": 6, "h": 3, "r": 3}),
        (LONG, {"X": (19,)}, {}, {"h": 9, "r": 3}),
        (PASSED, {"X": (19,)}, {"h": 9}, {"h": 9, "r": 3}),
        (PASSED, {"X": (0,)}, {"h": 0}, {"h": 0, "r": 0}),
    ],
)
def test_sizes(
    text: str, shapes: dict[str, tuple[int, ...]], passed: dict[str, int], sizes: dict[str, int]
) -> None:
    assert sizes_of(program(text), shapes, passed) == sizes


@pytest.mark.parametrize(
    ("text", "shapes", "passed", "said"),
    [
        (POOL, {"X": (2, 2, 9)}, {}, "X.shape[1] is 2, and 2 * h + r reaches 2"),
        (POOL, {"X": (0, 9, 0)}, {}, "X.shape[2] is 0, and 2 * w + s reaches 2"),
        (POOL, {"X": (2, 9, 9)}, {"r": 4}, "the size of 'r' is 3, not 4"),
        (COLUMNS, {"A": (5, 3)}, {}, "the file says that it is 4, but A.shape[1] is 3"),
        (COLUMNS, {"A": (5, 5)}, {}, "the file says that it is 4, but A.shape[1] is 5"),
        (LONG, {"X": (16,)}, {}, "X.shape[0] is 16, and 2 * h + r reaches 16"),
        (PASSED, {"X": (16,)}, {"h": 9}, "X.shape[0] is 16, and 2 * h + r reaches 16"),
        (PADDED, {"X": (6, 5)}, {"h": 3, "b": 7}, "7 was passed, but X.shape[0] is 6"),
    ],
)
def test_refused(
    text: str, shapes: dict[str, tuple[int, ...]], passed: dict[str, int], said: str
) -> None:
    assert said in refused(text, shapes, passed)


def test_who_decides() -> None:
    assert list(map(str, size_rules(program(POOL)))) == [
        "r is 3, as declared",
        "s is 3, as declared",
        "b from X.shape[0]",
        "h from X.shape[1] (read at 2 * h + r)",
        "w from X.shape[2] (read at 2 * w + s)",
    ]
    assert list(map(str, size_rules(program(PADDED)))) == [
        "r is 3, as declared",
        "b from X.shape[0]",
        "h must be passed",
    ]


def test_only_where_all_indices_are_labels_is_a_pad_for_all_axes() -> None:
    text = "Func f; In A, B; Var x, y; f[x, y] = pad(A, 0)[x, y] + B[x, y];"
    shapes: dict[str, tuple[int, ...]] = {"A": (2, 2), "B": (3, 4)}
    assert sizes_of(program(text), shapes) == {"x": 3, "y": 4}
    assert "disagree on the size of 'y'" in refused(
        text.replace("[x, y] +", "[x - 1, y] +"), shapes
    )


def test_what_is_left_is_filled() -> None:
    assert filled(program(POOL), {"b": 2, "h": 3, "w": 4})["r"] == 3
    with pytest.raises(DtpolyError, match="the size of 's' is 3, not 2"):
        filled(program(POOL), {"b": 2, "h": 3, "w": 4, "s": 2})
    shapes = input_shapes(program(POOL), {"b": 2, "h": 3, "w": 4, "r": 3, "s": 3})
    assert shapes == {"X": (2, 7, 9)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Func f; In A; Var x: 0; f[x] = A[x];", "DT167"),
        ("Func f; In A; Var x: -4; f[x] = A[x];", "DT167"),
        ("Func f; In A; Var x: 2.5; f[x] = A[x];", "DT167"),
        ("Func f; In A; Var x: 1e3; f[x] = A[x];", "DT167"),
        (f"Func f; In A; Var x: {2**30 + 1}; f[x] = A[x];", "DT167"),
        (f"Func f; In A; Var x: {'9' * 5000}; f[x] = A[x];", "DT167"),
        ("Func f; In A: 3; Var x; f[x] = A[x];", "DT130"),
        ("Func f: 3; In A; Var x; f[x] = A[x];", "DT130"),
        ("Func f; In A; Var x: i32; f[x] = A[x];", "DT164"),
        ("Func f; In A; Var x: 3, y: 4; f[x, y] = reshape(A[x], x, 1) + A[y];", "DT168"),
        ("Func f, g; In A; Var x: 3, y: 4; g[x] = A[x]; f[y] = g[y];", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[x] + A[x + 1];", ""),
        ("Func f; In A; Var x: 3; RVar r: 2; f[x] = A[x] + rsum(A[x + r], r);", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[1 - x];", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[2 - x] + A[x];", ""),
        ("Func f; In A; Var x: 3; f[x] = A[5 - 2 * x];", ""),
        ("Func f; In A; Var x: 3; f[x] = A[2 - x] + A[4 - x];", ""),
        ("Func f; In A; Var x: 3; f[x] = A[3 - x];", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[3 - x] + A[7 - 2 * x];", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[3 - x] + A[x];", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[3 - x] + A[x + 1];", ""),
        ("Func f; In A; Var x: 3, y: 5; f[x, y] = reshape(A[2 * x], x, 1) + A[y + 1];", ""),
        ("Func f; In A; Var x: 3, y: 7; f[x, y] = reshape(A[2 * x], x, 1) + A[y];", "DT168"),
        ("Func f; In A; Var x: 3; f[x] = A[x] * A[3];", "DT168"),
    ],
)
def test_what_a_file_is_told(text: str, code: str) -> None:
    codes = {one.code for one in check(Source("t.dt", text)).diagnostics}
    assert codes - {"DT177"} == ({code} if code else set())
