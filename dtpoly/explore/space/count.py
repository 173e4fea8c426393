"""Counts the points of a space, numbers them and draws samples, without listing them.

The parameters of a space are chosen in order. The choices so far matter only by the rest of the
constraints, and by the parameters that come next: together these are a *state*. There are few
states if each constraint concerns few neighbouring parameters, whatever the number of points. So
points are counted by states, from the last parameter to the first. The number of a point is its
place in the order of all points, in which the first parameter changes slowest.
"""

from collections.abc import Iterator
from random import Random
from typing import assert_never

from dtpoly.algorithm.choices import Alternatives, Constraint, Item, OpenArgument, OpenDirective
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.explore.space.conditions import (
    Known,
    Left,
    Place,
    Places,
    condition_of,
    joined,
    mentioned,
    reduced,
)
from dtpoly.explore.space.space import Point, Space, choices_in, count_parameters
from dtpoly.frontend.constraints import number_of, number_places
from dtpoly.frozen import dataclass

# The limit of choices that lead from state to state; it takes some seconds and fits into memory.
MOST_STEPS = 200_000


@dataclass(frozen=True, slots=True)
class CountStep:
    """The goal of an option: the next parameter, and the state there."""

    parameter: int
    state: int


@dataclass(frozen=True)
class CountedSpace:
    """A space whose points are counted.

    `steps[parameter][state][option]` is where an option leads; it is None if no point has the
    option. `counts[parameter][state]` is the number of ways to go on from there. The parameter
    after the last one stands for the end.
    """

    space: Space
    steps: tuple[tuple[tuple[CountStep | None, ...], ...], ...]
    counts: tuple[tuple[int, ...], ...]
    start: CountStep | None

    @property
    def count(self) -> int:
        """Return how many points the space has."""
        return self.ways(self.start)

    def ways(self, step: CountStep | None) -> int:
        """Return how many points go through a state."""
        return 0 if step is None else self.counts[step.parameter][step.state]


def counted(space: Space) -> CountedSpace:
    """Count the points of a space. Raises DtpolyError if its constraints need too many states."""
    layout = _layout(space)
    end = len(layout.following)
    begun = _begun(space, layout.begun)
    if begun is False:
        return CountedSpace(space, (), (), None)
    states: list[dict[Left, int]] = [{} for _ in range(end + 1)]
    states[layout.first][begun] = 0
    steps: list[tuple[tuple[CountStep | None, ...], ...]] = []
    made = 0
    for parameter in range(end):
        made += len(states[parameter]) * len(layout.following[parameter])
        if made > MOST_STEPS:
            raise DtpolyError([_tangled(space)])
        here = (tuple(_steps(layout, parameter, left, states)) for left in states[parameter])
        steps.append(tuple(here))
    counts: list[tuple[int, ...]] = [()] * end + [tuple(1 for _ in states[end])]
    for parameter in reversed(range(end)):
        counts[parameter] = tuple(
            sum(counts[step.parameter][step.state] for step in options if step is not None)
            for options in steps[parameter]
        )
    return CountedSpace(space, tuple(steps), tuple(counts), CountStep(layout.first, 0))


def point_at(of: CountedSpace, number: int) -> Point:
    """Return the point of a number, from 0. Raises IndexError if there is none."""
    if not 0 <= number < of.count:
        raise IndexError(number)
    chosen: list[int | None] = [None] * len(of.steps)
    step = of.start
    while step is not None and step.parameter < len(of.steps):
        for option, following in enumerate(of.steps[step.parameter][step.state]):
            if number < of.ways(following):
                chosen[step.parameter] = option
                step = following
                break
            number -= of.ways(following)
    return Point(tuple(chosen))


def index_of(of: CountedSpace, point: Point) -> int | None:
    """Return the number of a point, or None if the space lacks it.

    Law: `point_at` is the inverse.
    """
    if len(point.chosen) != len(of.steps):
        return None
    number, step = 0, of.start
    passed: set[int] = set()
    while step is not None and step.parameter < len(of.steps):
        options = of.steps[step.parameter][step.state]
        taken = point.chosen[step.parameter]
        if taken is None or not 0 <= taken < len(options):
            return None
        passed.add(step.parameter)
        number += sum(map(of.ways, options[:taken]))
        step = options[taken]
    is_whole = all((at in passed) is (one is not None) for at, one in enumerate(point.chosen))
    return number if step is not None and is_whole else None


def broken(space: Space, point: Point) -> tuple[Constraint, ...]:
    """Return the constraints that a point breaks."""
    layout = _layout(space)
    known: dict[Place, int | None] = dict(layout.begun)
    for parameter, taken in enumerate(point.chosen):
        if taken is not None:
            known |= layout.known[parameter][taken]
    places = _places(space)
    conditions = ((one, condition_of(one.condition, places)) for one in space.constraints)
    return tuple(one for one, condition in conditions if not reduced(condition, known))


def points(of: CountedSpace, start: int = 0) -> Iterator[Point]:
    """Yield the points from a number on, one after another."""
    for number in range(start, of.count):
        yield point_at(of, number)


