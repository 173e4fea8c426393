"""Kernels that are placed while the one before them ends: they wait before they touch memory."""

import re
from functools import cache

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.cli.process import told_by
from tests.codegen.plans import launches_in
from tests.codegen.running import imported
from tests.gpu.chains import PROGRAMS, WAIT, wrong

TWO = PROGRAMS["two kernels"]
SECOND = PROGRAMS["the second of two"]


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)


def test_each_kernel_that_is_early_waits_first() -> None:
    for text, count in ((TWO, 2), (SECOND, 1)):
        made = generated(text).text
        heads = re.findall(f"    if early:\n{re.escape(WAIT)}", made)
        assert len(heads) == len([one for one in launches_in(made) if one.get("early")]) == count


def test_a_label_of_that_name() -> None:
    text = "Func f; In A; Var early; f[early] = A[early]; f.block(early:4); f.early(); f.compile();"
    A = torch.randn(9)
    assert imported(generated(text).text).f(A).equal(A)


@pytest.mark.long
def test_it_changes_no_result() -> None:
    late = TWO.replace("f.early(); ", "").replace("g.early();", "")
    step, right = (imported(generated(text).text).f for text in (TWO, late))
    assert not wrong(step, right, 100, "cpu", 16)


@pytest.mark.long
def test_a_chain_shows_what_is_read_too_early() -> None:
    right = imported(generated(PROGRAMS["one kernel"]).text).f

    def hasty(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
        late = a.clone()
        late[3, 5] = out[3, 5]  # what was there before
        result: torch.Tensor = right(late, b, out=out)
        return result

    assert wrong(hasty, right, 100, "cpu", 16) == 1


@pytest.mark.long
def test_a_gpu_that_can_wait_does_so_before_it_touches_memory() -> None:
    found = told_by("tests.codegen.waiting")
    assert len(found) == 3 * 8
    for one in found:
        assert one["waits"] == (one["is_early"] and one["target"] == "cuda:90"), one
