"""Computes what each kernel of a schedule reads and writes in memory, at given sizes and dtypes.

The cost model starts from this.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import TypeVar

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Affine, Dot, data_of, free_labels, reads
from dtpoly.algorithm.label_sizes import Sizes, input_shapes
from dtpoly.codegen.elements import ElementKinds, elements_of
from dtpoly.explore.accesses.joined_loops import joined
from dtpoly.explore.accesses.reached_indices import Way
from dtpoly.explore.accesses.sharing import waits_of, without_repeats
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import Key, StatementWalk, extents_of, steps_of, walk_of
from dtpoly.explore.accesses.told_rows import with_told_rows
from dtpoly.frozen import dataclass
from dtpoly.generate import outputs, results_of
from dtpoly.ir.kinds import REAL, Named, widest
from dtpoly.plan.launch import Launch
from dtpoly.poly.axes import Axis, Path, finest, several
from dtpoly.poly.model import Model, Role, Statement, by_name
from dtpoly.poly.passing import in_memory
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, launch_of, paths
from dtpoly.targets.parameter_types import BYTES, promoted

_T = TypeVar("_T")
SMALLEST = 16  # a matrix unit sums over at least this many, as in codegen


@dataclass(frozen=True)
class CostedKernel:
    """A kernel with everything in it that has a cost."""

    node: Kernel
    walks: tuple[StatementWalk, ...]
    streams: tuple[AccessStream, ...]
    operand_dtypes: Mapping[str, DType]  # of the operands of products, by statement
    in_memory: frozenset[str]

    @cached_property
    def launch(self) -> Launch:
        """Return its launch, as the directives that edit it have it: once for all that ask."""
        return launch_of(self.node)

    @property
    def grid(self) -> tuple[Axis, ...]:
        """Return the axes of the grid, with groups, outermost first."""
        return several(self.node.grid)


@dataclass(frozen=True)
class CallTypes:
    """The dtypes of a call."""

    elements: ElementKinds
    given: DType
    real: DType

    def stored(self, name: str) -> DType:
        """Return the dtype of a tensor, or of a Func that the caller or another kernel sees."""
        return promoted(self.elements.kinds[name], self.given)

    def computed(self, name: str) -> DType:
        """Return the dtype in which the values of an array are computed."""
        element = self.elements.of(name)
        if isinstance(element, Named):
            assert element == REAL
            return self.real
        return element


def types_of(state: State, dtype: DType) -> CallTypes:
    """Return the dtypes of a call whose inputs have this dtype, unless they declare another one."""
    program = state.program
    declared = {tensor.dtype or dtype for tensor in program.tensors}
    is_wide = widest(program) is DType.F64 or DType.F64 in declared
    real = DType.F64 if is_wide else DType.F32
    return CallTypes(elements_of(program, state.model), dtype, real)


Shapes = Mapping[str, tuple[int, ...]]  # of the tensors that a Program is given
# The axes of a tensor in the order in which they lie in memory, outermost first; those that are not
# named lie as they are written.
Orders = Mapping[str, tuple[int, ...]]
AS_WRITTEN: Orders = MappingProxyType({})


def in_memory_order(one: tuple[_T, ...], order: Sequence[int] | None) -> tuple[_T, ...]:
    """Return what a tensor has for each axis, in the order of memory."""
    return one if order is None else tuple(one[axis] for axis in order)


def launched(
    state: State,
    sizes: Sizes,
    dtype: DType,
    shapes: Shapes | None = None,
    orders: Orders = AS_WRITTEN,
) -> tuple[CostedKernel, ...]:
    """Describe each kernel of a state with everything that it moves, at the sizes of all labels.

    Whoever asks for many schedules of one Program passes the shapes of its inputs, which are the
    same for all of them.
    """
    model, types = state.model, types_of(state, dtype)
    extents = extents_of(model, sizes)
    known, ways = by_name(model), paths(state.kernels)
    by_path = {way.statement: way for way in ways}
    passing = frozenset(in_memory(model, by_path))
    shapes = input_shapes(state.sized, sizes) if shapes is None else shapes
    home = _homes(model, by_path)
    shared = {
        read.array
        for way in ways
        for read in known[way.statement].reads
        if way.kernel not in home.get(read.array, {way.kernel})
    }
    returned = results_of(state.program, outputs(state.program))
    asked = frozenset[str]().union(*returned.values())
    seen = asked | shared
    waits = waits_of(model)
    shared_ways: dict[Key, Way] = {}
    found: list[CostedKernel] = []
    for number, node in enumerate(state.kernels):
        own = [way for way in ways if way.kernel == number]
        each = [walk_of(known[way.statement], way, extents, shared_ways) for way in own]
        mine = joined(each, node)
        places = (shapes, orders, passing, seen, asked, home)
        memory = TensorMemory(model, types, extents, *places, number)
        every = [one for walk in mine for one in _streams(memory, walk)]
        streams = with_told_rows(model, launch_of(node), every)
        products = {
            walk.statement.name: _operand_dtype(types, walk.statement, node)
            for walk in mine
            if is_product(walk)
        }
        found.append(CostedKernel(node, mine, without_repeats(streams, waits), products, passing))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TensorMemory:
    """The tensors in memory, as one kernel sees them."""

    model: Model
    types: CallTypes
    extents: Mapping[str, int]
    shapes: Shapes
    orders: Orders
    passing: frozenset[str]  # the arrays that pass through memory inside a kernel
    seen: frozenset[str]  # the arrays that the caller or another kernel sees
    returned: frozenset[str]  # those that the caller sees
    home: Mapping[str, set[int]]  # from an array to the kernels that write it
    kernel: int

    def is_loaded(self, array: str) -> bool:
        """True if a reader in this kernel loads the array; otherwise the array is in registers."""
        return self.kernel not in self.home.get(array, set[int]()) or array in self.passing

    def _is_pitched(self, name: str) -> bool:
        """Return whether an array is a Func that kernels pass on; partial results have no pitch."""
        array = self.model.arrays.get(name)
        is_func = array is not None and array.func == name
        return is_func and name in self.seen and name not in self.returned

    def stream(
        self,
        name: str,
        at: tuple[Affine, ...],
        walk: StatementWalk,
        is_store: bool,
        is_operand: bool,
    ) -> AccessStream:
        """Return the load or store of an array at some indices."""
        array = self.model.arrays.get(name)
        if array is None:
            order = self.orders.get(name)
            dtype, shape = self.types.stored(name), in_memory_order(self.shapes[name], order)
            at = in_memory_order(at, order)
        else:
            is_func = array.func == name and name in self.seen
            dtype = self.types.stored(name) if is_func else self.types.computed(name)
            shape = tuple(self.extents[dim] for dim in array.dims)
        place = self.model.places.get(name) if is_store else None
        if place is not None:  # it is stored in a tensor, at a place that may be data
            order, begun = self.orders.get(place.tensor), self.model.arrays.get(place.tensor)
            whole = tuple(self.extents[dim] for dim in begun.dims) if begun else ()
            shape = in_memory_order(whole if begun else self.shapes[place.tensor], order)
            at = in_memory_order(place.indices, order)
        is_scratch = array is not None and name not in self.seen
        return AccessStream(
            array=name,
            is_store=is_store,
            indices=at,
            walk=walk,
            size=BYTES[dtype],
            shape=shape,
            is_operand=is_operand,
            is_scratch=is_scratch,
            is_atomic=is_store and (walk.statement.is_atomic or name in self.model.added),
            is_aligned=self._is_pitched(name),
        )


def _homes(model: Model, by_path: Mapping[str, Path]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for statement in model.statements:
        if statement.name in by_path:
            kernel = by_path[statement.name].kernel
            found.setdefault(statement.writes.array, set()).add(kernel)
    return found


def _streams(memory: TensorMemory, walk: StatementWalk) -> Iterator[AccessStream]:
    statement = walk.statement
    product = is_product(walk)
    for array, at in dict.fromkeys(_reads(statement)):
        if memory.is_loaded(array):
            yield memory.stream(array, at, walk, False, product)
    array = statement.writes.array
    is_kept = array in memory.passing or statement.is_atomic
    is_told = array in memory.seen and statement.role in (Role.VALUE, Role.STORE)
    if is_kept or is_told:
        yield memory.stream(array, statement.writes.indices, walk, True, False)
        place = memory.model.places.get(array)
        words = () if place is None else data_of(place)
        for read in dict.fromkeys(one for word in words for one in reads(word)):
            yield memory.stream(read.tensor, read.indices, walk, False, False)


def _reads(statement: Statement) -> Iterator[tuple[str, tuple[Affine, ...]]]:
    """Yield the arrays and inputs that a statement reads, with the indices."""
    for access in statement.reads:
        yield access.array, access.indices
    if statement.body is not None:
        for read in reads(statement.body):
            yield read.tensor, read.indices


def is_product(walk: StatementWalk) -> bool:
    """True if a step multiplies two tiles that are matrices, as codegen decides it."""
    body = walk.statement.body
    if walk.statement.role is not Role.UPDATE or not isinstance(body, Dot):
        return False
    lanes = {axis.index.plain for axis in several(walk.path.lanes)}
    left, right = ({x for x in free_labels(e) if x in lanes} for e in (body.left, body.right))
    both = left & right
    reduced = {label for label in body.labels if label in lanes}
    steps = 1
    for label in reduced:
        steps *= max(steps_of(walk, label), SMALLEST if _is_whole(walk, label) else 1)
    return bool(reduced and reduced <= both and steps >= SMALLEST and left - both and right - both)


def _is_whole(walk: StatementWalk, label: str) -> bool:
    """True if one tile holds all of a label, whatever its size.

    Such a tile has at least 16 lanes.
    """
    return any(a.index.plain == label and a.extent is None for a in several(walk.path.lanes))


def _operand_dtype(types: CallTypes, statement: Statement, node: Kernel) -> DType:
    """Return the dtype in which the operands of a product meet."""
    assert isinstance(statement.body, Dot)
    body = statement.body
    kinds = [types.elements.kind(body.left), types.elements.kind(body.right)]
    dtypes = [promoted(kind, types.given) for kind in kinds]
    known = [dtype for dtype in dtypes if is_float(dtype)]
    return min(known, key=BYTES.__getitem__) if known else dtypes[0]


def all_programs(kernel: "CostedKernel", extents: Mapping[str, int]) -> int:
    """Return how many blocks the grid of a kernel has."""
    return prod(
        max(-(-extents[axis.index.plain or axis.label] // (axis.step or 1)), 0)
        for axis in several(finest(kernel.node.grid))
    )
