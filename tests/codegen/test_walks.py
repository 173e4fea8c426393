"""Loops over lines that begin where memory is aligned, and loops that go backwards."""

import itertools
from functools import cache

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from tests.codegen.running import imported

SOFTMAX = """
Func f, top, e, total; In A; Var x; RVar y;
top[x] = rmax(A[x, y], y); e[x, y] = exp(A[x, y] - reshape(top[x], x, 1));
total[x] = rsum(e[x, y], y); f[x, y] = e[x, y] / reshape(total[x], x, 1);
f.block(x:1); f.tensorize(x:0, y:128); e.inline(); top.fuse_at(f, x); total.fuse_at(f, x);
f.compile();
"""
ALIGNED = f"{SOFTMAX} f.align(A);"
TURNED = f"{SOFTMAX} f.alternate(y);"
BOTH = f"{ALIGNED} f.alternate(y);"
# The first of the largest, and where another tensor of the same shape is largest.
PLACES = """
Func f, g; In A, B; Var x; RVar y;
f[x] = rargmax(A[x, y] * B[x, y], y);
f.block(x:1); f.tensorize(x:0, y:64); f.align(B, A); f.alternate(y); f.compile();
g[x] = rsum(A[x, y], y);
"""
ONE = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y);"
TILED = f"{ONE} f.block(x:1); f.tensorize(x:0, y:64);"


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def lined(text: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return for each kernel the tensors that lanes are aligned to, and its turned labels."""
    return [(kernel.lined, kernel.turned) for kernel in generated(text).stages.kernels]


def laid_out(rows: int, columns: int, how: str, dtype: torch.dtype) -> torch.Tensor:
    """Return a matrix in a larger piece of memory that is full of NaN."""
    strides, first = {
        "contiguous": ((max(columns, 1), 1), 0),
        "odd lines": ((columns + 7, 1), 0),
        "sliced": ((columns + 1, 1), 3),
        "columns": ((1, rows + 2), 1),
        "every other": ((2 * columns + 3, 2), 1),
    }[how]
    held = torch.full((first + 2 * (rows + 2) * (columns + 3),), torch.nan, dtype=dtype)
    return held.as_strided((rows, columns), strides, first)


LAYOUTS = ("contiguous", "odd lines", "sliced", "columns", "every other")
SIZES = (0, 1, 63, 64, 65, 127, 129, 193, 251, 330)


def softmax_at(text: str, dtype: torch.dtype, every: int) -> None:
    """One in so many layouts at each size."""
    module = imported(generated(text).text)
    chance = torch.Generator().manual_seed(1)
    near = {torch.float32: 1e-6, torch.bfloat16: 4e-3, torch.float64: 1e-14}[dtype]
    for at, columns in enumerate(SIZES):
        layouts = itertools.product(LAYOUTS, ("contiguous", "sliced"))
        for how, place in itertools.islice(layouts, at % every, None, every):
            A, out = laid_out(2, columns, how, dtype), laid_out(2, columns, place, dtype)
            A.copy_(3 * torch.randn(2, columns, generator=chance))
            module.f(A, out=out)
            want = torch.softmax(A.double(), 1)
            torch.testing.assert_close(out.double(), want, rtol=near, atol=near)


@pytest.mark.parametrize("text", [ALIGNED, BOTH])
def test_softmax_of_any_lines(text: str) -> None:
    softmax_at(text, torch.float32, 9)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("text", [ALIGNED, TURNED, BOTH])
def test_softmax_of_all_lines(text: str, dtype: torch.dtype) -> None:
    softmax_at(text, dtype, 1)


def test_what_is_around_the_result_stays() -> None:
    module = imported(generated(BOTH).text)
    held = torch.full((4, 140), 7.0)
    module.f(torch.randn(4, 130), out=held[:, 3:133])
    assert bool((held[:, :3] == 7).all() and (held[:, 133:] == 7).all())
    torch.testing.assert_close(held[:, 3:133].sum(1), torch.ones(4))


def test_places_of_two_tensors() -> None:
    module = imported(generated(PLACES).text)
    A, B = laid_out(3, 201, "odd lines", torch.float32), torch.ones(3, 201)
    A.copy_(torch.randint(0, 9, (3, 201)))
    assert torch.equal(module.f(A, B), torch.argmax(A, 1))
    assert lined(PLACES)[0][0] == ("A",)


def test_the_main_loop_has_no_mask() -> None:
    lines = generated(BOTH).text.splitlines()
    at = [i for i, line in enumerate(lines) if line.startswith("    for y")]
    loops = [list(itertools.takewhile(lambda line: line[4] == " ", lines[i + 1 :])) for i in at]
    for loop in loops:
        assert not any("mask" in line for line in loop)
        assert any("tl.load(A_line + y_at * A_stride_1)" in line for line in loop)
    assert ["y_turn - y_back" in loop[0] for loop in loops] == [False, True, False]
    assert sum("tl.store(f_line + y_at" in line for line in loops[2]) == 1


def test_without_either_nothing_changes() -> None:
    assert lined(SOFTMAX) == [((), ())]
    assert "even" in generated(SOFTMAX).text
    assert "dt_shift" not in generated(TURNED).text
    assert lined(TURNED) == [((), ("y",))]


@pytest.mark.parametrize(
    "text",
    [
        f"{ONE} f.align(A);",
        f"{ONE} f.tensorize(y:64); f.align(A);",
        f"{ONE} f.block(x:2); f.tensorize(x:0, y:64); f.align(A);",
        f"{ONE} f.block(x:1); f.tensorize(x:0, y:32); f.align(A);",
        f"{ONE} f.block(x:1); f.tensorize(x:0, y:0); f.align(A);",
        f"{TILED} f.align(A); f.persistent();".replace("A[x, y]", "A[y, x]"),
        f"{TILED} f.align(A);".replace("A[x, y]", "A[y, x]"),
        f"{TILED} f.align(A);".replace("A[x, y]", "A[x, 2 * y]"),
        f"{TILED} f.align(A); f.persistent();",
        "Func f; In A; RVar y; f[] = rsum(A[y], y); f.tensorize(y:64); f.align(A);",
    ],
)
def test_where_no_line_begins_anywhere_that_is_told(text: str) -> None:
    judged = judge(load(Source("f.dt", text)), DIRECTIVES)
    assert lined(text) == [((), ())]
    told = vain(judged.scheduled, code_of(judged.scheduled).stages, DIRECTIVES)
    assert [one.title for one in told] == ["'align' changes nothing here"]


@pytest.mark.parametrize(
    "text",
    [
        f"{TILED} f.alternate(y);",
        f"{TILED} f.alternate(x);",
        SOFTMAX.replace("y:128", "y:0") + "f.alternate(y);",
    ],
)
def test_one_loop_takes_no_turns(text: str) -> None:
    judged = judge(load(Source("f.dt", text)), DIRECTIVES)
    told = vain(judged.scheduled, code_of(judged.scheduled).stages, DIRECTIVES)
    assert [one.title for one in told] == ["'alternate' changes nothing here"]


def test_what_works_is_not_told() -> None:
    judged = judge(load(Source("f.dt", BOTH)), DIRECTIVES)
    assert list(vain(judged.scheduled, code_of(judged.scheduled).stages, DIRECTIVES)) == []
