"""Changes loops over lines so that they begin at aligned places, or so that they go backwards.

    for y: use(A[x, y])        -->  what is before the first aligned tile, masked; whole tiles, from
    what is left, masked            an aligned place on; what is left, masked

That is right where the rounds may be done in any order, and where it does not matter in which lane
and in which round an index is. Such loops load only what the kernel does not write, store only what
it does not load, each index by itself, and take everything else into reductions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    Address,
    Base,
    ForLoop,
    If,
    Lanes,
    Let,
    LineStart,
    Load,
    LoopScalar,
    Mask,
    OnLine,
    Select,
    Shifted,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.parts import assigned, assigned_by, inside
from dtpoly.ir.step_dependences import exposed
from dtpoly.ir.tile_values import Call, Converted, Holds, Masked, Merged, Test, Value, Variable
from dtpoly.ir.tiled import parts_of
from dtpoly.poly.loops import Bound, Combined, Compared

from .operation_spelling import UNIT
from .python_names import fresh


@dataclass(frozen=True, slots=True)
class Walk:
    """A tiled loop whose rounds may be done in any order.

    `body` and `rest` are what is done in a tile, and with a mask, behind the lanes.
    """

    step: Step
    tiled: TiledLoop
    lanes: Lanes
    body: tuple[Step, ...]
    mask: Mask
    rest: tuple[Step, ...]
    lane_origin: str

    @property
    def loop(self) -> Step:
        """Return the loop over whole tiles."""
        return parts_of(self.step)[0]

    @property
    def end(self) -> Step:
        """Return the branch for what is left of the size."""
        return parts_of(self.step)[1]

    @property
    def origins(self) -> tuple[str, str]:
        """Return the origins of the main part and of the tail."""
        return self.step.origin, self.tiled.tail_origin


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of a walk, counted from an aligned place, and those of its whole units.

    Whole units go from `first` to `end`. Without a shift, they are all of the walk.
    """

    first: Affine
    end: Affine
    stop: Affine
    shift: str | None


@dataclass(frozen=True, slots=True)
class Walked:
    """The body, the tensors along whose lines lanes are aligned, and labels with turned loops."""

    body: tuple[Step, ...]
    lined: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()


@dataclass(slots=True)
class Walking:
    """The wishes of the directives, and the facts that are known of the kernel.

    `aligned` are variables of tensors, `turned` are axes whose loops take turns in direction.
    `next_back` are labels whose next loop goes backwards, `backwards` those that have such a loop.
    """

    aligned: frozenset[str]
    turned: Mapping[str, str]
    taken: set[str]
    loaded: frozenset[str]
    written: frozenset[str]
    lines: dict[str, LineStart] = field(default_factory=dict[str, LineStart])
    ends: dict[tuple[Affine, str], Ends] = field(default_factory=dict[tuple[Affine, str], Ends])
    turns: dict[tuple[Ends, int], str] = field(default_factory=dict[tuple[Ends, int], str])
    next_back: set[str] = field(default_factory=set[str])
    backwards: list[str] = field(default_factory=list[str])

    def name(self, wish: str) -> str:
        """Return a name that nothing in the kernel has."""
        name = fresh(wish, self.taken)
        self.taken.add(name)
        return name


def walked(
    body: tuple[Step, ...],
    aligned: frozenset[str],
    turned: Mapping[str, str],
    taken: frozenset[str],
) -> Walked:
    """`turned` gives the label of axes whose loops take turns in direction."""
    if not aligned and not turned:
        return Walked(body)
    every = tuple(inside(body))
    loaded = frozenset(one.tensor for one in every if isinstance(one, Load))
    written = frozenset(one.tensor for one in every if isinstance(one, Store))
    walking = Walking(aligned, turned, {*taken, *assigned(body)}, loaded, written)
    done: list[Step] = []
    for step in body:
        one = step.instruction
        walk = _walk(walking, step, one) if isinstance(one, TiledLoop) else None
        done += [step] if walk is None else _changed(walking, walk)
    lined = tuple(tensor for tensor in walking.lines if tensor in aligned)
    body = _without_unused(tuple(done), frozenset(walking.lines))
    return Walked(body, lined, tuple(dict.fromkeys(walking.backwards)))


