"""Judges the points of a space: each is legal, or refused by a rule.

Points that differ only in numbers share a verdict where the lemma of docs/explore.md allows it: a
class of points is decided by one of its members. A random sample is decided again, each point by
itself, and a disagreement ends the run.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import (
    Callable,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from enum import StrEnum
from random import Random
from typing import TypeVar

from dtpoly.algorithm.program import Directive, Program
from dtpoly.diagnostics import DtpolyError, Severity
from dtpoly.explore.legality.classes import class_of, is_aligned
from dtpoly.explore.legality.large_tiles import MOST_ELEMENTS, largest_tile, tiled
from dtpoly.explore.legality.shared_verdicts import Disagreement
from dtpoly.explore.space.short import short
from dtpoly.explore.space.space import Point, Space, each_directive, program_of
from dtpoly.frontend.deep import deep_recursion
from dtpoly.frozen import dataclass
from dtpoly.poly.dependences import dependences
from dtpoly.poly.effort import answered, limited
from dtpoly.poly.order import Broken
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.foreign import applied, is_foreign
from dtpoly.schedule.initial import Begin, initial, initial_once
from dtpoly.schedule.legality import EACH, VERDICT, ahead, found
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.refusal import CODES
from dtpoly.schedule.state import State
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.system.alarm import uninterrupted

T = TypeVar("T")

UNDECIDED = "DT208"
TOO_LARGE = "DT300"
# How many points a process decides at a time, and from how many on it pays to start processes.
CHUNK, ALONE = 4, 64


class Rule(StrEnum):
    """The rules that refuse a point, in the order in which they are asked."""

    CHECK = "check"  # what is wrong before any dependence counts
    LIMIT = "limit"  # what Triton allows
    LEGALITY = "legality"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """The rule that refuses a point, and the code of the first thing that is wrong."""

    rule: Rule
    code: str = ""

    @property
    def is_legal(self) -> bool:
        """True if no rule refuses the point."""
        return self.rule is Rule.NONE


@dataclass(frozen=True, slots=True)
class DecidedPoints:
    """Points, by their places in what was asked, that get one answer.

    `is_shared` says that only one of them was looked at; `is_again`, that they had an answer, and
    that it was found again without sharing.
    """

    places: tuple[int, ...]
    answer: PointVerdict
    is_shared: bool = False
    is_again: bool = False


@dataclass(frozen=True)
class SpaceQuestion:
    """The space that verdicts are asked of, and the primitives of its directives."""

    space: Space
    primitives: Primitives


def answer_of(program: Program, primitives: Primitives) -> PointVerdict:
    """Judge one point, whatever is known of others."""
    verdict = verdict_of(program, primitives)
    chosen = bind(program.directives, primitives).primitives
    return _limited(verdict, is_too_large=largest_tile(tiled(program), chosen) > MOST_ELEMENTS)


def _limited(verdict: PointVerdict, *, is_too_large: bool) -> PointVerdict:
    """Take Triton's limit into the answer: it is asked between the checks and the order."""
    is_limit = is_too_large and verdict.rule is not Rule.CHECK
    return PointVerdict(Rule.LIMIT, TOO_LARGE) if is_limit else verdict


def verdict_of(program: Program, primitives: Primitives, begin: Begin = initial) -> PointVerdict:
    """Ask the static checks and the order about a point.

    Points that differ only in numbers may share this answer.
    """
    chosen = _checked(program, primitives)
    if isinstance(chosen, PointVerdict):
        return chosen
    return _asked(program, lambda: _first(_found(resolve(program, chosen, begin))))


def with_and_without(
    program: Program, primitives: Primitives, begin: Begin = initial
) -> tuple[PointVerdict, PointVerdict]:
    """Give the verdict if no loads run ahead, and that if those do that directives decide about.

    If there are several such directives, all points of the class say the same of each.
    """
    chosen = _checked(program, primitives)
    if isinstance(chosen, PointVerdict):
        return chosen, chosen
    deciding = [(one, two) for one in chosen if (two := one.ahead()) is not None]
    others = [one for one in chosen if one.ahead() is None]

    def both() -> tuple[PointVerdict, PointVerdict]:
        state = resolve(program, others, begin)
        plain = _first(_found(state))
        for one, with_two_stages in deciding:
            state = applied(with_two_stages if len(deciding) == 1 else one, state)
        return plain, _first(ahead(state)) if plain.is_legal and deciding else plain

    answer = _asked(program, both)
    return (answer, answer) if isinstance(answer, PointVerdict) else answer


