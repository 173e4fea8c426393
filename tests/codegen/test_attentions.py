"""The library of attentions: each beside float64, at sizes around tiles, proved and compiled."""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from dtpoly.algorithm.filling import filled
from dtpoly.codegen.planned_sizes import passed_labels
from dtpoly.generate import outputs, results_of
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.cli.server import Server
from tests.codegen.listings import ATTENTIONS, code, module, program

Inputs = tuple[Any, ...]
SIZES = ((2, 0), (1, 1), (2, 15), (1, 64), (2, 65), (1, 131))


def drawn(seed: int, dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[Tensor]:
    made = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=made, dtype=torch.float64).to(dtype) for shape in shapes]


def wide(given: Inputs) -> Inputs:
    def is_wide(one: Any) -> bool:
        return not isinstance(one, Tensor) or not one.is_floating_point()

    return tuple(one if is_wide(one) else one.double() for one in given)


def weights(scores: Tensor, *, causal: bool = False) -> Tensor:
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, float("-inf"))
    found: Tensor = torch.softmax(scores, -1)
    return found


def attended(scores: Tensor, values: Tensor) -> Tensor:
    """Return the mean of values. That of none is 0 / 0, where torch's softmax has nothing."""
    found: Tensor = weights(scores) @ values
    return found if values.shape[-2] else torch.full_like(found, torch.nan)


def scores_of(Q: Tensor, K: Tensor) -> Tensor:
    products: Tensor = Q @ K.transpose(-1, -2)
    scale: float = Q.shape[-1] ** -0.5
    return products * scale


def softcap(Q: Tensor, K: Tensor, V: Tensor, cap: float) -> tuple[Tensor, ...]:
    return (attended(cap * torch.tanh(scores_of(Q, K) / cap), V),)


