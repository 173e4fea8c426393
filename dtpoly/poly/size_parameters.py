"""Gives each label of a Program its size parameter, and states the facts about these parameters.

Labels that always have one size share a parameter. `sizes.sizes_of` decides which sizes a call may
have; the facts here say the same as a set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dtpoly.algorithm.equal_sizes import Shape, alone, equal_sizes, reads_by_axis
from dtpoly.algorithm.expressions import Affine, DividedIndex, division
from dtpoly.algorithm.index_ends import is_natural
from dtpoly.algorithm.label_sizes import extent_label, needing_room, size_rules
from dtpoly.algorithm.program import Program
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.spaces import Affs, affs, set_space

Sizes = Mapping[str, str]  # from a label to its parameter
Place = tuple[str, int]  # a tensor, and one of its axes


def size_parameters(program: Program) -> dict[str, str]:
    """Return the parameter of each label that is used; labels that always agree share one."""
    return {label: f"N_{first}" for label, first in equal_sizes(program).items()}


def size_facts(program: Program, sizes: Sizes, axes: Collection[Place] | None = None) -> isl.Set:
    """Return the facts about sizes: none is negative, and reads are inside their tensors.

    If some axes of tensors are given, only reads of these are used.
    """
    params = tuple(dict.fromkeys(sizes.values()))
    groups = {
        key: group
        for key, group in reads_by_axis(program).items()
        if any(not read.index.is_plain for read in group) and (axes is None or key in axes)
    }
    shapes = {key: f"{key[0]}.shape[{key[1]}]" for key in groups}
    of = affs(set_space("", (), (*params, *shapes.values())))
    facts = isl.Set.universe(of[0].get_domain_space())
    for name in (*params, *shapes.values()):
        facts = facts & of[name].ge_set(of[0])
    for key, group in groups.items():
        label = extent_label(program, *key)
        extent = of[shapes[key]]
        if label is not None:
            facts = facts & extent.eq_set(of[sizes[label]])
        for read in group:
            facts = facts & _inside(read.index, extent, sizes, of)
        for label, shape in alone(group).items():
            if all(c > 0 and d >= 0 for c, d in shape):
                facts = facts & _largest(of[sizes[label]], shape, extent)
    for label, size in program.fixed.items():
        if label in sizes:
            facts = facts & of[sizes[label]].eq_set(of[0] + size)
    for (tensor, axis, index), labels in needing_room(program).items():
        for label in labels if (tensor, axis) in shapes else ():
            # There is room for the first index of the label, unless another label has no index.
            first = index.substitute({label: Affine()})
            facts = facts & _inside(first, of[shapes[tensor, axis]], sizes, of)
    for rule in size_rules(program):
        if (
            axes is None
            and rule.label in sizes
            and rule.reads
            and rule.label not in rule.reads[0].index.labels
        ):
            needed = [of[sizes[r.index.labels[0]]] + r.index.constant for r in rule.reads]
            facts = facts & _maximum(of[sizes[rule.label]], needed)
    known = facts.params().project_out(isl.dim_type.param, len(params), len(shapes))
    return known.coalesce()


def _inside(index: Affine, extent: isl.Aff, sizes: Sizes, of: Affs) -> isl.Set:
    """Return the sizes for which every read is inside an axis, or there is no read."""
    low, high = _ends(index, sizes, of)
    empty = isl.Set.empty(of[0].get_domain_space())
    for label in index.labels:
        empty = empty | of[sizes[label]].eq_set(of[0])
    zero, end = of[0].to_pw_aff(), extent.to_pw_aff()
    return empty | (low.ge_set(zero) & high.lt_set(end))


def _ends(index: Affine, sizes: Sizes, of: Affs) -> tuple[isl.PwAff, isl.PwAff]:
    """Return the least and the largest value of an index, if no label has the size 0."""
    low = high = (of[0] + index.constant).to_pw_aff()
    for term, coefficient in index.terms:
        if isinstance(term, str):
            first, last = of[0].to_pw_aff(), (of[sizes[term]] + -1).to_pw_aff()
        else:
            first, last = _ends_of_division(division(term), sizes, of)
        first, last = (first, last) if coefficient > 0 else (last, first)
        factor = isl.Val(coefficient)
        low, high = low + first.scale_val(factor), high + last.scale_val(factor)
    return low, high


def _ends_of_division(term: DividedIndex, sizes: Sizes, of: Affs) -> tuple[isl.PwAff, isl.PwAff]:
    low, high = _ends(term.inner, sizes, of)
    if term.operator == "//":
        by = isl.Val(term.divisor)
        return low.scale_down_val(by).floor(), high.scale_down_val(by).floor()
    most = (of[0] + (term.divisor - 1)).to_pw_aff()
    return of[0].to_pw_aff(), high.min(most) if is_natural(term.inner) else most


def _largest(size: isl.Aff, shape: Shape, extent: isl.Aff) -> isl.Set:
    """Return the sizes for which `size` is the largest at which the reads of a label are inside."""
    space = size.get_domain_space()
    fits, tight = isl.Set.universe(space), isl.Set.empty(space)
    zero = size * 0
    for coefficient, constant in shape:
        end = size * coefficient + constant
        fits = fits & (size.eq_set(zero) | (end + -coefficient).lt_set(extent))
        tight = tight | extent.le_set(end)
    return fits & tight


def _maximum(size: isl.Aff, needed: list[isl.Aff]) -> isl.Set:
    space = size.get_domain_space()
    enough, tight = isl.Set.universe(space), isl.Set.empty(space)
    for one in needed:
        enough, tight = enough & size.ge_set(one), tight | size.eq_set(one)
    return enough & tight
