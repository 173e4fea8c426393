"""Makes a private copy of producers for each iteration of a place in the tree.

The readers inside the place read the copy instead of the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, is_absolute
from dtpoly.poly.coordinates import aff_coordinates
from dtpoly.poly.footprint import needed, ranges
from dtpoly.poly.index_ranges import Range
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Access, Array, Model, Statement, access, renamed_reads
from dtpoly.poly.spaces import affs, computing, named_dims

Readers = tuple[tuple[Statement, Path], ...]
NO_RANGES: Mapping[str, Range] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Replicated:
    """The new Model, its copies, and the range of each label that an iteration needs.

    Scans that follow the last axis of the place begin before it: `begins` are their copies.
    """

    model: Model
    copies: tuple[Statement, ...]
    ranges: Mapping[str, Range]
    begins: tuple[Statement, ...] = ()
    begin_ranges: Mapping[str, Range] = NO_RANGES


def replicate(
    model: Model,
    mine: tuple[Statement, ...],
    arrays: Mapping[str, Array],
    readers: Readers,
    place: tuple[Axis, ...],
    suffix: str,
    also: Readers = (),
    *,
    may_follow: bool = False,
) -> Replicated:
    """Give every iteration of a place a copy of the instances that its readers need.

    The copy has no other instances, unless reads are skew. The names of the copies and of their
    arrays get a suffix; copies that the Model already has are replaced. The readers read what
    the last statement in `mine` writes. A copy also has what `also` would read. If scans may, they
    follow the last axis of the place, instead of beginning anew in each iteration.
    """
    with computing("private copies"):
        names = tuple(axis.name for axis in place)
        need = needed(mine, (*readers, *also), place, may_follow=may_follow)
        instances = need.instances
        mine = tuple(s for s in mine if s.name in instances)
        own = {s.writes.array: s.writes.array + suffix for s in mine}
        of = {old: names[:-1] if old in need.carried else names for old in own}
        private = {old: replace(arrays[old], name=own[old], copies=of[old]) for old in own}
        relative = frozenset(a.name for a in place if not is_absolute(a, readers[0][1]))
        copies = {
            s.name: replace(
                _copy(s, instances[s.name], private[s.writes.array].copies, private, suffix),
                relative=relative | s.relative,
                is_boxed=need.is_boxed,
            )
            for s in mine
        }
        changed = {reader.name: _redirect(reader, path, names, private) for reader, path in readers}
        kept = tuple(changed.get(s.name, s) for s in model.statements)
        statements = _placed(kept, tuple(copies.values()), mine)
        begins = [s for s in mine if s.writes.array in need.carried]
        begin_ranges = [ranges(s, instances[s.name], place[:-1]) for s in begins]
        return Replicated(
            model.with_statements(statements, *private.values()),
            tuple(copies[s.name] for s in mine if s.writes.array not in need.carried),
            _ranges(mine, instances, place),
            tuple(copies[s.name] for s in begins),
            {label: one for found in begin_ranges for label, one in found.items()},
        )


def _ranges(
    mine: tuple[Statement, ...], instances: Mapping[str, isl.Map], place: tuple[Axis, ...]
) -> dict[str, Range]:
    """Return the range of each label that an iteration needs: a scan also needs earlier steps.

    What it needs of a label along which two scans go is not looked at: its loop has all of it.
    """
    found = ranges(mine[-1], instances[mine[-1].name], place)
    scans = [one for one in mine if one.scan is not None]
    for one in scans:
        assert one.scan is not None
        label = one.scan.label
        own = ranges(one, instances[one.name], place)[label]
        is_alone = sum(other.scan is not None and other.scan.label == label for other in scans) == 1
        if is_alone:
            found[label] = own
        else:
            found.pop(label, None)
    return found


def _placed(
    statements: tuple[Statement, ...],
    copies: tuple[Statement, ...],
    mine: tuple[Statement, ...],
) -> tuple[Statement, ...]:
    """Put the copies where the copied statements stood, or after them if these remain."""
    by_name = {copy.name: copy for copy in copies}
    if all(s.name in by_name for s in mine):
        return tuple(by_name.get(s.name, s) for s in statements)
    last = max(i for i, s in enumerate(statements) if s.func == mine[-1].func)
    return (*statements[: last + 1], *copies, *statements[last + 1 :])


def _copy(
    statement: Statement,
    instances: isl.Map,
    names: tuple[str, ...],
    private: Mapping[str, Array],
    suffix: str,
) -> Statement:
    name = statement.name + suffix
    copies = names + statement.copies
    domain = named_dims(instances.wrap().flatten(), name, copies + statement.labels)
    space = domain.get_space()

    def anew(old: Access) -> Access:
        if old.array in private:
            array = private[old.array]
            own = tuple(affs(space)[copy] for copy in array.copies)
            return access(space, array, old.indices, own, old.within)
        return replace(old, relation=_on_labels(old.relation, space, len(names)))

    body = statement.body
    if body is not None:
        body = renamed_reads(body, {old: array.name for old, array in private.items()})
    # A statement that adds to an element reads and writes it by one access, which stays one.
    scan = statement.scan
    if scan is not None:
        carry = private[scan.carry]
        scan = replace(scan, carry=carry.name, follows=frozenset(names) - {*carry.copies})
    made = {id(one): anew(one) for one in (statement.writes, *statement.reads)}
    return replace(
        statement,
        name=name,
        copies=copies,
        domain=domain,
        writes=made[id(statement.writes)],
        reads=tuple(made[id(read)] for read in statement.reads),
        body=body,
        old=tuple(map(anew, statement.old)),
        scan=scan,
    )


def _on_labels(relation: isl.Map, space: isl.Space, count: int) -> isl.Map:
    """Return the access of a statement that has this many more leading dims."""
    moved = relation.reset_tuple_id(isl.dim_type.in_).insert_dims(isl.dim_type.in_, 0, count)
    for position in range(moved.dim(isl.dim_type.in_)):
        name = space.get_dim_name(isl.dim_type.set, position)
        assert name is not None
        moved = moved.set_dim_name(isl.dim_type.in_, position, name)
    return moved.set_tuple_id(isl.dim_type.in_, space.get_tuple_id(isl.dim_type.set))


def _redirect(
    reader: Statement, path: Path, names: tuple[str, ...], private: Mapping[str, Array]
) -> Statement:
    """Return the reader with reads of the copy of its own iteration."""
    space = reader.domain.get_space()
    value = aff_coordinates(path, reader, affs(space))
    iteration = tuple(value[name] for name in names)
    reads = tuple(
        access(space, private[read.array], read.indices, iteration, read.within)
        if read.array in private
        else read
        for read in reader.reads
    )
    body = reader.body
    if body is not None:
        body = renamed_reads(body, {old: array.name for old, array in private.items()})
    return replace(reader, reads=reads, body=body)
