"""Derives how sums of squared deviations go on when the mean that they are taken from moves.

    for k: sum += A[k]                     for k: before = sum / max(k, 1); sum += A[k]
    mean = sum / size                             so_far = sum / (k + 1)
    for k: s += (A[k] - mean)^2      -->          s += (so_far - before)^2 * k
                                                  s += (A[k] - so_far)^2

Let n numbers have the mean `before`. Then the sum of their deviations from it is 0, so the sum of
`(A[k] - so_far)^2` is that of `(A[k] - before)^2` and `n * (so_far - before)^2`. All of these are
squares, so nothing cancels, as it would in a sum of squares less the square of a sum.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import comb

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    ForLoop,
    If,
    Lanes,
    Let,
    Load,
    Step,
    Store,
    TiledLoop,
)
from dtpoly.ir.kinds import Element
from dtpoly.ir.parts import (
    accessed,
    assigned_by,
    inside,
    mapped,
    renamed,
    steps_inside,
    with_values,
)
from dtpoly.ir.rewriting import rewritten
from dtpoly.ir.step_dependences import exposed, reads
from dtpoly.ir.tile_values import (
    Axes,
    Call,
    Converted,
    IndexValue,
    LiteralNumber,
    Value,
    Variable,
)
from dtpoly.ir.tiled import blocks_of, is_alike

from .deviations import (
    AddedValue,
    Overhang,
    Powers,
    deviation_from,
    powers_of,
    sums_of,
    unmasked,
)
from .motions import NOT_GONE, SAME_TILES, UNLIKE, CannotJoinError
from .python_names import fresh

NO_LOWER = "sums of powers of deviations from it are not all kept in one loop"
NOT_ALL = "it is a mean, and the loops do not go over all of its elements from 0 on, tile by tile"


@dataclass(frozen=True, slots=True)
class Mean:
    """`name = total / size`, between two walks: the first one sums `total`.

    In a joined loop, `before` holds the total without the tile that came last; `old` and `new` are
    the means so far without this tile and with it, and `moved` is their difference.
    """

    name: str
    total: str
    quotient: Call
    before: str
    old: str
    new: str
    moved: str
    outside: tuple[Lanes, ...] = ()  # in front of the walks, such as those of the last tile

    @property
    def size(self) -> Affine:
        """Return by what the total is divided."""
        number = self.quotient.operands[1]
        assert isinstance(number, Converted)
        assert isinstance(number.value, IndexValue)
        return number.value.index

    def variable(self, name: str, axes: Axes) -> Variable:
        """Return a variable of the type of the mean."""
        return Variable(name, axes, self.quotient.dtype)

    def kept_before(self, step: Step) -> Step:
        """Return what keeps the total as it is before a step that adds to it."""
        one = step.instruction
        assert isinstance(one, Accumulate)
        return replace(step, instruction=Let(self.before, self.so_far(one), one.axes))

    def so_far(self, one: Accumulate) -> Variable:
        """Return the total, in the lanes of a step that adds to it."""
        return Variable(self.total, one.axes, one.dtype)

    def count(self, of: Affine) -> Value:
        """Return a number of elements in the type of the mean."""
        number = self.quotient.operands[1]
        assert isinstance(number, Converted)
        return replace(number, value=IndexValue(of, ()))


def sums_between(first: tuple[Step, ...], between: tuple[Step, ...]) -> set[str]:
    """Return the sums that a walk leaves, by the names that they have behind it."""
    updates = [one for one in inside(first) if isinstance(one, Accumulate)]
    own = {one.name for one in updates if one.reduction == "rsum"}
    own -= {one.name for one in updates if one.reduction != "rsum"}
    collapsed = [
        step.instruction
        for step in between
        if isinstance(step.instruction, Collapse) and step.instruction.reduction == "rsum"
    ]
    return own | {one.name for one in collapsed if one.source in own}


def means_of(
    first: tuple[Step, ...], between: tuple[Step, ...], second: tuple[Step, ...], names: set[str]
) -> tuple[Mean, ...]:
    """Return the means between two walks that the second one computes with."""
    sums, read = sums_between(first, between), exposed(second)
    found = list[Mean]()
    for step in between:
        match step.instruction:
            case Let(name=name, value=Call(operation="div") as value) if name in read:
                pass
            case _:
                continue
        match value.operands:
            case Variable(name=total), Converted(value=IndexValue(axes=())) if total in sums:
                found.append(_mean(name, total, value, names))
            case _:
                pass
    return tuple(found)


def _mean(name: str, total: str, quotient: Call, names: set[str]) -> Mean:
    words = ("before", "so_far", "moved")
    old, new, moved = (fresh(f"{name}_{word}", names) for word in words)
    return Mean(name, total, quotient, fresh(f"{total}_before", names), old, new, moved)


def _quotients_apart(
    first: tuple[Step, ...], second: tuple[Step, ...], sums: frozenset[str], names: set[str]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return steps that divide sums of the first walk by sizes, and the second walk with the names.

    `sums` are the results of the first walk. So a mean that was written into the formula of a
    deviation has a name as any other.
    """
    found = dict[str, Let]()

    def change(value: Value, _: Axes = ()) -> Value:
        match value:
            case Call(operation="div", operands=(Variable(name=total), divisor), axes=axes) if (
                total in sums and isinstance(divisor, Converted) and not divisor.axes
            ):
                key = repr(value)
                if key not in found:
                    name = fresh(f"{total}_mean", names)
                    names.add(name)
                    found[key] = Let(name, value, axes)
                return Variable(found[key].name, axes, value.dtype)
            case _:
                return mapped(value, change)

    def rewrite(step: Step) -> tuple[Step, ...]:
        return (replace(step, instruction=with_values(step.instruction, change)),)

    second = rewritten(second, rewrite)
    return tuple(Step(one, first[0].origin) for one in found.values()), second


