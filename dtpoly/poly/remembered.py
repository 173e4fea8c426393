"""Keeps isl's answers, since the schedules of one space ask isl mostly the same questions.

Several statements of one schedule may ask the same question, too. A question is plain data that
has everything the answer depends on. It has each set and each relation as a text, which isl prints:
the names, the parameters and the constraints, in their order.

isl simplifies a set in place when it answers a question about it, and may then print the set in
another way. So the object that is kept is never handed out: each caller gets a copy of it as it
was when the answer was found.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, TypeVar, cast

from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl

T = TypeVar("T")

MOST = 20_000  # the latest answers are kept; each takes some kilobytes


@dataclass(slots=True)
class Answers:
    """The answers to the latest questions, by question."""

    most: int = MOST
    known: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    asked: int = 0
    found: int = 0

    def of(self, question: Hashable, ask: Callable[[], T]) -> T:
        """Return the known answer, or ask and keep the answer. An error is not kept."""
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
    """Copy a set or a relation, so that isl does not simplify both.

    Return any other answer unchanged.
    """
    if not isinstance(one, (isl.Set, isl.Map)):
        return one
    for kind in (isl.dim_type.param, isl.dim_type.out):
        if one.dim(kind) and (name := one.get_dim_name(kind, 0)) is not None:
            # After a dim gets a name, even the same one, isl no longer shares the inner data.
            same: Any = one.set_dim_name(kind, 0, name)
            return cast(T, same)
    return one


_REMEMBERED: ContextVar[Answers | None] = ContextVar("remembered", default=None)


@contextmanager
def remembering(answers: Answers) -> Generator[None]:
    """Use the known answers for the questions that are asked inside, and keep the new ones."""
    before = _REMEMBERED.set(answers)
    try:
        yield
    finally:
        _REMEMBERED.reset(before)


@contextmanager
def remembering_one_file() -> Generator[None]:
    """Keep isl's answers while the code of one file is made, unless somebody keeps them already."""
    if is_remembering():
        yield
        return
    with remembering(Answers()):
        yield


def is_remembering() -> bool:
    """Return whether answers are kept here."""
    return _REMEMBERED.get() is not None


def remembered(question: Callable[[], Hashable], ask: Callable[[], T]) -> T:
    """Return the answer to a question, from the kept answers inside `remembering`.

    Outside `remembering` the question is asked each time, and its data is not even built.
    """
    answers = _REMEMBERED.get()
    return ask() if answers is None else answers.of(question(), ask)


def forget() -> None:
    """Drop all answers: once isl has stopped working, its last answers cannot be trusted."""
    answers = _REMEMBERED.get()
    if answers is not None:
        answers.known.clear()