def _walk(walking: Walking, step: Step, loop: TiledLoop) -> Walk | None:
    """Return the walk that a tiled loop is; None if its rounds must stay as they are."""
    match loop.main, loop.tail:
        case (
            (Step(instruction=Lanes(count=count, step=1) as lanes, origin=origin), *inner),
            (
                Step(instruction=LoopScalar(name=counter)),
                Step(instruction=Lanes() as others),
                Step(instruction=Mask(test=test) as mask),
                *rest,
            ),
        ) if count == loop.step and lanes.start == Affine(((loop.name, 1),)):
            is_alike = replace(others, start=lanes.start) == lanes and counter == loop.name
        case _:
            return None
    walk = Walk(step, loop, lanes, tuple(inner), mask, tuple(rest), origin)
    last = loop.size - Affine(((lanes.name, 1),)) + Affine((), -1)
    is_end = test.value - last == Affine() and test.unless is None
    is_free = _is_free(walking, walk, walk.body) and _is_free(walking, walk, walk.rest)
    return walk if is_alike and is_end and is_free else None


def _is_free(walking: Walking, walk: Walk, body: tuple[Step, ...]) -> bool:
    """Return whether it does not matter which lane of which round an index is in."""
    sums: set[str] = set()
    for step in body:
        match step.instruction:
            case Load(tensor=tensor, axes=axes, block=None) if tensor not in walking.written:
                is_right = set(axes) <= {walk.lanes.name}
            case Store(tensor=tensor, indices=indices, atomic=None, axes=axes):
                own = Affine(((walk.lanes.name, 1),))
                is_right = tensor not in walking.loaded and own in indices
                is_right = is_right and axes == (walk.lanes.name,)
            case Accumulate() | Select():
                is_right = True
                sums.update(assigned_by(step.instruction))
            case Let() | Mask():
                is_right = True
            case _:
                is_right = False
        if not is_right:
            return False
    needed = exposed(body)
    return walk.tiled.name not in needed and needed & set(assigned(body)) <= sums


def _remainder(of: Affine, by: int) -> Combined:
    return Combined("%", (of, Affine((), by)))


# The new text


def _changed(walking: Walking, walk: Walk) -> Iterator[Step]:
    """Yield a walk as it is wanted."""
    origin, rest_origin = walk.origins
    label = walking.turned.get(origin)
    is_backwards = label in walking.next_back
    if label is not None:
        walking.next_back ^= {label}
        walking.backwards += [label] * is_backwards
    before: list[Step] = []
    line = _line(walking, walk, before)
    if line is None and not is_backwards:
        yield walk.step
        return
    ends = _ends(walking, walk, line, before)
    tile = _Tile(walking, walk, ends, line)
    whole = tile.whole(before, is_backwards, origin)
    parts: list[tuple[Step, ...]] = [(whole,), (walk.end,)]
    if ends.shift is not None:
        units = (tile.rest(before, rest_origin), tile.behind(rest_origin))
        parts = [tile.front(), (whole,), *((one,) for one in units)]
    yield from before
    for part in reversed(parts) if is_backwards else parts:
        yield from part


def _line(walking: Walking, walk: Walk, before: list[Step]) -> LineStart | None:
    """Find the line that the lanes are aligned to: that of the first load of an aligned tensor.

    Tiles are whole units, so that one tile has all that is before the first unit.
    """
    if walk.tiled.step % UNIT:
        return None
    for step in walk.body:
        match step.instruction:
            case Load(tensor=tensor, indices=indices, base=Base() as base) if (
                tensor in walking.aligned and _is_on_line(walk, indices, base)
            ):
                return _started(walking, tensor, indices, step.origin, before)
            case _:
                pass
    return None


def _is_on_line(walk: Walk, indices: tuple[Affine, ...], base: Base) -> bool:
    """Return whether lanes go along the last axis, and all else is known before the loop."""
    *outer, last = indices
    known = {at for at, index in enumerate(outer) if index != Affine()}
    is_plain = last == Affine(((walk.lanes.name, 1),))
    return is_plain and known == set(base.included) and bool(known) and not base.axes


def _started(
    walking: Walking,
    tensor: str,
    indices: tuple[Affine, ...],
    origin: str,
    before: list[Step],
) -> LineStart | None:
    """Find out once where a line starts.

    A tensor has one line in a kernel; None for another one.
    """
    known = walking.lines.get(tensor)
    if known is not None:
        return known if known.indices[:-1] == indices[:-1] else None
    line = LineStart(
        walking.name(f"{tensor}_line"), walking.name(f"{tensor}_shift"), tensor, indices
    )
    walking.lines[tensor] = line
    before.append(Step(line, origin))
    return line


