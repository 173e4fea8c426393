"""Estimates how many registers and how much shared memory a program of a kernel takes."""

from collections.abc import Iterator
from math import ceil, prod

from dtpoly.algorithm.expressions import (
    Dot,
    Expr,
    Read,
    Reduce,
    Reshape,
    free_labels,
    reads,
)
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.joined_loops import is_carried
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of
from dtpoly.explore.cost.work import DEFAULT_WARPS, unit_of
from dtpoly.explore.devices.devices import Device
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Role
from dtpoly.targets.parameter_types import BYTES

WARP = 32
DEFAULT_STAGES = 3  # Triton's own, where the schedule says nothing
# Registers that a thread has at most, and about how many it needs for addresses and numbers.
MOST_REGISTERS, OTHERS = 255, 16
# Of a tile that is loaded and used up, and of one that is computed, what is alive at a moment.
# With these and the number above, half of 398 kernels are within -21 and +11 % of the compiler's.
LOADED, COMPUTED = 0.5, 0.25
# Registers of an element of an operand that is loaded by itself: a value, the next one, and an
# address. An address alone is enough where at least four bytes are copied in the background.
EACH_ALONE, ADDRESS, COPIED = 4, 2, 4
# Warps that multiply together, the rows that their product has at least, the least rows and columns
# of a warp that multiplies by itself, and the bytes of each that it reads at once.
GROUP, ROWS = 4, 64
LEAST_ROWS, LEAST_COLUMNS, AT_ONCE = 16, 8, 128
REGISTER_STEP = 8
BLOCK_OVERHEAD = 1024
# Of products without tensor cores, as Triton shares their tiles among threads.
SQUARE = 4  # rows and columns that are side by side in a thread, where it has enough of them
READ_AHEAD = 4  # indices that are summed over for which a thread has both operands in registers


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one program, and how many programs a multiprocessor holds at a time.

    `spilled` is in bytes of a program. `resident` is 0 where a program has too much shared memory.
    """

    warps: int
    registers: int
    spilled: int
    shared: int
    resident: int
    limit: str


def resources_of(kernel: CostedKernel, device: Device) -> Resources:
    """Return an estimate from tiles alone: nothing is compiled."""
    warps = kernel.launch.num_warps or DEFAULT_WARPS
    threads = warps * WARP
    wanted = OTHERS + ceil(_live_bytes(kernel) / (4 * threads))
    # The compiler leaves room for one program at least.
    most = min(MOST_REGISTERS, int(device["registers"]) // threads)
    registers = min(wanted + ceil(_read_first(kernel, device)), most)
    spilled = 4 * threads * max(wanted - most, 0)
    shared = _shared(kernel)
    given = -(-registers // REGISTER_STEP) * REGISTER_STEP
    limits = {
        "threads": int(device["threads"]) // threads,
        "blocks": int(device["blocks"]),
        "registers": int(device["registers"]) // (given * threads),
    }
    if shared:
        limits["shared memory"] = int(device["shared_bytes"]) // (shared + BLOCK_OVERHEAD)
    if shared > device["block_shared"]:
        limits["shared memory"] = 0
    limit = min(limits, key=lambda name: limits[name])
    return Resources(warps, registers, spilled, shared, limits[limit], limit)


def stages_of(kernel: CostedKernel) -> int:
    """Count the iterations of an innermost loop that are under way, with the one that computes."""
    asked = kernel.launch.num_stages
    # What is copied in the background has four bytes at least.
    if any(s.is_operand and not s.is_wide and s.size < 4 for s in kernel.streams):
        return 1
    if asked is not None:
        return asked
    return DEFAULT_STAGES if kernel.operand_dtypes else 1


def _live_bytes(kernel: CostedKernel) -> float:
    """Bytes of the tiles that are alive at the same time, at most."""
    passed = sum(4 * lanes_of(w, w.statement.labels) for w in kernel.walks if _is_passed(kernel, w))
    shared = sum(4 * s.tile for s in kernel.streams if s.is_kept)
    # What is made of a tile mostly takes its place.
    kept = max(passed, shared) + sum(map(_carried, kernel.walks))
    each = (_of_walk(kernel, walk) + _beside(kernel, at) for at, walk in enumerate(kernel.walks))
    return kept + max(each, default=0)


def _beside(kernel: CostedKernel, at: int) -> int:
    """Return the bytes of sums of other reductions that stay while a statement computes.

    The loop of a reduction may be around the statement, or another one reads its sums later.
    """
    walk, found = kernel.walks[at], 0
    for place, other in enumerate(kernel.walks):
        array = other.statement.writes.array
        if other is walk or other.statement.role is not Role.UPDATE or is_carried(other):
            continue
        if array in kernel.in_memory:
            continue
        if other.nest and {*other.nest} < {*walk.nest}:
            found += _added_up(kernel, other)
        elif place < at and array not in _arrays(walk) and _is_read_after(kernel, array, at):
            found += _own_sums(kernel, other)
    return found


def _is_read_after(kernel: CostedKernel, array: str, at: int) -> bool:
    return any(array in _arrays(one) for one in kernel.walks[at + 1 :])


def _added_up(kernel: CostedKernel, walk: StatementWalk) -> int:
    """Return the bytes of a reduction's sums inside of its loop: one for each element of a tile."""
    if isinstance(walk.statement.body, Dot):
        return _own_sums(kernel, walk)
    return 4 * lanes_of(walk, walk.statement.labels)


