"""Defines the Model: a Program as statements over isl sets, with their reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum

from dtpoly.algorithm.affine_conditions import Clause
from dtpoly.algorithm.expressions import (
    Affine,
    Conditions,
    Dot,
    Expr,
    Read,
    Reduce,
    map_children,
    reads,
)
from dtpoly.algorithm.program import Part
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.spaces import affs, in_box, set_space, to_aff, to_map


class Role(StrEnum):
    """The part that a statement plays in the computation of its Func."""

    INIT = "init"  # an accumulator becomes the identity
    UPDATE = "update"  # one step of a reduction
    COMBINE = "combine"  # the partial results of lanes become one
    SCAN = "scan"  # the reduction of all elements up to an index
    VALUE = "value"  # an element of the Func, or a partial result that a later kernel reads
    STORE = "stored"  # an element of another Func, whose kernel this is, goes to memory


@dataclass(frozen=True, slots=True)
class Array:
    """The memory that statements write: a Func, or an accumulator with its reduction's operation.

    A private copy has an additional leading dim for each of `copies`, the axes it is private to.
    The elements of one that `is_paired` are values with the indices where they were found.
    """

    name: str
    func: str
    dims: tuple[str, ...]
    reduction: str | None = None
    copies: tuple[str, ...] = ()
    is_paired: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """One element that a statement instance reads or writes.

    `indices` are those of the source, without the leading dims of a private copy, which `relation`
    has. `within` has pairs of an index and a size: an instance touches the element only if each
    index is at least 0 and below its size.
    """

    array: str
    indices: tuple[Affine, ...]
    relation: isl.Map  # from a statement instance to the element
    within: tuple[tuple[Affine, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ScanSteps:
    """The order in which a scan goes along a label, and the array that holds the last result.

    An element comes in only where all conditions of `when` hold; elsewhere nothing changes. A
    private copy goes on from one iteration to the next along the axes that it `follows`.
    """

    label: str
    is_reverse: bool
    carry: str
    when: Conditions = ()
    follows: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement `name[dims]`, with an instance for each point of the domain.

    The first dims are `copies`, which are axes. The labels in `bound` are those that a reduction
    binds, that of this statement or one around it. The copies that are `relative` count from the
    origin of their axis. A private copy that `is_boxed` computes a box around the elements that are
    read.
    """

    name: str
    func: str
    role: Role
    copies: tuple[str, ...]
    labels: tuple[str, ...]
    bound: tuple[str, ...]
    domain: isl.Set
    writes: Access
    reads: tuple[Access, ...]
    body: Expr | None  # None for init and combine
    is_atomic: bool = False  # True if programs may take its steps in any order
    relative: frozenset[str] = frozenset()
    is_boxed: bool = False
    # Reads of elements of inputs that a Func in place replaces; the arrays are these inputs.
    old: tuple[Access, ...] = ()
    # Of a value whose element is 0 where one of these conditions does not hold.
    when: Conditions = ()
    # Of a value that its own mask replaces by a number where one of these clauses does not hold.
    masked: tuple[Clause, ...] = ()
    # Of a step of a reduction over ranges: it is taken where all of these are at least 0.
    taken: tuple[Affine, ...] = ()
    # Whether labels of the reduction have ranges. Otherwise steps are only left out for elements of
    # the Func that are 0 in any case.
    is_over_range: bool = False
    # Of a scan: its instances along a label come one after another.
    scan: ScanSteps | None = None

    @property
    def dims(self) -> tuple[str, ...]:
        """Return every dim of the domain."""
        return self.copies + self.labels

    @property
    def free(self) -> tuple[str, ...]:
        """Return the labels that no reduction binds."""
        return tuple(label for label in self.labels if label not in self.bound)

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(self.labels)}]"


@dataclass(frozen=True, slots=True)
class Model:
    """The statements in defining order; `context` has the facts about the sizes."""

    size_of: Mapping[str, str]  # from a label to its parameter; equal labels share one
    context: isl.Set
    arrays: Mapping[str, Array]
    statements: tuple[Statement, ...]
    parts: Mapping[str, Part]
    fixed: Mapping[str, int]  # from a parameter to its size, for labels whose size the file fixes
    # For an input that is written in place, the array that is its memory from then on.
    into: Mapping[str, str]
    # For an array whose elements lie at places in an input, the read of such a place.
    places: Mapping[str, Read]
    # The arrays whose elements are added to what is at their places.
    added: frozenset[str] = frozenset()

    @property
    def params(self) -> tuple[str, ...]:
        """Return the size parameters, each once."""
        return tuple(dict.fromkeys(self.size_of.values()))

    def array(self, name: str) -> Array:
        """Return an array, or an input of which elements are replaced in place."""
        known = self.arrays.get(name)
        if known is None and (at := self.places.get(self.into[name])) is not None:
            return Array(name, name, tuple(f"axis {axis}" for axis in range(len(at.indices))))
        return known or Array(name, name, self.arrays[self.into[name]].dims)

    def memory(self, array: str, relation: isl.Map) -> isl.Map:
        """Return which elements of an input are replaced, where elements of an array are written.

        At a place that is data it may be any element.
        """
        at = self.places.get(array)
        if at is None:
            return relation
        space = set_space(array, self.arrays[array].dims, self.params)
        whole = {at.tensor: Array(at.tensor, at.tensor, ())}
        return relation.apply_range(read_access(space, at, whole, self.size_of).relation)

    def of_func(self, func: str) -> tuple[Statement, ...]:
        """Return the statements of a Func."""
        return tuple(s for s in self.statements if s.func == func)

    def with_statements(self, statements: Iterable[Statement], *arrays: Array) -> Model:
        """Return the Model with other statements, and with more arrays."""
        known = {**self.arrays, **{array.name: array for array in arrays}}
        return replace(self, statements=tuple(statements), arrays=known)