def with_quotients_apart(
    body: tuple[Step, ...], walks: tuple[range, range], names: set[str]
) -> tuple[tuple[Step, ...], tuple[range, range]]:
    """Return the body in which means that the second walk computes are named between the two."""
    walk, other = walks
    first, second = body[walk.start : walk.stop], body[other.start : other.stop]
    sums = sums_between(first, body[walk.stop : other.start])
    made, second = _quotients_apart(first, second, frozenset(sums), names)
    if not made:
        return body, walks
    start, stop = other.start + len(made), other.stop + len(made)
    body = (*body[: other.start], *made, *second, *body[other.stop :])
    return body, (walk, range(start, stop))


def depending(body: tuple[Step, ...], on: frozenset[str]) -> frozenset[str]:
    """Return the names that a body computes from some others."""
    found = set(on)
    for step in steps_inside(body):
        one = step.instruction
        if not isinstance(one, ForLoop | If) and not found.isdisjoint(reads(one)):
            found.update(assigned_by(one))
    return frozenset(found - on)


@dataclass(frozen=True, slots=True)
class MovedSum:
    """An accumulator that sums powers of deviations, and by what it grows when the mean moves."""

    sum: Accumulate
    origin: str
    powers: Powers


@dataclass(frozen=True, slots=True)
class Counted:
    """How many elements come before the tile of a block, and up to its end."""

    before: Affine
    until: Affine


@dataclass(frozen=True, slots=True)
class MovingMean:
    """A mean of the first walk, and the sums of the second one that move with it."""

    of: Mean
    sums: tuple[MovedSum, ...]

    def sum_of(self, power: int, axes: Axes, dtype: Element) -> Value:
        """Return the sum of a power of the deviations, which is kept beside sums of higher ones."""
        plain = (one.sum for one in self.sums if dict(one.powers) == {power: 1.0})
        found = next(plain, None)
        if found is None:
            raise CannotJoinError(NO_LOWER)
        value = Variable(found.name, axes, found.dtype)
        return value if found.dtype == dtype else Converted(value, axes, dtype)


@dataclass(frozen=True, slots=True)
class WalksOfMean:
    """Two walks over the same indices, and what stands in front of them and between them.

    `between` needs something of the first walk. `names` are all names of the kernel; new ones are
    added.
    """

    front: tuple[Step, ...]
    first: tuple[Step, ...]
    between: tuple[Step, ...]
    second: tuple[Step, ...]
    names: set[str]

    def means(self) -> list[Mean]:
        """Return the means of the first walk that the second one depends on.

        They know the lanes that are made in front of the walks.
        """
        around = (step.instruction for step in self.front)
        outside = tuple(one for one in around if isinstance(one, Lanes))
        found = means_of(self.first, self.between, self.second, self.names)
        return [replace(mean, outside=outside) for mean in found]


