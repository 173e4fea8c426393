"""Estimates how many registers and how much shared memory a program of a kernel takes."""

from math import ceil

from dtpoly.algorithm.expressions import (
    Dot,
    Reduce,
    free_labels,
    reads,
)
from dtpoly.codegen.elements import PAIRED
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.joined_loops import is_carried
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.product_units import (
    DEFAULT_WARPS,
    ProductUnit,
    TileProduct,
    computed_sides,
    held_by_warps,
    is_plain,
    loads_of,
    product_of,
)
from dtpoly.explore.needs.shared_memory import shared_bytes
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Role
from dtpoly.targets.argument import ALIGNED
from dtpoly.targets.parameter_types import BYTES

WARP = 32
DEFAULT_STAGES = 3  # Triton's own, where the schedule says nothing
# Registers that a thread has at most, and about how many it needs for addresses and numbers.
MOST_REGISTERS, OTHERS = 255, 16
# Of a tile that is loaded and used up, and of one that is computed, what is alive at a moment.
# With these and the number above, half of 398 kernels are within -21 and +11 % of the compiler's.
LOADED, COMPUTED = 0.5, 0.25
# Numbers of each element beside its value: of one that lanes scan, what neighbours have so far; of
# one that is compared to find where the largest is, two places and the other value.
SCANNED, PLACES = 1.5, 2.0
# Registers of what is loaded by one instruction for shared memory, by who multiplies it: an address
# of 64 bits, and parts of a condition and of an address in shared memory. If all rows are multiples
# of 16 numbers, addresses have more in common. What has less than four bytes goes through
# registers. If its rows lie along what is summed up, a step moves it on, and it needs less. While
# another loop of the kernel multiplies, its address stays.
EACH_PIECE, BY_WARPS, ALIKE, THROUGH, MOVED_ON, LATER = 3.5, 4.5, 2.0, 3.0, 1.5, 1.5
# A kernel that goes from block to block has addresses of the next one, too.
NEXT_BLOCK = 24
# About how many registers a kernel with products needs for addresses and numbers.
OTHERS_OF_PRODUCTS = 26
# Registers of an element beside a product that is loaded by itself: a value, the next one, and an
# address. An address alone is enough where at least four bytes are copied in the background.
EACH_ALONE, ADDRESS, COPIED = 4, 2, 4
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
    others = OTHERS_OF_PRODUCTS if kernel.operand_dtypes else OTHERS
    wanted = others + ceil(_live_bytes(kernel, device) / (4 * threads))
    # The compiler leaves room for one program at least.
    most = min(MOST_REGISTERS, int(device["registers"]) // threads)
    registers = min(wanted, most)
    spilled = 4 * threads * max(wanted - most, 0)
    shared = shared_bytes(kernel, device)
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


def _live_bytes(kernel: CostedKernel, device: Device) -> float:
    """Bytes of the tiles that are alive at the same time, at most."""
    passed = sum(4 * lanes_of(w, w.statement.labels) for w in kernel.walks if _is_passed(kernel, w))
    shared = sum(4 * s.tile for s in kernel.streams if s.is_kept)
    # What is made of a tile mostly takes its place.
    kept = max(passed, shared) + sum(map(_carried, kernel.walks))
    each = (
        _of_walk(kernel, walk, device) + _beside(kernel, at) + _of_pieces(kernel, walk, device)
        for at, walk in enumerate(kernel.walks)
    )
    return kept + max(each, default=0)


def _of_pieces(kernel: CostedKernel, walk: StatementWalk, device: Device) -> float:
    """Return the bytes of what copies of operands need while a statement of a product computes.

    Those of its own loop stand before the next step; of the others only addresses stay.
    """
    product = product_of(kernel, walk, device)
    if product is None:
        return 0.0
    copied = BY_WARPS if product.unit is ProductUnit.WARP else EACH_PIECE
    warps, found = kernel.launch.num_warps or DEFAULT_WARPS, 0.0
    for one in kernel.streams:
        if not one.is_operand or one.is_resident or one.array in kernel.launch.descriptors:
            continue
        pieces = lanes_of(one.walk, one.labels) / one.at_once
        if not one.walk.loops:
            found += pieces if one.walk is walk else 0
        elif one.walk.nest == walk.nest:
            each = copied if one.is_wide or one.size >= COPIED else THROUGH
            if _is_alike(one, product.unit):
                each = 0.0 if product.unit is ProductUnit.LANES else ALIKE
            is_moved_on = _is_moved_on(one) and not kernel.launch.each
            found += pieces * (min(MOVED_ON, each) if is_moved_on else each)
            found += NEXT_BLOCK * warps * WARP if kernel.launch.each else 0
        else:
            is_near = _is_moved_on(one) or _is_alike(one, product.unit)
            found += 0 if is_near else pieces * LATER
    return 4 * found


def _is_alike(one: AccessStream, unit: ProductUnit) -> bool:
    """Return whether the addresses of a tile differ by what is known; warps need whole tiles."""
    spans = one.walk.spans
    is_whole = all(one.walk.extents[x] % spans[x] == 0 for x in one.labels if x in spans)
    return one.is_wide and one.told == ALIGNED and (is_whole or unit is ProductUnit.GROUP)


def _is_moved_on(one: AccessStream) -> bool:
    """Return whether the rows of an operand lie along what is summed up, or are those of a window.

    The addresses of other rows stay as they are, and a thread has each of them.
    """
    body = one.walk.statement.body
    reduced = {*body.labels} if isinstance(body, Dot) else set[str]()
    if not one.indices or reduced.isdisjoint(one.indices[-1].labels):
        return True
    return any(len(x.terms) > 1 and reduced & {*x.labels} for x in one.indices[:-1])


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


def _of_walk(kernel: CostedKernel, walk: StatementWalk, device: Device) -> float:
    """Estimate the bytes that a statement has at hand: loads, accumulator, intermediate values.

    Of an elementwise computation only a part of the tile is alive at any moment. Elements that are
    loaded one by one have an address each.
    """
    statement = walk.statement
    made = 4 * lanes_of(walk, statement.labels)
    mine = list(loads_of(kernel, walk))
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
        return sums + _of_operands(kernel, walk, statement.body, device)
    is_added = statement.role is Role.UPDATE and walk.loops
    sums = made if is_added and not (walk.joined and kernel.operand_dtypes) else 0
    if mine:
        sums += sum(_own_sums(kernel, product) for product in _products_read(kernel, walk))
    moved = LOADED * loads + 4 * alone * _each_alone(kernel, walk)
    return sums + moved + (COMPUTED + _beside_values(walk)) * made


def _beside_values(walk: StatementWalk) -> float:
    """Return how many numbers there are for each element of a tile beside its value."""
    body = walk.statement.body
    if walk.statement.role is Role.SCAN:
        return SCANNED
    is_paired = isinstance(body, Reduce) and body.operation in PAIRED
    return PLACES if is_paired else 0.0


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
    address. A joined loop has half of that, whatever its stages: what is loaded by itself is not
    loaded for later iterations, and its addresses differ by what is known, or by rows.
    """
    products = kernel.operand_dtypes
    if walk.joined and any(w.statement.name in products for w in kernel.walks if w.joined):
        return ADDRESS
    return EACH_ALONE if _products_read(kernel, walk) else 1


def _of_operands(kernel: CostedKernel, walk: StatementWalk, body: Dot, device: Device) -> float:
    """Return the bytes of what threads have in registers to multiply it, beside its sums."""
    product = product_of(kernel, walk, device)
    assert product is not None
    if product.unit is ProductUnit.LANES:
        return _of_lanes(kernel, walk, body, product)
    warps, size = kernel.launch.num_warps or DEFAULT_WARPS, BYTES[product.dtype]
    held = 4 * WARP * warps * held_by_warps(product, size, warps)
    made = (size * lanes_of(walk, free_labels(side)) for side in computed_sides(kernel, walk, body))
    return max(held, sum(made))


def _of_lanes(kernel: CostedKernel, walk: StatementWalk, body: Dot, product: TileProduct) -> float:
    """Return the bytes of operands that lanes multiply, beside what their loads need.

    A thread reads few indices of an operand ahead. But if only the columns are put together in
    registers, and go back to shared memory, the rows are read before that, all of them.
    """
    warps = kernel.launch.num_warps or DEFAULT_WARPS
    sides = lane_sides(product.rows, product.columns, warps)
    many = operand_registers(sides)
    is_row, is_column = (is_plain(kernel, walk, body, own) for own in product.sides)
    if is_row and not is_column:
        many += max(product.depth - READ_AHEAD, 0) * sides[0].each
    return 4 * WARP * warps * many


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
