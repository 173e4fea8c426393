"""Holds the state of one kernel while its instructions are being written.

`lower` makes a `Building` for each kernel. Whatever writes instructions asks it for parameters, for
names, and for the register tiles that are visible in the open blocks.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.bound_widths import LARGE
from dtpoly.ir.kernel import Flag, GivenScalar, Pointer, Step
from dtpoly.ir.kinds import Element, Named, ValueKind
from dtpoly.ir.tile_values import Axes
from dtpoly.poly.loops import Bound, Chosen, Combined, Compared, Condition, OneOfWays
from dtpoly.poly.model import Model
from dtpoly.poly.tiles import StatementTiles

from .elements import ElementKinds
from .python_names import fresh, plain
from .scopes import Scopes
from .storage import Storage
from .widths import is_far, is_large


class NotVisible(Exception):
    """A register tile is needed in a block where it cannot be seen."""

    def __init__(self, array: str) -> None:
        super().__init__(array)
        self.array = array


class Unsupported(Exception):
    """Raised for a legal schedule that no code is generated for; its text says why."""


@dataclass(frozen=True, slots=True)
class Held:
    """A register tile: its variable, and which dims of its array its axes are.

    An accumulator may still have axes of labels that are reduced. `index` is its second tile.
    One of a matrix product may have labels that share an axis: then `counts` are their lanes. One
    of lists has a last axis, whose lanes are `places`.
    """

    name: str
    labels: tuple[str, ...]
    index: str | None = None
    counts: tuple[tuple[int | str, ...], ...] = ()
    places: str | None = None


@dataclass(slots=True)
class Building:
    """The state of a kernel that is being made."""

    model: Model
    tiles: Mapping[str, StatementTiles]
    storage: Storage
    elements: ElementKinds
    scopes: Scopes
    precision: str | None
    variables: dict[str, str] = field(default_factory=dict[str, str])
    pointers: dict[str, Pointer] = field(default_factory=dict[str, Pointer])
    scalars: dict[str, tuple[str, Element]] = field(default_factory=dict[str, tuple[str, Element]])
    shapes: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    counts: dict[str, str] = field(default_factory=dict[str, str])
    flags: dict[tuple[str, int], Flag] = field(default_factory=dict[tuple[str, int], Flag])
    passed: dict[str, ValueKind | None] = field(default_factory=dict[str, ValueKind | None])
    held: list[dict[str, Held]] = field(default_factory=lambda: [{}])
    lanes: dict[str, int | str] = field(default_factory=dict[str, int | str])  # and how many
    units: dict[str, int] = field(default_factory=dict[str, int])  # what variables count in
    whole: Mapping[tuple[str, int], tuple[str, ...]] = field(  # `plain_axes`
        default_factory=dict[tuple[str, int], tuple[str, ...]]
    )
    is_swapped: bool = False  # rows of products are columns while they are summed
    # Funcs whose sums go on with the result so far of another reduction.
    running: frozenset[str] = frozenset()

    def size(self, label: str) -> str:
        """Return the variable of a label's size."""
        return self.variables[self.model.size_of[label]]

    def renamed(self, value: Affine) -> Affine:
        """Rename an expression over sizes, axes and iterators to the kernel's variables."""
        return value.substitute({name: self._number(name) for name in value.labels})

    def number_of(self, label: str) -> Affine:
        """Return the size of a label: its variable, or the number that the file says."""
        return self._number(self.model.size_of[label])

    def _number(self, name: str) -> Affine:
        fixed = self.model.fixed.get(name)
        return Affine(((self.variables[name], 1),)) if fixed is None else Affine((), fixed)

    def bound(self, value: Bound) -> Bound:
        """Rename a bound as `renamed` does. What 32 bits might not hold is computed in 64."""
        match value:
            case Affine():
                renamed = self.renamed(value)
                return Combined(LARGE, (renamed,)) if is_large(renamed, self.units) else renamed
            case Combined("*", (Affine(terms=()) as factor, Combined() as other)) if not (
                _is_within(factor.constant, other)
            ):
                return Combined("*", (factor, Combined(LARGE, (self.bound(other),))))
            case Combined("+", (one, two)) if _may_grow(one) and _may_grow(two):
                return Combined("+", (Combined(LARGE, (self.bound(one),)), self.bound(two)))
            case Combined("+" | "-" as operation, (one, two)) if _is_far(one) or _is_far(two):
                if isinstance(one, Affine) and not one.terms:
                    return Combined(operation, (one, Combined(LARGE, (self.bound(two),))))
                return Combined(operation, (Combined(LARGE, (self.bound(one),)), self.bound(two)))
            case Combined(operation=operation, operands=operands):
                return Combined(operation, tuple(map(self.bound, operands)))
            case Chosen(left=left, right=right):
                conditions = tuple(map(self.condition, value.conditions))
                return Chosen(conditions, self.bound(left), self.bound(right))

    def condition(self, value: Condition) -> Condition:
        """Rename a condition in the same way."""
        match value:
            case Compared(left=left, right=right):
                return replace(value, left=self.bound(left), right=self.bound(right))
            case OneOfWays(ways=ways):
                return OneOfWays(tuple(tuple(map(self.condition, way)) for way in ways))

    def pointer(self, tensor: str, rank: int, *, written: bool = False) -> str:
        """Return the variable of the tensor parameter for an input or an array."""
        is_scratch = tensor in self.storage.scratch
        known = self.pointers.get(tensor)
        if known is None:
            wish = f"{plain(tensor)}_scratch" if is_scratch else plain(tensor)
            taken = (p.variable for p in self.pointers.values())
            known = Pointer(tensor, fresh(wish, taken), rank, is_scratch)
            self.pointers[tensor] = known
        if written and not known.is_written:
            known = Pointer(tensor, known.variable, rank, is_scratch, is_written=True)
            self.pointers[tensor] = known
        return known.variable

    def count(self, label: str) -> str:
        """Return the compile-time number of lanes that holds a whole label.

        Of the parts of a label there are never more than of its indices.
        """
        part = self.model.parts.get(label)
        size = self.model.size_of[part.of if part else label]
        name = next((n for n, s in self.counts.items() if s == self.variables[size]), None)
        if name is None:
            name = fresh(f"{size.removeprefix('N_')}_lanes", self._taken())
            self.scopes.open[0].names.add(name)
            self.counts[name] = self.variables[size]
        return name

    def flag(self, size: str, multiple: int) -> str:
        """Return the flag under which a size is a multiple, or as large as its lanes (0).

        There is one for all sizes of a kernel, so that it is compiled for two cases and no more.
        """
        key = (size, multiple)
        if key not in self.flags:
            known = (flag.name for flag in self.flags.values())
            name = next(known, None) or fresh("even", self._taken())
            self.scopes.open[0].names.add(name)
            self.flags[key] = Flag(name, self.variables[size], multiple)
        return self.flags[key].name

    def scalar(self, name: str, element: Element) -> str:
        """Return the parameter of a scalar input."""
        if name not in self.scalars:
            variable = fresh(name, self._taken())
            self.scopes.open[0].names.add(variable)
            self.scopes.open[0].head.append(Step(GivenScalar(variable, element), ""))
            self.scalars[name] = (variable, element)
        return self.scalars[name][0]

    def shape(self, tensor: str, axis: int) -> str:
        """Return the parameter of a tensor's extent, where no label's size says it."""
        key = (tensor, axis)
        if key not in self.shapes:
            name = fresh(f"{plain(tensor)}_shape_{axis}", self._taken())
            self.scopes.open[0].names.add(name)
            self.shapes[key] = name
        return self.shapes[key]

    def passing(self, element: Element, kind: ValueKind | None = None) -> Element:
        """Return a type that is used: the runtime passes it if the caller decides it."""
        if isinstance(element, Named):
            self.passed[element.name] = kind
            self.scopes.open[0].names.add(element.name)
        return element

    def find_held(self, array: str) -> Held:
        """Return the register tile of an array; it must be visible."""
        for block in reversed(self.held):
            if array in block:
                return block[array]
        raise NotVisible(array)

    def axes(self, value: Affine, order: Axes) -> Axes:
        """Return the lanes that an index varies along, in an order given."""
        return tuple(name for name in order if name in value.labels and name in self.lanes)

    def lane_count(self, name: str) -> int | str:
        """Return the number of lanes that a lane variable has."""
        return self.lanes[name]

    def tile_name(self, wish: str, axes: Axes, element: Element | None) -> str:
        """Return a name for a tile along some axes."""
        return self.scopes.name(wish, (tuple(map(self.lane_count, axes)), element))

    def _taken(self) -> set[str]:
        """Names that are in use here, or were in a block inside.

        Parameters are visible in all of them.
        """
        return {name for scope in self.scopes.open for name in (*scope.names, *scope.inner)}


def _is_far(value: Bound) -> bool:
    return isinstance(value, Affine) and is_far(value)


def _may_grow(value: Bound) -> bool:
    """Return whether a bound may be more than some number."""
    match value:
        case Affine():
            return any(c > 0 for _, c in value.terms)
        case Combined("-", (Affine(terms=()), Combined("%"))):
            return False
        case _:
            return True


def _is_within(factor: int, value: Combined) -> bool:
    """Return whether a product is at most what the other factor was divided from."""
    match value:
        case Combined("//", (_, Affine(terms=(), constant=divisor))):
            return abs(factor) <= divisor
        case _:
            return False
