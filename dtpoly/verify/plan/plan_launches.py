"""Read the launches of a plan: the value of each parameter of a kernel, and the grid.

`launch` adds a `Launch` to the reading, or two for a kernel that is split between two (see pairs).
The parameters of a kernel are bound in the order that docs/plan.md gives. Whatever Triton would
bind or convert in another way raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.shared_nodes import rank
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.type_kinds import HALF, NEAR
from dtpoly.verify.algebra.whole import Whole, both, compare, extreme, name, number, one_of, within
from dtpoly.verify.plan.arguments import argument
from dtpoly.verify.plan.blocks import blocks_of
from dtpoly.verify.plan.call_plan import CallPlan, PlannedCall
from dtpoly.verify.plan.formula_parsing import Formula
from dtpoly.verify.plan.held import FactorProduct, FunctionReading, Held, PlanType, TensorOf
from dtpoly.verify.plan.interface import LAUNCH, OFFSET, check_kernel, constants_of
from dtpoly.verify.plan.numbers import bound_of, held, product_of, size, truth
from dtpoly.verify.plan.plan_dtypes import memory_kind
from dtpoly.verify.plan.weakened import KEPT, KEPT_FOURS, kept
from dtpoly.verify.triton.access import KernelLaunch, KernelTensor
from dtpoly.verify.triton.digits import programs_of
from dtpoly.verify.triton.early_launches import EARLY, panel_of
from dtpoly.verify.triton.pairs import KernelPair, pair_of
from dtpoly.verify.triton.specialized import SPECIALIZED
from dtpoly.verify.triton.unchanged import FOURS

UNNAMED = ("_", "-")
OWN = (FOURS, OFFSET, SPECIALIZED, EARLY)
# A product has so many sides, whose dtypes decide whether a launch is specialized.
SIDES = 2
Types = Mapping[str, PlanType]


def launch(reading: FunctionReading, plan: CallPlan, types: Types, said: PlannedCall) -> None:
    """Note one launch of the plan. Raises Unread."""
    definition = reading.file.jitted.get(said.kernel)
    if definition is None:
        raise Unread(said.line, f"a launch of '{said.kernel}', which is not here")
    check_kernel(definition, LAUNCH)
    outside, apart = dict(reading.names), reading.apart
    programs = _programs(reading, said)
    _make_scratch(reading, types, said, programs)
    bound = _bound(reading, plan, types, said, definition)
    first = panel_of(definition)
    if first is not None and not _waits_for_others(reading, bound[first]):
        raise Unread(said.line, f"'{said.kernel}' is launched beside others, and may need them")
    largest, reaches = _looked_at(reading, plan, said)
    pair = pair_of(reading.file, definition)
    if (pair is None) != (said.before is None):
        raise Unread(said.line, f"'{said.kernel}', of which one launch is not two")
    for note in _notes(reading, said, definition, pair, bound, programs):
        reading.launches.append(replace(note, largest=largest, reaches=reaches))
    reading.names.clear()
    reading.names |= outside
    if programs:
        reading.apart = _refused_if_launched(reading, apart, programs)


Programs = tuple[
    FactorProduct, ...
]  # of the first kernel of two, and of the second; of one; or none


def _programs(reading: FunctionReading, said: PlannedCall) -> Programs:
    """Return the numbers of programs, as factors; none if there is always one program."""
    groups = [group for group in (said.before, said.programs) if group is not None]
    if said.before is not None and said.programs is None:
        groups.append(())
    found = list[FactorProduct]()
    for group in groups:
        numbers = [held(reading, one) for one in group]
        found.append(product_of(numbers, said.line))
        _check_sign(reading, found[-1].factors, said.line)
    return tuple(found)


def _check_sign(reading: FunctionReading, extents: Sequence[Whole], line: int) -> None:
    """Raise Unread if an extent of a grid may be negative.

    Two negative numbers have a positive product, and no lemma is about coordinates of such a grid.
    """
    reading.run.about(line, "a grid has no negative extent")
    calls = set_of(both(*reading.facts))
    for one in extents:
        if not is_affine(one) or not reading.run.holds(compare(">=", one, number(0)), calls):
            raise Unread(line, "a number of programs that may be negative")


def _make_scratch(
    reading: FunctionReading, types: Types, said: PlannedCall, programs: Programs
) -> None:
    """Make the memory of which each program of a launch has a slice. Raises Unread."""
    if said.scratch and reading.panels is not None:
        raise Unread(said.line, "memory that is made for each panel")
    for one, made in said.scratch.items():
        if one not in said.tensors:
            raise Unread(made.line, f"'{one}', which the launch does not need")
        if len(programs) > 1:
            raise Unread(made.line, f"'{one}', memory for the programs of such a launch")
        factors = programs[0].factors if programs else (number(1),)
        shape = (programs_of(factors), *(size(reading, extent) for extent in made.shape))
        make(reading, one, one, shape, memory_kind(reading, types, made.dtype), made.line)


def make(
    reading: FunctionReading, one: str, called: str, shape: tuple[Whole, ...], kind: str, line: int
) -> None:
    """Make a tensor with a name of the plan; in the proof it may be called otherwise."""
    if called in reading.arrays:
        raise Unread(line, f"'{called}' is made twice")
    strides = tuple(name(f"{called}.stride({axis})") for axis in range(len(shape)))
    reading.arrays[called] = KernelTensor(called, strides, shape, kind)
    reading.names[one] = TensorOf(reading.arrays[called])


def _bound(
    reading: FunctionReading,
    plan: CallPlan,
    types: Types,
    said: PlannedCall,
    definition: ast.FunctionDef,
) -> dict[str, Held]:
    """Return what each parameter of a kernel is given. Raises Unread."""
    parameters = [one.arg for one in definition.args.args]
    if definition.args.defaults:
        raise Unread(definition.lineno, f"the defaults of '{said.kernel}'")
    given = _positional(reading, plan, said, definition)
    named = _constants(reading, types, said)
    fixed = constants_of(definition)
    first, rest = parameters[: len(given)], parameters[len(given) :]
    if len(first) < len(given):
        raise Unread(said.line, f"'{said.kernel}' is given too much")
    if wrong := sorted({*rest} ^ named.keys()):
        what = "is not given" if wrong[0] in rest else "has no"
        raise Unread(said.line, f"'{said.kernel}' {what} '{wrong[0]}'")
    # A call that is like one before is recognised by these, so they must be what Triton fixes.
    if wrong := [one for one in parameters if (one in fixed) != (one in named)]:
        raise Unread(said.line, f"'{wrong[0]}', which is constant in the kernel or in the plan")
    for (word, _), parameter in zip(given, first, strict=True):
        if word not in ("", parameter):
            raise Unread(said.line, f"'{word}' where '{said.kernel}' has '{parameter}'")
    return {**dict(zip(first, (one for _, one in given), strict=True)), **named}


def _positional(
    reading: FunctionReading, plan: CallPlan, said: PlannedCall, definition: ast.FunctionDef
) -> list[tuple[str, Held]]:
    """Return what is given by position, each with the name that its parameter must have.

    The name is empty where the plan does not say it.
    """
    found = list[tuple[str, Held]]()
    for one, words in said.tensors.items():
        array = _tensor(reading, one, said.line)
        if len(words) != len(array.shape):
            raise Unread(said.line, f"words for {len(words)} axes of '{one}'")
        if unknown := [word for word in words if word not in {*said.numbers, *UNNAMED}]:
            raise Unread(said.line, f"'{unknown[0]}', which is no size that the kernel is given")
        found += [("", TensorOf(array)), *(("", stride) for stride in array.strides)]
    for one, formula in said.numbers.items():
        found.append((one, _number(reading, formula)))
    lengths = {word for words in said.tensors.values() for word in words} - {*UNNAMED}
    if wrong := sorted(one for one in lengths if not isinstance(dict(found)[one], Whole)):
        raise Unread(said.line, f"'{wrong[0]}', which is no size")
    if said.before is not None:
        # Nothing is done with this number but to tell the programs of two kernels apart.
        found.append(("", number(0)))
    if said.panel == "last" and (reading.panels is None or said is not plan.launches[-1]):
        raise Unread(said.line, f"'{said.kernel}', which does not end a panel")
    if said.panel == "first":
        found.append((_panel_parameter(reading, plan, said, definition), _panel_start(reading)))
    addresses = {*said.tensors}
    for one, descriptor in said.descriptors.items():
        # A call that is like one before is recognised by the strides of tensors passed by address.
        if descriptor.tensor not in addresses:
            what = f"a descriptor of '{descriptor.tensor}', which is not passed besides"
            raise Unread(descriptor.line, what)
        found.append((one, blocks_of(reading, descriptor)))
    return found


def _tensor(reading: FunctionReading, one: str, line: int) -> KernelTensor:
    match reading.names.get(one):
        case TensorOf(array=array):
            return array
        case _:
            raise Unread(line, f"'{one}' is no tensor that is known here")


def _number(reading: FunctionReading, formula: Formula) -> Held:
    """Return a number that a kernel is given: an input, or what a formula comes to."""
    match formula.node:
        case ast.Name(id=one) if isinstance(given := reading.names.get(one), Given):
            return given
        case _:
            return size(reading, formula)


def _panel_parameter(
    reading: FunctionReading, plan: CallPlan, said: PlannedCall, definition: ast.FunctionDef
) -> str:
    first = panel_of(definition)
    if first is None or reading.panels is None or said is not plan.launches[0]:
        raise Unread(said.line, f"'{said.kernel}', which does not begin a panel")
    return first


def _panel_start(reading: FunctionReading) -> Whole:
    return number(0) if reading.panels is None else reading.panels.start


def _constants(reading: FunctionReading, types: Types, said: PlannedCall) -> dict[str, Held]:
    """Return what a kernel is given as constants, by name. Raises Unread."""
    if wrong := [one for one in (*said.lanes, *said.flags, *said.types) if one in OWN]:
        # The runtime changes these where it has to.
        raise Unread(said.line, f"'{wrong[0]}', which the runtime gives a kernel by itself")
    found = list[tuple[str, Held]]()
    found += [(one, size(reading, formula)) for one, formula in said.lanes.items()]
    found += [(one, kept(truth(reading, flag), KEPT)) for one, flag in said.flags.items()]
    for one in said.types:
        if one not in types:
            raise Unread(said.line, f"the type '{one}', which the plan does not have")
        found.append((one, types[one]))
    if said.fours:
        numbers = [size(reading, formula) for formula in said.fours]
        rows = both(*(compare("==", one.modulo(4), number(0)) for one in numbers))
        found.append((FOURS, kept(rows, KEPT_FOURS)))
    found.append((OFFSET, PlanType(kinds.OFFSET)))
    if said.specialized is not None:
        _check_specialized(said, said.specialized[1])
        flag = name(f"specialized, line {said.line}")
        found.append((SPECIALIZED, compare(">=", flag, number(1))))
    if said.is_early:
        found.append((EARLY, name(f"early, line {said.line}")))
    if len(dict(found)) < len(found):
        raise Unread(said.line, f"'{said.kernel}' is given a constant twice")
    return dict(found)


def _check_specialized(said: PlannedCall, descriptors: Sequence[str]) -> None:
    """Raise Unread unless all descriptors of a launch decide whether it is specialized."""
    if len(descriptors) < SIDES or sorted(descriptors) != sorted(said.descriptors):
        raise Unread(said.line, "a launch that is specialized by other descriptors than its own")


def _waits_for_others(reading: FunctionReading, panel: Held) -> bool:
    """Return whether a kernel that waits only if its panel is 0 waits for all that it may need.

    It does if the panel is always 0, or if it is the first launch of a loop over panels.
    """
    if panel == number(0):
        return True
    return reading.panels is not None and panel == reading.panels.start and not reading.launches


Looked = tuple[tuple[Whole, ...], frozenset[str]]


def _looked_at(reading: FunctionReading, plan: CallPlan, said: PlannedCall) -> Looked:
    """Return the numbers and strides that decide how many bits offsets have.

    Sizes just below 2^31 are refused, too, but only if the largest number is large. So only sizes
    that are never above one of these numbers are sure to be refused.
    """
    numbers = [held(reading, one) for one in (*plan.indices, *said.counts)]
    if any(not isinstance(one, Whole) for one in numbers):
        parts = [one for one in bound_of(numbers).parts if isinstance(one, Whole)]
    else:
        parts = _one_number([one for one in numbers if isinstance(one, Whole)])
    arrays = [_tensor(reading, one, said.line) for one in said.tensors]
    extents = {extent for array in arrays for extent in array.shape}
    extents |= {size(reading, one) for one in said.near}
    reading.apart |= {one for one in sorted(extents, key=rank) if _is_covered(reading, one, parts)}
    # If there are several numbers, the runtime looks only at the largest of them.
    reading.apart |= {*parts} if len(parts) == 1 else frozenset[Whole]()
    strides = (stride for array in arrays for stride in array.strides)
    return tuple(parts), frozenset(str(one.plain) for one in strides)


def _one_number(numbers: Sequence[Whole]) -> list[Whole]:
    total = numbers[0] if numbers else number(0)
    for one in numbers[1:]:
        total = extreme(True, total, one)
    return [total]


def _is_covered(reading: FunctionReading, one: Whole, parts: Sequence[Whole]) -> bool:
    """Return whether one of the parts is known to be never less than a number."""
    known = [compare(">=", part, one) for part in parts]
    calls = both(*reading.facts)
    return any(
        is_affine(both(calls, least)) and reading.run.holds(least, set_of(calls)) for least in known
    )


def _refused_if_launched(
    reading: FunctionReading, before: frozenset[Whole], programs: Programs
) -> frozenset[Whole]:
    """Return the sizes that are refused for later launches, too.

    Those that this launch refuses are among them if the launch is there for such sizes.
    """
    new = sorted(reading.apart - before, key=rank)
    return before | {
        one
        for one in new
        if any(_is_launched(reading.run, product.factors, one) for product in programs)
    }


def _is_launched(run: ProofRun, programs: Sequence[Whole], of: Whole) -> bool:
    """True if there are programs wherever a size is just below 2^31."""
    large = compare(">=", of, number(HALF - NEAR))
    run.about(0, "a launch has programs where a size is just below 2^31")
    return all(
        is_affine(both(compare(">=", one, number(1)), large))
        and run.holds(compare(">=", one, number(1)), set_of(large))
        for one in programs
        if one.constant != 1
    )


def _notes(
    reading: FunctionReading,
    said: PlannedCall,
    definition: ast.FunctionDef,
    pair: KernelPair | None,
    bound: Mapping[str, Held],
    programs: Programs,
) -> list[KernelLaunch]:
    """Return the launch of a kernel, or of both kernels that one launch computes."""
    if pair is None:
        if said.turns:
            grid, turns = _in_turn(reading, said, programs), programs[0].factors
            return [_note(reading, said, definition, bound, grid, turns)]
        return [_note(reading, said, definition, bound, tuple(map(_axis, programs)) or ((),))]
    place = [one.arg for one in definition.args.args].index(pair.before)
    is_given = place == _place_of_before(reading, said)
    if not is_given or said.turns or said.is_early or said.specialized is not None:
        raise Unread(said.line, f"'{said.kernel}', of which one launch is two kernels")
    found = list[KernelLaunch]()
    for part, product in zip(pair.parts, programs, strict=True):
        given = {one: bound[word] for one, word in part.given.items() if word != pair.before}
        own = next((one for one, word in part.given.items() if word == pair.before), "")
        note = _note(reading, said, part.definition, given, (_axis(product),))
        found.append(replace(note, is_part=True, before=own))
    return found


def _place_of_before(reading: FunctionReading, said: PlannedCall) -> int:
    """Return which parameter is given how many programs the first of two kernels has."""
    ranks = (len(_tensor(reading, one, said.line).shape) for one in said.tensors)
    return sum(1 + one for one in ranks) + len(said.numbers)


def _axis(programs: FactorProduct) -> tuple[Whole, ...]:
    return tuple(one for one in programs.factors if one.constant != 1)


def _in_turn(
    reading: FunctionReading, said: PlannedCall, programs: Programs
) -> tuple[tuple[Whole, ...], ...]:
    """Return the grid of programs that take blocks in turn; how many there are is a name."""
    if len(programs) != 1:
        raise Unread(said.line, "programs that take blocks in turn, of which there is one")
    blocks = programs[0].factors
    # The runtime refuses more blocks than that.
    product = prod(blocks, start=number(1))
    reading.below = (*reading.below, (product, HALF - NEAR))
    # Launches before this one have already run for calls that are refused here.
    if is_affine(product) and not reading.launches:
        reading.facts.append(compare("<=", product, number(HALF - NEAR)))
    # There is at least one program if there are blocks; how many more depends on the device.
    some = name(f"programs in turn, line {said.line}")
    none = (compare("<=", one, number(0)) for one in blocks)
    reading.facts.append(one_of(compare(">=", some, number(1)), *none))
    reading.facts.append(within(number(0), some, number(NEAR + 1)))
    return ((some,),)


def _note(
    reading: FunctionReading,
    said: PlannedCall,
    definition: ast.FunctionDef,
    bound: Mapping[str, Held],
    grid: tuple[tuple[Whole, ...], ...],
    turns: tuple[Whole, ...] | None = None,
) -> KernelLaunch:
    annotated = {
        one.arg: "" if one.annotation is None else ast.unparse(one.annotation)
        for one in definition.args.args
    }
    return KernelLaunch(
        definition.name,
        {
            one: argument(reading, one, value, annotated[one], said.line)
            for one, value in bound.items()
        },
        grid,
        turns,
        said.stages,
        said.line,
        apart=reading.apart,
        below=reading.below,
        is_early=said.is_early,
        is_specialized=said.specialized is not None,
        warps=said.warps,
        factors=dict(reading.factors),
    )
