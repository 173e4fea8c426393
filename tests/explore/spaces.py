"""Makes small random spaces of schedules, and finds their points by brute force."""

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

from dtpoly.algorithm.choices import (
    Alternatives,
    Choice,
    Condition,
    ConstraintOperation,
    Item,
    Mention,
    OpenDirective,
    WholeNumber,
)
from dtpoly.explore.space.space import Point, Space

HEAD = """\
Func f, g;
In A;
Var x, y;
RVar k;

g[x] = rsum(A[x, k], k);
f[x, y] = A[x, y] / reshape(g[x], x, 1);

"""
LABELS = ("x", "y")
Numbers = Mapping[tuple[str, ...], int]


def text(seed: int) -> str:
    """Return the text of a space, with directives, nested alternatives and constraints."""
    random = Random(seed)
    paths = ["f.split.x", "f.split.y", "g.num_warps"]
    lines = [f"{_item(random, 2, paths)};" for _ in range(random.randrange(1, 5))]
    lines += [f"where {_condition(random, 2, paths)};" for _ in range(random.randrange(3))]
    numbers = "f.split(x:xi/3, y:yi/2);\ng.num_warps(8);\n"
    return HEAD + numbers + "\n".join(lines) + "\n"


def _item(random: Random, depth: int, paths: list[str]) -> str:
    if depth and random.random() < 0.4:
        options = [
            ", ".join(_item(random, depth - 1, paths) for _ in range(random.randrange(3)))
            for _ in range(random.randrange(1, 4))
        ]
        return f"{{ {' | '.join(options)} }}"
    return _directive(random, paths)


def _directive(random: Random, paths: list[str]) -> str:
    func, label = random.choice("fg"), random.choice(LABELS)
    match random.randrange(5):
        case 0:
            paths.append(f"{func}.num_stages")
            return f"{func}.num_stages({_choice(random)})"
        case 1:
            paths.append(f"{func}.map.x")
            return f"{func}.map(x:xo/{_choice(random)}, {label})"
        case 2:
            return f"{func}.fuse_at(f, {random.choice(('x', '{x, y}'))})"
        case _:
            name = random.choice(("block", "tensorize"))
            paths.append(f"{func}.{name}.{label}")
            return f"{func}.{name}({label}:{_choice(random)})"


def _choice(random: Random) -> str:
    forms = ("{1, 2, 4}", "{2..5}", "{1..8 *2}", "{3..9 +3, 16}", "{7}", "5")
    return random.choice(forms)


def _condition(random: Random, depth: int, paths: list[str]) -> str:
    if depth and random.random() < 0.5:
        word = random.choice(("and", "or"))
        left = _condition(random, depth - 1, paths)
        return f"({left}) {word} {_condition(random, depth - 1, paths)}"
    symbol = random.choice(("<", "<=", ">", ">=", "==", "!="))
    return f"{_term(random, 2, paths)} {symbol} {_term(random, 2, paths)}"


def _term(random: Random, depth: int, paths: list[str]) -> str:
    if depth and random.random() < 0.5:
        symbol = random.choice("+-*%")
        return f"({_term(random, depth - 1, paths)} {symbol} {_term(random, depth - 1, paths)})"
    return str(random.randrange(10)) if random.random() < 0.2 else random.choice(paths)


class Twice(Exception):
    """A point has the same number twice, so it is left open which of the two a constraint means."""


def brute_force(space: Space) -> list[Point]:
    """Return every point of a space in order, by trying everything that can be written.

    Raises Twice.
    """
    sizes = [range(len(one.options)) for one in space.parameters]
    found: dict[Point, None] = {}
    for chosen in product(*sizes):
        left = iter(chosen)
        kept: list[int | None] = []
        numbers: dict[tuple[str, ...], int] = {}
        _take(space.items, left, kept, numbers, is_there=True)
        if all(_holds(one.condition, numbers) for one in space.constraints):
            found[Point(tuple(kept))] = None
    return list(found)


def _take(
    items: tuple[Item, ...],
    left: Iterator[int],
    kept: list[int | None],
    numbers: dict[tuple[str, ...], int],
    *,
    is_there: bool,
) -> None:
    """Return the choices of a point for every parameter, and the numbers that it then has."""
    for item in items:
        match item:
            case OpenDirective(func=func, name=name, arguments=arguments):
                for argument in arguments:
                    parts = (argument.factor, argument.value, argument.target)
                    number = next(part for part in parts if part is not None)
                    if isinstance(number, Choice):
                        at = next(left)
                        kept.append(at if is_there else None)
                        number = number.options[at]
                    if is_there and isinstance(number, int):
                        target = argument.target
                        path = (func, name, *([target] if isinstance(target, str) else []))
                        if path in numbers:
                            raise Twice
                        numbers[path] = number
            case Alternatives(options=options):
                taken = next(left)
                kept.append(taken if is_there else None)
                for at, option in enumerate(options):
                    here = is_there and at == taken
                    _take(option, left, kept, numbers, is_there=here)


def _holds(condition: Condition, numbers: Numbers) -> bool:
    assert isinstance(condition, ConstraintOperation)
    left, right = condition.left, condition.right
    if condition.operator == "and":
        return _holds(left, numbers) and _holds(right, numbers)
    if condition.operator == "or":
        return _holds(left, numbers) or _holds(right, numbers)
    one, two = _value(left, numbers), _value(right, numbers)
    if one is None or two is None:
        return True
    match condition.operator:
        case "<":
            return one < two
        case "<=":
            return one <= two
        case ">":
            return one > two
        case ">=":
            return one >= two
        case "==":
            return one == two
        case _:
            return one != two


def _value(condition: Condition, numbers: Numbers) -> int | None:
    match condition:
        case Mention(path=path):
            return numbers.get(path)
        case WholeNumber(value=value):
            return value
        case ConstraintOperation(operator=operator, left=left, right=right):
            one, two = _value(left, numbers), _value(right, numbers)
            if one is None or two is None:
                return None
            if operator == "%":
                return one % two if two else 0
            return one + two if operator == "+" else one - two if operator == "-" else one * two
