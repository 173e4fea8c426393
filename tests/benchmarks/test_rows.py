"""The table of what is timed is whole: each row has inputs, a reference, and peers."""

import pytest
import torch

from benchmarks.gpu.inputs import SHAPES, in_place, inputs, size_in_bytes, tensors
from benchmarks.gpu.peer import Unfit
from benchmarks.gpu.peers import EAGER, MODULES, PACKAGES, kinds_here, peers
from benchmarks.gpu.peers_attention import KERNELS
from benchmarks.gpu.references import CUT, WHOLE, off, reference
from benchmarks.gpu.references_training import compared
from benchmarks.gpu.rows import AIMS, DERIVED, GROUPS, Row, files, flops, is_named, rows, tiny_rows
from dtpoly.timing.failures import WrongResult

TINY = {row.kernel: row for row in tiny_rows()}


def test_a_peer_that_cannot_be_imported_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be for another version of torch, and ends no run."""
    monkeypatch.setitem(PACKAGES, "helion", "torch")
    monkeypatch.setitem(MODULES, "helion", "benchmarks.gpu.not_there")
    told = kinds_here(("torch", "helion"))
    assert told["torch"] == ""
    assert told["helion"].startswith("torch cannot be imported: No module named")
    assert "Helion" not in {peer.name for peer in peers("softmax", told)}


def test_names_are_unique_and_every_family_has_an_aim() -> None:
    names = [row.name for row in rows()]
    assert len(names) == len(set(names)) > 60
    assert {row.family for row in rows()} == AIMS.keys()
    assert SHAPES.keys() == CUT.keys() | WHOLE.keys() == {group.kernel for group in GROUPS}
    assert EAGER.keys() | {*KERNELS} == SHAPES.keys()
    assert {one.name for one in DERIVED} < {*files()}


def test_a_row() -> None:
    row = next(row for row in rows() if row.name == "matmul 4000x4100x1000 f16")
    assert row.sizes == {"m": 4000, "n": 4100, "k": 1000}
    assert flops(row) == 2 * 4000 * 4100 * 1000
    one = next(row for row in rows() if row.name == "conv2d 8x1x161x700x64x5x5 f16")
    assert flops(one) == 2 * 8 * 157 * 696 * 64 * 25


@pytest.mark.sampled
@pytest.mark.parametrize("kernel", TINY)
def test_peers_compute_what_the_reference_does(kernel: str) -> None:
    row = TINY[kernel]
    given = inputs(row, "cpu")
    want = reference(row, given)
    for peer in peers(kernel, {"torch": "", "triton": ""}):
        try:
            own = in_place(row, given)
            found = off(row, compared(row, given, peer.make(row, own)()), want)
        except Unfit:
            continue
        assert not found.is_wrong, f"{peer.name}: {found}"


def test_inputs_are_the_same_each_time() -> None:
    row = TINY["layer_norm"]
    one, other = tensors(inputs(row, "cpu")), tensors(inputs(row, "cpu"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert size_in_bytes(row, one, one["X"]) == 4 * (2 * 16 * 64 + 2 * 64)


def test_a_reference_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel in ("softmax", "cross_entropy", "matmul", "conv2d"):
        given = inputs(TINY[kernel], "cpu")
        whole = reference(TINY[kernel], given)
        with monkeypatch.context() as patch:
            patch.setattr("benchmarks.gpu.references.AT_ONCE", 100)
            assert not off(TINY[kernel], reference(TINY[kernel], given), whole).is_wrong


def test_what_is_wrong_is_told() -> None:
    row = TINY["softmax"]
    want = torch.rand(4, 8)
    assert not off(row, want.clone(), want).is_wrong
    for at, value in ((0, float("nan")), (3, 2.0)):
        got = want.clone()
        got[at, at] = value
        assert off(row, got, want).is_wrong
    # The last tile of a row of 128256 numbers is a hundredth of a sum.
    one = next(row for row in rows() if row.name == "tvd 8192x128256 bf16")
    assert off(one, torch.tensor(0.99), torch.tensor(1.0)).is_wrong
    assert not off(one, torch.tensor(0.998), torch.tensor(1.0)).is_wrong
    assert off(row, want[:2], want).why == "its shape is (2, 8), not (4, 8)"
    assert issubclass(WrongResult, Exception)


def test_tiny_rows_are_of_every_kernel() -> None:
    assert [*TINY] == [*dict.fromkeys(group.kernel for group in GROUPS)]
    assert all(isinstance(row, Row) for row in TINY.values())


def test_what_may_be_chosen_freely_is_compared_by_what_it_means() -> None:
    """Indices of equal values, and random zeros: several results are right, and others wrong."""
    row = TINY["top 8"]
    given = {"A": torch.zeros(2, 16)}
    want = (torch.zeros(2, 8),) * 2
    value, other = torch.zeros(2, 8), torch.arange(8, 16).expand(2, 8)
    assert not off(row, compared(row, given, (value, other)), want).is_wrong
    nowhere = other.clone()
    nowhere[0, 0] = torch.iinfo(torch.int64).min
    assert off(row, compared(row, given, (value, nowhere)), want).is_wrong


def test_dropout_has_about_as_many_zeros_as_it_should() -> None:
    row = TINY["dropout"]
    given = inputs(row, "cpu")
    want, values = reference(row, given), tensors(given)["A"]
    scaled = values / (1 - 0.125)
    assert off(row, compared(row, given, scaled), want).is_wrong
    assert off(row, compared(row, given, torch.zeros_like(scaled)), want).is_wrong
    dropped = torch.dropout(values, 0.125, train=True)
    assert not off(row, compared(row, given, dropped), want).is_wrong
    assert off(row, compared(row, given, 1.01 * dropped), want).is_wrong


def test_a_number_next_to_the_nearest_one_is_wrong() -> None:
    row = TINY["quantize rows"]
    given = inputs(row, "cpu")
    want = reference(row, given)
    values = tensors(given)["A"]
    scale = values.abs().amax(-1) / 127
    quantized = (values / scale[:, None]).round().to(torch.int8)
    assert not off(row, compared(row, given, (quantized, scale)), want).is_wrong
    quantized[3, 5] += 1 if quantized[3, 5] < 127 else -1
    assert off(row, compared(row, given, (quantized, scale)), want).is_wrong


def test_results_that_are_missing() -> None:
    """A peer may lack one, and says so; fewer results are wrong."""
    row = TINY["add + rms_norm"]
    want = tuple(torch.rand(size) for size in ((4, 8), (4, 8), (4,)))
    assert not off(row, (want[0], want[1], None), want).is_wrong
    assert off(row, (want[0], want[1] + 1, None), want).is_wrong
    assert off(row, want[:2], want).why == "it has 2 results, not 3"


def test_names_may_be_patterns() -> None:
    assert is_named(("moe gate",), ())
    assert is_named(("moe gate", "moe_gate"), ("softmax", "moe*"))
    assert not is_named(("moe gate",), ("moe",))


def test_attention_counts_the_pairs_that_are_seen() -> None:
    found = {row.name: row for row in rows()}
    full = flops(found["attention, heads 1x16x4096x128x128x4096 bf16"])
    assert full == 4 * 16 * 4096 * 4096 * 128
    causal = flops(found["attention, causal 1x16x4096x128x128x4096 bf16"])
    assert causal == 4 * 16 * (4096 * 4097 // 2) * 128
    assert flops(found["attention, window 1x16x4096x128x128x4096 bf16"]) < causal
