"""Calls of all kinds in any order, tried without a GPU: each launches what its plan would launch.

The kinds of plans are those whose launches depend on most: results in place, several results,
sums that programs add to, panels, sizes that a call passes, scans in parts, floats that change.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from types import ModuleType
from typing import Any

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import with_fixed
from dtpoly.algorithm.program import Program
from tests.codegen.inputs import Layout, Recipe, laid_out
from tests.codegen.listings import STARTED
from tests.codegen.repeated import (
    ATOMIC,
    EXAMPLES,
    IN_PLACE,
    SEVERAL,
    generated,
    launched,
    plans_in,
    repeat,
    rooms,
    seen,
)
from tests.codegen.scans_in_parts import IN_PARTS
from tests.codegen.test_panels import DESCRIBED, PRODUCT

CALLS = int(os.environ.get("DTPOLY_CALLS_IN_ORDER", "40"))  # of each file
SIZES = (1, 2, 3, 16, 24, 33, 64, 80)
DTYPES = (DType.F32, DType.F16, DType.F64)


# How inputs are made, sizes, which of them are passed, whether there is an `out`, how that and
# what is written in place lie in memory, and how many elements are before the inputs.
Kind = tuple[Recipe, dict[str, int], list[str], bool, Layout, int]


@dataclass
class Caller:
    """Makes calls of a file's function by chance, some of them like earlier ones."""

    program: Program
    module: ModuleType
    chance: Random

    def __post_init__(self) -> None:
        (self.function,) = plans_in(self.module)
        self.plan: dict[str, Any] = getattr(self.module, f"{self.function}_plan")
        self.kinds = [one for _ in range(2) for one in self.near(self.kind())]

    def near(self, kind: Kind) -> list[Kind]:
        """Return kinds of calls of which each differs from the first in one thing."""
        recipe, sizes, named, with_out, _, begin = kind
        return [
            (replace(recipe, layout=Layout.PLAIN), sizes, named, with_out, Layout.PLAIN, 0),
            (replace(recipe, layout=Layout.PLAIN), sizes, named, with_out, Layout.PLAIN, begin + 1),
            (replace(recipe, layout=Layout.TRANSPOSED), sizes, named, with_out, Layout.PLAIN, 0),
            (replace(recipe, layout=Layout.PLAIN), sizes, named, with_out, Layout.TRANSPOSED, 0),
            (replace(recipe, layout=Layout.PLAIN), sizes, self.needed(), with_out, Layout.PLAIN, 0),
            kind,
        ]

    def needed(self) -> list[str]:
        return [one for one in self.plan.get("passed", {}) if self.plan["sizes"][one] is None]

    def kind(self) -> Kind:
        """Return what like calls share."""
        chance = self.chance
        sizes = {label.name: chance.choice(SIZES) for label in self.program.labels}
        sizes |= with_fixed(self.program, {})  # those that the file says
        recipe = Recipe(1, chance.choice(DTYPES), chance.choice([*Layout]))
        others = [one for one in self.plan.get("passed", {}) if chance.random() < 0.5]
        named = [*dict.fromkeys((*self.needed(), *others))]
        with_out = not self.is_in_place() and chance.random() < 0.4
        return recipe, sizes, named, with_out, chance.choice([*Layout][:3]), chance.randrange(4)

    def is_in_place(self) -> bool:
        return any("into" in one for one in self.plan["results"].values())

    def arguments(self) -> tuple[list[Any], dict[str, Any]] | None:
        """Return the arguments of a call, or None if its sizes do not go together."""
        chance = self.chance
        recipe, sizes, named, with_out, layout, begin = chance.choice(self.kinds)
        made = recipe.inputs(self.program, sizes)
        into = {one.get("into") for one in self.plan["results"].values()}
        given = list[Any]()
        for name, value in made.items():
            one: Any = value
            if isinstance(value, torch.Tensor):
                if name in into:
                    one = laid_out(value.contiguous(), layout)
                one = moved(one, begin) if recipe.layout is Layout.PLAIN else one
            elif isinstance(value, float):
                one = chance.choice((0.0, -0.0, 1.5, float("nan"), 2, torch.tensor(0.5)))
            given.append(one)
        words: dict[str, Any] = {one: sizes[one] for one in named}
        f = getattr(self.module, self.function)
        try:
            launches, found = launched(lambda: f.__wrapped__(*given, **words))
        except (TypeError, ValueError):
            return None
        if not launches:
            return None
        if with_out:
            outs = [laid_out(one, layout) for one in alone(found)]
            words["out"] = tuple(outs) if isinstance(found, tuple) else outs[0]
        return given, words

    def around(self) -> AbstractContextManager[Any]:
        return self.chance.choice((nullcontext, nullcontext, torch.no_grad, torch.inference_mode))()


