"""Finds operands of products that lie badly in memory, and has them copied before they are read.

The copy is a Func of its own, whose elements are those of the input: the algorithm computes the
same as before. Each tile of a product reads an operand again, so what a copy costs once is saved
at each of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from dtpoly.algorithm.expressions import Affine, Dot, Expr, Read, map_children, reads
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Func, Label, Program
from dtpoly.autoschedule.layout_directives import new_name
from dtpoly.autoschedule.nest import ALIGNED, KernelNest, MovedTensor, NestReduction, sides_of
from dtpoly.autoschedule.preferences import LANES_WIDTH, is_by_lanes, is_hopper
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.frozen import dataclass

# Columns of a result with which the threads of a warp lie side by side along them: four each.
BESIDE = 128


@dataclass(frozen=True, slots=True)
class OperandCopy:
    """An input whose axes are copied in another order, for the products that read it so."""

    func: str
    tensor: str
    indices: tuple[Affine, ...]  # at which products read it
    labels: tuple[str, ...]  # of the copy, one for each axis of the input
    order: tuple[int, ...]  # in which the copy has its axes
    added: tuple[tuple[str, int], ...] = ()  # those labels that no product has, with their sizes

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the labels of the copy, the outermost first."""
        return tuple(self.labels[at] for at in self.order)

    @property
    def read(self) -> Read:
        """Return what the copy reads of the input."""
        return Read(self.tensor, tuple(Affine(((label, 1),)) for label in self.labels))

    def is_at(self, read: Read) -> bool:
        """Return whether a read of a product is one that the copy takes the place of."""
        return read.tensor == self.tensor and read.indices == self.indices and not read.within


def copies_of(call: PricedCall, nest: KernelNest) -> tuple[tuple[OperandCopy, ...], ...]:
    """Return the sets of copies that are worth a look for a kernel that multiplies, if any."""
    if len(nest.products) != 1 or nest.is_chain:
        return ()
    (one,) = nest.products
    rows, columns = _by_place(nest, one)
    of_rows, of_columns = [*_badly(call, nest, one, rows)], [*_badly(call, nest, one, columns)]
    both = [*of_rows, *of_columns]
    if not is_by_lanes(nest, call.precision):
        sets = [both, of_rows, of_columns]
    else:
        # Where there are columns for all threads of a warp, these read the same of the rows.
        is_narrow = prod(nest.sizes[label] for label in columns) < BESIDE
        sets = [of_columns, *([both, of_rows] if is_narrow else [])]
    return tuple(dict.fromkeys(_each_once(some) for some in sets if some))


def with_copies(call: PricedCall, copies: tuple[OperandCopy, ...]) -> PricedCall:
    """Return the task for the algorithm in which products read copies of inputs."""
    if not copies:
        return call
    program, sizes = call.program, dict(call.sizes)
    for one in copies:
        program = _copied(program, one)
        sizes |= one.added
    return replace(call, program=program, sizes=sizes)


def sizes_with_copies(call: PricedCall, program: Program) -> Mapping[str, int]:
    """Return the sizes of a task's labels, and of those that copies of its inputs have."""
    shapes, sizes = input_shapes(call.program, call.sizes), dict(call.sizes)
    for func in program.funcs:
        if call.program.find_func(func.name) is None and isinstance(func.body, Read):
            for index, size in zip(func.body.indices, shapes[func.body.tensor], strict=True):
                sizes.setdefault(index.plain or "", size)
    return sizes


def _copied(program: Program, one: OperandCopy) -> Program:
    """Return the algorithm with the Func of a copy, which products read in the input's place."""
    funcs = tuple(
        replace(func, body=_reading(func.body, one, is_operand=False)) for func in program.funcs
    )
    labels = (*program.labels, *(Label(label) for label, _ in one.added))
    return replace(program, labels=labels, funcs=(Func(one.func, one.kept, one.read), *funcs))


def is_read(program: Program, copies: tuple[OperandCopy, ...]) -> bool:
    """Return whether the products of an algorithm read each copy.

    Where an inlined Func reads an input, the definition has other labels than the kernel.
    """
    read = {x.tensor for func in program.funcs for x in reads(func.body)}
    return all(one.func in read for one in copies)


def _reading(expr: Expr, one: OperandCopy, *, is_operand: bool) -> Expr:
    """Return an expression whose products read the copy where they read the input so."""
    inside = is_operand or isinstance(expr, Dot)
    if isinstance(expr, Read):
        if inside and one.is_at(expr):
            moved = tuple(expr.indices[at] for at in one.order)
            return replace(expr, tensor=one.func, indices=moved)
        return expr
    return map_children(expr, lambda child: _reading(child, one, is_operand=inside))


