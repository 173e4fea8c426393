"""Expressions of written numbers in types of whole numbers, with the numbers that they are.

Python computes each of them exactly, and brings it to its type after each step. `forgotten` are the
numbers that come of forgetting this in one of the steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

# For each type, how many bits it has, and whether it has a sign.
TYPES = {
    "tl.int8": (8, True),
    "tl.uint8": (8, False),
    "tl.int16": (16, True),
    "tl.uint16": (16, False),
    "tl.int32": (32, True),
    "tl.uint32": (32, False),
}
NUMBERS = (0, 1, 2, 3, 4, 7, 100, 127, 128, 200, 255)
BINARY: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
}


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A text of Triton, its type, the number that it is, and numbers that it is not."""

    text: str
    kind: str
    value: int
    forgotten: frozenset[int] = frozenset()


def wrapped(value: int, kind: str) -> int:
    """Return the number of a type that is congruent to a number."""
    bits, is_signed = TYPES[kind]
    found = value % (1 << bits)
    return found - (1 << bits) if is_signed and found >> (bits - 1) else found


def _made(text: str, kind: str, value: int, others: frozenset[int] = frozenset()) -> WrittenNumber:
    right = wrapped(value, kind)
    forgotten = {wrapped(one, kind) for one in others} | {value}
    return WrittenNumber(text, kind, right, frozenset(forgotten - {right}))


def number(random: Random, depth: int) -> WrittenNumber:
    """Return an expression of at most so many steps."""
    if not depth:
        kind = random.choice(list(TYPES))
        value = wrapped(random.choice(NUMBERS), kind)
        return WrittenNumber(f"tl.full((), {value}, {kind})", kind, value)
    one = number(random, depth - 1)
    match random.choice(("neg", "cast", "cast", *BINARY)):
        case "neg":
            others = frozenset(-other for other in one.forgotten)
            return _made(f"(-{one.text})", one.kind, -one.value, others)
        case "cast":
            kind = random.choice(list(TYPES))
            return _made(f"{one.text}.to({kind})", kind, one.value, one.forgotten)
        case word:
            other, how = random.choice(NUMBERS[:7]), BINARY[word]
            beside = f"tl.full((), {other}, {one.kind})"
            others = frozenset(how(each, other) for each in one.forgotten)
            return _made(f"({one.text} {word} {beside})", one.kind, how(one.value, other), others)
