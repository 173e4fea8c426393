"""Read the plan of a function: which kernels it launches, on what, and which calls it refuses.

The runtime carries out what the plan says. It is known by its text, so the plan is all that there
is to read. `plan_wrapper_of` fills a `Wrapper`, from which the proof goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dtpoly.verify.algebra import kinds
from dtpoly.verify.algebra.kinds import BOOL, stored
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import MOST_LANES, Unread
from dtpoly.verify.algebra.whole import Whole, compare, name, number
from dtpoly.verify.plan.call_plan import (
    CallPlan,
    GivenInput,
    GivenNumber,
    GivenTensor,
    GivenUnread,
    MadeTensor,
)
from dtpoly.verify.plan.dtypes import kind_of, memory_kind, types_of
from dtpoly.verify.plan.forms import FLOAT, plan_of
from dtpoly.verify.plan.formulas import WORDS, Formula
from dtpoly.verify.plan.held import Held, TensorOf, Wrapper
from dtpoly.verify.plan.in_panels import over_panels
from dtpoly.verify.plan.interface import OUT
from dtpoly.verify.plan.launches import Types, launch, make
from dtpoly.verify.plan.numbers import held, size
from dtpoly.verify.plan.runtime import MAKER
from dtpoly.verify.plan.sizes import note_demands, note_sizes
from dtpoly.verify.triton.access import Array
from dtpoly.verify.triton.unit.unit import Planned, Unit


def plan_wrapper_of(
    run: ProofRun,
    file: Unit,
    wanted: str,
    inputs: Sequence[str],
    *,
    tensors: Mapping[str, int],
    declared: Mapping[str, str],
    scalars: Mapping[str, str],
    labels: Sequence[str],
    left_out: Mapping[str, Whole],
) -> Wrapper:
    """Read the plan of a function, for tensors of these ranks and declared types. Raises Unread.

    A call must pass the sizes of the labels in `labels`, and may leave out those in `left_out`.
    """
    planned = file.plans[wanted]
    plan = plan_of(planned.literal)
    wrapper = _begun(run, file, wanted, tensors, declared, scalars, left_out)
    run.assume(Lemma.KNOWN, MAKER, planned.runtime)
    _check_function(plan, planned, wanted)
    _check_inputs(plan, inputs, wrapper, declared, labels)
    for one in plan.inputs:
        if plan.named(one) in wrapper.arrays:
            wrapper.names[one] = TensorOf(wrapper.arrays[plan.named(one)])
        elif plan.named(one) in scalars:
            wrapper.names[one] = Given(plan.named(one), scalars[plan.named(one)] == BOOL)
    note_sizes(wrapper, plan)
    note_demands(wrapper, plan)
    types = types_of(wrapper, plan)
    _make_result(wrapper, plan)
    _make_between(wrapper, plan, types)
    if plan.panels is None:
        _launches(wrapper, plan, types)
    else:
        over_panels(wrapper, plan, plan.panels, lambda: _launches(wrapper, plan, types))
    return wrapper


def _begun(
    run: ProofRun,
    file: Unit,
    wanted: str,
    tensors: Mapping[str, int],
    declared: Mapping[str, str],
    scalars: Mapping[str, str],
    left_out: Mapping[str, Whole],
) -> Wrapper:
    """Return a wrapper that has only the caller's tensors, with what the runtime says of them."""
    arrays = {
        one: Array(
            one,
            tuple(name(f"{one}.stride({axis})") for axis in range(rank)),
            tuple(name(f"{one}.shape[{axis}]") for axis in range(rank)),
            declared.get(one) or stored(frozenset({one})),
        )
        for one, rank in tensors.items()
    }
    wrapper = Wrapper(
        run,
        file,
        wanted,
        dict[str, Held](),
        arrays,
        frozenset(one for one in tensors if one not in declared),
        (),
        scalars,
        inputs=frozenset(arrays),
        left_out=left_out,
    )
    for array in arrays.values():
        wrapper.facts += [compare(">=", extent, number(0)) for extent in array.shape]
    return wrapper


def _check_function(plan: CallPlan, planned: Planned, wanted: str) -> None:
    """Refuse another function than the plan's, and other kernels than it launches."""
    # Where Python needs the name of the Func for itself, an underscore stands behind it.
    names = (wanted, f"{wanted}_")
    if plan.function != planned.function or plan.function not in names:
        raise Unread(plan.first_line, f"a plan of '{plan.function}' for '{planned.function}'")
    if plan.named(plan.result) not in names:
        raise Unread(plan.first_line, f"'{plan.result}', which is not the result of '{wanted}'")
    kernels = [*dict.fromkeys(one.kernel for one in plan.launches)]
    if kernels != [*planned.kernels]:
        raise Unread(planned.line, f"'{wanted}' is given other kernels than it launches")


def _check_inputs(
    plan: CallPlan,
    inputs: Sequence[str],
    wrapper: Wrapper,
    declared: Mapping[str, str],
    labels: Sequence[str],
) -> None:
    """Refuse a function that takes something else than the algorithm does. Raises Unread."""
    if [plan.named(one) for one in plan.inputs] != [*inputs]:
        wanted = ", ".join((*inputs, f"*, {OUT}=None"))
        raise Unread(plan.first_line, f"a function that does not take ({wanted})")
    for one, said in plan.inputs.items():
        wanted_input = _wanted(plan.named(one), wrapper, declared)
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


def _wanted(one: str, wrapper: Wrapper, declared: Mapping[str, str]) -> Bare:
    """Return what a plan must say of an input."""
    if one in wrapper.arrays:
        return ("tensor", declared.get(one, FLOAT), len(wrapper.arrays[one].shape))
    if one in wrapper.scalars:
        kind = wrapper.scalars[one]
        if kind in kinds.WHOLES:
            return ("number", "int", kinds.LEAST[kind], kinds.LARGEST[kind])
        return ("number", "bool" if kind == BOOL else "float")
    return ()


def _make_result(wrapper: Wrapper, plan: CallPlan) -> None:
    """Make the result; where it has no elements, nothing is launched."""
    made = plan.made
    shape = tuple(size(wrapper, extent) for extent in made.shape)
    make(wrapper, plan.result, OUT, shape, kind_of(wrapper, made.dtype), made.line)
    wrapper.result = OUT
    wrapper.facts.extend(compare(">=", extent, number(1)) for extent in shape)


def _make_between(wrapper: Wrapper, plan: CallPlan, types: Types) -> None:
    """Make the memory that kernels leave for later ones."""
    for one, made in plan.between.items():
        called = plan.named(one)
        kind = memory_kind(wrapper, types, made.dtype)
        # In the proof the result is called as the parameter for it is.
        called = f"{OUT}_2" if called == OUT else called
        make(wrapper, one, called, _shape(wrapper, made), kind, made.line)


def _shape(wrapper: Wrapper, made: MadeTensor) -> tuple[Whole, ...]:
    return tuple(size(wrapper, extent) for extent in made.shape)


def _launches(wrapper: Wrapper, plan: CallPlan, types: Types) -> None:
    """Read all launches. Tiles that are too large are refused before the first of them."""
    for said in plan.launches:
        for tile in said.tiles:
            _note_tile(wrapper, tile)
    for said in plan.launches:
        launch(wrapper, plan, types, said)


def _note_tile(wrapper: Wrapper, tile: Formula) -> None:
    elements = held(wrapper, tile)
    if isinstance(elements, Whole):
        wrapper.facts.append(compare("<=", elements, number(MOST_LANES)))
    else:
        # Two numbers of lanes: the proof looks at calls that are refused, too.
        wrapper.skipped.append(tile.line)
