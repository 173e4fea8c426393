"""Writes the lines of a wrapper that allocate memory for a kernel and launch it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import reduced_labels
from dtpoly.ir.kernel import FOURS, SPECIALIZED, ForLoop, Pointer, TileKernel
from dtpoly.ir.kinds import Element, Named
from dtpoly.ir.parts import inside as inside_of

from .axis_words import axis_words
from .building import Unsupported
from .layout import call, inside, joined, tuple_of
from .limits import MOST, Elements, largest_tiles, too_many
from .specializing import most_bytes, multiplied
from .starts import step_of_starts
from .together import Together
from .type_text import TORCH, promoted
from .widths import is_far
from .wrapping import Launched, Locals, Wrapping, label_of, label_with, size_with

# The size of the tile that is advised, where the one that was asked for is too large.
GOOD_TILE = 2**14


def launch_lines(wrapping: Wrapping, own: Locals, one: Launched) -> Iterator[str]:
    """One kernel: grid, arguments.

    One that is launched with the next one has what it needs, and is launched there.
    """
    kernel = one.kernel
    if wrapping.is_first(one):
        return
    if one.pair is not None:
        yield from _pair(wrapping, own, one, one.pair)
        return
    yield from _descriptors(wrapping, own, kernel)
    if not kernel.grid:
        yield from _scratch(wrapping, own, kernel, "1", own.indent)
        yield from _call(wrapping, own, one, "(1,)", own.indent)
        return
    yield from _programs(wrapping, own, kernel, own.programs)
    yield f"if {own.programs}:"
    deeper = own.indent + 4
    yield from inside(list(_scratch(wrapping, own, kernel, own.programs, deeper)))
    yield from inside(list(_call(wrapping, own, one, _grid(own, one), deeper)))


def _grid(own: Locals, one: Launched) -> str:
    """Write the grid of a launch: how many programs it has."""
    kernel, arguments = one.kernel, f'"{one.func}", {own.programs}'
    if not kernel.each:
        return f"dt_grid({arguments})"
    arguments += f", {own.device}, {kernel.each}"
    if kernel.is_first_of_panel:
        return f"dt_turns_beside({arguments}, {own.panel})"
    if kernel.is_last_of_panel:
        return f"dt_turns_sparing({arguments}, {own.is_last})"
    return f"dt_turns({arguments})"


def _pair(wrapping: Wrapping, own: Locals, one: Launched, pair: Together) -> Iterator[str]:
    """One launch of two kernels: the programs of the first, then those of the second."""
    for kernel, name in zip(pair.parts, (own.before, own.after), strict=True):
        yield from _programs(wrapping, own, kernel, name)
    programs = f"{own.before} + {own.after}"
    yield f"if {programs}:"
    grid = f'dt_grid("{one.func}", {programs})'
    launched = replace(one, kernel=pair.kernel)
    yield from inside(list(_call(wrapping, own, launched, grid, own.indent + 4)))


def _programs(wrapping: Wrapping, own: Locals, kernel: TileKernel, name: str) -> Iterator[str]:
    """Write the statement that computes how many programs a kernel has."""
    blocks = [
        _blocks(size_with(wrapping, own, kernel, axis.size), axis.step)
        for axis in kernel.grid
        if not axis.group
    ]
    if len(blocks) > 1:
        blocks = [f"({one})" if " " in one else one for one in blocks]
    yield from joined(f"{name} =", "*", blocks or ["1"], indent=own.indent)


def _before(wrapping: Wrapping, one: Launched) -> Iterator[Launched]:
    """The kernels that are launched before this one. To compare them as values takes long."""
    return takewhile(lambda other: other is not one, wrapping.launched)


def memory_lines(wrapping: Wrapping, own: Locals, one: Launched) -> Iterator[str]:
    """Allocate the memory that this kernel is the first to write, and that later kernels read."""
    written: set[str] = set()
    for before in _before(wrapping, one):
        written |= {p.name for p in before.kernel.tensors if p.is_written}
    described = {tensor for _, tensor in own.descriptors}
    for pointer in one.kernel.tensors:
        array = pointer.name
        if pointer.is_scratch or not pointer.is_written or array in {*written, wrapping.func}:
            continue
        shape = tuple_of([_dim(wrapping, own, dim) for dim in wrapping.model.arrays[array].dims])
        dtype = _held(wrapping, own, array)
        if array in described or (wrapping.is_pitched(array) and shape != "()"):
            arguments = [shape, dtype, own.device]
            yield from call(f"{own.arrays[array]} = dt_rows", arguments)
        else:
            yield from _memory(own, array, shape, dtype, 4)


def _scratch(
    wrapping: Wrapping, own: Locals, kernel: TileKernel, programs: str, indent: int
) -> Iterator[str]:
    """Memory of which each program has a slice."""
    for pointer in kernel.tensors:
        if not pointer.is_scratch:
            continue
        extents = [
            str(extent.count) if extent.count is not None else _dim(wrapping, own, extent.label)
            for extent in wrapping.storage.scratch[pointer.name].extents
        ]
        dtype = _torch(wrapping.elements.in_scratch(pointer.name), own)
        yield from _memory(own, pointer.name, tuple_of([programs, *extents]), dtype, indent)


def _memory(own: Locals, array: str, shape: str, dtype: str, indent: int) -> list[str]:
    arguments = [shape, f"dtype={dtype}", f"device={own.device}"]
    return call(f"{own.arrays[array]} = torch.empty", arguments, indent=indent)


def lanes_lines(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """Compute how many lanes hold a whole size, and refuse a number that Triton does not allow.

    All kernels are looked at before the first one is launched, so that a call that is refused has
    launched nothing.
    """
    for one in wrapping.launched:
        yield from _lanes(wrapping, own, one)


def _lanes(wrapping: Wrapping, own: Locals, one: Launched) -> Iterator[str]:
    """The lanes of one kernel that those before it do not have."""
    kernel = one.kernel
    known = {
        label_with(wrapping, before.kernel, size)
        for before in _before(wrapping, one)
        for _, size in before.kernel.counts
    }
    lanes: dict[str, str] = {}  # the kernel's parameter -> the wrapper's variable
    for name, size in kernel.counts:
        label = label_with(wrapping, kernel, size)
        lanes[name] = own.lanes[label]
        if label not in known:
            yield f"{own.lanes[label]} = dt_lanes({own.sizes[label]})"
    for tile in largest_tiles(kernel):
        if tile.least > MOST:
            raise Unsupported(too_many(one.func, tile.least, is_least=bool(tile.counts)))
        if tile.counts:
            factors = [lanes[name] for name in tile.counts]
            number = " * ".join(([str(tile.number)] if tile.number > 1 else []) + factors)
            yield f"if {number} > {MOST}:"
            arguments = [f'"{one.func}"', number, f'"{_advice(wrapping, one, tile)}"']
            yield from inside(call("raise dt_too_large", arguments, indent=own.indent + 4))


def _descriptors(wrapping: Wrapping, own: Locals, kernel: TileKernel) -> Iterator[str]:
    """Make what the descriptors of tensors that are loaded in blocks are made of."""
    for described in kernel.described:
        pointer = next(p for p in kernel.tensors if p.name == described.tensor)
        name = own.descriptors[kernel.name, described.tensor]
        arguments = [_argument(wrapping, own, pointer), tuple_of(list(map(str, described.block)))]
        maker, step = "dt_blocks", step_of_starts(kernel, described)
        if step % described.block[-1]:  # a block has at least 16 bytes, or no descriptor
            maker, arguments = "dt_blocks_at", [*arguments, str(step)]
        if described.axes == tuple(range(len(described.axes))):
            yield from call(f"{name} = {maker}", arguments, indent=own.indent)
        else:
            blocks = f"{maker}({', '.join(arguments)})"
            axes = tuple_of(list(map(str, described.axes)))
            yield from call(f"{name} = dt_turned", [blocks, axes], indent=own.indent)


def _advice(wrapping: Wrapping, one: Launched, tile: Elements) -> str:
    """The directive that gives a tile of a good size."""
    room = max(GOOD_TILE // tile.number, 1).bit_length() - 1
    func = wrapping.program.func(one.func)
    own = (*func.labels, *reduced_labels(func))
    sizes = dict(one.kernel.counts)
    labels: list[str] = []
    for name in tile.counts:
        param = next(param for param, size in one.kernel.sizes if size == sizes[name])
        alike = [v for v in own if wrapping.model.size_of[v] == param and v not in labels]
        labels.append(alike[0] if alike else label_of(wrapping, param))
    each = 1 << room // len(labels)
    return f"{func.name}.tensorize({', '.join(f'{label}:{each}' for label in labels)})"


def _call(wrapping: Wrapping, own: Locals, one: Launched, grid: str, indent: int) -> Iterator[str]:
    kernel = one.kernel
    tensors = [_argument(wrapping, own, pointer) for pointer in kernel.tensors]
    arguments = [text for name in tensors for text in (name, f"*{name}.stride()")]
    arguments += [wrapping.names.inputs[name] for name, _, _ in kernel.scalars]
    arguments += [own.sizes[label_of(wrapping, param)] for param, _ in kernel.sizes]
    shapes = [f"{wrapping.names.inputs[one]}.shape[{axis}]" for one, axis, _ in kernel.shapes]
    arguments += shapes
    arguments += [own.before] if kernel.is_beside else []
    arguments += [own.panel] if kernel.is_first_of_panel else []
    arguments += [own.descriptors[kernel.name, one.tensor] for one in kernel.described]
    arguments += [
        f"{name}={own.lanes[label_with(wrapping, kernel, size)]}" for name, size in kernel.counts
    ]
    arguments += _flags(wrapping, own, kernel)
    arguments += [f"{name}={own.elements[name]}" for name, _ in kernel.elements]
    arguments += _fours(wrapping, own, kernel)
    indices = indices_of(wrapping, own)
    known = [own.largest] if is_named(wrapping, indices) else indices
    parts = (kernel,) if one.pair is None else one.pair.parts
    groups = [group for part in parts for group in _groups(wrapping, own, part)]
    rounds = [number for part in parts for number in _rounds(wrapping, own, part)]
    largest = _largest([*dict.fromkeys((*known, *groups, *rounds, *shapes))])
    others = _others(wrapping, own, kernel, largest)
    told = [f"sizes={tuple_of(others)}"] if others else []
    arguments.append(f"offset=dt_offset({', '.join([largest, *tensors, *told])})")
    if one.num_warps is not None:
        arguments.append(f"num_warps={one.num_warps}")
    if one.num_stages is not None:
        arguments.append(f"num_stages={one.num_stages}")
    if kernel.own:
        arguments.append(f"{SPECIALIZED}={_specialized(own, kernel)}")
    if kernel.is_early:
        arguments.append(f"**dt_early({own.device})")
    launch = wrapping.names.launches[kernel.name]
    yield from call(launch, [grid, *arguments], indent=indent)


def _specialized(own: Locals, kernel: TileKernel) -> str:
    """Write the test whether some warps load for others in this launch.

    That is so where all descriptors are there, and tensor cores can multiply the tensors.
    """
    sides = multiplied(kernel)
    described = sorted(kernel.described, key=lambda one: one.tensor not in sides)
    blocks = [own.descriptors[kernel.name, one.tensor] for one in described]
    return f"dt_specialized({', '.join((str(most_bytes(kernel)), *blocks))})"


def launcher_lines(wrapping: Wrapping, one: Launched) -> list[str]:
    """Write the statement that makes the launcher of a kernel.

    The launcher is told how long the axes of tensors are.
    """
    kernel = one.kernel if one.pair is None else one.pair.kernel
    axes = axis_words(wrapping.whole, wrapping.model, kernel)
    lines = [f'"{" ".join(words)}"' for words in axes]
    arguments = [f"{kernel.name}_kernel", f"[{', '.join(lines)}]"]
    if one.kernel.described:
        names = (f'"{described.name}"' for described in one.kernel.described)
        arguments += [f"[{', '.join(names)}]", "dt_descriptor", "dt_in_parts"]
    head = f"{wrapping.names.launches[kernel.name]} = dt_launcher"
    return call(head, arguments, indent=0)


def _flags(wrapping: Wrapping, own: Locals, kernel: TileKernel) -> Iterator[str]:
    """Write the compile-time flags: what is known of sizes."""
    said: dict[str, list[str]] = {}
    for flag in kernel.flags:
        size = size_with(wrapping, own, kernel, flag.size)
        text = f"{size} % {flag.multiple} == 0" if flag.multiple else f"dt_lanes({size}) == {size}"
        said.setdefault(flag.name, []).append(text)
    for name, parts in said.items():
        yield f"{name}={' and '.join(dict.fromkeys(parts))}"


def _fours(wrapping: Wrapping, own: Locals, kernel: TileKernel) -> Iterator[str]:
    """Whether rows begin at multiples of four numbers, and have so many."""
    tensors = {pointer.name: _argument(wrapping, own, pointer) for pointer in kernel.tensors}
    parts = [
        f"{tensors[row.tensor]}.stride({row.axis})"
        if row.tensor
        else size_with(wrapping, own, kernel, row.variable)
        for row in kernel.fours
    ]
    if parts:
        yield f"{FOURS}={' and '.join(f'{one} % 4 == 0' for one in parts)}"


def _others(wrapping: Wrapping, own: Locals, kernel: TileKernel, largest: str) -> list[str]:
    """Find sizes that a kernel is given and that are neither the largest nor an extent of a tensor.

    They, too, must not be just below 2**31: the end of a last tile would not fit 32 bits then.
    """
    known = {largest}
    for pointer in kernel.tensors:
        array = wrapping.model.arrays.get(pointer.name)
        dims = array.dims if array is not None and not pointer.is_scratch else ()
        known.update(own.sizes[dim] for dim in dims if dim in own.sizes)
        mine = (labels[-1] for (name, _), labels in wrapping.whole.items() if name == pointer.name)
        known.update(own.sizes[label] for label in mine)
    given = (own.sizes[label_of(wrapping, param)] for param, _ in kernel.sizes)
    return [size for size in dict.fromkeys(given) if size not in known]


def _groups(wrapping: Wrapping, own: Locals, kernel: TileKernel) -> list[str]:
    """Write how many programs a full group has.

    Kernels divide by that number, even if there are fewer programs in all. So it must fit the type
    of offsets, too.
    """
    found: list[str] = []
    for at, group in enumerate(kernel.grid):
        if not group.group:
            continue
        factors = [str(group.group)]
        inner = kernel.grid[at + 1 :]
        short = {axis.block: axis.group for axis in kernel.grid[:at] if axis.group}
        for axis in inner:
            if axis.group or axis.name == group.block:
                continue
            size = _blocks(size_with(wrapping, own, kernel, axis.size), axis.step)
            factors.append(str(short.get(axis.name) or (f"({size})" if " " in size else size)))
        if not all(factor.isdigit() for factor in factors):
            found.append(" * ".join(factors))
    return found


def _rounds(wrapping: Wrapping, own: Locals, kernel: TileKernel) -> list[str]:
    """Write how many rounds a loop over several labels has, and each product on the way to that."""
    found: dict[str, None] = {}
    for loop in inside_of(kernel.body):
        if isinstance(loop, ForLoop) and loop.factors:
            counts = [
                str(size)
                if isinstance(size, int)
                else _blocks(size_with(wrapping, own, kernel, size), step)
                for size, step in loop.factors
            ]
            parts = [f"({count})" if " " in count else count for count in counts]
            products = (
                " * ".join(parts[:end])
                for end in range(2, len(parts) + 1)
                if not all(part.isdigit() for part in parts[:end])
            )
            found.update(dict.fromkeys(products))
    return [*found]


def _argument(wrapping: Wrapping, own: Locals, pointer: Pointer) -> str:
    return wrapping.names.inputs.get(pointer.name) or own.arrays[pointer.name]


def largest_lines(wrapping: Wrapping, own: Locals) -> Iterator[str]:
    """The largest of all indices, if it has a name."""
    if is_named(wrapping, indices := indices_of(wrapping, own)):
        yield from call(f"{own.largest} = max", indices, indent=own.indent)


def is_named(wrapping: Wrapping, indices: Sequence[str]) -> bool:
    """Whether the largest of all indices has a name, because several launches need it."""
    return len(wrapping.launched) > 1 and len(indices) > 1


def _largest(indices: Sequence[str]) -> str:
    return f"max({', '.join(indices)})" if len(indices) > 1 else indices[0] if indices else "0"


def indices_of(wrapping: Wrapping, own: Locals) -> list[str]:
    """Write how large indices may become: sizes, and what indices are computed from them."""
    found = dict.fromkeys(own.sizes[label_of(wrapping, param)] for param in wrapping.model.params)
    every = _largest([*found])
    for index in wrapping.indices:
        # Lanes of a private copy go where its reader's go, and are masked there.
        sizes = dict.fromkeys(own.sizes, every) if index.is_copied else own.sizes
        if text := _reach(sizes, index.value):
            found[text] = None
    return list(found)


def _reach(sizes: Mapping[str, str], index: Affine) -> str:
    """A bound on what an index comes to, if it is more than that of a label."""
    if not index.terms or (index.shifted is not None and not is_far(index)):
        return ""
    parts = [
        f"{abs(factor)} * {sizes[label]}" if abs(factor) > 1 else sizes[label]
        for label, factor in index.terms
        if label in sizes
    ]
    if is_far(index):
        parts.append(str(abs(index.constant)))
    return " + ".join(parts)


def _dim(wrapping: Wrapping, own: Locals, dim: str) -> str:
    """The extent of an array along a label, or how many parts there are."""
    part = wrapping.model.parts.get(dim)
    return own.sizes[dim] if part is None else _blocks(own.sizes[part.of], part.size)


def _blocks(size: str, step: int) -> str:
    return size if step == 1 else f"({size} + {step - 1}) // {step}"


def _held(wrapping: Wrapping, own: Locals, array: str) -> str:
    """The torch dtype of an array in memory: a Func's own, else that which it is computed in."""
    if wrapping.model.arrays[array].func == array and array not in wrapping.storage.scratch:
        return promoted(wrapping.elements.kinds[array], wrapping.names.inputs)
    return _torch(wrapping.elements.of(array), own)


def _torch(element: Element, own: Locals) -> str:
    if isinstance(element, Named):
        return f"dt_torch[{own.elements[element.name]}]"
    return TORCH[element]
