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
from dtpoly.algorithm.label_sizes import size_rules, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import results_of
from dtpoly.reference.inputs import with_dtypes
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.reference.run import run
from dtpoly.ring.ring_memory import RingMemory
from tests.codegen.allowed import allowed
from tests.codegen.bounded_values import ProgramIndex
from tests.codegen.exact import Allowed, Exact
from tests.codegen.inputs import Inputs, Layout, poisoned, sliced
from tests.codegen.interpreter import interpreted, interpreter

# A set of floats that is wider than this share of their size says little.
TIGHT = 0.05


# The type of functions that watch the memory of running kernels.
Around = Callable[[RingMemory], AbstractContextManager[None]]
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
    out: tuple[torch.Tensor, ...] | None,
    device: str = "cpu",
) -> tuple[torch.Tensor, ...]:
    """Call the function of a Func, and return its results."""
    used = used_labels(program)
    passed = {r.label: sizes[r.label] for r in size_rules(program) if r.is_passed}
    keywords: dict[str, Any] = {label: n for label, n in passed.items() if label in used}
    if not program.tensors:
        keywords["device"] = device
    # A name that Python or a plan needs has an underscore in the file.
    function = getattr(module, func if hasattr(module, func) else f"{func}_")
    given = out[0] if out is not None and len(out) == 1 else out
    result = function(*inputs.values(), out=given, **keywords)
    return (result,) if torch.is_tensor(result) else tuple(result)


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
    """Run the functions, and raise Wrong where a result is not allowed.

    Outputs and scratch memory hold NaN before the run. After it, the memory around an output must
    be as it was. With `around=watching.watched` the interpreter computes as users have it, with no
    fault mended.
    """
    wanted = known or expected(program, inputs, sizes, program_index)
    total = Checked()
    for func in funcs:
        results = results_of(program, [func])[func]
        for one in results:
            exact, bound = wanted.reference[one], wanted.allowed[one]
            within(exact, exact, bound, f"{one} by the reference")
        shapes = {one: tuple(wanted.reference[one].shape) for one in results}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            around_it = around if watched else None
            made, is_kept = _call(
                module, program, func, inputs, sizes, shapes, device, layout, around_it
            )
        if not is_kept:
            raise Wrong(f"{func} writes beside its output")
        for one, got in zip(results, made, strict=True):
            if tuple(got.shape) != shapes[one]:
                raise Wrong(f"{one} has shape {tuple(got.shape)}, not {shapes[one]}")
            total += within(got.cpu(), wanted.reference[one], wanted.allowed[one], one)
    return total


def watched(
    module: ModuleType,
    program: Program,
    func: str,
    inputs: Inputs,
    sizes: Mapping[str, int],
    reference: Mapping[str, torch.Tensor],
) -> dict[str, torch.Tensor]:
    """Return the results of a function whose memory is watched; scratch holds NaN before.

    The reference says how large the results are. Raises Wrong if the function writes beside them.
    """
    shapes = {one: tuple(reference[one].shape) for one in results_of(program, [func])[func]}
    made, is_kept = _call(
        module, program, func, inputs, sizes, shapes, "cpu", Layout.PLAIN, interpreted
    )
    if not is_kept:
        raise Wrong(f"{func} writes beside its output")
    return dict(zip(shapes, made, strict=True))


def _call(
    module: ModuleType,
    program: Program,
    func: str,
    inputs: Inputs,
    sizes: Mapping[str, int],
    shapes: Mapping[str, tuple[int, ...]],
    device: str,
    layout: Layout,
    around: Around | None,
) -> tuple[tuple[torch.Tensor, ...], bool]:
    """Return the results of a function, and whether the memory around its outputs is as it was."""
    mine = {func.into.tensor: func.name for func in program.funcs if func.into is not None}
    # What is added to a Func has a tensor of its own, as other results have.
    mine = {tensor: one for tensor, one in mine.items() if one in shapes and tensor in inputs}
    inputs = {name: _to_write(v) if name in mine else v for name, v in inputs.items()}
    tensors = [v for v in inputs.values() if isinstance(v, torch.Tensor)]
    memory, context = _watch(tensors, around) if around is not None else (None, nullcontext())
    written = {one: inputs[tensor] for tensor, one in mine.items()}

    def fresh(*given: Any, **keywords: Any) -> torch.Tensor:
        made = empty(*given, **keywords)
        if memory is not None:
            memory.add(made, is_output=True)
        return made

    types = types_of(with_dtypes(program, inputs))
    dtypes = [TORCH_DTYPE[types[one].dtype or DType.F32] for one in shapes]
    pairs = list(zip(shapes.values(), dtypes, strict=True))
    is_given = layout is not Layout.PLAIN and not written
    out = tuple(_output(*pair, layout, device) for pair in pairs) if is_given else None
    for one in out or ():
        if memory is not None:
            memory.add(one, is_output=True)
    into = [one for one in written.values() if isinstance(one, torch.Tensor)]
    for part in memory.parts if memory is not None else ():
        part.is_output = part.is_output or any(part.tensor is tensor for tensor in into)
    before = [_whole(one).clone() for one in (*(out or ()), *into)]
    theirs: Any = module
    patched = mock.patch.multiple(theirs.torch, empty=fresh)
    again = (
        mock.patch.multiple(theirs, dt_empty=empty_strided)
        if "dt_empty" in vars(theirs)
        else nullcontext()
    )
    with context, patched, again:
        got = called(module, program, func, inputs, sizes, out, device)
    for name, one, dtype in zip(shapes, got, dtypes, strict=True):
        if one.dtype != dtype:
            raise Wrong(f"{name} is {one.dtype}, not {dtype}")
    if any(one is not written.get(name, one) for name, one in zip(shapes, got, strict=True)):
        raise Wrong(f"{func} does not give back the input that it writes")
    if written:
        kept = tuple(one.clone() for one in got)
        return kept, all([_is_kept(*pair) for pair in zip(into, before, strict=True)])
    if out is None:
        return got, True
    if any(one is not given for one, given in zip(got, out, strict=True)):
        raise Wrong(f"{func} does not give back the output it was given")
    kept = tuple(one.clone() for one in out)
    return kept, all([_is_kept(*pair) for pair in zip(out, before, strict=True)])


def _to_write(value: torch.Tensor | float) -> torch.Tensor | float:
    """Return a tensor with memory of its own that lies there as a given one does.

    If elements of the given one share memory, no result may go into it: those of the new one do
    not.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if 0 in value.stride():
        return value.clone(memory_format=torch.contiguous_format)
    whole = _whole(value).clone()
    return torch.as_strided(whole, value.shape, value.stride(), value.storage_offset())


def _is_kept(out: torch.Tensor, before: torch.Tensor) -> bool:
    """Put back what was in an output, and tell whether the memory around it is as it was."""
    out.copy_(torch.as_strided(before, out.shape, out.stride(), out.storage_offset()))
    return torch.equal(_whole(out).view(torch.uint8), before.view(torch.uint8))


def empty_strided(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Do the same for rows that are apart, as calls that repeat an earlier call do."""
    reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    count = 0 if 0 in shape else reach + 1
    return torch.as_strided(empty(count, dtype=dtype, device="cuda"), shape, strides)


def _watch(
    tensors: Sequence[torch.Tensor], around: Around
) -> tuple[RingMemory, AbstractContextManager[None]]:
    memory = RingMemory()
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
    # Nobody knows more of an element that is NaN in the reference, such as 0/0 of an empty sum.
    known = ~(bound.low.isinf() & bound.high.isinf()) | bound.is_point | exact.isnan()
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
