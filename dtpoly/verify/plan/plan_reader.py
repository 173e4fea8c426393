"""Read the plan of a function: which kernels it launches, on what, and which calls it refuses.

The runtime carries out what the plan says. It is known by its text, so the plan is all that there
is to read. `reading_of_plan` fills a `FunctionReading`, from which the proof goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import MOST_LANES, Unread
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.type_kinds import BOOL, stored
from dtpoly.verify.algebra.whole import Whole, both, compare, name, number
from dtpoly.verify.plan.call_plan import (
    CallPlan,
    GivenInput,
    GivenNumber,
    GivenTensor,
    GivenUnread,
    MadeTensor,
)
from dtpoly.verify.plan.formula_parsing import WORDS, Formula
from dtpoly.verify.plan.held import FunctionReading, Held, TensorOf
from dtpoly.verify.plan.in_panels import over_panels
from dtpoly.verify.plan.interface import OUT
from dtpoly.verify.plan.numbers import held, size
from dtpoly.verify.plan.plan_dtypes import kind_of, memory_kind, types_of
from dtpoly.verify.plan.plan_forms import FLOAT, plan_of
from dtpoly.verify.plan.plan_launches import Types, launch, make
from dtpoly.verify.plan.plan_sizes import note_demands, note_sizes
from dtpoly.verify.plan.runtime import MAKER
from dtpoly.verify.triton.access import KernelTensor
from dtpoly.verify.triton.unit.unit import Planned, Unit


def reading_of_plan(
    run: ProofRun,
    file: Unit,
    wanted: str,
    inputs: Sequence[str],
    *,
    result: str,
    funcs: Collection[str],
    tensors: Mapping[str, int],
    declared: Mapping[str, str],
    scalars: Mapping[str, str],
    labels: Sequence[str],
    left_out: Mapping[str, Whole],
) -> FunctionReading:
    """Read the plan of a function, for tensors of these ranks and declared types. Raises Unread.

    The reading is for one of its results, which is a Func. A call must pass the sizes of the labels
    in `labels`, and may leave out those in `left_out`.
    """
    planned = file.plans[wanted]
    plan = plan_of(planned.literal)
    reading = _begun(run, file, wanted, tensors, declared, scalars, left_out)
    run.assume(Lemma.KNOWN, MAKER, planned.runtime)
    _check_function(plan, planned, wanted)
    if result not in results_of(plan, funcs):
        raise Unread(plan.first_line, f"a plan of '{plan.function}' that does not give '{result}'")
    _check_inputs(plan, inputs, reading, declared, labels)
    for one in plan.inputs:
        if plan.named(one) in reading.arrays:
            reading.names[one] = TensorOf(reading.arrays[plan.named(one)])
        elif plan.named(one) in scalars:
            reading.names[one] = Given(plan.named(one), scalars[plan.named(one)] == BOOL)
    note_sizes(reading, plan)
    note_demands(reading, plan)
    types = types_of(reading, plan)
    _make_results(reading, plan, result)
    _make_between(reading, plan, types)
    if plan.panels is None:
        _launches(reading, plan, types)
    else:
        over_panels(reading, plan, plan.panels, lambda: _launches(reading, plan, types))
    return reading


def _begun(
    run: ProofRun,
    file: Unit,
    wanted: str,
    tensors: Mapping[str, int],
    declared: Mapping[str, str],
    scalars: Mapping[str, str],
    left_out: Mapping[str, Whole],
) -> FunctionReading:
    """Return a reading that has only the caller's tensors, with what the runtime says of them."""
    arrays = {
        one: KernelTensor(
            one,
            tuple(name(f"{one}.stride({axis})") for axis in range(rank)),
            tuple(name(f"{one}.shape[{axis}]") for axis in range(rank)),
            declared.get(one) or stored(frozenset({one})),
        )
        for one, rank in tensors.items()
    }
    reading = FunctionReading(
        run,
        file,
        wanted,
        dict[str, Held](),
        arrays,
        frozenset(one for one in tensors if one not in declared),
        scalars,
        inputs=frozenset(arrays),
        left_out=left_out,
    )
    for array in arrays.values():
        reading.facts += [compare(">=", extent, number(0)) for extent in array.shape]
    return reading


def _check_function(plan: CallPlan, planned: Planned, wanted: str) -> None:
    """Refuse another function than the plan's, and other kernels than it launches."""
    # Where Python needs the name of the Func for itself, an underscore stands behind it.
    names = (wanted, f"{wanted}_")
    if plan.function != planned.function or plan.function not in names:
        raise Unread(plan.first_line, f"a plan of '{plan.function}' for '{planned.function}'")
    first = next(iter(plan.results))
    if plan.named(first) not in names:
        raise Unread(plan.first_line, f"'{first}', which is not the result of '{wanted}'")
    if plan.panels is not None and len(plan.results) > 1:
        raise Unread(plan.panels.line, "panels of several results")
    kernels = [*dict.fromkeys(one.kernel for one in plan.launches)]
    if kernels != [*planned.kernels]:
        raise Unread(planned.line, f"'{wanted}' is given other kernels than it launches")


def _check_inputs(
    plan: CallPlan,
    inputs: Sequence[str],
    reading: FunctionReading,
    declared: Mapping[str, str],
    labels: Sequence[str],
) -> None:
    """Refuse a function that takes something else than the algorithm does. Raises Unread."""
    if [plan.named(one) for one in plan.inputs] != [*inputs]:
        wanted = ", ".join((*inputs, f"*, {OUT}=None"))
        raise Unread(plan.first_line, f"a function that does not take ({wanted})")
    for one, said in plan.inputs.items():
        wanted_input = _wanted(plan.named(one), reading, declared)
        if _bare(said) != wanted_input:
            raise Unread(said.line, f"'{one}', which is something else in the algorithm")
    for label, of in plan.sizes.items():
        own = plan.named(label)
        if (of.formula is None) != (own in labels) or (of.may_be_passed and own in labels):
            raise Unread(of.line, f"the size of '{label}', which a call must pass, or must not")


