"""Tests that known faults of Triton are there in the versions named, and excuse nothing else."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch

from tests.attack.case import Call, Case
from tests.attack.faults import FAULTS, NAN, Fault, faults_of
from tests.attack.kernels import HERE
from tests.attack.launching import launched
from tests.attack.operating import Operation, case_of
from tests.attack.operations import judged
from tests.attack.outcome import Verdict

LARGER = "tl.maximum(a_f32, b_f32)"
PROPAGATED = "tl.maximum(a_f32, b_f32, propagate_nan=tl.PropagateNan.ALL)"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.name)
def test_a_fault_is_there_in_the_versions_that_it_names(fault: Fault) -> None:
    operation = Operation(fault.shown, "i", "f32", "fault")
    plain, excused = judged([operation], 0, faults=()), judged([operation], 0)
    assert excused.verdict is Verdict.AGREE, excused.what
    if fault in HERE:
        assert plain.verdict is Verdict.WRONG
        assert excused.figures[f"skipped: {fault.name}"] == 1
    else:
        assert plain.verdict is Verdict.AGREE, plain.what
        assert f"skipped: {fault.name}" not in excused.figures


def test_versions() -> None:
    assert faults_of("3.6.0", is_compiled=False) == FAULTS
    assert NAN not in faults_of("3.7.1", is_compiled=True)
    assert faults_of("3.8.0", is_compiled=False) == ()
    assert faults_of("3.10.0+git", is_compiled=False) == ()


@pytest.mark.parametrize(
    ("done", "is_excused"),
    [
        (PROPAGATED, True),
        ("tl.minimum(a_f32, b_f32)", False),
        (f"tl.where(a_f32 > 3, a_f32, {PROPAGATED})", False),
        (f"({PROPAGATED} + 1)", False),
    ],
)
def test_a_fault_excuses_nothing_but_itself(done: str, is_excused: bool) -> None:
    def other(case: Case, call: Call, tensors: Mapping[str, torch.Tensor]) -> None:
        launched(replace(case, text=case.text.replace(LARGER, done)), call, tensors)

    one = Operation(LARGER, "i", "f32", "planted")
    assert LARGER in case_of([one], 0).text
    outcome = judged([one], 0, other, faults=(NAN,))
    assert outcome.verdict is (Verdict.AGREE if is_excused else Verdict.WRONG), outcome.what
    assert outcome.figures.get(f"skipped: {NAN.name}", 0) == int(is_excused)