def _checked(program: Program, primitives: Primitives) -> tuple[Primitive, ...] | PointVerdict:
    """Return the primitives of a point, or what is wrong with them before any dependence counts."""
    bound = bind(program.directives, primitives)
    said = (*bound.found, *check_schedule(program, primitives))
    wrong = next((one for one in said if one.severity is Severity.ERROR), None)
    return bound.primitives if wrong is None else PointVerdict(Rule.CHECK, wrong.code)


def _found(state: State) -> Iterator[Broken]:
    return found(state, dependences(state.model))


def _first(broken: Iterator[Broken]) -> PointVerdict:
    """Return the first thing that is wrong, which is what a verdict tells first."""
    one = next(broken, None)
    return PointVerdict(Rule.NONE) if one is None else PointVerdict(Rule.LEGALITY, CODES[one.kind])


def _asked(program: Program, ask: Callable[[], T]) -> T | PointVerdict:
    """Return the answer to a question that may take no more work than `judge` may."""
    with deep_recursion(), limited(VERDICT + EACH * len(program.funcs)):
        try:
            answer = answered(ask)
        except DtpolyError as error:
            # A user's own primitive fails.
            return PointVerdict(Rule.LEGALITY, error.diagnostics[0].code)
    return PointVerdict(Rule.LEGALITY, UNDECIDED) if answer is None else answer


def decided(
    asked: SpaceQuestion,
    points: Sequence[Point],
    again: int = 100,
    seed: int = 0,
    workers: int | None = None,
) -> Generator[DecidedPoints]:
    """Judge points, in some order, and then again a sample of those that share an answer.

    Raises Disagreement. What was yielded before stands, so a run may be left at any time.
    """
    by_class = _classes(asked, points)
    answers = dict(by_class.wrong)
    for place, answer in answers.items():
        yield DecidedPoints((place,), answer)
    members = {places[0]: places for places in by_class.classes}
    shared = [place for places in by_class.classes for place in places[1:]]
    sample = Random(seed).sample(shared, min(again, len(shared)))

    def told(places: Iterable[int], both: Both, *, is_shared: bool) -> Iterator[DecidedPoints]:
        """Points of one class, by what becomes of each."""
        by_answer: dict[PointVerdict, list[int]] = {}
        for place in places:
            answers[place] = by_class.answer(place, both)
            by_answer.setdefault(answers[place], []).append(place)
        for answer, some in by_answer.items():
            yield DecidedPoints(tuple(some), answer, is_shared)

    with _workers(asked, workers, len(members) + len(sample)) as ask:
        alone: list[int] = []
        for first, both in ask([Task(place, points[place], True) for place in members]):
            places = members[first]
            if UNDECIDED in (both[0].code, both[1].code):
                # Whether isl gives up is no question of order: each is asked by itself.
                alone.extend(places)
            else:
                yield from told(places, both, is_shared=len(places) > 1)
        for place, both in ask([Task(place, points[place], False) for place in alone]):
            yield from told((place,), both, is_shared=False)
        for place, both in ask([Task(place, points[place], False) for place in sample]):
            own = by_class.answer(place, both)
            if own.code != UNDECIDED and own != answers[place]:
                raise _disagreement(asked.space, points[place], answers[place], own)
            yield DecidedPoints((place,), own, is_again=True)


# Two verdicts: if no loads run ahead, and if they do.
Both = tuple[PointVerdict, PointVerdict]


