"""Ranges whose ends are data: programs from practice, beside loops over slices in torch."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.frontend.format import format_source
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.run import run
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.codegen.listings import RAGGED, code, program
from tests.codegen.running import imported

NAMES = [*RAGGED, "csr_matvec", "ragged_sum"]
F64 = torch.float64
Tensors = Mapping[str, torch.Tensor]


class RaggedCall(NamedTuple):
    """The number of ranges, of indices of the label, and of the other labels."""

    ranges: int
    size: int
    others: int = 3


# Sizes of 0 and 1, primes, and sizes around tiles of 16 and 32.
CALLS = (
    *(RaggedCall(1, 1, 1), RaggedCall(3, 0), RaggedCall(0, 5), RaggedCall(5, 7, 17)),
    *(RaggedCall(4, 16, 16), RaggedCall(9, 17), RaggedCall(13, 31), RaggedCall(2, 67, 5)),
)
# What the ends of ranges are: in order, all alike, outside, reversed, or anything.
KINDS = ("in order", "empty", "outside", "reversed", "random", "extreme")


def slices(first: torch.Tensor, last: torch.Tensor, size: int) -> Iterator[slice]:
    """Yield the indices of each range that the label has."""
    for start, stop in zip(map(int, first), map(int, last), strict=True):
        low = max(start, 0)
        yield slice(low, max(low, min(stop, size)))


def pairs(offsets: torch.Tensor, size: int) -> Iterator[slice]:
    return slices(offsets[:-1], offsets[1:], size)


def stacked(rows: Iterator[torch.Tensor], like: torch.Tensor) -> torch.Tensor:
    """Return the results of all ranges as one tensor; `like` has the shape of one result."""
    return torch.stack([like, *rows])[1:]


def summed(t: Tensors) -> torch.Tensor:
    x = t["X"]
    return stacked((x[at].sum(0) for at in pairs(t["offsets"], len(x))), x.new_zeros(x.shape[1]))


def least(x: torch.Tensor, at: slice, *, largest: bool) -> torch.Tensor:
    """Return the largest or the least elements of some rows."""
    end = x.new_full((1, x.shape[1]), float("-inf") if largest else float("inf"))
    rows = torch.cat([x[at], end])
    return rows.amax(0) if largest else rows.amin(0)


def maxima(t: Tensors) -> torch.Tensor:
    x, first = t["X"], t["start"].long()
    found = slices(first, first + t["length"], len(x))
    return stacked((least(x, at, largest=True) for at in found), x.new_zeros(x.shape[1]))


def single(t: Tensors) -> torch.Tensor:
    x = t["X"]
    found = slices(t["start"], t["end"].long() - 1, len(x))
    return stacked((least(x, at, largest=False) for at in found), x.new_zeros(x.shape[1]))


def lengths(t: Tensors) -> torch.Tensor:
    x, last = t["X"], t["lengths"].long()
    found = slices(torch.zeros_like(last), last, x.shape[1])
    rows = (a[at].sum(0) for a, at in zip(x, found, strict=True))
    return stacked(rows, x.new_zeros(x.shape[2])) / last.clamp(min=1)[:, None]


def weighted(t: Tensors) -> torch.Tensor:
    p, v = t["P"], t["V"]
    found = pairs(t["offsets"], len(v))
    rows = (a[:, at] @ v[at] for a, at in zip(p, found, strict=True))
    return stacked(rows, v.new_zeros(p.shape[1], v.shape[1]))


def counted(t: Tensors) -> torch.Tensor:
    x = t["X"] + 1
    return stacked((x[at].sum() for at in slices(t["first"], t["last"], len(x))), x.new_zeros(()))


def tails(t: Tensors) -> torch.Tensor:
    x = t["X"]
    found = slices(t["first"], torch.full_like(t["first"].long(), x.shape[1]), x.shape[1])
    rows = (a[at].prod() for a, at in zip(x, found, strict=True))
    return stacked(rows, x.new_zeros(()))


def rows_at(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """Return rows of a tensor; rows that it does not have are 0."""
    at = at.long() + 1
    padded = torch.cat([torch.zeros_like(x[:1]), x, torch.zeros_like(x[:1])])
    if not len(x):
        return x.new_zeros(*at.shape, *x.shape[1:])
    return padded[at.clamp(0, len(x) + 1)]


def two_tables(t: Tensors) -> torch.Tensor:
    a, w = t["A"], rows_at(t["W"], t["blocks"])
    products = torch.einsum("pmk,pkn->pmn", a, w)
    rows = (products[at].sum(0) for at in pairs(t["rows"], len(a)))
    return stacked(rows, products.new_zeros(products.shape[1:]))


def csr(t: Tensors) -> torch.Tensor:
    products = t["W"] * rows_at(t["x"], t["cols"])
    found = pairs(t["rows"], len(products))
    return stacked((products[at].sum() for at in found), products.new_zeros(()))


def attended(scores: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Return the mean of values, weighted by the softmax of scores; of no values it is nan."""
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ values + (0 if scores.shape[-1] else float("nan"))


