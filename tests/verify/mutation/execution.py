"""Runs a text that may be wrong with probes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle
from math import prod

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError
from dtpoly.ring.ring_memory import OutsideError, RaceError
from tests.codegen.cases import SlowError, limited
from tests.codegen.inputs import Data, Inputs, Layout, Recipe, with_nans
from tests.codegen.listings import BASES, interesting, numbers, steps
from tests.codegen.running import Expected, Wrong, compared, expected, imported

LIMIT_S = 4
# The number of steps that the interpreter does in a second or two.
MOST_STEPS, MOST_OF_WITNESS = 200, 2000
MOST_ELEMENTS = 2_000_000
# Larger tiles are not filled.
MOST_SIZE = 1024
WRONG = (Wrong, OutsideError, RaceError)


class Outcome(StrEnum):
    """The outcomes of running a text."""

    RIGHT = "right"
    WRONG = "wrong"
    RAISES = "raises"  # it does not run at all
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Probe:
    """A call: sizes of labels, how inputs are made, and how the output lies in memory."""

    sizes: Mapping[str, int]
    recipe: Recipe
    out: Layout = Layout.PLAIN
    is_special: bool = False  # some elements are no numbers

    def __str__(self) -> str:
        sizes = ", ".join(f"{label}={size}" for label, size in self.sizes.items())
        return f"{sizes}; {self.recipe}, out {self.out}{', some NaN' * self.is_special}"

    def inputs(self, program: Program) -> Inputs:
        """Return the arguments of the function."""
        if not self.is_special:
            return self.recipe.inputs(program, self.sizes)
        made = replace(self.recipe, layout=Layout.PLAIN).inputs(program, self.sizes)
        return {
            name: with_nans(value)
            if isinstance(value, torch.Tensor) and value.is_floating_point()
            else value
            for name, value in made.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A probe with its inputs, and the right results."""

    probe: Probe
    inputs: Inputs
    known: Expected


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of running, the reason, and the probe."""

    outcome: Outcome
    why: str = ""
    probe: str = ""


SEEDS = range(11, 31)
RECIPES = (
    (Recipe(1), Layout.PLAIN),
    (Recipe(2, DType.F16, Layout.TRANSPOSED), Layout.TRANSPOSED),
    (Recipe(3, DType.F64, Layout.SLICED, Data.BELOW_ZERO), Layout.SLICED),
    (Recipe(4, DType.F32, Layout.EXPANDED, Data.ASCENDING), Layout.PLAIN),
    (Recipe(5, DType.BF16, Layout.SLICED), Layout.PLAIN),
)


def probes(program: Program, recipes: Sequence[tuple[Recipe, Layout]]) -> Iterator[Probe]:
    """Yield calls with sizes around each tile, and with inputs of every kind in turn."""
    for at, (sizes, (recipe, out)) in enumerate(zip(sizes_near(program), cycle(recipes))):
        yield Probe(sizes, recipe, out)
        if at == 1:
            yield Probe(sizes, recipe, out, True)
            yield from (Probe(sizes, one) for one in mixed(program))


def mixed(program: Program) -> Iterator[Recipe]:
    """Yield dtypes such that one input after the other has a type that the others do not have."""
    free = [tensor.name for tensor in program.tensors if tensor.dtype is None]
    if len(free) > 1:
        for name in free:
            yield Recipe(6, DType.F16, dtypes={name: DType.F32})
            yield Recipe(7, DType.F32, dtypes={name: DType.F64})


def sizes_near(program: Program) -> Iterator[dict[str, int]]:
    """Yield sizes: all around a tile, small, or around two tiles.

    Then one label around its tiles.
    """
    found = {
        label: {size for size in sizes if size <= MOST_SIZE}
        for label, sizes in numbers(program).items()
    }
    bases: dict[str, int] = dict(zip(found, BASES * 9, strict=False))
    wanted = [
        {label: max(sizes | {2}) + 1 for label, sizes in found.items()},
        bases,
        {label: max(sizes | {4}) for label, sizes in found.items()},
    ]
    wanted += [
        {label: max(2 * n for n in sizes | {2}) + 1 for label, sizes in found.items()},
        {label: max(2 * n for n in sizes | {2}) - 1 for label, sizes in found.items()},
    ]
    wanted += [
        {**bases, label: size} for label in found for size in reversed(interesting(found[label]))
    ]
    seen: list[dict[str, int]] = []
    for chosen in wanted:
        sizes = consistent(program, chosen)
        if sizes is not None and sizes not in seen and _is_small(program, sizes):
            seen.append(sizes)
            yield sizes


def consistent(program: Program, wanted: Mapping[str, int]) -> dict[str, int] | None:
    """Return sizes that a call can have, as wanted if possible, or None if there are none."""
    try:
        idle = {label.name: 1 for label in program.labels}
        sizes = {**idle, **filled(program, {}, wanted)}
        passed = {rule.label: sizes[rule.label] for rule in size_rules(program) if rule.is_passed}
        return {**idle, **sizes_of(program, input_shapes(program, sizes), passed)}
    except DtpolyError:
        return None


def _is_small(program: Program, sizes: Mapping[str, int], most: int = MOST_STEPS) -> bool:
    if any(not 0 <= size <= MOST_ELEMENTS for size in sizes.values()):
        return False
    if steps(program, sizes) > most:
        return False
    shapes = [*input_shapes(program, sizes).values()]
    shapes += [tuple(sizes[label] for label in func.labels) for func in program.funcs]
    return all(prod(shape) <= MOST_ELEMENTS for shape in shapes)


def call(program: Program, probe: Probe) -> Call | None:
    """Return the probe with its inputs, or None if there is nothing to compute for them."""
    try:
        inputs = probe.inputs(program)
        return Call(probe, inputs, expected(program, inputs, probe.sizes))
    except (DtpolyError, TypeError):
        return None


def right_calls(
    program: Program, funcs: Sequence[str], text: str, given: Iterator[Probe], count: int
) -> tuple[Call, ...]:
    """Return the first calls for which the unchanged text is right, and quick."""
    found: list[Call] = []
    for probe in given:
        made = call(program, probe)
        if made is not None and run(program, funcs, text, made).outcome is Outcome.RIGHT:
            found.append(made)
        if len(found) == count:
            break
    return tuple(found)


def run(program: Program, funcs: Sequence[str], text: str, made: Call) -> Ran:
    """Run a text once."""
    probe = str(made.probe)
    try:
        with limited(LIMIT_S):
            compared(
                imported(text),
                program,
                funcs,
                made.inputs,
                made.probe.sizes,
                layout=made.probe.out,
                known=made.known,
            )
    except SlowError:
        return Ran(Outcome.SLOW, f"over {LIMIT_S} s", probe)
    except Exception as error:  # a text with a mistake may raise anything
        first = _first(error)
        outcome = Outcome.WRONG if isinstance(first, WRONG) else Outcome.RAISES
        return Ran(outcome, f"{type(first).__name__}: {first}"[:300], probe)
    return Ran(Outcome.RIGHT, "", probe)


def _first(error: BaseException) -> BaseException:
    """Return the first error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def runs(program: Program, funcs: Sequence[str], text: str, given: Sequence[Call]) -> Ran:
    """Run a text until it is wrong.

    If it never is, this returns an outcome that is not right, if there is one.
    """
    worst = Ran(Outcome.RIGHT)
    for made in given:
        ran = run(program, funcs, text, made)
        if ran.outcome is Outcome.WRONG:
            return ran
        if worst.outcome is Outcome.RIGHT:
            worst = ran if ran.outcome is not Outcome.RIGHT else worst
        if ran.outcome is Outcome.SLOW:
            break
    return worst


