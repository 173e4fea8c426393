"""Executes placed instances on real storage, and judges the schedule by the results.

Programs of a kernel are interleaved at random, and so are the lanes of a step. Every access is
watched, and the stored values at the end are compared with those of the defining order.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from dtpoly.algorithm.program import Program
from tests.oracle.built import Placed
from tests.oracle.cells import Cell, Indices
from tests.oracle.data_tables import Contents
from tests.oracle.defining_order import defining
from tests.oracle.kernels import plan
from tests.oracle.lines import Line
from tests.oracle.needed_steps import Sizes
from tests.oracle.nest import build
from tests.oracle.old_values import added_too_early, replaced_too_early
from tests.oracle.statements import all_taken

Kind = Literal[
    "crosses program instances",
    "runs too late",
    "lanes race",
    "recomputes in a loop",
    "is not computed exactly once",
]

KINDS: dict[str, Kind] = {str(kind): kind for kind in get_args(Kind)}
# All arithmetic is modulo this prime, so that sums may be computed in any order.
PRIME = 2**61 - 1
_SALT = 0x5EED


@dataclass(frozen=True, slots=True)
class Legal:
    """No dependence is violated, and every value is right."""


@dataclass(frozen=True, slots=True)
class Illegal:
    """A violation; the detail names instances and cells."""

    kind: Kind
    detail: str


Verdict = Legal | Illegal


def judge_schedule(
    program: Program,
    sizes: Sizes,
    runs: int = 3,
    seed: int = 0,
    ordered: Set[str] = frozenset(),
    contents: Contents | None = None,
) -> Verdict:
    """Return the verdict on a scheduled Program at some sizes.

    The steps of reductions of the `ordered` Funcs must keep their order. Without `contents`, tables
    may hold anything: all steps are taken, and an element may be at any place.
    """
    taken = all_taken if contents is None else contents.taken
    built = build(program, sizes, taken)
    if built.lost:
        return Illegal("is not computed exactly once", f"{_show(built.lost[0])} is left out")
    expected = results(defining(program, sizes, taken))
    stored = {cell: expected[cell] for cell in built.stored}
    written = {one.write for one in built.placed}
    if nowhere := [cell for cell in stored if cell not in written]:
        return Illegal("is not computed exactly once", f"{show(nowhere[0])} is stored nowhere")
    verdict = judge(built.placed, stored, runs, seed, ordered)
    if isinstance(verdict, Legal):
        verdict = judge_in_place(plan(program).program, built.placed, contents)
    if isinstance(verdict, Legal) and built.recomputed:
        one = built.recomputed[0]
        where = f"program {list(one.program)}, at {list(one.first)} and at {list(one.second)}"
        return Illegal("recomputes in a loop", f"{one.line}{list(one.indices)} in {where}")
    return verdict


def judge_in_place(
    program: Program, placed: Sequence[Placed], contents: Contents | None = None
) -> Verdict:
    """Return the verdict on results in place: what they replace must have been read before."""
    for kind, reader, writer in replaced_too_early(program, placed, contents):
        return Illegal(KINDS[kind], f"{_show(writer)} replaces what {_show(reader)} reads")
    for kind, stored, added in added_too_early(program, placed):
        return Illegal(KINDS[kind], f"{_show(added)} adds to what {_show(stored)} stores later")
    return Legal()


def results(placed: Iterable[Placed]) -> dict[Cell, int]:
    """Return the storage after executing instances one after another, as they are listed."""
    storage: dict[Cell, int] = {}
    for one in placed:
        value = _value(one, [storage[cell] for cell in one.reads])
        if one.line.is_update:
            value = (storage[one.write] + value) % PRIME
        storage[one.write] = value
    return storage


def judge(
    placed: Sequence[Placed],
    stored: Mapping[Cell, int],
    runs: int = 3,
    seed: int = 0,
    ordered: Set[str] = frozenset(),
) -> Verdict:
    """Return the verdict on instances at any places.

    `stored` gives what must be stored at the end. The order of the list means nothing. Kernels run
    by number, and the steps of a program by time; instances of one time and program are the lanes
    of one step.
    """
    twice = _in_one_place(placed)
    if twice is not None:
        return Illegal("is not computed exactly once", f"{_show(twice)} is not alone in its place")
    kernels = _steps(placed)
    for programs in kernels:
        for steps in programs:
            for step in steps:
                raced = _race(step, ordered) if len(step) > 1 else None
                if raced is not None:
                    return raced
    updates = Counter(one.write for one in placed if one.line.is_update)
    turns = _turns(placed, ordered)
    random = Random(seed)
    for run in range(runs):
        storage: dict[Cell, _Stored] = {}
        trouble = _execute(kernels, storage, _Expected(updates, turns), run, random)
        if trouble is not None:
            return _explain(trouble, placed)
        for cell, value in stored.items():
            if cell not in storage:
                return Illegal("runs too late", f"{show(cell)} is never written")
            if storage[cell].value != value or storage[cell].updates != updates[cell]:
                return Illegal("runs too late", f"{show(cell)} has a wrong value")
    return Legal()


def show(cell: Cell) -> str:
    """Return a cell as text."""
    array, key, indices = cell
    return f"{array}{list(indices)}" + ("" if key is None else f" of {key}")


def _steps(placed: Iterable[Placed]) -> list[list[list[list[Placed]]]]:
    """Return instances by kernel, program and step, each in order."""
    found: dict[int, dict[Indices, dict[Indices, list[Placed]]]] = {}
    for one in placed:
        programs = found.setdefault(one.kernel, {})
        programs.setdefault(one.program, {}).setdefault(one.time, []).append(one)
    return [
        [[steps[time] for time in sorted(steps)] for steps in found[kernel].values()]
        for kernel in sorted(found)
    ]


def _in_one_place(placed: Iterable[Placed]) -> Placed | None:
    """Return an instance of a statement that has the same place as another one, or None."""
    taken: set[tuple[Line, int, Indices, Indices, Indices]] = set()
    for one in placed:
        place = (one.line, one.kernel, one.program, one.time, one.lane)
        if place in taken:
            return one
        taken.add(place)
    return None


def _turns(placed: Iterable[Placed], ordered: Set[str]) -> dict[int, int]:
    """Return how many steps come before each step of an ordered reduction, by the instance's id."""
    steps: dict[Cell, list[Placed]] = {}
    for one in placed:
        if _is_ordered(one, ordered):
            steps.setdefault(one.write, []).append(one)
    return {
        id(one): turn
        for mine in steps.values()
        for turn, one in enumerate(sorted(mine, key=_in_order))
    }