Bare = tuple[str | int, ...]


def _bare(said: GivenInput) -> Bare:
    match said:
        case GivenTensor(dtype=dtype, rank=rank):
            return ("tensor", FLOAT if dtype == FLOAT else WORDS[dtype], rank)
        case GivenNumber(kind=kind, limits=limits):
            return ("number", kind, *limits)
        case GivenUnread():
            return ()


def _wanted(one: str, reading: FunctionReading, declared: Mapping[str, str]) -> Bare:
    """Return what a plan must say of an input."""
    if one in reading.arrays:
        return ("tensor", declared.get(one, FLOAT), len(reading.arrays[one].shape))
    if one in reading.scalars:
        kind = reading.scalars[one]
        if kind in kinds.WHOLES:
            return ("number", "int", kinds.LEAST[kind], kinds.LARGEST[kind])
        return ("number", "bool" if kind == BOOL else "float")
    return ()


def results_of(plan: CallPlan, funcs: Collection[str]) -> dict[str, str]:
    """Return the results of a plan by the Funcs that they are. Raises Unread."""
    found = dict[str, str]()
    for one, made in plan.results.items():
        named = plan.named(one)
        func = named if named in funcs else named.removesuffix("_")
        if func not in funcs:
            raise Unread(made.line, f"the result '{one}', which is not the name of a Func")
        if func in found:
            raise Unread(made.line, f"the result '{func}', which is there twice")
        found[func] = one
    return found


def _make_results(reading: FunctionReading, plan: CallPlan, wanted: str) -> None:
    """Make the results. A proof is about one of them, and about calls in which it has elements.

    If no result has elements, nothing is launched. Of other calls, the proof of another result
    shows what there is to show. In the proof, one result alone is called as the parameter for it
    is, and each of several as its Func is, unless an input of the source is called so.
    """
    is_one = len(plan.results) == 1
    for one, made in plan.results.items():
        shape = tuple(size(reading, extent) for extent in made.shape)
        named = plan.named(one)
        called = _free(reading, OUT if is_one else named)
        make(reading, one, called, shape, kind_of(reading, made.dtype), made.line)
        if made.into:
            _put_into(reading, plan, called, made)
        # Where Python needs the name of the Func for itself, an underscore stands behind it.
        if named in (wanted, f"{wanted}_"):
            reading.result = called
            reading.facts.extend(compare(">=", extent, number(1)) for extent in shape)


def _put_into(reading: FunctionReading, plan: CallPlan, called: str, made: MadeTensor) -> None:
    """Note that a result has the memory of an input, which must be just like it. Raises Unread.

    The runtime looks whether that input shares memory with itself or with another one. In the proof
    the two are two tensors, until `order` shows that they may be one.
    """
    given = plan.named(made.into)
    if plan.panels is not None:
        raise Unread(plan.panels.line, "panels of a result in place")
    if made.into not in plan.inputs or given not in reading.arrays:
        raise Unread(made.line, f"a result that goes into '{made.into}', which is no tensor input")
    if given in reading.into.values():
        raise Unread(made.line, f"two results that go into '{made.into}'")
    own, input_ = reading.arrays[called], reading.arrays[given]
    if own.kind != input_.kind or len(own.shape) != len(input_.shape):
        raise Unread(made.line, f"a result that is not like '{made.into}', into which it goes")
    calls = both(*reading.facts)
    for mine, extent in zip(own.shape, input_.shape, strict=True):
        same = compare("==", mine, extent)
        reading.run.about(made.line, f"the result has the shape of '{made.into}'")
        if mine != extent and not (
            is_affine(both(calls, same)) and reading.run.holds(same, set_of(calls))
        ):
            raise Unread(made.line, f"a result of another shape than '{made.into}' has")
    reading.into[called] = given


def _make_between(reading: FunctionReading, plan: CallPlan, types: Types) -> None:
    """Make the memory that kernels leave for later ones."""
    for one, made in plan.between.items():
        called = plan.named(one)
        kind = memory_kind(reading, types, made.dtype)
        called = _free(reading, OUT) if called == OUT else called
        make(reading, one, called, _shape(reading, made), kind, made.line)


def _free(reading: FunctionReading, wish: str) -> str:
    """Return a name, or the first of `wish_2`, `wish_3`, ... that no tensor has in the proof."""
    called, number = wish, 2
    while called in reading.arrays:
        called, number = f"{wish}_{number}", number + 1
    return called


def _shape(reading: FunctionReading, made: MadeTensor) -> tuple[Whole, ...]:
    return tuple(size(reading, extent) for extent in made.shape)


def _launches(reading: FunctionReading, plan: CallPlan, types: Types) -> None:
    """Read all launches. Tiles that are too large are refused before the first of them."""
    for said in plan.launches:
        for tile in said.tiles:
            _note_tile(reading, tile)
    for said in plan.launches:
        launch(reading, plan, types, said)


def _note_tile(reading: FunctionReading, tile: Formula) -> None:
    elements = held(reading, tile)
    if isinstance(elements, Whole):
        reading.facts.append(compare("<=", elements, number(MOST_LANES)))
    else:
        # Two numbers of lanes: the proof looks at calls that are refused, too.
        reading.skipped.append(tile.line)