def _ends(walking: Walking, walk: Walk, line: LineStart | None, before: list[Step]) -> Ends:
    """Return where a walk begins and where it ends."""
    if line is None:
        return Ends(Affine(), walk.tiled.size, walk.tiled.size, None)
    name, shift = walk.lanes.name, Affine(((line.shift, 1),))
    key = (walk.tiled.size, line.shift)
    if key not in walking.ends:
        stop, end = (walking.name(f"{name}_{word}") for word in ("stop", "end"))
        # The first unit is in front, also of a line that begins or ends in it.
        first = Affine((), UNIT)
        ends = Ends(first, Affine(((end, 1),)), Affine(((stop, 1),)), line.shift)
        units = _units(Combined("max", (ends.stop, first)))
        before.append(Step(LoopScalar(stop, walk.tiled.size + shift), walk.origins[0]))
        before.append(Step(LoopScalar(end, units), walk.origins[0]))
        walking.ends[key] = ends
    return walking.ends[key]


def _units(of: Bound) -> Bound:
    """Return a number rounded down: written so that Triton sees that it is a multiple."""
    unit = Affine((), UNIT)
    return Combined("*", (Combined("//", (of, unit)), unit))


@dataclass(frozen=True, slots=True)
class _Tile:
    """A walk, from where to where it goes, and along which line."""

    walking: Walking
    walk: Walk
    ends: Ends
    line: LineStart | None

    def whole(self, before: list[Step], is_backwards: bool, origin: str) -> Step:
        """Return the loop over whole tiles."""
        loop, step = self.walk.loop.instruction, self.walk.tiled.step
        assert isinstance(loop, ForLoop)
        head: list[Step] = []
        counter = loop.name
        if is_backwards:
            counter, turn = self.walking.name(f"{self.walk.lanes.name}_back"), self._turn(before)
            value = Affine(((turn, 1), (counter, -1)))
            head.append(Step(LoopScalar(loop.name, value), origin))
        inner = tuple(self._stores(before, self.walk.body))
        lanes = self._needed(self._lanes(Affine(((loop.name, 1),))), inner)
        body = (*head, lanes, *inner)
        stop = self.ends.end + Affine((), 1 - step)
        start: Bound = self.ends.first
        new = replace(loop, name=counter, start=start, stop=stop, body=body)
        return Step(new, origin)

    def _turn(self, before: list[Step]) -> str:
        """Return the sum of where the first and the last whole tile start."""
        key = (self.ends, self.walk.tiled.step)
        if key in self.walking.turns:
            return self.walking.turns[key]
        step = Affine((), self.walk.tiled.step)
        length = self.ends.end - self.ends.first
        last = Combined("*", (Combined("//", (length, step)), step))
        apart = self.ends.first.constant * 2 - self.walk.tiled.step
        sign = "+" if apart > 0 else "-"
        turn = Combined(sign, (last, Affine((), abs(apart)))) if apart else last
        name = self.walking.turns[key] = self.walking.name(f"{self.walk.lanes.name}_turn")
        before.append(Step(LoopScalar(name, turn), self.walk.origins[0]))
        return name

    def front(self) -> tuple[Step, ...]:
        """Return the lanes of the first unit that are on the line."""
        name, mask = self.walk.lanes.name, self.walk.mask
        first = Affine(((self._at, -1),), UNIT - 1)
        tests = (Test(Affine(((name, 1),)), (name,)), mask.test, Test(first, (name,)))
        value: Value = Holds(tests[0], (name,))
        for test in tests[1:]:
            value = Call("and", (value, Holds(test, (name,))), (name,), DType.BOOL)
        mask_of = Step(Let(mask.name, value, (name,)), "")
        return (self._lanes(Affine()), mask_of, *self._loads(self.walk.rest))

    def rest(self, before: list[Step], origin: str) -> Step:
        """Whole units that are not a whole tile: of each all lanes compute, or none."""
        first, end, counter = self.ends.first, self.ends.end, self.walk.tiled.name
        length = _remainder(end - first, self.walk.tiled.step)
        begin = Step(LoopScalar(counter, Combined("-", (end, length))), self.walk.origins[0])
        name = self.walk.lanes.name
        test = Test(end - Affine(((self._at, 1),)) + Affine((), -1), (name,))
        mask = Step(Mask(self.walk.mask.name, test), "")
        inner = tuple(self._stores(before, self.walk.rest))
        lanes = self._needed(self._lanes(Affine(((counter, 1),))), inner)
        body = (begin, lanes, mask, *inner)
        return Step(If((Compared(length, Affine((), 1)),), body), origin)

    def behind(self, origin: str) -> Step:
        """Return the lanes behind the last whole unit, if that is not in front of them all."""
        lanes, mask = self._lanes(self.ends.end), Step(self.walk.mask, "")
        body = (lanes, mask, *self._loads(self.walk.rest))
        is_left = Compared(self.ends.stop, self.ends.end + Affine((), 1))
        return Step(If((is_left,), body), origin)

    def _lanes(self, start: Affine) -> Step:
        """Return the lanes as they are counted, and the indices that they stand for."""
        own = replace(self.walk.lanes, start=start)
        if self.ends.shift is not None:
            own = replace(own, shifted=Shifted(self._at, self.ends.shift))
        return Step(own, self.walk.lane_origin)

    @property
    def _at(self) -> str:
        return fresh(f"{self.walk.lanes.name}_at", self.walking.taken)

    def _on(
        self, line: LineStart, base: Base, one: Load | Store
    ) -> tuple[Base, tuple[Affine, ...]]:
        """Return the address and the indices from the line's aligned place on."""
        last = Affine(((self._at, 1),))
        return replace(base, name=line.name), (*one.indices[:-1], last)

    def _loads(self, body: tuple[Step, ...]) -> Iterator[Step]:
        """Yield the steps with loads from where the line is aligned."""
        for step in body:
            match step.instruction:
                case Load(tensor=tensor, base=Base() as base) as one if self._is_mine(tensor, one):
                    assert self.line is not None
                    base, indices = self._on(self.line, base, one)
                    yield replace(step, instruction=replace(one, base=base, indices=indices))
                case _:
                    yield step

    def _is_mine(self, tensor: str, one: Load) -> bool:
        line = self.line
        return (
            line is not None
            and line.tensor == tensor
            and one.base is not None
            and _is_on_line(self.walk, one.indices, one.base)
            and one.indices[:-1] == line.indices[:-1]
        )

    def _stores(self, before: list[Step], body: tuple[Step, ...]) -> Iterator[Step]:
        """Yield the steps of whole units: what is stored may begin as what is loaded does."""
        for step in self._loads(body):
            match step.instruction:
                case Store(tensor=tensor, indices=indices, base=Base() as base) as one if (
                    self.line is not None and _is_on_line(self.walk, indices, base)
                ):
                    other = _started(self.walking, tensor, indices, step.origin, before)
                    if other is None:
                        yield step
                        continue
                    if isinstance(value := one.value, Call | Converted | Masked | Merged):
                        name = self.walking.name(f"{tensor}_tile")
                        yield Step(Let(name, value, one.axes), step.origin)
                        one = replace(one, value=Variable(name, one.axes, value.dtype))
                    there, aligned = self._on(other, base, one)
                    line = OnLine(there, aligned, (other.shift, self.line.shift))
                    yield replace(step, instruction=replace(one, line=line))
                case _:
                    yield step

    def _needed(self, lanes: Step, body: tuple[Step, ...]) -> Step:
        """Return lanes without the indices that they stand for, if nothing asks for these."""
        match lanes.instruction:
            case Lanes(name=name, shifted=Shifted() as shifted) as one if name not in exposed(body):
                return replace(
                    lanes, instruction=replace(one, shifted=replace(shifted, is_index=False))
                )
            case _:
                return lanes


def _without_unused(body: tuple[Step, ...], tensors: frozenset[str]) -> tuple[Step, ...]:
    """Remove addresses that only loads needed that are aligned now."""
    used = {
        one.base.name
        for one in inside(body)
        if isinstance(one, Load | Store | Address) and one.base is not None
    }
    return tuple(
        step
        for step in body
        if not isinstance(one := step.instruction, Address)
        or one.tensor not in tensors
        or one.name in used
    )
