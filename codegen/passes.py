"""The passes over a kernel, in their order: each is told what it needs and what excludes it.

A pass takes a `KernelDraft`, a kernel that was lowered so far, and gives the next one. `drafts`
lets them run one after another. One whose needs are not met, or that something excludes, is left
out: the kernel is right without it, and slower.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.body import Body
from dtpoly.ir.kernel import GridAxis, Load, Step, Store
from dtpoly.ir.launch_steps import LetNextBegin, TellFours, WaitForLaunch
from dtpoly.ir.parts import accessed

from .axis_words import axis_words
from .barriers import with_barriers
from .building import Building
from .counters import with_own_counters
from .data_rounds import with_data_rounds
from .descriptors import Wish, described
from .draft import JoinedBody, KernelDraft, Property, kernel_of
from .early_loads import with_early_loads
from .flattening import flattened
from .folded_scales import with_folded_scales
from .fours import rows
from .hoisting import hoisted
from .late_scales import with_late_scales
from .loaded_masks import without_loaded_masks
from .loading import converted_at_loads
from .masked_once import with_masks_once
from .motions import NotOnePassError
from .nested_reductions import with_reductions_apart
from .one_pass import STARTS, with_running
from .overhanging import overhanging
from .python_names import fresh
from .rewrites import without_detours, without_empty_starts
from .shared_lists import with_shared_lists
from .siblings import joined_loops
from .sides import sides_of_products
from .skipped_tiles import with_skipped_tiles
from .specializing import specialized
from .turned_tiles import turned_tiles
from .walks import walked


@dataclass(frozen=True, slots=True)
class KernelPass:
    """A function from one draft of a kernel to the next, and on which drafts it runs."""

    rewrite: Callable[[KernelDraft], KernelDraft]
    needs: frozenset[Property] = frozenset()
    excludes: frozenset[Property] = frozenset()

    def runs_on(self, draft: KernelDraft) -> bool:
        """Return whether the draft has what the pass needs, and nothing that excludes it."""
        return self.needs <= draft.properties and self.excludes.isdisjoint(draft.properties)


def do_as_asked(draft: KernelDraft) -> KernelDraft:
    """Run the passes that directives ask for."""
    variables = {name: one.variable for name, one in draft.building.pointers.items()}
    body = draft.body
    for one in draft.launch.passes:
        body = one(Body(body, variables))
    return replace(draft, body=body)


def begin_at_data(draft: KernelDraft) -> KernelDraft:
    """Let loops begin and end where data says, if other rounds would change nothing."""
    running = frozenset(reader for _, reader in draft.launch.running)
    changed = replace(draft, body=with_data_rounds(draft.body, draft.names, running))
    if not running:
        return changed
    # A mask that only the maximum has lets its loop alone end at data: then all go to the end.
    try:
        return replace(changed, joined=JoinedBody(changed.body, _joined(changed)))
    except NotOnePassError:
        return draft


def join_running(draft: KernelDraft) -> KernelDraft:
    """Join the loops of reductions with loops that depend on their results."""
    known = draft.joined
    body = known.body if known is not None and known.of is draft.body else _joined(draft)
    return replace(draft, body=body, joined=None)


def _joined(draft: KernelDraft) -> tuple[Step, ...]:
    return with_running(draft.body, draft.launch.running, draft.names)


def fold_scales(draft: KernelDraft) -> KernelDraft:
    """Let exponentials of a running maximum be powers of two, where a scale takes the factor."""
    if not draft.launch.running:
        return draft
    return replace(draft, body=with_folded_scales(draft.body, frozenset(STARTS.values())))


def scale_late(draft: KernelDraft) -> KernelDraft:
    """Let a running maximum be multiplied by a scale, instead of each element."""
    if not draft.launch.running:
        return draft
    return replace(draft, body=with_late_scales(draft.body, draft.sizes, draft.names))


def mask_once(draft: KernelDraft) -> KernelDraft:
    """Let exponents be masked where the elements of their maximum are."""
    if not draft.launch.running:
        return draft
    starts = frozenset(STARTS.values())
    return replace(draft, body=with_masks_once(draft.body, starts, draft.sizes, draft.names))


def drop_empty_starts(draft: KernelDraft) -> KernelDraft:
    """`acc = 0; acc += value` becomes `acc = value`."""
    return replace(draft, body=without_empty_starts(draft.body))


def shorten_indices(draft: KernelDraft) -> KernelDraft:
    """Indices that count from where they stand become numbers: `S[x - x_start]` is `S[0]`."""
    return replace(draft, body=without_detours(draft.body, draft.sizes))


def drop_loaded_masks(draft: KernelDraft) -> KernelDraft:
    """A tile that is 0 where its load is masked needs no such mask once more."""
    return replace(draft, body=without_loaded_masks(draft.body))


def flatten(draft: KernelDraft) -> KernelDraft:
    """Join the loops that `flatten` names into one."""
    body = flattened(draft.body, draft.launch.flat, draft.labels, draft.names)
    return replace(draft, body=body)


def join_loops(draft: KernelDraft) -> KernelDraft:
    """Join loops over the same tiles that stand side by side."""
    return replace(draft, body=joined_loops(draft.body, draft.names))


def share_lists(draft: KernelDraft) -> KernelDraft:
    """Lists that take in the same tiles become one list."""
    return replace(draft, body=with_shared_lists(draft.body))


def skip_tiles(draft: KernelDraft) -> KernelDraft:
    """Lists skip tiles of which nothing enters."""
    return replace(draft, body=with_skipped_tiles(draft.body, draft.names))


def turn_tiles(draft: KernelDraft) -> KernelDraft:
    """Compute tiles with their axes in the order in which products need them."""
    return replace(draft, body=turned_tiles(draft.body))


def load_before(draft: KernelDraft) -> KernelDraft:
    """Move loads out of a loop that loads the same tile in each round."""
    extents, largest = _extents_of_inputs(draft.building), _largest(draft.grid)
    sides = frozenset(sides_of_products(draft.body)) if draft.launch.running else frozenset[str]()
    return replace(draft, body=with_early_loads(draft.body, extents, largest, sides))


def convert_at_loads(draft: KernelDraft) -> KernelDraft:
    """Let a tile that is used in one type have this type from its load on."""
    return replace(draft, body=converted_at_loads(draft.body))


def place_barriers(draft: KernelDraft) -> KernelDraft:
    """Let lanes wait for each other where values pass through memory, or are replaced there."""
    shared = _shared(draft.building, draft.body)
    body = with_barriers(draft.body, shared, draft.replaced)
    return replace(draft, body=body, shared=shared)


def hoist(draft: KernelDraft) -> KernelDraft:
    """Move computations out of a loop that gives the same value in each round."""
    return replace(draft, body=hoisted(draft.body, draft.names))


def describe(draft: KernelDraft) -> KernelDraft:
    """Tiles of tensors that `descriptor` names are loaded and stored through descriptors."""
    taken = {*draft.taken}
    # Walks move the lanes of what they store.
    stored = frozenset[str]() if Property.WALKS in draft.properties else _only_stored(draft.body)
    wishes = _wishes(draft, taken, stored)
    body, blocks = described(draft.body, wishes, taken)
    return replace(draft, body=body, blocks=blocks, wishes=wishes)


def cover(draft: KernelDraft) -> KernelDraft:
    """Remove the rest with masks of loops whose loads all have descriptors."""
    return replace(draft, body=overhanging(draft.body))


def take_turns(draft: KernelDraft) -> KernelDraft:
    """Let each program take several blocks, one after another.

    Where values pass through memory, nothing says that blocks of a program keep apart.
    """
    return replace(draft, each=draft.launch.each)


def specialize(draft: KernelDraft) -> KernelDraft:
    """Let some warps of a kernel load for those that compute."""
    takes_turns = bool(draft.each)
    body, made = specialized(draft.body, draft.blocks, draft.wishes, is_persistent=takes_turns)
    return replace(draft, body=body, head=(*draft.head, *made))


def walk(draft: KernelDraft) -> KernelDraft:
    """Let lanes begin where memory is aligned, and every second loop go backwards."""
    # Programs that take blocks in turn have one line after the other.
    aligned = () if draft.each else draft.launch.aligned
    lines = _variables(draft.building, aligned)
    done = walked(draft.body, lines, draft.launch.turned, draft.names)
    return replace(draft, body=done.body, lined=frozenset(done.lined), turned=done.turned)


def rename_counters(draft: KernelDraft) -> KernelDraft:
    """Counters of loops get names of their own where they need other widths."""
    return replace(draft, body=with_own_counters(draft.body, draft.sizes, draft.taken))


def keep_reductions(draft: KernelDraft) -> KernelDraft:
    """Triton is kept from moving a reduction of what was loaded behind its loop."""
    return replace(draft, body=with_reductions_apart(draft.body))


def wait_for_others(draft: KernelDraft) -> KernelDraft:
    """A kernel that may be placed early waits before all else; of panels, the first one later.

    The first kernel of a panel needs nothing of the panels before. It waits in the end, so that
    what follows it also follows them. The last kernel of a panel lets that one begin.
    """
    if draft.launch.is_first_of_panel:
        head = (WaitForLaunch(in_first_panel=True), *draft.head)
        return replace(draft, head=head, foot=(*draft.foot, WaitForLaunch()))
    letting = () if draft.launch.panel is None else (LetNextBegin(),)
    return replace(draft, head=(WaitForLaunch(), *letting, *draft.head))


def tell_fours(draft: KernelDraft) -> KernelDraft:
    """Triton is shown that rows begin at multiples of four numbers, where a launch says so."""
    building = draft.building
    words = axis_words(building.whole, building.model, kernel_of(draft))
    found = tuple(rows(kernel_of(draft), words))
    if not found:
        return draft
    told = TellFours(tuple(row.variable for row in found))
    return replace(draft, fours=found, head=(*draft.head, told))


PASSES = (
    KernelPass(do_as_asked),
    KernelPass(begin_at_data, excludes=frozenset({Property.IN_PLACE})),
    KernelPass(join_running),
    KernelPass(fold_scales),
    KernelPass(scale_late),
    KernelPass(mask_once),
    KernelPass(drop_empty_starts),
    KernelPass(shorten_indices),
    KernelPass(drop_loaded_masks),
    KernelPass(flatten),
    KernelPass(join_loops, excludes=frozenset({Property.IN_PLACE})),
    KernelPass(share_lists),
    KernelPass(turn_tiles),
    KernelPass(load_before),
    KernelPass(convert_at_loads),
    KernelPass(place_barriers),
    KernelPass(hoist),
    KernelPass(describe),
    KernelPass(cover),
    KernelPass(
        take_turns,
        needs=frozenset({Property.GRID}),
        excludes=frozenset({Property.PASSES_MEMORY, Property.IN_PLACE}),
    ),
    KernelPass(
        specialize,
        needs=frozenset({Property.MAY_SPECIALIZE}),
        excludes=frozenset({Property.PASSES_MEMORY, Property.IN_PLACE, Property.WALKS}),
    ),
    KernelPass(walk, excludes=frozenset({Property.IN_PLACE})),
    KernelPass(rename_counters),
    KernelPass(keep_reductions),
    KernelPass(skip_tiles),
    KernelPass(wait_for_others, needs=frozenset({Property.MAY_WAIT})),
    KernelPass(tell_fours, excludes=frozenset({Property.DESCRIBED})),
)


def drafts(first: KernelDraft) -> Iterator[KernelDraft]:
    """Yield a draft, and what each pass that runs on it makes of it."""
    draft = first
    yield draft
    for one in PASSES:
        if one.runs_on(draft):
            draft = one.rewrite(draft)
            yield draft


def _variables(building: Building, tensors: tuple[str, ...]) -> frozenset[str]:
    """Return the variables of some tensors; scratch tensors are left out."""
    found = (building.pointers.get(tensor) for tensor in tensors)
    return frozenset(one.variable for one in found if one is not None and not one.is_scratch)


def _wishes(draft: KernelDraft, taken: set[str], stored: frozenset[str]) -> dict[str, Wish]:
    """Return the descriptors that are wished for, by the variables of their tensors.

    The names that they get are taken then, too.
    """
    building, boxes = draft.building, draft.launch.boxes
    found: dict[str, Wish] = {}
    for tensor in draft.launch.descriptors:
        pointer = building.pointers.get(tensor)
        if pointer is None or pointer.is_scratch:
            continue
        if pointer.is_written and pointer.variable not in stored:
            continue
        if pointer.variable in draft.replaced or pointer.variable in draft.replaced.values():
            continue  # a barrier does not order what a descriptor does with other accesses
        name = fresh(f"{pointer.variable}_blocks", taken)
        taken.add(name)
        extents = tuple(_extents(building, tensor, axis) for axis in range(pointer.rank))
        dims = building.model.arrays[tensor].dims if pointer.is_written else ()
        most = {at: boxes[dim] for at, dim in enumerate(dims) if dim in boxes}
        found[pointer.variable] = Wish(tensor, pointer.variable, name, extents, most)
    return found


def _only_stored(body: tuple[Step, ...]) -> frozenset[str]:
    """Return the tensors that a kernel writes and does not read, by their variables."""
    return accessed(body, Store) - accessed(body, Load)


def _extents_of_inputs(building: Building) -> dict[str, tuple[frozenset[str], ...]]:
    """Return the extents of the tensors that the kernel does not write, by their variables."""
    return {
        one.variable: tuple(_extents(building, name, axis) for axis in range(one.rank))
        for name, one in building.pointers.items()
        if not one.is_written and not one.is_scratch
    }


def _largest(grid: tuple[GridAxis, ...]) -> dict[str, Affine]:
    """Return how far from 0 blocks start at most: where the last index is."""
    return {
        axis.name: Affine(((axis.size, 1),), -1)
        for axis in grid
        if axis.unit == 1 and axis.group is None
    }


def _extents(building: Building, tensor: str, axis: int) -> frozenset[str]:
    """Return the variables that hold the extent of an axis."""
    array = building.model.arrays.get(tensor)
    if array is not None:
        dim = array.dims[axis]  # that of parts is the size of no label
        return frozenset({building.size(dim)} if dim in building.model.size_of else ())
    known = building.model.size_of
    labels = (label for label in building.whole.get((tensor, axis), ()) if label in known)
    shown = building.shapes.get((tensor, axis))
    return frozenset([*map(building.size, labels), *([shown] if shown is not None else [])])


def _shared(building: Building, body: tuple[Step, ...]) -> frozenset[str]:
    """Memory through which values pass inside of the kernel."""
    read = accessed(body, Load)
    return frozenset(
        p.variable
        for p in building.pointers.values()
        if p.is_written and (p.is_scratch or p.variable in read)
    )