def _carried(walk: StatementWalk) -> int:
    """Return the bytes of sums that stay while other statements of a joined loop compute."""
    return 4 * lanes_of(walk, walk.statement.free) if is_carried(walk) else 0


def _is_passed(kernel: CostedKernel, walk: StatementWalk) -> bool:
    """Return whether a statement's value stays in registers until another one reads it."""
    array, is_value = walk.statement.writes.array, walk.statement.role is Role.VALUE
    readers = (other for other in kernel.walks if other is not walk)
    is_read = any(read.array == array for other in readers for read in other.statement.reads)
    return is_value and is_read and array not in kernel.in_memory


def _of_walk(kernel: CostedKernel, walk: StatementWalk) -> float:
    """Estimate the bytes that a statement has at hand: loads, accumulator, intermediate values.

    Of an elementwise computation only a part of the tile is alive at any moment. Elements that are
    loaded one by one have an address each.
    """
    statement = walk.statement
    made = 4 * lanes_of(walk, statement.labels)
    mine = list(_loads(kernel, walk))
    loads = sum(s.size * s.tile for s in mine if not s.is_kept)
    alone = max((lanes_of(walk, s.labels) for s in mine if not s.is_wide), default=0)
    if statement.role is Role.UPDATE and isinstance(statement.body, Dot):
        sums = _own_sums(kernel, walk)
        if statement.name not in kernel.operand_dtypes:
            return sums + made
        if statement.is_over_range and not walk.joined:
            # The tile that a range cuts is multiplied whole; the sums before are kept until it is
            # seen that no nan came of it.
            sums *= 2
        return sums + _of_operands(kernel, walk, statement.body)
    is_added = statement.role is Role.UPDATE and walk.loops
    sums = made if is_added and not (walk.joined and kernel.operand_dtypes) else 0
    if mine:
        sums += sum(_own_sums(kernel, product) for product in _products_read(kernel, walk))
    return sums + LOADED * loads + COMPUTED * made + 4 * alone * _each_alone(kernel, walk)


def _own_sums(kernel: CostedKernel, walk: StatementWalk) -> int:
    """Return the bytes of the sums of a product, where they are not counted as kept.

    They are where a joined loop carries them, and where a value that takes their place is passed.
    """
    array, many = walk.statement.writes.array, lanes_of(walk, _labels_of_sums(walk))
    takers = (w for w in kernel.walks if array in _arrays(w) and _is_passed(kernel, w))
    is_taken = any(lanes_of(w, w.statement.labels) == many for w in takers)
    return 0 if is_carried(walk) or is_taken else 4 * many


def _labels_of_sums(walk: StatementWalk) -> tuple[str, ...]:
    """Return the labels of the sums; inside of another sum, they have labels of that one, too."""
    body = walk.statement.body
    reduced = body.labels if isinstance(body, Dot | Reduce) else ()
    return tuple(x for x in walk.statement.labels if x not in reduced)


def _products_read(kernel: CostedKernel, walk: StatementWalk) -> list[StatementWalk]:
    """Return the products whose sums a statement reads."""
    read, products = _arrays(walk), kernel.operand_dtypes
    every = (w for w in kernel.walks if w.statement.name in products)
    return [w for w in every if w.statement.writes.array in read]


