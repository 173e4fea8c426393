"""A Program, its generated text and sizes in; whether the kernels compute it, bit for bit, out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.sizes import size_rules
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring import field
from dtpoly.ring.algorithm import in_ring
from dtpoly.ring.interpreter import in_ring as text_in_ring
from dtpoly.ring.interpreter import ring
from dtpoly.runtime.load import load_module


@dataclass(frozen=True)
class Agreement:
    """How many elements of each output differ; none: the test found nothing wrong."""

    differing: Mapping[str, int]
    first: Mapping[str, tuple[int, ...]]


def wide(program: Program) -> Program:
    """The Program with all its floats of 64 bits."""
    inputs = tuple(
        replace(one, dtype=DType.F64) if one.dtype is not None and is_float(one.dtype) else one
        for one in program.inputs
    )
    return replace(program, inputs=inputs)


def agreement(
    program: Program, text: str, outputs: tuple[str, ...], sizes: Mapping[str, int], seed: int
) -> Agreement:
    """Run the wrappers of a generated file in the ring, and compare with the algorithm there."""
    widened = wide(program)
    dtypes = {one.name: DType.F64 for one in widened.inputs}
    given = random_inputs(widened, sizes, seed, dtypes)
    # A float input is a random element, not a number that looks like one.
    random = np.random.default_rng(seed)
    for one in widened.inputs:
        value = given[one.name]
        if (
            isinstance(one, Tensor)
            and isinstance(value, torch.Tensor)
            and value.is_floating_point()
        ):
            elements = field.whole(random.integers(-(2**40), 2**40, tuple(value.shape)))
            given[one.name] = torch.tensor(elements.tolist(), dtype=torch.float64).reshape(
                value.shape
            )
    known = {n: v.numpy() if isinstance(v, torch.Tensor) else v for n, v in given.items()}
    wanted = in_ring(program, known, sizes)
    module = load_module(text_in_ring(text), "ring")
    passed = {rule.label: sizes[rule.label] for rule in size_rules(program) if rule.is_passed}
    differing: dict[str, int] = {}
    first: dict[str, tuple[int, ...]] = {}
    with ring():
        for output in outputs:
            wrapper = getattr(module, output)
            names = [n for n in given if n in wrapper.__code__.co_varnames]
            options = {n: v for n, v in passed.items() if n in wrapper.__code__.co_varnames}
            got = np.asarray(wrapper(**{n: given[n] for n in names}, **options))
            right = np.asarray(wanted[output])
            if right.dtype == np.float64:
                same = (got == right) | (np.isnan(got) & np.isnan(right))
            else:
                same = got == right
            differing[output] = int(np.sum(~same))
            if differing[output]:
                first[output] = tuple(int(i) for i in np.argwhere(~same)[0])
    return Agreement(differing, first)
