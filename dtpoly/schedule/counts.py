"""Counts programs, steps and lanes: as formulas in sizes, and as numbers at given sizes."""

from math import prod

from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, finest
from dtpoly.poly.model import Model


@dataclass(frozen=True, slots=True)
class TileCount:
    """The number of tiles of `step` indices of a label, or of a number: `ceil(m / 16)`."""

    of: "str | int | TileCount"
    step: int = 1

    @property
    def constant(self) -> int | None:
        """Return the number, if it is the same at all sizes."""
        return self.at({})

    def at(self, sizes: Sizes) -> int | None:
        """Return the number at some sizes; None if they lack a label of it."""
        match self.of:
            case TileCount() as tiles:
                whole = tiles.at(sizes)
            case str() as label:
                whole = sizes.get(label)
            case number:
                whole = number
        return None if whole is None else -(-whole // self.step)

    def __str__(self) -> str:
        if self.constant is not None:
            return str(self.constant)
        return str(self.of) if self.step == 1 else f"ceil({self.of} / {self.step})"


@dataclass(frozen=True, slots=True)
class PowerOfTwo:
    """A label's size, rounded up to a power of two: the lanes of one tile that holds all."""

    of: TileCount

    @property
    def constant(self) -> int | None:
        """Return the number, if it is the same at all sizes."""
        return self.at({})

    def at(self, sizes: Sizes) -> int | None:
        """Return the number at some sizes; None if they lack the label."""
        whole = self.of.at(sizes)
        return None if whole is None else 1 << max(whole - 1, 0).bit_length()

    def __str__(self) -> str:
        return str(self.constant) if self.constant is not None else f"pow2({self.of})"


@dataclass(frozen=True, slots=True)
class Share:
    """A ratio of indices: those that are computed to those that are needed, such as `6 / 4`."""

    computed: int
    needed: int

    @property
    def constant(self) -> float:
        """Return the number."""
        return self.computed / self.needed

    def at(self, sizes: Sizes) -> float:
        """Return the same at all sizes."""
        return self.constant

    def __str__(self) -> str:
        return f"{self.computed} / {self.needed}"


Factor = TileCount | PowerOfTwo | Share


@dataclass(frozen=True, slots=True)
class SizeProduct:
    """A product of numbers, some of which depend on sizes."""

    factors: tuple[Factor, ...] = ()

    @property
    def is_one(self) -> bool:
        """True if it is 1 at all sizes."""
        return all(factor.constant == 1 for factor in self.factors)

    def at(self, sizes: Sizes) -> float | None:
        """Return the number at some sizes; None if they lack a label of it."""
        values = [factor.at(sizes) for factor in self.factors]
        known = [value for value in values if value is not None]
        return prod(known) if len(known) == len(values) else None

    def __str__(self) -> str:
        parts = [factor for factor in self.factors if factor.constant != 1]
        if all(isinstance(part, TileCount | PowerOfTwo) and part.constant for part in parts):
            return str(prod(part.constant or 1 for part in parts))
        if len(parts) == 1:
            return str(parts[0])
        return " * ".join(f"({p})" if isinstance(p, Share) else str(p) for p in parts)


def tiles_of(axis: Axis, model: Model) -> TileCount:
    """Return how many steps an axis takes in one iteration of all that is around it, at most."""
    if axis.is_single or axis.step is None:
        return TileCount(1)
    if axis.extent is not None:
        return TileCount(-(-axis.extent // axis.step))
    return blocks_of(axis, model)


def blocks_of(axis: Axis, model: Model) -> TileCount:
    """Return how many tiles of an axis's step its whole label has."""
    label, step = axis.index.plain or axis.label, axis.step or 1
    part = model.parts.get(label)
    if part is None:
        return TileCount(label, step)
    return (
        TileCount(part.of, part.size)
        if step == 1
        else TileCount(TileCount(part.of, part.size), step)
    )


def program_blocks(grid: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Give the axes that tell programs apart, sorted by label: however programs are numbered."""
    return tuple(sorted(finest(grid), key=lambda axis: axis.label))


def show_number(number: float) -> str:
    """Return a count as a person writes it: `4`, `1.5`."""
    return f"{number:g}" if number < 1_000_000 and number % 1 else str(int(number))
