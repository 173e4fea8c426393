"""Sizes that no axis shows, passed in a call: windows of any size, of kernels and in torch."""

from functools import cache
from itertools import product
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported

functional = torch.nn.functional
POOL = "Func f; In X; Var b, h, w; RVar r, s;f[b, h, w] = rmax(X[b, 2 * h + r, 2 * w + s], r, s);"
CONV = "Func f; In A, W; Var h; RVar r; f[h] = rsum(A[2 * h + r] * W[r], r);"
SHOWN = "Func f; In A, B; Var h; RVar r; f[h] = rmax(A[2 * h + r], r) + B[h];"
THREE = "Func f; In A; Var h; RVar r, q; f[h] = rmax(A[h + r + 2 * q], r, q);"
SCHEDULES = (
    "",
    "f.block(b:1, h:4, w:8); f.tensorize(b:0, h:0, w:0);",
    "f.block(h:2); f.tensorize(w:4, r:2, s:4);",
    "f.block(b:1, h:4, r:2); f.tensorize(w:4);",
)


@cache
def made(text: str) -> tuple[Program, str]:
    program = load(Source("test.dt", f"{text} f.compile();"))
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


@pytest.mark.long
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_window_is_passed(schedule: str) -> None:
    program, text = made(POOL + schedule)
    module, X = imported(text), torch.randn(2, 9, 12)
    assert torch.equal(module.f(X, r=3, s=2), functional.max_pool2d(X, (3, 2), stride=2))
    assert torch.equal(module.f(X, h=3, s=4), functional.max_pool2d(X, (5, 4), stride=2)[:, :3])
    assert verify(program, text).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_around_tiles_all_sizes_are_those_of_the_reference() -> None:
    program, text = made(POOL + SCHEDULES[1])
    module, seen = imported(text), set[str]()
    for rows, columns, h, r, s in product(
        (0, 1, 8, 9, 10), (1, 9), (None, 0, 1, 4, 5), (1, 2), (1, 3)
    ):
        X, sizes = torch.randn(1, rows, columns), {"r": r, "s": s}
        sizes |= {} if h is None else {"h": h}
        try:
            expected = run(program, {"X": X}, sizes=sizes)["f"]
        except DtpolyError:
            with pytest.raises(ValueError, match="is read outside"):
                module.f(X, **sizes)
            seen.add("refused")
            continue
        assert torch.equal(module.f(X, **sizes), expected.float()), (rows, columns, sizes)
        seen.add("empty" if not expected.numel() else "run")
    assert seen == {"refused", "empty", "run"}


def test_fewer_rows_of_a_convolution() -> None:
    program, text = made(CONV + "f.block(h:8); f.tensorize(h:0, r:4);")
    module, A, W = imported(text), torch.randn(20), torch.randn(5)
    expected = functional.conv1d(A[None, None], W[None, None], stride=2)[0, 0]
    torch.testing.assert_close(module.f(A, W), expected)
    for h in (0, 1, 7, 8):
        torch.testing.assert_close(module.f(A, W, h=h), expected[:h])
    with pytest.raises(ValueError, match=r"A.shape\[0\] is 20, and .* reaches 20 for sizes h=9"):
        module.f(A, W, h=9)
    assert verify(program, text).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("text", "shapes", "sizes", "said"),
    [
        (POOL, [(1, 9, 9)], {"h": 9, "w": 9}, r"X.shape\[1\] is 9, .* reaches 16 for sizes h=9"),
        (POOL, [(1, 9, 9)], {"h": 4, "r": 4, "s": 1}, r"2 \* h \+ r reaches 9 for sizes h=4, r=4"),
        (POOL, [(1, 2, 9)], {"r": 3, "s": 1}, r"X.shape\[1\] is 2, .* reaches 2 for sizes r=3"),
        (POOL, [(1, 9, 9)], {"r": 3}, r"the size of 'w' must be passed, as w=...; or pass s="),
        (POOL, [(1, 9, 9)], {"r": 3, "s": -1}, "'s' is -1, but must be from 0"),
        (POOL, [(1, 9, 9)], {"r": 3, "s": 1.5}, "'s' must be a whole number"),
        # A reduction over nothing in silence.
        (SHOWN, [(6,), (4,)], {}, r"A.shape\[0\] is 6, and 2 \* h \+ r reaches 6 for sizes h=4"),
        (THREE, [(9,)], {"r": 2}, "the size of 'h' must be passed, as h=...; or pass r=... and q="),
        (THREE, [(9,)], {"h": 2}, "the size of 'r' must be passed, as r=...; or pass q="),
    ],
)
def test_refused(
    text: str, shapes: list[tuple[int, ...]], sizes: dict[str, int], said: str
) -> None:
    module = imported(made(text)[1])
    with pytest.raises((ValueError, TypeError), match=said):
        module.f(*map(torch.zeros, shapes), **sizes)


def test_three_sizes_of_one_axis() -> None:
    program, text = made(THREE)
    module, A = imported(text), torch.randn(9)
    for sizes in ({"r": 2, "q": 3}, {"h": 2, "q": 3}, {"h": 2, "r": 1}, {"h": 1, "r": 2, "q": 2}):
        expected = run(program, {"A": A}, sizes=sizes)["f"]
        assert torch.equal(module.f(A, **sizes), expected.float())
    assert verify(program, text).verdict is LayerVerdict.PROVED


def test_torch_compile_sees_sizes_that_are_passed_and_left_out() -> None:
    module, X = imported(made(POOL)[1]), torch.randn(1, 9, 9)

    def pooled(X: torch.Tensor, r: int) -> torch.Tensor:
        result: torch.Tensor = module.f(X, r=r, s=3)
        return result * 2

    compile_of_torch: Any = vars(torch)["compile"]
    compiled = compile_of_torch(pooled, fullgraph=True, backend="eager")
    assert torch.equal(compiled(X, 3), functional.max_pool2d(X, 3, stride=2) * 2)


def test_a_schedule_in_python_is_called_with_sizes() -> None:
    pool, X = (
        dtpoly.parse(f"{POOL} f.block(h:4); f.tensorize(w:4); f.compile();"),
        torch.randn(1, 9, 9),
    )
    assert torch.equal(pool(X, r=3, s=3), functional.max_pool2d(X, 3, stride=2))
    with pytest.raises(ValueError, match=r"2 \* h \+ r reaches 9 for sizes r=10"):
        pool(X, r=10, s=3)


def test_a_test_of_a_file_passes_its_sizes() -> None:
    program = load(Source("test.dt", f"{POOL} f.compile();"))
    sizes = {"b": 1, "h": 5, "w": 9, "r": 3, "s": 2}
    text = code_of(judge(program, DIRECTIVES).scheduled, "", sizes).text
    assert "f(X, h=h, r=r, w=w, s=s)" in text
    module = imported(text)
    module.test()
    module.test(h=2, r=5, w=1)