def moving_mean(walks: WalksOfMean) -> MovingMean | None:
    """Return the mean of which the second walk has deviations; None if it has none.

    Raises CannotJoinError where something else depends on the mean.
    """
    means, first, second = walks.means(), walks.first, walks.second
    if not means:
        return None
    mean, *others = means
    if others:
        raise CannotJoinError(f"the second loop depends on '{others[0].name}', too")
    walks.names.update((mean.before, mean.old, mean.new, mean.moved))
    if not accessed((*first, *second), Store).isdisjoint(accessed(second, Load)):
        raise CannotJoinError("a tensor is loaded and stored in the loops")
    (one, mine), (other, theirs) = (only_block(walk, mean) for walk in (first, second))
    if not is_alike(one.instruction, other.instruction):
        raise CannotJoinError(UNLIKE, way=SAME_TILES)
    found: list[tuple[MovedSum, ...]] = []
    for block, at in zip(blocks_of(one), blocks_of(other), strict=True):
        found.append(tuple(_moved_sums(mean, block, at)))
    ways = {tuple((one.sum.name, *one.powers.items()) for one in sums) for sums in found}
    outside = tuple(step for step in second if step is not other)
    if mine != theirs or len(ways) != 1 or depending(outside, frozenset((mean.name,))):
        raise CannotJoinError(NOT_ALL)
    return MovingMean(mean, found[0])


def counted(mean: Mean, block: Step) -> Counted:
    """Return how many elements come before the tile of a block of the first walk, and until it."""
    one = block.instruction
    assert isinstance(one, ForLoop | If)
    lanes = _reduced_lanes(mean, one.body)
    if lanes is None:
        before = Affine(((one.name, 1),)) if isinstance(one, ForLoop) else None
    else:
        before = lanes.start if lanes.step == 1 and lanes.shifted is None else None
    if before is None:
        raise CannotJoinError(NOT_ALL)
    if isinstance(one, If):
        return Counted(before, mean.size)
    if before != Affine(((one.name, 1),)) or (1 if lanes is None else lanes.count) != one.step:
        raise CannotJoinError(NOT_ALL)
    return Counted(before, before + Affine((), one.step))


def steps_of_move(moving: MovingMean, at: Counted, step: Step) -> Iterator[Step]:
    """Yield what moves a mean behind a step that adds to its total, and sums of deviations."""
    mean, one = moving.of, step.instruction
    assert isinstance(one, Accumulate)
    dtype, axes = mean.quotient.dtype, one.axes
    number = mean.count(at.before)
    at_least = Call("maximum", (number, LiteralNumber(1)), (), dtype)
    total = mean.so_far(one)
    old = Call("div", (replace(total, name=mean.before), at_least), axes, dtype)
    new = Call("div", (total, mean.count(at.until)), axes, dtype)
    by = Call("sub", (mean.variable(mean.new, axes), mean.variable(mean.old, axes)), axes, dtype)
    for name, value in ((mean.old, old), (mean.new, new), (mean.moved, by)):
        yield replace(step, instruction=Let(name, value, axes))
    # A sum moves by what sums of lower powers were, so that of the highest powers comes first.
    for moved in sorted(moving.sums, key=lambda one: -max(one.powers, default=0)):
        change = _change(moving, moved.powers, axes, number)
        if change is not None:
            if moved.sum.dtype != dtype:
                change = Converted(change, axes, moved.sum.dtype)
            yield Step(replace(moved.sum, value=change), moved.origin)


def _change(moving: MovingMean, powers: Powers, axes: Axes, number: Value) -> Value | None:
    """Return by what a sum of powers of n deviations, whose sum is 0, changes if each is smaller.

    The sum of `(u - d)^k` is that of `u^k` and of `comb(k, j) * (-d)^(k - j) * u^j` for each lower
    j: n times a number where j is 0, nothing where it is 1, and else another sum.
    """
    dtype = moving.of.quotient.dtype
    total: Value | None = None
    for power, factor in powers.items():
        for below in (one for one in range(power) if one != 1):
            one = moving.of.variable(moving.of.moved, axes)
            product: Value = one
            for _ in range(power - below - 1):
                product = Call("mul", (product, one), axes, dtype)
            times = moving.sum_of(below, axes, dtype) if below else number
            product = Call("mul", (product, times), axes, dtype)
            by = factor * comb(power, below) * (-1) ** (power - below)
            if abs(by) != 1:
                product = Call("mul", (product, LiteralNumber(abs(by))), axes, dtype)
            if total is None:
                total = product if by > 0 else Call("neg", (product,), axes, dtype)
            else:
                total = Call("add" if by > 0 else "sub", (total, product), axes, dtype)
    return total


