"""Finds operands of products that lie badly in memory, and has them copied before they are read.

The copy is a Func of its own, whose elements are those of the input: the algorithm computes the
same as before. Each tile of a product reads an operand again, so what a copy costs once is saved
at each of them.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from dtpoly.algorithm.expressions import Affine, Dot, Expr, Read, map_children, reads
from dtpoly.algorithm.program import Func, Program
from dtpoly.autoschedule.layout_directives import new_name
from dtpoly.autoschedule.nest import KernelNest, MovedTensor, NestReduction, sides_of
from dtpoly.autoschedule.preferences import LANES_WIDTH, is_hopper
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.frozen import dataclass

# Columns of a result with which the threads of a warp lie side by side along them: four each.
BESIDE = 128


@dataclass(frozen=True, slots=True)
class OperandCopy:
    """An input whose axes are copied in another order, for the products that read it so."""

    func: str
    tensor: str
    labels: tuple[str, ...]  # at which products read it
    order: tuple[int, ...]  # in which the copy has its axes

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the labels of the copy, the outermost first."""
        return tuple(self.labels[at] for at in self.order)

    @property
    def read(self) -> Read:
        """Return what products read, and the copy reads of the input."""
        return Read(self.tensor, tuple(Affine(((label, 1),)) for label in self.labels))


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
    program = call.program
    for one in copies:
        program = _copied(program, one)
    return replace(call, program=program)


def _copied(program: Program, one: OperandCopy) -> Program:
    """Return the algorithm with the Func of a copy, which products read in the input's place."""
    funcs = tuple(
        replace(func, body=_reading(func.body, one, is_operand=False)) for func in program.funcs
    )
    return replace(program, funcs=(Func(one.func, one.kept, one.read), *funcs))


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
        if inside and replace(expr, padding=None) == one.read:
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
        at = max(
            (at for at, index in enumerate(load.indices) if index.plain in wanted),
            key=lambda at: load.shape[at],
            default=None,
        )
        if at is not None and not wanted & {*load.contiguous} and _is_plain(call.program, load):
            labels = tuple(index.plain or "" for index in load.indices)
            order = (*(axis for axis in range(len(labels)) if axis != at), at)
            func = new_name(load.tensor, "_turned", nest.taken)
            yield OperandCopy(func, load.tensor, labels, order)


def _is_plain(program: Program, load: MovedTensor) -> bool:
    """Return whether the axes of an input are those of labels, each of which goes along all of it.

    Elements outside of the range of a label would be 0 in a Func that has the label.
    """
    ranged = {one.name for one in program.labels if one.range is not None}
    labels = [index.plain for index in load.indices]
    return None not in labels and len({*labels} - ranged) == len(labels)


def _each_once(copies: list[OperandCopy]) -> tuple[OperandCopy, ...]:
    """Return copies with names that differ; what both sides read alike is copied once."""
    found: dict[str, OperandCopy] = {}
    for one in dict.fromkeys(copies):
        name = new_name(one.func, "", {*found})
        found[name] = replace(one, func=name)
    return tuple(found.values())
