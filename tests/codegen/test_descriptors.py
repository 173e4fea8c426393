"""Tiles that descriptors load, and blocks that programs take in turn, in Triton's interpreter."""

from functools import cache

import pytest
import torch

from dtpoly.carried import memory
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from tests.codegen.plans import launches_in, plans_in
from tests.codegen.running import imported

PRODUCT = """
Func f; In A, B; Var m, n; RVar k;
f[m, n] = rdot(A[m, k], B[k, n], k);
f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.map(m:mi/2, n, mi);
f.descriptor(A, B); f.compile();
"""
IN_TURN = PRODUCT.replace("f.compile();", "f.persistent(2); f.compile();")


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def described(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the tensors that are loaded in blocks, of all kernels."""
    kernels = generated(text).stages.kernels
    return [(one.tensor, one.block) for kernel in kernels for one in kernel.described]


def test_both_sides_of_a_product() -> None:
    assert described(PRODUCT) == [("A", (16, 16)), ("B", (16, 32))]


def test_an_operand_the_other_way_round() -> None:
    text = PRODUCT.replace("B[k, n]", "B[n, k]")
    assert described(text) == [("A", (16, 16)), ("B", (32, 16))]
    A, B = torch.randn(20, 40), torch.randn(36, 40)
    torch.testing.assert_close(imported(generated(text).text).f(A, B), A @ B.t())


def test_an_axis_of_one_lane_is_no_axis_of_the_tile() -> None:
    text = (
        "Func f; In A, B; Var b, m, n; RVar k; f[b, m, n] = rdot(A[b, m, k], B[b, k, n], k);"
        "f.block(b:1, m:16, n:16); f.tensorize(b:0, m:0, n:0, k:16); f.descriptor(A, B);"
    )
    assert described(text) == [("A", (1, 16, 16)), ("B", (1, 16, 16))]
    A, B = torch.randn(3, 20, 24), torch.randn(3, 24, 28)
    torch.testing.assert_close(imported(generated(text).text).f(A, B), A @ B)


@pytest.mark.parametrize(
    "text",
    [
        "Func f; In A; Var x, y; f[x, y] = A[x, y]; f.tensorize(x:4, y:0); f.descriptor(A);",
        "Func f; In A; Var x, y; f[x, y] = A[x, 2 * y]; f.tensorize(x:4, y:8); f.descriptor(A);",
        "Func f; In A; Var x, y; f[x, y] = A[y, x]; f.tensorize(y:8); f.descriptor(A);",
        "Func f; In A; Var x; f[x] = A[x, x]; f.tensorize(x:8); f.descriptor(A);",
        "Func f; In A; Var x; RVar y; f[x] = rprod(A[x, y], y); f.tensorize(y:0); f.descriptor(A);",
        "Func f; In A; f[] = A[]; f.descriptor(A);",
    ],
)
def test_what_is_no_box_is_loaded_by_addresses_and_told(text: str) -> None:
    judged = judge(load(Source("f.dt", text)), DIRECTIVES)
    assert described(text) == []
    told = vain(judged.scheduled, code_of(judged.scheduled).stages, DIRECTIVES)
    assert [one.code for one in told] == ["DT198"]


def test_one_program_takes_no_turns() -> None:
    judged = judge(
        load(Source("f.dt", "Func f; In A; Var x; f[x] = A[x]; f.persistent();")), DIRECTIVES
    )
    (told,) = vain(judged.scheduled, code_of(judged.scheduled).stages, DIRECTIVES)
    assert (told.code, told.title) == ("DT198", "'persistent' changes nothing here")


def test_where_values_pass_through_memory_no_blocks_take_turns() -> None:
    text = (
        "Func g, f; In A; Var x, y; g[x, y] = exp(A[x, y]); f[x, y] = g[x, y] + 1;"
        "f.block(x:1, y:64); f.tensorize(y:64, g.y:16); g.fuse_at(f, x); f.persistent();"
    )
    judged = judge(load(Source("f.dt", text)), DIRECTIVES)
    made = code_of(judged.scheduled)
    assert [one.title for one in vain(judged.scheduled, made.stages, DIRECTIVES)] == [
        "'persistent' changes nothing here"
    ]
    assert [one for one in launches_in(made.text) if "turns" in one] == []


def test_full_tiles_alone_may_be_boxes() -> None:
    """A descriptor gives 0 beyond the end, and here it has to be minus infinity."""
    text = "Func f; In A; Var x; RVar y; f[x] = rmax(A[x, y], y); f.block(y:64); f.tensorize(y:32);"
    made = generated(f"{text} f.descriptor(A);")
    assert described(f"{text} f.descriptor(A);") == [("A", (1, 32))]
    assert (made.text.count("A_blocks.load("), made.text.count("other=0.0")) == (2, 1)
    A = -torch.rand(3, 100) - 1
    torch.testing.assert_close(imported(made.text).f(A), A.amax(1))


SHIFTED = "f.block(m:32, n:32); f.tensorize(m:0, n:0, k:32); f.descriptor(A, B);"


@pytest.mark.parametrize(
    "body",
    [
        "rdot(A[m, k + 4], B[k, n], k) + reshape(rsum(A[m, k], k), m, 1)",
        "rdot(A[m, k], B[k, n], k) + rdot(A[m, k + 4], B[k + 4, n], k)",
    ],
)
def test_a_label_that_is_shorter_than_an_axis_ends_before_it(body: str) -> None:
    """Elements beyond a label's end are not 0 then, since they are inside of the tensor."""
    text = f"Func f; In A, B; Var m, n; RVar k; f[m, n] = {body}; {SHIFTED}"
    made = generated(text)
    assert described(text)
    f = imported(made.text).f
    is_both = "k + 4, n" in body
    A, B = torch.randn(8, 40), torch.randn(40 if is_both else 36, 8)
    if is_both:
        expected = A[:, :-4] @ B[:-4] + A[:, 4:] @ B[4:]
    else:
        expected = A[:, 4:] @ B + A[:, :-4].sum(1, keepdim=True)
    torch.testing.assert_close(f(A, B), expected, rtol=1e-4, atol=1e-4)


def test_what_is_beyond_a_shorter_label_may_be_infinite() -> None:
    text = "Func f; In A; Var m, n; RVar k; f[m, n] = rdot(A[m, k], A[n, k + 4], k);"
    text += SHIFTED.replace("A, B", "A")
    assert described(text)
    A = torch.randn(8, 40)
    A[0, 38] = float("inf")
    expected = torch.stack([A[:, :-4] @ row for row in A[:, 4:]], 1)
    torch.testing.assert_close(imported(generated(text).text).f(A), expected, rtol=1e-4, atol=1e-4)


SIZES = [(0, 8, 8), (16, 32, 16), (15, 31, 17), (17, 33, 15), (40, 100, 24), (64, 64, 0), (5, 7, 3)]


@pytest.mark.parametrize("text", [PRODUCT, IN_TURN], ids=["blocks", "in turn"])
def test_sizes_around_the_tile(text: str) -> None:
    f = imported(generated(text).text).f
    for m, n, k in SIZES:
        A, B = torch.randn(m, k), torch.randn(k, n)
        out = torch.full((m, n), float("nan"))
        torch.testing.assert_close(f(A, B, out=out), A @ B)


@pytest.mark.parametrize("text", [PRODUCT, IN_TURN], ids=["blocks", "in turn"])
def test_tensors_that_no_descriptor_describes(text: str) -> None:
    f = imported(generated(text).text).f
    A, B = torch.randn(33, 41), torch.randn(41, 50)
    row = torch.randn(1, 41).expand(33, 41)
    for a, b in ((A, B), (A.t().contiguous().t(), B), (A[1:, 1:33], B[1:33, 3:]), (row, B)):
        torch.testing.assert_close(f(a, b), a @ b)


def test_what_can_be_described() -> None:
    """The conditions of the copy engine, which counts in 32 bits."""

    def blocks(tensor: torch.Tensor, block: tuple[int, ...]) -> object:
        return memory.dt_descriptor(tensor, block, (0, 1))

    A = torch.ones(8, 64)
    assert blocks(A, (8, 4)) is not None
    assert blocks(A[2:, 8:40], (8, 4)) is not None
    wrong = {
        "another stride": A.t(),
        "an address": A[:, 1:],
        "the distance of rows": torch.ones(8, 63),
        "rows that are one": A[:1].expand(8, 64),
        "nothing in it": A[:, :0],
        "too long": torch.ones(1, 4).expand(2**31, 4),
        "too far apart": torch.as_strided(torch.ones(4), (1, 4), (2**40, 1)),
    }
    assert [name for name, one in wrong.items() if blocks(one, (8, 4)) is not None] == []
    assert blocks(A, (16, 2)) is None  # rows of 8 bytes
    assert blocks(A, (4, 4)) is None  # 64 bytes: the second of two blocks would begin between
    assert blocks(A.half(), (8, 8)) is not None
    assert blocks(A.half(), (1, 32)) is None
    assert blocks(torch.ones(8, 64, dtype=torch.bool), (4, 16)) is None


COPIED = """
Func g, f; In A; Var x, y;
g[x, y] = A[y, x]; f[x, y] = 2 * g[x, y];
g.compile(); f.block(x:4); f.tensorize(x:0, y:16); f.descriptor(g); f.compile();
"""


def test_memory_between_kernels_is_aligned_for_it() -> None:
    made = generated(COPIED)
    assert described(COPIED) == [("g", (4, 16))]
    (between,) = plans_in(made.text)["f"]["between"].values()
    assert between["pitched"]
    module = imported(made.text)
    A = torch.randn(19, 7)
    torch.testing.assert_close(module.f(A), 2 * A.t())
    for shape in ((7, 19), (3, 1), (5, 4)):
        rows = memory.dt_memory({"pitched": True}, shape, torch.float32, torch.device("cpu"))
        assert rows.shape == shape
        assert rows.stride(0) % 4 == 0


def test_long_rows_begin_where_lines_of_memory_do() -> None:
    for dtype, length in ((torch.float16, 4100), (torch.float32, 257), (torch.int8, 1024)):
        rows = memory.dt_memory({"pitched": True}, (3, length), dtype, torch.device("cpu"))
        assert rows.shape == (3, length)
        assert rows.stride(0) * dtype.itemsize % 128 == 0
        assert (rows.stride(0) - length) * dtype.itemsize < 128
