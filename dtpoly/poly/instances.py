"""Lists the instances of a statement one by one, at given sizes."""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement
from dtpoly.poly.spaces import affs, computing, point

Sizes = Mapping[str, int]  # label -> size


def labels_needed(model: Model, statement: Statement) -> tuple[str, ...]:
    """Return the labels whose sizes decide which instances exist; of equal ones, the first."""
    return tuple(
        next(label for label, size in model.size_of.items() if size == param)
        for param in model.params
        if _involves(statement.domain, param)
    )


def fit_together(model: Model, sizes: Sizes) -> bool:
    """True if a call may have these sizes, whatever the other sizes are."""
    given = [
        (model.size_of[label], size) for label, size in sizes.items() if label in model.size_of
    ]
    if len(set(given)) > len(dict(given)):
        return False
    with computing("which sizes fit together"):
        return not _fixed(model.context, dict(given)).is_empty()


def with_known(model: Model, sizes: Sizes) -> dict[str, int]:
    """Return the sizes, with those of other labels that follow from them."""
    with computing("which sizes follow"):
        given = {model.size_of[label]: size for label, size in sizes.items()}
        left = isl.Set.from_params(_fixed(model.context, given))
        of = affs(left.get_space())
        for param in model.params:
            if param not in given and not left.is_empty():
                low, high = left.min_val(of[param]), left.max_val(of[param])
                if low.is_int() and low == high:
                    given[param] = low.to_python()
        return {label: given[param] for label, param in model.size_of.items() if param in given}


def instances(model: Model, statement: Statement, sizes: Sizes) -> list[tuple[int, ...]]:
    """Return the values of the dims of each instance, in lexicographic order."""
    with computing("the instances of a statement"):
        given = {model.size_of[label]: size for label, size in sizes.items()}
        found: list[isl.Point] = []
        # isl cannot count while a parameter has no value, even if the parameter decides nothing.
        domain = _fixed(statement.domain, given)
        domain = domain.project_out(isl.dim_type.param, 0, domain.dim(isl.dim_type.param))
        domain.foreach_point(found.append)
        return sorted(point(one, isl.dim_type.set) for one in found)


def _fixed(of: isl.Set, params: Mapping[str, int]) -> isl.Set:
    for name, size in params.items():
        position = of.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            of = of.fix_val(isl.dim_type.param, position, isl.Val(size))
    return of


def _involves(of: isl.Set, param: str) -> bool:
    position = of.find_dim_by_name(isl.dim_type.param, param)
    return position >= 0 and of.involves_dims(isl.dim_type.param, position, 1)
