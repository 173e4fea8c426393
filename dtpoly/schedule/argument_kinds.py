"""The kinds of arguments that directives take.

A kind reads an argument as a typed value, or refuses it. It also states what must hold of a value
once the kernels are known. So a primitive that takes a Func, an input or (`labels`) a label need
not check that there is one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any, Protocol

from dtpoly.algorithm.program import Argument, Split
from dtpoly.diagnostics import Diagnostic, Edit, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.argument_values import Name, Value, as_argument
from dtpoly.schedule.kernels import View
from dtpoly.suggest import near

LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why an argument is refused.

    `label` says what stands there, and `must_be` what must stand there. `must_be` is empty if the
    form is wrong: then the kind says what must stand there. `part` is the part of the argument that
    is meant, such as `the size in`.
    """

    label: str
    code: str = "DT181"
    must_be: str = ""
    part: str = ""
    hint: str = ""
    edits: tuple[Edit, ...] = ()


class Kind(Protocol):
    """One kind of argument."""

    @property
    def form(self) -> str:
        """Return how such an argument is written, for the signature of a directive."""
        ...

    @property
    def what(self) -> str:
        """Return what such an argument is, with its article: `a Func`."""
        ...

    def read(self, argument: Argument) -> Value | Refusal:
        """Return the value of an argument."""
        ...

    def check(self, value: Any, func: str, view: View) -> Iterator[Diagnostic]:
        """Find what is wrong with a value in a directive on a Func."""
        ...


def describe(argument: Argument) -> str:
    """Describe the argument that stands there, for the label at the caret."""
    target = f"'{argument.target}'" if isinstance(argument.target, str) else "a number"
    match argument.value:
        case None:
            return f"is {target} alone"
        case int():
            return f"is {target} with a number"
        case str():
            return f"is {target} with a name"
        case Split():
            return f"is {target} with a name and a number"


@dataclass(frozen=True, slots=True)
class IntegerKind:
    """A whole number, in a range and perhaps a power of two."""

    what: str = field(default="a whole number", init=False)
    form: str = field(default="number", init=False)

    least: int = 1
    most: int = LARGEST
    power_of_two: bool = False

    def read(self, argument: Argument) -> int | Refusal:
        """`8`."""
        if not isinstance(argument.target, int) or argument.value is not None:
            return Refusal(describe(argument))
        return self.accept(argument.target)

    def accept(self, number: int, part: str = "", prefix: str = "") -> int | Refusal:
        """Return the number, if it is allowed; `prefix` is what stands before it."""
        if number > self.most:
            limit, hint = f"at most {self.most}", f"write {prefix}{self.most} or less"
            return Refusal(f"is {number}", "DT182", limit, part, hint)
        if number < self.least:
            limit, hint = f"at least {self.least}", f"write {prefix}{self.least} or more"
            return Refusal(f"is {number}", "DT182", limit, part, hint)
        if self.power_of_two and number & (number - 1):
            above = 1 << number.bit_length()
            nearest = (f"{prefix}{n}" for n in (above // 2, above) if n <= self.most)
            return Refusal(
                f"{number} is not a power of two",
                "DT183",
                "a power of two",
                part,
                f"the nearest are {' and '.join(nearest)}",
            )
        return number

    def check(self, value: int, func: str, view: View) -> Iterator[Diagnostic]:
        """Find nothing: a number is right or wrong by itself, whatever the kernels are."""
        yield from ()


@dataclass(frozen=True, slots=True)
class Word:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        """`tf32 or ieee`."""
        return listed(self.words)

    @property
    def what(self) -> str:
        """`tf32 or ieee`, or `the word recompute`."""
        return f"the word {self.words[0]}" if len(self.words) == 1 else listed(self.words)

    def read(self, argument: Argument) -> str | Refusal:
        """`tf32`."""
        if argument.value is not None or not isinstance(argument.target, str):
            return Refusal(describe(argument))
        if argument.target in self.words:
            return argument.target
        meant = near(argument.target, self.words)
        if meant is None:
            return Refusal("not one of the words")
        edits = (Edit(argument.span, meant),) if argument.span else ()
        return Refusal("not one of the words", hint=f"did you mean {meant}?", edits=edits)

    def check(self, value: str, func: str, view: View) -> Iterator[Diagnostic]:
        """Find nothing: a word is right or wrong by itself, whatever the kernels are."""
        yield from ()


@dataclass(frozen=True, slots=True)
class FuncName:
    """The name of a Func."""

    what: str = field(default="a Func", init=False)
    form: str = field(default="func", init=False)

    def read(self, argument: Argument) -> Name | Refusal:
        """`f`."""
        return read_name(argument)

    def check(self, value: Name, func: str, view: View) -> Iterator[Diagnostic]:
        """Check that there is such a Func."""
        if value.text not in view.funcs:
            yield _unknown(value, "a Func", [name for name in view.funcs if name != func])


@dataclass(frozen=True, slots=True)
class TensorName:
    """The name of a tensor input, or of a Func that another kernel leaves in memory."""

    what: str = field(default="a tensor input or a Func", init=False)
    form: str = field(default="input", init=False)

    def read(self, argument: Argument) -> Name | Refusal:
        """`A`."""
        return read_name(argument)

    def check(self, value: Name, func: str, view: View) -> Iterator[Diagnostic]:
        """Check that there is such an input, or such a Func."""
        known = [*(tensor.name for tensor in view.program.tensors), *view.funcs]
        if value.text not in known:
            yield _unknown(value, "a tensor input or a Func", known)


@dataclass(frozen=True, slots=True)
class OneOf:
    """An argument of one of several kinds that are told apart by their form."""

    kinds: tuple[Kind, ...]

    @property
    def form(self) -> str:
        """`label or label:new/number`."""
        return " or ".join(kind.form for kind in self.kinds)

    @property
    def what(self) -> str:
        """Return a list of what the kinds are: `a, b or c`."""
        return listed(kind.what for kind in self.kinds)

    def read(self, argument: Argument) -> Value | Refusal:
        """Let the kind read the argument that has its form."""
        taken = [kind.read(argument) for kind in self.kinds]
        for value in taken:
            if not (isinstance(value, Refusal) and value.code == "DT181"):
                return value
        return taken[0]

    def check(self, value: Value, func: str, view: View) -> Iterator[Diagnostic]:
        """Let the kind check the value that made it."""
        argument = as_argument(value)
        for kind in self.kinds:
            if not isinstance(kind.read(argument), Refusal):
                yield from kind.check(value, func, view)
                return


def listed(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def read_name(argument: Argument) -> Name | Refusal:
    """Return an argument that is a name alone."""
    if argument.value is not None or not isinstance(argument.target, str):
        return Refusal(describe(argument))
    if "." in argument.target:
        return Refusal("is a name with a '.'")
    return Name(argument.target, argument.span)


def _unknown(value: Name, what: str, known: list[str]) -> Diagnostic:
    meant = near(value.text, known)
    some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    there = f"there {'are' if len(known) > 1 else 'is'} {some or 'none'}"
    return Diagnostic(
        "DT184",
        Severity.ERROR,
        f"'{value.text}' is not {what}",
        value.span,
        f"not {what}",
        hint=f"did you mean {meant}?" if meant else there,
        edits=(Edit(value.span, meant),) if meant and value.span else (),
    )
