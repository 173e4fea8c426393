"""Ways to turn a side of a product: those that need no GPU, against torch."""

from contextlib import suppress
from dataclasses import replace

import pytest
import torch

from benchmarks.gpu.peer import Unfit
from benchmarks.gpu.peers_turned import peers
from benchmarks.gpu.rows import rows

ROW = next(row for row in rows() if row.name == "matmul 8192x8192x8192 tf32")
SIDES = {"A": torch.randn(256, 64), "B": torch.randn(64, 512)}


def test_each_is_the_product() -> None:
    right: list[str] = []
    for peer in peers("matmul"):
        with suppress(Unfit):  # they want a GPU, or more whole tiles
            found = peer.make(ROW, SIDES)()
            torch.testing.assert_close(found, SIDES["A"] @ SIDES["B"], rtol=1e-4, atol=1e-4)
            right.append(peer.name)
    assert right == ["turned before", "from registers", "from registers, no waits"]


def test_there_are_none_of_other_products() -> None:
    assert peers("softmax") == []
    for given in ({"A": torch.ones(256, 64), "B": torch.ones(64, 100)}, SIDES):
        row = ROW if given is not SIDES else replace(ROW, dtype="f16")
        with pytest.raises(Unfit):
            peers("matmul")[0].make(row, given)
