"""Puts elements of tables into the indices of a random Program: reads at data."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Expr,
    Index,
    Integer,
    Read,
    Reshape,
    at_data,
    children,
    data_of,
    map_children,
    reads,
)
from dtpoly.algorithm.program import Func, Program, Tensor

DTYPES = (DType.I64, DType.I64, DType.I32, DType.I8, DType.U8)
SHARE = 0.55  # of the reads of inputs that are read at data


def is_indirect(program: Program) -> bool:
    """True if something is read at data."""
    return any(data_of(read) for func in program.funcs for read in reads(func.body))


def with_data(random: Random, program: Program) -> Program:
    """Return the Program with reads of inputs at elements of tables, which are new inputs."""
    names = {func.name for func in program.funcs}
    tables: list[Tensor] = []
    made: list[Func] = []

    def input_of(labels: tuple[str, ...]) -> Read:
        """Return a read of a new input at some labels."""
        name = f"T{len(tables)}"
        tables.append(Tensor(name, random.choice(DTYPES)))
        return Read(name, tuple(Affine(((label, 1),)) for label in labels))

    def table(labels: tuple[str, ...]) -> Read:
        read = input_of(labels)
        if not labels or random.random() < 0.7:
            return read
        # The table is computed: a Func of whole numbers, which has a place in the schedule.
        factor = Integer(random.choice((1, 2)))
        body = Apply("sub", (Apply("mul", (factor, read)), Integer(random.choice((0, 1)))))
        made.append(Func(f"g{len(made)}", labels, body))
        return replace(read, tensor=made[-1].name)

    def data(labels: tuple[str, ...]) -> Expr:
        read = table(labels)
        kind = random.random()
        if kind < 0.5 or not labels:
            return read
        if kind < 0.65:
            # Two levels: what the first table says is an index of the second one.
            return Read(input_of(()).tensor, (at_data(read),))
        total: Expr = Cast(read, DType.I64)
        if kind < 0.8:
            total = Apply("mul", (Integer(random.choice((2, 3))), total))
        other = Index(random.choice(labels)) if random.random() < 0.5 else Integer(1)
        return Apply(random.choice(("add", "sub")), (total, other))

    def change(read: Read) -> Expr:
        if read.tensor in names or not read.indices or random.random() > SHARE:
            return read
        axis = random.randrange(len(read.indices))
        index = read.indices[axis]
        if index.data is not None or not index.labels:
            return read
        labels, plain = index.labels, index.plain
        others = [one for at in read.indices for one in at.labels if one not in labels]
        if others and random.random() < 0.3:
            labels = (*labels, random.choice(others))
        found, bound = data(labels), None
        computed = {one.name for one in made}
        is_given = isinstance(found, Read) and not data_of(found) and found.tensor not in computed
        if is_given and random.random() < 0.4:
            # The caller promises what the table holds: that each element is like the label.
            bound = plain if plain is not None and random.random() < 0.8 else random.choice((1, 2))
            tables[-1] = replace(tables[-1], within=bound)
        indices = (*read.indices[:axis], at_data(found, bound), *read.indices[axis + 1 :])
        moved = replace(read, indices=indices)
        if random.random() < 0.3:
            return replace(moved, padding=Apply("neg", (Integer(2),)))
        return moved

    funcs = tuple(replace(func, body=_mapped(func.body, change)) for func in program.funcs)
    return replace(program, inputs=(*program.inputs, *tables), funcs=(*made, *funcs))


def _mapped(expr: Expr, change: Callable[[Read], Expr]) -> Expr:
    """Return the expression with reads changed; one at data lines up by name."""
    match expr:
        case Read():
            return change(expr)
        case Reshape(operand=Read() as read):
            changed = change(read)
            return expr if changed == read else changed
        case _ if children(expr):
            return map_children(expr, lambda one: _mapped(one, change))
        case _:
            return expr