def sample(of: CountedSpace, size: int, seed: int = 0) -> tuple[int, ...]:
    """Draw different numbers of points, each with the same chance; all points if there are fewer.

    The same seed gives the same numbers in the same order, and a larger sample begins with them.
    """
    random = Random(seed)
    taken: dict[int, int] = {}
    drawn: list[int] = []
    for at in range(min(size, of.count)):
        # This is a shuffle of all numbers of which only the first places are carried out.
        other = random.randrange(at, of.count)
        drawn.append(taken.get(other, other))
        taken[other] = taken.get(at, at)
    return tuple(drawn)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The parameters of a space as a graph: where each option leads, and the numbers it fixes."""

    first: int
    following: tuple[tuple[int, ...], ...]
    known: tuple[tuple[Known, ...], ...]
    begun: Known


@dataclass
class _Laid:
    """A layout while it is made, from the last item to the first."""

    following: list[tuple[int, ...]]
    known: list[tuple[Known, ...]]


def _layout(space: Space) -> _Layout:
    count = len(space.parameters)
    laid = _Laid([()] * count, [()] * count)
    first, begun = _lay(space.items, 0, 0, count, laid)
    return _Layout(first, tuple(laid.following), tuple(laid.known), begun)


def _lay(
    items: tuple[Item, ...], parameter: int, place: Place, after: int, laid: _Laid
) -> tuple[int, dict[Place, int | None]]:
    """Lay out items; return their first parameter, and the numbers that are known.

    The items begin at a parameter and a place. `after` is the parameter that comes after them.
    """
    starts: list[tuple[Item, int, Place]] = []
    for item in items:
        starts.append((item, parameter, place))
        parameter += count_parameters((item,))
        place += sum(1 for _ in number_places((item,)))
    known: dict[Place, int | None] = {}
    for item, own, at in reversed(starts):
        match item:
            case OpenDirective():
                after = _lay_directive(item, own, at, after, laid, known)
            case Alternatives(options=options):
                after = _lay_alternatives(options, own, at, after, laid)
            case _:
                assert_never(item)
    return after, known


def _lay_directive(
    item: OpenDirective,
    parameter: int,
    place: Place,
    after: int,
    laid: _Laid,
    known: dict[Place, int | None],
) -> int:
    places: list[tuple[OpenArgument, Place]] = []
    for at, (_, argument) in enumerate(number_places((item,)), place):
        number = number_of(argument)
        if isinstance(number, int):
            known[at] = number
        places.append((argument, at))
    openings = list(choices_in(item))
    for at, (argument, choice) in reversed(list(enumerate(openings, parameter))):
        laid.following[at] = (after,) * len(choice.options)
        there = next((place for other, place in places if other is argument), None)
        laid.known[at] = tuple(_number(there, one) for one in choice.options)
        after = at
    return after


def _number(place: Place | None, option: int | str) -> dict[Place, int | None]:
    return {} if place is None or isinstance(option, str) else {place: option}


def _lay_alternatives(
    options: tuple[tuple[Item, ...], ...], parameter: int, place: Place, after: int, laid: _Laid
) -> int:
    """Lay out the options of alternatives; the numbers of the other options are then missing."""
    following: list[int] = []
    known: list[dict[Place, int | None]] = []
    spans: list[range] = []
    inside = parameter + 1
    for option in options:
        first, found = _lay(option, inside, place, after, laid)
        following.append(first)
        known.append(found)
        inside += count_parameters(option)
        spans.append(range(place, place + sum(1 for _ in number_places(option))))
        place = spans[-1].stop
    for at, found in enumerate(known):
        others = (span for other, span in enumerate(spans) if other != at)
        found.update((one, None) for span in others for one in span)
    laid.following[parameter] = tuple(following)
    laid.known[parameter] = tuple(known)
    return parameter


def _places(space: Space) -> dict[tuple[str, ...], Places]:
    """Return the places where the number of each path may stand."""
    places: dict[tuple[str, ...], Places] = {}
    for place, (path, _) in enumerate(number_places(space.items)):
        places[path] = places.get(path, frozenset()) | {place}
    return places


def _begun(space: Space, begun: Known) -> Left:
    """Simplify all constraints as far as possible before anything is chosen."""
    places = _places(space)
    conditions = (condition_of(one.condition, places) for one in space.constraints)
    return reduced(joined(True, conditions), begun)


def _steps(
    layout: _Layout, parameter: int, left: Left, states: list[dict[Left, int]]
) -> Iterator[CountStep | None]:
    """Yield where each option leads from a state; new states get the next numbers."""
    counts = mentioned(left)
    for following, known in zip(layout.following[parameter], layout.known[parameter], strict=True):
        rest = left if counts.isdisjoint(known) else reduced(left, known)
        if rest is False:
            yield None
        else:
            there = states[following]
            yield CountStep(following, there.setdefault(rest, len(there)))


def _tangled(space: Space) -> Diagnostic:
    return Diagnostic(
        "DT252",
        Severity.ERROR,
        "the constraints join too many choices to count the points",
        space.constraints[0].span if space.constraints else None,
        "the first of them",
        (Note("points are counted by the constraints that are left after each choice"),),
        "split the space, or write constraints between fewer numbers",
    )
