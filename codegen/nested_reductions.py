"""Keeps Triton's compiler from moving a reduction behind the loop that combines its results.

    for k: total = sum of a loaded tile   -->  for k: total = sum of (the tile + 0)
           least = min(least, total)                  least = min(least, total)

Triton (3.6 to 3.9) moves the reduction of a tile that was just loaded behind the loop. It takes for
granted that the loop combines by the same operation as the reduction: in this example it would add
up minima. Where the operations are the same, Triton 3.6 and 3.7 give up if the result of the loop
is used twice. Triton does not move the reduction of a value that is computed. So the tile is
replaced by its sum with 0. Triton's compiler keeps that sum, since it turns -0 into 0.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.ir.kernel import (
    Accumulate,
    Collapse,
    Fill,
    ForLoop,
    If,
    Let,
    Load,
    Step,
)
from dtpoly.ir.parts import assigned_by
from dtpoly.ir.rewriting import rewritten
from dtpoly.ir.tile_values import Call, Converted, LiteralNumber, Masked, Value, Variable
from dtpoly.ir.tiled import flat

from .operation_spelling import is_float_element

# Operations that may leave a value as it is: beside a number such as 1, or if done twice.
FOLDED = ("mul", "div", "sub", "maximum", "minimum", "neg", "where")


def with_reductions_apart(body: tuple[Step, ...]) -> tuple[Step, ...]:
    """Give a kernel's body, in which no reduction is one that Triton would move."""
    names = frozenset(_moved(body, frozenset(), is_loop=False))
    return _computed(body, names) if names else body


def _moved(body: tuple[Step, ...], before: frozenset[str], *, is_loop: bool) -> Iterator[str]:
    """Yield the tiles whose reductions Triton would move behind a loop that combines them.

    `before` are the tiles of floats that hold what was loaded, where the body begins.
    """
    loaded, starts = set(before), set[str]()
    reduced: dict[str, str] = {}
    for step in flat(body):
        match step.instruction:
            case ForLoop(body=inner):
                yield from _moved(inner, frozenset(loaded), is_loop=True)
            case If(body=inner):
                yield from _moved(inner, frozenset(loaded), is_loop=False)
            case Collapse(name=name, source=source) if source in loaded and is_loop:
                reduced[name] = source
            case Let(name=name, value=Variable(name=other)) if other in reduced:
                reduced[name] = reduced[other]
            case Accumulate(name=name, value=Variable(name=other)) if (
                other in reduced and name not in starts
            ):
                yield reduced[other]
            case _:
                pass
        _follow(step, loaded, starts)


def _follow(step: Step, loaded: set[str], starts: set[str]) -> None:
    """Note which tiles hold what was loaded after a step, and which were started in its body."""
    match step.instruction:
        case Load(dtype=dtype, converted=converted):
            is_loaded = is_float_element(dtype if converted is None else converted)
        case Let(value=value):
            is_loaded = _is_loaded(value, loaded)
        case Fill(name=name):
            starts.add(name)
            is_loaded = False
        case Accumulate(name=name, value=value):
            # An accumulator that starts with the identity then holds just the first value.
            is_loaded = name in starts and _is_loaded(value, loaded)
        case _:
            is_loaded = False
    names = set(assigned_by(step.instruction))
    loaded.difference_update(names)
    loaded.update(names if is_loaded else ())


def _is_loaded(value: Value, loaded: set[str]) -> bool:
    """Return whether a value is what was loaded, perhaps in another type or in some lanes only.

    What a compiler may leave out counts as left out, such as a product with 1.
    """
    match value:
        case Variable(name=name):
            return name in loaded
        case Converted(value=inner) | Masked(value=inner):
            return _is_loaded(inner, loaded)
        case Call(operation=operation, operands=operands) if operation in FOLDED:
            rest = operands[1:] if operation == "where" else operands
            rest = tuple(one for one in rest if not isinstance(one, LiteralNumber))
            is_kept = len(rest) == 1 or operation == "where"
            return is_kept and bool(rest) and all(_is_loaded(one, loaded) for one in rest)
        case _:
            return False


def _computed(body: tuple[Step, ...], names: frozenset[str]) -> tuple[Step, ...]:
    """Return the body, in which tiles with these names are no longer what was loaded."""

    def change(step: Step) -> tuple[Step, ...]:
        match step.instruction:
            case Let(name=name, value=value) | Accumulate(name=name, value=value) if name in names:
                made = replace(step.instruction, value=_with_zero(value))
                return (replace(step, instruction=made),)
            case _:
                return (step,)

    return rewritten(body, change)


def _with_zero(value: Value) -> Value:
    """Return the value, computed as a sum with 0; what is masked out stays as it is."""
    match value:
        case Variable(axes=axes, dtype=dtype):
            return Call("add", (value, LiteralNumber(0.0)), axes, dtype)
        case Converted(value=inner) | Masked(value=inner):
            return replace(value, value=_with_zero(inner))
        case Call(operation=operation, operands=operands) if operation in FOLDED:
            kept = operands[:1] if operation == "where" else ()
            rest = operands[len(kept) :]
            return replace(value, operands=(*kept, *map(_with_zero, rest)))
        case _:
            return value
