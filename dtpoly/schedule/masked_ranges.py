"""Says which masks of a program became ranges of its reductions, and why others did not."""

from collections.abc import Iterator

from dtpoly.algorithm.affine_conditions import Clause, negated
from dtpoly.algorithm.expressions import Dot, Reduce, SizedIndex, walk
from dtpoly.algorithm.found_ranges import results_of
from dtpoly.algorithm.program import Program, in_order
from dtpoly.algorithm.range_search import MAY_CHANGE, FoundRange, Reduction
from dtpoly.algorithm.show import show_expr
from dtpoly.algorithm.unmasked import as_truth
from dtpoly.frozen import dataclass
from dtpoly.poly.masked_steps import ranged_bodies
from dtpoly.poly.size_parameters import size_facts, size_parameters
from dtpoly.poly.spaces import computing

EXACT = "its operand changes nothing elsewhere"
BY_ZERO = f"{EXACT}, if 0 times what a mask hides is 0"


@dataclass(frozen=True, slots=True)
class MaskedRange:
    """A condition in a mask: whether a reduction takes only the indices where it holds, and why."""

    func: str
    reduction: str
    labels: tuple[str, ...]
    condition: str
    is_range: bool
    why: str

    def __str__(self) -> str:
        what = f"the {self.reduction} over {', '.join(self.labels)} of '{self.func}'"
        takes = (
            "takes only indices with" if self.is_range else "takes all indices, not only those with"
        )
        return f"{what} {takes} {self.condition}: {self.why}"


def masked_ranges(program: Program) -> tuple[MaskedRange, ...]:
    """Return what became of the conditions in masks of the results, and of what they need."""
    with computing("the ranges of masks"):
        sizes = size_parameters(program)
        search = ranged_bodies(program, sizes, lambda: size_facts(program, sizes)).search
        if search is None:
            return ()
        return tuple(
            one
            for func in in_order(program, results_of(program))
            for node in walk(func.body)
            if isinstance(node, Reduce | Dot)
            for one in _said(func.name, node, search.range_of(node))
        )


def _said(func: str, node: Reduction, found: FoundRange) -> Iterator[MaskedRange]:
    word = node.operation if isinstance(node, Reduce) else "rdot"
    told = set[Clause]()
    for clause in found.every:
        told.update(map(_opposite, clause))
        if len(clause) > 1:
            why = "a choice of conditions is no range"
            yield MaskedRange(func, word, node.labels, _shown(clause), is_range=False, why=why)
            continue
        told.add(clause)
        why = BY_ZERO if found.needs_zero else EXACT
        yield MaskedRange(func, word, node.labels, _shown(clause), is_range=True, why=why)
    # Both ways of a comparison were tried: where one of them is told, the other one says nothing.
    for one in sorted(found.refused, key=lambda one: one.why == MAY_CHANGE):
        if len(one.clause) == 1 and one.clause not in told:
            told.update((one.clause, _opposite(one.clause[0])))
            shown = _shown(one.clause)
            yield MaskedRange(func, word, node.labels, shown, is_range=False, why=one.why)


def _opposite(one: SizedIndex) -> Clause:
    return (negated(one),)


def _shown(clause: Clause) -> str:
    return show_expr(as_truth((clause,)))
