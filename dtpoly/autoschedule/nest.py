"""A Program and what is fused where in; what each kernel loops over, sums up and loads, out."""

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
)
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.sizes import Sizes, input_shapes
from dtpoly.frozen import dataclass
from dtpoly.targets.arguments import BYTES

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

    @property
    def bytes(self) -> int:
        """Of the whole tensor."""
        return prod(self.shape) * self.size

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
    members: tuple[Func, ...]  # what is fused into it, producers first, and the Func itself
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
    program: Program, members: tuple[str, ...], sizes: Sizes, dtype: DType, taken: frozenset[str]
) -> Nest:
    """The kernel of the last of some Funcs, into which the others are fused."""
    funcs = tuple(program.func(name) for name in members)
    shapes = input_shapes(program, sizes)
    dtypes = {tensor.name: tensor.dtype for tensor in program.tensors}
    dtypes |= {func.name: func.dtype for func in program.funcs}
    of_funcs = {f.name: tuple(sizes[x] for x in f.labels) for f in program.funcs}
    shapes = {**shapes, **of_funcs}
    sums: list[Sum] = []
    loads: dict[Load, None] = {}
    for func in funcs:
        for node, is_operand in _nodes(func.body):
            if isinstance(node, Read) and node.tensor not in members:
                size = BYTES[dtypes[node.tensor] or dtype]
                shape = shapes[node.tensor]
                one = Load(node.tensor, node.indices, shape, size, func.name, is_operand)
                loads[one] = None
            elif isinstance(node, Reduce):
                sums.append(Sum(func.name, node.labels, free_labels(node)))
            elif isinstance(node, Dot):
                sides = free_labels(node.left), free_labels(node.right)
                sums.append(Sum(func.name, node.labels, free_labels(node), *sides))
    host = funcs[-1]
    at = tuple(Affine(((label, 1),)) for label in host.labels)
    width = BYTES[host.dtype or dtype]
    store = Load(host.name, at, of_funcs[host.name], width, host.name)
    return Nest(host, funcs, tuple(sums), tuple(loads), store, sizes, taken)


def _nodes(expr: Expr, is_operand: bool = False) -> Iterator[tuple[Expr, bool]]:
    """Each node, and whether it is in an operand of a product."""
    yield expr, is_operand
    inside = is_operand or isinstance(expr, Dot)
    for child in children(expr):
        yield from _nodes(child, inside)
