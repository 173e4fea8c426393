"""Runs generated kernels in the ring and compares each result with the definition, bit for bit."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.sizes import size_rules
from dtpoly.budget import OverBudgetError
from dtpoly.frozen import dataclass
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring import field
from dtpoly.ring.algorithm import in_ring
from dtpoly.ring.interpreter import in_ring as text_in_ring
from dtpoly.ring.interpreter import ring
from dtpoly.ring.memory import Memory, TouchError
from dtpoly.ring.watching import watched
from dtpoly.runtime.load import load_module

# Triton has no types.
errors: Any = import_module("triton.runtime.errors")
WRAPPING = (torch.int8, torch.int16, torch.int32, torch.uint8)
# Whole numbers that nobody has written.
UNWRITTEN = 91


@dataclass(frozen=True, slots=True)
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
    """Run the wrappers of a generated file in the ring, and compare with the algorithm there.

    Each runs twice: as one would call it, and with gaps between the elements of all tensors, so
    that no two strides are the same. Raises TouchError at an access that is outside, or a race.
    """
    given = _inputs(program, sizes, seed)
    known = {n: v.numpy() if isinstance(v, torch.Tensor) else v for n, v in given.items()}
    wanted = in_ring(program, known, sizes)
    module = load_module(text_in_ring(text), "ring")
    rules = size_rules(program)
    passed = {r.label: sizes[r.label] for r in rules if r.may_be_passed and r.label in sizes}
    differing: dict[str, int] = {}
    first: dict[str, tuple[int, ...]] = {}
    for output in outputs:
        right = np.asarray(wanted[output])
        # A name that Python or the file needs has an underscore there: `torch_` computes `torch`.
        is_there = isinstance(vars(module).get(output), FunctionType)
        function = output if is_there else f"{output}_"
        accepted = getattr(module, function).__code__.co_varnames
        called = {n: n if n in accepted else f"{n}_" for n in (*passed, *given)}
        options = {called[n]: v for n, v in passed.items() if called[n] in accepted}
        mine = {called[n]: v for n, v in given.items() if called[n] in accepted}
        got = _called(module, function, mine, options, None)
        wrong = _unlike(got, right)
        if not wrong.any():
            out = with_gaps(torch.empty(right.shape, dtype=got.dtype), 2)
            apart = {
                n: with_gaps(v, at) if isinstance(v, torch.Tensor) else v
                for at, (n, v) in enumerate(mine.items(), start=3)
            }
            wrong = _unlike(_called(module, function, apart, options, out), right)
        differing[output] = int(np.sum(wrong))
        if differing[output]:
            first[output] = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Agreement(differing, first)


def _inputs(program: Program, sizes: Mapping[str, int], seed: int) -> dict[str, torch.Tensor | Any]:
    """Random inputs; a float is a random element, not a number that looks like one.

    Half of the whole numbers are any of their type, so that what wraps is seen to; but those of 64
    bits stay small, as nothing is known of such that a float rounds.
    """
    widened = wide(program)
    dtypes = {one.name: DType.F64 for one in widened.inputs}
    given: dict[str, torch.Tensor | Any] = dict(random_inputs(widened, sizes, seed, dtypes))
    random = np.random.default_rng(seed)
    for one in widened.inputs:
        value = given[one.name]
        if isinstance(one, Tensor) and value.is_floating_point():
            made = torch.tensor(
                field.chosen(random, tuple(value.shape)).tolist(), dtype=torch.float64
            )
            given[one.name] = made.reshape(value.shape)
        elif isinstance(one, Tensor) and value.dtype in WRAPPING:
            bounds = torch.iinfo(value.dtype)
            shape = tuple(value.shape)
            any_of_all = torch.tensor(random.integers(bounds.min, bounds.max + 1, shape).tolist())
            is_small = torch.tensor(random.integers(0, 2, shape).tolist(), dtype=torch.bool)
            made = torch.where(is_small.reshape(shape), value, any_of_all.reshape(shape))
            given[one.name] = made.to(value.dtype)
    return given


def _called(
    module: ModuleType,
    func: str,
    given: Mapping[str, torch.Tensor | Any],
    options: Mapping[str, int],
    out: torch.Tensor | None,
) -> torch.Tensor:
    """Call a wrapper while the memory that it is given is watched, and return its result."""
    assert module.__file__ is not None
    memory = Memory(source=module.__file__)
    for value in given.values():
        if isinstance(value, torch.Tensor):
            memory.add(value, is_output=False)
    if out is not None:
        memory.add(out, is_output=True)
    vars(module)["torch"] = TorchOf(memory)
    try:
        with ring(), watched(memory):
            got = getattr(module, func)(**given, **options, out=out)
    except errors.InterpreterError as error:
        raise _first(error) from None
    finally:
        vars(module)["torch"] = torch
    assert isinstance(got, torch.Tensor)
    return got


def _first(error: BaseException) -> BaseException:
    """Find the error of memory or budget that made the interpreter stop, among the causes."""
    one: BaseException | None = error
    while one is not None and not isinstance(one, TouchError | OverBudgetError):
        one = one.__cause__
    return one or error


def _unlike(got: torch.Tensor, right: NDArray[Any]) -> NDArray[np.bool_]:
    """Which elements are others; all are, if the shape is another."""
    if tuple(got.shape) != right.shape:
        return np.ones(right.shape or (1,), np.bool_)
    found = np.asarray(got)
    if right.dtype == np.float64:
        same = (found == right) | (np.isnan(found) & np.isnan(right))
    else:
        same = found == right
    return np.logical_not(np.asarray(same, np.bool_))


class TorchOf:
    """Torch as a file sees it: what it makes belongs to a memory, and holds nothing to rely on."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def empty(self, *shape: Any, **options: Any) -> torch.Tensor:
        """Memory that nobody has written."""
        made = torch.empty(*shape, **options)
        made.fill_(UNWRITTEN if not made.is_floating_point() else torch.nan)
        return self._added(made)

    def zeros(self, *shape: Any, **options: Any) -> torch.Tensor:
        """Zeros."""
        return self._added(torch.zeros(*shape, **options))

    def full(self, *shape: Any, **options: Any) -> torch.Tensor:
        """Some number everywhere."""
        return self._added(torch.full(*shape, **options))

    def _added(self, made: torch.Tensor) -> torch.Tensor:
        self.memory.add(made, is_output=True)
        return made


def with_gaps(tensor: torch.Tensor, step: int) -> torch.Tensor:
    """The same elements, so far apart along every axis, with the first axis innermost."""
    room = [step * size + 1 for size in reversed(tensor.shape)]
    whole = torch.full(room, UNWRITTEN).to(tensor.dtype)
    view = whole[tuple(slice(1, None, step) for _ in room)]
    view = view.permute(*reversed(range(tensor.dim()))) if room else view
    view.copy_(tensor)
    return view
