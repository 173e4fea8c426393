"""Describes what each kernel loops over, sums up and loads, before its loops are laid out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property, lru_cache
from math import prod

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Dot,
    Expr,
    Read,
    Reduce,
    children,
    free_labels,
    reads,
)
from dtpoly.algorithm.group_index import grouped
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.label_sizes import Sizes, input_shapes
from dtpoly.algorithm.operations import LIST, WITHOUT_PARTS
from dtpoly.algorithm.program import Argument, Directive, Func, Program, Scalar, Tensor, touched
from dtpoly.algorithm.scans import at_results
from dtpoly.directives.built_in import COMPILING
from dtpoly.explore.accesses.accesses import AS_WRITTEN, Orders, in_memory_order
from dtpoly.frozen import dataclass
from dtpoly.schedule.applied_directives import Begun, begun
from dtpoly.schedule.initial import Begin, initial_once
from dtpoly.schedule.primitive import Primitive
from dtpoly.targets.parameter_types import BYTES

ALIGNED = 16  # bytes
SHAPES = 16  # states that are kept, of the latest layouts
LITTLE = 16  # a tensor that is smaller by so much decides nothing


@dataclass(frozen=True, slots=True)
class NestReduction:
    """A reduction: what it reduces over, what it keeps; of a product also its two sides."""

    func: str
    labels: tuple[str, ...]
    kept: tuple[str, ...]
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    is_scan: bool = False  # it has a result at each index of its label
    has_parts: bool = True  # another kernel may put together what parts of it give
    is_list: bool = False  # it keeps the largest values, and skips tiles of which none enters

    @property
    def is_product(self) -> bool:
        """Return whether it multiplies matrices: each side has labels that the other one lacks."""
        return bool(set(self.left) - set(self.right) and set(self.right) - set(self.left))


@dataclass(frozen=True, slots=True)
class MovedTensor:
    """A tensor that a kernel reads from memory, or the one that it writes."""

    tensor: str
    indices: tuple[Affine, ...]
    shape: tuple[int, ...]
    size: int  # bytes of an element
    func: str  # by which it is read
    is_operand: bool = False  # of a product
    is_between: bool = False  # kernels: what one leaves for another begins every row aligned
    is_turned: bool = False  # its axes lie in another order than they are written in; here as there

    @property
    def bytes(self) -> int:
        """Return the bytes of the whole tensor."""
        return prod(self.shape) * self.size

    @property
    def row(self) -> int:
        """Bytes from the beginning of a row to that of the next one, if that is all one knows."""
        return ALIGNED if self.is_between or not self.shape else self.shape[-1] * self.size

    @property
    def labels(self) -> frozenset[str]:
        """Return all labels that the indices of the load depend on."""
        return frozenset(label for index in self.indices for label in index.labels)

    @property
    def contiguous(self) -> tuple[str, ...]:
        """Return labels of which neighbours are neighbours in memory."""
        if not self.indices:
            return ()
        terms = self.indices[-1].terms
        return tuple(term for term, factor in terms if isinstance(term, str) and abs(factor) == 1)


@dataclass(frozen=True)
class KernelNest:
    """One kernel before anything is decided of its loops."""

    func: Func
    program: Program  # it and what is fused into it, producers first; all else is passed
    sums: tuple[NestReduction, ...]
    loads: tuple[MovedTensor, ...]
    store: MovedTensor
    sizes: Mapping[str, int]
    taken: frozenset[str]  # names of the Program
    shapes: Mapping[str, tuple[int, ...]]  # of all that is passed to the kernel
    joined: frozenset[str] = frozenset()  # labels over which several reductions share a loop
    # By label: how many of its indices read one element of what is fused in, as of `mean[c // 16]`.
    groups: Mapping[str, int] = field(default_factory=dict[str, int])
    # By a label that only what is fused in has: the label of the kernel at which that is read, or
    # at a quotient of which.
    read_at: Mapping[str, str] = field(default_factory=dict[str, str])
    read_in_groups: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of the Func itself."""
        return self.func.labels

    @property
    def reduced(self) -> tuple[str, ...]:
        """Return all labels over which the kernel reduces something; those of the Func first."""
        bound = {label for one in self.sums for label in one.labels}
        mine = [label for label in self.labels if label in bound]
        return tuple(dict.fromkeys((*mine, *(x for one in self.sums for x in one.labels))))

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the Func's labels that nothing reduces over."""
        return tuple(label for label in self.labels if label not in self.reduced)

    @property
    def products(self) -> tuple[NestReduction, ...]:
        """Reductions that tensor cores may do."""
        return tuple(one for one in self.sums if one.is_product)

    @property
    def is_chain(self) -> bool:
        """Return whether something else than one product of the Func itself is reduced."""
        return bool(self.products) and len(self.sums) > 1

    @property
    def memory(self) -> tuple[MovedTensor, ...]:
        """Return all that moves."""
        return (*self.loads, self.store)

    @cached_property
    def begin(self) -> Begin:
        """Return what makes the state before any directive: once, for all layouts."""
        return initial_once(replace(self.program, directives=()))

    @cached_property
    def begun(self) -> Callable[[tuple[Primitive, ...]], Begun]:
        """Return what carries out directives that shape loops, once for layouts that share them.

        Layouts that differ in warps, stages and the like follow each other in a search.
        """
        bare, begin = replace(self.program, directives=()), self.begin

        @lru_cache(maxsize=SHAPES)
        def made(shape: tuple[Primitive, ...]) -> Begun:
            return begun(bare, shape, begin)

        return made

    @cached_property
    def has_ranges(self) -> bool:
        """Return whether something is computed for a part of its indices alone."""
        return any(step.is_over_range for step in self.begin(self.program, ()).model.statements)

    @cached_property
    def growing(self) -> frozenset[str]:
        """Return labels along which more and more is reduced: a range ends at one, with a +.

        The range may be written as a mask.
        """
        ends, starts = set[str](), set[str]()
        for step in self.begin(self.program, ()).model.statements:
            body = step.body
            if not step.is_over_range or not isinstance(body, Reduce | Dot):
                continue
            for one in step.taken:
                factors = dict(one.linear)
                along = {x for x, factor in factors.items() if x in step.free and factor > 0}
                if any(factors.get(x, 0) < 0 for x in body.labels):
                    ends |= along
                back = {x for x, factor in factors.items() if x in step.free and factor < 0}
                if any(factors.get(x, 0) > 0 for x in body.labels):
                    starts |= back
        return frozenset(ends - starts)

    def contiguous(self) -> tuple[str, ...]:
        """Return labels along which memory is contiguous, that of most bytes first."""
        found: dict[str, int] = {}
        for one in self.memory:
            for label in one.contiguous:
                found[label] = found.get(label, 0) + one.bytes
        least = max(found.values(), default=0) / LITTLE
        ordered = sorted(found, key=lambda label: -found[label])
        return tuple(label for label in ordered if found[label] >= least)


