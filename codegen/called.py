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
from dtpoly.ir.parts import inside, values, walk
from dtpoly.ir.tile_values import Call, Merged, Value

from .functions import (
    ASSIGNED,
    JOIN,
    OF_BITS,
    OF_LINES,
    OWN,
    TEXTS,
    function,
    is_float_element,
)


def helpers(kernels: Iterable[TileKernel]) -> list[str]:
    """The texts of the functions that kernels call, in a fixed order."""
    found = {name for kernel in kernels for name in called(kernel)}
    return [f"@triton.jit\n{text}" for name, text in TEXTS.items() if name in found]


def called(kernel: TileKernel) -> frozenset[str]:
    """The names of the functions that a kernel calls."""
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
        case Select(reduction=reduction):
            yield JOIN[reduction][0]
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
        case Call(operation=operation, dtype=element) if operation in OWN:
            yield function(OWN[operation], element)
        case _:
            pass