def lse(t: Tensors) -> torch.Tensor:
    a = t["A"]
    return stacked((a[at].exp().sum().log() for at in pairs(t["offsets"], len(a))), a.new_zeros(()))


def decoded(t: Tensors) -> torch.Tensor:
    q, k, v = t["Q"], t["K"], t["V"]
    scale = q.shape[-1] ** -0.5
    found = pairs(t["offsets"], k.shape[1])
    rows = (
        attended(torch.einsum("hc,hlc->hl", one, k[:, at])[:, None] * scale, v[:, at])[:, 0]
        for one, at in zip(q, found, strict=True)
    )
    return stacked(rows, v.new_zeros(v.shape[0], v.shape[2]))


def packed(t: Tensors) -> torch.Tensor:
    q, k, v = t["Q"], t["K"], t["V"]
    first = t["first"].long()
    last = t["last"].long() if "last" in t else torch.arange(1, len(first) + 1)
    rows = (
        attended(one[:, None] @ k[:, at].mT * q.shape[-1] ** -0.5, v[:, at])[:, 0]
        for one, at in zip(q.unbind(1), slices(first, last, k.shape[1]), strict=True)
    )
    return stacked(rows, v.new_zeros(v.shape[0], v.shape[2])).movedim(0, 1)


def chosen(t: Tensors) -> torch.Tensor:
    x, one, two = t["X"], t["first"].long(), t["last"].long()
    last = torch.where(
        (two < 13) | (torch.arange(len(two)) < 1), (two + 100).clamp(max=len(x)), one + 3
    )
    found = slices(torch.maximum(one, two - 9), last, len(x))
    return stacked((x[at].sum() for at in found), x.new_zeros(()))


def named(t: Tensors, size: int) -> Iterator[slice]:
    """Yield the range of the sequence that a table names for each row; a row outside has 0."""
    ends = [rows_at(t["cu"][:, None], t["seq"].long() + one)[:, 0] for one in (0, 1)]
    return slices(ends[0], ends[1], size)


def levels(t: Tensors) -> torch.Tensor:
    x = t["X"]
    return stacked((x[at].sum(0) for at in named(t, len(x))), x.new_zeros(x.shape[1]))


def attended_levels(t: Tensors) -> torch.Tensor:
    q, k, v = t["Q"], t["K"], t["V"]
    rows = (
        attended(one[:, None] @ k[:, at].mT * q.shape[-1] ** -0.5, v[:, at])[:, 0]
        for one, at in zip(q.unbind(1), named(t, k.shape[1]), strict=True)
    )
    return stacked(rows, v.new_zeros(v.shape[0], v.shape[2])).movedim(0, 1)


MEANS: dict[str, Callable[[Tensors], torch.Tensor]] = {
    "chosen": chosen,
    "counted": counted,
    "csr_matvec": csr,
    "lengths": lengths,
    "levels": levels,
    "maxima": maxima,
    "one_pass_causal": packed,
    "one_pass_decode": decoded,
    "one_pass_levels": attended_levels,
    "one_pass_lse": lse,
    "one_pass_packed": packed,
    "ragged_sum": summed,
    "single": single,
    "tails": tails,
    "two_tables": two_tables,
    "weighted": weighted,
}


