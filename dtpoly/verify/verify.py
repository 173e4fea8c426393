"""A Program and the text of a file in; for each function of the file what is proved of it, out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import islpy as isl

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import reads
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.sizes import size_rules
from dtpoly.verify.algorithm import Unsaid, meaning_of
from dtpoly.verify.asking import Run, running
from dtpoly.verify.evaluate import differ
from dtpoly.verify.file import File, read_file
from dtpoly.verify.findings import Finding, Proof
from dtpoly.verify.formats import TYPES
from dtpoly.verify.held import Wrapper
from dtpoly.verify.layers import LAYERS
from dtpoly.verify.limits import OutOfTimeError, limited
from dtpoly.verify.machine import run_kernel
from dtpoly.verify.memory import Memory, Unwritten
from dtpoly.verify.regions import NotAffine
from dtpoly.verify.sets import is_empty, params_of, points_of, polyhedra_of, smallest
from dtpoly.verify.values import Unread
from dtpoly.verify.whole import Truth, both, compare, name, number
from dtpoly.verify.wrapper import wrapper_of

SECONDS = 10.0
MOST_SIZES = 6
# Whatever a text makes go wrong in reading it, it is not proved.
CONFUSED = (LookupError, ValueError, TypeError, AttributeError, AssertionError, ArithmeticError)


class Verdict(StrEnum):
    """What is known of a layer."""

    PROVED = "proved"
    UNKNOWN = "unknown"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class Layer:
    """What is known of one layer of a function; if not proved, the line, the reason, an example."""

    name: str
    verdict: Verdict
    line: int = 0
    why: str = ""
    # Sizes, program, lanes and iterations for which it goes wrong; the smallest sizes that do.
    example: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """What is known of one function of the file."""

    name: str
    layers: tuple[Layer, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of a file."""

    functions: tuple[Function, ...]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Those of all functions."""
        return tuple(layer for function in self.functions for layer in function.layers)

    @property
    def verdict(self) -> Verdict:
        """REFUTED if a layer is, PROVED if all are, and there is one."""
        found = {layer.verdict for layer in self.layers}
        if Verdict.REFUTED in found:
            return Verdict.REFUTED
        return Verdict.PROVED if found == {Verdict.PROVED} else Verdict.UNKNOWN


def asking_isl(_: str) -> Run:
    """A proof of a function that rests on what isl says."""
    return Run(is_empty)


def verify(
    program: Program,
    text: str,
    seconds: float = SECONDS,
    run_of: Callable[[str], Run] = asking_isl,
) -> Report:
    """What is proved of every function of a file that computes a Func; it raises nothing.

    `run_of` begins the proof of a function, by name: who is asked, and where it is written down.
    """
    began = time.monotonic()
    try:
        file = read_file(text)
    except Unread as error:
        return Report((_unknown("", error.line, error.what, began),))
    wanted = [func.name for func in program.funcs if func.name in file.plain]
    if not wanted:
        return Report((_unknown("", 1, "no function has the name of a Func", began),))
    return Report(tuple(_function(program, file, func, seconds, run_of(func)) for func in wanted))


def _unknown(name: str, line: int, why: str, began: float) -> Function:
    layers = tuple(Layer(layer, Verdict.UNKNOWN, line, why) for layer in LAYERS)
    return Function(name, layers, time.monotonic() - began)


def _function(program: Program, file: File, func: str, seconds: float, run: Run) -> Function:
    began = time.monotonic()
    try:
        with limited(seconds), running(run):
            wrapper, proof = _proof(program, file, func)
            layers = tuple(_layer(name, wrapper, proof, run) for name in LAYERS)
    except (Unread, *CONFUSED) as error:
        return _unknown(func, *_told(error), began)
    except (NotAffine, Unsaid, OutOfTimeError, RecursionError, isl.Error) as error:
        return _unknown(func, *_told(error), began)
    return Function(func, layers, time.monotonic() - began)


def _proof(program: Program, file: File, func: str) -> tuple[Wrapper, Proof]:
    """Everything that the layers look at."""
    ranks = {r.tensor: len(r.indices) for f in program.funcs for r in reads(f.body)}
    ranks = {tensor.name: ranks[tensor.name] for tensor in program.tensors if tensor.name in ranks}
    declared = {t.name: TYPES[t.dtype] for t in program.tensors if t.dtype is not None}
    scalars = {
        scalar.name: TYPES[scalar.dtype]
        if scalar.dtype is not None and not is_float(scalar.dtype)
        else ""
        for scalar in program.scalars
    }
    passed = [rule.label for rule in size_rules(program) if rule.is_passed]
    meaning = meaning_of(program)
    wrapper = wrapper_of(file, func, ranks, declared, scalars, passed)
    assert wrapper.result is not None
    facts = both(*wrapper.facts)
    runs = [run_kernel(file, wrapper.arrays, launch, facts) for launch in wrapper.launches]
    facts = both(facts, *(ran.facts for ran in runs))
    memory = Memory(runs, frozenset(ranks), facts)
    return wrapper, Proof(runs, wrapper.arrays, wrapper.result, func, meaning, memory, facts)


def _layer(name: str, wrapper: Wrapper, proof: Proof, run: Run) -> Layer:
    """What is known of one layer: its first finding that is sure, else its first."""
    found: Layer | None = None
    run.part = name
    try:
        for finding in LAYERS[name](proof):
            layer = _judged(name, finding, wrapper)
            if layer.verdict is Verdict.REFUTED:
                return layer
            found = found or layer
    except (Unread, *CONFUSED) as error:
        return found or Layer(name, Verdict.UNKNOWN, *_told(error))
    except (Unwritten, NotAffine, Unsaid, OutOfTimeError, RecursionError, isl.Error) as error:
        return found or Layer(name, Verdict.UNKNOWN, *_told(error))
    return found or Layer(name, Verdict.PROVED)


def _told(error: BaseException) -> tuple[int, str]:
    """Where it went wrong, and why."""
    match error:
        case Unread():
            return error.line, error.what
        case Unwritten():
            return error.access.line, error.why
        case NotAffine():
            return 0, "a product of sizes in a condition or an index"
        case Unsaid():
            return 0, f"the algorithm has '{error}', which has no proof"
        case OutOfTimeError() | isl.Error():
            return 0, "it takes too long"
        case RecursionError():
            return 0, "it is nested too deeply"
        case _:
            return 0, f"it is not understood ({type(error).__name__}: {error})"


def _judged(layer: str, finding: Finding, wrapper: Wrapper) -> Layer:
    """A finding with an example; it is sure if the example is one of a real call."""
    there = polyhedra_of(finding.where)
    examples = [smallest(where, _sizes_first(where)) for where in _tried(there)]
    example = examples[0]
    is_sure = example is not None and not wrapper.skipped and finding.is_exact
    if any(one.startswith("programs(") for one in params_of(there)):
        is_sure = False
    if is_sure and finding.terms is not None:
        kernel, algorithm, allowed = finding.terms
        found = [e for e in examples if e and differ(kernel, algorithm, e, allowed)]
        is_sure, example = bool(found), found[0] if found else example
    verdict = Verdict.REFUTED if is_sure else Verdict.UNKNOWN
    return Layer(layer, verdict, finding.line, finding.what, example)


def _tried(where: isl.Set) -> Iterator[isl.Set]:
    """The set; and where sizes differ, if they can, and are larger than 1."""
    yield where
    sizes = _sizes_first(where)[:MOST_SIZES]
    for one in sizes:
        where = _if_any(where, compare(">=", name(one), number(2)))
    for one, other in combinations(sizes, 2):
        where = _if_any(where, compare("<", name(one), name(other)))
    yield where


def _if_any(where: isl.Set, condition: Truth) -> isl.Set:
    there = where.intersect(points_of(condition))
    return where if there.is_empty() else there


def _sizes_first(where: isl.Set) -> list[str]:
    """Sizes before all else, so that they are small."""
    return [one for one in params_of(where) if _is_size(one)]


def _is_size(one: str) -> bool:
    return ".shape[" in one or one.endswith("_size")
