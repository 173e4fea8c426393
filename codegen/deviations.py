"""Finds which powers of a deviation a value is made of, such as `(A - mean) * (A - mean)`.

A deviation is what a mean is made of, less this mean. So it is found by comparing the two values,
each with what was loaded in the place of names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Accumulate, Collapse, Let, Load, Step
from dtpoly.ir.kernel_text import show_value
from dtpoly.ir.parts import assigned_by, mapped, operands_of, walk
from dtpoly.ir.tile_values import Call, Masked, Test, Value, Variable, written_number
from dtpoly.ir.tiled import flat

from .motions import CannotJoinError

# The largest power of a deviation. Its sum moves by the sums of all lower ones.
MOST = 4
EXPONENTS = tuple(range(2, 2 * MOST + 1))
# Of a sum of powers of deviations: the factor of each power.
Powers = Mapping[int, float]
NO_POWERS = "no sum of powers of deviations from it brings this up to date when it changes"
TOO_HIGH = "sums of deviations are brought up to date up to fourth powers, not higher powers"
OTHER_MASK = "what is summed has a mask of its own, so its mean is not that of all"


class NoDeviationsError(CannotJoinError):
    """Two loops cannot become one, because the sum is not of powers of deviations from a mean."""

    is_of_mean = True


@dataclass(slots=True)
class Definitions:
    """The formulas and the elements of tensors that the names of a block stand for."""

    known: dict[str, Value] = field(default_factory=dict[str, Value])
    loads: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, step: Step) -> None:
        """Learn what a step sets."""
        for name in assigned_by(step.instruction):
            self.known.pop(name, None)
            self.loads.pop(name, None)
        match step.instruction:
            case Let(name=name, value=value):
                self.known[name] = self.of(value)
            case Load(name=name) as load:
                self.loads[name] = repr(replace(load, name=""))
            case _:
                pass

    def of(self, value: Value) -> Value:
        """Return a value with formulas in the place of names."""
        if isinstance(value, Variable):
            return self.known.get(value.name, value)
        return mapped(value, self.of)


def _as_loaded(value: Value, loads: Mapping[str, str]) -> Value:
    """Return a value in which the same elements have the same name, whatever it was."""
    if isinstance(value, Variable):
        return replace(value, name=loads.get(value.name, value.name))
    return mapped(value, lambda one: _as_loaded(one, loads))


@dataclass(frozen=True, slots=True)
class AddedValue:
    """A value that a step of a block adds to a sum, before its lanes are reduced.

    `names` are all that are set on the way: the tile, the sum of its lanes, and the accumulator.
    `loads` says which elements the names in the value stand for.
    """

    sum: Accumulate
    origin: str
    value: Value
    names: tuple[str, ...]
    loads: Mapping[str, str]


def sums_of(body: tuple[Step, ...]) -> Iterator[AddedValue]:
    """Yield what the steps of a block add to sums, with formulas in the place of names."""
    definitions = Definitions()
    parts = dict[str, Collapse]()
    for step in flat(body):
        match step.instruction:
            case Collapse(name=name, reduction="rsum") as part:
                parts[name] = part
            case Accumulate(reduction="rsum", value=value) as one:
                names: tuple[str, ...] = (one.name,)
                if isinstance(value, Variable) and value.name in parts:
                    part = parts[value.name]
                    names = (part.source, part.name, one.name)
                    value = Variable(part.source, part.axes, one.dtype)
                loads = dict(definitions.loads)
                yield AddedValue(one, step.origin, definitions.of(value), names, loads)
            case _:
                pass
        if not isinstance(step.instruction, Collapse):  # it sets its source, too, as it was
            definitions.take(step)


@dataclass(frozen=True, slots=True)
class Overhang:
    """The lanes of a block, and where they are inside of the size, if not all of them are."""

    lane: str
    inside: Affine | None

    def is_inside(self, test: Test) -> bool:
        """Return whether a test asks which lanes are inside, and nothing else."""
        return self.inside is not None and (test.value - self.inside) == Affine()


def unmasked(value: Value, overhang: Overhang) -> Value:
    """Return a value that is summed, without the mask of what is beyond the end of a size.

    A mask of rows does not matter: it takes all of a row, or nothing. Another mask is refused.
    """
    if isinstance(value, Masked) and value.other == 0:
        for test in value.conditions:
            if overhang.lane in test.axes and not overhang.is_inside(test):
                raise CannotJoinError(OTHER_MASK)
        return unmasked(value.value, overhang)
    if any(isinstance(one, Masked) for one in walk(value)):
        raise CannotJoinError(OTHER_MASK)
    return value


@dataclass(frozen=True, slots=True)
class Deviation:
    """The name of a mean, the value that it is the mean of, and what the names of a block mean."""

    mean: str
    of: Value
    loads: Mapping[str, str]

    def is_one(self, one: Value, other: Value) -> bool:
        """Return whether a value less another one is a deviation from the mean."""
        is_mean = isinstance(other, Variable) and other.name == self.mean
        return is_mean and _as_loaded(one, self.loads) == self.of


def deviation_from(
    mean: str, summed: AddedValue, overhang: Overhang, block: AddedValue
) -> Deviation:
    """Return the deviation, in a block, of what is summed from its mean."""
    element = _as_loaded(unmasked(summed.value, overhang), summed.loads)
    return Deviation(mean, element, block.loads)


def powers_of(value: Value, deviation: Deviation) -> Powers:
    """Return the powers of a deviation that a value is a sum of.

    Raises CannotJoinError if it is no such sum, or if a power is too high.
    """
    found = _powers(value, deviation)
    if found is None:
        raise NoDeviationsError(NO_POWERS, show_value(_mixed(value, deviation)))
    if any(power > MOST for power in found):
        raise NoDeviationsError(TOO_HIGH, show_value(value))
    return found


def _mixed(value: Value, of: Deviation) -> Value:
    """Return the smallest part of a value that depends on the mean and is no sum of powers."""
    for one in operands_of(value):
        is_moving = any(isinstance(x, Variable) and x.name == of.mean for x in walk(one))
        if operands_of(one) and is_moving and _powers(one, of) is None:
            return _mixed(one, of)
    return value


def _powers(value: Value, of: Deviation) -> Powers | None:
    number = written_number(value)
    if number is not None:
        return {0: number}
    match value:
        case Call(operation="sub", operands=(one, other)) if of.is_one(one, other):
            return {1: 1.0}
        case Call(operation="sub", operands=(one, other)) if of.is_one(other, one):
            return {1: -1.0}
        case Call(operation="add" | "sub" as operation, operands=(one, other)):
            return _added(_powers(one, of), _powers(other, of), -1 if operation == "sub" else 1)
        case Call(operation="neg", operands=(one,)):
            return _times(_powers(one, of), {0: -1.0})
        case Call(operation="mul", operands=(one, other)):
            return _times(_powers(one, of), _powers(other, of))
        case Call(operation="div", operands=(one, other)) if written_number(other):
            return _times(_powers(one, of), {0: 1 / (written_number(other) or 1)})
        case Call(operation="pow", operands=(one, other)) if written_number(other) in EXPONENTS:
            found: Powers | None = {0: 1.0}
            for _ in range(int(written_number(other) or 0)):
                found = _times(found, _powers(one, of))
            return found
        case _:
            return None


def _added(one: Powers | None, other: Powers | None, sign: int) -> Powers | None:
    if one is None or other is None:
        return None
    powers = dict.fromkeys((*one, *other))
    return {power: one.get(power, 0) + sign * other.get(power, 0) for power in powers}


def _times(one: Powers | None, other: Powers | None) -> Powers | None:
    if one is None or other is None:
        return None
    found = dict[int, float]()
    for power, factor in one.items():
        for more, by in other.items():
            found[power + more] = found.get(power + more, 0.0) + factor * by
    return found
