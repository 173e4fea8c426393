"""Prints the open parts of a schedule as .dt text, which parses back to the same data."""

from typing import assert_never

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
    Openings,
    WholeNumber,
)
from dtpoly.algorithm.operations import INFIX


def show_openings(openings: Openings) -> str:
    """Return all directives, alternatives and constraints, one in a line."""
    lines = (*map(show_item, openings.items), *map(show_constraint, openings.constraints))
    return "".join(f"{line}\n" for line in lines)


def show_item(item: Item) -> str:
    """Return the text of an item, such as `f.block(x:{4, 8});` or `{ f.map(x, y) | };`."""
    return f"{_item(item)};"


def _item(item: Item) -> str:
    match item:
        case OpenDirective(func=func, name=name, arguments=arguments):
            return f"{func}.{name}({', '.join(map(show_argument, arguments))})"
        case Alternatives(options=options):
            return f"{{ {' | '.join(map(show_option, options))} }}".replace("  ", " ")
        case _:
            assert_never(item)


def show_option(option: tuple[Item, ...]) -> str:
    """Return the text of an option, such as `f.map(x, y), f.num_warps(4)`, or "" if it is empty."""
    return ", ".join(map(_item, option))


def show_argument(argument: OpenArgument) -> str:
    """Return the text of an argument, such as `x`, `x:{4, 8}` or `y:yi/{4, 8}`."""
    text = _part(argument.target)
    if argument.value is not None:
        text += f":{_part(argument.value)}"
    return text if argument.factor is None else f"{text}/{_part(argument.factor)}"


def _part(part: int | str | Choice) -> str:
    if isinstance(part, Choice):
        return f"{{{', '.join(map(str, part.options))}}}"
    return str(part)


def show_constraint(constraint: Constraint) -> str:
    """Return the text of a constraint, such as `where f.tensorize.y <= f.block.y;`."""
    return f"where {_condition(constraint.condition, 0)};"


def _condition(condition: Condition, context: int) -> str:
    match condition:
        case Mention(path=path):
            return ".".join(path)
        case WholeNumber(value=value):
            return str(value)
        case ConstraintOperation(operator=operator, left=left, right=right):
            level = INFIX[operator].precedence
            shown = f"{_condition(left, level)} {operator} {_condition(right, level + 1)}"
            return f"({shown})" if level < context else shown
        case _:
            assert_never(condition)