def grouped_heads(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    keys, values = (one.repeat_interleave(4, 1) for one in (K, V))
    return (attended(scores_of(Q, keys), values),)


def linear(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    queries, keys = (torch.nn.functional.elu(one) + 1 for one in (Q, K))
    products = queries @ keys.transpose(-1, -2)
    return (products / products.sum(-1, keepdim=True) @ V,)


def alibi(Q: Tensor, K: Tensor, V: Tensor, slope: Tensor) -> tuple[Tensor, ...]:
    at = torch.arange(Q.shape[2], dtype=torch.float64)
    bias = slope[:, None, None] * (at[None, :] - at[:, None])
    return (weights(scores_of(Q, K) + bias, causal=True) @ V,)


def sink(Q: Tensor, K: Tensor, V: Tensor, sink: Tensor) -> tuple[Tensor, ...]:
    scores = scores_of(Q, K)
    size = scores.shape[-1]
    ones = torch.ones(size, size, dtype=torch.bool).tril()
    scores = torch.where(ones, scores, -torch.inf)
    more = sink[:, None, None].expand(*scores.shape[:-1], 1)
    return (torch.softmax(torch.cat((scores, more), -1), -1)[..., :-1] @ V,)


def sink_window(Q: Tensor, K: Tensor, V: Tensor, sink: Tensor) -> tuple[Tensor, ...]:
    scores = scores_of(Q, K)
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril().triu(-127)
    more = sink[:, None, None].expand(*scores.shape[:-1], 1)
    scores = torch.cat((scores.masked_fill(~seen, -torch.inf), more), -1)
    return (torch.softmax(scores, -1)[..., :-1] @ V,)


def masked(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    return (weights(scores_of(Q, K), causal=True) @ V,)


def window(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    seen = torch.ones(Q.shape[2], K.shape[2], dtype=torch.bool).tril().triu(-1023)
    return (weights(scores_of(Q, K).masked_fill(~seen, float("-inf"))) @ V,)


def prefix(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    seen = torch.ones(Q.shape[2], K.shape[2], dtype=torch.bool).tril()
    seen[:, :128] = True
    return (weights(scores_of(Q, K).masked_fill(~seen, float("-inf"))) @ V,)


def with_lse(Q: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    seen = torch.ones(Q.shape[2], K.shape[2], dtype=torch.bool).tril()
    scores = scores_of(Q, K).masked_fill(~seen, float("-inf"))
    return torch.softmax(scores, -1) @ V, torch.logsumexp(scores, -1)


def latent(Q: Tensor, R: Tensor, C: Tensor, P: Tensor) -> tuple[Tensor, ...]:
    scores = Q @ C.transpose(-1, -2) + R @ P.transpose(-1, -2)
    return (attended(scores * (Q.shape[-1] + R.shape[-1]) ** -0.5, C),)


def backward(*given: Tensor) -> tuple[Tensor, ...]:
    Q, K, V, _, G, _ = given
    tracked = [one.clone().requires_grad_() for one in (Q, K, V)]
    out = weights(scores_of(tracked[0], tracked[1]), causal=True) @ tracked[2]
    return torch.autograd.grad(out, tracked, G)


def packed(Q: Tensor, K: Tensor, V: Tensor, first: Tensor) -> tuple[Tensor, ...]:
    at = torch.arange(len(first))
    seen = (at[None, :] >= first[:, None]) & (at[None, :] <= at[:, None])
    return (torch.softmax(scores_of(Q, K).masked_fill(~seen, float("-inf")), -1) @ V,)


def ragged(out: Tensor, Q: Tensor, K: Tensor, V: Tensor, cu: Tensor) -> tuple[Tensor, ...]:
    found = out.clone()
    ends: list[int] = [int(one) for one in cu]
    for first, last in pairwise(ends):
        own = (one[first:last].movedim(0, 1) for one in (Q, K, V))
        found[first:last] = masked(*own)[0].movedim(0, 1)
    return (found,)


def paged(Q: Tensor, K: Tensor, V: Tensor, pages: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
    rows: list[Tensor] = []
    for one, table, length in zip(Q, pages, lengths, strict=True):
        keys, values = (rows_of(x, table)[:, :length] for x in (K, V))
        rows.append(attended(scores_of(one[:, None], keys), values)[:, 0])
    return (torch.stack(rows),)


def rows_of(x: Tensor, table: Tensor) -> Tensor:
    """Return the rows of the pages that a table names, by head; a page that is not there is 0."""
    there = (table >= 0) & (table < len(x))
    found = torch.where(there[:, None, None, None], x[table.clamp(0, len(x) - 1)], 0)
    return found.movedim(1, 0).flatten(1, 2)


def blocks(Q: Tensor, K: Tensor, V: Tensor, table: Tensor, count: Tensor) -> tuple[Tensor, ...]:
    rows: list[Tensor] = []
    for at, (which, many) in enumerate(zip(table, count, strict=True)):
        keys, values = (rows_of(x.movedim(0, 1), which[:many]) for x in (K, V))
        rows.append(attended(scores_of(Q[:, at], keys), values))
    return (torch.stack(rows, 1),)


def heads(size: int, b: int, dtype: torch.dtype) -> list[Tensor]:
    return drawn(size, dtype, *[(b, 2, size, 16)] * 2, (b, 2, size, 7))


def given_to_softcap(size: int, b: int, dtype: torch.dtype) -> Inputs:
    return (*heads(size, b, dtype), 3.0)


def given_to_alibi(size: int, b: int, dtype: torch.dtype) -> Inputs:
    return (*heads(size, b, dtype), torch.tensor([0.5, 0.0625], dtype=dtype))


def given_to_sink(size: int, b: int, dtype: torch.dtype) -> Inputs:
    return (*heads(size, b, dtype), torch.tensor([2.5, -1.0], dtype=dtype))


def given_to_heads(size: int, b: int, dtype: torch.dtype) -> Inputs:
    return tuple(heads(size, b, dtype))


def given_to_grouped_heads(size: int, b: int, dtype: torch.dtype) -> Inputs:
    return tuple(drawn(size, dtype, (b, 8, 19, 16), (b, 2, size, 16), (b, 2, size, 7)))


def given_to_latent(size: int, b: int, dtype: torch.dtype) -> Inputs:
    return tuple(drawn(size, dtype, (b, 17, 16), (b, 17, 5), (b, size, 16), (b, size, 5)))


def given_to_backward(size: int, b: int, dtype: torch.dtype) -> Inputs:
    Q, K, V = heads(size, b, torch.float64)
    out, lse = with_lse(Q, K, V)
    G = drawn(size + 1, torch.float64, tuple(out.shape))[0]
    return tuple(one.to(dtype) for one in (Q, K, V, out, G, lse))


def given_to_packed(size: int, b: int, dtype: torch.dtype) -> Inputs:
    first = torch.randint(0, max(size, 1), (size,), generator=torch.Generator().manual_seed(size))
    first = first.sort().values.clamp(max=torch.arange(size))
    return (*drawn(size, dtype, *[(b, size, 16)] * 2, (b, size, 7)), first.to(torch.int32))


def given_to_ragged(size: int, b: int, dtype: torch.dtype) -> Inputs:
    """Sequences may be empty. The tokens behind the last one are those of none."""
    made = torch.Generator().manual_seed(size)
    ends = torch.randint(0, size + 1, (b + 2,), generator=made).sort().values
    cu = torch.cat((torch.zeros(1, dtype=torch.int64), ends)).to(torch.int32)
    Q, K, V = (one.movedim(1, 2).flatten(0, 1) for one in heads(size, 1, dtype))
    return (torch.full_like(V, 7.0), Q, K, V, cu)


def given_to_paged(size: int, b: int, dtype: torch.dtype) -> Inputs:
    """Pages may be named twice, or not be there; the first sequence is empty."""
    made, many = torch.Generator().manual_seed(size), -(-size // 16)
    pages = torch.randint(-1, 5, (b + 1, many), generator=made, dtype=torch.int32)
    lengths = torch.randint(0, size + 1, (b + 1,), generator=made, dtype=torch.int32)
    lengths[:1] = 0
    lengths[1:2] = size
    shapes = ((b + 1, 2, 16), (4, 2, 16, 16), (4, 2, 16, 7))
    return (*drawn(size, dtype, *shapes), pages, lengths)


def given_to_blocks(size: int, b: int, dtype: torch.dtype) -> Inputs:
    made, many = torch.Generator().manual_seed(size), max(1, -(-size // 32))
    table = torch.randint(-1, 4, (many, 3), generator=made, dtype=torch.int32)
    count = torch.randint(0, 4, (many,), generator=made, dtype=torch.int32)
    count[1:2] = 0
    shapes = ((b, many, 32, 16), (b, 3, 32, 16), (b, 3, 32, 7))
    return (*drawn(size, dtype, *shapes), table, count)


CASES: Mapping[str, tuple[Callable[..., Inputs], Callable[..., tuple[Tensor, ...]]]] = {
    "softcap": (given_to_softcap, softcap),
    "alibi": (given_to_alibi, alibi),
    "grouped_heads": (given_to_grouped_heads, grouped_heads),
    "linear": (given_to_heads, linear),
    "sink": (given_to_sink, sink),
    "sink_window": (given_to_sink, sink_window),
    "with_lse": (given_to_heads, with_lse),
    "masked": (given_to_heads, masked),
    "window": (given_to_heads, window),
    "prefix": (given_to_heads, prefix),
    "latent": (given_to_latent, latent),
    "backward": (given_to_backward, backward),
    "packed": (given_to_packed, packed),
    "ragged": (given_to_ragged, ragged),
    "paged": (given_to_paged, paged),
    "paged_split": (given_to_paged, paged),
    "blocks": (given_to_blocks, blocks),
}


def test_each_has_a_case() -> None:
    assert CASES.keys() == ATTENTIONS.keys()


@cache
def function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(module(name), program(name).directives[-1].func)
    if name == "ragged":  # no tensor shows how long the longest sequence is
        return lambda *given: found(*given, m=int(given[-1].diff().max()))
    return found


def results(name: str, given: Inputs) -> tuple[Tensor, ...]:
    found: Tensor | tuple[Tensor, ...] = function(name)(*given)
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_torch_does(name: str, size: tuple[int, int]) -> None:
    make, reference = CASES[name]
    given = make(size[1], size[0], torch.float32)
    found = results(name, given)
    wanted = reference(*wide(given))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "size", [(1, 33), *(pytest.param(size, marks=pytest.mark.long) for size in SIZES)]
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", CASES)
def test_of_short_floats(name: str, dtype: torch.dtype, size: tuple[int, int]) -> None:
    make, reference = CASES[name]
    given = make(size[1], size[0], dtype)
    found = results(name, given)
    wanted = reference(*wide(given))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0.06, atol=0.06, equal_nan=True)


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_of_nothing(name: str) -> None:
    """Each size that the file leaves open may be 0: no row, no key, no head or no column."""
    of = program(name)
    (wanted_names,) = results_of(of, outputs(of)).values()
    for label in of.labels:
        if label.name in of.fixed:
            continue
        sizes = filled(of, {label.name: 0}, {one.name: 3 for one in of.labels})
        inputs = random_inputs(of, sizes, seed=1)
        passed = {label: sizes[label] for label in passed_labels(of)}
        wanted = run(of, inputs, sizes=passed, wanted=wanted_names)
        function_of: Any = getattr(module(name), of.directives[-1].func)
        made: Tensor | tuple[Tensor, ...] = function_of(*inputs.values(), **passed)
        given = made if isinstance(made, tuple) else (made,)
        for one, found in zip(wanted_names, given, strict=True):
            torch.testing.assert_close(
                found.double(), wanted[one].double(), rtol=1e-4, atol=1e-4, equal_nan=True
            )


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_tensors_may_be_turned(name: str) -> None:
    """Tensors whose last two axes are exchanged in memory are read as they are."""
    make, reference = CASES[name]
    given = make(19, 2, torch.float32)
    turned = tuple(
        one.transpose(-1, -2).contiguous().transpose(-1, -2)
        if isinstance(one, Tensor) and one.dim() > 1
        else one
        for one in given
    )
    found = results(name, turned)
    wanted = reference(*wide(given))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_it_is_proved(name: str) -> None:
    report = verify(program(name), code(name).text, seconds=120)
    assert report.verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code_, out, err = served("call", "tests.codegen.compiling:main", *CASES)
    assert code_ == 0, out + err
