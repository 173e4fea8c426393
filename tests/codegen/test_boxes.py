"""Tiles that are stored in boxes, one after another: what is emitted, and what it computes."""

from functools import cache

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.carried import memory
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.process import told_by
from tests.codegen.boxed import RANDOM, TILE, random_product
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported

HEAD = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
PRODUCT = f"{HEAD} f.block(m:16, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f);"
BATCHES = (
    "Func f; In A, B; Var b, m, n; RVar k; f[b, m, n] = rdot(A[b, m, k], B[b, k, n], k);"
    "f.block(b:1, m:16, n:32); f.tensorize(b:0, m:0, n:0, k:16); f.descriptor(A, B, f);"
)
SIZES = ((20, 36, 40), (16, 32, 16), (5, 4, 8), (17, 52, 24), (33, 100, 36), (1, 20, 0))


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def warned(text: str) -> list[str]:
    state = judge(load(Source("f.dt", text)), DIRECTIVES).scheduled
    return [
        note.text for one in vain(state, code_of(state).stages, DIRECTIVES) for note in one.notes
    ]


def stored(text: str) -> list[str]:
    """Return the lines that cut a tile and store it through a descriptor, without their breaks."""
    body = generated(text).text.partition("if f_blocks is not None:")[2].partition("else:")[0]
    joined = " ".join(body.split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return joined.replace(") f_", ")\nf_").splitlines()


def test_halves() -> None:
    assert stored(f"{PRODUCT} f.store(n:16);") == [
        "f_left, f_right = tl.split(tl.permute(tl.reshape(f_acc, (16, 2, 16)), 0, 2, 1))",
        "f_blocks.store([tl.cast(m_start, tl.int32), tl.cast(n_start, tl.int32)], f_left)",
        "f_blocks.store([tl.cast(m_start, tl.int32), tl.cast(n_start + 16, tl.int32)], f_right)",
    ]


def test_halves_of_halves() -> None:
    found = stored(f"{PRODUCT} f.store(n:8);")
    assert found[:3] == [
        "f_left, f_right = tl.split(tl.permute(tl.reshape(f_acc, (16, 2, 16)), 0, 2, 1))",
        "f_left_left, f_left_right = tl.split(tl.permute(tl.reshape(f_left, (16, 2, 8)), 0, 2, 1))",
        "f_right_left, f_right_right = "
        "tl.split(tl.permute(tl.reshape(f_right, (16, 2, 8)), 0, 2, 1))",
    ]
    ends = [line.partition("tl.cast(n_start")[2] for line in found[3:]]
    assert ends == [
        ", tl.int32)], f_left_left)",
        " + 8, tl.int32)], f_left_right)",
        " + 16, tl.int32)], f_right_left)",
        " + 24, tl.int32)], f_right_right)",
    ]


def test_rows() -> None:
    first, *others = stored(f"{PRODUCT} f.store(m:8);")
    assert (
        first == "f_upper, f_lower = tl.split(tl.permute(tl.reshape(f_acc, (2, 8, 32)), 1, 2, 0))"
    )
    assert [line.partition("m_start")[2].partition(",")[0] for line in others] == ["", " + 8"]


def test_the_descriptor_is_of_boxes() -> None:
    (kernel,) = generated(f"{PRODUCT} f.store(m:8, n:16);").stages.kernels
    assert {one.tensor: one.block for one in kernel.described}["f"] == (8, 16)


def test_a_tile_of_another_rank() -> None:
    assert "f_blocks.store([tl.cast(b_start, tl.int32), " in "".join(
        stored(f"{BATCHES} f.store(n:16);")
    )
    assert "tl.reshape(f_right, (1, 16, 16))" in "".join(stored(f"{BATCHES} f.store(n:16);"))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F32])
@pytest.mark.parametrize("said", ["n:16", "n:8", "m:4", "m:8, n:8", "m:4, n:16"])
@pytest.mark.parametrize("more", ["", "f.persistent(); f.num_stages(4); f.map(m:mi/2, n, mi);"])
def test_ragged_sizes(said: str, more: str, dtype: DType) -> None:
    text = f"{PRODUCT} f.store({said}); {more}"
    program, made = load(Source("f.dt", text)), imported(generated(text).text)
    for at, sizes in enumerate(SIZES):
        given: dict[str, int] = dict(zip(("m", "n", "k"), sizes, strict=True))
        inputs = Recipe(at, dtype).inputs(program, given)
        compared(made, program, ("f",), inputs, given)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(RANDOM))
def test_random_products(seed: int) -> None:
    text = random_product(seed)
    program, made = load(Source("f.dt", text)), generated(text)
    assert "tl.split(" in made.text
    assert verify(program, made.text, seconds=60).verdict is LayerVerdict.PROVED
    for sizes in ((8, 136, 72), (133, 8, 40), (1, 24, 17), (40, 37, 24)):
        given: dict[str, int] = dict(zip(("b", "m", "n", "k"), (3, *sizes), strict=True))
        here = {label.name: given[label.name] for label in program.labels}
        inputs = Recipe(seed).inputs(program, here)
        compared(imported(made.text), program, ("f",), inputs, here)


