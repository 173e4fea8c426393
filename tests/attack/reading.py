"""A case as the verifier reads it: its launches, and what is in memory after them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.source import Source
from dtpoly.verify.algebra.proof_limits import limited
from dtpoly.verify.algebra.whole import Truth, both
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.proof.verify import asking_isl, proof_of
from dtpoly.verify.triton.access import Ran
from tests.attack.case import Call, Case
from tests.attack.elements import KINDS, numbers_of
from tests.attack.executing import Execution, Tensor, points
from tests.attack.faults import Fault, Faulty
from tests.attack.frames import free_names, truth, whole
from tests.attack.numbers import BITS, Number, left_open

SECONDS = 20.0


@lru_cache(512)
def program_of(text: str) -> Program:
    """Return the algorithm that declares a case's tensors."""
    found = check(Source("case.dt", text))
    assert found.program is not None, "\n".join(str(one) for one in found.diagnostics)
    return found.program


def read(case: Case) -> Proof:
    """Return what the verifier reads of the kernels, before it compares that with an algorithm.

    Raises what the verifier raises for a text that it does not take.
    """
    program = program_of(case.algorithm)
    file = file_of(program, case.text)
    wanted = next(one.name for one in case.tensors if one.is_output)
    run = asking_isl(wanted)
    with limited(SECONDS):
        _, proof = proof_of(run, program, file, wanted, wanted)
    return proof


def names_of(case: Case, call: Call, tensors: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """Return what the names of sizes and strides are in a call."""
    names: dict[str, int] = {}
    for one in case.tensors:
        for axis, size in enumerate(tensors[one.name].shape):
            names[f"{one.name}.shape[{axis}]"] = size
            names[f"{one.name}.stride({axis})"] = tensors[one.name].stride(axis)
    for label, size in call.sizes.items():
        names[f"{label}_size"] = size
        names[f"len({label})"] = size
    for name, size in list(names.items()):
        names[f"next_power_of_2({name})"] = 1 << max(size - 1, 0).bit_length()
    return names


def memory_of(case: Case, tensors: Mapping[str, torch.Tensor]) -> dict[str, Tensor]:
    """Return all tensors as they are before a call."""
    found: dict[str, Tensor] = {}
    for one in case.tensors:
        kind = KINDS[one.dtype]
        data = numbers_of(kind, tensors[one.name]).copy()
        slack = left_open(kind, data)
        found[one.name] = Tensor(kind, data, np.zeros(data.shape) if slack is None else slack)
    return found


def executed(
    case: Case,
    proof: Proof,
    call: Call,
    tensors: Mapping[str, torch.Tensor],
    looseness: float = 0.0,
    *,
    is_fused: bool = False,
    faults: tuple[Fault, ...] = (),
) -> Execution:
    """Return memory after the launches of a case, as the verifier reads them; or with faults."""
    scalars = {
        one: Number(np.asarray(value, np.float32 if isinstance(value, float) else np.int64))
        for one, value in case.scalars.items()
    }
    names = names_of(case, call, tensors)
    # One operation that rounds once is read as a product and a sum.
    is_fused = is_fused or "tl.fma(" in case.text
    lone = np.float64 if case.wide == "f64" else np.float32
    memory = memory_of(case, tensors)
    execution = Execution(names, scalars, memory, looseness, is_fused, lone, Faulty(faults))
    for ran in proof.runs:
        execution.launch(ran)
    return execution


def broken_rules(proof: Proof, execution: Execution) -> list[str]:
    """Return the rules that the verifier must check before a proof, and that do not hold here.

    Numbers that must not be negative where they are divided, and such that must fit their type.
    """
    found: list[str] = []
    for ran in proof.runs:
        for divided in ran.divided:
            is_wrong = partial(_is_rounded, divided.by)
            if _is_anywhere(ran, execution, divided.where, divided.number, is_wrong):
                found.append(f"line {divided.line}: a negative number is divided")
        for one in ran.computed:
            if one.kind in BITS:
                bits = BITS[one.kind]
                is_signed = not one.kind.startswith("tl.uint")
                high = (1 << (bits - is_signed)) - 1
                low = -high - 1 if is_signed else 0
                fits = range(low, high + 1)
                if _is_anywhere(ran, execution, one.where, one.value, partial(_is_outside, fits)):
                    found.append(f"line {one.line}: a number does not fit {one.kind}")
        if ran.doubts:
            found.append(f"line {ran.doubts[0][0]}: {ran.doubts[0][1]}")
    return found


def _is_rounded(by: int | None, number: int) -> bool:
    """Return whether a quotient is rounded as Triton does it, not as the verifier reads it."""
    return number < 0 and (by is None or number % by != 0)


def _is_outside(fits: range, number: int) -> bool:
    return number not in fits


def _is_anywhere(
    ran: Ran, execution: Execution, where: Truth, value: Any, is_wrong: Callable[[int], bool]
) -> bool:
    """Return whether a number is wrong at some point of a domain."""
    known = {**ran.programs, **ran.ranges}
    pending, domain = sorted(free_names(value) | free_names(where)), [where]
    names: list[str] = []
    while pending:
        one = pending.pop()
        if one in known and one not in names:
            names.append(one)
            domain.append(known[one])
            pending.extend(free_names(known[one]))
    for point in points(names, both(*domain), execution.frame({})):
        frame = execution.frame(point)
        if bool(truth(where, frame)) and is_wrong(int(whole(value, frame))):
            return True
    return False
