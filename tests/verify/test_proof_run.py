"""A proof is handed to whoever asks: several proofs may take turns, and none sees another one."""

from itertools import zip_longest

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.algebra.proof_limits import limited
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.set_table import SetTable
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.proof.layers import ARGUMENTS
from dtpoly.verify.proof.obligations import Attempt, attempts, section
from dtpoly.verify.proof.verify import FunctionReport, proof_of
from tests.verify.texts import text_of, written

SECONDS = 60.0
SUMS = written(
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);"
    "f.block(x:4); f.tensorize(x:0, k:128); f.compile();"
)
TILES = written(
    "Func f; In A; Var x, y; f[x, y] = A[x, y] * 2;"
    "f.block(x:4, y:4); f.tensorize(x:0, y:0); f.compile();"
)


def read(program: Program) -> Proof:
    _, proof = proof_of(ProofRun(is_empty), program, file_of(program, text_of(program)), "f", "f")
    return proof


def told(function: FunctionReport, run: ProofRun) -> dict[str, object]:
    """Return what a certificate has of a proof."""
    table = SetTable()
    for one in (*run.obligations, *run.inhabited):
        table.add(one.region)
    return section(Attempt(function, run, table))


@pytest.mark.long
def test_proofs_that_take_turns_are_those_that_come_one_after_the_other() -> None:
    programs = (SUMS, TILES)
    alone = [attempts(one, text_of(one), SECONDS, lambda _: is_empty)[0] for one in programs]
    with limited(SECONDS):
        proofs = [read(one) for one in programs]
        for name, argument in ARGUMENTS.items():
            for proof in proofs:
                proof.run.part = name
            found = list(zip_longest(*(argument(proof) for proof in proofs)))
            assert found == []
    for one, proof in zip(alone, proofs, strict=True):
        assert told(one.function, proof.run) == section(one)


def test_each_proof_counts_its_names_from_the_first() -> None:
    first, second = ProofRun(is_empty), ProofRun(is_empty)
    assert [first.fresh("lane"), first.fresh("lane.1")] == ["lane.1", "lane.2"]
    assert second.fresh("lane") == "lane.1"
