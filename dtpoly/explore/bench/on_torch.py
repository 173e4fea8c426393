"""Checks and times candidates on a device of torch: a GPU, or the CPU.

On a GPU the cache is flushed before each run, and launches are queued while the device waits. On
the CPU, in Triton's interpreter, it only shows that candidates run, and not how fast they are.
"""

import platform
import random
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import torch

from dtpoly import __version__
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.program import Program
from dtpoly.explore.bench.bench import (
    Candidate,
    CheckedResult,
    Failure,
    KernelRefusal,
    Times,
    is_hopeless,
)
from dtpoly.explore.bench.bench import DeviceLost as LostHere
from dtpoly.explore.bench.bench import WrongValues as WrongHere
from dtpoly.explore.store.measured_question import SetupFacts, UserQuestion
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.frozen import dataclass
from dtpoly.reference.inputs import Inputs
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.runtime.load import load_module
from dtpoly.runtime.tolerance import (
    ComparedResult,
    allowed_of,
    computed,
    multiplies,
    share_lost,
    within,
)
from dtpoly.source import Source
from dtpoly.timing.clock import Clock, clock_of
from dtpoly.timing.failures import LostDevice, told
from dtpoly.timing.samples import Timer, sample, timer
from dtpoly.timing.spread import quarters

Baseline = Callable[..., torch.Tensor]

ROUNDS = 5
UNWRITTEN = 77  # what whole numbers are before they are written; it fits each of their types
BESIDE = 0.25  # each baseline gets this share of a candidate's time
# The words of Triton about a kernel that asks for more than the device has.
RESOURCES = ("OutOfResources", "out of resource")


@dataclass(frozen=True, slots=True)
class ReferenceValues:
    """The right values of a Func: in 64 bits, and in the type that kernels compute in."""

    exact: torch.Tensor
    rough: torch.Tensor


