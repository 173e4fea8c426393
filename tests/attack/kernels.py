"""Compares what the verifier reads of random whole kernels with Triton's interpreter."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping

import islpy as isl
import torch

from dtpoly.budget import OverBudgetError
from dtpoly.verify.algebra.algorithm_terms import Unsaid
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.regions import NotAffine
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.proof.proof_errors import CONFUSED
from tests.attack.case import Call, Case
from tests.attack.comparing import differences, faults_met
from tests.attack.executing import OutsideError, RaceError
from tests.attack.faults import Fault, faults_of
from tests.attack.generating import case_of_seed
from tests.attack.inputs import tensors_of
from tests.attack.launching import launched, triton
from tests.attack.numbers import CannotSayError
from tests.attack.outcome import Outcome, Verdict
from tests.attack.reading import broken_rules, executed, read

# The verifier raises these if it does not accept a text, or does not finish.
LATE = (NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error, *CONFUSED)
REFUSALS = (Unread, *LATE)
# The known faults in the interpreter of the Triton that is installed.
HERE = faults_of(triton.__version__, is_compiled=False)
Launch = Callable[[Case, Call, Mapping[str, torch.Tensor]], None]


def attempt(seed: int) -> Outcome:
    """Make a kernel, and compare."""
    return judged(case_of_seed(seed))


def judged(
    case: Case,
    launch: Launch = launched,
    looseness: float = 0.0,
    faults: tuple[Fault, ...] = HERE,
) -> Outcome:
    """Return the outcome: a kernel must do what the verifier reads, except for known faults."""
    counted = Counter({"kernels": 1})
    try:
        proof = read(case)
    except Unread as error:
        return Outcome(Verdict.REFUSED, str(error), case.shown(), counted)
    except LATE as error:
        what = f"{type(error).__name__}: {error}"
        return Outcome(Verdict.UNKNOWN, what, case.shown(), counted)
    counted["kernels read"] += 1
    for feature in case.features:
        counted[f"with {feature}"] += 1
    for call in case.calls:
        outcome = _called(case, proof, call, counted, launch, looseness, faults)
        if outcome is not None:
            return outcome
    return Outcome(Verdict.AGREE, "", "", counted)


def _called(
    case: Case,
    proof: Proof,
    call: Call,
    counted: Counter[str],
    launch: Launch,
    looseness: float,
    faults: tuple[Fault, ...],
) -> Outcome | None:
    """Compare one call, and return an outcome if it ends the attempt."""
    tensors = tensors_of(case, call)
    try:
        execution = executed(case, proof, call, tensors, looseness)
    except (CannotSayError, RaceError) as error:
        counted["calls of which the evaluator says nothing"] += 1
        return Outcome(Verdict.UNKNOWN, f"{error}", case.shown(), counted)
    except OutsideError as error:
        # The generator makes no such kernel.
        return Outcome(Verdict.WRONG, str(error), case.shown(), counted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            launch(case, call, tensors)
    except Exception as error:
        counted["kernels that Triton does not take"] += 1
        why = f"Triton: {type(error).__name__}: {error}".splitlines()
        return Outcome(Verdict.SKIPPED, " ".join(why)[:300], case.shown(), counted)
    counted["calls"] += 1
    found, known, exact = differences(case, execution, tensors)
    counted["elements"] += known
    counted["elements to the last bit"] += exact
    if not found:
        return None
    broken = broken_rules(proof, execution)
    if broken:
        counted["calls that the verifier would not prove"] += 1
        return Outcome(Verdict.UNKNOWN, broken[0], case.shown(), counted)
    known_faults = faults_met(case, proof, call, tensors, faults, looseness)
    if known_faults:
        for name in known_faults:
            counted[f"skipped: {name}"] += 1
        what = f"Triton {triton.__version__}: {'; '.join(known_faults)}"
        return Outcome(Verdict.SKIPPED, what, case.shown(), counted)
    what = f"{found[0]} in {dict(call.sizes)} with {call.values} values"
    return Outcome(Verdict.WRONG, what, case.shown(), counted)
