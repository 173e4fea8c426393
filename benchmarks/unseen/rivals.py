"""Lists what else computes a case: torch's operations, made from its algorithm, and libraries."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as nn

from benchmarks.unseen.asked import results
from benchmarks.unseen.cases import Case
from benchmarks.unseen.fillings import Inputs, shapes_of, typed
from benchmarks.unseen.kinds import COMPILED, EAGER, LIBRARY
from benchmarks.unseen.torch_text import torch_text
from dtpoly.algorithm.program import Program
from dtpoly.runtime.load import load_module

Outcome = tuple[torch.Tensor, ...]
# Parts of it have no types.
_torch: Any = torch


@dataclass(frozen=True, slots=True)
class Rival:
    """A peer: what it runs, and whether its results are those of the algorithm."""

    name: str
    run: Callable[[], Outcome]
    is_alike: bool = True


def rivals(
    case: Case,
    program: Program,
    sizes: dict[str, int],
    inputs: Inputs,
    device: str,
    kinds: Sequence[str],
) -> Iterator[Rival]:
    """Yield the peers of a case of these kinds. Raises NotImplementedError where torch lacks it."""
    given = tuple(inputs.values())
    run = translated(case, program, sizes, device)
    if EAGER in kinds:
        yield Rival(EAGER, partial(run, *given))
    if COMPILED in kinds:
        # Each case has shapes of its own, so that nothing is said of other shapes.
        compiled: Callable[..., Outcome] = _torch.compile(run, dynamic=False)
        yield Rival(COMPILED, partial(compiled, *given))
    if LIBRARY in kinds and case.drawn.library:
        yield Rival(LIBRARY, _library(case, sizes, inputs), case.drawn.is_alike)


def translated(
    case: Case, program: Program, sizes: dict[str, int], device: str
) -> Callable[..., Outcome]:
    """Return the algorithm as a function of torch operations."""
    shapes = shapes_of(case, program, sizes)
    text = torch_text(typed(program, case.dtype), results(program), sizes, shapes)
    module = load_module(text, "translated")
    found: Callable[..., Outcome] = module.make(device)
    return found


def _library(case: Case, sizes: dict[str, int], inputs: Inputs) -> Callable[[], Outcome]:
    code = compile(case.drawn.library.format(**sizes), f"{case.name}, library", "eval")
    names: dict[str, Any] = {"F": nn, "torch": torch, **inputs}

    def run() -> Outcome:
        found: torch.Tensor = eval(code, names)
        return (found,)

    return run


def forget() -> None:
    """Begin a case with nothing compiled, and without the memory of those before."""
    if "torch._dynamo" in sys.modules:  # else there is nothing to forget, and it is slow to load
        torch.compiler.reset()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def set_precision(case: Case) -> None:
    """Let peers round the operands of products as the case does."""
    is_rough = case.drawn.precision == "tf32"
    torch.set_float32_matmul_precision("high" if is_rough else "highest")
    backends: Any = torch.backends
    backends.cudnn.allow_tf32 = is_rough
