"""Finds which functions of generated files the text of a kernel calls."""

from collections.abc import Iterable, Iterator

from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    Instruction,
    LineStart,
    Select,
    Store,
    TileKernel,
)
from dtpoly.ir.lane_scans import ScanLanes
from dtpoly.ir.parts import inside, values, walk
from dtpoly.ir.tile_values import Call, Merged, Value

from .operation_spelling import (
    ASSIGNED,
    INFIX_OF,
    JOIN,
    NEEDED,
    OF_BITS,
    OF_LINES,
    OWN,
    TEXTS,
    function,
    is_float_element,
    is_operator,
    scan_function,
)


def helpers(kernels: Iterable[TileKernel]) -> list[str]:
    """Return the texts of the functions that kernels and these call, in a fixed order."""
    found = {name for kernel in kernels for name in called(kernel)}
    found.update(more for name in tuple(found) for more in NEEDED.get(name, ()))
    return [f"@triton.jit\n{text}" for name, text in TEXTS.items() if name in found]


def called(kernel: TileKernel) -> frozenset[str]:
    """Return the names of the functions that a kernel calls."""
    found = set[str]()
    for one in inside(kernel.body):
        found.update(_by_step(one))
        for value in values(one):
            for part in walk(value):
                found.update(_by_value(part))
    return frozenset(found & TEXTS.keys())


def _by_step(one: Instruction) -> Iterator[str]:
    match one:
        case Accumulate(reduction=reduction, dtype=element) if reduction not in ASSIGNED:
            yield function(JOIN[reduction], element)
        case Select(reduction=reduction, skips=skips):
            yield JOIN[reduction][0]
            if skips:
                yield JOIN["rmin"][0]
        case ScanLanes(reduction=reduction, along=along, dtype=element):
            if along is not None:
                yield scan_function(reduction)
            if reduction in JOIN and reduction not in INFIX_OF:
                yield function(JOIN[reduction], element)
        case Collapse(reduction=reduction, axes=axes, kept=kept) if len(kept) < len(axes):
            if reduction != "rsum":
                yield JOIN[reduction][0]
        case Store(atomic=str() as reduction, dtype=element):
            if reduction in OF_BITS and is_float_element(element):
                yield OF_BITS[reduction]
        case LineStart():
            yield from OF_LINES
        case _:
            pass


def _by_value(value: Value) -> Iterator[str]:
    match value:
        case Merged(reduction=reduction, dtype=element) if reduction not in ("rsum", "rprod"):
            yield function(JOIN[reduction], element)
        case Call(operation=operation, dtype=element) if operation in OWN and not is_operator(
            value
        ):
            yield function(OWN[operation], element)
        case _:
            pass
