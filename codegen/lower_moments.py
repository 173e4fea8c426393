"""Adds the sums that a sum of cubes of deviations needs beside it where their mean moves.

    for k: cubes += (A[k] - mean)^3   -->   for k: cubes += (A[k] - mean)^3
                                                   squares += (A[k] - mean)^2

When the mean of n numbers moves by d, each deviation u becomes u - d. So the sum of `u^3` changes
by that of `-3 * d * u^2 + 3 * d^2 * u - d^3`, where the sum of u is 0. The sum of squares is one
that maybe nobody wrote. In the same way a sum of fourth powers needs the squares and the cubes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Accumulate, Fill, ForLoop, If, Instruction, Let, Step
from dtpoly.ir.parts import assigned_by, renamed, walk
from dtpoly.ir.tile_values import Call, Masked, Value, Variable
from dtpoly.ir.tiled import blocks_of, of_blocks

from .deviations import AddedValue, Deviation, deviation_from, powers_of, sums_of, unmasked
from .motions import CannotJoinError
from .python_names import fresh
from .running_means import Mean, WalksOfMean, depending, only_block, overhang_of, summed_in

WORDS = {2: "squares", 3: "cubes"}


@dataclass(frozen=True, slots=True)
class _SumOfPowers:
    """A sum of a block of the second walk: what it adds, of which powers, and the deviation."""

    added: AddedValue
    powers: Mapping[int, float]
    deviation: Deviation

    @property
    def degree(self) -> int:
        """Return the largest power of the deviation."""
        return max(self.powers, default=0)


def with_lower_sums(walks: WalksOfMean) -> WalksOfMean:
    """Return two walks and what stands in front of them, with the sums that the second one needs.

    Where the second walk has no sums of powers of deviations, others refuse it.
    """
    means = walks.means()
    if len(means) != 1:
        return walks
    (mean,) = means
    try:
        (one, size), (other, _) = (only_block(walk, mean) for walk in (walks.first, walks.second))
        blocks = tuple(zip(blocks_of(one), blocks_of(other), strict=True))
        sums = [tuple(_sums(mean, mine, theirs, size)) for mine, theirs in blocks]
    except (CannotJoinError, ValueError):
        return walks
    if not sums or not sums[0]:
        return walks
    highest = max(sums[0], key=lambda found: found.degree)
    there = {power for found in sums[0] for power in _plain(found)}
    made = dict[int, str]()
    for power in range(2, highest.degree):
        if power not in there:
            made[power] = fresh(f"{mean.name}_{WORDS[power]}", walks.names)
            walks.names.add(made[power])
    if not made:
        return walks
    done = list[Step]()
    for (_, theirs), found in zip(blocks, sums, strict=True):
        top = next(x for x in found if x.added.sum.name == highest.added.sum.name)
        done.append(_with_sums(theirs, top, made, walks.names))
    block = of_blocks(other, done)
    second = tuple(block if step is other else step for step in walks.second)
    front = tuple(_with_starts(walks.front, highest.added.sum.name, made))
    return replace(walks, front=front, second=second)


def _sums(mean: Mean, mine: Step, theirs: Step, size: object) -> Iterator[_SumOfPowers]:
    """Yield the sums of powers of deviations of a block of the second walk."""
    one, other = mine.instruction, theirs.instruction
    assert isinstance(one, ForLoop | If)
    assert isinstance(other, ForLoop | If)
    body = other.body
    if isinstance(one, ForLoop) and isinstance(other, ForLoop):
        body = renamed(body, {other.name: one.name})
    moving = depending(body, frozenset((mean.name,)))
    summed, overhang = summed_in(mean, mine), overhang_of(mean, mine)
    for found in sums_of(body):
        if found.sum.name in moving:
            deviation = deviation_from(mean.name, summed, overhang, found)
            powers = powers_of(unmasked(found.value, overhang), deviation)
            yield _SumOfPowers(found, powers, deviation)


def _plain(of: _SumOfPowers) -> Iterator[int]:
    """Yield the power that is summed, if that is one power and nothing else."""
    if [*of.powers.values()] == [1.0]:
        yield from of.powers


def _with_sums(block: Step, top: _SumOfPowers, made: Mapping[int, str], names: set[str]) -> Step:
    """Return a block that also sums lower powers, behind the sum of the highest one."""
    one = block.instruction
    assert isinstance(one, ForLoop | If)
    done, clones = list[Step](), list[Step]()
    for step in one.body:
        done.append(step)
        if not {*top.added.names}.isdisjoint(assigned_by(step.instruction)):
            clones.append(step)
        if isinstance(step.instruction, Accumulate) and step.instruction.name == top.added.sum.name:
            value = _deviation_in(top)
            deviation = Variable(
                fresh(f"{top.deviation.mean}_less", names), value.axes, value.dtype
            )
            names.add(deviation.name)
            done.append(replace(step, instruction=Let(deviation.name, value, value.axes)))
            for power, name in made.items():
                done += _lower(clones, top, deviation, power, name, names)
    return replace(block, instruction=replace(one, body=tuple(done)))


def _lower(
    steps: list[Step],
    top: _SumOfPowers,
    deviation: Variable,
    power: int,
    name: str,
    names: set[str],
) -> Iterator[Step]:
    """Yield the steps that sum a lower power, as others sum the highest one."""
    other = {top.added.sum.name: name}
    for one in top.added.names[:-1]:
        other[one] = fresh(one.replace(top.added.sum.name, name), names)
        names.add(other[one])
    made: Instruction
    for step in steps:
        match step.instruction:
            case Let(value=value) as let:
                made = replace(let, value=_powered(value, deviation, power))
            case Accumulate(value=value) as sum_of if not isinstance(value, Variable):
                made = replace(sum_of, value=_powered(value, deviation, power))
            case made:
                pass
        yield replace(step, instruction=renamed(made, other))


def _powered(value: Value, deviation: Variable, power: int) -> Value:
    """Return a power of the deviation, with the mask that a value has."""
    if isinstance(value, Masked):
        return replace(value, value=_powered(value.value, deviation, power))
    product: Value = deviation
    for _ in range(power - 1):
        product = Call("mul", (product, deviation), deviation.axes, deviation.dtype)
    return product


def _deviation_in(of: _SumOfPowers) -> Call:
    """Return the deviation that a sum is made of: what is summed less the mean."""
    for one in walk(of.added.value):
        match one:
            case Call(operation="sub", operands=(value, mean)) if of.deviation.is_one(value, mean):
                return one
            case Call(operation="sub", operands=(mean, value)) if of.deviation.is_one(value, mean):
                return replace(one, operands=(value, mean))
            case _:
                pass
    raise AssertionError(of)


def _with_starts(front: tuple[Step, ...], top: str, made: Mapping[int, str]) -> Iterator[Step]:
    """Yield what stands in front of the walks, with a start for each sum that is made."""
    for step in front:
        yield step
        if isinstance(step.instruction, Fill) and step.instruction.name == top:
            for name in made.values():
                yield replace(step, instruction=replace(step.instruction, name=name))
