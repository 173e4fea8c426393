"""Loops of one name that count in different types: Triton takes them for one variable."""

import re

import pytest

from dtpoly.generate import code_of
from tests.cli.process import told_by
from tests.codegen.cases import random_case, verdict

# Random kernels with loops over all of a size and over a block of it, as Triton refused some once.
REFUSED = (47, 126, 203, 225, 400, 405)


@pytest.mark.parametrize("seed", REFUSED)
def test_a_loop_over_a_block_has_a_name_of_its_own(seed: int) -> None:
    text = code_of(verdict(random_case(seed)).scheduled).text
    kinds = set[int]()
    for kernel in text.split("@triton.jit\n"):
        starts: dict[str, set[bool]] = {}
        for name, start in re.findall(r"for (\w+) in tl\.range\(([^,]+),", kernel):
            starts.setdefault(name, set()).add(start == "0")
        assert all(len(found) == 1 for found in starts.values()), starts
        kinds.add(len({is_whole for found in starts.values() for is_whole in found}))
    assert 2 in kinds


@pytest.mark.long
def test_offsets_of_64_bits_compile() -> None:
    found = told_by("tests.codegen.wide", *map(str, (*REFUSED, *range(8))))
    assert len(found) >= 10
    assert [one for one in found if one["why"]] == []
