"""Holds what the oracle knows of a Func in a kernel, and of a loop where it can be fused."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracle.built import Placed
from tests.oracle.layout import Layout, Path
from tests.oracle.lines import Line
from tests.oracle.statements import Dim, Meaning
from tests.oracle.ways import Way


@dataclass(slots=True)
class FuncInKernel:
    """A Func that a kernel computes: its loops, and the path and time at which its nest begins."""

    meaning: Meaning
    lines: Sequence[Line]
    layout: Layout
    path: Path  # of the node that it is put into, and its position there
    depth: int  # of the time before its own
    around: Way
    origins: dict[Dim, tuple[str, Dim]]
    placed: dict[Line, list[Placed]] = field(default_factory=dict[Line, list[Placed]])


class LoopNode(NamedTuple):
    """A loop at which a Func can be fused: its path, and the length of the time up to it.

    `local` is its path in the nest of its own Func.
    """

    path: Path
    depth: int
    local: Path