def test_what_has_no_descriptor_is_stored_by_addresses() -> None:
    made = imported(generated(f"{PRODUCT} f.store(n:8);").text)
    for out in (
        torch.full((20, 37), float("nan")),
        torch.full((37, 20), float("nan")).T,
        torch.full((20, 74), float("nan"))[:, ::2],
    ):
        A, B = torch.randn(20, 40), torch.randn(40, 37)
        torch.testing.assert_close(made.f(A, B, out=out), A @ B)


def test_boxes_of_less_than_16_bytes_have_no_descriptor() -> None:
    made = imported(generated(f"{PRODUCT} f.store(n:4);").text)
    A, B = torch.randn(20, 40), torch.randn(40, 36)
    assert memory.dt_descriptor(A, (16, 4), (0, 1)) is not None
    assert memory.dt_descriptor(A.half(), (16, 4), (0, 1)) is None
    torch.testing.assert_close(made.f(A, B), A @ B)
    torch.testing.assert_close(made.f(A.half(), B.half()), (A @ B).half(), rtol=1e-2, atol=1e-2)


def test_batches() -> None:
    made = imported(generated(f"{BATCHES} f.store(m:8, n:16); f.persistent();").text)
    A, B = torch.randn(3, 20, 24), torch.randn(3, 24, 28)
    out = torch.full((3, 20, 28), float("nan"))
    torch.testing.assert_close(made.f(A, B, out=out), A @ B)


def test_what_is_no_product() -> None:
    text = (
        "Func f; In A, s; Var x, y; f[x, y] = A[x, y] * s[y] + x;"
        "f.block(x:8, y:64); f.tensorize(x:4, y:0); f.descriptor(A, f); f.store(x:2, y:32);"
    )
    made = imported(generated(text).text)
    A, s = torch.randn(11, 100), torch.randn(100)
    expected = A * s + torch.arange(11.0)[:, None]
    out = torch.full((11, 100), float("nan"))
    torch.testing.assert_close(made.f(A, s, out=out), expected)


def test_a_line() -> None:
    text = (
        "Func f; In A; Var x; f[x] = exp(A[x]); f.block(x:64); f.tensorize(x:0);"
        "f.descriptor(f); f.store(x:16);"
    )
    assert "tl.permute(tl.reshape(tl.exp(A_tile), (2, 32)), 1, 0)" in stored(text)[0]
    A = torch.randn(100)
    torch.testing.assert_close(imported(generated(text).text).f(A), A.exp())


def test_names_of_parts_are_nobody_elses() -> None:
    text = f"{PRODUCT} f.store(n:16);".replace("[m, n]", "[m, f_right]").replace("n:", "f_right:")
    text = text.replace("m, n;", "m, f_right;").replace("[k, n]", "[k, f_right]")
    assert stored(text)[0].startswith("f_left, f_right_2 = ")
    A, B = torch.randn(20, 40), torch.randn(40, 36)
    torch.testing.assert_close(imported(generated(text).text).f(A, B), A @ B)


def test_what_another_kernel_reads_may_be_stored_so() -> None:
    text = (
        "Func f, g; In A; Var x; RVar y; g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] * len(x);"
        "f.block(x:4, y:8); f.tensorize(x:0, y:0); g.block(x:4, y:16); g.tensorize(x:0, y:0);"
        "g.descriptor(g); g.store(x:2, y:8); f.descriptor(g);"
    )
    A = torch.randn(9, 11)
    torch.testing.assert_close(imported(generated(text).text).f(A), (A + 1) * 9)


@pytest.mark.parametrize("is_first", [False, True])
def test_more_boxes_than_are_written_out(*, is_first: bool) -> None:
    """Of directives that are wrong without another one, that one is to blame."""
    more, last = " f.store(m:2, n:16);", " f.descriptor(A, B, f);"
    text = PRODUCT.replace(last, f"{more}{last}") if is_first else f"{PRODUCT}{more}"
    with pytest.raises(DtpolyError) as raised:
        generated(text)
    (found,) = raised.value.diagnostics
    assert (found.code, found.span and found.span.text) == ("DT300", "f.store(m:2, n:16)")
    assert [note.text for note in found.notes] == [
        "a tile would be stored in 16 boxes, and 8 is the most"
    ]


@pytest.mark.parametrize("size", [32, 64])
def test_a_box_of_a_whole_tile_changes_nothing(size: int) -> None:
    text = f"{PRODUCT} f.store(n:{size});"
    assert warned(text) == ["no tile that is stored has more elements along 'n'"]
    assert "tl.split" not in generated(text).text
    (kernel,) = generated(text).stages.kernels
    assert {one.tensor: one.block for one in kernel.described}["f"] == (16, 32)
    assert not warned(f"{PRODUCT} f.store(n:16);")


@pytest.mark.long
def test_shared_memory_holds_one_box() -> None:
    whole, half, quarter = told_by("tests.codegen.boxed")
    assert whole["shared"] - half["shared"] == TILE // 2
    assert whole["shared"] - quarter["shared"] == TILE * 3 // 4
    assert not any(one["conversions"] or one["spilled"] for one in (whole, half, quarter))