@dataclass(frozen=True, slots=True)
class Task:
    """A point to decide: for its class, or for itself alone."""

    place: int
    point: Point
    is_for_class: bool


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Points by their classes, with what is known of each without asking isl."""

    classes: tuple[tuple[int, ...], ...]
    wrong: Mapping[int, PointVerdict]
    too_large: Set[int]
    runs_ahead: Set[int]

    def answer(self, place: int, both: Both) -> PointVerdict:
        """Give the answer for a point, from the two answers for its class."""
        one = both[1] if place in self.runs_ahead else both[0]
        return _limited(one, is_too_large=place in self.too_large)


def _classes(asked: SpaceQuestion, points: Sequence[Point]) -> _Sorted:
    of = tiled(asked.space.program)
    aligned = is_aligned(asked.space.program)
    bound = each_directive(asked.space, lambda one: _bound(one, asked.primitives))
    classes: dict[Hashable, list[int]] = {}
    wrong: dict[int, PointVerdict] = {}
    too_large: set[int] = set()
    runs_ahead: set[int] = set()
    for place, point in enumerate(points):
        chosen: list[Primitive] = []
        for one in bound(point):
            if isinstance(one, str):
                wrong[place] = PointVerdict(Rule.CHECK, one)
                break
            chosen.append(one)
        else:
            mine = class_of(chosen, aligned=aligned)
            classes.setdefault(mine.key, []).append(place)
            if mine.runs_ahead:
                runs_ahead.add(place)
            if largest_tile(of, chosen) > MOST_ELEMENTS:
                too_large.add(place)
    return _Sorted(tuple(map(tuple, classes.values())), wrong, too_large, runs_ahead)


def _bound(directive: Directive, primitives: Primitives) -> Primitive | str:
    """Return the primitive of a directive, or the code of what is wrong with it."""
    bound = bind((directive,), primitives)
    wrong = (one.code for one in bound.found if one.severity is Severity.ERROR)
    return next(wrong, "") or bound.primitives[0]


def _disagreement(
    space: Space, point: Point, shared: PointVerdict, own: PointVerdict
) -> Disagreement:
    def said(one: PointVerdict) -> str:
        return "legal" if one.is_legal else f"refused by {one.rule} ({one.code})"

    return Disagreement(
        f"the point '{short(space, point)}' is {said(own)}, but {said(shared)} by its class; "
        f"one of the two verdicts is wrong: please report it"
    )


Ask = Callable[[Sequence[Task]], Iterator[tuple[int, Both]]]


@contextmanager
def _workers(asked: SpaceQuestion, workers: int | None, tasks: int) -> Generator[Ask]:
    """Choose who answers: this process, or several where there is enough to do."""
    count = workers or os.cpu_count() or 1
    # A class of a plugin has no name by which another process would find it.
    if count < 2 or tasks < ALONE or any(map(is_foreign, asked.primitives)):
        begin = initial_once(asked.space.program)
        yield lambda some: ((task.place, _answer(asked, task, begin)) for task in some)
        return
    # A copy of this process would have its threads' locks.
    context = multiprocessing.get_context("spawn")
    before = multiprocessing.active_children()
    pool = ProcessPoolExecutor(count, context, initializer=_prepare, initargs=(asked,))

    def ask(some: Sequence[Task]) -> Iterator[tuple[int, Both]]:
        parts = (some[at : at + CHUNK] for at in range(0, len(some), CHUNK))
        with uninterrupted():
            submitted = [pool.submit(_answers, part) for part in parts]
        for done in as_completed(submitted):
            yield from done.result()

    try:
        yield ask
    except BaseException:
        # Nobody waits for the answers any more, and some take seconds.
        for process in multiprocessing.active_children():
            if process not in before:
                process.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# In a worker process: what it is asked about, which is set once, when it starts.
_mine: list[tuple[SpaceQuestion, Begin]] = []


def _prepare(asked: SpaceQuestion) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _mine[:] = [(asked, initial_once(asked.space.program))]


def _end_with_parent() -> None:
    """End this process when the one that asks is gone.

    It would wait for questions for ever: it has both ends of the pipe through which they come.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _answers(some: Sequence[Task]) -> list[tuple[int, Both]]:
    ((asked, begin),) = _mine
    return [(task.place, _answer(asked, task, begin)) for task in some]


def _answer(asked: SpaceQuestion, task: Task, begin: Begin = initial) -> Both:
    program = program_of(asked.space, task.point)
    if task.is_for_class:
        return with_and_without(program, asked.primitives, begin)
    own = verdict_of(program, asked.primitives, begin)
    return own, own
