"""Runs generated kernels in the ring and compares each result with the definition, bit for bit."""

import inspect
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.budget import OverBudgetError
from dtpoly.frozen import dataclass
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.ring import ring_elements as field
from dtpoly.ring.interpreter import in_ring as text_in_ring
from dtpoly.ring.interpreter import ring
from dtpoly.ring.ring_algorithm import in_ring
from dtpoly.ring.ring_memory import RingMemory, TouchError
from dtpoly.ring.watching import watched
from dtpoly.runtime.load import load_module

# Triton has no types.
errors: Any = import_module("triton.runtime.errors")
IMPORTED = "dtpoly.carried."
WRAPPING = (torch.int8, torch.int16, torch.int32, torch.uint8)
# Whole numbers that nobody has written.
UNWRITTEN = 91


@dataclass(frozen=True, slots=True)
class Agreement:
    """The number of elements of each output that differ; if none do, nothing is wrong."""

    differing: Mapping[str, int]
    first: Mapping[str, tuple[int, ...]]


def wide(program: Program) -> Program:
    """Return the Program with all its floats of 64 bits."""
    inputs = tuple(
        replace(one, dtype=DType.F64) if one.dtype is not None and is_float(one.dtype) else one
        for one in program.inputs
    )
    return replace(program, inputs=inputs)


def agreement(
    program: Program,
    text: str,
    outputs: tuple[str, ...],
    sizes: Mapping[str, int],
    seed: int,
) -> Agreement:
    """Run the functions of a generated file in the ring, and compare with the algorithm there.

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
        # A name that Python or the file needs has an underscore there: `torch_` computes `torch`.
        is_there = isinstance(vars(module).get(output), FunctionType)
        function = output if is_there else f"{output}_"
        accepted = inspect.signature(getattr(module, function)).parameters
        called = {n: n if n in accepted else f"{n}_" for n in (*passed, *given)}
        options = {called[n]: v for n, v in passed.items() if called[n] in accepted}
        mine = {called[n]: v for n, v in given.items() if called[n] in accepted}
        results = _results(module, function, output, wanted)
        right = [np.asarray(wanted[one]) for one in results]
        into = _into(module, function)
        fresh = {n: v.clone() if n in into else v for n, v in mine.items()}
        got = _called(module, function, fresh, options, (), into)
        wrong = [_unlike(*pair) for pair in zip(got, right, strict=True)]
        if not any(one.any() for one in wrong):
            out = tuple(
                with_gaps(torch.empty(one.shape, dtype=made.dtype), 2)
                for one, made in zip(right, got, strict=True)
                if not into  # results in place take no `out`
            )
            apart = {
                n: with_gaps(v, at) if isinstance(v, torch.Tensor) else v
                for at, (n, v) in enumerate(mine.items(), start=3)
            }
            again = _called(module, function, apart, options, out, into)
            wrong = [_unlike(*pair) for pair in zip(again, right, strict=True)]
        for one, there in zip(results, wrong, strict=True):
            differing[one] = differing.get(one, 0) + int(np.sum(there))
            if there.any():
                first.setdefault(one, tuple(int(i) for i in np.argwhere(there)[0]))
    return Agreement(differing, first)


def _plans(module: ModuleType, function: str) -> list[Any]:
    """Find the plan of a function; a file that a person wrote has none."""
    there: list[Any] = [one for one in vars(module).values() if isinstance(one, dict)]
    return [one for one in there if one.get("function") == function]


def _into(module: ModuleType, function: str) -> frozenset[str]:
    """Find the inputs that a function writes, by the names of their parameters."""
    made = (one for plan in _plans(module, function) for one in plan["results"].values())
    return frozenset(one["into"] for one in made if "into" in one)


def _results(
    module: ModuleType, function: str, output: str, funcs: Collection[str]
) -> tuple[str, ...]:
    """Find the Funcs that a function returns, which its plan lists; that of its name comes first.

    Where Python needs the name of a Func for itself, an underscore stands behind it.
    """
    plans = _plans(module, function)
    more: list[str] = [*plans[0]["results"]][1:] if plans else []
    return (output, *(one if one in funcs else one.removesuffix("_") for one in more))


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
            elements = field.ascending(field.chosen(random, tuple(value.shape)))
            made = torch.tensor(elements.tolist(), dtype=torch.float64)
            given[one.name] = made.reshape(value.shape)
        elif isinstance(one, Tensor) and value.dtype in WRAPPING and one.within is None:
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
    outs: tuple[torch.Tensor, ...],
    into: Collection[str],
) -> tuple[torch.Tensor, ...]:
    """Call a function while the memory that it is given is watched, and return its results.

    It may write the inputs of these names.
    """
    assert module.__file__ is not None
    memory = RingMemory(source=module.__file__)
    for name, value in given.items():
        if isinstance(value, torch.Tensor):
            memory.add(value, is_output=name in into)
    for one in outs:
        memory.add(one, is_output=True)
    out = None if not outs else outs[0] if len(outs) == 1 else outs
    using = _using_torch(module)
    for names in using:
        names["torch"] = TorchOf(memory)
    try:
        with ring(), watched(memory):
            words = {} if into else {"out": out}
            got = getattr(module, func)(**given, **options, **words)
    except errors.InterpreterError as error:
        raise _first(error) from None
    finally:
        for names in using:
            names["torch"] = torch
    return (got,) if torch.is_tensor(got) else tuple(got)


def _using_torch(module: ModuleType) -> list[dict[str, Any]]:
    """Return the names of a file, and of the runtime that it imports if it carries none."""
    if "dt_memory" in vars(module):
        return [vars(module)]
    loaded = [vars(one) for name, one in sys.modules.items() if name.startswith(IMPORTED)]
    return [vars(module), *(names for names in loaded if "torch" in names)]


def _first(error: BaseException) -> BaseException:
    """Find the error of memory or budget that made the interpreter stop, among the causes."""
    one: BaseException | None = error
    while one is not None and not isinstance(one, TouchError | OverBudgetError):
        one = one.__cause__
    return one or error


def _unlike(got: torch.Tensor, right: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which elements are others; all are, if the shape is another."""
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

    def __init__(self, memory: RingMemory) -> None:
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
        """Make a tensor that has one number everywhere."""
        return self._added(torch.full(*shape, **options))

    def _added(self, made: torch.Tensor) -> torch.Tensor:
        self.memory.add(made, is_output=True)
        return made


def with_gaps(tensor: torch.Tensor, step: int) -> torch.Tensor:
    """Return the same elements, so far apart along every axis, with the first axis innermost."""
    room = [step * size + 1 for size in reversed(tensor.shape)]
    whole = torch.full(room, UNWRITTEN).to(tensor.dtype)
    view = whole[tuple(slice(1, None, step) for _ in room)]
    view = view.permute(*reversed(range(tensor.dim()))) if room else view
    view.copy_(tensor)
    return view
