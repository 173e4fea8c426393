"""Builds isl objects from index expressions; only this file knows the positions of dims."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from dtpoly.algorithm.expressions import Affine, DividedIndex, division
from dtpoly.poly.lazy_islpy import isl

# the function of each dim, parameter or loop by name, and the zero as 0
Affs: TypeAlias = "Mapping[str | int, isl.Aff]"


class PolyError(Exception):
    """Raised if isl gave up; the message says what was being computed.

    isl's own message names only a file of C.
    """


@contextmanager
def computing(what: str) -> Generator[None]:
    """Say what was being computed if isl fails inside."""
    try:
        yield
    except isl.Error as error:
        raise PolyError(f"isl failed while computing {what}: {error}") from error


def set_space(name: str, dims: Sequence[str], params: Sequence[str]) -> isl.Space:
    """Return a set space with a name, dims and parameters."""
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=list(dims), params=list(params))
    return space.set_tuple_name(isl.dim_type.set, name) if name else space


class AffsOfSpace(Mapping["str | int", "isl.Aff"]):
    """The functions of a set space by name, each of which is made when it is first looked up.

    Most callers need two or three of twenty. With `marked` names, a name also stands for the one
    that has `@` behind it: grid axes have their own names then, too.
    """

    __slots__ = ("_is_marked", "_known", "_local", "_space")

    def __init__(self, space: isl.Space, *, is_marked: bool = False) -> None:
        self._space = space
        self._local = isl.LocalSpace.from_space(space)
        self._known: dict[str | int, isl.Aff] = {}
        self._is_marked = is_marked

    def __getitem__(self, name: str | int) -> isl.Aff:
        """Return the function of a dim or a parameter, or the zero. Raises KeyError."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._made(name)
        return known

    def __iter__(self) -> Iterator[str | int]:
        """Yield 0, the names of the parameters, and those of the dims."""
        names = [*param_names(self._space), *dim_names(self._space)]
        bare = (name.removesuffix("@") for name in names) if self._is_marked else ()
        return iter(dict.fromkeys((0, *names, *bare)))

    def __len__(self) -> int:
        """Return how many names there are, 0 included."""
        return sum(1 for _ in self)

    def _made(self, name: str | int) -> isl.Aff:
        if not isinstance(name, str):
            # `isl.affs_from_space` gives PwAffs, which a MultiAff does not take.
            return isl.Aff.zero_on_domain(self._local)
        for kind in (isl.dim_type.set, isl.dim_type.param):
            for spelling in (name, f"{name}@") if self._is_marked else (name,):
                at = self._space.find_dim_by_name(kind, spelling)
                if at >= 0:
                    return isl.Aff.var_on_domain(self._local, kind, at)
        raise KeyError(name)


def affs(space: isl.Space) -> AffsOfSpace:
    """Return the function of each dim and parameter of a set space by name, and the zero as 0."""
    return AffsOfSpace(space)


def to_aff(index: Affine, of: Affs) -> isl.Aff:
    """Return an index as a function, given the functions of its names."""
    # Most indices are one name alone, and then there is nothing to compute.
    total = of[0].set_constant_val(isl.Val(index.constant)) if index.constant else None
    for term, coefficient in index.terms:
        value = of[term] if isinstance(term, str) else _divided(division(term), of)
        value = value if coefficient == 1 else value.scale_val(isl.Val(coefficient))
        total = value if total is None else total.add(value)
    return of[0] if total is None else total


def _divided(term: DividedIndex, of: Affs) -> isl.Aff:
    inner, divisor = to_aff(term.inner, of), isl.Val(term.divisor)
    quotient = inner.scale_down_val(divisor).floor()
    return quotient if term.operator == "//" else inner - quotient.scale_val(divisor)


def to_map(domain: isl.Space, name: str, dims: Sequence[str], values: Iterable[isl.Aff]) -> isl.Map:
    """Return the relation `domain -> name[values]`."""
    return isl.Map.from_multi_aff(to_multi_aff(domain, name, dims, values))


