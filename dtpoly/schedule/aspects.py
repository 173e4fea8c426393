"""Describes a schedule tree in aspects: its kernels, programs, loops, lanes and options, in words.

`changes` compares two trees by these aspects, whatever made the trees. So nothing in this module
knows a primitive.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import assert_never

from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis
from dtpoly.poly.model import Model, by_name
from dtpoly.poly.private_copies import CopyRegion, has_place, region
from dtpoly.schedule.argument_values import Sized
from dtpoly.schedule.counts import SizeProduct, blocks_of, program_blocks
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tree import Kernel, Leaf, Loop, Node, leaves, loops, paths
from dtpoly.schedule.tree import Sequence as InSequence

_Value = int | str | tuple[str, ...] | Sized | None  # of an option
Places = tuple[Fusion | None, ...]
LOST, ORDER = "the statements", "the order of statements"
NUMBERING = "the numbering of programs"


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing to say about a tree: the topic, what it is about, and what is said.

    `func` is set where it is about a Func, which may be computed in several kernels; `kernel` is
    empty where it is about all of them.
    """

    topic: str
    kernel: str
    func: str
    label: str
    value: str


def subject(topic: str, of: str, label: str, *, is_one: bool) -> str:
    """Name what an aspect is about: one Func, several Funcs, or a kernel."""
    match topic:
        case "place":
            return f"where {of} {'is' if is_one else 'are'} computed"
        case "loop":
            return f"the loop{'' if is_one else 's'} over {label} of {of}"
        case "lanes":
            return f"the lanes over {label} of {of}"
        case "nest":
            return f"the loops of {of}"
        case "kernel":
            return f"the kernel {of}"
        case "option":
            return f"{label} of {of}"
        case _:
            return f"{topic} of {of}"


# The topics, in the order in which they are told.
TOPICS = ("place", "kernel", "programs", NUMBERING, "nest", "loop", "lanes", "option", LOST, ORDER)

# The option that holds the directives which edit a launch.
ASKED = "asked"


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def aspects(state: State) -> tuple[Aspect, ...]:
    """List everything that this module can say of a state."""
    return tuple(
        (*_places(state), *(a for kernel in state.kernels for a in _kernel(kernel, state)))
    )


def _places(state: State) -> Iterator[Aspect]:
    for func, found in places(state).items():
        words = dict.fromkeys(map(_place, found))
        yield Aspect("place", "", func, "", "; ".join(words))


def place_and_elements(found: Places, state: State) -> str:
    """Say where a Func is computed, and which elements there: `..., for exactly [16 of m]`."""
    return "; ".join(dict.fromkeys(_place(one) + _elements(one, state) for one in found))


