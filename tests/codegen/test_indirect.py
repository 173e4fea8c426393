"""Indices that are data: programs from practice, beside torch's own indexing."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.format import format_source
from dtpoly.generate import code_of
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.codegen.listings import DATA, code, program
from tests.codegen.random_programs import tried
from tests.codegen.running import imported
from tests.oracle.cases import indirect_case

NAMES = sorted(path.stem for path in (DATA / "indirect").glob("*.dt"))
F64 = torch.float64
PAGE = 16
Tensors = Mapping[str, torch.Tensor]
Shapes = Mapping[str, tuple[int, ...]]


class Call(NamedTuple):
    """The shapes of the inputs of a call, and how far indices may be beyond both ends."""

    shapes: Shapes
    beyond: int = 2


def taken(tensor: torch.Tensor, at: torch.Tensor, other: float = 0.0) -> torch.Tensor:
    """Return rows of a tensor at indices; those that are outside are a number."""
    at = at.long()
    inside = (at >= 0) & (at < tensor.shape[0])
    if tensor.shape[0] == 0:
        return tensor.new_full([*at.shape, *tensor.shape[1:]], other)
    rows = tensor[torch.where(inside, at, 0)]
    inside = inside.reshape(*at.shape, *[1] * (tensor.dim() - 1))
    return torch.where(inside, rows, torch.full_like(rows, other))


def attended(t: Tensors) -> torch.Tensor:
    """One query for each sequence: torch's own attention over the rows of its pages."""
    keys, values = (taken(t[one], t["pages"]).movedim(3, 2) for one in ("K", "V"))
    keys, values = (one.flatten(1, 2).movedim(1, 2) for one in (keys, values))
    at = torch.arange(keys.shape[2])
    mask = (at < t["lengths"].long()[:, None])[:, None, None]
    return torch.nn.functional.scaled_dot_product_attention(
        t["Q"][:, :, None], keys, values, attn_mask=mask, scale=1.0
    )[:, :, 0]


def normed(t: Tensors) -> torch.Tensor:
    """The root mean square norm of some rows."""
    rows = taken(t["E"], t["T"])
    return rows * torch.rsqrt((rows * rows).mean(1, keepdim=True) + t["eps"]) * t["W"]


def summed(t: Tensors) -> torch.Tensor:
    """Elements at sums of data and labels."""
    first = 2 * t["T"].long()[:, None] + torch.arange(t["U"].shape[0]) - 1
    second = t["U"].long().expand(first.shape)
    rows, columns = t["A"].shape
    inside = (first >= 0) & (first < rows) & (second >= 0) & (second < columns)
    if not rows * columns:
        return t["A"].new_zeros(first.shape)
    found = t["A"][torch.where(inside, first, 0), torch.where(inside, second, 0)]
    return torch.where(inside, found, 0.0)


MEANS: dict[str, Callable[[Tensors], torch.Tensor]] = {
    "block_sparse_matmul": lambda t: torch.einsum("imjk,ijkn->imn", t["A"], taken(t["W"], t["at"])),
    "embedding": lambda t: taken(t["E"], t["T"]),
    "embedding_positions": lambda t: taken(t["E"], t["T"]) + t["P"],
    "gathered_rms_norm": normed,
    "paged_attention": attended,
    "permuted_rows": lambda t: taken(t["A"], t["T"]) - taken(t["A"], t["T"] + 1),
    "sums_of_data": summed,
    "two_levels": lambda t: taken(t["E"], taken(t["T"], t["U"]), -1.0),
}


def _attention(b: int, h: int, pages: int, rows: int, d: int) -> Call:
    shapes = {"Q": (b, h, d), "K": (rows, h, PAGE, d), "V": (rows, h, PAGE, d)}
    return Call({**shapes, "pages": (b, pages), "lengths": (b,)}, 1)


def _blocks(i: int, m: int, j: int, k: int, v: int, n: int) -> Call:
    return Call({"A": (i, m, j, k), "W": (v, k, n), "at": (i, j)})