def _by_place(nest: KernelNest, one: NestReduction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of the side that has the rows of a tile, and those of the other side."""
    left, right, _ = sides_of(nest, one)
    sides = sorted((left, right), key=lambda side: nest.labels.index(side[0]) if side else 0)
    return sides[0], sides[1]


def _badly(
    call: PricedCall, nest: KernelNest, one: NestReduction, side: tuple[str, ...]
) -> Iterator[OperandCopy]:
    """Yield copies of the inputs of one side that are not contiguous along the right label.

    Without tensor cores that is a label of the side, whose neighbours a thread multiplies; tensor
    cores want operands contiguous along what is summed up.
    """
    is_by_cores = not is_by_lanes(nest, call.precision)
    wanted = set(one.labels) if is_by_cores else set(side)
    for load in nest.loads:
        is_input = load.is_operand and not load.is_between and not load.is_turned
        if not is_input or not set(side) & load.labels:
            continue
        if any(index.data is not None for index in load.indices):
            continue  # data names what is read, and that is seldom all
        if is_by_cores:
            is_slow = _is_slow(call, load, wanted) or _is_by_batch(load, {*side, *wanted})
            at = _longest_axis(nest, load, wanted) if is_slow else None
        else:
            is_bad = load.size == LANES_WIDTH and not wanted & {*load.contiguous}
            at = _longest_plain_axis(call.program, load, wanted) if is_bad else None
        if at is not None:
            yield _copy_of(call, nest, load, at)


def _longest_plain_axis(program: Program, load: MovedTensor, wanted: set[str]) -> int | None:
    """Return the longest axis that is read at one of some labels, if all axes are as labels are."""
    ranged = {one.name for one in program.labels if one.range is not None}
    labels = [index.plain for index in load.indices]
    if None in labels or len({*labels} - ranged) < len(labels):
        return None
    found = [at for at, label in enumerate(labels) if label in wanted]
    return max(found, key=lambda at: load.shape[at], default=None)


def _longest_axis(nest: KernelNest, load: MovedTensor, wanted: set[str]) -> int | None:
    """Return the axis along which a tile has most elements side by side as one label is stepped.

    Fewer than 16 bytes of them cannot be loaded at once, so such an axis is worth nothing.
    """
    longest: dict[int, int] = {}
    for at, index in enumerate(load.indices):
        stepped = [x for x, factor in index.terms if isinstance(x, str) and factor == 1]
        steps = [nest.sizes[x] for x in stepped if x in wanted]
        if max(steps, default=0) * load.size >= ALIGNED:
            longest[at] = max(steps)
    return max(longest, key=lambda at: longest[at], default=None)


def _is_slow(call: PricedCall, load: MovedTensor, wanted: set[str]) -> bool:
    """Return whether tensor cores get an operand slowly from where it is.

    Those of sm_90 take operands of 32 bits from shared memory along one axis only. On any GPU a
    tile is loaded an element at a time if its rows begin anywhere: they are no multiple of 16
    bytes, or are read at a sum of labels.
    """
    last = load.indices[-1].plain if load.indices else None
    if load.row % ALIGNED != 0 or last is None:
        return True
    return load.size == LANES_WIDTH and is_hopper(call.device) and last not in wanted


def _is_by_batch(load: MovedTensor, tile: set[str]) -> bool:
    """Return whether an operand is contiguous along a label that is in no tile of the product.

    That is a label of both sides and of the result. A program loads one element of each line.
    """
    last = load.indices[-1].plain if load.indices else None
    return last is not None and last not in tile


def _copy_of(call: PricedCall, nest: KernelNest, load: MovedTensor, at: int) -> OperandCopy:
    """Return the copy of an input in which one axis is the innermost.

    An axis that is read at a sum of labels, or at a label that does not go along all of it, gets a
    label of its own in the copy: elements outside of the range of a label would be 0 in a Func that
    has the label.
    """
    ranged = {one.name for one in call.program.labels if one.range is not None}
    labels: list[str] = []
    added: list[tuple[str, int]] = []
    for axis, (index, size) in enumerate(zip(load.indices, load.shape, strict=True)):
        plain = index.plain
        if plain is None or plain in ranged or plain in labels:
            plain = new_name(f"{load.tensor.lower()}{axis}", "", {*nest.taken, *labels})
            added.append((plain, size))
        labels.append(plain)
    order = (*(axis for axis in range(len(labels)) if axis != at), at)
    ending = "_turned" if order != (*range(len(labels)),) else "_aligned"
    func = new_name(load.tensor, ending, {*nest.taken, *labels})
    return OperandCopy(func, load.tensor, load.indices, tuple(labels), order, tuple(added))


def _each_once(copies: list[OperandCopy]) -> tuple[OperandCopy, ...]:
    """Return copies with names that differ; what both sides read alike is copied once."""
    found: dict[str, OperandCopy] = {}
    for one in dict.fromkeys(copies):
        name = new_name(one.func, "", {*found})
        found[name] = replace(one, func=name)
    return tuple(found.values())
