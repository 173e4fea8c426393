"""Estimates how much shared memory a program of a kernel takes."""

from math import prod

from dtpoly.algorithm.expressions import Dot
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.product_units import (
    DEFAULT_WARPS,
    LEAST_ROWS,
    ProductUnit,
    TileProduct,
    is_copied,
    is_plain,
    product_of,
)
from dtpoly.targets.parameter_types import BYTES

COPIED = 4  # bytes that are copied in the background at least
STAGES = 3  # Triton's own, where the schedule says nothing
EXCHANGED = 4096  # bytes of a tile: what is smaller decides nothing


def shared_bytes(kernel: CostedKernel, device: Device) -> int:
    """Return the bytes of operands of products, and of tiles that threads exchange."""
    found = _operand_bytes(kernel, device)
    stored = [one for one in kernel.streams if one.is_store]
    if kernel.launch.each and found:
        # The block that is stored goes through it while the next one is loaded.
        return found + max((s.tile * s.size // _parts(kernel, s) for s in stored), default=0)
    exchanged = (_lanes(s) * s.size for s in stored if found or _is_turned(kernel, s))
    return max(found, max(exchanged, default=0))


def _operand_bytes(kernel: CostedKernel, device: Device) -> int:
    found = 0
    together = dict[tuple[str, ...], int]()  # of the products in one joined loop
    for walk in kernel.walks:
        product = product_of(kernel, walk, device)
        if product is None:
            continue
        mine = (s for s in kernel.streams if s.walk is walk and s.is_operand and not s.is_store)
        tiles = sum(_lanes(s) * s.size * _buffers(kernel, s, product.unit) for s in mine)
        tiles += _put_together(kernel, walk, product)
        if walk.joined:
            tiles = together[walk.joined] = tiles + together.get(walk.joined, 0)
        found = max(found, tiles)
    return found


def _put_together(kernel: CostedKernel, walk: StatementWalk, product: TileProduct) -> int:
    """Return the bytes of operands that threads compute, and exchange before they multiply.

    Groups of warps take the rows from registers. Tensor cores find a tile of several labels where
    it was copied; lanes do not.
    """
    body = walk.statement.body
    assert isinstance(body, Dot)
    exchanged = product.sides[1:] if product.unit is ProductUnit.GROUP else product.sides
    is_kept = is_plain if product.unit is ProductUnit.LANES else is_copied
    many = (
        lanes_of(walk, (*own, *body.labels))
        for own in exchanged
        if not is_kept(kernel, walk, body, own)
    )
    return BYTES[product.dtype] * sum(many)


def _buffers(kernel: CostedKernel, one: AccessStream, unit: ProductUnit) -> int:
    """Return how many tiles of an operand there are at the same time.

    Groups of warps multiply while the next tile is awaited, so that they have one more than other
    warps. What has less than four bytes goes through registers, one tile after another.
    """
    is_early = one.is_wide or one.size >= COPIED
    if not is_early or one.is_resident or not _is_ahead(kernel, one.walk):
        return 1
    asked = kernel.launch.num_stages or STAGES
    loops = 2 if _has_second_loop(one.walk) else 1
    many = asked if unit is ProductUnit.GROUP else max(asked - 1, 1)
    return many + (loops - 1) * max(asked - 1, 0)


def _is_ahead(kernel: CostedKernel, walk: StatementWalk) -> bool:
    """Return whether loads run ahead: those of loops that have no others inside.

    They do not where an iteration stores what it reads again, since it would be read too early.
    """
    nest = walk.nest
    inside = [w for w in kernel.walks if w.nest[: len(nest)] == nest]
    passed = [s for s in kernel.streams if s.is_scratch and s.walk in inside]
    stored = {s.array for s in passed if s.is_store}
    is_passed = any(s.array in stored for s in passed if not s.is_store)
    return bool(nest) and not is_passed and all(len(w.nest) == len(nest) for w in inside)


def _lanes(one: AccessStream) -> int:
    return lanes_of(one.walk, one.labels)


def _is_turned(kernel: CostedKernel, store: AccessStream) -> bool:
    """Return whether something is stored along another label than it is loaded along."""
    if not store.indices or store.size * _lanes(store) < EXCHANGED:
        return False
    along = {*store.indices[-1].labels}
    return any(
        one.walk is store.walk and one.indices and along.isdisjoint(one.indices[-1].labels)
        for one in kernel.streams
        if not one.is_store and _lanes(one) == _lanes(store)
    )


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
