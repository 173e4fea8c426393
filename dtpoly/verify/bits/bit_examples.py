"""Find two calls that may round an element differently, for whoever can run them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.sets import polyhedra_of
from dtpoly.verify.algebra.whole import Whole, both, compare, name, names_of, number, put_whole
from dtpoly.verify.bits.bit_report import TwoCalls
from dtpoly.verify.bits.bit_scopes import BitDifference
from dtpoly.verify.bits.compared_calls import BitQuestion
from dtpoly.verify.proof.examples_in_sets import examples_in, larger_examples_in


def calls_of(question: BitQuestion, difference: BitDifference) -> Iterator[TwoCalls]:
    """Yield pairs of calls for which a difference may show."""
    if difference.rows is None:
        return
    apart = compare("!=", name(question.size), question.index(name(question.size), 1))
    where = both(difference.where, apart) if question.size else difference.where
    if question.run.is_empty(set_of(where)):
        where = difference.where
    there = polyhedra_of(set_of(where))
    sizes = question.sides[0].proof.meaning.sizes
    for example in (*examples_in(there), *larger_examples_in(there)):
        if example is None:
            continue
        found = [
            {label: value(question.index(size, call), example) for label, size in sizes.items()}
            for call in (0, 1)
        ]
        rows = [value(row, example) for row in difference.rows]
        yield TwoCalls(found[0], found[1], (rows[0], rows[1]))


def value(of: Whole, example: Mapping[str, int]) -> int:
    """Return what a number is in an example; names that it leaves out are 0."""
    put = {one: number(example.get(one, 0)) for one in names_of(of)}
    return put_whole(of, put).constant or 0
