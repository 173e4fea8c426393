"""Model in, dependences out: every pair of instances that meet on an element, one a writer.

Statements are in defining order and every instance of one comes before those of the next, so that
two accesses of an array give a dependence by composition; `flow` is the slow proof of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from dtpoly.frozen import dataclass
from dtpoly.poly.lazy import isl
from dtpoly.poly.model import Model, Role, Statement
from dtpoly.poly.spaces import computing


class DependenceKind(StrEnum):
    """Which of the two writes."""

    FLOW = "flow"  # written, then read
    ANTI = "anti"  # read, then overwritten
    OUTPUT = "output"  # written twice
    REDUCTION = "reduction"  # two steps of one associative reduction: in any order


@dataclass(frozen=True, slots=True)
class Dependence:
    """`relation: source instance -> target instance`, which must stay in this order."""

    kind: DependenceKind
    array: str
    source: str
    target: str
    relation: isl.Map

    def __str__(self) -> str:
        """In words."""
        match self.kind:
            case DependenceKind.FLOW:
                return f"{self.target} reads what {self.source} wrote to {self.array}"
            case DependenceKind.ANTI:
                return f"{self.target} overwrites what {self.source} read from {self.array}"
            case DependenceKind.OUTPUT:
                return f"{self.target} overwrites what {self.source} wrote to {self.array}"
            case DependenceKind.REDUCTION:
                return f"{self.target} adds to {self.array}, in any order"


@dataclass(frozen=True, slots=True)
class _Touch:
    position: int
    statement: Statement
    is_write: bool
    relation: isl.Map  # on the statement's domain


def dependences(model: Model) -> tuple[Dependence, ...]:
    """All of them; those between the steps of one reduction are a kind apart."""
    with computing("dependences"):
        return once(_pairs(model))


def _pairs(model: Model) -> Iterable[Dependence]:
    for array, touches in _touches(model).items():
        for before in touches:
            for after in touches:
                if after.position < before.position or not (before.is_write or after.is_write):
                    continue
                relation = before.relation.apply_range(after.relation.reverse())
                if after.position == before.position:
                    relation = relation & isl.Map.lex_lt(relation.get_space().domain())
                if not relation.is_empty():
                    source, target = before.statement, after.statement
                    kind = _kind(source, target, before.is_write, after.is_write)
                    yield Dependence(kind, array, source.name, target.name, relation)


def _touches(model: Model) -> dict[str, list[_Touch]]:
    found: dict[str, list[_Touch]] = {}
    for position, statement in enumerate(model.statements):
        touched = [(True, statement.writes), *((False, read) for read in statement.reads)]
        for is_write, one in touched:
            relation = one.relation.intersect_domain(statement.domain)
            touch = _Touch(position, statement, is_write, relation)
            found.setdefault(one.array, []).append(touch)
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
    """One dependence for each kind, array and pair of statements."""
    kept: dict[tuple[DependenceKind, str, str, str], Dependence] = {}
    for one in found:
        key = (one.kind, one.array, one.source, one.target)
        before = kept.get(key)
        relation = one.relation if before is None else before.relation | one.relation
        kept[key] = Dependence(*key, relation)
    return tuple(kept.values())