ROWS = ((1, 1, 1), (7, 5, 13), (13, 1, 67), (0, 3, 5), (5, 0, 3), (4, 6, 0), (131, 17, 64))
CALLS: dict[str, tuple[Call, ...]] = {
    "block_sparse_matmul": (
        _blocks(1, 1, 1, 1, 1, 1),
        _blocks(3, 17, 2, 16, 5, 19),
        _blocks(2, 5, 3, 13, 0, 2),
        _blocks(2, 5, 0, 3, 4, 2),
    ),
    "embedding": tuple(Call({"T": (n,), "E": (v, k)}) for n, v, k in ROWS),
    "embedding_positions": tuple(
        Call({"T": (b, n), "E": (v, k), "P": (n, k)})
        for b, (n, v, k) in zip((1, 2, 3, 2, 2, 2, 1), ROWS, strict=True)
    ),
    "gathered_rms_norm": tuple(
        Call({"E": (v, k), "T": (n,), "W": (k,)}) for n, v, k in ROWS if v and k
    ),
    "paged_attention": (
        _attention(1, 1, 1, 1, 1),
        _attention(3, 2, 4, 7, 13),
        _attention(2, 1, 5, 3, 67),
    ),
    "permuted_rows": tuple(Call({"A": (v, k), "T": (n,)}) for n, v, k in ROWS),
    "sums_of_data": tuple(Call({"A": (3 * v, v), "T": (n,), "U": (k,)}) for n, v, k in ROWS),
    "two_levels": tuple(Call({"E": (v, k), "T": (n + 1,), "U": (n,)}) for n, v, k in ROWS),
}
# Numbers with which the kernels are sure to be wrong if they wrap, or are not tested.
EXTREMES = {
    DType.I64: (2**63 - 1, -(2**63), 2**32, -(2**32), 2**31),
    DType.I32: (2**31 - 1, -(2**31), 2**30, -(2**30)),
    DType.I8: (127, -128),
    DType.U8: (255, 128),
}


def indices(shape: tuple[int, ...], dtype: DType, end: int, call: Call, seed: int) -> torch.Tensor:
    """Indices that repeat, and some that are beyond both ends, with the ends of their type."""
    generator = torch.Generator().manual_seed(seed)
    low = 0 if dtype is DType.U8 else -call.beyond
    made = torch.randint(low, end + call.beyond + 1, shape, generator=generator)
    flat = made.reshape(-1)
    for at, value in enumerate(EXTREMES[dtype]):
        if at * 3 + 2 < flat.numel():
            flat[at * 3 + 2] = value
    return flat.reshape(shape).to(TORCH_DTYPE[dtype])


def inputs(name: str, call: Call, dtype: torch.dtype = F64) -> dict[str, Any]:
    """Random inputs whose memory is longer than they are."""
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    made: dict[str, Any] = {}
    ends = {"T": 0, "U": 0, "at": 0, "pages": 0}
    for read, axis in (("E", "T"), ("A", "T"), ("T", "U"), ("W", "at"), ("K", "pages")):
        ends[axis] = call.shapes.get(read, (ends[axis],))[0] or ends[axis]
    for tensor in program(name).tensors:
        shape = call.shapes[tensor.name]
        if tensor.name == "lengths":
            made["lengths"] = torch.randint(
                1, call.shapes["pages"][1] * PAGE + 1, shape, generator=generator, dtype=torch.int32
            )
        elif tensor.dtype is not None:
            wide = indices((*shape, 2), tensor.dtype, ends[tensor.name], call, len(made))
            made[tensor.name] = wide[..., 0]
        else:
            wide = torch.randn([*shape[:-1], shape[-1] + 3], generator=generator, dtype=F64)
            made[tensor.name] = wide.to(dtype)[..., : shape[-1]]
    made.update({one.name: 0.1 for one in program(name).scalars})
    return made


def calls() -> Iterator[tuple[str, Call]]:
    """Every call of every program."""
    assert sorted(CALLS) == sorted(MEANS) == NAMES
    return ((name, call) for name in NAMES for call in CALLS[name])


