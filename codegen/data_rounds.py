"""Lets a loop begin and end where data says, if its other rounds would change nothing.

    for l in tiles of the size:                          for l in tiles from start to end:
        total += where(start <= l and l < end, ..., 0)      total += where(...)

A round changes nothing if everything that it puts to a result is masked, and its mask compares the
index of the loop with numbers that were loaded. If these have lanes, the loop goes from the least
start to the largest end of all lanes. The mask stays, so the first tile may begin at a multiple of
its length.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.bound_widths import LARGE
from dtpoly.ir.kernel import (
    Accumulate,
    Barrier,
    Collapse,
    ForLoop,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    LoopScalar,
    Mask,
    Product,
    Reshaped,
    Select,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.parts import assigned, assigned_by, inside, needed, renamed, steps_inside
from dtpoly.ir.step_dependences import carried, exposed, reads
from dtpoly.ir.tile_values import (
    Call,
    Converted,
    IndexValue,
    Masked,
    Test,
    Value,
    Variable,
    axes_of,
    written_number,
)
from dtpoly.poly.loops import Bound, Combined

from .python_names import fresh
from .whole_values import is_data, is_whole

INFINITY = float("inf")
NOTHING = {"rsum": 0, "rprod": 1, "rmax": -INFINITY, "rmin": INFINITY}
# What a lane that is not there has in the place of a start: no lane begins behind it.
LAST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class IndexEnds:
    """The numbers with which masks compare the index of a loop: starts, and ends."""

    starts: frozenset[Value] = frozenset()
    ends: frozenset[Value] = frozenset()

    def also(self, other: "IndexEnds") -> "IndexEnds":
        """Return the ends of two conditions that both hold."""
        return IndexEnds(self.starts | other.starts, self.ends | other.ends)

    def renamed(self, names: Mapping[str, str]) -> "IndexEnds":
        """Return the ends with other names for some variables."""
        starts, ends = (
            frozenset(renamed(one, names) for one in ones) for ones in (self.starts, self.ends)
        )
        return IndexEnds(starts, ends)


@dataclass(slots=True)
class DataRounds:
    """All names of a kernel, and the Funcs whose sums go on with a running maximum.

    `counts` says in how many places each name is set.
    """

    taken: set[str]
    running: frozenset[str]
    counts: Counter[str]

    def name(self, wish: str) -> str:
        """Return a name that nothing in the kernel has."""
        name = fresh(wish, self.taken)
        self.taken.add(name)
        return name


@dataclass(slots=True)
class BlockBounds:
    """Names for loads and bounds that loops of one block share, so that each is written once."""

    loads: dict[str, str] = field(default_factory=dict[str, str])
    bounds: dict[str, tuple[str, Bound]] = field(default_factory=dict[str, tuple[str, Bound]])


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """A loop over tiles of a size, with the body that is right for each tile."""

    step: Step
    name: str
    size: Affine
    by: int
    body: tuple[Step, ...]

    @property
    def indices(self) -> frozenset[str]:
        """Return the names that are the index of the loop."""
        own = Affine(((self.name, 1),))
        found = {self.name} if self.by == 1 else set[str]()
        for step in self.body:
            match step.instruction:
                case Lanes(name=name, start=start, step=1) if start == own:
                    found.add(name)
                case Let(name=name, value=Converted(value=IndexValue(index=index))) if (
                    index == own and self.by == 1
                ):
                    found.add(name)
                case _:
                    pass
        return frozenset(found)


def with_data_rounds(
    body: tuple[Step, ...], taken: frozenset[str], running: frozenset[str] = frozenset()
) -> tuple[Step, ...]:
    """Return the body; `taken` are the names of its parameters.

    `running` are the Funcs whose sums go on with a running maximum. Of a product in such a sum, one
    masked operand is enough: 0 times a value that a mask hides is taken for 0 there.
    """
    rounds = DataRounds({*taken, *assigned(body)}, running, Counter(assigned(body)))
    return _block(rounds, body, frozenset())


def _block(rounds: DataRounds, body: tuple[Step, ...], after: frozenset[str]) -> tuple[Step, ...]:
    """Change the loops of a block. `after` are the names that are needed behind the block."""
    done: list[Step] = []
    here = BlockBounds()
    for at, step in enumerate(body):
        one = step.instruction
        if not isinstance(one, ForLoop | If | TiledLoop):
            done.append(step)
            continue
        behind = after | exposed(body[at + 1 :])
        changed = _changed(rounds, here, step, behind)
        if changed is not None:
            done += changed
        elif isinstance(one, ForLoop | If):
            inner = _block(rounds, one.body, behind | exposed(one.body))
            done.append(replace(step, instruction=replace(one, body=inner)))
        else:
            done.append(step)
    return tuple(done)


def _changed(
    rounds: DataRounds, here: BlockBounds, step: Step, behind: frozenset[str]
) -> list[Step] | None:
    """Return a loop with bounds from data, and what comes in front of it; None for other steps."""
    loop = _opened(step)
    if loop is None:
        return None
    ends = _ends_of(loop, behind, rounds.running)
    if ends is None or not (ends.starts or ends.ends):
        return None
    front = _front(loop, ends)
    if front is None:
        return None
    kept = _without(loop.body, frozenset(one.instruction for one in front))
    put: dict[str, str] = {}
    made: list[Step] = []
    mine = Counter(assigned((step,)))
    for one in front:
        instruction = renamed(one.instruction, put)
        (name,) = assigned_by(instruction)
        key = repr(renamed(instruction, {name: ""}))
        if key in here.loads:
            put[name] = here.loads[key]
            continue
        if rounds.counts[name] > mine[name]:
            # In another loop it is something else, which may be of another type there.
            put[name] = rounds.name(name)
            instruction = renamed(instruction, put)
        here.loads[key] = put.get(name, name)
        made.append(replace(one, instruction=instruction))
    ends = ends.renamed(put)
    kept = renamed(kept, put)
    loads = [renamed(one.instruction, put) for one in front]
    start, stop, bounds = _bounds(rounds, here, loop, ends, loads)
    found = loop.step.instruction
    assert isinstance(found, ForLoop | TiledLoop)
    made += [replace(loop.step, instruction=one) for one in bounds]
    new = ForLoop(loop.name, start, stop, loop.by, kept, found.unroll, found.is_pipelined)
    return [*made, replace(loop.step, instruction=new)]


def _opened(step: Step) -> OpenLoop | None:
    match step.instruction:
        case TiledLoop(
            name=name,
            size=size,
            step=by,
            tail=(Step(instruction=LoopScalar(name=counter)), *rest),
        ):
            return OpenLoop(step, name, size, by, renamed(tuple(rest), {counter: name}))
        case ForLoop(name=name, start=Affine() as start, stop=Affine() as stop, step=1, body=body):
            is_all = start == Affine() and len(stop.terms) == 1 and stop.constant == 0
            return OpenLoop(step, name, stop, 1, body) if is_all else None
        case _:
            return None


# Masks


def _ends_of(loop: OpenLoop, behind: frozenset[str], running: frozenset[str]) -> IndexEnds | None:
    """Return the ends that the masks of all results of a loop have; None if one has no mask."""
    results = carried(loop.body)
    if ({*assigned(loop.body)} - results) & behind:
        return None
    lets = _lets(loop.body, results)
    found: list[IndexEnds | None] = []
    for step in steps_inside(loop.body):
        one = step.instruction
        if isinstance(one, Store | Barrier | Select | ScanLanes):
            return None
        if results.isdisjoint(assigned_by(one)) or isinstance(one, ForLoop | If):
            continue
        is_running = step.origin.partition(".")[0] in running
        found.append(_masks_of(loop, one, lets, is_running=is_running))
    first = found[0] if found else None
    if first is None or any(one != first for one in found):
        return None
    # Where no number was loaded, the range says more, and its loops are divided.
    return first if any(map(is_data, (*first.starts, *first.ends))) else None


def _lets(body: tuple[Step, ...], results: frozenset[str]) -> dict[str, Let | Reshaped | Collapse]:
    """Return what says, by itself, what a name is: nothing else in the body assigns it.

    A name that is a result of the loop comes from the step before. A `Collapse` may overwrite its
    source, but nothing reads the source afterwards.
    """
    counts = Counter(
        name
        for one in inside(body)
        for name in assigned_by(one)
        if not (isinstance(one, Collapse) and name == one.source != one.name)
    )
    return {
        one.name: one
        for one in inside(body)
        if isinstance(one, Let | Reshaped | Collapse)
        and counts[one.name] == 1
        and one.name not in results
    }


def _masks_of(
    loop: OpenLoop,
    one: Instruction,
    lets: Mapping[str, Let | Reshaped | Collapse],
    *,
    is_running: bool,
) -> IndexEnds | None:
    match one:
        case Accumulate(reduction=reduction, value=value) if reduction in NOTHING:
            return _mask(loop, value, reduction, lets)
        case Product(left=left, right=right):
            first, second = (_mask(loop, side, "rsum", lets) for side in (left, right))
            if is_running and None in (first, second):
                return first or second
            return first if first == second else None
        case _:
            return None


def _mask(
    loop: OpenLoop, value: Value, reduction: str, lets: Mapping[str, Let | Reshaped | Collapse]
) -> IndexEnds | None:
    """Return the ends in the mask of a value that changes nothing where the mask does not hold."""
    nothing = NOTHING[reduction]
    match value:
        case Masked(value=inner, other=other) if other == nothing:
            return _mask(loop, inner, reduction, lets)
        case Converted(value=inner):
            return _mask(loop, inner, reduction, lets)
        case Variable(name=name, axes=axes, dtype=dtype) if name in lets:
            one = lets[name]
            if not isinstance(one, Collapse):
                return _mask(loop, one.value, reduction, lets)
            is_same = one.reduction == reduction and one.source != name
            source = Variable(one.source, axes, dtype)
            return _mask(loop, source, reduction, lets) if is_same else None
        case Call(operation="where", operands=(condition, _, other)) if (
            written_number(other, through_casts=True) == nothing
        ):
            return _compared(loop, condition)
        case Call(operation="mul", operands=(left, right)) if nothing == 0:
            # 0 times 0 is 0; 0 times another value might be a nan.
            first, second = (_mask(loop, one, reduction, lets) for one in (left, right))
            return first if first == second else None
        case _:
            return None


def _compared(loop: OpenLoop, condition: Value) -> IndexEnds:
    """Return with which numbers a condition compares the index of a loop."""
    match condition:
        case Call(operation="and", operands=(left, right)):
            return _compared(loop, left).also(_compared(loop, right))
        case (
            Call(operation="le", operands=(other, index))
            | Call(operation="ge", operands=(index, other))
        ) if _is_index(loop, index) and is_whole(other):
            return IndexEnds(starts=frozenset((other,)))
        case (
            Call(operation="lt", operands=(index, other))
            | Call(operation="gt", operands=(other, index))
        ) if _is_index(loop, index) and is_whole(other):
            return IndexEnds(ends=frozenset((other,)))
        case _:
            return IndexEnds()


def _is_index(loop: OpenLoop, value: Value) -> bool:
    match value:
        case Converted(value=inner, dtype=DType.I64):
            return _is_index(loop, inner)
        case IndexValue(index=Affine(terms=((str() as name, 1),), constant=0)):
            return name in loop.indices
        case _:
            return False


# What comes in front of the loop


def _front(loop: OpenLoop, ends: IndexEnds) -> list[Step] | None:
    """Return the loads of the ends, in their order; None if the loop changes one of them."""
    setters: dict[str, Step] = {}
    for step in steps_inside(loop.body):
        for name in assigned_by(step.instruction):
            if setters.setdefault(name, step).instruction != step.instruction:
                setters[name] = replace(step, instruction=Barrier())  # it has several meanings
    pending = [name for value in (*ends.starts, *ends.ends) for name in needed(value)]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        if name == loop.name:
            return None
        setter = setters.get(name)
        if setter is not None:
            if not isinstance(setter.instruction, Load | Let | Mask | Lanes):
                return None
            pending += reads(setter.instruction)
    return [one for name, one in setters.items() if name in found]


def _without(body: tuple[Step, ...], gone: frozenset[Instruction]) -> tuple[Step, ...]:
    """Return a body without some of its instructions, also in blocks inside of it."""
    done: list[Step] = []
    for step in body:
        one = step.instruction
        if isinstance(one, TiledLoop):
            main, tail = _without(one.main, gone), _without(one.tail, gone)
            done.append(replace(step, instruction=replace(one, main=main, tail=tail)))
        elif isinstance(one, ForLoop | If):
            done.append(replace(step, instruction=replace(one, body=_without(one.body, gone))))
        elif one not in gone:
            done.append(step)
    return tuple(done)


def _bounds(
    rounds: DataRounds, here: BlockBounds, loop: OpenLoop, ends: IndexEnds, front: list[Instruction]
) -> tuple[Bound, Bound, list[Instruction]]:
    """Return where the tiles begin and end, and the steps that compute it."""
    made: list[Instruction] = []
    first: Bound = Affine()
    stop: Bound = loop.size
    wish = min(loop.indices)
    # Lanes for which an end was not loaded have a 0 there. So their start need not count.
    loaded = [one for one in map(_bare, ends.ends) if isinstance(one, Variable)]
    apart = {test for one in loaded for test in _tests_of(front, one, other=0)}
    for value in sorted(ends.starts, key=repr):
        tests = tuple(test for test in _tests_of(front, value) if test in apart)
        start = _of_all_lanes(rounds, here, value, f"{wish}_from", "rmin", made, tests)
        first = Combined("max", (start, first))
    for value in sorted(ends.ends, key=repr):
        end = _of_all_lanes(rounds, here, value, f"{wish}_to", "rmax", made)
        stop = Combined("min", (end, stop))
    if ends.starts and loop.by > 1:
        by = Affine((), loop.by)
        first = Combined("*", (Combined("//", (first, by)), by))
    found: list[Bound] = []
    for word, bound in (("first", first), ("stop", stop)):
        key = repr((word, bound))
        if isinstance(bound, Affine):
            found.append(bound)
            continue
        if key not in here.bounds:
            name = rounds.name(f"{wish}_{word}")
            made.append(LoopScalar(name, bound))
            here.bounds[key] = (name, bound)
        found.append(Affine(((here.bounds[key][0], 1),)))
    return found[0], found[1], made


def _of_all_lanes(
    rounds: DataRounds,
    here: BlockBounds,
    value: Value,
    wish: str,
    how: str,
    made: list[Instruction],
    tests: tuple[Test, ...] = (),
) -> Bound:
    """Return the least or largest of the numbers of lanes for which the tests hold, in 64 bits."""
    key = repr((how, value))
    if key in here.bounds:
        return Affine(((here.bounds[key][0], 1),))
    axes = axes_of(value)
    bare = _bare(value)
    if not axes and isinstance(bare, Variable):
        own = Affine(((bare.name, 1),))
        return own if bare.dtype is DType.I64 else Combined(LARGE, (own,))
    wide = value if _is_wide(value) else Converted(value, axes, DType.I64)
    if axes:
        tile = rounds.name(f"{wish}_tile")
        if tests:
            wide = Masked(wide, tests, LAST, axes, DType.I64)
        made.append(Let(tile, wide, axes))
        name = rounds.name(wish)
        made.append(Collapse(name, tile, how, axes, ()))
    else:
        name = rounds.name(wish)
        made.append(Let(name, wide, ()))
    here.bounds[key] = (name, Affine())
    return Affine(((name, 1),))


def _tests_of(front: list[Instruction], value: Value, other: int | None = None) -> tuple[Test, ...]:
    """Return for which lanes the loads of a value are done, if the others have a certain number."""
    names = {*needed(value)}
    loads = [one for one in front if isinstance(one, Load) and one.name in names]
    found = (one.conditions for one in loads if other is None or one.other == other)
    return tuple(dict.fromkeys(test for tests in found for test in tests))


def _bare(value: Value) -> Value:
    return value.value if isinstance(value, Converted) else value


def _is_wide(value: Value) -> bool:
    return isinstance(value, Variable | Converted | Call) and value.dtype is DType.I64