def shapes(name: str, call: RaggedCall) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the inputs of a call."""
    r, n, k = call
    every: dict[str, dict[str, tuple[int, ...]]] = {
        "chosen": {"X": (n,), "first": (r,), "last": (r,)},
        "counted": {"X": (n,), "first": (r,), "last": (r,)},
        "csr_matvec": {"W": (n,), "x": (k,), "cols": (n,), "rows": (r + 1,)},
        "lengths": {"X": (r, n, k), "lengths": (r,)},
        "levels": {"X": (n, k), "seq": (r,), "cu": (r + 1,)},
        "maxima": {"X": (n, k), "start": (r,), "length": (r,)},
        "one_pass_causal": {"Q": (2, r, k), "K": (2, n, k), "V": (2, n, 5), "first": (r,)},
        "one_pass_decode": {
            **{"Q": (r, 2, k), "K": (2, n, k), "V": (2, n, 5), "offsets": (r + 1,)},
        },
        "one_pass_levels": {
            **{"Q": (2, r, k), "K": (2, n, k), "V": (2, n, 5), "seq": (r,), "cu": (r + 1,)},
        },
        "one_pass_lse": {"A": (n,), "offsets": (r + 1,)},
        "one_pass_packed": {
            **{"Q": (2, r, k), "K": (2, n, k), "V": (2, n, 5), "first": (r,), "last": (r,)},
        },
        "ragged_sum": {"X": (n, k), "offsets": (r + 1,)},
        "single": {"X": (n, k), "start": (r,), "end": (r,)},
        "tails": {"X": (r, n), "first": (r,)},
        "two_tables": {
            **{"A": (n, k, 5), "W": (3, 5, 4), "rows": (r + 1,), "blocks": (n,)},
        },
        "weighted": {"P": (r, k, n), "V": (n, 5), "offsets": (r + 1,)},
    }
    return every[name]


def ends(
    kind: str, shape: tuple[int, ...], dtype: torch.dtype, size: int, random: torch.Generator
) -> torch.Tensor:
    """Return ends of ranges of one kind."""
    found = torch.randint(-3, size + 4, shape, generator=random)
    types = torch.iinfo(dtype)
    match kind:
        case "in order":
            found = found.clamp(0, size).sort().values
        case "empty":
            found = torch.full_like(found, size // 2)
        case "outside":
            found = torch.where(found % 2 == 0, -7, size + 9)
        case "reversed":
            found = found.sort(descending=True).values
        case "extreme":
            most = torch.tensor([types.min, types.max, 0, size], dtype=torch.int64)
            found = most[torch.randint(0, 4, shape, generator=random)]
        case _:
            pass
    return found.clamp(types.min, types.max).to(dtype)


def inputs(name: str, call: RaggedCall, kind: str, dtype: torch.dtype = F64) -> dict[str, Any]:
    """Return random inputs; the memory of floats is longer than they are."""
    random = torch.Generator().manual_seed(sum(map(ord, name + kind)) + sum(call))
    made: dict[str, Any] = {}
    for tensor in program(name).tensors:
        shape = shapes(name, call)[tensor.name]
        if tensor.dtype is not None:
            size = 3 if tensor.name in ("cols", "blocks") else call.size
            own = "random" if tensor.name in ("cols", "blocks") else kind
            made[tensor.name] = ends(own, shape, TORCH_DTYPE[tensor.dtype], size, random)
        else:
            wide = torch.randn([*shape[:-1], shape[-1] + 3], generator=random, dtype=F64)
            made[tensor.name] = wide.to(dtype)[..., : shape[-1]]
    if name == "maxima" and kind == "extreme":
        made["length"] = made["length"].clamp(-(2**30), 2**30)
    if name == "single":
        made["end"] = made["end"].clamp(min=-(2**30))
    return made


def calls() -> list[tuple[str, RaggedCall, str]]:
    """Return every call of every program."""
    assert sorted(MEANS) == sorted(NAMES)
    return [(name, call, kind) for name in NAMES for call in CALLS for kind in KINDS]


def assert_same(found: torch.Tensor, exact: torch.Tensor, share: float = 1e-11) -> None:
    """Compare a result with that of torch. The mean of nothing is a nan in both."""
    torch.testing.assert_close(found, exact, rtol=share, atol=share / 10, equal_nan=True)


def result(name: str) -> str:
    return name if name not in RAGGED else "result"


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "call", "kind"), calls())
def test_the_reference_goes_over_slices(name: str, call: RaggedCall, kind: str) -> None:
    given = inputs(name, call, kind)
    found = run(program(name), given, wanted=[result(name)])[result(name)]
    assert_same(found, MEANS[name](given))


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "call", "kind"), calls())
def test_the_kernel_goes_over_slices(name: str, call: RaggedCall, kind: str) -> None:
    given = inputs(name, call, kind)
    module: Any = imported(code(name).text)
    found = getattr(module, result(name))(*given.values())
    assert_same(found, MEANS[name](given))


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_other_types(name: str, dtype: torch.dtype) -> None:
    module: Any = imported(code(name).text)
    share = 2e-4 if dtype is torch.float32 else 4e-2
    for kind in KINDS:
        given = inputs(name, RaggedCall(5, 17), kind, dtype)
        found = getattr(module, result(name))(*given.values())
        exact = MEANS[name](
            {one: v.to(F64) if v.is_floating_point() else v for one, v in given.items()}
        )
        assert found.dtype is dtype
        torch.testing.assert_close(found.to(F64), exact, rtol=share, atol=share, equal_nan=True)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [F64, torch.float32, torch.bfloat16, torch.float16])
def test_tensors_may_be_turned(name: str, dtype: torch.dtype) -> None:
    """Tensors whose axes lie in the other order in memory are read as they are."""
    module: Any = imported(code(name).text)
    share = {F64: 1e-9, torch.float32: 2e-4}.get(dtype, 4e-2)
    for kind, call in product(KINDS, (RaggedCall(5, 17), RaggedCall(3, 0))):
        given = inputs(name, call, kind, dtype)
        turned = {one: v.mT.contiguous().mT if v.dim() > 1 else v for one, v in given.items()}
        found = getattr(module, result(name))(*turned.values())
        exact = MEANS[name](
            {one: v.to(F64) if v.is_floating_point() else v for one, v in given.items()}
        )
        torch.testing.assert_close(found.to(F64), exact, rtol=share, atol=share, equal_nan=True)


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), code(name).text, seconds=60)
    assert found.verdict is LayerVerdict.PROVED, found


@pytest.mark.parametrize("name", NAMES)
def test_loops_begin_and_end_where_the_data_says(name: str) -> None:
    text = code(name).text
    assert "_first = max(" in text or "_stop = min(" in text
    assert "_first, " in text or "_stop" in text


@pytest.mark.parametrize("name", NAMES)
def test_what_is_outside_is_not_looked_at(name: str) -> None:
    """An infinity or a nan outside of each range changes nothing."""
    call = RaggedCall(3, 31)
    given = inputs(name, call, "in order")
    for one in ("offsets", "rows"):
        if one in given:
            given[one] = torch.tensor([3, 9, 9, 20]).to(given[one].dtype)
    if "offsets" not in given and "rows" not in given:
        return
    right = MEANS[name](given)
    for one in ("X", "V", "A", "W", "K"):
        for at, size in enumerate(given[one].shape if one in given else ()):
            if size == call.size:
                rows = given[one].movedim(at, 0)
                rows[21:], rows[:3] = float("nan"), float("inf")
    module: Any = imported(code(name).text)
    assert_same(getattr(module, result(name))(*given.values()), right)
    assert_same(run(program(name), given, wanted=[result(name)])[result(name)], right)


@pytest.mark.parametrize("name", RAGGED)
def test_each_is_formatted_and_read_again(name: str) -> None:
    source = Source(f"{name}.dt", Path(RAGGED[name]).read_text())
    assert format_source(source) == source.text
    assert load(Source("again.dt", show(program(name)))) == program(name)


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *NAMES)
    assert code_ == 0, out + err


@pytest.mark.parametrize("name", ["one_pass_causal", "one_pass_packed"])
def test_tiles_outside_of_all_ranges_are_not_looked_at(name: str) -> None:
    """In a tile that some row takes, values must be finite: rows give others a weight of 0."""
    given = inputs(name, RaggedCall(3, 53), "in order")
    given["first"][:] = 1
    if "last" in given:
        given["last"][:] = torch.tensor([3, 9, 14])
    right = MEANS[name](given)
    function: Any = getattr(imported(code(name).text), result(name))
    for one in ("K", "V"):
        given[one][:, 32:] = float("nan")
    assert_same(function(*given.values()), right)
    given["V"][:, 15] = float("inf")
    assert function(*given.values()).isnan().any()
