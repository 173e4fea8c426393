"""Puts schedules into classes, so that all schedules of one class have one verdict.

Why that is so is the lemma of docs/explore.md. In short: of the numbers along one label, the
verdict sees only which loops have just one iteration, and which tiles coincide.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

from dtpoly.algorithm.expressions import ProgramId, Read, walk
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.primitive import Primitive

# What a number along a label is, and the number.
_Related = tuple[Hashable, int]


def is_aligned(program: Program) -> bool:
    """Whether every read of a Func has the Func's own labels, each in its place, as indices.

    Then a dependence says of each label by itself that two instances agree in it, or nothing.
    """
    funcs = {func.name: func for func in program.funcs}
    for func in program.funcs:
        for node in walk(func.body):
            if isinstance(node, ProgramId):
                return False
            if isinstance(node, Read) and node.tensor in funcs:
                labels = tuple(index.plain for index in node.indices)
                if node.padding is not None or labels != funcs[node.tensor].labels:
                    return False
    return True


@dataclass(frozen=True, slots=True)
class Class:
    """All that a verdict can depend on, except whether the loads of one kernel run ahead.

    Among schedules that differ in that alone, those that run ahead are refused where the others
    are, and where a value passes through memory. Where the key says whether loads run ahead, all of
    the class do, or none.
    """

    key: Hashable
    runs_ahead: bool = False


def class_of(primitives: Sequence[Primitive], *, aligned: bool) -> Class:
    """Find the class of an algorithm under these primitives.

    If the algorithm is not aligned, or if a verdict may depend on all of some primitive, the class
    is given by all the primitives as they are.
    """
    ahead = runs_ahead(primitives)
    depends = [(one, one.depends()) for one in primitives] if aligned else []
    known = [(one, said) for one, said in depends if said is not None]
    once = [(one.func, one.name) for one, said in known if said.is_once]
    if len(known) < len(primitives) or len(set(once)) < len(once):
        return Class(tuple(primitives), any(ahead))
    skeleton: list[Hashable] = [part for _, said in known for part in said.skeleton]
    if len(ahead) > 1:
        skeleton.append(ahead)
    related = tuple((key, _relations(some)) for key, some in _by_label(known).items())
    return Class((tuple(skeleton), related), any(ahead))


def runs_ahead(primitives: Sequence[Primitive]) -> tuple[bool, ...]:
    """For each directive that decides whether loads run ahead, whether they do."""
    decided = ((one, one.ahead()) for one in primitives)
    return tuple(one == ahead for one, ahead in decided if ahead is not None)


def _by_label(known: Sequence[tuple[Primitive, Depends]]) -> dict[tuple[str, str], list[_Related]]:
    """The numbers of each Func along each label."""
    found: dict[tuple[str, str], list[_Related]] = {}
    for one, said in known:
        for number in said.numbers:
            found.setdefault((one.func, number.label), []).extend(_related(number))
    return found


def _related(number: Number) -> Iterator[_Related]:
    """Yield the number, and of a block also the power of two that a tile of all of it has."""
    yield (number.piece, number.producer), number.size
    if number.piece is Piece.BLOCK:
        yield "rounded up", 1 << (number.size - 1).bit_length()


def _relations(numbers: Sequence[_Related]) -> Hashable:
    """Say which numbers are 0 or 1, how any two compare, and whether one divides the other."""
    kinds = tuple((what, min(number, 2)) for what, number in numbers)
    pairs = tuple(
        ((one > two) - (one < two), _divides(one, two), _divides(two, one))
        for (_, one), (_, two) in combinations(numbers, 2)
    )
    return kinds, pairs


def _divides(one: int, two: int) -> bool:
    return one != 0 and two % one == 0
