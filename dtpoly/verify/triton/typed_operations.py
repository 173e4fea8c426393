"""Ask the table of Triton's operations about kinds, which may stand for several concrete types.

A kind is symbolic where a caller decides the type of an input. It is accepted for a result only if
it is right whatever types the callers decide: for each way to decide them, the table's entry gives
the type that the kind then stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Item, TileValue, TupleValue, Unread, Value, is_truth
from dtpoly.verify.algebra.numerals import LARGEST, LEAST_NORMAL, finite, nearest
from dtpoly.verify.algebra.term_building import literal, rounded
from dtpoly.verify.algebra.terms import AppliedOperation, Literal, Place, Term
from dtpoly.verify.algebra.type_kinds import HALF
from dtpoly.verify.algebra.whole import Whole
from dtpoly.verify.semantics.entries import entry
from dtpoly.verify.semantics.record import is_checked
from dtpoly.verify.semantics.types import CONSTANTS, TYPES, tensor

# The kind of a size with lanes: such a size is a tensor, and never a constant.
LANES = "a size with lanes"
# Each tensor or number of one of these kinds may have any of the types listed for it.
ANY_OF = {
    kinds.SIZE: ("tl.int32", "tl.int64", "int"),  # Triton makes a constant of a size of 1
    kinds.OFFSET: ("tl.int32", "tl.int64"),
    LANES: ("tl.int32", "tl.int64"),
    kinds.TRUTH: (kinds.BOOL, "bool"),
    kinds.NUMBER: ("tl.float32", "float"),
}
# The kind of a value with lanes, in place of one that may also be a constant without lanes.
WITH_LANES = {kinds.SIZE: LANES, kinds.TRUTH: kinds.BOOL, kinds.NUMBER: "tl.float32"}
# With more inputs than this whose types callers decide, the ways to decide are too many to try.
MOST_INPUTS = 4
_ORDER = kinds.FLOATS
WIDE_CONSTANTS = ("long", "double")
# The type of a constant that has different types in versions of Triton, or fits into none.
UNKNOWN = "a constant of no known type"
Decided = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OperationKinds:
    """The kind of a result, and the kind to which the operands are brought first."""

    kind: str
    within: str


def meaning(name: str, operands: Sequence[str], line: int) -> OperationKinds:
    """Return what the table says of an operation on operands of these kinds. Raises Unread.

    An operand may also be a constant of Python, which is given by its type.
    """
    groups = _groups(operands)
    first = {one: group[0] for group in groups for one in group}
    found = _meaning(
        name, tuple(_with_members(kind, lambda one: [first[one]]) for kind in operands)
    )
    if isinstance(found, str):
        raise Unread(line, found)
    every = {group[0]: group for group in groups}
    return OperationKinds(
        *(_with_members(one, every.__getitem__) for one in (found.kind, found.within))
    )


def _groups(operands: Sequence[str]) -> list[list[str]]:
    """Group inputs that each kind depends on together, or not at all: a group is like one input.

    For a kind only asks for the narrowest type that holds the types of all of its inputs, and for a
    group that may be any type.
    """
    found: dict[tuple[bool, ...], list[str]] = {}
    members = [kinds.members(kind) for kind in operands]
    for one in sorted(frozenset[str]().union(*members) - set(TYPES)):
        found.setdefault(tuple(one in some for some in members), []).append(one)
    return list(found.values())


def _with_members(kind: str, others: Callable[[str], Sequence[str]]) -> str:
    """Return a kind with other inputs in place of those that decide about it."""
    parts = kinds.members(kind)
    if not parts:
        return kind
    named = {name for one in parts for name in ([one] if one in TYPES else others(one))}
    return " ".join((kind.split(" ")[0], *sorted(named)))


def of_tile(tile: TileValue) -> str:
    """Return the kind of a value, or the type of a constant of Python."""
    return of_operand(tile, tile.item)


def of_operand(tile: TileValue, item: Item) -> str:
    """Return the kind of an operand, whose value may have been given lanes by another operand."""
    if tile.axes and tile.kind in WITH_LANES:
        return WITH_LANES[tile.kind]
    return of_item(tile.kind, item)


def of_item(kind: str, item: Item) -> str:
    """Return the kind, or the type of a constant: a truth, a whole number or a float."""
    if kind != kinds.WEAK:
        return kind
    if is_truth(item) or (isinstance(item, Literal) and item.text in ("True", "False")):
        return "bool"
    match item:
        case Whole():
            constant = item.constant
            if constant is None or -HALF <= constant < HALF:
                return "int"
            return "long" if -(HALF**2) * 2 <= constant < 2 * HALF**2 and constant else UNKNOWN
        case Literal(text=text) if (value := finite(text)) is not None and value:
            return "float" if LEAST_NORMAL <= abs(value) <= LARGEST["tl.float32"] else "double"
        case _:
            return "float"


def _divided(item: Item) -> Item:
    """Return a quotient of two written numbers as Python computes it, while Triton compiles.

    What has another meaning, or none, stays as it is.
    """
    match item:
        case AppliedOperation(operation="div", operands=(first, second)):
            above, by = _written(first), _written(second)
            if above is None or by is None or not by:
                return item
            found = literal(above / by)
            return item if finite(found.text) is None or not above / by else found
        case _:
            return item


def _written(term: Term) -> float | int | None:
    """Return a number that Python holds exactly as it is written; None for all else."""
    match term:
        case Place(value=value) if value.constant is not None:
            return value.constant
        case Literal(text=text):
            found = finite(text)
            is_exact = found is not None and Fraction(float(found)) == found
            return float(found) if found is not None and is_exact else None
        case _:
            return None


def refuse_rounded(items: Sequence[Item], line: int) -> None:
    """Refuse a written whole number that Python rounds, because a float is beside it."""
    known = [one.constant for one in items if isinstance(one, Whole)]
    if len(known) < len(items):
        for one in known:
            if one is not None and nearest(Fraction(one), "tl.float64") != one:
                raise Unread(line, f"{one} beside a float, for which Python rounds it")


def kept(value: Value) -> Value:
    """Return what a name holds after it is set to a value.

    Triton makes a tensor of a constant there, but its interpreter does not. So the result may be
    one or the other, and it is read only where that makes no difference.
    """
    match value:
        case TupleValue(parts=parts):
            return TupleValue(tuple(map(kept, parts)))
        case TileValue(kind=kinds.WEAK):
            return _tensor_of(value)
        case _:
            return value


def _tensor_of(tile: TileValue) -> TileValue:
    tile = replace(tile, item=_divided(tile.item))
    match of_tile(tile):
        case "bool":
            return replace(tile, kind=kinds.TRUTH)
        case "int":
            return replace(tile, kind=kinds.SIZE)
        case "float" if isinstance(tile.item, Literal):
            found = rounded("tl.float32", tile.item)
            return replace(
                tile, kind=kinds.NUMBER if found == tile.item else "tl.float32", item=found
            )
        case _:
            return replace(tile, kind=kinds.LOST)


@cache
def _meaning(name: str, operands: tuple[str, ...]) -> OperationKinds | str:
    words = " and ".join(one or "a constant" for one in operands)
    inputs = sorted({one for kind in operands for one in kinds.members(kind)} - set(TYPES))
    if len(inputs) > MOST_INPUTS:
        return f"'{name}' of values whose types {len(inputs)} inputs decide"
    results: list[tuple[Decided, frozenset[str], frozenset[str]]] = []
    for decided in _ways(inputs):
        if any(_is_refused(kind, decided) for kind in operands):
            continue
        given = [_stands_for(kind, decided) for kind in operands]
        if name == "cast":  # `tl.cast` makes a tensor of a constant first
            given[0] = tuple(dict.fromkeys(map(tensor, given[0])))
        if not all(given):
            return f"'{name}' of {words}, of which a type is not known"
        made: set[str] = set()
        withins: set[str] = set()
        for types in product(*given):
            if not is_checked(name, types):
                return f"'{name}' of {' and '.join(types)}, which was not checked against Triton"
            row = entry(name, types)
            if row.is_refused:
                continue
            # From two constants Python computes one whose value decides whether its
            # type is wide.
            ways = row.result.split("|")
            found = {one for one in ways if not (one in WIDE_CONSTANTS and len(ways) > 1)}
            made |= found
            withins |= {row.within} if row.within else found
        if made:
            results.append((decided, frozenset(made), frozenset(withins)))
        elif name == "load other":
            refused = " and ".join(one for some in given for one in some)
            return f"'load other' of {refused}, which Triton refuses: write a float, as 0.0"
    if not results:
        return f"'{name}' of {words}, which Triton refuses"
    # A number divided by a size is an f32, or where the size is 1, a float of Python.
    last = (kinds.NUMBER,) if name == "div" else ()
    kind = _kind_of([(decided, made) for decided, made, _ in results], operands, last)
    within = _kind_of([(decided, withins) for decided, _, withins in results], operands, last)
    return OperationKinds(kind, within)


def _ways(inputs: Sequence[str]) -> Iterator[Decided]:
    """Yield all choices of types that callers can make for inputs, and for floats in general."""
    for types in product(_ORDER, repeat=len(inputs)):
        eights = [one for one in types if one in kinds.EIGHTS]
        reals = ("tl.float64",) if "tl.float64" in types else ("tl.float32", "tl.float64")
        for real in reals:
            if not (eights and real == "tl.float64"):
                yield {**dict(zip(inputs, types, strict=True)), kinds.REAL: real}


def _stands_for(kind: str, decided: Decided) -> tuple[str, ...]:
    """Return the types, of tensors or constants, that a kind stands for; none if it is unknown."""
    if kind in ANY_OF:
        return ANY_OF[kind]
    if kind in TYPES:
        return (kind,)
    if kind in decided:
        return (decided[kind],)
    parts = kinds.members(kind)
    if not parts or _is_refused(kind, decided):
        return ()
    found = _promoted([decided.get(one, one) for one in sorted(parts)])
    if found is None:
        return ()
    if not kind.startswith("operand "):
        return (found,)
    if decided[kinds.REAL] == "tl.float64":
        return ("tl.float64",)
    return ("tl.float16",) if found in kinds.EIGHTS else (found,)


def _is_refused(kind: str, decided: Decided) -> bool:
    """Return whether no type holds the values of all inputs, as their types are decided here.

    A type of 8 bits can only be promoted to itself. A call for which a plan would have to promote
    it to another type is refused by the runtime.
    """
    types = {decided.get(one, one) for one in kinds.members(kind)}
    return len(types) > 1 and not types.isdisjoint(kinds.EIGHTS)


def _promoted(types: Sequence[str]) -> str | None:
    """Return the narrowest type of floats that holds all of these, as torch promotes them.

    The result is None if there is none, as beside a type that is no float.
    """
    holding = (
        one for one in _ORDER if all(kinds.holds(one, other) or one == other for other in types)
    )
    return next(holding, None)


def _kind_of(
    found: Sequence[tuple[Decided, frozenset[str]]],
    operands: Sequence[str],
    last: tuple[str, ...] = (),
) -> str:
    """Return a kind that stands for these types, however callers decide; LOST if none does.

    The kinds in `last` are tried after all others.
    """
    every = frozenset[str]().union(*(types for _, types in found))
    operands = [kinds.SIZE if kind == LANES else kind for kind in operands]
    if every <= set(CONSTANTS):
        return kinds.WEAK
    if len(every) == 1:
        return next(iter(every))
    parts = (kinds.members(kind) or frozenset((kind,)) for kind in operands)
    together = kinds.stored(frozenset[str]().union(*parts))
    # An offset together with a size has 64 bits if one of them has. If it has 32, both have.
    first = (kinds.OFFSET,) if kinds.OFFSET in operands else ()
    # The kind in which real numbers are computed comes before a type that is the same for all
    # callers: values would have to be rounded to that type, which the algorithm may not allow.
    ordered = (
        *first,
        kinds.REAL,
        *operands,
        kinds.OFFSET,
        kinds.SIZE,
        kinds.TRUTH,
        together,
        *last,
    )
    for kind in ordered:
        if all(_is_right(kind, decided, types) for decided, types in found):
            return str(kind)
    return kinds.LOST


def _is_right(kind: str, decided: Decided, types: frozenset[str]) -> bool:
    if kind in ANY_OF:
        return types <= set(ANY_OF[kind])
    if any(one not in decided and one not in TYPES for one in kinds.members(kind)):
        return False
    return frozenset(_stands_for(kind, decided)) == types
