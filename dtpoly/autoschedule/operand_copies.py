"""Finds operands of products that lie badly in memory, and has them copied before they are read.

The copy is a Func of its own, whose elements are those of the input: the algorithm computes the
same as before. Each tile of a product reads an operand again, so what a copy costs once is saved
at each of them.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from dtpoly.algorithm.expressions import Affine, Dot, Expr, Read, map_children, reads
from dtpoly.algorithm.label_sizes import input_shapes
from dtpoly.algorithm.program import Func, Label, Program
from dtpoly.autoschedule.layout_directives import new_name
from dtpoly.autoschedule.nest import KernelNest, MovedTensor, NestReduction, sides_of
from dtpoly.autoschedule.preferences import LANES_WIDTH, is_hopper
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.frozen import dataclass

# Columns of a result with which the threads of a warp lie side by side along them: four each.
BESIDE = 128


@dataclass(frozen=True, slots=True)
class OperandCopy:
    """An input whose axes are copied in another order, for the products that read it so.

    An axis that is read at a sum of labels, or at one with a range, has a label of its own.
    """

    func: str
    tensor: str
    indices: tuple[Affine, ...]  # at which products read it
    labels: tuple[str, ...]  # of its axes
    order: tuple[int, ...]  # in which the copy has them
    new: tuple[str, ...] = ()  # those of the labels that the algorithm does not have

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the labels of the copy, the outermost first."""
        return tuple(self.labels[at] for at in self.order)


def copies_of(call: PricedCall, nest: KernelNest) -> tuple[tuple[OperandCopy, ...], ...]:
    """Return the sets of copies that are worth a look for a kernel that multiplies, if any."""
    if len(nest.products) != 1 or nest.is_chain:
        return ()
    (one,) = nest.products
    rows, columns = _by_place(nest, one)
    of_rows, of_columns = [*_badly(call, nest, one, rows)], [*_badly(call, nest, one, columns)]
    both = [*of_rows, *of_columns]
    if call.precision:
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
    shapes = input_shapes(call.program, call.sizes)
    sizes, program = dict(call.sizes), call.program
    for one in copies:
        extents = zip(one.labels, shapes[one.tensor], strict=True)
        sizes |= {label: extent for label, extent in extents if label in one.new}
        program = _copied(program, one)
    return replace(call, program=program, sizes=sizes)


def _copied(program: Program, one: OperandCopy) -> Program:
    """Return the algorithm with the Func of a copy, which products read in the input's place."""
    read = Read(one.tensor, tuple(Affine(((label, 1),)) for label in one.labels))
    funcs = tuple(
        replace(func, body=_reading(func.body, one, is_operand=False)) for func in program.funcs
    )
    labels = (*program.labels, *(Label(name) for name in one.new))
    return replace(program, funcs=(Func(one.func, one.kept, read), *funcs), labels=labels)


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
        if inside and expr.tensor == one.tensor and expr.indices == one.indices:
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

    Without tensor cores that is a label of the side, whose neighbours a thread multiplies; the
    tensor cores of sm_90 want operands of 32 bits contiguous along what is summed up.
    """
    if call.precision and not is_hopper(call.device):
        return
    for load in nest.loads:
        is_input = load.is_operand and not load.is_between and not load.is_turned
        if not is_input or load.size != LANES_WIDTH or not set(side) & load.labels:
            continue
        wanted = set(one.labels) if call.precision else set(side)
        at = _axis_along(load, wanted)
        if at is not None and not wanted & {*load.contiguous}:
            yield _copy(call.program, nest, load, at)


def _axis_along(load: MovedTensor, wanted: set[str]) -> int | None:
    """Return the longest axis of an input that goes along one of some labels, step by step."""
    found = [
        at
        for at, index in enumerate(load.indices)
        if index.data is None
        and any(isinstance(term, str) and term in wanted and by == 1 for term, by in index.terms)
    ]
    if any(index.data is not None or index.divisions for index in load.indices):
        return None
    return max(found, key=lambda at: load.shape[at], default=None)


def _copy(program: Program, nest: KernelNest, load: MovedTensor, at: int) -> OperandCopy:
    """Return the copy of an input in which an axis is the innermost one."""
    taken = set(nest.taken)
    ranged = {one.name for one in program.labels if one.range is not None}
    labels: list[str] = []
    new: list[str] = []
    for axis, index in enumerate(load.indices):
        (first, *others) = index.terms or ((f"i{axis}", 1),)
        name = str(first[0])
        is_plain = not others and first[1] == 1 and not index.constant and bool(index.terms)
        if not is_plain or name in ranged or name in labels:
            name = new_name(name, "i", taken)
            new.append(name)
        taken.add(name)
        labels.append(name)
    order = (*(axis for axis in range(len(labels)) if axis != at), at)
    func = new_name(load.tensor, "_turned", taken)
    return OperandCopy(func, load.tensor, load.indices, tuple(labels), order, tuple(new))


def _each_once(copies: list[OperandCopy] | tuple[OperandCopy, ...]) -> tuple[OperandCopy, ...]:
    """Return copies with names that differ; what both sides read alike is copied once."""
    found: list[OperandCopy] = []
    for one in dict.fromkeys(copies):
        taken = {other.func for other in found} | {x for other in found for x in other.new}
        name = one.func
        number = 2
        while name in taken:
            name, number = f"{one.func}{number}", number + 1
        found.append(replace(one, func=name))
    return tuple(found)
