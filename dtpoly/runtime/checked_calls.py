"""Looks at the data of each call before kernels run that rely on it, where that is asked for.

This module imports torch. It knows the algorithm of a generated file, and not the file.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import torch

from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Program, Scalar
from dtpoly.codegen.python_names import file_names
from dtpoly.generate import outputs
from dtpoly.reference.checked_data import wrong_data

PLAIN = (torch.Tensor, torch.nn.Parameter)


def checked(
    program: Program,
    function: Callable[..., Any],
    results: tuple[str, ...],
    error_of: Callable[[list[Any]], Exception],
) -> Callable[..., Any]:
    """Return a function that looks at the data of a call, and then does what the other one does.

    It raises what `error_of` makes of messages about the first elements that are outside or break a
    promise. Calls that torch traces, and those that the function refuses itself, have no data to
    look at.
    """
    taken = inspect.signature(function)
    names = file_names(program, outputs(program), ())

    @wraps(function)
    def call(*inputs: Any, **named: Any) -> Any:
        given = _given(taken, inputs, named)
        if given is not None:
            values = {name: given.get(word) for name, word in names.inputs.items()}
            if wrong := _wrong(program, values, given, results):
                raise error_of(wrong)
        return function(*inputs, **named)

    return call


def _given(
    taken: inspect.Signature, inputs: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the arguments of a call by name; None if there is no data to look at."""
    if torch.compiler.is_compiling():
        return None
    try:
        found = taken.bind(*inputs, **named).arguments
    except TypeError:
        return None
    tensors = [one for one in found.values() if isinstance(one, torch.Tensor)]
    is_there = all(type(one) in PLAIN and one.device.type != "meta" for one in tensors)
    return dict(found) if is_there else None


def _wrong(
    program: Program,
    inputs: Mapping[str, Any],
    given: Mapping[str, Any],
    results: tuple[str, ...],
) -> list[Any]:
    labels = file_names(program, outputs(program), ()).labels
    passed = {
        rule.label: size
        for rule in size_rules(program)
        if rule.may_be_passed and (size := given.get(labels[rule.label])) is not None
    }
    scalars = {one.name for one in program.inputs if isinstance(one, Scalar)}
    plain = {
        name: one.item() if name in scalars and hasattr(one, "item") else one
        for name, one in inputs.items()
    }
    return list(wrong_data(program, plain, passed, results))
