"""On a GPU: the same row in batches of 1, 2, 17 and 1000 has the same bits where that is proved.

The proof takes for granted that Triton compiles what a row is made of alike in each variant of a
kernel (see docs/same-bits.md). That is measured here, on the device at hand: at lengths of rows for
which Triton makes several variants, with rows that begin at aligned addresses and with others. It
is a process of its own, since kernels are interpreted in that of the tests.
"""

import os
import subprocess
import sys

import pytest
import torch

from tests.batch.on_a_gpu import APART, RowInBatches, differing, kernel_of, main, steps


@pytest.mark.gpu
def test_rows_in_four_batches() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "0"}
    command = [sys.executable, "-m", "tests.batch.on_a_gpu"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("example", ["softmax", "matmul"])
def test_what_is_run_on_a_gpu_runs_at_all(example: str) -> None:
    """Here, too, in the interpreter, with small batches: what never runs may be wrong."""
    more = (torch.randn(20, 16),) if example == "matmul" else ()
    case = RowInBatches(example, 20, more)
    assert differing(case, kernel_of(example), "cpu", (1, 3)) == []


def test_a_row_that_differs_is_told() -> None:
    def kernel(batch: torch.Tensor) -> torch.Tensor:
        return batch * len(batch)

    found = differing(RowInBatches("softmax", 20, ()), kernel, "cpu", (1, 3))
    where = "batch of 3, row 0, 0 elements apart"
    assert found[0] == f"softmax, rows of 20: {where}: 20 of 20 are others"


def test_strides_of_one_kind() -> None:
    assert steps(1024, is_alike=True) == (0, 16)
    assert steps(1000, is_alike=True) == (0, 16)
    assert steps(4097, is_alike=True) == (0, 1, 16)
    for length in (1, 100, 512, 1000, 4097):
        assert {*steps(length, is_alike=True), *steps(length, is_alike=False)} == {*APART}


def test_it_does_not_run_where_kernels_are_interpreted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "set TRITON_INTERPRET=0" in capsys.readouterr().out
