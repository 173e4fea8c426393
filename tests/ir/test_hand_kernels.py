"""Kernels that are built by hand are valid, compile for a GPU, and compute what they should."""

from itertools import accumulate

import pytest
import torch

from tests.cli.process import told_by
from tests.ir.by_hand import run, told
from tests.ir.hand_kernels import KERNELS


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    """Normal numbers, the same for a seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", KERNELS)
def test_it_is_valid(name: str) -> None:
    assert not told(KERNELS[name].kernel)


@pytest.mark.long
def test_triton_compiles_all_of_them() -> None:
    found = told_by("tests.ir.compiled_by_hand", *KERNELS)
    assert [one["name"] for one in found] == [*KERNELS]
    for one in found:
        assert "cubin" in one["has"]
        assert not one["spilled"]


@pytest.mark.parametrize("count", [1, 31, 32, 33, 100])
def test_attention_in_one_pass(count: int) -> None:
    rows, inner, columns = 21, 16, 13
    queries, keys = 3 * random(rows, inner), 3 * random(count, inner, seed=1)
    values, out = random(count, columns, seed=2), torch.full((rows, columns), torch.nan)
    sizes = {"m_size": rows, "l_size": count, "k_size": inner, "n_size": columns}
    tensors = {"Q": queries, "K": keys, "V": values, "out": out}
    run(KERNELS["attention"], 2, tensors, {**sizes, "scale": inner**-0.5})
    scores = queries.double() @ keys.double().T * inner**-0.5
    expected = torch.softmax(scores, 1) @ values.double()
    torch.testing.assert_close(out.double(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 32, 75])
def test_rms_norm_has_two_results(columns: int) -> None:
    rows = 6
    given, weights = random(rows, columns), random(columns, seed=1)
    out, scales = torch.full((rows, columns), torch.nan), torch.full((rows,), torch.nan)
    tensors = {"X": given, "W": weights, "out": out, "scales": scales}
    run(KERNELS["rms_norm"], 2, tensors, {"x_size": rows, "y_size": columns})
    wide = given.double()
    expected = (wide.square().mean(1) + 1e-6).rsqrt()
    torch.testing.assert_close(scales.double(), expected, rtol=1e-5, atol=1e-6)
    normal = wide * expected[:, None] * weights.double()
    torch.testing.assert_close(out.double(), normal, rtol=1e-5, atol=1e-6)


def test_bounds_of_a_loop_are_loaded() -> None:
    lengths = [3, 0, 32, 33, 100, 1]
    offsets = torch.tensor([0, *accumulate(lengths)]).int()
    given, out = random(sum(lengths)), torch.full((len(lengths),), torch.nan)
    tensors = {"offsets": offsets, "X": given, "out": out}
    run(KERNELS["ragged_sum"], len(lengths), tensors, {"s_size": len(lengths)})
    rows = torch.split(given.double(), lengths)
    expected = torch.stack([one.sum() for one in rows])
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)


def test_rows_are_gathered_and_scattered() -> None:
    rows, columns = 21, 13
    table, out = random(50, columns), torch.zeros(rows, columns)
    tokens = torch.randint(0, 50, (rows,), generator=torch.Generator().manual_seed(3)).int()
    places = torch.randperm(rows, generator=torch.Generator().manual_seed(4))
    tensors = {"tokens": tokens, "places": places, "table": table, "out": out}
    run(KERNELS["embedding"], 3, tensors, {"x_size": rows, "n_size": columns})
    expected = torch.zeros(rows, columns)
    expected[places] = table[tokens.long()]
    assert torch.equal(out, expected)
