"""Computes memory after a launch from the verifier's reading of its kernel.

The accesses of a kernel are carried out one after the other: program by program, in the order of
their times, all lanes of an access at once. A load looks at memory at that moment, and what it gave
is kept for the terms that name it; a store evaluates its term and writes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dtpoly.verify.algebra.terms import Element
from dtpoly.verify.algebra.whole import Truth, both
from dtpoly.verify.triton.access import KernelAccess, Ran
from tests.attack.arithmetic import LEAST_NORMAL, arithmetic, extreme
from tests.attack.evaluating import plain
from tests.attack.faults import Faulty
from tests.attack.frames import Frame, ranged, truth, whole
from tests.attack.numbers import (
    BITS,
    LAST_PLACE,
    Array,
    CannotSayError,
    Number,
    certain,
    nearest,
    wrapped,
)

MOST_EVENTS = 20_000


class OutsideError(Exception):
    """An access of something that is no element of a tensor."""


class RaceError(Exception):
    """Two lanes write different values to one element, and Triton does not say which one stays."""


@dataclass
class Tensor:
    """The elements of a tensor: the number of each, and by how much it may be off."""

    kind: str
    data: Array
    slack: Array

    def copy(self) -> Tensor:
        """Return a copy."""
        return Tensor(self.kind, self.data.copy(), self.slack.copy())


@dataclass
class Log:
    """The result of a load in one program: an array over its loops, then its lanes, reversed."""

    lows: tuple[int, ...]
    data: Array
    slack: Array


@dataclass(frozen=True)
class Event:
    """One access in one iteration of the loops around it."""

    access: KernelAccess
    loops: Mapping[str, int]
    time: tuple[int, ...]


@dataclass
class Execution:
    """The launches of a file at given sizes."""

    names: Mapping[str, int]
    scalars: Mapping[str, Number]
    memory: dict[str, Tensor]
    looseness: float = 0.0
    is_fused: bool = False
    # Whole numbers become floats of this type if they meet a value without a type.
    lone: Any = np.float32
    faults: Faulty = field(default_factory=Faulty)
    # For the program that runs, the result of each load.
    logs: dict[int, Log] = field(default_factory=dict[int, Log])
    events: int = 0

    def frame(self, more: Mapping[str, int]) -> Frame:
        """Return a frame where names are single numbers."""
        known = {**self.names, **more}
        names = {one: np.asarray(value, np.int64) for one, value in known.items()}
        return Frame(
            names,
            0,
            self.scalars,
            self.loaded,
            self.looseness,
            self.is_fused,
            self.lone,
            self.faults,
        )

    def launch(self, ran: Ran) -> None:
        """Run all programs of a launch, one after the other."""
        for program in points(tuple(ran.programs), both(*ran.programs.values()), self.frame({})):
            self.logs = {}
            for event in self.in_order(ran, program):
                self.events += 1
                if self.events > MOST_EVENTS:
                    raise CannotSayError("there are too many accesses")
                self.carry_out(ran, event, program)

    def in_order(self, ran: Ran, program: Mapping[str, int]) -> list[Event]:
        """Yield the accesses of a program in the order in which they happen."""
        found: list[Event] = []
        for access in ran.accesses:
            domain = both(*(ran.ranges[one] for one in access.loops))
            frame = self.frame(program)
            there = list(points(access.loops, domain, frame))
            for loops in there:
                inside = self.frame({**program, **loops})
                time = tuple(int(whole(one, inside)) for one in access.time)
                found.append(Event(access, loops, time))
            if access.kind == "load":
                self.logs[access.load] = self.empty_log(ran, access, program, there)
        return sorted(found, key=lambda event: event.time)

    def empty_log(
        self,
        ran: Ran,
        access: KernelAccess,
        program: Mapping[str, int],
        there: Sequence[Mapping[str, int]],
    ) -> Log:
        """Return an empty log."""
        lows = tuple(min((one[loop] for one in there), default=0) for loop in access.loops)
        highs = tuple(max((one[loop] for one in there), default=-1) for loop in access.loops)
        lanes = self.in_lanes(ran, access, program, there[0] if there else None)
        extents = tuple(high - low + 1 for low, high in zip(lows, highs, strict=True))
        shape = (*extents, *lanes)
        data = np.zeros(shape, self.memory[access.tensor].data.dtype)
        return Log(lows, data, np.full(shape, np.inf))

    def in_lanes(
        self,
        ran: Ran,
        access: KernelAccess,
        program: Mapping[str, int],
        loops: Mapping[str, int] | None,
    ) -> tuple[int, ...]:
        """Return how many lanes an access has along each axis, the last one first."""
        if loops is None:
            return (0,) * len(access.lanes)
        frame = self.lanes(ran, access, {**program, **loops})
        return tuple(frame.names[one].size for one in reversed(access.lanes))

    def lanes(self, ran: Ran, access: KernelAccess, known: Mapping[str, int]) -> Frame:
        """Return a frame with all lanes of an access."""
        frame = self.frame(known)
        for one in access.lanes:
            frame = ranged((one,), ran.ranges[one], frame)
        return frame

    def carry_out(self, ran: Ran, event: Event, program: Mapping[str, int]) -> None:
        """Load, store, or change memory at all lanes."""
        access = event.access
        frame = self.lanes(ran, access, {**program, **event.loops})
        shape = tuple(frame.names[one].size for one in reversed(access.lanes))
        tensor = self.memory[access.tensor]
        where = np.broadcast_to(truth(access.where, frame), shape)
        for one in access.lanes:
            where = where & np.broadcast_to(truth(ran.ranges[one], frame), shape)
        indices = [np.broadcast_to(whole(one, frame), shape) for one in access.indices]
        at = self.inside(access, tensor, indices, where)
        if access.kind == "load":
            log = self.logs[access.load]
            place = tuple(
                event.loops[one] - low for one, low in zip(access.loops, log.lows, strict=True)
            )
            log.data[place] = np.where(where, tensor.data[at], log.data.dtype.type(0))
            log.slack[place] = np.where(where, tensor.slack[at], np.inf)
            return
        assert access.value is not None
        value = plain(access.value, frame)
        data = np.broadcast_to(value.data, shape)
        slack = np.broadcast_to(value.error, shape)
        wide = None if value.is_wide is None else np.broadcast_to(value.is_wide, shape)
        floats = value.floats
        if floats is not None:
            floats = Number(
                np.broadcast_to(floats.data, shape), np.broadcast_to(floats.error, shape)
            )
        kept = Number(data, slack, value.is_written, wide, floats)
        if access.kind == "store":
            put(tensor, at, where, kept)
        else:
            change(access.kind, tensor, at, where, kept, self.looseness)

    def inside(
        self, access: KernelAccess, tensor: Tensor, indices: Sequence[Array], where: Array
    ) -> tuple[Array, ...]:
        """Return the indices, with 0 in place of masked ones. Raises OutsideError."""
        found: list[Array] = []
        for index, extent in zip(indices, tensor.data.shape, strict=True):
            is_there = (index >= 0) & (index < extent)
            if np.any(where & ~is_there):
                what = f"line {access.line}: an index of '{access.tensor}' that is outside"
                raise OutsideError(what)
            found.append(np.where(is_there, index, 0))
        if tensor.data.size == 0:
            raise CannotSayError("a tensor without elements")
        return tuple(found)

    def loaded(self, element: Element, frame: Frame) -> Number:
        """Return the results of a load of this program, at one or several lanes and iterations."""
        log = self.logs.get(element.load)
        if log is None:
            raise CannotSayError(f"load {element.load} of another launch")
        count = len(log.lows)
        at = [whole(one, frame) for one in element.at]
        lanes, loops = at[: len(at) - count], at[len(at) - count :]
        moved = [value - low for value, low in zip(loops, log.lows, strict=True)]
        places = [*moved, *reversed(lanes)]
        shape = np.broadcast_shapes(*(one.shape for one in places)) if places else ()
        is_there = np.ones(shape, np.bool_)
        index: list[Array] = []
        for place, extent in zip(places, log.data.shape, strict=True):
            inside = (place >= 0) & (place < extent)
            is_there = is_there & inside
            index.append(np.broadcast_to(np.where(inside, place, 0), shape))
        if log.data.size == 0:
            return Number(np.zeros(shape, log.data.dtype), np.full(shape, np.inf))
        data, slack = log.data[tuple(index)], log.slack[tuple(index)]
        slack = np.where(is_there, slack, np.inf)
        return Number(data, slack if np.any(slack) else None)


def points(names: Sequence[str], domain: Truth, frame: Frame) -> Iterator[dict[str, int]]:
    """Yield the points of a domain, one after the other."""
    if not names:
        yield {}
        return
    inside = ranged(names, domain, frame)
    values = {one: inside.names[one] for one in names}
    holds = truth(domain, inside)
    shape = np.broadcast_shapes(holds.shape, *(value.shape for value in values.values()))
    there = np.broadcast_to(holds, shape).reshape(-1)
    flat = {one: np.broadcast_to(value, shape).reshape(-1) for one, value in values.items()}
    for at in np.flatnonzero(there):
        yield {one: int(value[at]) for one, value in flat.items()}


def as_kept(kind: str, value: Number) -> Number:
    """A value as a tensor keeps it: the verifier has rounded it, and all that is left is its form.

    A value of f16 or bf16 that was not rounded stays as it is, and then is not what memory holds.
    """
    if kind in BITS:
        if value.is_float:
            raise CannotSayError(f"a float in a tensor of '{kind}'")
        return Number(wrapped(kind, value.data.astype(np.int64)), value.slack)
    value = certain(value if value.floats is None else value.floats)
    if kind == "tl.int1":
        return Number(value.data != 0, value.slack)
    if not value.is_float or value.is_written or kind in ("tl.float32", "tl.float64"):
        return Number(nearest(kind, value.data.astype(np.float64)), value.slack)
    return Number(value.data.astype(np.float32), value.slack)


def put(tensor: Tensor, at: tuple[Array, ...], where: Array, value: Number) -> None:
    """Store. Raises RaceError."""
    kept = as_kept(tensor.kind, value)
    chosen = tuple(one[where] for one in at)
    data, slack = kept.data[where], kept.error[where]
    tensor.data[chosen] = data
    tensor.slack[chosen] = slack
    same = tensor.data[chosen] == data
    if data.dtype.kind == "f":
        same = same | (np.isnan(data) & np.isnan(tensor.data[chosen]))
    if not np.all(same):
        raise RaceError("two lanes store other values to one element")


def change(
    kind: str,
    tensor: Tensor,
    at: tuple[Array, ...],
    where: Array,
    value: Number,
    looseness: float = 0.0,
) -> None:
    """Change memory atomically, one lane after the other; with some looseness, as a GPU does."""
    kept = as_kept(tensor.kind, value)
    index = [one.reshape(-1) for one in at]
    data, slack = kept.data.reshape(-1), kept.error.reshape(-1)
    for lane in np.flatnonzero(where.reshape(-1)):
        place = tuple(int(one[lane]) for one in index)
        old = Number(np.asarray(tensor.data[place]), np.asarray(tensor.slack[place]))
        new = Number(np.asarray(data[lane]), np.asarray(slack[lane]))
        if kind == "atomic_add":
            both_of = arithmetic("add", old, new)
        else:
            both_of = extreme(kind == "atomic_max", old, new, nan_wins=False)
        found = both_of.data
        if tensor.kind in BITS:
            found = wrapped(tensor.kind, found)
        elif kind == "atomic_add":
            exact = float(old.data) + float(new.data)
            found = nearest(tensor.kind, np.asarray(exact, np.float64))
            if float(found) != exact and not math.isnan(exact):
                more = max(abs(exact), abs(float(found))) * LAST_PLACE[tensor.kind] * 2
                both_of = Number(found, both_of.error + more)
            if looseness and tensor.kind == "tl.float32" and 0 < abs(exact) < LEAST_NORMAL:
                # In memory a GPU makes 0 of such a sum.
                both_of = Number(found, both_of.error + LEAST_NORMAL)
        tensor.data[place] = found
        tensor.slack[place] = both_of.error
