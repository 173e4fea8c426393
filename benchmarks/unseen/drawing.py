"""Draws the structure of a case: choices, sizes and orders, all from one seed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from random import Random
from typing import TypeVar

T = TypeVar("T")

FLOATS = ("f32", "f32", "bf16", "f16")  # half of all cases are in f32, unless a family says more
SINGLE = ("f32",)
TINY = (1, 2, 3, 5, 8, 11)  # sizes of what the interpreter runs, which no block divides


@dataclass(frozen=True, slots=True)
class Draw:
    """A source of choices. The same seed makes the same ones."""

    random: Random

    def one(self, *options: T) -> T:
        """Return one of the options."""
        return self.random.choice(options)

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """Return so many different options, in any order."""
        return self.random.sample(list(options), count)

    def chance(self, share: float = 0.5) -> bool:
        """Return true so often."""
        return self.random.random() < share

    def size(self, low: int, high: int, multiple: int = 1) -> int:
        """Return a size: as often a large power of two or its multiple as any other number."""
        wanted = low * exp(log(high / low) * self.random.random())
        grain = self.one(1, 1, 8, 64, 256)
        found = round(wanted / grain) * grain if wanted > 2 * grain else round(wanted)
        if self.chance(0.3):
            found = 1 << max(round(wanted) - 1, 1).bit_length()
        return max(found // multiple, 1) * multiple

    def sizes(self, labels: Sequence[str], elements: int) -> dict[str, int]:
        """Share about so many elements among labels, none of which has only a few indices."""
        found: dict[str, int] = {}
        left = elements
        for at, label in enumerate(labels):
            rest = len(labels) - at - 1
            most = max(left // 16**rest, 8)
            found[label] = self.size(8, most) if rest else max(left, 1)
            left //= found[label]
        found[labels[-1]] = self.size(max(found[labels[-1]] // 2, 1), max(found[labels[-1]], 2))
        mixed = self.some(list(labels), len(labels))
        return {label: found[other] for label, other in zip(labels, mixed, strict=True)}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Holds an algorithm without a schedule, as a family drew it, and all that its case needs."""

    text: str
    sizes: Mapping[str, int]
    # What tiny sizes are multiples of, where labels are divided.
    multiples: Mapping[str, int] = field(default_factory=dict[str, int])
    # How inputs are filled, where not with normal numbers: see `fillings`.
    fillings: Mapping[str, str] = field(default_factory=dict[str, str])
    # A call of torch's libraries that computes the same from the inputs by their names, if any.
    library: str = ""
    # By how much an axis of an input is shorter than what reads through `pad` would reach.
    shorter: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    precision: str = ""
    dtypes: tuple[str, ...] = FLOATS
    # Results are compared with the library's only where it computes the same numbers.
    is_alike: bool = True


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of operator, and whether it is only ever reported: nobody works on what it shows."""

    name: str
    draw: Callable[[Draw], Drawn]
    is_held_out: bool = False


UNARY = (
    "exp({0} * 0.25)",
    "sigmoid({0})",
    "tanh({0})",
    "sqrt(abs({0}) + 0.5)",
    "{0} * sigmoid({0})",
    "maximum({0}, 0)",
    "0.5 * {0} * (1 + erf({0} * 0.7071))",
    "cos({0})",
    "log(1 + abs({0}))",
    "clamp({0}, -1, 1)",
    "where({0} > 0, {0}, 0.1 * {0})",
)
BINARY = ("{0} + {1}", "{0} * {1}", "{0} - 0.5 * {1}", "maximum({0}, {1})", "{0} / (1 + abs({1}))")


def unary(draw: Draw, operand: str, share: float = 0.5) -> str:
    """Return a function of an operand, or the operand itself."""
    return draw.one(*UNARY).format(f"({operand})") if draw.chance(share) else operand


def binary(draw: Draw, left: str, right: str) -> str:
    """Return a function of two operands."""
    return f"({draw.one(*BINARY).format(left, right)})"


def at(*labels: str) -> str:
    """Return labels as indices."""
    return f"[{', '.join(labels)}]"
