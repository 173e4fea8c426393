"""Turns loops that are directly inside of each other into one loop.

    for r: for s: body(r, s)  -->  for step in 0 .. R * S: s = step % S; r = step // S; body(r, s)

The directive `flatten` asks for it: the loop that Triton pipelines then has as many rounds as all
loops together. Loops become one only if nothing but numbers and lanes is computed between them, and
if each is as long as a size, whatever the others count; or as a number, where the file fixes the
size.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from math import prod

from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.bound_widths import WIDE
from dtpoly.ir.kernel import ForLoop, If, Lanes, Let, LoopScalar, Mask, Step, TiledLoop
from dtpoly.ir.parts import assigned, renamed
from dtpoly.ir.tile_values import Converted, IndexValue
from dtpoly.poly.loops import Bound, Combined

from .python_names import fresh
from .scopes import OFFSET

Groups = Sequence[tuple[str, ...]]  # labels of loops, outermost first


@dataclass(slots=True)
class Flattening:
    """The groups of labels to flatten, the labels of axes, all names, and how often each is set."""

    groups: Groups
    labels: Mapping[str, str]
    taken: set[str]
    times: Mapping[str, int]

    def name(self, wish: str) -> str:
        """Return a name that nothing in the kernel has."""
        name = fresh(wish, self.taken)
        self.taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class LoopNest:
    """Loops, outermost first; what is computed between them; the body of the innermost one."""

    labels: tuple[str, ...]
    loops: tuple[ForLoop, ...]
    between: tuple[Step, ...]
    body: tuple[Step, ...]


def flattened(
    body: tuple[Step, ...], groups: Groups, labels: Mapping[str, str], taken: Set[str]
) -> tuple[Step, ...]:
    """Return the body; `taken` are the names of its parameters."""
    times = Counter(assigned(body))
    return _block(Flattening(groups, labels, {*taken, *times}, times), body)


def _block(flattening: Flattening, body: tuple[Step, ...]) -> tuple[Step, ...]:
    done: list[Step] = []
    for step in body:
        one = step.instruction
        nests = (_nest(flattening, step, group) for group in flattening.groups)
        nest = next((found for found in nests if found is not None), None)
        if nest is not None:
            done.extend(_as_one(flattening, nest, step.origin))
        elif isinstance(one, ForLoop | If):
            inner = _block(flattening, one.body)
            done.append(replace(step, instruction=replace(one, body=inner)))
        elif isinstance(one, TiledLoop):
            main, tail = (_block(flattening, inner) for inner in (one.main, one.tail))
            done.append(replace(step, instruction=replace(one, main=main, tail=tail)))
        else:
            done.append(step)
    return tuple(done)


def _nest(flattening: Flattening, step: Step, group: tuple[str, ...]) -> LoopNest | None:
    """Return the loops over the labels of a group, if the first of them is here."""
    loops: list[ForLoop] = []
    between: list[Step] = []
    here: tuple[Step, ...] = (step,)
    for label in group:
        if not here or flattening.labels.get(here[-1].origin) != label:
            return None
        *before, last = here
        loop, set_before = last.instruction, {*assigned(tuple(between)), *(o.name for o in loops)}
        if not isinstance(loop, ForLoop) or not _is_counted(loop, set_before):
            return None
        if not all(isinstance(one.instruction, Lanes | Mask | Let | LoopScalar) for one in before):
            return None
        between.extend(before)
        loops.append(loop)
        here = loop.body
    return LoopNest(group, tuple(loops), tuple(between), here)


def _is_counted(loop: ForLoop, set_before: Set[str]) -> bool:
    """Return whether a loop goes from 0 to a size that is none of some names, or to a number."""
    match loop:
        case ForLoop(start=Affine(terms=(), constant=0), stop=Affine() as stop, unroll=1):
            if not stop.terms:
                return stop.constant > loop.step
            return stop.plain is not None and stop.plain not in set_before
        case _:
            return False


def _as_one(flattening: Flattening, nest: LoopNest, origin: str) -> list[Step]:
    """Write the one loop for a nest, and the steps that it needs before it."""
    before: list[Step] = []
    counts: list[Affine] = []
    factors: list[tuple[str | int, int]] = []
    for label, loop in zip(nest.labels, nest.loops, strict=True):
        assert isinstance(loop.stop, Affine)
        count = loop.stop
        if loop.stop.plain is None:
            number_of = -(-loop.stop.constant // loop.step)
            counts.append(Affine((), number_of))
            factors.append((number_of, 1))
            continue
        if loop.step != 1:
            name = flattening.name(f"{label}_steps")
            end = loop.stop + Affine((), loop.step - 1)
            number = Combined("//", (end, Affine((), loop.step)))
            before.append(Step(LoopScalar(name, number), origin))
            count = Affine(((name, 1),))
        counts.append(count)
        factors.append((loop.stop.plain, loop.step))
    counter = flattening.name("step")
    rounds = _rounds(counts)
    names, body = _parts(flattening, nest, is_wide=not isinstance(rounds, Affine))
    one = ForLoop(
        counter,
        Affine(),
        rounds,
        1,
        (*_coordinates(nest, names, counter, counts, origin), *body),
        is_pipelined=all(loop.is_pipelined for loop in nest.loops),
        over=nest.labels,
        factors=tuple(factors),
    )
    return [*before, Step(one, origin)]


def _rounds(counts: Sequence[Affine]) -> Bound:
    """Return the product, as wide as offsets are; a number, if all are."""
    if not any(count.terms for count in counts):
        return Affine((), prod(count.constant for count in counts))
    widened = next(at for at, count in enumerate(counts) if count.terms)
    parts = [Combined(WIDE, (c,)) if at == widened else c for at, c in enumerate(counts)]
    rounds: Bound = parts[0]
    for part in parts[1:]:
        rounds = Combined("*", (rounds, part))
    return rounds


def _parts(
    flattening: Flattening, nest: LoopNest, *, is_wide: bool
) -> tuple[list[str], tuple[Step, ...]]:
    """Give the names of the old counters inside the one loop, and the body of that loop.

    The counters are as wide as offsets are, unless the end is a number. So a variable that only
    held a counter in the type of offsets becomes the counter itself.
    """
    body = (*nest.between, *nest.body)
    names: list[str] = []
    for loop in nest.loops:
        name = loop.name if flattening.times[loop.name] == 1 else flattening.name(loop.name)
        if name != loop.name:
            body = renamed(body, {loop.name: name})
        if is_wide and loop.step == 1 and (wide := _wide(body, name)) is not None:
            body = tuple(step for step in body if step is not wide)
            assert isinstance(wide.instruction, Let)
            body, name = renamed(body, {name: wide.instruction.name}), wide.instruction.name
        names.append(name)
    return names, body


def _wide(body: tuple[Step, ...], counter: str) -> Step | None:
    """Find the step that only converts a counter to the type of offsets, under another name."""
    index = Affine(((counter, 1),))
    for step in body:
        match step.instruction:
            case Let(value=Converted(IndexValue(at, ()), dtype=dtype)) if (at, dtype) == (
                index,
                OFFSET,
            ):
                return step
            case _:
                pass
    return None


def _coordinates(
    nest: LoopNest, names: Sequence[str], counter: str, counts: Sequence[Affine], origin: str
) -> list[Step]:
    """Compute what each old loop counts from the number of the round.

    The innermost one counts fastest.
    """
    left: Bound = Affine(((counter, 1),))
    done: list[Step] = []
    for at, (name, loop) in reversed(list(enumerate(zip(names, nest.loops, strict=True)))):
        value = left
        if at:
            value = Combined("%", (left, counts[at]))
            left = Combined("//", (left, counts[at]))
        if loop.step != 1:
            value = Combined("*", (value, Affine((), loop.step)))
        done.append(Step(LoopScalar(name, value), origin))
    return done
