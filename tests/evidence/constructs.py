"""Says which constructs of the language a Program uses, beyond dense sums with one result."""

from collections.abc import Iterator
from enum import StrEnum

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    DividedIndex,
    Expr,
    Index,
    Integer,
    Read,
    Reduce,
    reads,
    walk,
)
from dtpoly.algorithm.operations import DRAWN, LIST
from dtpoly.algorithm.program import Program, reads_of_place


class Construct(StrEnum):
    """A construct that real kernels need; its value is its name in tables."""

    RESULTS = "several results"
    IN_PLACE = "results in place"
    READS = "indirect reads"
    WRITES = "indirect writes"
    RANGES = "ranges that depend, affine"
    DATA_RANGES = "ranges from data"
    QUOTIENTS = "quotients"
    SCANS = "scans"
    BITS = "whole numbers and bits"
    PACKED = "packed types, 8-bit floats"
    RANDOM = "random numbers"
    LISTS = "lists"


WHOLE = {"quotient", "mod", "shl", "shr", "bitand", "bitor", "bitxor", "invert", "round", "trunc"}
COMPARED = {"le", "lt", "ge", "gt"}
EIGHT = {DType.F8E4M3, DType.F8E5M2}


def used(program: Program) -> frozenset[Construct]:
    """Return the constructs that a Program uses."""
    return frozenset(_used(program))


def _used(program: Program) -> Iterator[Construct]:
    if any(one.name == "compile" and one.arguments for one in program.directives):
        yield Construct.RESULTS
    if any(label.range is not None for label in program.labels):
        yield Construct.RANGES
    if any(tensor.dtype in EIGHT for tensor in program.tensors):
        yield Construct.PACKED
    for func in program.funcs:
        if func.into is not None:
            is_placed = func.into.at is not None
            yield Construct.WRITES if is_placed else Construct.IN_PLACE
        every = (*reads(func.body), *reads_of_place(func))
        if any(index.data is not None for one in reads(func.body) for index in one.indices):
            yield Construct.READS
        if any(_divides(index) for one in every for index in one.indices):
            yield Construct.QUOTIENTS
        if func.when:
            yield Construct.RANGES
        for node in walk(func.body):
            yield from _of_node(node)


def _divides(index: Affine) -> bool:
    return any(isinstance(term, DividedIndex) for term, _ in index.terms)


def _of_node(node: Expr) -> Iterator[Construct]:
    match node:
        case Reduce(scan=scan, operation=operation, when=when):
            if operation == LIST:
                yield Construct.LISTS
            if scan is not None:
                yield Construct.SCANS
            elif when:
                yield Construct.RANGES
        case Apply(operation="bitand", operands=(Apply(operation="shr"), Integer(value=15))):
            yield Construct.PACKED
        case Apply(operation=operation) if operation in WHOLE:
            yield Construct.BITS
        case Apply(operation=operation) if operation in DRAWN:
            yield Construct.RANDOM
        case Apply(operation=operation, operands=operands) if operation in COMPARED:
            has_data = any(isinstance(one, Read) for side in operands for one in walk(side))
            if has_data and any(isinstance(_bare(side), Index) for side in operands):
                yield Construct.DATA_RANGES
        case _:
            pass


def _bare(expr: Expr) -> Expr:
    return _bare(expr.operand) if isinstance(expr, Cast) else expr
