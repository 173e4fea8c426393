"""Every listing, every example and random programs compile for each kind of GPU."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.cli.server import Server
from tests.codegen.cases import random_case
from tests.targets.cases import is_fit

ROOT = Path(__file__).parent.parent.parent
FILES = [
    *sorted((ROOT / "tests" / "data" / "thesis").glob("*.dt")),
    *sorted((ROOT / "examples").glob("*.dt")),
]
TARGETS = ("cuda:80", "cuda:90", "hip:gfx942")
CASES = 50
# Triton has no such type on such a GPU.
LACKING = {"cuda:80": "f8e4m3"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_listing(served: Server, path: Path, target: str) -> None:
    stage = "amdgcn" if target.startswith("hip") else "ptx"
    words = ("--emit", stage, "--target", target, "--json")
    code, out, err = served("compile", *words, str(path))
    assert code == 0, err
    kernels = json.loads(out)["kernels"]
    assert kernels
    for kernel in kernels:
        assert kernel["registers"] > 0
        assert kernel["name"] in kernel["text"]


@cache
def seeds() -> tuple[int, ...]:
    """The first random cases that can be compiled."""
    found: list[int] = []
    for seed in range(10 * CASES):
        if is_fit(random_case(seed)):
            found.append(seed)
        if len(found) == CASES:
            return tuple(found)
    raise AssertionError("too few random cases are legal")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", range(CASES))
def test_a_random_program(served: Server, number: int, target: str) -> None:
    case = random_case(seeds()[number])
    code, out, _ = served("call", "tests.targets.cases:main", str(case.seed), target)
    if code and LACKING.get(target, "-") in str(case):
        assert "type fp8e4nv not supported in this architecture" in out
        return
    assert code == 0, out
    assert all(int(line.split()[1]) > 0 for line in out.splitlines())
