"""Kernels that are written by hand, in Triton's interpreter: each of their tiles is right."""

from collections.abc import Iterable

import pytest

from benchmarks.gpu import peers_rows
from benchmarks.gpu.inputs import in_place, inputs, tensors
from benchmarks.gpu.peer import Run
from benchmarks.gpu.references import off, reference
from benchmarks.gpu.references_training import compared
from benchmarks.gpu.rows import GROUPS, row

CASES = {
    "add + rms_norm": ("5x100", "1x1", "3x257"),
    "layer_norm backward": ("5x100", "1x1", "131x33"),
    "adam in place": ("1", "3000", "8192"),
    "embedding": ("5x9x100", "1x1x1", "7x3x1030"),
    "scan of rows": ("3x100", "1x1", "2x8200"),
    "scan of long rows": ("2x100", "1x1", "2x40000"),
    "quantize rows": ("5x100", "1x1", "3x257"),
}
LEAST = 4  # tiles of each


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize(
    ("kernel", "sizes"), [(kernel, sizes) for kernel, all_of in CASES.items() for sizes in all_of]
)
def test_all_tiles_compute_what_the_reference_does(
    kernel: str, sizes: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Run] = []

    def all_of(runs: Iterable[Run]) -> Run:
        kept.extend(runs)
        return kept[0]

    monkeypatch.setattr(peers_rows, "fastest", all_of)
    group = next(one for one in GROUPS if one.kernel == kernel)
    one = row(group, f"{sizes} {dtype}")
    given = inputs(one, "cpu")
    want = reference(one, given)
    own = in_place(one, given)
    before, after = tensors(given), tensors(own)
    peers_rows.MADE[kernel](one, own)
    assert len(kept) >= LEAST
    for run in kept:
        for name, value in after.items():  # what another one may have changed
            value.copy_(before[name])
        found = off(one, compared(one, given, run()), want)
        assert not found.is_wrong, found


def test_every_kernel_is_tried() -> None:
    assert peers_rows.MADE.keys() == CASES.keys()
