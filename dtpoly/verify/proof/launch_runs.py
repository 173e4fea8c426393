"""Run all kernels of a reading: the launches of a plan, or those that a person wrote down."""

from __future__ import annotations

from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.whole import Truth
from dtpoly.verify.plan.held import FunctionReading
from dtpoly.verify.proof.in_place_by_hand import with_results
from dtpoly.verify.triton.access import KernelTensor, Ran
from dtpoly.verify.triton.running import run_kernel
from dtpoly.verify.triton.unit.unit import Unit


def runs_of(
    run: ProofRun,
    program: Program,
    file: Unit,
    reading: FunctionReading,
    known: tuple[dict[str, KernelTensor], Truth],
    *,
    is_valued: bool,
) -> list[Ran]:
    """Run the kernels of a reading, with its tensors and what holds of them. Raises Unread."""
    arrays, facts = known
    of = reading.launches
    runs = [run_kernel(run, file, arrays, one, facts, is_valued=is_valued) for one in of]
    if not file.said:
        return runs
    placed = {one.name for one in program.funcs if one.into is not None and one.into.at}
    placed = placed if is_valued else {*reading.into}  # by atomic operations
    return [with_results(ran, reading.into, placed) for ran in runs]
