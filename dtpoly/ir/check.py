"""Checks that a kernel is valid, and names the step that breaks a rule.

Passes rewrite kernels one after another, and a plugin may add passes of its own. A mistake in one
of them should be told where it is made, not as a strange message of Triton's compiler, or as a text
that is not proved. `complaints` looks at names, axes, tensors and conditions; it says nothing of
values, which the verifier proves of the text.
"""

from collections.abc import Generator, Iterator, Mapping, Set
from dataclasses import replace

from dtpoly.algorithm.dtypes import INTEGERS
from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.copy_rules import wrong_copies
from dtpoly.ir.copy_steps import CopyLater, LoadSlot, SharedBuffer, WaitFor
from dtpoly.ir.covered import covering
from dtpoly.ir.described_boxes import wrong_boxes
from dtpoly.ir.kernel import (
    OFFSET,
    Accumulate,
    Address,
    Barrier,
    Collapse,
    Described,
    DescribedBlock,
    Fill,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    LoopScalar,
    Mask,
    Pointer,
    Product,
    Reshaped,
    Select,
    Step,
    Store,
    TiledLoop,
    TileKernel,
)
from dtpoly.ir.kinds import Named
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.launch_rules import wrong_launch_steps
from dtpoly.ir.parts import assigned_by, inside, nested, values, walk
from dtpoly.ir.step_dependences import carried, names_of_bound, names_of_condition, reads
from dtpoly.ir.tile_types import TileType, Types, misfits
from dtpoly.ir.tile_values import Axes, Test, Value, Variable, axes_of
from dtpoly.ir.tiled import flat

NOTHING_KNOWN = Types({}, {})


@dataclass(frozen=True, slots=True)
class Complaint:
    """A rule that a kernel breaks, at a step of it; the step is None for the kernel as a whole."""

    kernel: str
    step: Step | None
    what: str

    def __str__(self) -> str:
        origin = f" (from {self.step.origin})" if self.step and self.step.origin else ""
        kind = f"{type(self.step.instruction).__name__}{origin}: " if self.step else ""
        return f"{self.kernel}: {kind}{self.what}"


@dataclass(frozen=True, slots=True)
class Sight:
    """The names that a step can use: those that are set for sure, and those of them with lanes.

    `shapes` are the axes of the names of which they are known, `described` the descriptors that are
    there for sure: what loads through them needs no lanes. `differs` says whether lanes differ in
    what they do here: then some of them would not come to a barrier.
    """

    names: frozenset[str]
    lanes: frozenset[str]
    shapes: tuple[tuple[str, Axes], ...] = ()
    described: frozenset[str] = frozenset()
    types: Types = NOTHING_KNOWN
    differs: bool = False
    is_in_block: bool = False

    def with_step(self, one: Instruction) -> "Sight":
        """Add the names that an instruction sets."""
        found = {**dict(self.shapes), **dict(_shapes(one))}
        lanes = {one.name} if isinstance(one, Lanes | Mask) else set[str]()
        names = self.names | {*assigned_by(one)}
        return replace(
            self,
            names=names,
            lanes=self.lanes | lanes,
            shapes=tuple(found.items()),
            types=self.types.with_step(one),
        )


