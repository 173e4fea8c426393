"""Run a kernel by the verifier's reader, and note what each of its expressions was.

The reader knows which index, size or condition an expression is, and which elements a load or store
touches. The last run of a statement counts: earlier ones only find out what a loop changes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Value
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.whole import Truth
from dtpoly.verify.triton.access import KernelAccess, KernelLaunch, KernelTensor, Ran
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.reader import Evaluate, Execute, Reader
from dtpoly.verify.triton.running import run_kernel
from dtpoly.verify.triton.unit.unit import Unit


@dataclass(frozen=True, slots=True)
class ExpressionNote:
    """What an expression was: its value, and the accesses that it made."""

    node: ast.expr
    value: Value
    accesses: tuple[KernelAccess, ...]


@dataclass(frozen=True, slots=True)
class StatementNote:
    """Where a statement ran: the condition, and the names that the loops around it count by."""

    node: ast.stmt
    where: Truth
    loops: tuple[str, ...]


@dataclass
class WatchedRun:
    """The notes of one run of a kernel."""

    state: KernelState | None = None
    expressions: dict[int, ExpressionNote] = field(default_factory=dict[int, ExpressionNote])
    statements: dict[int, StatementNote] = field(default_factory=dict[int, StatementNote])
    # The statements that are in no other statement, in their order.
    outermost: list[ast.stmt] = field(default_factory=list[ast.stmt])
    depth: int = 0

    def reader(self, state: KernelState, evaluate: Evaluate, execute: Execute) -> Reader:
        """Return a reader that notes all that it reads. An earlier attempt is forgotten."""
        self.state, self.depth = state, 0
        self.expressions.clear()
        self.statements.clear()
        self.outermost.clear()

        def noted(read: Reader, node: ast.expr) -> Value:
            begun = len(state.accesses)
            value = evaluate(read, node)
            accesses = tuple(state.accesses[begun:])
            self.expressions[id(node)] = ExpressionNote(node, value, accesses)
            return value

        def done(read: Reader, node: ast.stmt) -> None:
            if not self.depth:
                self.outermost.append(node)
            self.statements[id(node)] = StatementNote(node, state.where, state.loops)
            self.depth += 1
            execute(read, node)
            self.depth -= 1

        return Reader(state, noted, done)


def watched(
    run: ProofRun,
    file: Unit,
    arrays: Mapping[str, KernelTensor],
    launch: KernelLaunch,
    facts: Truth,
) -> tuple[WatchedRun, Ran]:
    """Run a kernel and return the notes, with what it did. Raises Unread."""
    notes = WatchedRun()
    ran = run_kernel(run, file, arrays, launch, facts, notes.reader)
    return notes, ran
