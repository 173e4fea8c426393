"""Random single operations: what the verifier reads of each, against Triton's interpreter."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence

import torch

from dtpoly.verify.proof.findings import Proof
from tests.attack.case import Case
from tests.attack.comparing import differences, faults_met
from tests.attack.executing import OutsideError
from tests.attack.faults import Fault
from tests.attack.inputs import tensors_of
from tests.attack.kernels import HERE, REFUSALS, Launch
from tests.attack.launching import launched
from tests.attack.numbers import CannotSayError
from tests.attack.operating import PLAIN, Operation, case_of, operation_of
from tests.attack.outcome import Outcome, Verdict
from tests.attack.reading import broken_rules, executed, read

# So many operations in one attempt, which launches them together.
BATCH = 50


def attempt(seed: int) -> Outcome:
    """Make some operations, and look at them."""
    return judged(operations_of(seed), seed)


def operations_of(seed: int, types: Sequence[str] = PLAIN) -> list[Operation]:
    """Return the operations that a seed makes, of such types."""
    generator = random.Random(f"operations {seed}")
    return [operation_of(generator, types) for _ in range(BATCH)]


def judged(
    operations: Sequence[Operation],
    seed: int,
    launch: Launch = launched,
    looseness: float = 0.0,
    faults: tuple[Fault, ...] = HERE,
) -> Outcome:
    """Return whether what the verifier reads of each operation is what it does."""
    counted: Counter[str] = Counter()
    taken: list[tuple[Operation, Proof]] = []
    for one in operations:
        counted["operations"] += 1
        try:
            taken.append((one, read(case_of([one], seed))))
        except REFUSALS:
            counted["operations refused"] += 1
    found = _compared(taken, seed, launch, counted, looseness, faults)
    if found:
        what, case = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        every = "\n\n".join(f"{said}\n{shown}" for said, shown in found)
        return Outcome(Verdict.WRONG, f"{what}{more}", every or case, counted)
    return Outcome(Verdict.AGREE, "", "", counted)


Taken = Sequence[tuple[Operation, Proof]]


def _compared(
    taken: Taken,
    seed: int,
    launch: Launch,
    counted: Counter[str],
    looseness: float,
    faults: tuple[Fault, ...],
) -> list[tuple[str, str]]:
    """Return differences, in words and as a case. What Triton does not take is halved."""
    if not taken:
        return []
    case = case_of([one for one, _ in taken], seed)
    (call,) = case.calls
    tensors = tensors_of(case, call)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            launch(case, call, tensors)
    except Exception:
        if len(taken) == 1:
            counted["operations that Triton does not take"] += 1
            return []
        half = len(taken) // 2
        first = _compared(taken[:half], seed, launch, counted, looseness, faults)
        second = _compared(taken[half:], seed, launch, counted, looseness, faults)
        return first + second
    found: list[tuple[str, str]] = []
    for at, (one, proof) in enumerate(taken):
        single = case_of([one], seed)
        after = {**tensors_of(single, single.calls[0]), **tensors, "O0": tensors[f"O{at}"]}
        found += _one(single, proof, after, one, counted, looseness, faults)
    return found


def _one(
    case: Case,
    proof: Proof,
    after: Mapping[str, torch.Tensor],
    operation: Operation,
    counted: Counter[str],
    looseness: float,
    faults: tuple[Fault, ...],
) -> list[tuple[str, str]]:
    try:
        (call,) = case.calls
        execution = executed(case, proof, call, tensors_of(case, call), looseness)
    except (CannotSayError, OutsideError) as error:
        counted["operations of which the evaluator says nothing"] += 1
        counted[f"nothing is said: {operation.word}, {error}"] += 1
        return []
    wrong, known, exact = differences(case, execution, after)
    counted["operations compared"] += 1
    counted["elements"] += known
    counted["elements to the last bit"] += exact
    if not wrong or broken_rules(proof, execution):
        return []
    known_faults = faults_met(case, proof, call, after, faults, looseness)
    if known_faults:
        for name in known_faults:
            counted[f"skipped: {name}"] += 1
        return []
    counted[f"wrong: {operation.word}"] += 1
    return [(f"{operation.value}: {wrong[0]}", case.shown())]