def alone(found: Any) -> list[Any]:
    return [*found] if isinstance(found, tuple) else [found]


def told(call: Callable[[], Any], tensors: Sequence[Any]) -> list[str]:
    """Return what a call launches and gives, as texts; addresses by their place in a tensor."""
    rooms.clear()
    launches, found = launched(call)
    stores = [one.untyped_storage() for one in tensors if isinstance(one, torch.Tensor)]
    memory = [*((one.data_ptr(), one.nbytes()) for one in stores), *rooms.items()]

    def shown(one: Any) -> Any:
        base = getattr(one, "base", None)
        if base is not None:
            return shown(base), one.shape, one.strides, one.block_shape
        address = one.data_ptr() if isinstance(one, torch.Tensor) else one
        if type(address) is int and address > 1 << 20:
            for number, (begin, size) in enumerate(memory):
                if begin <= address < begin + size:
                    return f"{address - begin} bytes in tensor {number}"
        return address

    assert launches
    runs = [str([*run[:6], *map(shown, run[9:])]) for run in launches]
    return [*runs, *(str((shown(one), one.shape, one.stride(), one.dtype)) for one in alone(found))]


def moved(tensor: torch.Tensor, begin: int) -> torch.Tensor:
    """Return the same in memory that begins so many elements later."""
    room = torch.empty(tensor.numel() + begin, dtype=tensor.dtype)
    return room[begin:].view(tensor.shape).copy_(tensor)


def tried(text: str, seed: int) -> tuple[int, int]:
    """Return how many calls were made, and how many of them were like none before."""
    program, module = generated(text)
    caller, count = Caller(program, module, Random(seed)), 0
    with seen(module) as new:
        for _ in range(CALLS):
            with caller.around():
                made = caller.arguments()
                if made is None:
                    continue
                given, words = made
                f, tensors = getattr(module, caller.function), [*given, *alone(words.get("out"))]
                got = told(partial(f, *given, **words), tensors)
                assert got == told(partial(f.__wrapped__, *given, **words), tensors)
                count += 1
    return count, len(new)


def all_like(texts: dict[str, str]) -> None:
    for seed, (name, text) in enumerate(texts.items()):
        try:
            count, new = tried(text, seed)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
        assert 0 < new < count, (name, count, new)


def example(name: str) -> str:
    return (EXAMPLES / f"{name}.dt").read_text()


def check_in_any_order_in_place() -> None:
    names = ("adam_in_place", "add_rms_norm_in_place", "kv_cache_append")
    all_like({"in place": IN_PLACE} | {one: example(one) for one in names})


def check_in_any_order_several_results() -> None:
    names = ("softmax_with_lse", "quantize_rows", "layer_norm_forward")
    all_like({"several": SEVERAL} | {one: example(one) for one in names})


def check_in_any_order_sums_that_programs_add_to() -> None:
    started = {name: path.read_text() for name, path in STARTED.items()}
    all_like({"atomic": ATOMIC, "embedding_backward": example("embedding_backward")} | started)


def check_in_any_order_panels() -> None:
    all_like({name: f"{text} f.compile();" for name, text in (("1", PRODUCT), ("2", DESCRIBED))})


def check_in_any_order_parts() -> None:
    names = ("sums", "two scans", "of a Func in memory")
    all_like({one: IN_PARTS[one] for one in names} | {"flash": example("flash_decoding")})


if __name__ == "__main__":
    raise SystemExit(repeat(globals()))
