"""Keeps what was found of the latest algorithms, since several stages ask the same of one.

An algorithm is the labels, the inputs and the Funcs of a Program. These are known by their
identity, since to compare two algorithms takes longer than most answers: a Program that differs
from another one only in its directives shares all three with it.
"""

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from dtpoly.algorithm.program import Program

T = TypeVar("T")

LATEST = 8  # algorithms, of which a file has one, and some more on the way to its schedule


def once_for_each_algorithm(find: Callable[[Program], T]) -> Callable[[Program], T]:
    """Decorate a function whose answer depends on the algorithm alone, and that nobody changes."""
    latest: deque[tuple[tuple[object, ...], T]] = deque(maxlen=LATEST)

    @wraps(find)
    def found(program: Program) -> T:
        mine = program.labels, program.inputs, program.funcs
        for parts, answer in tuple(latest):
            if all(one is other for one, other in zip(parts, mine, strict=True)):
                return answer
        answer = find(program)
        latest.append((mine, answer))
        return answer

    return found