def _shapes(one: Instruction) -> Iterator[tuple[str, Axes]]:
    match one:
        case Let(name=name, axes=axes) | Load(name=name, axes=axes):
            yield name, axes
        case Collapse(name=name, kept=kept, source=source):
            yield name, kept
            if source != name:
                yield source, one.axes
        case ScanLanes(name=name, axes=axes):
            yield name, axes
        case _:
            pass


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel and what of it all steps may use."""

    kernel: TileKernel
    tensors: dict[str, Pointer]
    flags: frozenset[str]
    blocks: frozenset[str]  # names of descriptors
    described: dict[str, Described]
    buffers: dict[str, SharedBuffer]

    def complaint(self, step: Step | None, what: str) -> Complaint:
        """Return a complaint about this kernel."""
        return Complaint(self.kernel.name, step, what)


def complaints(kernel: TileKernel) -> Iterator[Complaint]:
    """Yield all that is wrong with a kernel, in the order of its steps."""
    known = _Kernel(
        kernel,
        {one.variable: one for one in kernel.tensors},
        frozenset(one.name for one in kernel.flags),
        frozenset((*(one.name for one in kernel.described), *(one.name for one in kernel.own))),
        {one.name: one for one in kernel.described},
        {one.name: one for one in inside(kernel.body) if isinstance(one, SharedBuffer)},
    )
    yield from _parameters(known)
    for kind, what in wrong_launch_steps(kernel, _parameters_names(kernel)):
        yield known.complaint(None, f"{kind}: {what}")
    yield from _body(known, kernel.body, Sight(_parameters_names(kernel), frozenset()))
    for step, what in wrong_copies(kernel.body):
        yield known.complaint(step, what)


def _parameters_names(kernel: TileKernel) -> frozenset[str]:
    """Return the names that are set at the start: parameters, and indices of the grid."""
    return frozenset(
        (
            *(variable for _, variable, _ in kernel.scalars),
            *(variable for _, variable in kernel.sizes),
            *(variable for _, _, variable in kernel.shapes),
            *(name for name, _ in kernel.counts),
            *(name for one in kernel.grid for name in (one.name, one.block)),
            "program",  # its number; the printer sets it where it is used
        )
    )


def _parameters(known: _Kernel) -> Iterator[Complaint]:
    kernel = known.kernel
    names = [one.variable for one in kernel.tensors]
    names += [variable for _, variable, _ in kernel.scalars]
    names += [variable for _, variable in kernel.sizes]
    names += [variable for _, _, variable in kernel.shapes]
    for name in sorted({one for one in names if names.count(one) > 1}):
        yield known.complaint(None, f"two parameters are called '{name}'")
    sizes = _parameters_names(kernel)
    for axis in kernel.grid:
        if axis.size not in sizes:
            yield known.complaint(None, f"the grid has '{axis.size}', which is no size of it")
        if axis.block not in {one.name for one in kernel.grid if one.group is None}:
            what = f"the grid has '{axis.name}', which counts blocks of no axis: '{axis.block}'"
            yield known.complaint(None, what)


def _body(known: _Kernel, body: tuple[Step, ...], sight: Sight) -> Iterator[Complaint]:
    """Complain of a block; what it sets is seen by its later steps alone."""
    for step in body:
        if isinstance(step.instruction, TiledLoop):
            yield from _whole(known, step, step.instruction, sight)
        sight = yield from _steps(known, tuple(flat((step,))), sight)


def _steps(
    known: _Kernel, body: tuple[Step, ...], sight: Sight
) -> Generator[Complaint, None, Sight]:
    """Complain of steps in which no tiled loop is whole; return what is seen behind them."""
    for step in body:
        yield from _step(known, step, sight)
        match step.instruction:
            case ForLoop(name=name, body=inner) as loop:
                names, differs = sight.names | {name}, sight.differs or _has_lanes(loop, sight)
                yield from _body(
                    known, inner, replace(sight, names=names, differs=differs, is_in_block=True)
                )
            case If(body=inner) as branch:
                differs = sight.differs or _has_lanes(branch, sight)
                yield from _body(known, inner, replace(sight, differs=differs, is_in_block=True))
            case one:
                sight = sight.with_step(one)
    return sight


def _whole(
    known: _Kernel, step: Step, one: TiledLoop, sight: Sight
) -> Generator[Complaint, None, None]:
    """Complain of a tiled loop as a whole, and of what it is where it is covered."""
    for what in _unlike(one):
        yield known.complaint(step, what)
    for name in one.covered:
        if name not in known.blocks:
            yield known.complaint(step, f"'{name}' is no descriptor of the kernel")
    if one.covered:
        there = replace(sight, described=sight.described | {*one.covered})
        yield from _steps(known, (covering(step),), there)


def _unlike(one: TiledLoop) -> Iterator[str]:
    """Report a tail of a tiled loop that passes on other names than a round of its main part."""
    main, tail = carried(one.main), carried(one.tail)
    for name in sorted(main ^ tail):
        parts = ("main part", "tail") if name in main else ("tail", "main part")
        yield f"the {parts[0]} goes on with '{name}', and the {parts[1]} does not"


def _step(known: _Kernel, step: Step, sight: Sight) -> Iterator[Complaint]:
    """Complain of one step: its own names, axes, tensors and conditions, not those of its block."""
    one = step.instruction
    for what in (
        *_names(one, sight),
        *_flags(one, known.flags),
        *_tensors(one, known, sight),
        *_axes(one, sight),
        *_numbers(one, sight),
        *misfits(sight.types, one),
        *_buffers(one, known, sight),
    ):
        yield known.complaint(step, what)


def _names(one: Instruction, sight: Sight) -> Iterator[str]:
    """Report names that are not set on every way to their use."""
    match one:
        case ForLoop(start=start, stop=stop):
            needed = {*names_of_bound(start), *names_of_bound(stop)}
        case If(conditions=conditions):
            needed = {name for condition in conditions for name in names_of_condition(condition)}
        case Barrier():
            needed = set[str]()
        case Address(indices=indices, included=included, base=base):
            # The other indices are added where the address is used.
            needed = {name for at in included for name in indices[at].labels}
            needed |= set() if base is None else {base.name}
        case Load(block=DescribedBlock(descriptor=name, starts=starts)) if name in sight.described:
            needed = {label for start in starts for label in start.labels}
        case _:
            needed = {*reads(one)}
    for name in sorted(needed - sight.names):
        yield f"'{name}' is not set on every way to here"


def _flags(one: Instruction, flags: Set[str]) -> Iterator[str]:
    """Complain of a flag that the kernel is not passed, and under which something is left out."""
    asked = {one.unless} if isinstance(one, If) else set[str | None]()
    if not isinstance(one, ForLoop | If):
        asked |= {part.unless for part in nested(one) if isinstance(part, Test)}
    for name in sorted(name for name in asked if name is not None and name not in flags):
        yield f"'{name}' is no flag of the kernel"


def _tensors(one: Instruction, known: _Kernel, sight: Sight) -> Iterator[str]:
    """Report tensors that are no parameters, lack indices, or are stored and must not be."""
    if not isinstance(one, Load | Store):
        return
    pointer = known.tensors.get(one.tensor)
    if pointer is None:
        yield f"'{one.tensor}' is no tensor of the kernel"
        return
    rank = pointer.rank + pointer.is_scratch
    if len(one.indices) not in (pointer.rank, rank):
        yield f"'{one.tensor}' has {pointer.rank} axes, and {len(one.indices)} indices here"
    if isinstance(one, Store) and not pointer.is_written:
        yield f"'{one.tensor}' is stored, and is only read by what the kernel says"
    yield from _taken(one)
    if one.block is None:
        return
    if one.block.descriptor not in known.blocks:
        yield f"'{one.block.descriptor}' is no descriptor of the kernel"
    if (described := known.described.get(one.block.descriptor)) is not None:
        yield from wrong_boxes(sight.types, one, pointer, described)


def _buffers(one: Instruction, known: _Kernel, sight: Sight) -> Iterator[str]:
    """Report a buffer that is malformed, and copies and loads that are not tiles of a buffer."""
    match one:
        case SharedBuffer(slots=slots, shape=lanes):
            if slots < 1 or any(count < 1 for count in lanes):
                yield "a buffer without slots, or slots without lanes"
            if sight.is_in_block:
                yield "a buffer is made inside of a block: it is there from the start"
        case CopyLater(tensor=tensor, indices=indices):
            pointer = known.tensors.get(tensor)
            if pointer is None:
                yield f"'{tensor}' is no tensor of the kernel"
            elif len(indices) != pointer.rank:
                yield f"'{tensor}' has {pointer.rank} axes, and {len(indices)} indices here"
        case _:
            pass
    if not isinstance(one, CopyLater | LoadSlot):
        return
    buffer, shape = known.buffers.get(one.buffer), sight.types.shape(one.axes)
    if buffer is None:
        yield f"'{one.buffer}' is no shared buffer of the kernel"
        return
    whole = TileType(buffer.dtype, buffer.shape)
    used = TileType(one.dtype if isinstance(one, LoadSlot) else None, shape)
    if not whole.fits(used):
        yield f"a slot of '{one.buffer}' is {whole}, and is used as {used}"


def _taken(one: Load | Store) -> Iterator[str]:
    """Report indices taken from a tile that is not of whole numbers, or varies along other axes."""
    named = {name for index in one.indices for name in index.labels}
    for variable in one.taken:
        if variable.name not in named:
            yield f"'{variable.name}' is taken, and stands in no index"
        if variable.dtype not in (*INTEGERS, Named(OFFSET)):
            yield f"'{variable.name}' is taken as an index, and is no whole number"
        if extra := [axis for axis in variable.axes if axis not in one.axes]:
            yield f"'{variable.name}' is taken along {', '.join(extra)}, which the tile has not"
    if one.taken and (one.block is not None or one.base is not None):
        yield "what is taken can be in no address that is known before"


def _axes(one: Instruction, sight: Sight) -> Iterator[str]:
    """Values are laid out along the axes that what uses them has, and tiles keep theirs."""
    shapes = dict(sight.shapes)
    for value in values(one):
        for part in walk(value):
            # Lanes of another name may be the same: how many axes there are does not change.
            if isinstance(part, Variable) and _rank(shapes, part) != len(part.axes):
                made, used = ", ".join(shapes[part.name]), ", ".join(part.axes)
                yield f"'{part.name}' has the axes ({made}), and is used with ({used})"
    match one:
        case Let(value=value, axes=axes) | Accumulate(value=value, axes=axes):
            yield from _within(value, axes)
        case ScanLanes(axes=axes, along=along):
            for value in values(one):
                yield from _within(value, axes)
            if along is not None and along not in axes:
                yield f"it goes along {along}, which is no axis of ({', '.join(axes)})"
        case Store(value=value, axes=axes) | Select(value=value, axes=axes):
            yield from _within(value, axes)
        case Collapse(axes=axes, kept=kept) if not {*kept} <= {*axes}:
            yield f"({', '.join(kept)}) are kept of ({', '.join(axes)})"
        case Product(left_axes=left, right_axes=right):
            if len(left) < 2 or len(right) != len(left) or left[-1] != right[-2]:
                yield f"sides of ({', '.join(left)}) and ({', '.join(right)}) do not meet"
            elif left[:-2] != right[:-2]:
                yield f"sides of ({', '.join(left)}) and ({', '.join(right)}) are of two batches"
        case Reshaped(counts=counts) if not counts:
            yield "nothing says how many lanes it has"
        case Fill(shape=shape) if any(isinstance(count, int) and count < 1 for count in shape):
            yield "a tile without lanes"
        case _:
            pass


def _rank(shapes: Mapping[str, Axes], one: Variable) -> int:
    return len(shapes.get(one.name, one.axes))


def _within(value: Value, axes: Axes) -> Iterator[str]:
    extra = [axis for axis in axes_of(value) if axis not in axes]
    if extra:
        yield f"a value along {', '.join(extra)} is laid out along ({', '.join(axes)})"


def _with_lanes(sight: Sight) -> frozenset[str]:
    """Return the names that are tiles, and no numbers."""
    return sight.lanes | {name for name, axes in sight.shapes if axes}


def _has_lanes(one: ForLoop | If, sight: Sight) -> bool:
    """Return whether lanes differ in how often they do what is inside of a block."""
    if isinstance(one, ForLoop):
        found = {*names_of_bound(one.start), *names_of_bound(one.stop)}
    else:
        found = {name for condition in one.conditions for name in names_of_condition(condition)}
    return not found.isdisjoint(_with_lanes(sight))


def _numbers(one: Instruction, sight: Sight) -> Iterator[str]:
    """Bounds, conditions and starts of lanes are numbers: no lanes are in them."""
    match one:
        case ForLoop(start=start, stop=stop):
            found = {*names_of_bound(start), *names_of_bound(stop)}
        case If(conditions=conditions):
            found = {name for condition in conditions for name in names_of_condition(condition)}
        case LoopScalar(value=bound):
            found = {*names_of_bound(bound)}
        case Lanes(start=Affine() as start):
            found = {*start.labels}
        case _:
            found = set[str]()
    for name in sorted(found & _with_lanes(sight)):
        yield f"'{name}' has lanes, and a number is asked for"
    if isinstance(one, Barrier | WaitFor) and sight.differs:
        word = "barrier" if isinstance(one, Barrier) else "wait"
        yield f"a {word} is under a condition in which lanes differ: some would not come to it"
    if isinstance(one, ForLoop) and one.step < 1:
        yield "a loop that does not go forwards"