def _is_ordered(one: Placed, ordered: Set[str]) -> bool:
    return one.line.role == "update" and (one.line.func in ordered or _is_chained(one))


def _is_chained(one: Placed) -> bool:
    """Return whether steps come one after another: in lanes, they are joined in this order."""
    reduction = one.line.reduction
    is_step = one.line.role == "update" and reduction is not None
    return one.line.role == "scan" or (
        is_step and reduction is not None and reduction.turns is not None
    )


def _in_order(one: Placed) -> tuple[int, ...]:
    """Return what puts steps of a reduction in the order of the algorithm."""
    return (_turn(one),) if _is_chained(one) else one.indices


def _race(step: list[Placed], ordered: Set[str]) -> Illegal | None:
    """Find two lanes that touch a cell which one of them writes.

    Two updates may do this, unless they are ordered.
    """
    written: dict[Cell, Placed] = {}
    for one in step:
        other = written.setdefault(one.write, one)
        both_add = one.line.is_update and other.line.is_update
        is_joined = both_add and (_is_chained(one) or not _is_ordered(one, ordered))
        if other is not one and not is_joined:
            return _raced(one, other, one.write)
    for one in step:
        for cell in one.reads:
            writer = written.get(cell)
            if writer is not None and writer is not one and not _is_chained(one):
                return _raced(one, writer, cell)
    return None


def _raced(one: Placed, other: Placed, cell: Cell) -> Illegal:
    return Illegal("lanes race", f"{_show(one)} and {_show(other)} touch {show(cell)}")


class _Stored:
    """A cell, and who has touched it. `NOBODY` and `MANY` can take the place of a program."""

    __slots__ = ("kernel", "reader", "reads", "updates", "value", "writer", "written")

    def __init__(self) -> None:
        self.value = 0
        self.written = False
        self.updates = 0
        self.reads = 0
        self.kernel = -1  # of `reader` and `writer`
        self.reader: Indices | None = None
        self.writer: Indices | None = None


MANY: Indices = (-1,)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """An access that must not happen now."""

    one: Placed
    cell: Cell
    kind: Kind
    early: bool  # it needs a write that has not happened


@dataclass(frozen=True, slots=True)
class _Expected:
    """The number of updates of each cell, and of updates before each ordered one."""

    updates: Mapping[Cell, int]
    turns: Mapping[int, int]


