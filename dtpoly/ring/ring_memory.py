"""Records which lanes touch which elements of the tensors of a launch, and refuses wrong accesses.

An access is wrong if it is outside of the tensors, or if it races. There is a race if two accesses
of one program touch an element without a barrier between them, or accesses of two programs do,
unless both only load or both are atomic. That the same lane did both is no excuse: Triton chooses
for each access anew which thread has which lane.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from inspect import currentframe
from linecache import getline
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dtpoly.frozen import dataclass

Addresses = NDArray[np.uint64]
Numbers = NDArray[np.int64]


class TorchTensor(Protocol):
    """The part of torch's tensors that says where their elements are."""

    @property
    def shape(self) -> Iterable[int]:
        """Return the extent of each axis."""
        ...

    def stride(self) -> tuple[int, ...]:
        """Return how many elements apart neighbours along each axis are."""
        ...

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        ...

    def element_size(self) -> int:
        """Return the bytes of an element."""
        ...


class TouchError(Exception):
    """Raised where a kernel does something wrong to memory; it knows the line of the file."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class OutsideError(TouchError):
    """A kernel touched memory that is no element of its tensors."""


class RaceError(TouchError):
    """Raised where a kernel's result depends on which lane or program is faster."""


class AccessMode(StrEnum):
    """The ways to touch an element."""

    LOADED = "loaded"
    STORED = "stored"
    ADDED = "changed atomically"


# What may not meet what.
RIVALS: Mapping[AccessMode, tuple[AccessMode, ...]] = {
    AccessMode.LOADED: (AccessMode.STORED, AccessMode.ADDED),
    AccessMode.STORED: (AccessMode.STORED, AccessMode.LOADED, AccessMode.ADDED),
    AccessMode.ADDED: (AccessMode.STORED, AccessMode.LOADED),
}


@dataclass(frozen=True, slots=True)
class RingAccess:
    """One execution of a load, a store or an atomic operation."""

    how: AccessMode
    program: tuple[int, ...]
    file: str
    line: int
    shape: tuple[int, ...]

    def told(self, lane: int | None) -> str:
        """Return the program and the line that did it."""
        at = "" if lane is None else f"lane {_index(np.unravel_index(lane, self.shape))} of "
        size = " x ".join(map(str, self.shape))
        text = getline(self.file, self.line).strip()
        return (
            f"{self.how} by {at}{size} lanes of program {_index(self.program)} "
            f"in line {self.line} ('{text}')"
        )


@dataclass(slots=True)
class Touched:
    """By element: the first and the last access of one kind, and the lane of the last; 0: none."""

    first: Numbers
    last: Numbers
    lane: Numbers


@dataclass(slots=True)
class TensorPart:
    """The elements of one tensor."""

    tensor: TorchTensor
    places: Addresses  # of its elements, in order, each once
    is_output: bool
    name: str = "a tensor"
    touched: dict[AccessMode, Touched] = field(default_factory=dict[AccessMode, Touched])

    def element(self, number: int) -> str:
        """Return the element at a place, as one writes it."""
        shape = tuple(self.tensor.shape)
        at = np.argwhere(_all_addresses(self.tensor).reshape(shape) == self.places[number])[0]
        return f"{self.name}{_index(at)}"

    def told(self, how: AccessMode) -> Touched:
        """Return the record of one kind of access; it is made when it is first needed."""
        if how not in self.touched:
            self.touched[how] = Touched(*(np.zeros(self.places.size, np.int64) for _ in range(3)))
        return self.touched[how]


