"""Turns the directives of a file from syntax into data, with the choices that they leave open."""

from collections.abc import Iterator, Sequence

from dtpoly.algorithm.choices import Alternatives, Choice, Item, OpenArgument, OpenDirective
from dtpoly.algorithm.program import Argument, Directive, Split

from . import choice_messages
from . import name_messages as messages
from .expression_meaning import MAX_INTEGER
from .name_lookup import Names
from .symbols import SymbolKind
from .syntax import AlternativesSyntax as WrittenAlternatives
from .syntax import ChoiceSyntax as WrittenChoice
from .syntax import DirectiveArgument, DirectiveCall, File, NameSyntax, NumberSyntax, RangeSyntax

MAX_OPTIONS = 1_000  # of one choice


def directives(file: File, names: Names) -> Iterator[Item]:
    """Yield every sound directive of a file, and its alternatives, in the order of the text."""
    for statement in file.statements:
        if isinstance(statement, DirectiveCall | WrittenAlternatives):
            names.statement = statement.span
            yield from _item(statement, names)


def closed(item: Item) -> Directive | None:
    """Return the directive that an item is, or None if the item leaves a choice open."""
    if isinstance(item, Alternatives) or any(one.choice for one in item.arguments):
        return None
    return Directive(item.func, item.name, tuple(map(_closed, item.arguments)), item.span)


def _closed(argument: OpenArgument) -> Argument:
    target, value, factor = argument.target, argument.value, argument.factor
    assert not isinstance(target, Choice)
    assert not isinstance(value, Choice)
    if isinstance(value, str) and isinstance(factor, int):
        return Argument(target, Split(value, factor), argument.span)
    return Argument(target, value, argument.span)


def _item(written: DirectiveCall | WrittenAlternatives, names: Names) -> Iterator[Item]:
    if isinstance(written, WrittenAlternatives):
        options = (tuple(i for one in o for i in _item(one, names)) for o in written.options)
        yield Alternatives(tuple(options), written.span)
        return
    symbol = names.find(written.func, SymbolKind.FUNC)
    arguments = [_argument(argument, names) for argument in written.arguments]
    good = tuple(argument for argument in arguments if argument is not None)
    if symbol is not None and symbol.kind is not SymbolKind.FUNC:
        names.tell(messages.not_schedulable(written, symbol))
    elif symbol is not None and len(good) == len(arguments):
        yield OpenDirective(symbol.name, written.name.text, good, written.span)


def _argument(argument: DirectiveArgument, names: Names) -> OpenArgument | None:
    target = _part(argument.target, names)
    value = None if argument.value is None else _part(argument.value, names)
    factor = None if argument.factor is None else _part(argument.factor, names)
    if isinstance(argument.target, WrittenChoice) and argument.value is not None:
        names.tell(choice_messages.choice_of_labels(argument.target))
        return None
    if target is None or (argument.value and value is None):
        return None
    if argument.factor is None:
        return OpenArgument(target, value, None, argument.span)
    if not isinstance(factor, int | Choice) or not isinstance(value, str):
        return None
    if isinstance(factor, Choice) and not all(isinstance(one, int) for one in factor.options):
        names.tell(choice_messages.not_a_divisor(argument.factor))
        return None
    return OpenArgument(target, value, factor, argument.span)


def _part(
    node: NameSyntax | NumberSyntax | WrittenChoice, names: Names
) -> str | int | Choice | None:
    return _choice(node, names) if isinstance(node, WrittenChoice) else _value(node, names)


def _value(node: NameSyntax | NumberSyntax, names: Names) -> str | int | None:
    if isinstance(node, NameSyntax):
        return "".join(node.text.split())
    digits = node.text.lstrip("+-")
    if not digits.isdigit():
        names.tell(messages.fraction_in_directive(node))
        return None
    if len(digits) > 19 or int(digits) > MAX_INTEGER:
        names.tell(messages.integer_too_large(node, 64))
        return None
    return int(node.text)


def _choice(choice: WrittenChoice, names: Names) -> Choice | None:
    options: dict[int | str, NameSyntax | NumberSyntax | RangeSyntax] = {}
    for written in choice.options:
        values = _options(written, names)
        if values is None:
            return None
        if len(options) + len(values) > MAX_OPTIONS:
            names.tell(choice_messages.too_many_options(choice, MAX_OPTIONS))
            return None
        for value in values:
            if value in options:
                names.tell(choice_messages.option_twice(written, value, options[value]))
                return None
            options[value] = written
    return Choice(tuple(options), choice.span)


def _options(
    written: NameSyntax | NumberSyntax | RangeSyntax, names: Names
) -> Sequence[int | str] | None:
    """Return the numbers or the name that an option stands for; report a range that is wrong."""
    if not isinstance(written, RangeSyntax):
        value = _value(written, names)
        return None if value is None else (value,)
    first, last = _value(written.first, names), _value(written.last, names)
    step = 1 if written.step is None else _value(written.step, names)
    if not (isinstance(first, int) and isinstance(last, int) and isinstance(step, int)):
        return None
    is_product = written.operator is not None and written.operator.text == "*"
    if first > last:
        names.tell(choice_messages.empty_range(written))
    elif is_product and (first < 1 or step < 2):
        names.tell(choice_messages.never_grows(written, "1 or more", "2 or more"))
    elif step < 1:
        names.tell(choice_messages.never_grows(written, "any number", "1 or more"))
    else:
        return _powers(first, last, step) if is_product else range(first, last + 1, step)
    return None


def _powers(first: int, last: int, step: int) -> list[int]:
    values = [first]
    while values[-1] * step <= last:
        values.append(values[-1] * step)
    return values
