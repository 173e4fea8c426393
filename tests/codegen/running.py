"""Runs the generated file of a scheduled Program, and compares results with all that is allowed."""

import linecache
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.sizes import size_rules, used_labels
from dtpoly.diagnostics import DtpolyError
from dtpoly.reference.inputs import with_dtypes
from dtpoly.reference.run import run
from dtpoly.reference.values import TORCH_DTYPE
from dtpoly.ring.memory import Memory
from tests.codegen.allowed import ProgramIndex, allowed
from tests.codegen.exact import Allowed, Exact
from tests.codegen.inputs import Inputs, Layout, poisoned, sliced
from tests.codegen.interpreter import interpreted, interpreter

# A set of floats that is wider than this share of their size says little.
TIGHT = 0.05


# The type of functions that watch the memory of running kernels.
Around = Callable[[Memory], AbstractContextManager[None]]
# The words of a generated file for dtypes for which it has no kernels.
NO_KERNELS = ("has no atomic form in that", "have no common type: convert")


class Wrong(AssertionError):
    """A kernel computes something else than its algorithm."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The numbers of compared elements, of those with a known bound, and with a tight one."""

    elements: int = 0
    known: int = 0
    tight: int = 0

    def __add__(self, other: "Checked") -> "Checked":
        return Checked(
            self.elements + other.elements, self.known + other.known, self.tight + other.tight
        )


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """For each Func the result of the reference, and all results that are allowed."""

    reference: Mapping[str, torch.Tensor]
    allowed: Mapping[str, Allowed]


def expected(
    program: Program,
    inputs: Inputs,
    sizes: Mapping[str, int],
    program_index: ProgramIndex | None = None,
) -> Expected:
    """Compute, on the CPU, what the results are compared with."""
    here = {n: v.cpu() if isinstance(v, torch.Tensor) else v for n, v in inputs.items()}
    reference = run(program, here, sizes=sizes, program_index=program_index)
    return Expected(reference, allowed(program, here, sizes, program_index))


def imported(text: str) -> ModuleType:
    """Import a generated file as a module; Triton finds its source in memory."""
    name = f"generated_{sha256(text.encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    path = f"<{name}>"
    # Without a modification time it never counts as outdated.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = ModuleType(name)
    module.__file__ = path
    exec(compile(text, path, "exec"), module.__dict__)
    sys.modules[name] = module
    return module


def forget() -> None:
    """Drop the generated files that are kept, because a thousand of them fill the memory."""
    for name in [name for name in sys.modules if name.startswith("generated_")]:
        del sys.modules[name]
        linecache.cache.pop(f"<{name}>", None)
    interpreter.InterpretedFunction.rewritten_fn.clear()


def called(
    module: ModuleType,
    program: Program,
    func: str,
    inputs: Inputs,
    sizes: Mapping[str, int],
    out: torch.Tensor | None,
    device: str = "cpu",
) -> torch.Tensor:
    """Call the wrapper of a Func, and return its result."""
    used = used_labels(program)
    passed = {r.label: sizes[r.label] for r in size_rules(program) if r.is_passed}
    keywords: dict[str, Any] = {label: n for label, n in passed.items() if label in used}
    if not program.tensors:
        keywords["device"] = device
    result = getattr(module, func)(*inputs.values(), out=out, **keywords)
    assert isinstance(result, torch.Tensor)
    return result


def nothing_to_run(error: Exception) -> str | None:
    """Return why there is nothing to compare for these inputs, if the error says so."""
    if isinstance(error, DtpolyError) and all(d.code == "DT156" for d in error.diagnostics):
        return "rargmax of nothing"
    if isinstance(error, TypeError):
        return next((what for what in NO_KERNELS if what in str(error)), None)
    return None


def empty(*shape: Any, dtype: torch.dtype = torch.float32, device: Any = "cpu") -> torch.Tensor:
    """Return memory as `torch.empty` gives it, filled with values that nobody may rely on."""
    extents = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return poisoned(tuple(extents), dtype, device)


def compared(
    module: ModuleType,
    program: Program,
    funcs: Sequence[str],
    inputs: Inputs,
    sizes: Mapping[str, int],
    *,
    device: str = "cpu",
    layout: Layout = Layout.PLAIN,
    program_index: ProgramIndex | None = None,
    watched: bool = True,
    known: Expected | None = None,
    around: Around = interpreted,
) -> Checked:
    """Run the wrappers, and raise Wrong where a result is not allowed.

    Outputs and scratch memory hold NaN before the run. After it, the memory around an output must
    be as it was. With `around=watching.watched` the interpreter computes as users have it, with no
    fault mended.
    """
    wanted = known or expected(program, inputs, sizes, program_index)
    total = Checked()
    for func in funcs:
        exact, bound = wanted.reference[func], wanted.allowed[func]
        within(exact, exact, bound, f"{func} by the reference")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            around_it = around if watched else None
            got, is_kept = _call(
                module, program, func, inputs, sizes, tuple(exact.shape), device, layout, around_it
            )
        if tuple(got.shape) != tuple(exact.shape):
            raise Wrong(f"{func} has shape {tuple(got.shape)}, not {tuple(exact.shape)}")
        if not is_kept:
            raise Wrong(f"{func} writes beside its output")
        total += within(got.cpu(), exact, bound, func)
    return total


