"""Prove, for each function of a kernel file, that it computes what the Program says.

`verify` is the entry to the verifier. It reads the file, runs its kernels on symbols, and asks the
arguments in `layers` for findings. A layer without findings is proved. A finding with an example of
a real call refutes its layer, and any other finding leaves it unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import islpy as isl

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import reads
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.sizes import size_rules
from dtpoly.budget import OverBudgetError, stage
from dtpoly.verify.algebra.algorithm import Unsaid, meaning_of
from dtpoly.verify.algebra.evaluate import differ, differ_by_nan
from dtpoly.verify.algebra.extents import left_out
from dtpoly.verify.algebra.formats import TYPES
from dtpoly.verify.algebra.limits import limited
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import NotAffine, set_of
from dtpoly.verify.algebra.sets import is_empty, params_of, points_of, polyhedra_of, smallest
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import Truth, both, compare, name, number
from dtpoly.verify.plan.binding import binding_of
from dtpoly.verify.plan.callers import at_sizes, is_finite, promised, results, some_sizes, typed
from dtpoly.verify.plan.files import file_with_plans, has_plans
from dtpoly.verify.plan.held import Wrapper
from dtpoly.verify.plan.naming import file_of
from dtpoly.verify.plan.panels import check_panels
from dtpoly.verify.plan.plan_reader import plan_wrapper_of
from dtpoly.verify.plan.results import doubt_result
from dtpoly.verify.plan.wrapper import wrapper_of
from dtpoly.verify.proof import alike
from dtpoly.verify.proof.findings import Finding, Proof
from dtpoly.verify.proof.layers import ARGUMENTS
from dtpoly.verify.proof.memory import Memory, Unwritten
from dtpoly.verify.proof.report import COMPARED, LAYERS, Function, Layer, Report, Verdict
from dtpoly.verify.proof.ways import way_to_fit
from dtpoly.verify.proof.witness import witness_of
from dtpoly.verify.triton.gathering import func_of
from dtpoly.verify.triton.pairs import check_apart
from dtpoly.verify.triton.running import run_kernel
from dtpoly.verify.triton.shifts import is_shift
from dtpoly.verify.triton.unit.unit import Unit

__all__ = ["SECONDS", "Function", "Layer", "Report", "Verdict", "verify"]

SECONDS = 10.0
MOST_SIZES = 6
# Least sizes that are tried where smaller sizes show no difference.
LARGER = (9, 33, 129)
# To look at single sizes may take this fraction (1 / PART) of the time for a proof.
PART = 4
# Errors that a strange text may cause while it is read; the text then counts as not proved.
CONFUSED = (LookupError, ValueError, TypeError, AttributeError, AssertionError, ArithmeticError)


def asking_isl(_: str) -> ProofRun:
    """Begin a proof of a function that rests on the answers of isl."""
    return ProofRun(is_empty)


def verify(
    program: Program,
    text: str,
    seconds: float = SECONDS,
    run_of: Callable[[str], ProofRun] = asking_isl,
) -> Report:
    """Prove what can be proved of each function in a file that computes a Func; it never raises.

    `run_of` begins the proof of a function, given its name: it says who is asked about sets, and
    where the questions are written down.
    """
    began = time.monotonic()
    try:
        file = file_with_plans(program, text) if has_plans(text) else file_of(program, text)
    except Unread as error:
        return Report((_unknown("", error.line, error.what, began, way=error.way),))
    if file.said:
        return _hand_written(program, file, seconds, run_of)
    functions = file.plans or file.plain
    wanted = [func.name for func in program.funcs if func.name in functions]
    if not wanted:
        named = ", ".join(f"'{func.name}'" for func in program.funcs)
        way = f"name the function after the Func that it computes: {named}"
        return Report((_unknown("", 1, "no function has the name of a Func", began, way=way),))
    found = (_function(program, file, func, seconds, run_of(func)) for func in wanted)
    return Report(tuple(replace(one, assumed=promised(program, file)) for one in found))


def _hand_written(
    program: Program, file: Unit, seconds: float, run_of: Callable[[str], ProofRun]
) -> Report:
    """Verify a file that says itself how its kernels are launched."""
    wanted = results(program, file.said)
    if not wanted:
        why = "no kernel is given a Func to compute"
        return Report((_unknown("", file.said[0].line, why, time.monotonic()),))
    assumed = promised(program, file)
    found = (_function(program, file, func, seconds, run_of(func)) for func in wanted)
    found = (_refuted_somewhere(program, file, one, seconds) for one in found)
    return Report(tuple(replace(one, assumed=assumed) for one in found))


def _refuted_somewhere(program: Program, file: Unit, found: Function, seconds: float) -> Function:
    """Return what is known of a function; where that is little, look at some sizes alone.

    At fixed sizes the strides of contiguous tensors are numbers, and it is known what lies outside
    of memory. For the same reason a layer that is already refuted is looked at again with the very
    sizes of its witness.
    """
    layers = (_looked_at_again(program, file, found, one, seconds) for one in found.layers)
    found = replace(found, layers=tuple(layers))
    if found.verdict is not Verdict.UNKNOWN or any(layer.is_late for layer in found.layers):
        return found
    end = time.monotonic() + seconds / PART
    for sizes in some_sizes(program, file.said):
        left = max(end - time.monotonic(), 0.0)
        there = _function(program, file, found.name, left, asking_isl(found.name), sizes)
        if there.verdict is Verdict.REFUTED:
            both_of = zip(found.layers, there.layers, strict=True)
            layers = (two if two.verdict is Verdict.REFUTED else one for one, two in both_of)
            return replace(found, layers=tuple(layers))
    return found


def _unknown(
    name: str, line: int, why: str, began: float, is_late: bool = False, way: str = ""
) -> Function:
    first = Layer("", Verdict.UNKNOWN, line, why, is_late=is_late, way=way)
    layers = tuple(replace(first, name=one) for one in LAYERS)
    return Function(name, layers, time.monotonic() - began)


def _looked_at_again(
    program: Program, file: Unit, found: Function, layer: Layer, seconds: float
) -> Layer:
    """Return the layer; a refuted one becomes unknown if it is not refuted at its own sizes."""
    if layer.verdict is not Verdict.REFUTED or layer.witness is None:
        return layer
    sizes = dict(layer.witness.sizes)
    if set(sizes) == {rule.label for rule in size_rules(program)}:
        there = _function(program, file, found.name, seconds, asking_isl(found.name), sizes)
        if there.verdict is not Verdict.REFUTED:
            return replace(layer, verdict=Verdict.UNKNOWN)
    return layer


def _function(
    program: Program,
    file: Unit,
    func: str,
    seconds: float,
    run: ProofRun,
    sizes: Mapping[str, int] | None = None,
) -> Function:
    began = time.monotonic()
    try:
        with limited(seconds):
            with stage(f"reading the kernels of '{func}' back"):
                wrapper, proof = proof_of(run, program, file, func, sizes)
            found = {name: _layer(name, wrapper, proof) for name in ARGUMENTS}
    except (Unread, *CONFUSED) as error:
        way = error.way if isinstance(error, Unread) else ""
        return _unknown(func, *_told(error), began, way=way)
    except (NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error) as error:
        return _unknown(func, *_told(error), began, _is_late(error))
    found |= _compared(found["value"])
    layers = (_doubted(found[one], wrapper) for one in LAYERS)
    return Function(func, tuple(layers), time.monotonic() - began)


def _doubted(layer: Layer, wrapper: Wrapper) -> Layer:
    """Return the layer; a proved one becomes unknown if some calls were not looked at."""
    if layer.verdict is not Verdict.PROVED or not wrapper.doubts:
        return layer
    line, why = wrapper.doubts[0]
    return Layer(layer.name, Verdict.UNKNOWN, line, why)


def _compared(found: Layer) -> dict[str, Layer]:
    """Return the layers that the comparison of terms decides, from what it found."""
    if found.verdict is Verdict.PROVED:
        return {one: replace(found, name=one) for one in COMPARED}
    why = f"not looked at: see '{found.name}'"
    others = {one: Layer(one, Verdict.UNKNOWN, found.line, why) for one in COMPARED}
    return {**others, found.name: found}


def proof_of(
    run: ProofRun, program: Program, file: Unit, func: str, sizes: Mapping[str, int] | None = None
) -> tuple[Wrapper, Proof]:
    """Read a function and run its kernels; return the wrapper, and what the layers look at.

    A hand-written file may also be looked at for some sizes alone.
    """
    if file.said:
        program = typed(program)
    ranks = {r.tensor: len(r.indices) for f in program.funcs for r in reads(f.body)}
    ranks = {tensor.name: ranks[tensor.name] for tensor in program.tensors if tensor.name in ranks}
    declared = {t.name: TYPES[t.dtype] for t in program.tensors if t.dtype is not None}
    scalars = {
        scalar.name: TYPES[scalar.dtype]
        if scalar.dtype is not None and not is_float(scalar.dtype)
        else ""
        for scalar in program.scalars
    }
    inputs = [one.name for one in program.inputs]
    passed = [r.label for r in size_rules(program) if r.is_passed and not r.is_bounded]
    meaning = meaning_of(program, is_finite=is_finite(file.said), are_free=not file.said)
    meaning = at_sizes(meaning, sizes)
    read = plan_wrapper_of if file.plans else wrapper_of
    wrapper = (
        binding_of(run, file, func, meaning, file.said)
        if file.said
        else read(
            run,
            file,
            func,
            inputs,
            tensors=ranks,
            declared=declared,
            scalars=scalars,
            labels=passed,
            left_out=left_out(program),
        )
    )
    assert wrapper.result is not None
    if not file.said:
        doubt_result(wrapper, meaning, func, _line_of(file, func))
    facts = both(*wrapper.facts)
    runs = [run_kernel(run, file, wrapper.arrays, launch, facts) for launch in wrapper.launches]
    check_apart(runs)
    check_panels(wrapper, runs, meaning, func)
    wrapper.doubts.extend(doubt for ran in runs for doubt in ran.doubts)
    facts = both(facts, *(ran.facts for ran in runs))
    _check_some_call(run, file, func, facts)
    alike.check_apart(wrapper, runs, facts)
    types = {one.name: one.kind for one in wrapper.arrays.values()}
    funcs = frozenset(one.name for one in program.funcs)
    atomics = frozenset(one for one in types if func_of(one, funcs) in meaning.atomics)
    memory = Memory(run, runs, frozenset(ranks), facts, types=types, atomics=atomics)
    return wrapper, Proof(run, runs, wrapper.arrays, wrapper.result, func, meaning, memory, facts)


def _check_some_call(run: ProofRun, file: Unit, func: str, facts: Truth) -> None:
    """Refuse a function that accepts no call. Raises Unread.

    Nothing could be proved of it.
    """
    line = file.said[0].line if file.said else _line_of(file, func)
    run.about(line, "some call is accepted")
    if not run.has_a_point(set_of(facts)):
        if file.said:
            raise Unread(line, "no call keeps what is assumed, and what kernels ask for")
        raise Unread(line, "no call is accepted, so there is nothing to prove")


def _line_of(file: Unit, func: str) -> int:
    """Return the line of the function that computes a Func."""
    return file.plans[func].line if func in file.plans else file.plain[func].lineno


def _layer(name: str, wrapper: Wrapper, proof: Proof) -> Layer:
    """Return the result of one argument: its first sure finding, or else its first finding."""
    found: Layer | None = None
    proof.run.part = name
    try:
        with stage(f"proving the layer '{name}' of '{proof.func}'"):
            for finding in ARGUMENTS[name](proof):
                layer = _judged(finding, wrapper, proof)
                if layer.verdict is Verdict.REFUTED:
                    return layer
                found = found or layer
    except (Unread, *CONFUSED) as error:
        return found or Layer(name, Verdict.UNKNOWN, *_told(error))
    except (Unwritten, NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error) as error:
        late = _is_late(error)
        return found or Layer(name, Verdict.UNKNOWN, *_told(error), is_late=late)
    return found or Layer(name, Verdict.PROVED)


def _is_late(error: BaseException) -> bool:
    return isinstance(error, OverBudgetError | isl.Error)


def _told(error: BaseException) -> tuple[int, str]:
    """Return the line where something went wrong, and why."""
    match error:
        case Unread():
            return error.line, error.what
        case Unwritten():
            return error.access.line, error.why
        case NotAffine():
            return 0, "a product of sizes in a condition or an index"
        case Unsaid():
            return 0, f"the algorithm has '{error}', which has no proof"
        case OverBudgetError() | isl.Error():
            return 0, "it takes too long"
        case RecursionError():
            return 0, "it is nested too deeply"
        case _:
            return 0, f"it is not understood ({type(error).__name__}: {error})"


def _judged(finding: Finding, wrapper: Wrapper, proof: Proof) -> Layer:
    """Turn a finding into a layer with an example; it is refuted if the example is a real call."""
    there = polyhedra_of(finding.where)
    examples = [smallest(where, _sizes_first(where)) for where in _tried(there)]
    example, what = examples[0], finding.what
    is_sure = example is not None and not wrapper.skipped and finding.is_exact
    if any(one.startswith("programs(") or is_shift(one) for one in params_of(there)):
        is_sure = False
    if is_sure and finding.terms is not None:
        kernel, algorithm, allowed = finding.terms
        larger = (smallest(one, _sizes_first(one)) for one in _larger(there))
        tried = [one for one in (*examples, *larger) if one]
        types = {one: of.kind for one, of in proof.meaning.formats.items()}
        found = next((e for e in tried if differ(kernel, algorithm, e, allowed, types)), None)
        if found is None:
            by_nan = (e for e in tried if differ_by_nan(kernel, algorithm, e, allowed, types))
            found = next(by_nan, None)
            what = what if found is None else f"{what}; it shows where some elements are NaN"
        is_sure, example = found is not None, found or example
    verdict = Verdict.REFUTED if is_sure else Verdict.UNKNOWN
    witness = None if example is None else witness_of(proof, finding, example)
    judged = Layer(finding.layer, verdict, finding.line, what, example, witness)
    return replace(judged, way=way_to_fit(proof, finding, witness))


def _tried(where: isl.Set) -> Iterator[isl.Set]:
    """Yield the set, and the part of it where sizes differ and are larger than 1, if possible."""
    yield where
    sizes = _sizes_first(where)[:MOST_SIZES]
    for one in sizes:
        where = _if_any(where, compare(">=", name(one), number(2)))
    for one, other in combinations(sizes, 2):
        where = _if_any(where, compare("<", name(one), name(other)))
    yield where


def _larger(where: isl.Set) -> Iterator[isl.Set]:
    """Yield parts of the set where sizes are larger than a tile.

    Some mistakes show in the second tile only.
    """
    for least in LARGER:
        larger = where
        for one in _sizes_first(where)[:MOST_SIZES]:
            larger = _if_any(larger, compare(">=", name(one), number(least)))
        yield larger


def _if_any(where: isl.Set, condition: Truth) -> isl.Set:
    there = where.intersect(points_of(condition))
    return where if there.is_empty() else there


def _sizes_first(where: isl.Set) -> list[str]:
    """Return the names of sizes, which come first in the search for a small point."""
    return [one for one in params_of(where) if _is_size(one)]


def _is_size(one: str) -> bool:
    return ".shape[" in one or one.endswith("_size")