def nest_of(
    program: Program,
    members: tuple[str, ...],
    fusions: tuple[Directive, ...],
    sizes: Sizes,
    dtype: DType,
    taken: frozenset[str],
    results: frozenset[str] = frozenset(),
    orders: Orders = AS_WRITTEN,
) -> KernelNest:
    """Return the kernel of the last of some Funcs, into which the others are fused.

    Those that are results are stored by it, too. `orders` say how inputs lie in memory.
    """
    alone = _alone(program, members, fusions, results)
    shapes = input_shapes(alone, sizes)
    dtypes = {tensor.name: tensor.dtype or dtype for tensor in alone.tensors}
    sums: list[NestReduction] = []
    loads: dict[MovedTensor, None] = {}
    groups: dict[str, int] = {}
    for func in alone.funcs:
        for node, is_operand in _nodes(at_results(func.body)):
            if isinstance(node, Read) and node.tensor in shapes:
                name, order = node.tensor, orders.get(node.tensor)
                indices = in_memory_order(node.indices, order)
                shape = in_memory_order(shapes[name], order)
                one = MovedTensor(
                    *(name, indices, shape, BYTES[dtypes[name]], func.name, is_operand),
                    *(program.find_func(name) is not None, order is not None),
                )
                loads[one] = None
            elif isinstance(node, Read):
                found = [group for at in node.indices if (group := grouped(at)) is not None]
                groups |= {label: max(by, groups.get(label, 1)) for label, by in found}
            elif isinstance(node, Reduce) and node.scan is not None:
                along = node.scan.at
                kept = tuple(label for label in free_labels(node) if label != along)
                sums.append(NestReduction(func.name, (along,), kept, is_scan=True))
            elif isinstance(node, Reduce):
                own = (func.name, node.labels, free_labels(node))
                parts, is_list = node.operation not in WITHOUT_PARTS, node.operation == LIST
                sums.append(NestReduction(*own, has_parts=parts, is_list=is_list))
            elif isinstance(node, Dot):
                sides = free_labels(node.left), free_labels(node.right)
                sums.append(NestReduction(func.name, node.labels, free_labels(node), *sides))
    host = alone.funcs[-1]
    at = tuple(Affine(((label, 1),)) for label in host.labels)
    shape = tuple(sizes[label] for label in host.labels)
    store = MovedTensor(host.name, at, shape, BYTES[host.dtype or dtype], host.name)
    words = (host, alone, tuple(sums), tuple(loads), store, sizes, taken, shapes)
    groups = {label: by for label, by in groups.items() if label in host.labels}
    nest = KernelNest(*words, groups=groups)
    read_at, in_groups = _labels_of_fused(nest)
    return replace(nest, read_at=read_at, read_in_groups=in_groups)


