"""Computes a chain of reductions in parts, where `block` cuts the label that all of them go along.

`f.block(l:p/512); g.online(f, l);` asks for kernels that compute f and g for each 512 indices, and
for one that merges the parts. `dtpoly.algorithm.parted` writes such an algorithm, and here the
directives are shared out between its Funcs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.parted import NotInPartsError, PartedChain, in_parts
from dtpoly.algorithm.program import scanned_labels
from dtpoly.algorithm.scan_parts import PartedScan, scans_in_parts
from dtpoly.poly.axes import Axis
from dtpoly.schedule.argument_values import Sized
from dtpoly.schedule.facts import Blocked, Compiled, Fact, Fused, ReducedAlong, Returned
from dtpoly.schedule.fusing import fuse
from dtpoly.schedule.initial import initial
from dtpoly.schedule.parted_facts import asked_chains, asked_scans
from dtpoly.schedule.partials import through_parts
from dtpoly.schedule.primitive import Primitive, Stage, Turn
from dtpoly.schedule.state import State, without_kernels
from dtpoly.schedule.tiling import tile_loops, tile_sizes
from dtpoly.schedule.tree import Kernel

# What is divided: a chain of reductions, or the scans of a Func.
Parted = PartedChain | PartedScan


def with_parted_chains(state: State, facts: Sequence[Fact]) -> tuple[State, tuple[Parted, ...]]:
    """Begin again with an algorithm in which the chains that are asked for are divided.

    Nothing is lost: only inlining, which makes another Program, is carried out before. A chain that
    cannot be divided stays whole; the check of the directive reports it.
    """
    found = list[Parted]()
    program = state.program
    for one in asked_chains(program, facts):
        there = {func.name for func in program.funcs}
        if not {one.last, *one.others} <= there:
            continue
        try:
            made = in_parts(program, one)
        except NotInPartsError:
            continue
        program = made.program
        found.append(made)
    fused = {fact.func for fact in facts if isinstance(fact, Fused)}
    for scan in asked_scans(program, facts):
        if scan.func in fused:
            continue  # its copies would have no parts
        try:
            parted = scans_in_parts(program, scan)
        except NotInPartsError:
            continue
        program = parted.program
        found.append(parted)
    if not found:
        return state, ()
    wanted = tuple(dict.fromkeys(kernel.func for kernel in state.kernels))
    return initial(program, wanted, state.sized), tuple(found)


def stored_parts(parted: Iterable[Parted], facts: Sequence[Fact]) -> dict[str, str]:
    """Return for each result of a kernel of parts the Func that the kernel is of.

    Partial results are such results, and so are those that programs of the parts store.
    """
    found = dict[str, str]()
    into = {fact.consumer for fact in facts if isinstance(fact, Fused)}
    for one in parted:
        if isinstance(one, PartedChain):
            host = one.parts[one.merged[0]]
            found |= {one.parts[func]: host for func in one.merged[1:]}
            found |= dict.fromkeys(one.within, host)
        elif one.func not in into:
            # What is fused into the scan goes to one loop of a kernel, and these would be two.
            found |= one.pairs
    return found


def with_pairs(state: State, parted: Iterable[Parted]) -> State:
    """Let the kernel that makes the second half of a state make the first one, too."""
    for one in parted:
        for first, second in one.pairs.items() if isinstance(one, PartedScan) else ():
            if state.stores.get(first) == second:
                state = fuse(state, second, first, second, one.label, recompute=False)
                state = without_kernels(state, first)
    return state


def on_their_parts(state: State) -> State:
    """Let each kernel of a Func that has parts of a label have one program for a part."""
    parts = state.program.parts

    def change(kernel: Kernel) -> Kernel:
        func = state.program.func(kernel.func)
        # A program goes through all parts where it scans them.
        along = scanned_labels(func)
        labels = [one for one in func.walked if one in parts and one not in along]
        grid = {
            label: Axis(f"{kernel.func}.{label}.block", label, Affine(((label, 1),)), 1)
            for label in labels
        }
        begins = {parts[label].of: (axis, parts[label].size) for label, axis in grid.items()}
        of_part = {parts[one].of for one in labels if one == func.parted} | {
            parts[one].of for one in labels if parts[one].of not in func.labels
        }
        body = through_parts(
            kernel.body, begins, lambda loop: loop.is_reduction or loop.axis.label in of_part
        )
        body = through_parts(
            body, {label: (axis, 1) for label, axis in grid.items()}, lambda _: True
        )
        # One index is a tile, too, so that what is computed for it may stay in registers.
        tiles = tuple(Sized(label, 0) for label in labels)
        body = tile_loops(body, tile_sizes(tiles, kernel.func))
        axes = (*reversed(grid.values()), *kernel.grid)
        return replace(kernel, grid=axes, body=body, tiles=(*kernel.tiles, *tiles))

    return replace(state, kernels=tuple(map(change, state.kernels))) if parts else state


def directives_of(
    parted: Sequence[Parted], primitives: Sequence[Primitive]
) -> tuple[Primitive, ...]:
    """Return the directives on the Funcs of the divided algorithm."""
    done = tuple(primitives)
    for chain in parted:
        if isinstance(chain, PartedScan):
            found = [made for one in done for made in _of_scan(chain, one)]
        else:
            found = [made for one in done for made in _shared_out(chain, one)]
        done = tuple(dict.fromkeys(found))
    return done


def _of_scan(chain: PartedScan, one: Primitive) -> Iterator[Primitive]:
    """Yield what a directive says to the Funcs of a scan in parts.

    Those of the states at the ends of parts go along the label in tiles, as the scan does. What is
    said of the label that numbers parts is about the scan of the states.
    """
    facts = tuple(one.facts())
    if one.stage is Stage.COMPILE or any(isinstance(f, Compiled | Returned) for f in facts):
        yield one
        return
    if one.turn is Turn.INLINED:
        return  # it is carried out
    fused = any(isinstance(fact, Fused) and fact.consumer == chain.func for fact in facts)
    if one.func != chain.func and not fused:
        yield one
        return
    is_of_blocks = any(isinstance(fact, Blocked) for fact in facts)
    of_parts = one.without(chain.label)
    of_parts = of_parts and of_parts.without(chain.of) if is_of_blocks else of_parts
    if of_parts is not None:
        yield from (of_parts.of({chain.func: state}) for state in chain.states)
        yield of_parts
    of_starts = one.without(chain.of)
    if of_starts is not None:
        yield from (of_starts.of({chain.func: start}) for start in chain.starts)


def _shared_out(chain: PartedChain, one: Primitive) -> Iterator[Primitive]:
    """Yield what a directive says to the Funcs of parts, and to those that merge them."""
    last, parts = chain.merged[0], chain.parts
    facts = tuple(one.facts())
    if one.stage is Stage.COMPILE or any(isinstance(f, Compiled | Returned) for f in facts):
        yield one
        return
    if one.turn is Turn.INLINED:
        return  # it is carried out
    along = [fact for fact in facts if isinstance(fact, ReducedAlong)]
    if one.func in chain.merged and any(fact.label == chain.of for fact in along):
        yield one.of(parts)
        yield one.moved(chain.label)
        return
    others = {fact.consumer for fact in facts if isinstance(fact, Fused)}
    if one.func in parts and not others <= parts.keys():
        yield one  # a reader elsewhere merges for itself
        return
    if one.func in chain.whole and others == {last}:
        yield one  # the kernel that merges stores it
        return
    # Each part is a block already.
    is_of_blocks = one.func == last and any(isinstance(fact, Blocked) for fact in facts)
    there = one.without(chain.of) if is_of_blocks else one
    of_part = None if there is None else there.of_parts(chain.label)
    of_part = None if of_part is None else of_part.without(chain.label)
    if of_part is not None and of_part.of(parts) != of_part:
        yield of_part.of(parts)
    merging = None if there is None else there.of_merge(chain.label)
    if merging is not None and (one.func not in parts or one.func in chain.merged):
        yield merging