class TorchBench:
    """One GPU, or the CPU, with everything that the candidates of one question share."""

    def __init__(
        self,
        asked: UserQuestion,
        place: str,
        baselines: Mapping[str, Baseline],
        each: float = 100.0,
    ) -> None:
        self.asked, self.place = asked, place
        self.share = each / ROUNDS
        self.program = _program(asked)
        self.sizes = filled(self.program, asked.sizes)
        self.clock: Clock = clock_of(place)
        dtypes = {tensor.name: DType(asked.dtype) for tensor in self.program.tensors}
        self.inputs: Inputs = random_inputs(self.program, self.sizes, asked.seed, dtypes, place)
        self.references: dict[str, ReferenceValues] = {}
        # The error that the result of a Func may have; the key says whether products may be rough.
        self.allowed: dict[tuple[str, bool], float] = {}
        self.failed: dict[str, str] = {}  # from a baseline to the reason why it is left out
        self.baselines: dict[str, Timer] = {}
        for name, function in baselines.items():
            self._add_baseline(name, function)
        self.run: Callable[[], Any] | None = None
        self.outs: tuple[torch.Tensor, ...] = ()
        # Tensors that a candidate writes in place, and what was in them.
        self.written: tuple[tuple[torch.Tensor, torch.Tensor], ...] = ()
        # The first results of a candidate, which were right.
        self.first: tuple[torch.Tensor, ...] | None = None

    def facts(self) -> SetupFacts:
        """Return the device and the versions; times under other ones cannot be compared."""
        triton: Any = import_module("triton")
        versions = {
            "dtpoly": __version__,
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "triton": str(triton.__version__),
        }
        if self.place == "cpu":
            return SetupFacts("cpu, in Triton's interpreter", versions)
        versions["cuda"] = str(torch.version.cuda)
        return SetupFacts(str(torch.cuda.get_device_name()), versions)

    def prepare(self, candidate: Candidate) -> None:
        """Load the candidate, and compile its kernels. Raises Refusal, Failure, Lost."""
        try:
            with torch.no_grad(), compiling(self.place):
                module = load_module(candidate.text, "candidate")
                sys.modules.pop(module.__name__, None)  # there will be thousands
                call = candidate.call
                passed: dict[str, Any] = {w: self.sizes[label] for w, label in call.passed.items()}
                if not self.program.tensors:
                    passed["device"] = torch.device(self.place)
                given = self._given(call.results)
                function = getattr(module, call.function)
                out = function(*given, **passed)
                self.outs = out if isinstance(out, tuple) else (out,)
                into: dict[str, Any] = {} if self.written else {"out": out}
                self.run = partial(function, *given, **passed, **into)
        except Exception as error:  # whatever the text or Triton raises
            raise _failure(error) from error

    def _given(self, results: Sequence[str]) -> list[Any]:
        """Return the inputs of a candidate, which has its own of those that it writes in place."""
        into = {one for one, func in self.program.into.items() if func in results}
        given: dict[str, Any] = dict(self.inputs)
        pairs = list[tuple[torch.Tensor, torch.Tensor]]()
        for name, value in self.inputs.items():
            if name in into and isinstance(value, torch.Tensor):
                given[name] = own = value.clone()
                pairs.append((own, value))
        self.written = tuple(pairs)
        return [*given.values()]

    def _restored(self) -> None:
        """Put back what was in the inputs that are written in place."""
        for own, value in self.written:
            own.copy_(value)

    def _run_once(self) -> None:
        """Run the candidate on the inputs as they were, and keep its results."""
        assert self.run is not None
        self._restored()
        out = self.run()
        self.outs = out if isinstance(out, tuple) else (out,)

    def check(self, candidate: Candidate) -> CheckedResult:
        """Run the candidate into tensors full of NaN, so that elements that it omits are found."""
        assert self.run is not None
        try:
            with torch.no_grad():
                for out in self.outs:
                    out.fill_(float("nan") if out.is_floating_point() else UNWRITTEN)
                self._run_once()
                self.clock.wait()
                checked = self._right(candidate)
                self.first = tuple(out.clone() for out in self.outs)
                return checked
        except (RuntimeError, ValueError, TypeError) as error:
            raise _failure(error) from error

    def measure(self, candidate: Candidate, bound: float | None) -> Times:
        """Time rounds in random order.

        In each round the baselines take turns with the candidate.
        """
        assert self.run is not None
        order = random.Random(candidate.point)
        try:
            with torch.no_grad():
                mine = timer(self.run, self.clock)
                beside = BESIDE * self.share
                turns = [(mine, self.share), *((one, beside) for one in self.baselines.values())]
                for one in self.baselines.values():
                    one.times.clear()
                for _ in range(ROUNDS):
                    order.shuffle(turns)
                    for one, share in turns:
                        self._restored()
                        sample(one, self.clock, share)
                    if is_hopeless(mine.times, bound):
                        break
                if self.written:
                    self._run_once()
                    self.clock.wait()
                # A result that equals the first one is as right as that; a NaN never equals.
                if self.first is None or not all(map(torch.equal, self.outs, self.first)):
                    self._right(candidate)
        except (RuntimeError, ValueError, TypeError, TimeoutError) as error:
            raise _failure(error) from error
        low, middle, high = quarters(mine.times)
        others = {name: quarters(one.times)[1] for name, one in self.baselines.items()}
        is_stopped = is_hopeless(mine.times, bound)
        return Times(middle, low, high, len(mine.times), others, is_stopped)

    def _right(self, candidate: Candidate) -> CheckedResult:
        """Compare the results, and tell of the one that comes nearest to being wrong."""
        call = candidate.call
        pairs = zip(call.results, self.outs, strict=True)
        found = [self._compared(func, result, call.is_rough) for func, result in pairs]
        for one in found:
            if one.wrong:
                raise WrongHere(_first_wrong(one), one.error, one.allowed)
        nearest = max(found, key=lambda one: one.error / one.allowed if one.allowed else 0)
        return CheckedResult(nearest.error, nearest.allowed)

    def _compared(self, func: str, result: torch.Tensor, is_rough: bool) -> ComparedResult:
        if func not in self.references:
            self.references[func] = self._reference(func)
        want = self.references[func]
        if (func, is_rough) not in self.allowed:
            self.allowed[func, is_rough] = self._allowed(func, want, is_rough)
        allowed = self.allowed[func, is_rough]
        labels = self.program.func(func).labels
        return within(func, labels, result, want.exact, want.rough, allowed)

    def _reference(self, func: str) -> ReferenceValues:
        compute = computed(self.program, DType(self.asked.dtype))
        return ReferenceValues(self._computed(func, torch.float64), self._computed(func, compute))

    def _allowed(self, func: str, want: ReferenceValues, is_rough: bool) -> float:
        dtype = DType(self.asked.dtype)
        share = share_lost(self.program, func, self.sizes, dtype, is_rough)
        is_cut = is_rough and multiplies(self.program, func)
        cut = self._computed(func, torch.float64, is_rough=True) if is_cut else None
        return allowed_of(want.exact, want.rough, share, cut)

    def _computed(self, func: str, compute: torch.dtype, is_rough: bool = False) -> torch.Tensor:
        found = run(
            self.program,
            self.inputs,
            sizes=self.sizes,
            wanted=(func,),
            compute=compute,
            is_rough=is_rough,
        )
        return found[func]

    def _add_baseline(self, name: str, function: Baseline) -> None:
        """Add a baseline; one that fails or computes something else is reported and left out."""
        action = partial(function, **self.inputs)
        try:
            with torch.no_grad():
                found = self._compared(self.asked.func, action(), is_rough=True)
                self.clock.wait()
                if found.wrong:
                    self.failed[name] = _first_wrong(found)
                    return
                self.baselines[name] = timer(action, self.clock)
        except Exception as error:  # a user's code may raise anything
            self.failed[name] = told(error)


@contextmanager
def compiling(place: str) -> Generator[None]:
    """Compile and load kernels inside without launching them; the interpreter runs them."""
    jit: Any = import_module("triton.runtime.jit").JITFunction
    whole = jit.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        kernel = whole(self, *args, grid=grid, warmup=True, **options)
        # The kernel is loaded too, because only then Triton knows which resources the device lacks.
        kernel._init_handles()
        return kernel

    jit.run = whole if place == "cpu" else run
    try:
        yield
    finally:
        jit.run = whole


def _program(asked: UserQuestion) -> Program:
    parsed = parse(Source(asked.name, asked.program))
    return resolve(parsed.file).program


def _first_wrong(found: ComparedResult) -> str:
    """Return which element is wrong, and what it should be."""
    if found.first is None:
        return ""
    at = ", ".join(map(str, found.first))
    is_, should = found.result[found.first].item(), found.expected[found.first].item()
    more = f"; so are {found.wrong - 1:,} more" if found.wrong > 1 else ""
    return f"{found.func}[{at}] is {is_:g} and not {should:g}{more}"


def _failure(error: Exception) -> Exception:
    """Translate an error of torch or Triton into what it means for a candidate."""
    try:
        message = told(error)
    except LostDevice as lost:
        return LostHere(str(lost))
    if any(sign in message for sign in RESOURCES):
        return KernelRefusal("out of resources", message)
    if type(error).__name__ in ("CompilationError", "UnsupportedLanguageConstruct"):
        return KernelRefusal("does not compile", message)
    return Failure(message.partition(":")[0], message)
