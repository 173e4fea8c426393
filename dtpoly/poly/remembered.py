"""Remembers isl's answers, since schedules of one space ask isl mostly the same questions.

The statements of one schedule ask the same questions among themselves, too. A question is known by
plain data that says all that the answer follows from. A set or a map stands in it as its text,
which has its names, its parameters and its constraints, in order.

isl simplifies a set in place when something is asked of it, and may then write what follows from it
in another way. So nobody gets the object that is kept: each caller gets it as it was at first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, TypeVar, cast

from dtpoly.frozen import dataclass
from dtpoly.poly.lazy import isl

T = TypeVar("T")

MOST = 20_000  # the last ones are kept, at some kilobytes each


@dataclass(slots=True)
class Answers:
    """The answers to the last questions, by kind and question."""

    most: int = MOST
    known: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    asked: int = 0
    found: int = 0

    def of(self, question: Hashable, ask: Callable[[], T]) -> T:
        """Return the answer that is known, or ask now and keep the answer. An error is not kept."""
        self.asked += 1
        if question in self.known:
            self.found += 1
            answer: T = self.known.pop(question)
        else:
            answer = anew(ask())
        self.known[question] = answer
        if len(self.known) > self.most:
            del self.known[next(iter(self.known))]
        return anew(answer)


def anew(one: T) -> T:
    """A set or a map that is not simplified where another one is; any other answer as it is."""
    if not isinstance(one, (isl.Set, isl.Map)):
        return one
    for kind in (isl.dim_type.param, isl.dim_type.out):
        if one.dim(kind) and (name := one.get_dim_name(kind, 0)) is not None:
            # With a name given again, even the same, isl no longer shares what is inside.
            same: Any = one.set_dim_name(kind, 0, name)
            return cast(T, same)
    return one


_REMEMBERED: ContextVar[Answers | None] = ContextVar("remembered", default=None)


@contextmanager
def remembering(answers: Answers) -> Generator[None]:
    """Questions asked within have the answers that are known, and leave theirs."""
    before = _REMEMBERED.set(answers)
    try:
        yield
    finally:
        _REMEMBERED.reset(before)


def remembered(question: Callable[[], Hashable], ask: Callable[[], T]) -> T:
    """The answer to a question. Outside of `remembering` it is asked, and not even told."""
    answers = _REMEMBERED.get()
    return ask() if answers is None else answers.of(question(), ask)


def forget() -> None:
    """No answer is known any more: where isl has stopped working, what it said last is in doubt."""
    answers = _REMEMBERED.get()
    if answers is not None:
        answers.known.clear()