def _labels_of_fused(nest: KernelNest) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the labels that only what is fused in has, with labels of the kernel.

    The kernel reads it at these, or at quotients of these.
    """
    mine, own = {*nest.labels, *nest.reduced}, {one.name: one for one in nest.program.funcs}
    read_at, in_groups = dict[str, str](), dict[str, str]()
    for func in nest.program.funcs:
        for read in (one for one in reads(func.body) if one.tensor in own):
            for label, index in zip(own[read.tensor].labels, read.indices, strict=True):
                at, group = index.plain, grouped(index)
                if label in mine:
                    continue
                if at is not None and at in mine:
                    read_at[label] = at
                elif group is not None and group[0] in mine:
                    in_groups[label] = group[0]
    return read_at, in_groups


def _alone(
    program: Program,
    members: tuple[str, ...],
    fusions: tuple[Directive, ...],
    results: frozenset[str],
) -> Program:
    """Return a Program of one kernel alone: what other kernels compute is passed to it."""
    funcs = tuple(program.func(name) for name in members)
    types = types_of(program)
    # The tensor of a Func in place decides its type and its places, though none may read it.
    wanted = {one.tensor for func in funcs for one in touched(func)} - {*members}
    passed = (func.name for func in program.funcs if func.name in wanted)
    inputs = (
        *(one for one in program.inputs if isinstance(one, Scalar) or one.name in wanted),
        *(Tensor(name, types[name].dtype) for name in passed),
    )
    returned = tuple(Argument(name) for name in members[:-1] if name in results)
    compiled = Directive(members[-1], COMPILING[0], returned)
    return Program(program.labels, inputs, funcs, (*fusions, compiled))


def _nodes(expr: Expr, is_operand: bool = False) -> Iterator[tuple[Expr, bool]]:
    """Yield each node, and whether it is in an operand of a product."""
    yield expr, is_operand
    inside = is_operand or isinstance(expr, Dot)
    for child in children(expr):
        yield from _nodes(child, inside)


def sides_of(
    nest: KernelNest, one: NestReduction
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the labels of the left side alone, of the right one alone, and of both."""
    left, right = set(one.left) - set(one.labels), set(one.right) - set(one.labels)
    return (
        tuple(x for x in nest.labels if x in left - right),
        tuple(x for x in nest.labels if x in right - left),
        tuple(x for x in nest.labels if x not in left ^ right),
    )
