"""Shares states and code among schedules that differ only in warps, stages and the like.

Such schedules have the same directives that inline, make loops and fuse. These are most of the
work: the copies of fusions, the loops that isl makes, and the masks of their tiles.
"""

from collections.abc import Hashable, Sequence
from dataclasses import field, replace
from typing import TypeVar

from dtpoly.algorithm.program import Program
from dtpoly.codegen.module import TilesAndLoops
from dtpoly.frozen import dataclass
from dtpoly.generate import Code, code_of
from dtpoly.poly.remembered import Answers, remembering
from dtpoly.schedule.applied_directives import Begun, begun, finished, shaping
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.state import State

V = TypeVar("V")

MOST = 256  # the latest are kept, at half a megabyte each; neighbouring points often share them


@dataclass(slots=True)
class Shapes:
    """Keeps the states and layouts of the latest schedules, by the directives that shape loops."""

    begun: dict[Hashable, Begun] = field(default_factory=dict[Hashable, Begun])
    layouts: dict[Hashable, TilesAndLoops] = field(default_factory=dict[Hashable, TilesAndLoops])
    answers: Answers = field(default_factory=Answers)

    def state(self, program: Program, chosen: Sequence[Primitive]) -> State:
        """Return the state of a schedule. Raises DtpolyError if a user's own primitive fails."""
        key = _shape(program, chosen)
        with remembering(self.answers):
            known = self.begun.get(key) or begun(program, chosen)
        _keep(self.begun, key, known)
        return finished(known, program, chosen)

    def code(self, state: State, chosen: Sequence[Primitive], header: str) -> Code:
        """Return the code of a state. Raises DtpolyError."""
        key = _shape(state.program, chosen)
        with remembering(self.answers):
            code = code_of(state, header, known=self.layouts.get(key))
        _keep(self.layouts, key, code.stages.layout)
        return code


def _shape(program: Program, chosen: Sequence[Primitive]) -> Hashable:
    return replace(program, directives=()), shaping(chosen)


def _keep(kept: dict[Hashable, V], key: Hashable, value: V) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST:
        del kept[next(iter(kept))]
