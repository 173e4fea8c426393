"""Puts schedules into classes, so that all schedules of one class have one verdict.

Why that is so is the lemma of docs/explore.md. In short: of the numbers along one label, the
verdict sees only which loops have just one iteration, and which tiles coincide.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

from dtpoly.algorithm.expressions import Apply, Dot, Expr, ProgramId, Read, Reduce, walk
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.primitive import Primitive

# What a number along a label is, and the number.
_Related = tuple[Hashable, int]


def is_aligned(program: Program) -> bool:
    """Return whether every read of a Func has the Func's own labels, each in its place, as indices.

    Then a dependence says of each label by itself that two instances agree in it, or nothing. A
    range ties the instances of one label to those of another, and so does a mask.
    """
    funcs = {func.name: func for func in program.funcs}
    for func in program.funcs:
        for node in walk(func.body):
            if isinstance(node, ProgramId) or _may_have_range(node):
                return False
            if isinstance(node, Read) and node.tensor in funcs:
                labels = tuple(index.plain for index in node.indices)
                if node.padding is not None or labels != funcs[node.tensor].labels:
                    return False
    return True


def _may_have_range(node: Expr) -> bool:
    match node:
        case Reduce(operand=operand, when=when):
            return bool(when) or _is_choice(operand)
        case Dot(left=left, right=right, when=when):
            return bool(when) or (_is_choice(left) and _is_choice(right))
        case _:
            return False


def _is_choice(node: Expr) -> bool:
    return isinstance(node, Apply) and node.operation == "where"


@dataclass(frozen=True, slots=True)
class Class:
    """Everything that a verdict depends on, except whether the loads of one kernel run ahead.

    So two schedules of a class may differ in whether loads run ahead. Those in which they do are
    refused where the others are, and also where a value passes through memory. If the key says
    whether loads run ahead, then all schedules of the class agree in that.
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
    """Return whether loads run ahead, for each directive that decides it."""
    decided = ((one, one.ahead()) for one in primitives)
    return tuple(one == ahead for one, ahead in decided if ahead is not None)


def _by_label(known: Sequence[tuple[Primitive, Depends]]) -> dict[tuple[str, str], list[_Related]]:
    """Return the numbers of each Func along each label."""
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