def _call(
    module: ModuleType,
    program: Program,
    func: str,
    inputs: Inputs,
    sizes: Mapping[str, int],
    shape: tuple[int, ...],
    device: str,
    layout: Layout,
    around: Around | None,
) -> tuple[torch.Tensor, bool]:
    """Return the result of a wrapper, and whether the memory around its output is as it was."""
    tensors = [value for value in inputs.values() if isinstance(value, torch.Tensor)]
    memory, context = _watch(tensors, around) if around is not None else (None, nullcontext())

    def fresh(*given: Any, **keywords: Any) -> torch.Tensor:
        made = empty(*given, **keywords)
        if memory is not None:
            memory.add(made, is_output=True)
        return made

    dtype = TORCH_DTYPE[types_of(with_dtypes(program, inputs))[func].dtype or DType.F32]
    out = None if layout is Layout.PLAIN else _output(shape, dtype, layout, device)
    if memory is not None and out is not None:
        memory.add(out, is_output=True)
    before = None if out is None else _whole(out).clone()
    theirs: Any = module
    patched = mock.patch.multiple(theirs.torch, empty=fresh)
    again = (
        mock.patch.multiple(theirs, dt_empty=empty_strided)
        if "dt_empty" in vars(theirs)
        else nullcontext()
    )
    with context, patched, again:
        got = called(module, program, func, inputs, sizes, out, device)
    if got.dtype != dtype:
        raise Wrong(f"{func} is {got.dtype}, not {dtype}")
    if out is None or before is None:
        return got, True
    if got is not out:
        raise Wrong(f"{func} does not give back the output it was given")
    kept = out.clone()
    out.copy_(torch.as_strided(before, out.shape, out.stride(), out.storage_offset()))
    return kept, torch.equal(_whole(out).view(torch.uint8), before.view(torch.uint8))


def empty_strided(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Do the same for rows that are apart, as calls that repeat an earlier call do."""
    reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    count = 0 if 0 in shape else reach + 1
    return torch.as_strided(empty(count, dtype=dtype, device="cuda"), shape, strides)


def _watch(
    tensors: Sequence[torch.Tensor], around: Around
) -> tuple[Memory, AbstractContextManager[None]]:
    memory = Memory()
    for tensor in tensors:
        memory.add(tensor, is_output=False)
    return memory, around(memory)


def _output(
    shape: tuple[int, ...], dtype: torch.dtype, layout: Layout, device: str
) -> torch.Tensor:
    match layout:
        case Layout.TRANSPOSED:
            return poisoned(shape[::-1], dtype, device).permute(list(reversed(range(len(shape)))))
        case Layout.SLICED:
            return sliced(shape, dtype, device)
        case _:
            return poisoned(shape, dtype, device)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Return all the memory of which a view is a part."""
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    return torch.as_strided(tensor, (count,), (1,), 0)


def within(got: torch.Tensor, exact: torch.Tensor, bound: Allowed, name: str) -> Checked:
    """Raise Wrong at the first element that is not in its set."""
    if isinstance(bound, Exact):
        bad = bound.known & (got.to(bound.tensor.dtype) != bound.tensor)
        if got.dtype.is_floating_point or bad.any():
            raise Wrong(_first(name, bad, got, exact, bound.tensor, bound.tensor))
        count = int(bound.known.sum())
        return Checked(got.numel(), count, count)
    values = got.double()
    inside = (values >= bound.low) & (values <= bound.high)
    good = torch.where(values.isnan(), bound.nan, inside)
    if not bool(good.all()):
        raise Wrong(_first(name, ~good, got, exact, bound.low, bound.high))
    width = bound.high - bound.low
    middle = torch.maximum(bound.low.abs(), bound.high.abs())
    # An element near 0 may be off by a share of the numbers that it was computed from.
    tight = bound.is_point | (width.isfinite() & (width <= TIGHT * (middle + 1)))
    known = ~(bound.low.isinf() & bound.high.isinf()) | bound.is_point
    return Checked(got.numel(), int(known.sum()), int(tight.sum()))


def _first(
    name: str,
    bad: torch.Tensor,
    got: torch.Tensor,
    exact: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
) -> str:
    where = tuple(int(at) for at in bad.nonzero()[0]) if bad.any() else (0,) * bad.dim()
    return (
        f"{name}[{', '.join(map(str, where))}] is {got[where].item()}, not "
        f"{exact[where].item()} (allowed: {low[where].item()} to {high[where].item()}); "
        f"{int(bad.sum())} of {bad.numel()} are wrong"
    )
