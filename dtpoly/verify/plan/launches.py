"""Read the launches of a plan: the value of each parameter of a kernel, and the grid.

`launch` adds a `Launch` to the wrapper, or two for a kernel that is split between two (see pairs).
The parameters of a kernel are bound in the order that docs/plan.md gives. Whatever Triton would
bind or convert in another way raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from dtpoly.verify.algebra import kinds
from dtpoly.verify.algebra.kinds import HALF, NEAR
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.shared import rank
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import Whole, both, compare, extreme, name, number, one_of, within
from dtpoly.verify.plan.arguments import argument
from dtpoly.verify.plan.blocks import blocks_of
from dtpoly.verify.plan.call_plan import CallPlan, PlannedCall
from dtpoly.verify.plan.dtypes import memory_kind
from dtpoly.verify.plan.formulas import Formula
from dtpoly.verify.plan.held import Held, Kind, Product, TensorOf, Wrapper
from dtpoly.verify.plan.interface import LAUNCH, OFFSET, check_kernel, constants_of
from dtpoly.verify.plan.numbers import bound_of, held, product_of, size, truth
from dtpoly.verify.plan.weakened import KEPT, KEPT_FOURS, kept
from dtpoly.verify.triton.access import Array, Launch
from dtpoly.verify.triton.digits import programs_of
from dtpoly.verify.triton.early import EARLY, panel_of
from dtpoly.verify.triton.pairs import Pair, pair_of
from dtpoly.verify.triton.specialized import SPECIALIZED
from dtpoly.verify.triton.unchanged import FOURS

UNNAMED = ("_", "-")
# A product has so many sides, whose dtypes decide whether a launch is specialized.
SIDES = 2
Types = Mapping[str, Kind]


def launch(wrapper: Wrapper, plan: CallPlan, types: Types, said: PlannedCall) -> None:
    """Note one launch of the plan. Raises Unread."""
    definition = wrapper.file.jitted.get(said.kernel)
    if definition is None:
        raise Unread(said.line, f"a launch of '{said.kernel}', which is not here")
    check_kernel(definition, LAUNCH)
    outside, apart = dict(wrapper.names), wrapper.apart
    programs = _programs(wrapper, said)
    _make_scratch(wrapper, types, said, programs)
    bound = _bound(wrapper, plan, types, said, definition)
    first = panel_of(definition)
    if first is not None and not _waits_for_others(wrapper, bound[first]):
        raise Unread(said.line, f"'{said.kernel}' is launched beside others, and may need them")
    largest, reaches = _looked_at(wrapper, plan, said)
    pair = pair_of(wrapper.file, definition)
    if (pair is None) != (said.before is None):
        raise Unread(said.line, f"'{said.kernel}', of which one launch is not two")
    for note in _notes(wrapper, said, definition, pair, bound, programs):
        wrapper.launches.append(replace(note, largest=largest, reaches=reaches))
    wrapper.names.clear()
    wrapper.names |= outside
    if programs:
        wrapper.apart = _refused_if_launched(wrapper, apart, programs)


Programs = tuple[Product, ...]  # of the first kernel of two, and of the second; of one; or none


def _programs(wrapper: Wrapper, said: PlannedCall) -> Programs:
    """Return the numbers of programs, as factors; none if there is always one program."""
    groups = [group for group in (said.before, said.programs) if group is not None]
    found = list[Product]()
    for group in groups:
        numbers = [held(wrapper, one) for one in group]
        found.append(product_of(numbers, said.line))
        _check_sign(wrapper, found[-1].factors, said.line)
    return tuple(found)


def _check_sign(wrapper: Wrapper, extents: Sequence[Whole], line: int) -> None:
    """Raise Unread if an extent of a grid may be negative.

    Two negative numbers have a positive product, and no lemma is about coordinates of such a grid.
    """
    wrapper.run.about(line, "a grid has no negative extent")
    calls = set_of(both(*wrapper.facts))
    for one in extents:
        if not is_affine(one) or not wrapper.run.holds(compare(">=", one, number(0)), calls):
            raise Unread(line, "a number of programs that may be negative")


def _make_scratch(wrapper: Wrapper, types: Types, said: PlannedCall, programs: Programs) -> None:
    """Make the memory of which each program of a launch has a slice. Raises Unread."""
    if said.scratch and wrapper.panels is not None:
        raise Unread(said.line, "memory that is made for each panel")
    for one, made in said.scratch.items():
        if one not in said.tensors:
            raise Unread(made.line, f"'{one}', which the launch does not need")
        if len(programs) > 1:
            raise Unread(made.line, f"'{one}', memory for the programs of such a launch")
        factors = programs[0].factors if programs else (number(1),)
        shape = (programs_of(factors), *(size(wrapper, extent) for extent in made.shape))
        make(wrapper, one, one, shape, memory_kind(wrapper, types, made.dtype), made.line)


def make(
    wrapper: Wrapper, one: str, called: str, shape: tuple[Whole, ...], kind: str, line: int
) -> None:
    """Make a tensor with a name of the plan; in the proof it may be called otherwise."""
    if called in wrapper.arrays:
        raise Unread(line, f"'{called}' is made twice")
    strides = tuple(name(f"{called}.stride({axis})") for axis in range(len(shape)))
    wrapper.arrays[called] = Array(called, strides, shape, kind)
    wrapper.names[one] = TensorOf(wrapper.arrays[called])


def _bound(
    wrapper: Wrapper, plan: CallPlan, types: Types, said: PlannedCall, definition: ast.FunctionDef
) -> dict[str, Held]:
    """Return what each parameter of a kernel is given. Raises Unread."""
    parameters = [one.arg for one in definition.args.args]
    if definition.args.defaults:
        raise Unread(definition.lineno, f"the defaults of '{said.kernel}'")
    given = _positional(wrapper, plan, said, definition)
    named = _constants(wrapper, types, said)
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
    wrapper: Wrapper, plan: CallPlan, said: PlannedCall, definition: ast.FunctionDef
) -> list[tuple[str, Held]]:
    """Return what is given by position, each with the name that its parameter must have.

    The name is empty where the plan does not say it.
    """
    found = list[tuple[str, Held]]()
    for one, words in said.tensors.items():
        array = _tensor(wrapper, one, said.line)
        if len(words) != len(array.shape):
            raise Unread(said.line, f"words for {len(words)} axes of '{one}'")
        if unknown := [word for word in words if word not in {*said.numbers, *UNNAMED}]:
            raise Unread(said.line, f"'{unknown[0]}', which is no size that the kernel is given")
        found += [("", TensorOf(array)), *(("", stride) for stride in array.strides)]
    for one, formula in said.numbers.items():
        found.append((one, _number(wrapper, formula)))
    lengths = {word for words in said.tensors.values() for word in words} - {*UNNAMED}
    if wrong := sorted(one for one in lengths if not isinstance(dict(found)[one], Whole)):
        raise Unread(said.line, f"'{wrong[0]}', which is no size")
    if said.before is not None:
        # Nothing is done with this number but to tell the programs of two kernels apart.
        found.append(("", number(0)))
    if said.panel == "last" and (wrapper.panels is None or said is not plan.launches[-1]):
        raise Unread(said.line, f"'{said.kernel}', which does not end a panel")
    if said.panel == "first":
        found.append((_panel_parameter(wrapper, plan, said, definition), _panel_start(wrapper)))
    addresses = {*said.tensors}
    for one, descriptor in said.descriptors.items():
        # A call that is like one before is recognised by the strides of tensors passed by address.
        if descriptor.tensor not in addresses:
            what = f"a descriptor of '{descriptor.tensor}', which is not passed besides"
            raise Unread(descriptor.line, what)
        found.append((one, blocks_of(wrapper, descriptor)))
    return found


def _tensor(wrapper: Wrapper, one: str, line: int) -> Array:
    match wrapper.names.get(one):
        case TensorOf(array=array):
            return array
        case _:
            raise Unread(line, f"'{one}' is no tensor that is known here")


def _number(wrapper: Wrapper, formula: Formula) -> Held:
    """Return a number that a kernel is given: an input, or what a formula comes to."""
    match formula.node:
        case ast.Name(id=one) if isinstance(given := wrapper.names.get(one), Given):
            return given
        case _:
            return size(wrapper, formula)


def _panel_parameter(
    wrapper: Wrapper, plan: CallPlan, said: PlannedCall, definition: ast.FunctionDef
) -> str:
    first = panel_of(definition)
    if first is None or wrapper.panels is None or said is not plan.launches[0]:
        raise Unread(said.line, f"'{said.kernel}', which does not begin a panel")
    return first


def _panel_start(wrapper: Wrapper) -> Whole:
    return number(0) if wrapper.panels is None else wrapper.panels.start


def _constants(wrapper: Wrapper, types: Types, said: PlannedCall) -> dict[str, Held]:
    """Return what a kernel is given as constants, by name. Raises Unread."""
    found = list[tuple[str, Held]]()
    found += [(one, size(wrapper, formula)) for one, formula in said.lanes.items()]
    found += [(one, kept(truth(wrapper, flag), KEPT)) for one, flag in said.flags.items()]
    for one in said.types:
        if one not in types:
            raise Unread(said.line, f"the type '{one}', which the plan does not have")
        found.append((one, types[one]))
    if said.fours:
        numbers = [size(wrapper, formula) for formula in said.fours]
        rows = both(*(compare("==", one.modulo(4), number(0)) for one in numbers))
        found.append((FOURS, kept(rows, KEPT_FOURS)))
    found.append((OFFSET, Kind(kinds.OFFSET)))
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


def _waits_for_others(wrapper: Wrapper, panel: Held) -> bool:
    """Whether a kernel that waits only if its panel is 0 waits for all launches it may need.

    It does if the panel is always 0, or if it is the first launch of a loop over panels.
    """
    if panel == number(0):
        return True
    return wrapper.panels is not None and panel == wrapper.panels.start and not wrapper.launches


Looked = tuple[tuple[Whole, ...], frozenset[str]]


def _looked_at(wrapper: Wrapper, plan: CallPlan, said: PlannedCall) -> Looked:
    """Return the numbers and strides that decide how many bits offsets have.

    Sizes just below 2^31 are refused, too, but only if the largest number is large. So only sizes
    that are never above one of these numbers are sure to be refused.
    """
    numbers = [held(wrapper, one) for one in (*plan.indices, *said.counts)]
    if any(not isinstance(one, Whole) for one in numbers):
        parts = [one for one in bound_of(numbers).parts if isinstance(one, Whole)]
    else:
        parts = _one_number([one for one in numbers if isinstance(one, Whole)])
    arrays = [_tensor(wrapper, one, said.line) for one in said.tensors]
    extents = {extent for array in arrays for extent in array.shape}
    extents |= {size(wrapper, one) for one in said.near}
    wrapper.apart |= {one for one in sorted(extents, key=rank) if _is_covered(wrapper, one, parts)}
    # If there are several numbers, the runtime looks only at the largest of them.
    wrapper.apart |= {*parts} if len(parts) == 1 else frozenset[Whole]()
    strides = (stride for array in arrays for stride in array.strides)
    return tuple(parts), frozenset(str(one.plain) for one in strides)


def _one_number(numbers: Sequence[Whole]) -> list[Whole]:
    total = numbers[0] if numbers else number(0)
    for one in numbers[1:]:
        total = extreme(True, total, one)
    return [total]


def _is_covered(wrapper: Wrapper, one: Whole, parts: Sequence[Whole]) -> bool:
    """Whether one of the parts is known to be never less than a number."""
    known = [compare(">=", part, one) for part in parts]
    calls = both(*wrapper.facts)
    return any(
        is_affine(both(calls, least)) and wrapper.run.holds(least, set_of(calls)) for least in known
    )


def _refused_if_launched(
    wrapper: Wrapper, before: frozenset[Whole], programs: Programs
) -> frozenset[Whole]:
    """Return the sizes that are refused for later launches, too.

    Those that this launch refuses are among them if the launch is there for such sizes.
    """
    new = sorted(wrapper.apart - before, key=rank)
    return before | {
        one
        for one in new
        if any(_is_launched(wrapper.run, product.factors, one) for product in programs)
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
    wrapper: Wrapper,
    said: PlannedCall,
    definition: ast.FunctionDef,
    pair: Pair | None,
    bound: Mapping[str, Held],
    programs: Programs,
) -> list[Launch]:
    """Return the launch of a kernel, or of both kernels that one launch computes."""
    if pair is None:
        if said.turns:
            grid, turns = _in_turn(wrapper, said, programs), programs[0].factors
            return [_note(wrapper, said, definition, bound, grid, turns)]
        return [_note(wrapper, said, definition, bound, tuple(map(_axis, programs)) or ((),))]
    place = [one.arg for one in definition.args.args].index(pair.before)
    is_given = place == _place_of_before(wrapper, said)
    if not is_given or said.turns or said.is_early or said.specialized is not None:
        raise Unread(said.line, f"'{said.kernel}', of which one launch is two kernels")
    found = list[Launch]()
    for part, product in zip(pair.parts, programs, strict=True):
        given = {one: bound[word] for one, word in part.given.items() if word != pair.before}
        own = next((one for one, word in part.given.items() if word == pair.before), "")
        note = _note(wrapper, said, part.definition, given, (_axis(product),))
        found.append(replace(note, is_part=True, before=own))
    return found


def _place_of_before(wrapper: Wrapper, said: PlannedCall) -> int:
    """Return which parameter is given how many programs the first of two kernels has."""
    ranks = (len(_tensor(wrapper, one, said.line).shape) for one in said.tensors)
    return sum(1 + one for one in ranks) + len(said.numbers)


def _axis(programs: Product) -> tuple[Whole, ...]:
    return tuple(one for one in programs.factors if one.constant != 1)


def _in_turn(
    wrapper: Wrapper, said: PlannedCall, programs: Programs
) -> tuple[tuple[Whole, ...], ...]:
    """Return the grid of programs that take blocks in turn; how many there are is a name."""
    if len(programs) != 1:
        raise Unread(said.line, "programs that take blocks in turn, of which there is one")
    blocks = programs[0].factors
    # The runtime refuses more blocks than that.
    product = prod(blocks, start=number(1))
    wrapper.below = (*wrapper.below, (product, HALF - NEAR))
    # Launches before this one have already run for calls that are refused here.
    if is_affine(product) and not wrapper.launches:
        wrapper.facts.append(compare("<=", product, number(HALF - NEAR)))
    # There is at least one program if there are blocks; how many more depends on the device.
    some = name(f"programs in turn, line {said.line}")
    none = (compare("<=", one, number(0)) for one in blocks)
    wrapper.facts.append(one_of(compare(">=", some, number(1)), *none))
    wrapper.facts.append(within(number(0), some, number(NEAR + 1)))
    return ((some,),)


def _note(
    wrapper: Wrapper,
    said: PlannedCall,
    definition: ast.FunctionDef,
    bound: Mapping[str, Held],
    grid: tuple[tuple[Whole, ...], ...],
    turns: tuple[Whole, ...] | None = None,
) -> Launch:
    annotated = {
        one.arg: "" if one.annotation is None else ast.unparse(one.annotation)
        for one in definition.args.args
    }
    return Launch(
        definition.name,
        {
            one: argument(wrapper, one, value, annotated[one], said.line)
            for one, value in bound.items()
        },
        grid,
        turns,
        said.stages,
        said.line,
        apart=wrapper.apart,
        below=wrapper.below,
        is_early=said.is_early,
        is_specialized=said.specialized is not None,
        factors=dict(wrapper.factors),
    )
