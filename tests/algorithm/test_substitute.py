"""Inlining puts a definition where it is read, its labels replaced by indices."""

import pytest

from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.algorithm.show import show_expr
from dtpoly.algorithm.substitute import inlined
from tests.schedule.told import read


@pytest.mark.parametrize(
    ("definition", "use", "body"),
    [
        ("g[x] = exp(A[x])", "f[x] = g[x] * 2", "exp(A[x]) * 2"),
        (
            "g[u] = A[u] + u",
            "f[x] = g[x] + g[2 * x + 1]",
            "A[x] + x + (A[2 * x + 1] + (2 * x + 1))",
        ),
        ("g[u] = A[u + 1]", "f[x] = g[x + 1]", "A[x + 2]"),
        (
            "g[u] = A[u] + u",
            "f[x] = pad(g, 7)[x - 1]",
            "where(x + -1 >= 0 and x + -1 < len(u), pad(A, 0)[x - 1] + (x + -1), 7)",
        ),
    ],
)
def test_inlined(definition: str, use: str, body: str) -> None:
    program = read(f"Func f, g; In A; Var x, u; {definition}; {use}; f.compile();")
    after = inlined(program, "g")
    assert [func.name for func in after.funcs] == ["f"]
    assert show_expr(after.funcs[0].body) == body


def test_what_is_no_func_changes_nothing() -> None:
    program = read("Func f; In A; Var x; f[x] = A[x]; f.compile();")
    assert inlined(program, "A") is program


def test_reads_of_what_was_padded_are_within_it() -> None:
    program = read(
        "Func f, g, h; In A; Var x, u, v; h[v] = A[v]; g[u] = pad(h, 0)[u + 2] + A[2 * u];"
        "f[x] = pad(g, 7)[x - 1]; f.compile();"
    )
    (f,) = inlined(inlined(program, "g"), "h").funcs
    below, inside = Affine((("x", 1),), -1), Affine((("x", 1),), 1)
    assert {(one.indices[0].constant, one.within) for one in reads(f.body)} == {
        (1, ((below, "u"), (inside, "v"))),
        (-2, ((below, "u"),)),
    }
