"""Results that are written into inputs: what places are given, and what is not there any more."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Read
from dtpoly.algorithm.program import Func, Program, touched
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient.derivation import Derivation, Gift
from dtpoly.gradient.derived_nodes import ZERO, plain, read_at
from dtpoly.gradient.messages import no_rule, replaced


def out_of_place(program: Program) -> Program:
    """Return a program whose Funcs replace no input as a whole; those at places stay."""
    dtypes = {one.name: one.dtype for one in program.inputs}
    return replace(
        program,
        funcs=tuple(
            one
            if one.into is None or one.into.at is not None
            else replace(one, into=None, dtype=one.dtype or dtypes[one.into.tensor])
            for one in program.funcs
        ),
    )


def given_at_place(at: Read, gradient: str) -> Read:
    """Return what the element at a place is given; one that is written nowhere is given nothing.

    A place of labels alone may be outside along all axes, as a read through `pad` may.
    """
    is_shifted = any(not one.is_plain and one.data is None for one in at.indices)
    is_of_labels = all(one.is_plain for one in at.indices)
    return Read(gradient, at.indices, ZERO if is_shifted or is_of_labels else None)


def given_to_what_is_there(func: Func, gradient: str, derivation: Derivation) -> Iterator[Gift]:
    """Yield what a tensor is given to whose elements a Func is added."""
    if func.into is None or func.into.at is None or func.into.tensor not in derivation.active:
        return
    tensor = func.into.tensor
    if not func.into.is_added:
        way = f"ask for the gradient by what '{func.name}' is made of"
        why = "replaces some of its elements, and nobody knows which"
        raise DtpolyError([no_rule(f"what stays of '{tensor}'", func.into.span, why, way)])
    start = derivation.program.find_func(tensor)
    own = start.labels if start is not None else derivation.labels_of(tensor)
    value = read_at(gradient, own)
    yield Gift(tensor, tuple(plain(label) for label in own), own, value, func.name)


def check_still_there(gradient: Program, writers: Mapping[str, Func]) -> None:
    """Raise DtpolyError if a gradient reads inputs that the algorithm has written."""
    for tensor in gradient.tensors:
        if tensor.name in writers:
            readers = (
                one for one in gradient.funcs for read in touched(one) if read.tensor == tensor.name
            )
            raise DtpolyError([replaced(tensor.name, writers[tensor.name], next(readers))])
