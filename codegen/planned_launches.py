"""Plans launches: memory for kernels, how many programs they have, and what they are given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dtpoly.algorithm.expressions import Affine, division
from dtpoly.algorithm.program import reduced_labels
from dtpoly.ir.kernel import ForLoop, TileKernel
from dtpoly.ir.parts import inside as inside_of
from dtpoly.plan.formula import (
    Formula,
    FormulaCompared,
    FormulaExtent,
    FormulaName,
    FormulaNumber,
    FormulaOperation,
    Stride,
    Truth,
)
from dtpoly.plan.plan import PlannedDescriptor, PlannedLaunch, PlannedTensor, PlannedTile

from .axis_words import axis_words
from .building import Unsupported
from .formulas import lanes, number, one_of, product, times, total
from .plan_parts import LaunchedKernel, label_of
from .planned_tensors import Planning, stored, stored_in_scratch
from .specializing import most_bytes, multiplied
from .starts import step_of_starts
from .tile_limits import MOST, ElementCount, largest_tiles, too_many
from .widths import NEAR, is_far

# The size of the tile that is advised, where the one that was asked for is too large.
GOOD_TILE = 2**14


def memory_of(planning: Planning) -> Iterator[PlannedTensor]:
    """Yield the memory that kernels leave for later ones: each is the first to write some."""
    function = planning.function
    described = {d.tensor for one in function.launched for d in one.kernel.described}
    written = {*function.results, *function.program.starts}
    for one in function.launched:
        for pointer in one.kernel.tensors:
            array = pointer.name
            if pointer.is_written and not pointer.is_scratch and array not in written:
                written.add(array)
                shape = tuple(map(planning.extent, function.model.arrays[array].dims))
                is_pitched = function.is_pitched(array) and bool(shape)
                yield PlannedTensor(
                    planning.tensors[array],
                    shape,
                    stored(planning, array),
                    array in described or is_pitched,
                )


def planned_launches(planning: Planning) -> Iterator[PlannedLaunch]:
    """Return all launches in order. Two kernels that share a launch have one entry."""
    before: list[LaunchedKernel] = []
    for one in planning.function.launched:
        if planning.function.is_first(one):
            before.append(one)
        else:
            yield _launch(planning, one, [*before, one])
            before.clear()


def _launch(
    planning: Planning, one: LaunchedKernel, launched: Sequence[LaunchedKernel]
) -> PlannedLaunch:
    """Return one launch, of one kernel or of two."""
    kernel = one.kernel if one.pair is None else one.pair.kernel
    parts = tuple(each.kernel for each in launched)
    numbers = dict(_numbers(planning, kernel))
    counts = _counts(planning, kernel, parts)
    panel: Literal["", "first", "last"] = "first" if kernel.is_first_of_panel else ""
    return PlannedLaunch(
        kernel=f"{kernel.name}_kernel",
        func=one.func,
        programs=_programs(planning, parts[-1]) if parts[-1].grid or one.pair else None,
        before=None if one.pair is None else _programs(planning, parts[0]),
        axes=_axes(planning, kernel),
        scratch=tuple(_scratch(planning, kernel)),
        numbers=numbers,
        descriptors=tuple(_descriptors(planning, kernel)),
        lanes={name: lanes(planning.size_with(kernel, size)) for name, size in kernel.counts},
        flags=_flags(planning, kernel),
        types=tuple(name for name, _ in kernel.elements),
        fours=tuple(_fours(planning, kernel)),
        counts=counts,
        near=_near(planning, kernel, (*indices_of(planning), *counts)),
        tiles=tuple(tile for each in launched for tile in _tiles(planning, each)),
        num_warps=one.num_warps,
        num_stages=one.num_stages,
        turns=kernel.each,
        panel="last" if kernel.is_last_of_panel else panel,
        is_early=kernel.is_early,
        specialized=_specialized(kernel),
    )


def _programs(planning: Planning, kernel: TileKernel) -> tuple[Formula, ...]:
    """Return how many programs a kernel has, along each axis."""
    axes = (axis for axis in kernel.grid if not axis.group)
    return tuple(planning.blocks(kernel, axis.size, axis.step) for axis in axes)


def _axes(planning: Planning, kernel: TileKernel) -> dict[str, tuple[str, ...]]:
    words = axis_words(planning.function.whole, planning.function.model, kernel)
    names = (planning.tensors[tensor.name] for tensor in kernel.tensors)
    return dict(zip(names, map(tuple, words), strict=True))


def _scratch(planning: Planning, kernel: TileKernel) -> Iterator[PlannedTensor]:
    for pointer in kernel.tensors:
        if pointer.is_scratch:
            extents = planning.function.storage.scratch[pointer.name].extents
            shape = tuple(
                planning.extent(one.label) if one.count is None else number(one.count)
                for one in extents
            )
            dtype = stored_in_scratch(planning, pointer.name)
            yield PlannedTensor(planning.tensors[pointer.name], shape, dtype)


def _numbers(planning: Planning, kernel: TileKernel) -> Iterator[tuple[str, Formula]]:
    inputs = planning.function.names.inputs
    for name, variable, _ in kernel.scalars:
        yield variable, FormulaName(inputs[name])
    for param, variable in kernel.sizes:
        yield variable, planning.size(param)
    for name, axis, variable in kernel.shapes:
        yield variable, FormulaExtent(inputs[name], axis)


def _descriptors(planning: Planning, kernel: TileKernel) -> Iterator[PlannedDescriptor]:
    for one in kernel.described:
        step = step_of_starts(kernel, one)
        yield PlannedDescriptor(
            one.name,
            planning.tensors[one.tensor],
            one.block,
            one.axes,
            step if step % one.block[-1] else None,
        )


def _specialized(kernel: TileKernel) -> tuple[int, tuple[str, ...]] | None:
    """Give the bytes and the descriptors that decide whether some warps load for others."""
    if not kernel.own:
        return None
    sides = multiplied(kernel)
    ordered = sorted(kernel.described, key=lambda one: one.tensor not in sides)
    return most_bytes(kernel), tuple(one.name for one in ordered)


def _flags(planning: Planning, kernel: TileKernel) -> dict[str, Truth]:
    """Write the truths about sizes that Triton knows when it compiles."""
    told: dict[str, dict[FormulaCompared, None]] = {}
    for flag in kernel.flags:
        size = planning.size_with(kernel, flag.size)
        told.setdefault(flag.name, {})[_multiple(size, flag.multiple)] = None
    return {name: tuple(parts) for name, parts in told.items()}


def _multiple(size: Formula, of: int) -> FormulaCompared:
    """Return whether a size is a multiple; of 0: whether it fills its lanes."""
    if not of:
        return FormulaCompared("==", lanes(size), size)
    return FormulaCompared("==", FormulaOperation("%", size, FormulaNumber(of)), number(0))


def _fours(planning: Planning, kernel: TileKernel) -> Iterator[Formula]:
    for row in kernel.fours:
        if row.tensor:
            yield Stride(planning.tensors[row.tensor], row.axis)
        else:
            yield planning.size_with(kernel, row.variable)


# Numbers that must fit the type of offsets


def indices_of(planning: Planning) -> tuple[Formula, ...]:
    """Return how large indices may become: sizes, and what indices are computed from them."""
    function = planning.function
    found = dict.fromkeys(planning.size(param) for param in function.model.params)
    every = one_of("max", [*found]) if found else number(0)
    sizes = {label: planning.sizing.size(label) for label in planning.sizing.labels}
    for index in function.indices:
        # Lanes of a private copy go where its reader's go, and are masked there.
        reached = dict.fromkeys(sizes, every) if index.is_copied else sizes
        if (reach := _reach(reached, index.value)) is not None:
            found[reach] = None
    return tuple(found)


def _reach(sizes: Mapping[str, Formula], index: Affine) -> Formula | None:
    """Return a bound on what an index comes to, if it is more than that of a label."""
    if (
        not index.terms
        or index.data is not None
        or (index.shifted is not None and not is_far(index))
    ):
        return None
    parts = list(_parts(sizes, index))
    return total(parts) if parts else None


def _parts(sizes: Mapping[str, Formula], index: Affine) -> Iterator[Formula]:
    """Yield what adds up to at least what an index comes to; a quotient to what is divided."""
    for term, factor in index.terms:
        if not isinstance(term, str):
            yield from (times(abs(factor), part) for part in _parts(sizes, division(term).inner))
        elif term in sizes:
            yield times(abs(factor), sizes[term])
    if abs(index.constant) > NEAR:
        yield number(abs(index.constant))


def _counts(
    planning: Planning, kernel: TileKernel, parts: Sequence[TileKernel]
) -> tuple[Formula, ...]:
    """Return the numbers that kernels compute with, beside indices."""
    found: dict[Formula, None] = {}
    for part in parts:
        found.update(dict.fromkeys(_groups(planning, part)))
    for part in parts:
        found.update(dict.fromkeys(_rounds(planning, part)))
    inputs = planning.function.names.inputs
    found.update((FormulaExtent(inputs[name], axis), None) for name, axis, _ in kernel.shapes)
    known = indices_of(planning)
    return tuple(one for one in found if one not in known)


def _groups(planning: Planning, kernel: TileKernel) -> Iterator[Formula]:
    """Yield the number of programs of each full group.

    Kernels divide by that number, even if there are fewer programs in all. So it must fit the type
    of offsets, too.
    """
    for at, group in enumerate(kernel.grid):
        if not group.group:
            continue
        factors: list[Formula] = [number(group.group)]
        short = {axis.block: axis.group for axis in kernel.grid[:at] if axis.group}
        for axis in kernel.grid[at + 1 :]:
            if axis.group or axis.name == group.block:
                continue
            known = short.get(axis.name)
            blocks = planning.blocks(kernel, axis.size, axis.step)
            factors.append(number(known) if known else blocks)
        if not all(isinstance(one, FormulaNumber) for one in factors):
            yield product(factors)


def _rounds(planning: Planning, kernel: TileKernel) -> Iterator[Formula]:
    """Yield the number of rounds of each loop over several labels, and the products on the way."""
    for loop in inside_of(kernel.body):
        if isinstance(loop, ForLoop) and loop.factors:
            parts = [
                number(size) if isinstance(size, int) else planning.blocks(kernel, size, step)
                for size, step in loop.factors
            ]
            for end in range(2, len(parts) + 1):
                if not all(isinstance(one, FormulaNumber) for one in parts[:end]):
                    yield product(parts[:end])


def _near(planning: Planning, kernel: TileKernel, known: Sequence[Formula]) -> tuple[Formula, ...]:
    """Find sizes that a kernel is given and that are neither the largest nor an extent of a tensor.

    They, too, must not be just below 2**31: the end of a last tile would not fit 32 bits then.
    """
    function, labels = planning.function, planning.sizing.labels
    model = function.model
    looked_at = {*known} if len(known) == 1 else set[Formula]()
    for pointer in kernel.tensors:
        array, placed = model.arrays.get(pointer.name), model.places.get(pointer.name)
        # An array at places has the axes of an input, which may be shorter than its own.
        dims = () if array is None or placed is not None or pointer.is_scratch else array.dims
        looked_at.update(planning.sizing.size(dim) for dim in dims if dim in labels)
        tensor = pointer.name if placed is None else placed.tensor
        mine = (found[-1] for (name, _), found in function.whole.items() if name == tensor)
        looked_at.update(planning.sizing.size(label) for label in mine)
    given = (planning.sizing.size(label_of(function, param)) for param, _ in kernel.sizes)
    return tuple(size for size in dict.fromkeys(given) if size not in looked_at)


# Tiles


def _tiles(planning: Planning, one: LaunchedKernel) -> Iterator[PlannedTile]:
    """Yield the largest tiles, where sizes decide how large they are. Raises Unsupported."""
    lanes_of = {
        name: lanes(planning.size_with(one.kernel, size)) for name, size in one.kernel.counts
    }
    for tile in largest_tiles(one.kernel):
        if tile.least > MOST:
            raise Unsupported(too_many(one.func, tile.least, is_least=bool(tile.counts)))
        if tile.counts:
            factors = [lanes_of[name] for name in tile.counts]
            first = [number(tile.number)] if tile.number > 1 else []
            yield PlannedTile(one.func, product([*first, *factors]), _advice(planning, one, tile))


def _advice(planning: Planning, one: LaunchedKernel, tile: ElementCount) -> str:
    """Return the directive that gives a tile of a good size."""
    function = planning.function
    room = max(GOOD_TILE // tile.number, 1).bit_length() - 1
    func = function.program.func(one.func)
    own = (*func.labels, *reduced_labels(func))
    sizes = dict(one.kernel.counts)
    labels: list[str] = []
    for name in tile.counts:
        param = next(param for param, size in one.kernel.sizes if size == sizes[name])
        alike = [v for v in own if function.model.size_of[v] == param and v not in labels]
        labels.append(alike[0] if alike else label_of(function, param))
    each = 1 << room // len(labels)
    return f"{func.name}.tensorize({', '.join(f'{label}:{each}' for label in labels)})"