@dataclass(slots=True)
class RingMemory:
    """The tensors that kernels may touch, and what they did to them.

    Programs run one after the other and accesses are numbered; so three numbers tell whether an
    earlier access was of this launch, of this program, and after its last barrier. What the file
    that is run is called begins with `source`: its lines are told.
    """

    parts: list[TensorPart] = field(default_factory=list[TensorPart])
    accesses: list[RingAccess] = field(default_factory=list[RingAccess])
    launch: int = 1
    program: int = 1
    barrier: int = 1
    place: tuple[int, ...] = ()
    source: str = "<generated"

    def add(self, tensor: TorchTensor, *, is_output: bool) -> None:
        """Let a tensor be read, and written if it is an output."""
        self.parts.append(TensorPart(tensor, addresses(tensor), is_output))

    def begin_launch(self, arguments: Mapping[str, object]) -> None:
        """Begin a launch: all before it is done, and tensors get the names of its parameters."""
        self.launch = len(self.accesses) + 1
        called = {id(value): name.removesuffix("_ptr") for name, value in arguments.items()}
        for part in self.parts:
            part.name = called.get(id(part.tensor), part.name)

    def begin_program(self, place: tuple[int, ...]) -> None:
        """Begin a program, which does not wait for any other."""
        self.place = place
        self.program = len(self.accesses) + 1
        self.pass_barrier()

    def pass_barrier(self) -> None:
        """Note that all lanes of a program have done what stands before the barrier."""
        self.barrier = len(self.accesses) + 1

    def touch(
        self,
        how: AccessMode,
        places: NDArray[Any],
        mask: NDArray[Any],
        values: NDArray[Any] | None = None,
    ) -> None:
        """Raise OutsideError for a place that is no element, RaceError for one that others need."""
        # In a block of a descriptor, older interpreters pass it as plain memory.
        wanted = np.asarray(mask).astype(bool).reshape(-1)
        shape = mask.shape
        lanes = np.flatnonzero(wanted)
        touched = np.broadcast_to(places, shape).reshape(-1)[lanes].astype(np.uint64)
        self.accesses.append(RingAccess(how, self.place, *self._line(), shape))
        for part in self.parts:
            if not touched.size:
                return
            if not part.places.size or (how is not AccessMode.LOADED and not part.is_output):
                continue
            near = np.minimum(np.searchsorted(part.places, touched), part.places.size - 1)
            found = part.places[near] == touched
            if found.any():
                if part.is_output:
                    given = None if values is None else np.broadcast_to(values, shape).reshape(-1)
                    self._note(part, how, near[found], lanes[found], given)
                touched, lanes = touched[~found], lanes[~found]
        if touched.size:
            what = "read" if how is AccessMode.LOADED else "written"
            mine = self.accesses[-1]
            raise OutsideError(
                mine.line,
                f"{touched.size} elements {what} outside of every tensor: "
                f"the first {mine.told(int(lanes[0]))}",
            )

    def _note(
        self,
        part: TensorPart,
        how: AccessMode,
        elements: NDArray[Any],
        lanes: NDArray[Any],
        values: NDArray[Any] | None,
    ) -> None:
        for rival in RIVALS[how]:
            if rival in part.touched:
                other = part.touched[rival]
                first, last = other.first[elements], other.last[elements]
                is_met = (last >= self.barrier) | ((first >= self.launch) & (first < self.program))
                if is_met.any():
                    # Other lanes are better witnesses.
                    is_other = is_met & (other.lane[elements] != lanes)
                    at = int(np.flatnonzero(is_other if is_other.any() else is_met)[0])
                    self._refuse(part, how, rival, int(elements[at]), int(lanes[at]))
        own, number = part.told(how), len(self.accesses)
        is_new = own.first[elements] < self.launch
        own.first[elements[is_new]] = number
        own.last[elements] = number
        own.lane[elements] = lanes
        if values is not None:
            # Where several lanes store to one element, the last of them is noted.
            winners = values[own.lane[elements]]
            unlike = [
                a.tobytes() != b.tobytes() for a, b in zip(winners, values[lanes], strict=True)
            ]
            if any(unlike):
                at = unlike.index(True)
                self._refuse(part, how, how, int(elements[at]), int(lanes[at]))

    def _refuse(
        self, part: TensorPart, how: AccessMode, rival: AccessMode, element: int, lane: int
    ) -> None:
        other = part.touched[rival]
        first, last = int(other.first[element]), int(other.last[element])
        number = last if last >= self.barrier else first
        its_lane = int(other.lane[element]) if number == last else None
        before, now = self.accesses[number - 1].told(its_lane), self.accesses[-1].told(lane)
        raise RaceError(
            self.accesses[-1].line,
            f"{part.element(element)} is {now}, and {before}: nothing orders the two",
        )

    def _line(self) -> tuple[str, int]:
        """Return the line of the generated file that is being run."""
        frame = currentframe()
        while frame is not None and not frame.f_code.co_filename.startswith(self.source):
            frame = frame.f_back
        return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def _index(at: Iterable[Any]) -> str:
    return f"[{', '.join(str(int(i)) for i in at)}]"


def addresses(tensor: TorchTensor) -> Addresses:
    """Return where the elements of a tensor are, in order, each once."""
    return np.unique(_all_addresses(tensor))


def _all_addresses(tensor: TorchTensor) -> Addresses:
    places = np.array([tensor.data_ptr()], dtype=np.uint64)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        steps = np.arange(size, dtype=np.uint64) * np.uint64(stride * tensor.element_size())
        places = (places[:, None] + steps[None, :]).reshape(-1)
    return places