def to_multi_aff(
    domain: isl.Space, name: str, dims: Sequence[str], values: Iterable[isl.Aff]
) -> isl.MultiAff:
    """Return the function `domain -> name[values]`."""
    target = set_space(name, dims, param_names(domain)).align_params(domain)
    result = isl.MultiAff.zero(domain.map_from_domain_and_range(target))
    for position, value in enumerate(values):
        result = result.set_aff(position, value)
    return result


def dim_name(space: isl.Space, kind: isl.dim_type, position: int) -> str:
    """Return the name of a dim, which must have one."""
    name = space.get_dim_name(kind, position)
    assert name is not None
    return name


def param_names(space: isl.Space) -> list[str]:
    """Return the names of the parameters, in order."""
    return [dim_name(space, isl.dim_type.param, i) for i in range(space.dim(isl.dim_type.param))]


def dim_names(space: isl.Space) -> list[str]:
    """Return the names of the dims of a set, in order."""
    return [dim_name(space, isl.dim_type.set, i) for i in range(space.dim(isl.dim_type.set))]


def named_dims(of: isl.Set, name: str, dims: Sequence[str]) -> isl.Set:
    """Return the set with new names for its tuple and its dims."""
    for position, dim in enumerate(dims):
        of = of.set_dim_name(isl.dim_type.set, position, dim)
    return of.set_tuple_name(name) if name else of.reset_tuple_id()


def in_box(space: isl.Space, dims: Iterable[str], sizes: Mapping[str, str]) -> isl.Set:
    """Return the set `0 <= dim < size` for each dim of a space; `sizes` names parameters."""
    of = affs(space)
    result = isl.Set.universe(space)
    for dim in dims:
        result = result & of[dim].ge_set(of[0]) & of[dim].lt_set(of[sizes[dim]])
    return result


def not_negative(space: isl.Space, values: Iterable[Affine]) -> isl.Set:
    """Return the set of a space where some sums of dims and parameters are all at least 0."""
    of = affs(space)
    result = isl.Set.universe(space)
    for one in values:
        result = result & to_aff(one, of).ge_set(of[0])
    return result


def point(coordinates: isl.Point, kind: isl.dim_type) -> tuple[int, ...]:
    """Return the coordinates of a point: of its parameters, or of its set dims."""
    return tuple(
        coordinates.get_coordinate_val(kind, i).to_python()
        for i in range(coordinates.get_space().dim(kind))
    )


def affs_of_pairs(pairs: isl.Set) -> list[isl.Aff]:
    """Return the zero, then the function of each dim of a wrapped relation, in order."""
    local = isl.LocalSpace.from_space(pairs.get_space())
    dims = range(pairs.dim(isl.dim_type.set))
    zero = isl.Aff.zero_on_domain(local)
    return [zero, *(isl.Aff.var_on_domain(local, isl.dim_type.set, i) for i in dims)]


def plainer(relation: isl.Map) -> isl.Map:
    """Return the relation without each rounding that other constraints make superfluous.

    isl's loops come out wrong where a superfluous rounding remains.
    """
    # Constraints may be looked at one by one only if each integer division has a definition.
    parts = [_plainer(part) for part in relation.compute_divs().get_basic_maps()]
    if not parts:
        return relation
    kept = parts[0].to_map()
    for part in parts[1:]:
        kept = kept | part.to_map()
    return kept


def _plainer(part: isl.BasicMap) -> isl.BasicMap:
    constraints = part.get_constraints()
    kept = list(range(len(constraints)))
    for at, one in enumerate(constraints):
        count = one.dim(isl.dim_type.div)
        if one.is_equality() or not count or not one.involves_dims(isl.dim_type.div, 0, count):
            continue
        others = isl.BasicMap.universe(part.get_space())
        for other in kept:
            if other != at:
                others = others.add_constraint(constraints[other])
        if others.is_subset(isl.BasicMap.from_constraint(one)):
            kept.remove(at)
    if len(kept) == len(constraints):
        return part
    result = isl.BasicMap.universe(part.get_space())
    for at in kept:
        result = result.add_constraint(constraints[at])
    return result
