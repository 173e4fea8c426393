"""Looks whether the data of a call keeps the promises of range that its file makes."""

from collections.abc import Iterator, Mapping

import torch

from dtpoly.algorithm.expressions import Bound
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.show import show_bound
from dtpoly.diagnostics import Diagnostic, Note, Severity


def below(bound: Bound, sizes: Mapping[str, int]) -> int:
    """Return the number that a bound is in a call of these sizes."""
    return sizes[bound] if isinstance(bound, str) else bound


def broken_ranges(
    program: Program, given: Mapping[str, torch.Tensor], sizes: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Report the first element of each input that is not in the range it is promised to be in."""
    for tensor in program.tensors:
        if tensor.within is None:
            continue
        end, elements = below(tensor.within, sizes), given[tensor.name].to(torch.int64)
        at = first_of((elements < 0) | (elements >= end))
        if at is not None:
            yield _broken(tensor, tensor.within, at, int(elements[at].item()), end)


def first_of(wrong: torch.Tensor) -> tuple[int, ...] | None:
    """Return the index of the first element that is true, or None if there is none."""
    if not wrong.any():
        return None
    return tuple(int(one) for one in wrong.nonzero()[0])


def _broken(tensor: Tensor, bound: Bound, at: tuple[int, ...], value: int, end: int) -> Diagnostic:
    said = show_bound(bound)
    here = f"{tensor.name}[{', '.join(map(str, at))}]"
    size = f", which is {end} in this call" if isinstance(bound, str) else ""
    return Diagnostic(
        "DT255",
        Severity.ERROR,
        f"{here} is {value}, and each element of '{tensor.name}' is promised to be within {said}",
        tensor.span,
        f"at least 0 and below {said}{size}",
        (Note("kernels rely on the promise: they would read or write outside of a tensor"),),
        f"pass data that is in the range, or leave out 'within {said}', so that each index is "
        "tested",
    )


def cannot_be_kept(tensor: Tensor, bound: Bound) -> Diagnostic:
    """Report sizes at which an input has elements, although nothing is below its bound."""
    said = show_bound(bound)
    return Diagnostic(
        "DT255",
        Severity.ERROR,
        f"no element of '{tensor.name}' can be within {said}, which is 0",
        tensor.span,
        "has elements at these sizes",
        hint=f"choose a size of '{bound}' above 0, or one at which '{tensor.name}' is empty",
    )