def _arrays(walk: StatementWalk) -> set[str]:
    """Return the arrays and inputs that a statement reads."""
    body = walk.statement.body
    found = {one.array for one in walk.statement.reads}
    return found if body is None else found | {one.tensor for one in reads(body)}


def _each_alone(kernel: CostedKernel, walk: StatementWalk) -> int:
    """Return the registers of an element that is loaded by itself, and is no operand.

    Beside sums of products, all elements of a tile are there before they are added, each with its
    address. In a joined loop, those of later iterations are there, too.
    """
    products = kernel.operand_dtypes
    if walk.joined and any(w.statement.name in products for w in kernel.walks if w.joined):
        return ADDRESS + 2 * stages_of(kernel)
    return EACH_ALONE if _products_read(kernel, walk) else 1


def _of_operands(kernel: CostedKernel, walk: StatementWalk, body: Dot) -> float:
    """Return the bytes of what threads have in registers of a product, beside its sums."""
    dtype = kernel.operand_dtypes[walk.statement.name]
    loads = [s for s in _loads(kernel, walk) if s.is_operand and not s.is_wide]
    if unit_of(dtype, kernel.launch.precision) is None:
        # Each element has an address and a condition, in each step.
        alone = EACH_ALONE * sum(s.tile for s in loads)
        return 4 * alone + _of_lanes(kernel, walk, body)
    # Tensor cores read what is copied to shared memory. What is copied in the background needs an
    # address alone, and what has less than four bytes goes through registers.
    each = [(EACH_ALONE if s.size < COPIED else ADDRESS) if walk.loops else 1 for s in loads]
    alone = sum(lanes_of(walk, s.labels) * n for s, n in zip(loads, each, strict=True))
    sides = computed_sides(kernel, walk, body)
    return 4 * alone + sum(BYTES[dtype] * lanes_of(walk, free_labels(side)) for side in sides)


def _of_lanes(kernel: CostedKernel, walk: StatementWalk, body: Dot) -> float:
    """Return the bytes of operands that lanes multiply, beside what their loads need.

    A thread reads few indices of an operand ahead. One that is computed is all there before, and
    both are if a tile of one is put together from several labels.
    """
    warps = kernel.launch.num_warps or DEFAULT_WARPS
    own = own_sides(walk, body)
    sides = lane_sides(lanes_of(walk, own[0]), lanes_of(walk, own[1]), warps)
    many = operand_registers(sides)
    depth = lanes_of(walk, body.labels)
    computed = {x for side in computed_sides(kernel, walk, body) for x in free_labels(side)}
    is_joint = any(sum(lanes_of(walk, (x,)) > 1 for x in labels) > 1 for labels in own)
    for labels, mine in zip(own, sides, strict=True):
        if is_joint or computed & {*labels}:
            many += max(depth - READ_AHEAD, 0) * mine.each
    return 4 * WARP * warps * many


def computed_sides(kernel: CostedKernel, walk: StatementWalk, body: Dot) -> Iterator[Expr]:
    """Yield the operands that are in registers first: no copy of what is in memory."""
    loaded = {s.array for s in _loads(kernel, walk)}
    for side in (body.left, body.right):
        inner = side.operand if isinstance(side, Reshape) else side
        if not isinstance(inner, Read) or inner.tensor not in loaded:
            yield side


