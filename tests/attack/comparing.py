"""Compares memory after a launch with what the verifier's reading says it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from dtpoly.verify.proof.findings import Proof
from tests.attack.case import Call, Case
from tests.attack.elements import difference
from tests.attack.executing import Execution, RaceError
from tests.attack.faults import Fault
from tests.attack.inputs import tensors_of
from tests.attack.numbers import CannotSayError
from tests.attack.reading import executed


def faults_met(
    case: Case,
    proof: Proof,
    call: Call,
    tensors: Mapping[str, torch.Tensor],
    faults: tuple[Fault, ...],
    looseness: float,
) -> list[str]:
    """Return the faults of Triton that explain all differences, or none if they do not."""
    before = tensors_of(case, call)
    try:
        execution = executed(case, proof, call, before, looseness, faults=faults)
    except (CannotSayError, RaceError):
        return []
    if differences(case, execution, tensors)[0]:
        return []
    return sorted(one.name for one in execution.faults.met.intersection(faults))


def differences(
    case: Case, execution: Execution, tensors: Mapping[str, torch.Tensor]
) -> tuple[list[str], int, int]:
    """Return where memory differs, in words; how many elements were compared, and how exactly.

    The second number counts those of which something is known, the third those that must be right
    to the last bit.
    """
    found: list[str] = []
    known = exact = 0
    for one in case.tensors:
        wanted = execution.memory[one.name]
        if one.is_output:
            known += int(np.sum(np.isfinite(wanted.slack)))
            exact += int(np.sum(wanted.slack == 0))
        said = difference(one, wanted.data, wanted.slack, tensors)
        if said is not None:
            found.append(said)
    return found, known, exact
