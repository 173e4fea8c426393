"""Describes what each kernel loops over, sums up and loads, before its loops are laid out."""

from collections.abc import Iterator, Mapping
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
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import Directive, Func, Program, Scalar, Tensor
from dtpoly.algorithm.sizes import Sizes, input_shapes
from dtpoly.directives.built_in import COMPILING
from dtpoly.frozen import dataclass
from dtpoly.targets.arguments import BYTES

ALIGNED = 16  # bytes
LITTLE = 16  # a tensor that is smaller by so much decides nothing


@dataclass(frozen=True, slots=True)
class Sum:
    """A reduction: what it reduces over, what it keeps; of a product also its two sides."""

    func: str
    labels: tuple[str, ...]
    kept: tuple[str, ...]
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()

    @property
    def is_product(self) -> bool:
        """Whether it multiplies matrices: each side has labels that the other one lacks."""
        return bool(set(self.left) - set(self.right) and set(self.right) - set(self.left))


@dataclass(frozen=True, slots=True)
class Load:
    """A tensor that a kernel reads from memory, or the one that it writes."""

    tensor: str
    indices: tuple[Affine, ...]
    shape: tuple[int, ...]
    size: int  # bytes of an element
    func: str  # by which it is read
    is_operand: bool = False  # of a product
    is_between: bool = False  # kernels: what one leaves for another begins every row aligned

    @property
    def bytes(self) -> int:
        """Of the whole tensor."""
        return prod(self.shape) * self.size

    @property
    def row(self) -> int:
        """Bytes from the beginning of a row to that of the next one, if that is all one knows."""
        return ALIGNED if self.is_between or not self.shape else self.shape[-1] * self.size

    @property
    def labels(self) -> frozenset[str]:
        """All that its indices depend on."""
        return frozenset(label for index in self.indices for label in index.labels)

    @property
    def contiguous(self) -> tuple[str, ...]:
        """Labels of which neighbours are neighbours in memory."""
        if not self.indices:
            return ()
        return tuple(label for label, factor in self.indices[-1].terms if abs(factor) == 1)


@dataclass(frozen=True)
class Nest:
    """One kernel before anything is decided of its loops."""

    func: Func
    program: Program  # it and what is fused into it, producers first; all else is passed
    sums: tuple[Sum, ...]
    loads: tuple[Load, ...]
    store: Load
    sizes: Mapping[str, int]
    taken: frozenset[str]  # names of the Program

    @property
    def labels(self) -> tuple[str, ...]:
        """Of the Func itself."""
        return self.func.labels

    @property
    def reduced(self) -> tuple[str, ...]:
        """All labels that something in the kernel reduces over; those of the Func first."""
        bound = {label for one in self.sums for label in one.labels}
        mine = [label for label in self.labels if label in bound]
        return tuple(dict.fromkeys((*mine, *(x for one in self.sums for x in one.labels))))

    @property
    def rows(self) -> tuple[str, ...]:
        """The Func's labels that nothing reduces over."""
        return tuple(label for label in self.labels if label not in self.reduced)

    @property
    def products(self) -> tuple[Sum, ...]:
        """Reductions that tensor cores may do."""
        return tuple(one for one in self.sums if one.is_product)

    @property
    def is_chain(self) -> bool:
        """Whether something else than one product of the Func itself is reduced."""
        return bool(self.products) and len(self.sums) > 1

    @property
    def memory(self) -> tuple[Load, ...]:
        """All that moves."""
        return (*self.loads, self.store)

    def contiguous(self) -> tuple[str, ...]:
        """Labels along which memory is contiguous, that of most bytes first."""
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
) -> Nest:
    """The kernel of the last of some Funcs, into which the others are fused."""
    alone = _alone(program, members, fusions)
    shapes = input_shapes(alone, sizes)
    dtypes = {tensor.name: tensor.dtype or dtype for tensor in alone.tensors}
    sums: list[Sum] = []
    loads: dict[Load, None] = {}
    for func in alone.funcs:
        for node, is_operand in _nodes(func.body):
            if isinstance(node, Read) and node.tensor in shapes:
                name = node.tensor
                one = Load(
                    *(name, node.indices, shapes[name], BYTES[dtypes[name]]),
                    *(func.name, is_operand, program.find_func(name) is not None),
                )
                loads[one] = None
            elif isinstance(node, Reduce):
                sums.append(Sum(func.name, node.labels, free_labels(node)))
            elif isinstance(node, Dot):
                sides = free_labels(node.left), free_labels(node.right)
                sums.append(Sum(func.name, node.labels, free_labels(node), *sides))
    host = alone.funcs[-1]
    at = tuple(Affine(((label, 1),)) for label in host.labels)
    shape = tuple(sizes[label] for label in host.labels)
    store = Load(host.name, at, shape, BYTES[host.dtype or dtype], host.name)
    return Nest(host, alone, tuple(sums), tuple(loads), store, sizes, taken)


def _alone(program: Program, members: tuple[str, ...], fusions: tuple[Directive, ...]) -> Program:
    """A Program of one kernel alone: what other kernels compute is passed to it."""
    funcs = tuple(program.func(name) for name in members)
    types = types_of(program)
    wanted = {one.tensor for func in funcs for one in reads(func.body)} - {*members}
    passed = (func.name for func in program.funcs if func.name in wanted)
    inputs = (
        *(one for one in program.inputs if isinstance(one, Scalar) or one.name in wanted),
        *(Tensor(name, types[name].dtype) for name in passed),
    )
    compiled = Directive(members[-1], COMPILING[0])
    return Program(program.labels, inputs, funcs, (*fusions, compiled))


def _nodes(expr: Expr, is_operand: bool = False) -> Iterator[tuple[Expr, bool]]:
    """Each node, and whether it is in an operand of a product."""
    yield expr, is_operand
    inside = is_operand or isinstance(expr, Dot)
    for child in children(expr):
        yield from _nodes(child, inside)


def sides_of(nest: Nest, one: Sum) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Labels of the left side alone, of the right side alone, and of both, in the Func's order."""
    left, right = set(one.left) - set(one.labels), set(one.right) - set(one.labels)
    return (
        tuple(x for x in nest.labels if x in left - right),
        tuple(x for x in nest.labels if x in right - left),
        tuple(x for x in nest.labels if x not in left ^ right),
    )
