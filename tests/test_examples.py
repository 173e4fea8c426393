"""The examples check without a word and compute what they say."""

from pathlib import Path

import pytest
import torch

from dtpoly.compile import check, load
from dtpoly.diagnostics import Severity
from dtpoly.frontend.format import format_source
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source

EXAMPLES = Path(__file__).parent.parent / "examples"


def source(name: str) -> Source:
    return Source(f"{name}.dt", (EXAMPLES / f"{name}.dt").read_text())


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dt")))
def test_checks_without_errors_and_warnings(name: str) -> None:
    found = check(source(name)).diagnostics
    assert [d for d in found if d.severity is not Severity.NOTE] == []


def test_softmax() -> None:
    program = load(source("softmax"))
    a = torch.randn(5, 77, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(run(program, {"A": a})["softmax"], torch.softmax(a, 1))


def test_matmul() -> None:
    program = load(source("matmul"))
    inputs = random_inputs(program, {"m": 33, "n": 20, "k": 17}, seed=0)
    a, b = (torch.as_tensor(inputs[name]).double() for name in "AB")
    torch.testing.assert_close(run(program, inputs)["matmul"], a @ b)


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.dt")))
def test_is_formatted(name: str) -> None:
    assert format_source(source(name)) == source(name).text