def _execute(
    kernels: list[list[list[list[Placed]]]],
    storage: dict[Cell, _Stored],
    expected: _Expected,
    run: int,
    random: Random,
) -> _Trouble | None:
    """Run all kernels: in run 0 program after program, later in random interleavings.

    In even runs all lanes of a step read before one writes; in odd runs each lane acts alone.
    """
    for programs in kernels:
        for step in _interleaved(programs, run, random):
            if _is_chained(step[0]):
                lanes = [[one] for one in sorted(step, key=_turn)]  # they are joined in order
            elif run % 2 and len(step) > 1:
                lanes = [[one] for one in random.sample(step, len(step))]
            else:
                lanes = [step]
            for together in lanes:
                values: list[int] = []
                for one in together:
                    read: list[int] = []
                    for cell in one.reads:
                        trouble = _read(one, cell, storage, expected.updates)
                        if trouble is not None:
                            return trouble
                        read.append(storage[cell].value)
                    values.append(_value(one, read))
                for one, value in zip(together, values, strict=True):
                    trouble = _write(one, value, storage, expected.turns)
                    if trouble is not None:
                        return trouble
    return None


def _turn(one: Placed) -> int:
    """Return how many results of its scan come before that of an instance."""
    assert one.line.reduction is not None
    scan = one.line.reduction.scan or one.line.reduction.turns
    assert scan is not None
    return scan.turn(one.indices[one.line.dims.index(scan.dim)])


def _interleaved(
    programs: list[list[list[Placed]]], run: int, random: Random
) -> Iterator[list[Placed]]:
    if run == 0 or len(programs) == 1:
        for steps in programs:
            yield from steps
        return
    turns = [at for at, steps in enumerate(programs) for _ in steps]
    random.shuffle(turns)
    left = [iter(steps) for steps in programs]
    for turn in turns:
        yield next(left[turn])


def _entered(one: Placed, cell: Cell, storage: dict[Cell, _Stored]) -> _Stored:
    state = storage.get(cell)
    if state is None:
        state = storage[cell] = _Stored()
    if state.kernel != one.kernel:
        state.kernel, state.reader, state.writer = one.kernel, None, None
    return state


def _read(
    one: Placed, cell: Cell, storage: dict[Cell, _Stored], updates: Mapping[Cell, int]
) -> _Trouble | None:
    state = _entered(one, cell, storage)
    if state.writer is not None and state.writer != one.program:
        return _Trouble(one, cell, "crosses program instances", early=False)
    if not state.written or state.updates != updates.get(cell, 0):
        return _Trouble(one, cell, "runs too late", early=True)
    state.reader = one.program if state.reader in (None, one.program) else MANY
    state.reads += 1
    return None


def _write(
    one: Placed, value: int, storage: dict[Cell, _Stored], turns: Mapping[int, int]
) -> _Trouble | None:
    state = _entered(one, one.write, storage)
    is_add = one.line.role == "add"
    if state.reader not in (None, one.program):
        return _Trouble(one, one.write, "crosses program instances", early=False)
    if state.writer not in (None, one.program) and not is_add:
        return _Trouble(one, one.write, "crosses program instances", early=False)
    if one.line.is_update:
        if state.reads or not state.written:
            return _Trouble(one, one.write, "runs too late", early=not state.written)
        if turns.get(id(one), state.updates) != state.updates:
            return _Trouble(one, one.write, "runs too late", early=False)
        state.value = (state.value + value) % PRIME
        state.updates += 1
    else:
        if state.reads or state.updates:
            return _Trouble(one, one.write, "runs too late", early=False)
        state.value, state.written = value, True
    state.writer = one.program
    return None


def _value(one: Placed, read: list[int]) -> int:
    line = one.line
    if not line.mixes:
        return sum(read) % PRIME
    number = -1 if line.reduction is None else line.reduction.number
    # This is a sum over the reads, because the reads of a fused Func are listed after the others.
    total = 0
    for (array, _, at), value in zip(one.reads, read, strict=True):
        total += hash((array, at, value))
    return hash((_SALT, line.func, number, one.indices, total)) % PRIME


def _explain(trouble: _Trouble, placed: Sequence[Placed]) -> Illegal:
    """Return the kind of the violation.

    The missing write may come later, or may come in another program only.
    """
    one, cell = trouble.one, trouble.cell
    others = [other for other in placed if other is not one and other.write == cell]
    kind = trouble.kind
    if trouble.early:
        here = [other for other in others if other.kernel == one.kernel]
        late = [o for o in here if o.program == one.program and o.time >= one.time]
        late += [o for o in others if o.kernel > one.kernel]
        abroad = [o for o in here if o.program != one.program]
        if abroad and not late:
            kind = "crosses program instances"
        others = late or abroad
    other = _show(others[0]) if others else "nothing"
    return Illegal(kind, f"{_show(one)} at {show(cell)}, which {other} writes")


def _show(one: Placed) -> str:
    place = f"kernel {one.kernel}, program {list(one.program)}, time {list(one.time)}"
    return f"{one.line}{list(one.indices)} ({place}, lane {list(one.lane)})"
