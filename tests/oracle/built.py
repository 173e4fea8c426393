"""Holds what the oracle computes of a scheduled Program: its statement instances, with places."""

from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracle.cells import Cell, Indices
from tests.oracle.following import AllFollowed, Followed
from tests.oracle.layout import Times
from tests.oracle.lines import Line
from tests.oracle.ways import Way


class Placed(NamedTuple):
    """A statement instance, its place, and the cells that it touches."""

    kernel: int
    program: Indices
    time: Times
    lane: Times
    line: Line
    indices: Indices
    reads: list[Cell]
    write: Cell


class Recomputed(NamedTuple):
    """An instance that two iterations of one program compute."""

    kernel: int
    program: Indices
    line: Line
    indices: Indices
    first: Times
    second: Times


@dataclass(slots=True)
class Built:
    """All instances, and violations of the rules of fusion.

    `stored` are the elements that must exist at the end. `lost` are instances that users'
    primitives have left out. `ways` are those of statements that no such primitive moved; `hosts`
    are the Funcs that have kernels, by number. `followed` are scans that follow a loop, by kernel
    and Func.
    """

    placed: list[Placed] = field(default_factory=list[Placed])
    lost: list[Placed] = field(default_factory=list[Placed])
    stored: list[Cell] = field(default_factory=list[Cell])
    recomputed: list[Recomputed] = field(default_factory=list[Recomputed])
    ways: dict[Line, Way] = field(default_factory=dict[Line, Way])
    hosts: list[str] = field(default_factory=list[str])
    followed: AllFollowed = field(default_factory=dict[tuple[int, str], Followed])