def only_block(walk: tuple[Step, ...], mean: Mean) -> tuple[Step, Affine]:
    """Return the only block of a walk, and the size over which it goes, from 0 on."""
    blocks = [one for one in walk if isinstance(one.instruction, ForLoop | If | TiledLoop)]
    if len(blocks) != 1:
        raise CannotJoinError(NOT_ALL)
    match blocks[0].instruction:
        case TiledLoop(size=size):
            pass
        case ForLoop(start=Affine(terms=(), constant=0), stop=Affine() as size, step=1):
            pass
        case _:
            raise CannotJoinError(NOT_ALL)
    if size != mean.size:
        raise CannotJoinError(NOT_ALL)
    return blocks[0], size


def _reduced_lanes(mean: Mean, body: tuple[Step, ...]) -> Lanes | None:
    """Return the lanes that are summed in a block; None if it sums one number."""
    parts = [
        step.instruction
        for step in body
        if isinstance(step.instruction, Collapse) and step.instruction.name == _part(mean, body)
    ]
    gone = [axis for one in parts for axis in one.axes if axis not in one.kept]
    inner = (step.instruction for step in body)
    known = (*mean.outside, *(one for one in inner if isinstance(one, Lanes)))
    lanes = [one for one in known if one.name in gone]
    if len(gone) > 1 or len(lanes) != len(gone):
        raise CannotJoinError(NOT_ALL)
    return lanes[0] if lanes else None


def _part(mean: Mean, body: tuple[Step, ...]) -> str | None:
    """Return the name of what a block adds to the total, if it is a variable."""
    for step in body:
        match step.instruction:
            case Accumulate(name=name, value=Variable(name=part)) if name == mean.total:
                return part
            case _:
                pass
    return None


def summed_in(mean: Mean, block: Step) -> AddedValue:
    """Return what a block of the first walk adds to the total."""
    one = block.instruction
    assert isinstance(one, ForLoop | If)
    counted(mean, block)
    found = [summed for summed in sums_of(one.body) if summed.sum.name == mean.total]
    if len(found) != 1:
        raise CannotJoinError(NOT_ALL)
    return found[0]


def overhang_of(mean: Mean, block: Step) -> Overhang:
    """Return which lanes of a block have an element: all of a whole tile, not all of the last."""
    one = block.instruction
    assert isinstance(one, ForLoop | If)
    lanes = _reduced_lanes(mean, one.body)
    if lanes is None:
        return Overhang("", None)
    inside = mean.size + Affine(((lanes.name, -1),), -1)
    return Overhang(lanes.name, inside if isinstance(one, If) else None)


def _moved_sums(mean: Mean, mine: Step, theirs: Step) -> Iterator[MovedSum]:
    """Yield the sums of a block of the second walk that move with the mean, and their powers."""
    one, other = mine.instruction, theirs.instruction
    assert isinstance(one, ForLoop | If)
    assert isinstance(other, ForLoop | If)
    body = other.body
    if isinstance(one, ForLoop) and isinstance(other, ForLoop):
        body = renamed(body, {other.name: one.name})
    if any(isinstance(step.instruction, ForLoop | If | TiledLoop) for step in body):
        raise CannotJoinError(NOT_ALL)
    moving = depending(body, frozenset((mean.name,)))
    summed, overhang = summed_in(mean, mine), overhang_of(mean, mine)
    passed = set[str]()
    for found in sums_of(body):
        if found.sum.name not in moving:
            continue
        if {*found.sum.axes} != {*summed.sum.axes}:
            raise CannotJoinError("its rows are not those of the accumulator")
        passed.update(found.names)
        deviation = deviation_from(mean.name, summed, overhang, found)
        powers = powers_of(unmasked(found.value, overhang), deviation)
        yield MovedSum(found.sum, found.origin, powers)
    for step in body:
        names = {*assigned_by(step.instruction)} & moving
        if not isinstance(step.instruction, Let) and not names <= passed:
            raise CannotJoinError(f"'{min(names - passed)}' depends on it, and is no sum over rows")
        if isinstance(step.instruction, Store) and not moving.isdisjoint(reads(step.instruction)):
            raise CannotJoinError(f"'{step.instruction.tensor}' is stored, and {NOT_GONE}")
