"""Finds what a scheduled state computes more than once, and how often."""

from collections.abc import Iterator, Mapping
from math import inf

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, resolved
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.private_copies import Repetition, has_place, region, repetition
from dtpoly.schedule.counts import Factor, Share, SizeProduct, blocks_of, tiles_of
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths

# The size of every label where counts are compared.
TYPICAL = 1 << 12


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A Func, or reductions of the kernel's own Func, that is computed again in one kernel.

    `count` is how often each element is computed, at most; None if only some of them are, in no
    regular way.
    """

    func: str
    kernel: str
    is_reduction: bool
    count: SizeProduct | None

    @property
    def what(self) -> str:
        """Return the name of what is computed again."""
        return f"a reduction of '{self.func}'" if self.is_reduction else f"'{self.func}'"


def recomputed(state: State) -> Iterator[Recomputed]:
    """Yield everything that is computed again.

    For a Func, the statement counts that is so most often.
    """
    ways = {path.statement: path for path in paths(state.kernels)}
    known = by_name(state.model)
    for fusion in state.fusions:
        copies = [(known[name], ways[name]) for name in fusion.copies if name in ways]
        # A user's primitive may have taken away the loops that a copy is private to.
        whole = [(copy, path) for copy, path in copies if has_place(copy, path)]
        counts = [_times(copy, path, state.model) for copy, path in whole]
        again = [count for count in counts if count is None or not count.is_one]
        if again:
            most = max(again, key=lambda count: _typical(count, state.model))
            yield Recomputed(fusion.func, fusion.kernel, not fusion.label, most)


def _typical(count: SizeProduct | None, model: Model) -> float:
    """Estimate a count at typical sizes; one that is not known counts most."""
    value = None if count is None else count.at(dict.fromkeys(model.size_of, TYPICAL))
    return inf if value is None else value


def _times(copy: Statement, path: Path, model: Model) -> SizeProduct | None:
    """Return how often an instance is computed; None if that is irregular."""
    axes = path.named
    grid = {axis.name for axis in path.grid}
    factors: list[Factor] = []
    for names in _together(copy.copies, axes):
        match repetition(copy, names):
            case Repetition.NONE:
                pass
            case Repetition.ALL:
                for name in names:
                    count = blocks_of if name in grid else tiles_of
                    factors.append(count(axes[name], model))
            case Repetition.SOME:
                shares = [
                    Share(one.count, one.advance)
                    for one in region(copy, axes, model).needed
                    if one.count and one.advance and one.moves_with & set(names)
                ]
                if len(shares) != 1 or shares[0].constant <= 1:
                    return None
                factors += shares
    return SizeProduct(tuple(factors))


def _together(names: tuple[str, ...], axes: Mapping[str, Axis]) -> Iterator[tuple[str, ...]]:
    """Axes that walk one range: a block, and the loops that divide it."""
    left = list(names)
    while left:
        group = {left[0]}
        for name in left:  # outermost first, so that what divides comes after what is divided
            if group & set(resolved(axes[name].origin, axes).labels):
                group.add(name)
        yield tuple(name for name in left if name in group)
        left = [name for name in left if name not in group]
