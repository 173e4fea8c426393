"""Finds the dependences of a Model: pairs of instances that touch an element that one writes.

Statements are in defining order, and every instance of one comes before those of the next. So the
dependences of two accesses of an array are a composition of relations. `flow` finds the same ones
by isl's own, slower analysis, for a test.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache

from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Role, Statement
from dtpoly.poly.scan_steps import steps_after
from dtpoly.poly.spaces import computing


class DependenceKind(StrEnum):
    """The kinds of dependences, by which of the two instances writes."""

    FLOW = "flow"  # written, then read
    ANTI = "anti"  # read, then overwritten
    OUTPUT = "output"  # written twice
    REDUCTION = "reduction"  # two steps of one associative reduction: in any order
    SCAN = "scan"  # two steps of one scan, which come in the order of its label
    IN_PLACE = "in place"  # read as the caller left it, then overwritten by a result in place


@dataclass(frozen=True, slots=True)
class Dependence:
    """A relation from source instances to target instances that must run after them."""

    kind: DependenceKind
    array: str
    source: str
    target: str
    relation: isl.Map

    def __str__(self) -> str:
        """Describe the dependence in words."""
        match self.kind:
            case DependenceKind.FLOW:
                return f"{self.target} reads what {self.source} wrote to {self.array}"
            case DependenceKind.ANTI | DependenceKind.IN_PLACE:
                return f"{self.target} overwrites what {self.source} read from {self.array}"
            case DependenceKind.OUTPUT:
                return f"{self.target} overwrites what {self.source} wrote to {self.array}"
            case DependenceKind.REDUCTION:
                return f"{self.target} adds to {self.array}, in any order"
            case DependenceKind.SCAN:
                return f"{self.target} goes on from {self.array} as it left it, in order"


@dataclass(frozen=True, slots=True, eq=False)
class _TouchedElements:
    """The elements of one array that a statement touches by one access, as a read or a write."""

    position: int
    statement: Statement
    relation: isl.Map  # on the domain of the statement


@dataclass(frozen=True, slots=True)
class _Touch:
    place: _TouchedElements
    is_write: bool


def dependences(model: Model) -> tuple[Dependence, ...]:
    """Return all dependences; those between the steps of one reduction have a kind of their own."""
    with computing("dependences"):
        return once((*_pairs(model), *_replaced(model), *_in_turn(model)))


def _pairs(model: Model) -> Iterable[Dependence]:
    for array, touches in _touches(model).items():
        # A statement that adds to an element reads and writes it by one access, so pairs are
        # computed once.
        met = cache(_met)
        for before in touches:
            for after in touches:
                one, two = before.place, after.place
                if two.position < one.position or not (before.is_write or after.is_write):
                    continue
                if one.statement is two.statement and one.statement.scan is not None:
                    continue  # its steps come in an order of their own, see `_in_turn`
                relation = met(one, two)
                if relation is not None:
                    source, target = one.statement, two.statement
                    kind = _kind(source, target, before.is_write, after.is_write)
                    yield Dependence(kind, array, source.name, target.name, relation)


def _replaced(model: Model) -> Iterable[Dependence]:
    """Yield the dependences of what replaces elements of inputs on all reads of these elements.

    An input has its old values in every definition, so each read comes first, wherever it stands.
    An instance that replaces what it reads itself keeps this order by itself.
    """
    if not model.into:
        return
    writers: dict[str, list[Statement]] = {}
    for statement in model.statements:
        writers.setdefault(statement.writes.array, []).append(statement)
    for reader in model.statements:
        for read in reader.old:
            taken = read.relation.intersect_domain(reader.domain)
            for writer in writers.get(model.into[read.array], ()):
                left = writer.writes.relation.intersect_domain(writer.domain)
                left = model.memory(writer.writes.array, left)
                # One memory has two names.
                left = left.set_tuple_id(isl.dim_type.out, taken.get_tuple_id(isl.dim_type.out))
                relation = taken.apply_range(left.reverse())
                if reader is writer:
                    relation = relation - isl.Map.identity(relation.get_space())
                if not relation.is_empty():
                    kind, array = DependenceKind.IN_PLACE, read.array
                    yield Dependence(kind, array, reader.name, writer.name, relation)


def _in_turn(model: Model) -> Iterable[Dependence]:
    """Yield the dependences of the steps of each scan on all that come before them."""
    for statement in model.statements:
        if statement.scan is None:
            continue
        relation = steps_after(statement, statement.scan)
        name, array = statement.name, statement.writes.array
        yield Dependence(DependenceKind.SCAN, array, name, name, relation)


def _met(before: _TouchedElements, after: _TouchedElements) -> isl.Map | None:
    """Return the pairs of instances that touch one element, the earlier one first.

    None if none do.
    """
    is_same = after.position == before.position
    # Usually each instance has an element of its own, which can be seen more quickly.
    is_alone = before is after and before.statement.role is not Role.UPDATE
    if is_alone and _is_injective(before.relation):
        return None
    relation = before.relation.apply_range(after.relation.reverse())
    if is_same:
        relation = relation & isl.Map.lex_lt(relation.get_space().domain())
    return None if relation.is_empty() else relation


def _is_injective(relation: isl.Map) -> bool:
    """True if no two instances have the same image.

    First a larger relation is asked, without the conditions that some number exists. isl needs long
    for these, and private copies have them, because they say which elements are read.
    """
    larger = relation.remove_unknown_divs()
    if larger.is_injective():
        return True
    return not larger.plain_is_equal(relation) and relation.is_injective()


def _touches(model: Model) -> dict[str, list[_Touch]]:
    found: dict[str, list[_Touch]] = {}
    for position, statement in enumerate(model.statements):
        places: dict[int, _TouchedElements] = {}
        touched = [(True, statement.writes), *((False, read) for read in statement.reads)]
        for is_write, one in touched:
            if id(one) not in places:
                relation = one.relation.intersect_domain(statement.domain)
                places[id(one)] = _TouchedElements(position, statement, relation)
            found.setdefault(one.array, []).append(_Touch(places[id(one)], is_write))
    return found


def _kind(
    source: Statement, target: Statement, source_writes: bool, target_writes: bool
) -> DependenceKind:
    if source is target and source.role is Role.UPDATE:
        return DependenceKind.REDUCTION
    if not target_writes:
        return DependenceKind.FLOW
    return DependenceKind.OUTPUT if source_writes else DependenceKind.ANTI


def once(found: Iterable[Dependence]) -> tuple[Dependence, ...]:
    """Join the dependences that have the same kind, array, source and target."""
    kept: dict[tuple[DependenceKind, str, str, str], Dependence] = {}
    for one in found:
        key = (one.kind, one.array, one.source, one.target)
        before = kept.get(key)
        if before is None:
            kept[key] = one
        elif one.relation is not before.relation:
            kept[key] = Dependence(*key, before.relation | one.relation)
    return tuple(kept.values())
