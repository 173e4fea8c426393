"""Finds a number that divides all starts of a descriptor's blocks.

Only the last axis is looked at. A GPU takes any start there, but Triton's interpreter takes only
multiples of 16 bytes.
"""

from collections.abc import Mapping, Sequence
from math import gcd, prod

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.bound_widths import LARGE, WIDE
from dtpoly.ir.kernel import Described, ForLoop, Let, Load, LoopScalar, Store, TileKernel
from dtpoly.ir.parts import inside
from dtpoly.ir.tile_values import Converted, IndexValue
from dtpoly.poly.loops import Bound, Chosen, Combined

# For each variable all that it is set to: where it begins, and by how much it grows each round.
Settings = Mapping[str, Sequence[tuple[Bound, int]]]

ANY = Affine((), 1)  # of which any number is a multiple


def step_of_starts(kernel: TileKernel, described: Described) -> int:
    """Return the largest number that is known to divide all starts; 0 if these are 0."""
    settings = _settings(kernel)
    starts = (
        one.block.starts[-1]
        for one in inside(kernel.body)
        if isinstance(one, Load | Store) and one.block is not None
        if one.block.descriptor == described.name
    )
    return gcd(*(_step(settings, start, ()) for start in starts))


def _settings(kernel: TileKernel) -> Settings:
    """Collect what variables are set to, by whatever part of the kernel."""
    found: dict[str, list[tuple[Bound, int]]] = {}
    for axis in kernel.grid:
        if not axis.group:  # a group has no variable that says where it starts
            found.setdefault(axis.name, []).append((Affine(), axis.step // axis.unit))
    for one in inside(kernel.body):
        match one:
            case ForLoop(name=name, start=start, step=step):
                found.setdefault(name, []).append((start, step))
            case LoopScalar(name=name, value=bound):
                found.setdefault(name, []).append((bound, 0))
            case Let(name=name, value=Converted(value=IndexValue(index=index))):
                found.setdefault(name, []).append((index, 0))
            case Let(name=name):
                found.setdefault(name, []).append((ANY, 0))
            case _:
                pass
    return found


def _step(settings: Settings, value: Bound, asked: tuple[str, ...]) -> int:
    """Return the largest number that is known to divide a bound; `asked` says for what."""
    rest, by = _rest(settings, value, asked)
    parts = (
        factor * (_of_variable(settings, term, asked) if isinstance(term, str) else 1)
        for term, factor in rest.terms
    )
    return gcd(by, rest.constant, *parts)


def _rest(settings: Settings, value: Bound, asked: tuple[str, ...]) -> tuple[Affine, int]:
    """Split a bound into a rest and a number, of which it is a multiple but for that rest.

    For example, `x - x % 8` has the rest 0, and is a multiple of 8.
    """
    match value:
        case Affine():
            return value, 0
        case Combined(operation="+" | "-" as operation, operands=(left, right)):
            (one, by), (two, other) = (_rest(settings, x, asked) for x in (left, right))
            return (one + two if operation == "+" else one - two), gcd(by, other)
        case Combined(operation="%", operands=(left, right)):
            rest, by = _rest(settings, left, asked)
            return rest, gcd(by, _step(settings, right, asked))
        case Combined(operation=operation, operands=(one,)) if operation in (LARGE, WIDE):
            return _rest(settings, one, asked)
        case Combined(operation=operation, operands=operands):
            steps = [_step(settings, one, asked) for one in operands]
            many = prod(steps) if operation == "*" else gcd(*steps)
            return Affine(), many if operation in ("*", "min", "max") else 1
        case Chosen(left=left, right=right):
            return Affine(), gcd(_step(settings, left, asked), _step(settings, right, asked))


def _of_variable(settings: Settings, name: str, asked: tuple[str, ...]) -> int:
    """Do the same for a variable.

    One that nothing sets, such as a size, or that sets itself, gives 1.
    """
    if name not in settings or name in asked:
        return 1
    known = settings[name]
    return gcd(*(gcd(_step(settings, start, (*asked, name)), by) for start, by in known))