class Shown(StrEnum):
    """Return what running a witness shows."""

    CONFIRMED = "confirmed"
    RAISES = "raises"
    NOT = "not shown"
    LARGE = "too large to run"
    NO_CALL = "no such call"


def shown(
    program: Program,
    funcs: Sequence[str],
    text: str,
    sizes: Mapping[str, int],
    recipes: Sequence[tuple[Recipe, Layout]],
) -> Shown:
    """Return whether a text is wrong for these sizes of labels that are used."""
    used = used_labels(program)
    wanted = {label: size for label, size in sizes.items() if label in used}
    whole = consistent(program, dict(zip(sorted(used), BASES * 9, strict=False)) | wanted)
    if whole is None or any(whole[label] != size for label, size in wanted.items()):
        return Shown.NO_CALL
    if not _is_small(program, whole, MOST_OF_WITNESS):
        return Shown.LARGE
    worst = Shown.NOT
    tried = [Probe(whole, recipe, out) for recipe, out in recipes]
    tried.append(replace(tried[0], is_special=True))
    # A mistake that changes nothing for some values may do so for others.
    plain = replace(tried[0].recipe, layout=Layout.PLAIN, data=Data.RANDOM)
    tried += [Probe(whole, one) for one in mixed(program)]
    tried += [Probe(whole, replace(plain, seed=seed)) for seed in SEEDS]
    for probe in tried:
        made = call(program, probe)
        if made is None:
            continue
        match run(program, funcs, text, made).outcome:
            case Outcome.WRONG:
                return Shown.CONFIRMED
            case Outcome.RAISES:
                worst = Shown.RAISES
            case Outcome.SLOW:
                return Shown.LARGE
            case Outcome.RIGHT:
                pass
    return worst
