"""Makes calls of one function after each other in one process, as unlike as they can be."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Any

import pytest
import torch

from dtpoly.algorithm.filling import with_fixed
from dtpoly.algorithm.program import Program
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from tests.codegen.inputs import poisoned

FLOATS = (torch.float32, torch.float64)
SIZES = (1, 2, 3, 7, 16, 17, 33)
AROUND: tuple[Callable[[], AbstractContextManager[Any]], ...] = (
    nullcontext,
    torch.no_grad,
    torch.inference_mode,
    lambda: torch.device("cpu"),
)


def lying(tensor: torch.Tensor, chance: Random, *, may_repeat: bool = True) -> torch.Tensor:
    """Return the elements somewhere in poisoned memory, at strides of any kind."""
    if may_repeat and tensor.dim() and tensor.shape[0] and chance.random() < 0.1:
        return tensor[:1].clone().expand(tensor.shape)
    order = [*range(tensor.dim())]
    chance.shuffle(order)
    reach, strides = 1, [0] * tensor.dim()
    for axis in order:
        step = reach * chance.choice((1, 1, 1, 2)) + chance.choice((0, 0, 0, 1, 5))
        size = tensor.shape[axis]
        strides[axis] = chance.choice((step, 12345, 0)) if size == 1 else step
        reach = reach if size == 1 else step * (max(size, 1) - 1) + reach
    begin = chance.choice((0, 0, 1, 3, 4))
    extent = 1 + sum((max(s, 1) - 1) * step for s, step in zip(tensor.shape, strides, strict=True))
    room = poisoned([begin + extent + 3], tensor.dtype)
    return room.as_strided(tensor.shape, strides, begin).copy_(tensor)


class CallsInAnyOrder:
    """Calls a file's function by chance, and compares each result with the reference in f64."""

    def __init__(self, program: Program, function: Any, plan: Mapping[str, Any], seed: int) -> None:
        self.program, self.f, self.plan, self.chance = program, function, plan, Random(seed)
        self.kinds = [self.sizes() for _ in range(4)]
        self.into = {one.get("into") for one in plan["results"].values()} - {None}

    def sizes(self) -> dict[str, int]:
        sizes = {label.name: self.chance.choice(SIZES) for label in self.program.labels}
        return sizes | with_fixed(self.program, {})

    def inputs(self) -> tuple[dict[str, Any], dict[str, int]]:
        """Return arguments by name, and the sizes that are passed."""
        chance, sizes = self.chance, self.chance.choice(self.kinds)
        made: dict[str, Any] = {}
        kind = chance.choice(FLOATS)
        drawn = random_inputs(self.program, sizes, chance.randrange(1 << 20), {})
        for name, value in drawn.items():
            one: Any = value
            if isinstance(value, torch.Tensor):
                one = value.to(kind) if self.plan["inputs"][name][0] == "float" else value
                one = lying(one, chance, may_repeat=name not in self.into)
            elif isinstance(value, float) and chance.random() < 0.3:
                one = torch.tensor(value, dtype=torch.float64)
            made[name] = one
        passed: Mapping[str, Any] = self.plan.get("passed", {})
        needed = [one for one in passed if self.plan["sizes"][one] is None]
        return made, {one: sizes[one] for one in passed if one in needed or chance.random() < 0.3}

    def wanted(self, given: Mapping[str, Any], passed: Mapping[str, int]) -> list[torch.Tensor]:
        """Return what the reference computes, in f64, of copies."""
        copies = {
            name: one.item()
            if isinstance(one, torch.Tensor)
            and not one.dim()
            and len(self.plan["inputs"][name]) != 2
            else one.clone()
            if isinstance(one, torch.Tensor)
            else one
            for name, one in given.items()
        }
        funcs = [*self.plan["results"]]
        found = run(self.program, copies, sizes=passed, wanted=funcs)
        return [found[one] for one in funcs]

    def call(self) -> None:
        """Make one call, and compare."""
        chance = self.chance
        with chance.choice(AROUND)():
            given, passed = self.inputs()
            wanted = self.wanted(given, passed)
            found = self.results(given, passed)
        for one, right in zip(found, wanted, strict=True):
            share = 1e-7 if one.dtype is torch.float64 else 2e-4
            torch.testing.assert_close(
                one.double(), right.double(), rtol=share, atol=share, equal_nan=True
            )

    def results(self, given: dict[str, Any], passed: dict[str, int]) -> list[torch.Tensor]:
        chance = self.chance
        match chance.randrange(6):
            case 0 if not self.into:
                form = self.f(**given, **passed)
                self.refused(given, passed, form)
                outs = [
                    lying(poisoned(one.shape, one.dtype), chance, may_repeat=False)
                    for one in listed(form)
                ]
                got = self.f(
                    **given, **passed, out=tuple(outs) if isinstance(form, tuple) else outs[0]
                )
                assert all(a is b for a, b in zip(listed(got), outs, strict=True))
                return outs
            case 1:
                met: list[Any] = []
                thread = threading.Thread(
                    target=lambda: met.append(self.f(**given, **passed)), name="caller"
                )
                thread.start()
                thread.join()
                return listed(met[0])
            case 2 if not self.into:
                return listed(self.f(*given.values(), **passed))
            case _:
                return listed(self.f(**given, **passed))

    def refused(self, given: dict[str, Any], passed: dict[str, int], form: Any) -> None:
        """Refuse an `out` that is wrong, or that is an input; nothing is written then."""
        first = listed(form)[0]
        rest = listed(form)[1:]
        wrong: list[Any] = [first[..., :0], first.to(torch.int64), "out"]
        wrong += [first.expand(2, *first.shape)]
        wrong += [
            one
            for one in given.values()
            if isinstance(one, torch.Tensor) and one.shape == first.shape and first.numel()
        ]
        before = {n: v.clone() for n, v in given.items() if isinstance(v, torch.Tensor)}
        one = self.chance.choice(wrong)
        if isinstance(one, torch.Tensor) and not first.numel():
            return
        with pytest.raises((TypeError, ValueError)):
            self.f(**given, **passed, out=(one, *rest) if rest else one)
        for name, value in before.items():
            assert torch.equal(value.nan_to_num(), given[name].nan_to_num())


def listed(found: Any) -> list[torch.Tensor]:
    return [*found] if isinstance(found, tuple) else [found]