def own_sides(walk: StatementWalk, body: Dot) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of the rows of a product, and those of its columns."""
    # A product inside of a sum has the label of the sum, too, which is none of the Func's own.
    free = (*walk.statement.free, *(x for x in free_labels(body) if x not in walk.statement.free))
    left, right = ({*free_labels(side)} - {*body.labels} for side in (body.left, body.right))
    first, second = sorted(
        (left - right, right - left), key=lambda side: min(map(free.index, side), default=0)
    )
    return tuple(x for x in free if x in first), tuple(x for x in free if x in second)


def _read_first(kernel: CostedKernel, device: Device) -> float:
    """Return the registers in which a thread has operands that its warp multiplies.

    Warps that multiply together read shared memory as they do. Others copy what they multiply into
    registers, as much of it as these have room for.
    """
    return max((_of_warp(kernel, walk, device) for walk in kernel.walks), default=0.0)


def _of_warp(kernel: CostedKernel, walk: StatementWalk, device: Device) -> float:
    body, dtype = walk.statement.body, kernel.operand_dtypes.get(walk.statement.name)
    if dtype is None or not isinstance(body, Dot):
        return 0.0
    warps = kernel.launch.num_warps or DEFAULT_WARPS
    rows, columns = (lanes_of(walk, side) for side in own_sides(walk, body))
    is_group = device.target.has_groups and warps % GROUP == 0 and max(rows, columns) >= ROWS
    if is_group or unit_of(dtype, kernel.launch.precision) is None:
        return 0.0
    depth = min(BYTES[dtype] * lanes_of(walk, body.labels), AT_ONCE)
    return depth * sum(_sides_of_warp(rows, columns, warps)) / (4 * WARP)


def _sides_of_warp(rows: int, columns: int, warps: int) -> tuple[int, int]:
    """Return the rows and the columns of a warp, which Triton keeps about equally many."""
    while warps > 1:
        if rows >= columns and rows > LEAST_ROWS:
            rows //= 2
        elif columns > LEAST_COLUMNS:
            columns //= 2
        warps //= 2
    return rows, columns


def _loads(kernel: CostedKernel, walk: StatementWalk) -> Iterator[AccessStream]:
    return (s for s in kernel.streams if s.walk is walk and not s.is_store)


def _shared(kernel: CostedKernel) -> int:
    """Operands of products, as many times as there are iterations under way."""
    found = 0
    stages = stages_of(kernel)
    together = dict[tuple[str, ...], int]()  # of the products in one joined loop
    for walk in kernel.walks:
        if walk.statement.name in kernel.operand_dtypes:
            under_way = stages + (stages - 1 if _has_second_loop(walk) else 0)
            tiles = sum(
                s.tile * s.size * (under_way if walk.loops and not s.is_resident else 1)
                for s in _loads(kernel, walk)
                if s.is_operand
            )
            if walk.joined:
                tiles = together[walk.joined] = tiles + together.get(walk.joined, 0)
            found = max(found, tiles)
    if found and kernel.launch.each:
        # The block that is stored goes through it while the next one is loaded.
        stores = [s for s in kernel.streams if s.is_store]
        found += max((s.tile * s.size // _parts(kernel, s) for s in stores), default=0)
    return found


def _has_second_loop(walk: StatementWalk) -> bool:
    """Return whether several tiles in a row are cut by a range, in a joined loop.

    They have a loop of their own behind the other one, and Triton gives it memory of its own.
    """
    if not (walk.joined and walk.statement.is_over_range):
        return False
    reduced = {axis.index.plain for axis in walk.loops}
    steps = min((many for x, many in walk.spans.items() if x in reduced), default=1)
    along = {x for one in walk.statement.taken for x in one.labels} - reduced
    return any(walk.spans.get(x, 1) > steps for x in along)


def _parts(kernel: CostedKernel, store: AccessStream) -> int:
    """Return the number of parts in which a tile is stored.

    By address, those are the rows that all warps multiply at once, and halves of 16-bit numbers.
    """
    launch = kernel.launch
    if kernel.node.func not in launch.descriptors:
        columns = lanes_of(store.walk, store.indices[-1].labels) if store.indices else 1
        at_once = LEAST_ROWS * (launch.num_warps or DEFAULT_WARPS)
        halves = 1 if store.size >= COPIED else 2
        return halves * max(store.tile // max(columns, 1) // at_once, 1)
    return prod(max(1, lanes_of(store.walk, (x,)) // size) for x, size in launch.boxes.items())


@dataclass(frozen=True, slots=True)
class LaneSide:
    """The rows or the columns of a product: those of a thread, and the threads along them."""

    each: float
    threads: int
    square: int  # side by side


def lane_sides(rows: int, columns: int, warps: int) -> tuple[LaneSide, LaneSide]:
    """Return how a tile is shared among threads: squares, along columns first."""
    each = rows * columns / (warps * WARP)
    square = SQUARE if each >= SQUARE**2 else 2 if each >= SQUARE else 1
    along = min(WARP, max(columns // square, 1))
    down = WARP // along
    beside = min(warps, max(columns // (square * along), 1))
    below = warps // beside
    return (
        LaneSide(max(rows / (down * below), 1), down, square),
        LaneSide(max(columns / (along * beside), 1), along, square),
    )


def operand_registers(sides: tuple[LaneSide, LaneSide]) -> float:
    """Return how many registers a thread needs for what it multiplies, beside its sums."""
    across, along = sides
    return READ_AHEAD * (across.each + along.each)