def beside_readers(found: Places) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the loops of readers that a Func is computed in, and `in the kernel of 'f'`."""
    fusions = [one for one in found if one is not None]
    kernels = dict.fromkeys(f"'{one.kernel}'" for one in fusions)
    of = f"in the kernel{'s' if len(kernels) > 1 else ''} of {listed(kernels)}" if kernels else ""
    return tuple((one.consumer, one.label) for one in fusions), of


def places(state: State) -> dict[str, Places]:
    """Return for each Func the fusions that put it into kernels; None for its own kernel."""
    known = by_name(state.model)
    fused = {(one.func, one.kernel): one for one in state.fusions if one.label}
    found: dict[str, dict[str, Fusion | None]] = {}
    for kernel in state.kernels:
        for leaf, _ in leaves(kernel.body):
            func = known[leaf.statement].func
            found.setdefault(func, {}).setdefault(kernel.name, fused.get((func, kernel.name)))
    return {func: tuple(each.values()) for func, each in found.items()}


def _place(fusion: Fusion | None) -> str:
    if fusion is None:
        return "in a kernel of its own"
    kernel = "" if fusion.kernel == fusion.consumer else f"in the kernel of '{fusion.kernel}', "
    return f"{kernel}inside of the loop over {fusion.label} of '{fusion.consumer}'"


def _elements(fusion: Fusion | None, state: State) -> str:
    """Say which elements of a fused Func are computed there."""
    copies = fusion.copies[-1:] if fusion is not None else ()
    path = next((p for p in paths(state.kernels) if p.statement in copies), None)
    if path is None:
        return ""
    value = by_name(state.model)[path.statement]
    if not has_place(value, path):
        return ""
    return show_region(region(value, path.named, state.model))


def show_region(needed: CopyRegion) -> str:
    """`, for exactly [16 of m] x [all of l]`."""
    parts: list[str] = []
    for one in needed.needed:
        if one.is_whole:
            count = "all"
        elif one.count is None:
            count = "part"
        else:
            count = str(one.count)
        parts.append(f"[{count} of {one.label}]")
    if not parts:
        return ""
    return f", for {'exactly' if needed.is_box else 'at most'} {' x '.join(parts)}"


def _kernel(kernel: Kernel, state: State) -> Iterator[Aspect]:
    model, name = state.model, kernel.name
    if state.program.find_func(name) is None:
        yield Aspect("kernel", name, "", "", f"writes {' and '.join(_written(kernel, state))}")
    yield Aspect("programs", name, "", "", show_programs(kernel, model))
    if len(kernel.grid) > 1:
        yield Aspect(NUMBERING, name, "", "", _numbering(kernel.grid))
    yield from _loops(kernel, model)
    for field in fields(kernel.options):
        value: _Value = getattr(kernel.options, field.name)
        if value and field.name != ASKED:
            yield Aspect("option", name, "", field.name, _option(value))
    asked: dict[str, tuple[str, ...]] = {}
    for one in kernel.options.asked:
        asked[one.name] = (*asked.get(one.name, ()), *one.words())
    for said, words in asked.items():
        yield Aspect("option", name, "", said, _option(words))


def _option(value: _Value) -> str:
    """Show an option. Neither the order of several arguments nor how often one is given counts."""
    if isinstance(value, tuple):
        return ", ".join(sorted({*value}))
    return str(value)


def _written(kernel: Kernel, state: State) -> tuple[str, ...]:
    """List what later kernels may read of what this one writes."""
    known, arrays = by_name(state.model), state.model.arrays
    written = [known[leaf.statement].writes for leaf, _ in leaves(kernel.body)]
    values = [one for one in written if _is_value(one.array, state)]
    return tuple(
        dict.fromkeys(f"{one.array}[{', '.join(arrays[one.array].dims)}]" for one in values)
    )


def _is_value(array: str, state: State) -> bool:
    one = state.model.arrays[array]
    return not one.copies and (one.reduction is None or one.name == one.func)


def show_programs(kernel: Kernel, model: Model) -> str:
    """`ceil(m / 16), one for each block of 16 of m`."""
    axes = program_blocks(kernel.grid)
    count = SizeProduct(tuple(blocks_of(axis, model) for axis in axes))
    if not axes:
        return "1"
    blocks = " and ".join(f"{_block_size(axis, model)} of {axis.label}" for axis in axes)
    return f"{count}, one for each block of {blocks}"


def _block_size(axis: Axis, model: Model) -> int:
    part = model.parts.get(axis.index.plain or "")
    return part.size if part else axis.step or 1


def _numbering(grid: tuple[Axis, ...]) -> str:
    """Say how programs are numbered, outermost loop first, as `map` lists them."""
    steps = {axis.name: axis.step or 1 for axis in grid}
    inner = {name: axis for axis in grid for name in axis.origin.labels if name in steps}
    words: list[str] = []
    for axis in grid:
        if axis.name in inner:
            blocks = steps[axis.name] // steps[inner[axis.name].name]
            words.append(f"groups of {blocks} blocks of {axis.label}")
        elif axis.origin.terms:
            words.append(f"the blocks of {axis.label} in a group")
        else:
            words.append(f"the blocks of {axis.label}")
    return f"by {', then '.join(words)}, which run fastest"


def _loops(kernel: Kernel, model: Model) -> Iterator[Aspect]:
    known = by_name(model)
    funcs = tuple(dict.fromkeys(known[leaf.statement].func for leaf, _ in leaves(kernel.body)))
    said: dict[tuple[str, str], dict[str, None]] = {}
    for *_, loop in loops(kernel.body):
        told = show_loop(loop, _lanes(loop))
        said.setdefault((loop.func, loop.axis.label), {}).setdefault(told)
    orphans: dict[tuple[str, str], dict[str, None]] = {}
    for leaf, _ in leaves(kernel.body):
        for lane in leaf.lanes:
            key = (known[leaf.statement].func, lane.label)
            if key not in said:
                orphans.setdefault(key, {}).setdefault(show_lanes(lane))
    nests = _nests(kernel.body)
    for func in funcs:
        yield Aspect("nest", kernel.name, func, "", " ".join(nests.get(func, ())))
    for topic, group in (("loop", said), ("lanes", orphans)):
        for (func, label), words in group.items():
            yield Aspect(topic, kernel.name, func, label, " and ".join(words))


def _lanes(loop: Loop) -> Axis | None:
    """Return the lanes that the steps of a loop are."""
    below = (lane for leaf, _ in leaves(loop) for lane in leaf.lanes)
    return next((lane for lane in below if lane.origin.plain == loop.axis.name), None)


def show_lanes(lane: Axis) -> str:
    """`16 lanes`."""
    if lane.extent is None:
        return "as many lanes"
    count = -(-lane.extent // (lane.step or lane.extent))
    return f"{count} lane{'s' if count > 1 else ''}"


def show_loop(loop: Loop, lanes: Axis | None) -> str:
    """`all of k in steps of 32 lanes`."""
    axis = loop.axis
    what = "all" if axis.extent is None else str(axis.extent)
    if axis.is_single:
        steps = "1 step" if lanes is None else f"1 step of {show_lanes(lanes)}"
    elif lanes is None:
        steps = f"steps of {axis.step}"
    else:
        steps = f"steps of {show_lanes(lanes)}"
    unrolled = f", {loop.unroll} at a time written out" if loop.unroll > 1 else ""
    order = f", in the order of {show_affine(axis.time)}" if axis.time is not None else ""
    return f"{what} of {show_affine(axis.index)} in {steps}{unrolled}{order}"


def _nests(node: Node) -> dict[str, tuple[str, ...]]:
    """Return the loops of each Func, as words: `for m: for n`."""
    match node:
        case Leaf():
            return {}
        case InSequence(children=children):
            parts: dict[str, tuple[str, ...]] = {}
            for child in children:
                for func, words in _nests(child).items():
                    parts[func] = (*parts.get(func, ()), " ".join(words))
            several = {f: (f"({'; '.join(some)})",) for f, some in parts.items() if len(some) > 1}
            return parts | several
        case Loop(func=func, child=child):
            found = _nests(child)
            below = found.get(func, ())
            found[func] = (f"for {node.axis.label}:" if below else f"for {node.axis.label}", *below)
            return found
        case _:
            assert_never(node)