def by_name(model: Model) -> dict[str, Statement]:
    """Return the statements by name."""
    return {statement.name: statement for statement in model.statements}


def taken_in(body: Expr | None, size_of: Mapping[str, str]) -> tuple[Affine, ...]:
    """Return what must be at least 0 where a step of a reduction is taken."""
    when = body.when if isinstance(body, Reduce | Dot) else ()
    return tuple(one.over(size_of) for one in when)


def within_sizes(
    space: isl.Space,
    labels: tuple[str, ...],
    size_of: Mapping[str, str],
    parts: Mapping[str, Part],
    of_part: Collection[str],
) -> isl.Set:
    """Return the set where each label is within its size, and each part begins inside its label.

    The labels `of_part` are inside of the part whose number is another label.
    """
    of = affs(space)
    domain = in_box(space, (label for label in labels if label not in parts), size_of)
    for new, part in parts.items():
        if new not in labels:
            continue
        start = of[new] * part.size
        domain = domain & of[new].ge_set(of[0]) & start.lt_set(of[size_of[part.of]])
        if part.of in of_part and part.of in labels:
            label = of[part.of]
            domain = domain & label.ge_set(start) & label.lt_set(start + part.size)
    return domain


def is_ranged(statement: Statement, label: str) -> bool:
    """Return whether a statement is a step over a label, and only some indices are taken."""
    body = statement.body
    return statement.is_over_range and isinstance(body, Reduce | Dot) and label in body.labels


def access(
    space: isl.Space,
    array: Array,
    indices: tuple[Affine, ...],
    copies: tuple[isl.Aff, ...] = (),
    within: tuple[tuple[Affine, str], ...] = (),
) -> Access:
    """Return an access of a statement; `copies` are the coordinates of a private copy."""
    of = affs(space)
    values = [*copies, *(of[0] if i.data is not None else to_aff(i, of) for i in indices)]
    dims = [f"i{position}" for position in range(len(values))]
    relation = to_map(space, array.name, dims, values)
    for position, index in enumerate(indices, start=len(copies)):
        if index.data is not None:  # it may be any element along this axis
            relation = relation.eliminate(isl.dim_type.out, position, 1)
    for index, size in within:
        value = to_aff(index, of)
        relation = relation.intersect_domain(value.ge_set(of[0]) & value.lt_set(of[size]))
    return Access(array.name, indices, relation, within)


def read_access(
    space: isl.Space, read: Read, arrays: Mapping[str, Array], size_of: Mapping[str, str]
) -> Access:
    """Return the access that a read makes."""
    within = tuple((index, size_of[label]) for index, label in read.within)
    return access(space, arrays[read.tensor], read.indices, within=within)


def old_accesses(
    space: isl.Space, body: Expr | None, into: Collection[str], size_of: Mapping[str, str]
) -> tuple[Access, ...]:
    """Return the accesses to those inputs of which elements are replaced in place."""
    return tuple(
        read_access(space, read, {read.tensor: Array(read.tensor, read.tensor, ())}, size_of)
        for read in (() if body is None or not into else reads(body))
        if read.tensor in into
    )


def renamed_reads(body: Expr, names: Mapping[str, str]) -> Expr:
    """Return the expression with reads of some arrays turned into reads of others."""
    body = map_children(body, lambda child: renamed_reads(child, names))
    if isinstance(body, Read) and body.tensor in names:
        return replace(body, tensor=names[body.tensor])
    return body


def plain(labels: Iterable[str]) -> tuple[Affine, ...]:
    """Return each label as an index."""
    return tuple(Affine(((label, 1),)) for label in labels)


def show_element(one: Access) -> str:
    """Return the text of the element of an access, such as `mm[m, l]`."""
    return f"{one.array}[{', '.join(map(show_affine, one.indices))}]"
