"""Removes accumulators that sum the same a second time, such as a product that two loops needed.

a = 0; a += P @ Q; f(a); b = 0; b += P @ Q; g(b)  -->  a = 0; a += P @ Q; f(a); g(a)
"""

from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import Accumulate, Fill, Step
from dtpoly.ir.parts import assigned, renamed
from dtpoly.ir.step_dependences import exposed

from .repeats import without_repeats


@dataclass(frozen=True, slots=True)
class Summed:
    """An accumulator: the places of the steps of a block that set it, and a text for these steps.

    `names` are all that these steps set: the accumulator, and maybe the sum of its lanes. In the
    text, names are numbered, so that two accumulators can be compared.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]
    text: str


def without_repeated_sums(body: tuple[Step, ...], kept: frozenset[str]) -> tuple[Step, ...]:
    """Return the body without what is computed or summed a second time; `kept` names stay."""
    while True:
        body = without_repeats(body, kept)
        found = _without_one(body, kept)
        if found is None:
            return body
        body = found


def _without_one(body: tuple[Step, ...], kept: frozenset[str]) -> tuple[Step, ...] | None:
    """Return the body with the first repeated accumulator replaced; None if there is none."""
    first = dict[str, Summed]()
    for at, step in enumerate(body):
        if not isinstance(step.instruction, Fill):
            continue
        one = _summed(body, at, step.instruction.name)
        if one is None or not kept.isdisjoint(one.names):
            continue
        before = first.setdefault(one.text, one)
        if before is not one and _is_the_same(body, before, one):
            left = tuple(step for at, step in enumerate(body) if at not in one.places)
            return renamed(left, dict(zip(one.names, before.names, strict=True)))
    return None


def _summed(body: tuple[Step, ...], start: int, name: str) -> Summed | None:
    """Return the accumulator that begins at a place; None if it begins again, or is changed."""
    places = tuple(at for at, step in enumerate(body) if name in assigned((step,)))
    steps = tuple(body[at] for at in places)
    others = [step for step in steps[1:] if isinstance(step.instruction, Fill)]
    is_scaled = any(
        isinstance(step.instruction, Accumulate) and step.instruction.reduction == "rprod"
        for step in steps
    )
    if places[0] != start or others or is_scaled:
        return None
    mine = tuple(dict.fromkeys(assigned(steps)))
    outside = tuple(step for at, step in enumerate(body) if at not in places)
    if not {*mine}.isdisjoint(assigned(outside)):
        return None
    numbers = {made: f"<{number}>" for number, made in enumerate(mine)}
    text = repr(tuple(renamed(step.instruction, numbers) for step in steps))
    return Summed(mine, places, text)


def _is_the_same(body: tuple[Step, ...], one: Summed, other: Summed) -> bool:
    """Return whether the first accumulator still holds what the second one would hold."""
    steps = tuple(body[at] for at in one.places)
    start, *more = one.places
    begins, ends = (more[0], more[-1]) if more else (start, start)  # a fill needs no name
    between = tuple(
        body[at]
        for at in range(begins, max(other.places) + 1)
        if at not in one.places and at not in other.places
    )
    is_ready = ends < min(other.places)
    return is_ready and exposed(steps).isdisjoint(assigned(between))
