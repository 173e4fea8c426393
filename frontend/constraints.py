"""Turns the `where` constraints of a file into conditions on the numbers of its directives.

For example, `where f.tensorize.y <= f.block.y` compares the numbers of two directives.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial

from dtpoly.algorithm.choices import (
    Alternatives,
    Choice,
    Condition,
    Constraint,
    ConstraintOperation,
    Item,
    Mention,
    OpenArgument,
    OpenDirective,
    WholeNumber,
)
from dtpoly.frozen import dataclass

from . import choice_messages
from .name_lookup import Names
from .syntax import (
    BinarySyntax,
    CallSyntax,
    DirectiveCall,
    File,
    Indexed,
    NameSyntax,
    Node,
    NumberSyntax,
    Unary,
    directives_in,
)
from .syntax import ConstraintSyntax as WrittenConstraint

# Operators of values that constraints do not have.
BITS = ("//", "<<", ">>", "&", "|", "^", "~")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
ARITHMETIC = ("+", "-", "*", "%")
MAX_DIGITS = 19

# A path names a Func, a directive, and the label of its number: a label, `func.label`, or nothing.
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """The paths of the numbers and of the choices of names that the directives of a file have."""

    is_whole: bool  # if false, some directives could not be read
    numbers: dict[Path, None] = field(default_factory=dict[Path, None])
    words: dict[Path, None] = field(default_factory=dict[Path, None])


def checked_constraints(file: File, items: Sequence[Item], names: Names) -> Iterator[Constraint]:
    """Yield every constraint of a file that is sound, and report the others."""
    written = [one for one in file.statements if isinstance(one, WrittenConstraint)]
    if not written:
        return
    known = _Known(not file.unread and _count(items) == sum(1 for _ in _calls(file)))
    for path, argument in number_places(items):
        part = number_of(argument)
        is_word = isinstance(part, str) or (
            isinstance(part, Choice) and any(isinstance(one, str) for one in part.options)
        )
        (known.words if is_word else known.numbers)[path] = None
    for one in written:
        names.statement = one.span
        condition = _truth(one.condition, known, names)
        if condition is not None:
            yield Constraint(condition, one.span)


def _calls(file: File) -> Iterator[DirectiveCall]:
    return (call for statement in file.statements for call in directives_in(statement))


def _count(items: Sequence[Item]) -> int:
    """Return how many directives the items have in all, those in alternatives too."""
    return sum(
        sum(map(_count, item.options)) if isinstance(item, Alternatives) else 1 for item in items
    )


def number_places(items: Sequence[Item]) -> Iterator[tuple[Path, OpenArgument]]:
    """Yield each argument that has a number or a choice, with its path in a constraint."""
    for item in items:
        match item:
            case Alternatives(options=options):
                for option in options:
                    yield from number_places(option)
            case OpenDirective(func=func, name=name, arguments=arguments):
                for argument in arguments:
                    if argument.value is None and isinstance(argument.target, str):
                        continue
                    target = argument.target if isinstance(argument.target, str) else ""
                    yield (func, name, *target.split(".")) if target else (func, name), argument


def number_of(argument: OpenArgument) -> int | str | Choice:
    """Return the part of such an argument that is the number."""
    if argument.factor is not None:
        return argument.factor
    return argument.target if argument.value is None else argument.value


def _truth(node: Node, known: _Known, names: Names) -> Condition | None:
    """Lower comparisons that `and` and `or` join to a condition; report anything else."""
    match node:
        case BinarySyntax(left=left, operator=operator, right=right) if operator.text in (
            "and",
            "or",
        ):
            return _both(node, partial(_truth, known=known, names=names), left, right)
        case BinarySyntax(left=left, operator=operator, right=right) if (
            operator.text in COMPARISONS
        ):
            return _both(node, partial(_number, known=known, names=names), left, right)
        case Unary(operator=operator) if operator.text == "not":
            hint = "compare the other way round: not a < b is a >= b"
            names.tell(choice_messages.not_a_condition(node, "'not' is not taken here", hint))
        case _:
            hint = "compare it, as in: where tensorize.y <= block.y;"
            names.tell(choice_messages.not_a_condition(node, "not a comparison", hint))
    return None


def _both(
    node: BinarySyntax, lower: Callable[[Node], Condition | None], left: Node, right: Node
) -> Condition | None:
    one, two = lower(left), lower(right)
    return None if one is None or two is None else ConstraintOperation(node.operator.text, one, two)


def _number(node: Node, known: _Known, names: Names) -> Condition | None:
    """Lower a sum, product or remainder of whole numbers; report anything else."""
    wrong, hint = "not a whole number", "constraints are made of whole numbers and + - * %"
    match node:
        case NameSyntax():
            return _mention(node, known, names)
        case NumberSyntax(text=text):
            if text.isdigit() and len(text) < MAX_DIGITS:
                return WholeNumber(int(text))
        case BinarySyntax(left=left, operator=operator, right=right) if operator.text in ARITHMETIC:
            return _both(node, partial(_number, known=known, names=names), left, right)
        case BinarySyntax(operator=operator) if operator.text == "/":
            wrong, hint = "'/' is not taken here", "multiply the other side"
        case Unary(operator=operator, operand=operand) if operator.text in ("+", "-"):
            value = _number(operand, known, names)
            return (
                None if value is None else ConstraintOperation(operator.text, WholeNumber(0), value)
            )
        case CallSyntax() | Indexed():
            wrong = "no function and no index is taken here"
        case BinarySyntax(operator=operator) | Unary(operator=operator) if operator.text in BITS:
            wrong = f"'{operator.text}' is not taken here"
        case BinarySyntax() | Unary():
            wrong = "a comparison, and not a number"
    names.tell(choice_messages.not_a_condition(node, wrong, hint))
    return None


def _mention(name: NameSyntax, known: _Known, names: Names) -> Mention | None:
    path = tuple("".join(name.text.split()).split("."))
    text = ".".join(path)
    if path in known.numbers:
        return Mention(path, name.span)
    found = [number for number in known.numbers if number[1:] == path]
    if len(found) == 1:
        return Mention(found[0], name.span)
    if found:
        funcs = [one[0] for one in found]
        names.tell(choice_messages.ambiguous_mention(name, text, funcs))
        return None
    if not known.is_whole:
        return None
    is_word = any(path in (word, word[1:]) for word in known.words)
    several = len({number[0] for number in known.numbers}) > 1
    listed = [".".join(number if several else number[1:]) for number in known.numbers]
    names.tell(choice_messages.unknown_mention(name, text, listed, is_word=is_word))
    return None
