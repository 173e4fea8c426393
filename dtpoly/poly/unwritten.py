"""Finds reads of private copies that nothing fills, by comparing the Model before and after.

Where nothing is written there is no dependence, so the check of the order of a schedule does not
find such a read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dtpoly.frozen import dataclass
from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Array, Model
from dtpoly.poly.order import Broken, ViolationKind
from dtpoly.poly.spaces import computing


@dataclass(frozen=True, slots=True)
class Covered:
    """One question: which elements that are not `written` the `readers` of an array read.

    For a private copy only the elements count that are `defined` in the Func that is copied.
    `original` maps an element of the copy to that of the Func.
    """

    statement: str
    array: str
    readers: isl.Set
    read: isl.Map  # from a reader to the element
    written: isl.Set
    original: isl.Map | None = None
    defined: isl.Set | None = None

    def uncovered(self, context: isl.Set) -> isl.Set:
        """Return the readers that find an element missing.

        If there are any, they are a violation.
        """
        readers = self.readers
        served = self.read.intersect_range(self.written).domain()
        if readers.is_subset(served):  # the usual case
            return isl.Set.empty(readers.get_space())
        missing = self.read.intersect_domain(readers - served).intersect_params(context)
        if self.original is not None and self.defined is not None:
            missing = missing.apply_range(self.original).intersect_range(self.defined)
        return missing.domain()


def never_written(lifted: Model, model: Model) -> Iterator[Broken]:
    """Find the instances that read an element that is defined but not computed.

    Each is paired with itself. For a private copy or a partial result, an element is missing if no
    statement writes it to that very copy. Elements that are not defined, beyond the end of a Func,
    are another question.
    """
    with computing("what is written before it is read"):
        for one in reads_of_copies(lifted, model):
            unserved = one.uncovered(model.context)
            if not unserved.is_empty():
                name, pairs = one.statement, unserved.identity()
                pair = Dependence(DependenceKind.FLOW, one.array, name, name, pairs)
                yield Broken(pair, ViolationKind.UNWRITTEN, pairs)


def reads_of_copies(lifted: Model, model: Model) -> Iterator[Covered]:
    """Yield each read of what statements write, except reads of a statement's own result."""
    defined, written = _written(lifted), _written(model)
    for statement in model.statements:
        own = (statement.writes.array, statement.writes.indices)
        for read in statement.reads:
            if read.array not in written or (read.array, read.indices) == own:
                continue
            readers = statement.domain
            if read.within:
                readers = readers & read.relation.domain()
            array = model.arrays[read.array]
            # All elements of an array that only the schedule made, such as partial results, count.
            original, there = None, defined.get(array.name.partition("@")[0])
            if there is not None:
                original = _original(array, written[read.array].get_space(), there.get_space())
            yield Covered(
                *(statement.name, read.array, readers, read.relation, written[read.array]),
                *(original, there),
            )


def _written(model: Model) -> Mapping[str, isl.Set]:
    """Return, for each array, the elements that statements write."""
    found: dict[str, isl.Set] = {}
    for statement in model.statements:
        one = statement.writes
        elements = one.relation.intersect_domain(statement.domain).range()
        found[one.array] = found[one.array] | elements if one.array in found else elements
    return found


def _original(array: Array, copy: isl.Space, original: isl.Space) -> isl.Map:
    """Return the relation from an element of a private copy to the element that it copies."""
    result = isl.Map.universe(copy.map_from_domain_and_range(original.align_params(copy)))
    for at in range(original.dim(isl.dim_type.set)):
        result = result.equate(isl.dim_type.in_, len(array.copies) + at, isl.dim_type.out, at)
    return result
