"""Puts schedules into classes, so that all schedules of one class have one verdict.

Why that is so is the lemma of docs/explore.md. In short: of the numbers along one label, the
verdict sees only which loops have just one iteration, and which tiles coincide.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

from dtpoly.algorithm.expressions import ProgramId, Read, walk
from dtpoly.algorithm.program import Program
from dtpoly.directives.block import Block
from dtpoly.directives.map import Map
from dtpoly.directives.num_stages import NumStages
from dtpoly.directives.num_warps import NumWarps
from dtpoly.directives.persistent import Persistent
from dtpoly.directives.precision import Precision
from dtpoly.directives.split import Split
from dtpoly.directives.tensorize import Tensorize
from dtpoly.directives.unroll import Unroll
from dtpoly.frozen import dataclass
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.primitives import PRIMITIVES
from dtpoly.schedule.values import Divided, Sized, label_of

# A number along a label: what it is (such as a block), and the number.
Number = tuple[str, int]
Numbers = dict[tuple[str, str], list[Number]]


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
    are, and where a value passes through memory.
    """

    key: Hashable
    runs_ahead: bool = False


def class_of(primitives: Sequence[Primitive], *, aligned: bool) -> Class:
    """Find the class of an algorithm under these primitives.

    If the algorithm is not aligned, or if the lemma does not speak of some primitive, the class is
    given by all the primitives as they are.
    """
    is_known = aligned and all(type(one) in PRIMITIVES for one in primitives)
    if not is_known or any(isinstance(one, Split) for one in primitives):
        return Class(tuple(primitives))
    ahead = [one.stages > 1 for one in primitives if isinstance(one, NumStages)]
    skeleton: list[Hashable] = []
    numbers: Numbers = {}
    once: set[tuple[str, str]] = set()
    for one in primitives:
        if isinstance(one, Block):
            skeleton.extend(_noted(one, one.blocks, numbers))
        elif isinstance(one, Tensorize):
            skeleton.extend(_noted(one, one.tiles, numbers))
        elif (one.func, one.name) in once:
            # Two such directives on one Func may contradict each other.
            return Class(tuple(primitives))
        else:
            skeleton.append(_without_numbers(one))
            once |= {(one.func, one.name)} if isinstance(one, _SAID_ONCE) else set()
    related = tuple((key, _relations(some)) for key, some in numbers.items())
    if len(ahead) > 1:
        skeleton.append(tuple(ahead))
    return Class((tuple(skeleton), related), ahead == [True])


_SAID_ONCE = (Map, NumStages, NumWarps, Persistent, Precision, Unroll)


def _without_numbers(one: Primitive) -> Hashable:
    """A primitive without the numbers and words that change no order."""
    match one:
        case NumStages() | NumWarps() | Persistent() | Precision():
            return one.func, one.name
        case Unroll(factors=factors):
            return one.func, one.name, tuple(item.label for item in factors)
        case Map(loops=loops):
            named = (item.new if isinstance(item, Divided) else None for item in loops)
            return one.func, one.name, tuple(map(label_of, loops)), tuple(named)
        case _:
            return one


def _noted(
    one: Block | Tensorize, items: Iterable[Sized | Divided], numbers: Numbers
) -> Iterable[Hashable]:
    """Yield each item without its number; the number is noted with those of the same label."""
    for item in items:
        producer = item.producer or "" if isinstance(item, Sized) else ""
        new = item.new if isinstance(item, Divided) else ""
        mine = numbers.setdefault((one.func, item.label), [])
        mine.append((f"{one.name} {producer}", item.size))
        if isinstance(one, Block):
            mine.append(("block, rounded up", 1 << (item.size - 1).bit_length()))
        yield one.func, one.name, item.label, producer, new


def _relations(numbers: Sequence[Number]) -> Hashable:
    """Say which numbers are 0 or 1, how any two compare, and whether one divides the other."""
    kinds = tuple((what, min(number, 2)) for what, number in numbers)
    pairs = tuple(
        ((one > two) - (one < two), _divides(one, two), _divides(two, one))
        for (_, one), (_, two) in combinations(numbers, 2)
    )
    return kinds, pairs


def _divides(one: int, two: int) -> bool:
    return one != 0 and two % one == 0
