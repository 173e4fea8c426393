"""Follows how names of a kernel move when results move that they are computed from."""

from collections.abc import Iterable, Mapping
from dataclasses import field

from dtpoly.algorithm.motion import STILL, Motion
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    Fill,
    Instruction,
    Let,
    Load,
    Product,
    Reshaped,
    Step,
    Store,
)
from dtpoly.ir.kernel_text import show_value
from dtpoly.ir.parts import assigned_by, steps_inside, values
from dtpoly.ir.tile_values import Value
from dtpoly.ir.tiled import flat
from dtpoly.ir.value_motion import TangledError, motion

from .building import Unsupported


class CannotJoinError(Exception):
    """Two loops cannot become one: the reason, in words.

    `part` is the value in the kernel that the reason is about, if there is one, and `way` says what
    could be written instead.
    """

    is_of_mean = False  # whether it is about deviations from a mean

    def __init__(self, reason: str, part: str = "", way: str = "") -> None:
        super().__init__(f"{reason}: {part}" if part else reason)
        self.reason = reason
        self.part = part
        self.way = way


class NotOnePassError(Unsupported):
    """A reduction cannot be computed in the loop of a Func that depends on it, for a reason."""

    def __init__(self, func: str, reader: str, why: CannotJoinError) -> None:
        super().__init__(str(why))
        self.func = func
        self.reader = reader
        self.why = why


@dataclass(slots=True)
class Moves:
    """How each name moves, as far as the steps that were followed say."""

    known: dict[str, Motion] = field(default_factory=dict[str, Motion])

    def of(self, name: str) -> Motion:
        """Return how a variable moves."""
        return self.known.get(name, STILL)

    def follow(self, body: Iterable[Step]) -> None:
        """Take in what some steps set. Raises CannotJoinError where no factor and no sum does."""
        for step in flat(tuple(body)):
            one = step.instruction
            try:
                self._take(one)
            except TangledError as error:
                raise CannotJoinError(MIXED, show_value(error.value)) from error
            inner = getattr(one, "body", None)
            if inner is not None:
                self.follow(inner)

    def _take(self, one: Instruction) -> None:
        match one:
            case Let(name=name, value=value) | Reshaped(name=name, value=value):
                self.known[name] = motion(value, self.of)
            case Fill(name=name):
                self.known.pop(name, None)
            case Load(name=name):
                if not all(motion(index, self.of).is_still for index in values(one)):
                    raise CannotJoinError("an element is read at an index that depends on it")
                self.known.pop(name, None)
            case Accumulate(name=name, reduction=reduction, value=value):
                self._add(name, motion(value, self.of), reduction, value)
            case Product(name=name, left=left, right=right):
                rows, columns = motion(left, self.of), motion(right, self.of)
                if not columns.is_still:
                    rows, columns = columns, rows
                if not columns.is_still:
                    raise TangledError(right)
                self._add(name, rows, "rsum", left)
            case Collapse(name=name, source=source, reduction=reduction):
                found = self.of(source)
                if not found.is_still:
                    _check(found, reduction, name)
                self.known[name] = found
            case Store():
                for value in values(one):
                    if not motion(value, self.of).is_still:
                        raise CannotJoinError(f"'{one.tensor}' is stored, and {NOT_GONE}")
            case _:
                moving = [v for v in values(one) if not motion(v, self.of).is_still]
                if moving or any(not self.of(name).is_still for name in assigned_by(one)):
                    raise CannotJoinError("an index of its result is kept")

    def _set(self, name: str, found: Motion) -> None:
        if self.known.get(name, found) != found:
            raise CannotJoinError(f"'{name}' depends on it in two ways")
        self.known[name] = found

    def _add(self, name: str, found: Motion, reduction: str, value: Value) -> None:
        if found.is_still:
            if reduction == "rprod":
                return  # a factor that does not move changes no motion
            if not self.of(name).is_still:
                raise CannotJoinError(f"'{name}' depends on it in two ways")
            self.known.setdefault(name, STILL)
            return
        _check(found, reduction, name)
        self._set(name, found)


MIXED = "no factor and no sum brings this up to date when it changes"
UNLIKE = "their loops do not go over the same indices in the same tiles"
SAME_TILES = "give both the same tiles of the label, as in {tile}(y:16) without another one"
BETWEEN = "between the loops, something else is computed from its result"
LOOP_BETWEEN = "a loop stands between the two, and must stay there: that of {}"
JOIN_ALL = "bring '{0}' into the same loop, too: {0}.{{join}}(...)"
OF_ALL = "a mean is a sum of floats that is divided by the size of its label: / len(y)"
INSIDE = "compute it of each element, inside of the reduction, as in rmax(2 * A[x, y], y)"
NO_BOUND = "exponentials may be infinite: exponents subtract a maximum, and add a minimum"
TURNED = "turn the exponent's sign, or take the other one of rmax and rmin"
NOT_GONE = "its value so far does not cancel there"


def _check(found: Motion, reduction: str, name: str) -> None:
    """Refuse a reduction through which a factor or a sum does not pass."""
    passing = ("rsum",) if found.is_factor else ("rmax", "rmin")
    if reduction not in passing:
        how = "multiplies" if found.is_factor else "is added to"
        what = f"what {how} the operands of this {reduction} does not pass through it"
        raise CannotJoinError(what, name)


def computed_between(step: Step, first: tuple[Step, ...]) -> CannotJoinError:
    """Return the reason why a step between the loops keeps them apart."""
    sums = [one.instruction for one in steps_inside(first)]
    is_sum = any(isinstance(one, Accumulate) and one.reduction == "rsum" for one in sums)
    loops = sorted({_reduced_in(one) for one in steps_inside((step,))} - {""})
    if loops:
        what = ", ".join(f"'{one}'" for one in loops)
        return CannotJoinError(LOOP_BETWEEN.format(what), way=JOIN_ALL.format(loops[0]))
    what = ", ".join(map(show_value, values(step.instruction))) or "something else"
    return CannotJoinError(f"{BETWEEN}: {what}", way=OF_ALL if is_sum else INSIDE)


def _reduced_in(step: Step) -> str:
    """Return the Func that a step of a loop reduces; nothing if it reduces none."""
    func, _, what = step.origin.partition("@")[0].partition(".")
    is_update = isinstance(step.instruction, Accumulate | Product) and what.endswith("update")
    return func if is_update else ""


def unbounded() -> CannotJoinError:
    """Return the reason why a sum is refused whose first factor would be infinite."""
    return CannotJoinError(NO_BOUND, way=TURNED)


def moves_of(frames: Mapping[str, Motion], parts: Iterable[Step]) -> Moves:
    """Return how the names move that a loop sets, from how its frames move."""
    moves = Moves({**frames})
    for part in parts:
        moves.follow((part,))
    return moves
