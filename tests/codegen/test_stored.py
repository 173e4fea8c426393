"""Results that are stored through descriptors, and rows that begin where memory is aligned."""

from functools import cache

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from tests.codegen.plans import plans_in
from tests.codegen.running import imported

HEAD = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
PRODUCT = f"{HEAD} f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f);"
COPY = "Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:4, y:8);"


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def described(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the tensors that have descriptors, with their blocks."""
    kernels = generated(text).stages.kernels
    return [(one.tensor, one.block) for kernel in kernels for one in kernel.described]


def warned(text: str) -> list[str]:
    state = judge(load(Source("f.dt", text)), DIRECTIVES).scheduled
    return [
        note.text for one in vain(state, code_of(state).stages, DIRECTIVES) for note in one.notes
    ]


def test_a_result() -> None:
    assert described(PRODUCT) == [("A", (16, 16)), ("B", (16, 32)), ("f", (16, 32))]
    text = generated(PRODUCT).text
    assert text.count("f_blocks.store(") == text.count("tl.store(") == 1
    A, B = torch.randn(20, 40), torch.randn(40, 36)
    out = torch.full((20, 36), float("nan"))
    torch.testing.assert_close(imported(text).f(A, B, out=out), A @ B)


def test_a_result_that_no_descriptor_can_have() -> None:
    A, B = torch.randn(20, 40), torch.randn(40, 37)
    f = imported(generated(PRODUCT).text).f
    torch.testing.assert_close(f(A, B), A @ B)
    out = torch.full((37, 20), float("nan")).T
    torch.testing.assert_close(f(A, B, out=out), A @ B)


NO_BOX = "no tile that is stored is a box, as it lies in memory"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        # A whole size is no number.
        ("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:4, y:0);", NO_BOX),
        # One number for each program.
        ("Func f; In A; Var x, y; f[x, y] = A[x, y]; f.block(x:1, y:1);", NO_BOX),
        (
            f"{HEAD} f.block(m:16, n:16, k:32); f.tensorize(m:0, n:0, k:0); f.atomic(k);",
            "what is added in memory is stored by no descriptor",
        ),
    ],
)
def test_what_is_no_box(text: str, why: str) -> None:
    assert not described(f"{text} f.descriptor(f);")
    assert warned(f"{text} f.descriptor(f);") == [why]


def test_one_kernel_stores_so_what_another_loads_so() -> None:
    text = (
        "Func f, g; In A; Var x; RVar y; g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] * len(x);"
        "f.block(x:4, y:8); f.tensorize(x:0, y:0); g.block(x:4, y:8); g.tensorize(x:0, y:0);"
        "g.descriptor(g); f.descriptor(g);"
    )
    assert described(text) == [("g", (4, 8)), ("g", (4, 8))]
    A = torch.randn(9, 11)
    torch.testing.assert_close(imported(generated(text).text).f(A), (A + 1) * 9)


def test_rows_that_begin_aligned() -> None:
    made = imported(generated(f"{COPY} f.pitch();").text)
    A = torch.randn(5, 9)
    result = made.f(A)
    assert result.equal(A)
    assert result.stride() == made.f(A.to("meta")).stride() == (12, 1)
    assert made.f(torch.randn(3, 300)).stride() == (320, 1)
    out = torch.empty(5, 9)
    assert made.f(A, out=out) is out


def test_rows_between_kernels() -> None:
    text = (
        "Func f, g; In A; Var x, y; g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] * 2;"
        "g.block(x:4); f.block(x:4); g.pitch();"
    )
    (plan,) = plans_in(generated(text).text).values()
    assert plan["between"]["g"]["pitched"]
    A = torch.randn(5, 9)
    torch.testing.assert_close(imported(generated(text).text).f(A), (A + 1) * 2)


def test_one_number_has_no_rows() -> None:
    text = "Func f; In A; RVar x; f[] = rsum(A[x], x); f.pitch();"
    (plan,) = plans_in(generated(text).text).values()
    assert "pitched" not in plan["results"]["f"]
    assert warned(text) == ["'f' is one number, and has no rows"]
