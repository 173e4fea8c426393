"""The Model as defined and as scheduled in, reads of private copies that nothing fills out.

Without a write there is no dependence, so that the order of a schedule says nothing of such a read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dtpoly.poly.dependences import Dependence, DependenceKind
from dtpoly.poly.lazy import isl
from dtpoly.poly.model import Array, Model
from dtpoly.poly.order import Broken, ViolationKind
from dtpoly.poly.spaces import computing


def never_written(lifted: Model, model: Model) -> Iterator[Broken]:
    """Instances that read an element that is defined but not computed, each paired with itself.

    Of a private copy or a partial result that is what no statement writes to that very copy.
    What is undefined to begin with, beyond the end of a Func, is not this question.
    """
    with computing("what is written before it is read"):
        defined, written = _written(lifted), _written(model)
        for statement in model.statements:
            own = (statement.writes.array, statement.writes.indices)
            for read in statement.reads:
                if read.array not in written or (read.array, read.indices) == own:
                    continue
                readers = statement.domain
                if read.within:
                    readers = readers & read.relation.domain()
                served = read.relation.intersect_range(written[read.array]).domain()
                if readers.is_subset(served):  # the common case
                    continue
                elements = read.relation.intersect_domain(readers - served)
                missing = elements.intersect_params(model.context)
                unserved = _of_defined(missing, model.arrays[read.array], defined)
                if not unserved.is_empty():
                    name, pairs = statement.name, unserved.identity()
                    pair = Dependence(DependenceKind.FLOW, read.array, name, name, pairs)
                    yield Broken(pair, ViolationKind.UNWRITTEN, pairs)


def _written(model: Model) -> Mapping[str, isl.Set]:
    """What statements write, of each array."""
    found: dict[str, isl.Set] = {}
    for statement in model.statements:
        one = statement.writes
        elements = one.relation.intersect_domain(statement.domain).range()
        found[one.array] = found[one.array] | elements if one.array in found else elements
    return found


def _of_defined(reads: isl.Map, array: Array, defined: Mapping[str, isl.Set]) -> isl.Set:
    """The instances that read an element which the Program defines, whoever's copy it is in.

    All elements of an array that only the schedule made, such as partial results, are.
    """
    original = array.name.partition("@")[0]
    if original in defined:
        reads = reads.project_out(isl.dim_type.out, 0, len(array.copies))
        reads = reads.set_tuple_name(isl.dim_type.out, original).intersect_range(defined[original])
    return reads.domain()
