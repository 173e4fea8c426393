"""Prove, for each function of a kernel file, that it computes what the Program says.

`verify` is the entry to the verifier. It reads the file, runs its kernels on symbols, and asks the
arguments in `layers` for findings. A layer without findings is proved. A finding with an example of
a real call refutes its layer, and any other finding leaves it unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from dtpoly.algorithm.label_sizes import size_rules
from dtpoly.algorithm.program import Program, touched
from dtpoly.budget import OverBudgetError, stage
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning, Unsaid, meaning_of
from dtpoly.verify.algebra.evaluate import differ, differ_by_nan
from dtpoly.verify.algebra.extents import left_out
from dtpoly.verify.algebra.formats import TYPES
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_limits import limited
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import NotAffine, set_of
from dtpoly.verify.algebra.sets import is_empty, params_of, polyhedra_of
from dtpoly.verify.algebra.whole import Truth, both
from dtpoly.verify.plan.binding import binding_of
from dtpoly.verify.plan.callers import (
    at_sizes,
    fixed_facts,
    in_step,
    is_finite,
    large_sizes,
    passed_labels,
    promised,
    promised_of_calls,
    results,
    scalar_types,
    some_sizes,
    typed,
    with_promises,
)
from dtpoly.verify.plan.function_results import asked, check_places, doubt_result, started_tensors
from dtpoly.verify.plan.held import FunctionReading
from dtpoly.verify.plan.kept_promises import check_kept, check_promises
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.plan.launch_cases import NoCallError, cases_of, is_case
from dtpoly.verify.plan.panel_launches import check_panels
from dtpoly.verify.plan.plan_forms import plan_of
from dtpoly.verify.plan.plan_reader import reading_of_plan, results_of
from dtpoly.verify.proof import alike
from dtpoly.verify.proof.examples_in_sets import examples_in, larger_examples_in
from dtpoly.verify.proof.finding_places import witness_of
from dtpoly.verify.proof.findings import Finding, Proof, is_of_data
from dtpoly.verify.proof.in_place_by_hand import trusted
from dtpoly.verify.proof.launch_runs import runs_of
from dtpoly.verify.proof.layers import Argument, arguments, claim_of_stores, guards
from dtpoly.verify.proof.mask_advice import way_to_mask
from dtpoly.verify.proof.needed_parts import way_to_keep
from dtpoly.verify.proof.overflow_advice import way_to_fit
from dtpoly.verify.proof.placed_stores import elements_of
from dtpoly.verify.proof.proof_errors import CONFUSED, is_late, told
from dtpoly.verify.proof.report import (
    LAYERS,
    FunctionReport,
    Layer,
    LayerVerdict,
    Report,
    compared,
)
from dtpoly.verify.proof.stored_values import LaunchMemory, Unwritten
from dtpoly.verify.proof.unshown_axes import way_to_show
from dtpoly.verify.triton.access import Ran
from dtpoly.verify.triton.gathering import func_of
from dtpoly.verify.triton.pairs import check_apart
from dtpoly.verify.triton.shifts import is_shift
from dtpoly.verify.triton.unit.unit import Unit

__all__ = ["SECONDS", "FunctionReport", "Layer", "LayerVerdict", "Report", "verify"]

SECONDS = 10.0
EVERY = tuple(LAYERS)
# To look at single sizes may take this fraction (1 / PART) of the time for a proof.
PART = 4
# A function is as good as the worst of its results.
WORST = (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN)


def asking_isl(_: str) -> ProofRun:
    """Begin a proof of a function that rests on the answers of isl."""
    return ProofRun(is_empty)


def deciding(_: str) -> ProofRun:
    """Begin a proof that ends with the first doubt, as only a proof is of use to whoever asks."""
    return ProofRun(is_empty, decides=True)


def verify(
    program: Program,
    text: str,
    seconds: float = SECONDS,
    run_of: Callable[[str], ProofRun] = asking_isl,
    only: Collection[str] = EVERY,
) -> Report:
    """Prove what can be proved of each function in a file that computes a Func; it never raises.

    `run_of` begins the proof of a function, given its name: it says who is asked about sets, and
    where the questions are written down. Of a file by hand, `only` these layers are proved.
    """
    began = time.monotonic()
    try:
        file = file_of(program, text)
    except Unread as error:
        return Report((_unknown("", error.line, error.what, began, way=error.way),))
    if file.said:
        return _hand_written(program, file, seconds, run_of, only)
    wanted = [func.name for func in program.funcs if func.name in file.plans]
    runs = ((run_of(func), func) for func in wanted)
    found = ((_function(program, file, func, seconds, run), run) for run, func in runs)
    return Report(tuple(_assuming(program, file, *one) for one in found))


def _assuming(program: Program, file: Unit, found: FunctionReport, run: ProofRun) -> FunctionReport:
    """Return a report that says what its proof takes for granted."""
    names = asked(program, found.name) or (found.name,)
    of_calls = () if found.name == "" else promised_of_calls(program, names)
    return replace(found, assumed=(*promised(program, file), *of_calls, *trusted(run)))


def _hand_written(
    program: Program,
    file: Unit,
    seconds: float,
    run_of: Callable[[str], ProofRun],
    only: Collection[str],
) -> Report:
    """Verify a file that says itself how its kernels are launched."""
    wanted = results(program, file.said)
    if not wanted:
        why = "no kernel is given a Func to compute"
        return Report((_unknown("", file.said[0].line, why, time.monotonic()),))
    reports: list[FunctionReport] = []
    for func in wanted:
        run = run_of(func)
        found = _function(program, file, func, seconds, run, only=only)
        if not run.decides:
            found = _refuted_somewhere(program, file, found, seconds)
        reports.append(_assuming(program, file, found, run))
        if run.decides and found.verdict is not LayerVerdict.PROVED:
            break
    return Report(tuple(reports))


def _refuted_somewhere(
    program: Program, file: Unit, found: FunctionReport, seconds: float
) -> FunctionReport:
    """Return what is known of a function; where that is little, look at some sizes alone.

    At fixed sizes the strides of contiguous tensors are numbers, and it is known what lies outside
    of memory. For the same reason a layer that is already refuted is looked at again with the very
    sizes of its witness.
    """
    only = [one.name for one in found.layers]
    layers = (_looked_at_again(program, file, found, one, seconds) for one in found.layers)
    found = replace(found, layers=tuple(layers))
    if found.verdict is not LayerVerdict.UNKNOWN or any(layer.is_late for layer in found.layers):
        return found
    end = time.monotonic() + seconds / PART
    tried = [*some_sizes(program, file.said)]
    if {one.name for one in found.layers if one.verdict is LayerVerdict.UNKNOWN} == {"overflow"}:
        tried = [*large_sizes(program), *tried]
    meaning = meaning_of(typed(program))
    tried = [in_step(meaning, one) for one in tried]
    for sizes in tried:
        left = max(end - time.monotonic(), 0.0)
        there = _function(program, file, found.name, left, asking_isl(found.name), sizes, only)
        if there.verdict is LayerVerdict.REFUTED:
            both_of = zip(found.layers, there.layers, strict=True)
            layers = (
                replace(two, way=one.way or two.way)  # of all sizes, it says more
                if two.verdict is LayerVerdict.REFUTED
                else one
                for one, two in both_of
            )
            return replace(found, layers=tuple(layers))
    return found


def _unknown(
    name: str,
    line: int,
    why: str,
    began: float,
    is_late: bool = False,
    way: str = "",
    only: Collection[str] = EVERY,
) -> FunctionReport:
    first = Layer("", LayerVerdict.UNKNOWN, line, why, is_late=is_late, way=way)
    layers = tuple(replace(first, name=one) for one in LAYERS if one in only)
    return FunctionReport(name, layers, time.monotonic() - began)


def _looked_at_again(
    program: Program, file: Unit, found: FunctionReport, layer: Layer, seconds: float
) -> Layer:
    """Return the layer; a refuted one becomes unknown if it is not refuted at its own sizes."""
    if layer.verdict is not LayerVerdict.REFUTED or layer.witness is None:
        return layer
    sizes = dict(layer.witness.sizes)
    if set(sizes) == {rule.label for rule in size_rules(program)}:
        only = [one.name for one in found.layers]
        there = _function(program, file, found.name, seconds, asking_isl(found.name), sizes, only)
        if there.verdict is not LayerVerdict.REFUTED:
            return replace(layer, verdict=LayerVerdict.UNKNOWN)
    return layer


def _function(
    program: Program,
    file: Unit,
    func: str,
    seconds: float,
    run: ProofRun,
    sizes: Mapping[str, int] | None = None,
    only: Collection[str] = EVERY,
) -> FunctionReport:
    """Return what is proved of a function: of all its results, which share the time.

    Where launches are taken apart in cases, it is proved in each case that some call is in.
    """
    began, started = time.monotonic(), time.thread_time()
    results = results_of_function(program, file, func)
    rows = [(case, one) for case in cases_of(file) for one in results]
    parts: list[FunctionReport] = []
    for at, (case, one) in enumerate(rows):
        # A result that needs less than its share leaves more to those behind it.
        share = max(seconds - time.thread_time() + started, 0.0) / (len(rows) - at)
        found = _result(program, case, func, one, share, run, sizes, only)
        parts += [] if found is None else [found]
    if not parts:
        return _unknown(func, file.said[0].line, "no call keeps what is assumed", began, only=only)
    # A proof that claims less says so, also where another case claims all.
    layers = tuple(
        next((one for verdict in WORST for one in row if one.verdict is verdict), None)
        or max(row, key=lambda one: bool(one.claim))
        for row in zip(*(part.layers for part in parts), strict=True)
    )
    return FunctionReport(func, layers, time.monotonic() - began)


def results_of_function(program: Program, file: Unit, func: str) -> tuple[str, ...]:
    """Return the Funcs that a function returns; that of its name, if its plan cannot be read."""
    if file.said:
        return (func,)
    try:
        plan = plan_of(file.plans[func].literal)
        results = tuple(results_of(plan, [one.name for one in program.funcs]))
        # What sums begin with is stored in the tensor of a result, so it is proved like one.
        starts = [start for start, added in program.starts.items() if added in results]
        return (*starts, *results)
    except (Unread, *CONFUSED):
        return (func,)


def _results_in_plan(program: Program, file: Unit, func: str) -> dict[str, str]:
    """Return the name in the plan of each Func that a function returns. Raises Unread."""
    if file.said:
        return {}
    return results_of(plan_of(file.plans[func].literal), [one.name for one in program.funcs])


def _check_results(program: Program, file: Unit, func: str) -> None:
    """Refuse a function that returns other results, in another order or place. Raises Unread."""
    if file.said:
        if program.starts:
            raise Unread(file.said[0].line, "a sum that begins with a Func, in a file by hand")
        return
    plan = plan_of(file.plans[func].literal)
    results = results_of(plan, [one.name for one in program.funcs])
    check_places(plan, results, program)
    wanted, found = asked(program, func), tuple(results)
    if wanted is not None and found != wanted:
        shown = [", ".join(row) for row in (found, wanted)]
        raise Unread(plan.first_line, f"a function that returns ({shown[0]}), not ({shown[1]})")


def _result(
    program: Program,
    file: Unit,
    func: str,
    result: str,
    seconds: float,
    run: ProofRun,
    sizes: Mapping[str, int] | None,
    only: Collection[str],
) -> FunctionReport | None:
    """Return what is proved of one result of a function; None for a case that no call is in."""
    began = time.monotonic()
    try:
        with limited(seconds):
            with stage(f"reading the kernels of '{func}' back"):
                _check_results(program, file, func)
                is_valued = "value" in only
                reading, proof = proof_of(
                    run, program, file, func, result, sizes, is_valued=is_valued
                )
            found = _layers(only, reading, proof)
    except (Unread, *CONFUSED) as error:
        if isinstance(error, NoCallError) and is_case(file):
            return None
        way = error.way if isinstance(error, Unread) else ""
        return _unknown(func, *told(error), began, way=way, only=only)
    except (NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error) as error:
        return _unknown(func, *told(error), began, is_late(error), only=only)
    if "value" in found:
        found |= compared(found["value"])
    layers = (_doubted(found[one], reading) for one in LAYERS if one in only)
    return FunctionReport(func, tuple(layers), time.monotonic() - began)


def _doubted(layer: Layer, reading: FunctionReading) -> Layer:
    """Return the layer; a proved one becomes unknown if some calls were not looked at."""
    if layer.verdict is not LayerVerdict.PROVED or not reading.doubts:
        return layer
    line, why = reading.doubts[0]
    return Layer(layer.name, LayerVerdict.UNKNOWN, line, why)


def proof_of(
    run: ProofRun,
    program: Program,
    file: Unit,
    func: str,
    result: str,
    sizes: Mapping[str, int] | None = None,
    *,
    is_valued: bool = True,
) -> tuple[FunctionReading, Proof]:
    """Read a function and run its kernels; return the reading, and what the layers look at.

    These look at one result of the function. A hand-written file may also be looked at for some
    sizes alone.
    """
    if file.said:
        program = typed(program)
    ranks = _ranks(program)
    declared = {t.name: TYPES[t.dtype] for t in program.tensors if t.dtype is not None}
    meaning = meaning_of(program, is_finite=is_finite(file.said), are_free=not file.said)
    fixed = fixed_facts(meaning, sizes)
    meaning = at_sizes(meaning, sizes)
    reading = (
        binding_of(run, file, func, meaning, file.said)
        if file.said
        else reading_of_plan(
            run,
            file,
            func,
            [one.name for one in program.inputs],
            # What sums begin with has the tensor of the sums.
            result=program.starts.get(result, result),
            funcs=[one.name for one in program.funcs],
            tensors=ranks,
            declared=declared,
            scalars=scalar_types(program),
            labels=passed_labels(program),
            left_out=left_out(program),
        )
    )
    assert reading.result is not None
    if not file.said:
        doubt_result(reading, meaning, result, file.plans[func].line)
    facts, arrays = both(*reading.facts, fixed), with_promises(reading.arrays, meaning)
    runs = runs_of(run, program, file, reading, (arrays, facts), is_valued=is_valued)
    check_promises(reading, runs, ranks, is_valued=is_valued)
    check_apart(runs, reading.into)
    check_panels(reading, runs, meaning, result)
    reading.doubts.extend(doubt for ran in runs for doubt in ran.doubts)
    facts = both(facts, *(ran.facts for ran in runs))
    _check_some_call(run, file, func, facts)
    check_kept(run, reading, facts)
    alike.check_apart(reading, runs, facts)
    memory = _memory_of(run, program, meaning, reading, runs, facts)
    parts = (run, runs, reading.arrays, reading.result, result, meaning, memory, facts)
    started = started_tensors(reading, _results_in_plan(program, file, func), program)
    elements = elements_of(memory, meaning, reading.into, started)
    by_hand = bool(file.said)
    return reading, Proof(*parts, reading.into, elements, by_hand, is_valued)


def _memory_of(
    run: ProofRun,
    program: Program,
    meaning: AlgorithmMeaning,
    reading: FunctionReading,
    runs: Sequence[Ran],
    facts: Truth,
) -> LaunchMemory:
    """Return what the launches of a reading leave in memory."""
    types = {one.name: one.kind for one in reading.arrays.values()}
    shapes = {one.name: one.shape for one in reading.arrays.values()}
    funcs = frozenset(one.name for one in program.funcs)
    atomics = frozenset(one for one in types if func_of(one, funcs) in meaning.atomics)
    inputs = frozenset(_ranks(program))
    return LaunchMemory(run, runs, inputs, facts, types=types, shapes=shapes, atomics=atomics)


def _ranks(program: Program) -> dict[str, int]:
    """Return how many axes each input has that is read or written."""
    ranks = {read.tensor: len(read.indices) for func in program.funcs for read in touched(func)}
    return {tensor.name: ranks[tensor.name] for tensor in program.tensors if tensor.name in ranks}


def _check_some_call(run: ProofRun, file: Unit, func: str, facts: Truth) -> None:
    """Refuse a function that accepts no call. Raises Unread.

    Nothing could be proved of it.
    """
    line = file.said[0].line if file.said else file.plans[func].line
    run.about(line, "some call is accepted")
    if not run.has_a_point(set_of(facts)):
        if file.said:
            raise Unread(line, "no call keeps what is assumed, and what kernels ask for")
        raise Unread(line, "no call is accepted, so there is nothing to prove")


def _layers(only: Collection[str], reading: FunctionReading, proof: Proof) -> dict[str, Layer]:
    """Return what is known of some layers; of a proof that decides, all is open after a doubt."""
    found: dict[str, Layer] = {}
    for one in arguments(only).items():
        found[one[0]] = _layer(one, reading, proof)
        if proof.run.decides and found[one[0]].verdict is not LayerVerdict.PROVED:
            return dict.fromkeys(only, found[one[0]])
    return found


def _layer(argument: tuple[str, Argument], reading: FunctionReading, proof: Proof) -> Layer:
    """Return the result of one argument: its first sure finding, or else its first finding."""
    found: Layer | None = None
    name, findings = argument
    proof.run.part = name
    try:
        with stage(f"proving the layer '{name}' of '{proof.func}'"):
            for finding in findings(proof):
                if proof.run.decides:
                    return Layer(name, LayerVerdict.UNKNOWN, finding.line, finding.what)
                layer = _judged(finding, reading, proof)
                if layer.verdict is LayerVerdict.REFUTED:
                    return layer
                found = found or layer
    except (Unread, *CONFUSED) as error:
        return found or Layer(name, LayerVerdict.UNKNOWN, *told(error))
    except (Unwritten, NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error) as error:
        late = is_late(error)
        return found or Layer(name, LayerVerdict.UNKNOWN, *told(error), is_late=late)
    claim = claim_of_stores(proof) if name == "stores" else ""
    return found or Layer(name, LayerVerdict.PROVED, claim=claim)


def _may_round_otherwise(proof: Proof) -> bool:
    """Return whether a kernel divides what may be negative, which Triton rounds towards 0."""
    try:
        return next(guards(proof), None) is not None
    except (NotAffine, OverBudgetError, isl.Error):
        return False


def _judged(finding: Finding, reading: FunctionReading, proof: Proof) -> Layer:
    """Turn a finding into a layer with an example; it is refuted if the example is a real call."""
    there = polyhedra_of(finding.where)
    examples = list(examples_in(there))
    example, what = examples[0], finding.what
    # An element that goes to a place outside may have any value, so nothing is refuted there.
    is_sure = example is not None and not reading.skipped and finding.is_exact
    is_sure = is_sure and not proof.is_placed and not is_of_data(proof, finding)
    if any(one.startswith("programs(") or is_shift(one) for one in params_of(there)):
        is_sure = False
    if is_sure and finding.terms is not None:
        kernel, algorithm, allowed = finding.terms
        tried = [one for one in (*examples, *larger_examples_in(there)) if one]
        types = {one: of.kind for one, of in proof.meaning.formats.items()}
        found = next((e for e in tried if differ(kernel, algorithm, e, allowed, types)), None)
        if found is None:
            by_nan = (e for e in tried if differ_by_nan(kernel, algorithm, e, allowed, types))
            found = next(by_nan, None)
            what = what if found is None else f"{what}; it shows where some elements are NaN"
        is_sure, example = found is not None, found or example
    # A quotient that may be rounded the other way is another number than the one that was read.
    is_sure = is_sure and not _may_round_otherwise(proof)
    verdict = LayerVerdict.REFUTED if is_sure else LayerVerdict.UNKNOWN
    witness = None if example is None else witness_of(proof, finding, example)
    judged = Layer(finding.layer, verdict, finding.line, what, example, witness)
    ways = way_to_fit(proof, finding, witness) or way_to_show(proof, finding, example)
    return replace(judged, way=ways or way_to_keep(proof, finding) or way_to_mask(finding))