def in_double(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same inputs, with all floats in 64 bits."""
    return {
        one: value.to(F64) if torch.is_tensor(value) and value.is_floating_point() else value
        for one, value in given.items()
    }


@pytest.mark.parametrize(("name", "call"), [*calls()])
def test_the_reference_is_torchs_indexing(name: str, call: Call) -> None:
    given = inputs(name, call)
    found = run(program(name), given, wanted=["result"])["result"]
    torch.testing.assert_close(found, MEANS[name](given), rtol=1e-11, atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "call"), [*calls()])
@pytest.mark.parametrize("dtype", [F64, torch.float32, torch.bfloat16, torch.float16])
def test_the_kernel_is_torchs_indexing(name: str, call: Call, dtype: torch.dtype) -> None:
    given = inputs(name, call, dtype)
    module: Any = imported(code(name).text)
    found = module.result(*given.values())
    exact = MEANS[name](in_double(given))
    share = {F64: 1e-11, torch.float32: 2e-4}.get(dtype, 4e-2)
    assert found.dtype is dtype
    torch.testing.assert_close(found.to(F64), exact, rtol=share, atol=share)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), code(name).text, seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


@pytest.mark.parametrize("name", NAMES)
def test_each_is_formatted(name: str) -> None:
    source = Source(f"{name}.dt", Path(DATA / "indirect" / f"{name}.dt").read_text())
    assert format_source(source) == source.text


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_random_programs(part: int) -> None:
    """The results are right at two sizes of each label; nearly all are proved, and none refuted."""
    found = tried(range(5000 + 20 * part, 5000 + 20 * part + 20), indirect_case)
    assert found.verdicts[LayerVerdict.REFUTED] == 0
    assert found.verdicts[LayerVerdict.PROVED] > 4 * found.verdicts[LayerVerdict.UNKNOWN]
    assert found.refused <= 1


# Sizes of labels that calls of an algorithm without a schedule have.
SIZES = {
    "block_sparse_matmul": "i=16,m=128,n=128,j=4,k=128",
    "embedding": "l=4096,k=1024",
    "embedding_positions": "b=8,l=512,k=1024",
    "gathered_rms_norm": "l=4096,k=1024",
    "paged_attention": "b=32,h=8,d=128,l=1024,k=128",
    "permuted_rows": "x=4096,y=1024",
    "sums_of_data": "l=512,k=512",
    "two_levels": "l=4096,k=1024",
}


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_each_gets_a_schedule_that_is_proved(served: Server, name: str, tmp_path: Path) -> None:
    path, best = DATA / "indirect" / f"{name}.dt", tmp_path / "best.dt"
    code_, out, err = served(
        "schedule", str(path), "--size", SIZES[name], "--budget", "0", "-o", str(best)
    )
    assert code_ == 0, out + err
    of = load(Source("best.dt", best.read_text()))
    assert judge(of, DIRECTIVES).is_legal
    found = verify(of, code_of(judge(of, DIRECTIVES).scheduled).text, seconds=120)
    assert found.verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *NAMES)
    assert code_ == 0, out + err


COMPUTED = {
    "experts that are chosen in the same program": (
        "Func best, out; In A, X, W; Var l, n; RVar e, k; best[l] = rargmax(A[l, e], e);"
        "out[l, n] = rdot(X[l, k], W[best[l], k, n], k); out.block(l:1, n:64);"
        "out.tensorize(l:0, n:64, k:16, e:16); best.fuse_at(out, l); out.compile();"
    ),
    "experts that a kernel before has chosen": (
        "Func best, out; In A, X, W; Var l, n; RVar e, k; best[l] = rargmax(A[l, e], e);"
        "out[l, n] = rdot(X[l, k], W[best[l], k, n], k); best.block(l:4);"
        "best.tensorize(l:4, e:16); out.block(l:1, n:64); out.tensorize(l:0, n:64, k:16);"
        "out.compile();"
    ),
    "a reduction as an index": (
        "Func out; In A, X, W; Var l, n; RVar e, k;"
        "out[l, n] = rdot(X[l, k], W[rargmax(A[l, e], e), k, n], k); out.block(l:1, n:16);"
        "out.tensorize(l:0, n:16, k:16, e:16); out.compile();"
    ),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_indices_may_be_computed(name: str) -> None:
    of = load(Source("f.dt", COMPUTED[name]))
    text = code_of(judge(of, DIRECTIVES).scheduled).text
    assert verify(of, text, seconds=60).verdict is LayerVerdict.PROVED
    module: Any = imported(text)
    for rows, experts, depth, columns in ((1, 1, 1, 1), (7, 5, 19, 70), (0, 3, 2, 2)):
        given = {
            "A": torch.randn(rows, experts, dtype=F64),
            "X": torch.randn(rows, depth, dtype=F64),
            "W": torch.randn(experts, depth, columns, dtype=F64),
        }
        wanted = torch.einsum("lk,lkn->ln", given["X"], given["W"][given["A"].argmax(1)])
        found = module.out_(**given)
        torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-12)


def test_a_row_is_read_before_it_is_replaced() -> None:
    """Rows of a tensor are replaced by other ones: all are read first, in one tile of all rows."""
    of = load(
        Source(
            "f.dt",
            "Func e into E; In T: i64, E; Var l, k; e[l, k] = E[T[l], k] + 1;"
            "e.tensorize(l:0, k:64); e.compile();",
        )
    )
    judged = judge(of, DIRECTIVES)
    assert judged.is_legal
    text = code_of(judged.scheduled).text
    assert verify(of, text, seconds=60).verdict is LayerVerdict.PROVED
    module: Any = imported(text)
    table, rows = torch.tensor([2, 0, 7, 1, 1]), torch.randn(5, 70, dtype=F64)
    wanted = taken(rows.clone(), table) + 1
    torch.testing.assert_close(module.e(table, rows), wanted, rtol=0, atol=0)
    with pytest.raises(DtpolyError, match="DT201"):
        load(Source("f.dt", show(of).replace("l:0", "l:2")))
