"""Labels that have an index in no call: what says so, and what does not."""

import pytest

from dtpoly.checking import check
from dtpoly.poly.possible import impossible
from dtpoly.source import Source
from tests.verify.texts import written

NONE = {
    "a fixed label reaches the end": (
        "Func b, f; In A, B; Var x; RVar k: 3; b[x] = rmax(A[2 * k + x] - A[k], k) + B[x];"
        "f[] = rmin(A[k], k); f.compile(); b.compile();",
        "x",
    ),
    "and nothing else reads": (
        "Func b; In A; Var x; RVar k: 3; b[x] = rmax(A[2 * k + x] - A[k], k); b.compile();",
        "",
    ),
    "two labels have no room together": (
        "Func f; In A, B; Var x, y; f[x, y] = A[x + y + 1] + A[y] + B[x, y]; f.compile();",
        "xy",
    ),
}
SOME = (
    "Func f; In A; Var x; f[x] = maximum(A[x], A[x + 1]); f.compile();",
    "Func f; In A, B; Var x, y; f[x, y] = A[x + y] + A[y] + B[x, y]; f.compile();",
    "Func f; In A, B; Var x; RVar k: 3; f[x] = rsum(A[2 * k + x] * B[k], k); f.compile();",
)


@pytest.mark.parametrize("name", NONE)
def test_is_refused(name: str) -> None:
    text, labels = NONE[name]
    checked = check(Source("test.dt", text))
    assert checked.program is None
    (found,) = checked.diagnostics
    assert found.code == "DT199"
    assert all(f"'{label}'" in found.title for label in labels)
    assert found.span is not None


@pytest.mark.parametrize("text", SOME)
def test_is_possible(text: str) -> None:
    assert impossible(written(text)) is None
