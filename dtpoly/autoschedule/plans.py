"""Decides which Func could be inlined, fused, or computed in a kernel of its own, and why."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from itertools import islice
from math import prod

from dtpoly.algorithm.expressions import Dot, Expr, Read, children, reads
from dtpoly.algorithm.group_index import grouped
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import (
    Directive,
    Func,
    Program,
    in_order,
    producers,
    reduced_labels,
    scanned_labels,
)
from dtpoly.algorithm.substitute import inlined
from dtpoly.amounts import amount, many
from dtpoly.autoschedule.operand_copies import OperandCopy
from dtpoly.frozen import dataclass
from dtpoly.schedule.bound_primitives import Primitives, saying
from dtpoly.schedule.facts import Fact, Fused, Inlined, ReducedAlong

MOST = 12  # plans that are looked at, with loops that are joined and without


class ChosenPlace(Enum):
    """The place where a Func is computed."""

    KERNEL = "in a kernel of its own"
    FUSED = "inside of a loop of another one"
    ONLINE = "in the loop of another one's reduction, which goes on with its result so far"
    INLINE = "wherever it is read"


@dataclass(frozen=True, slots=True)
class Placed:
    """The place where a Func is computed, and the reason for it.

    The host is the Func of its kernel; `reader` is that with whose loop its own one is joined.
    """

    func: str
    how: ChosenPlace
    why: str
    host: str = ""
    label: str = ""
    reader: str = ""


@dataclass(frozen=True, slots=True)
class PlacementPlan:
    """A place for each Func that is needed, producers first, and the inputs that are copied."""

    placed: tuple[Placed, ...]
    copies: tuple[OperandCopy, ...] = ()

    @property
    def kernels(self) -> tuple[tuple[str, ...], ...]:
        """Return the Funcs of each kernel, its own last."""
        hosts = [one.func for one in self.placed if one.how is ChosenPlace.KERNEL]
        return tuple((*self.fused_into(host), host) for host in hosts)

    def fused_into(self, host: str) -> tuple[str, ...]:
        """Return the Funcs that are computed inside of a kernel, producers first."""
        return tuple(one.func for one in self.placed if one.host == host)

    @property
    def joined(self) -> int:
        """Return how many Funcs are computed in loops that are joined."""
        online = {(x.reader, x.label) for x in self.placed if x.how is ChosenPlace.ONLINE}
        return sum((one.reader or one.host, one.label) in online for one in self.placed)

    def find(self, func: str) -> Placed:
        """Return where a Func is."""
        return next(one for one in self.placed if one.func == func)

    def substituted(self, program: Program) -> Program:
        """Return the Program with inlined Funcs in the place of their reads, to look at."""
        for one in self.placed:
            if one.how is ChosenPlace.INLINE:
                program = inlined(program, one.func)
        return program


def directive_of(placed: Placed, primitives: Primitives) -> Directive | None:
    """Return the directive that puts a Func there; a kernel of its own needs none."""
    match placed.how:
        case ChosenPlace.KERNEL:
            return None
        case ChosenPlace.INLINE:
            fact: Fact = Inlined(placed.func)
        case ChosenPlace.FUSED:
            fact = Fused(placed.func, placed.host, placed.label)
        case ChosenPlace.ONLINE:
            fact = ReducedAlong(placed.func, placed.reader, placed.label)
    return next(one.directive() for one in saying(fact, primitives))


def apart(program: Program, needed: Iterable[str]) -> PlacementPlan:
    """Return the plan that fuses and inlines nothing: each Func has a kernel of its own."""
    why = "stored: nothing that was tried is legal inside of another kernel"
    return PlacementPlan(
        tuple(Placed(one.name, ChosenPlace.KERNEL, why) for one in in_order(program, needed))
    )


@dataclass(frozen=True)
class _Setting:
    program: Program
    outputs: tuple[str, ...]
    results: frozenset[str]  # what functions return besides those that they are named after
    sizes: Sizes
    width: int  # bytes of an element, of what has no dtype
    processors: int
    readers: Mapping[str, tuple[str, ...]]
    below: Mapping[str, tuple[str, ...]]
    may_join: bool = True


def plans(
    program: Program,
    outputs: Iterable[str],
    sizes: Sizes,
    width: int,
    processors: int,
    results: Iterable[str] = (),
) -> tuple[PlacementPlan, ...]:
    """Plans worth looking at; the first ones move least between kernels.

    `results` are returned besides the outputs; another kernel may store them.
    """
    wanted, others = tuple(outputs), frozenset(results)
    needed = in_order(program, (*wanted, *results))
    below = producers(program)
    readers = {
        func.name: tuple(other.name for other in needed if func.name in below[other.name])
        for func in needed
    }
    setting = _Setting(program, wanted, others, sizes, width, processors, readers, below)
    left = tuple(reversed(needed))
    found = dict.fromkeys(islice(_plans(setting, left, ()), MOST))
    # Loops may be too short to be joined, so as many plans keep them apart.
    apart = _plans(replace(setting, may_join=False), left, ())
    return tuple(found | dict.fromkeys(islice(apart, MOST)))


def _plans(
    setting: _Setting, left: tuple[Func, ...], made: tuple[Placed, ...]
) -> Iterator[PlacementPlan]:
    """Consumers first, so that each producer finds in which kernels it is read."""
    if not left:
        yield PlacementPlan(made)
        return
    for placed in _choices(setting, left[0], made):
        yield from _plans(setting, left[1:], (placed, *made))


def _choices(setting: _Setting, func: Func, made: tuple[Placed, ...]) -> Iterator[Placed]:
    if func.name in setting.outputs:
        yield Placed(func.name, ChosenPlace.KERNEL, "it is asked for")
        return
    if func.name in setting.program.starts:
        added = setting.program.starts[func.name]
        why = f"all of it is stored before '{added}' is added to it"
        yield Placed(func.name, ChosenPlace.KERNEL, why)
        return
    hosts = _hosts(setting, func.name, made)
    if func.name in setting.results:
        yield from _result(setting, func, hosts, made)
        return
    size = amount(prod(setting.sizes[label] for label in func.labels) * setting.width)
    if not _walked(func):
        yield from _elementwise(setting, func, hosts, made, size)
        return
    if len(hosts) != 1:
        yield Placed(
            func.name, ChosenPlace.KERNEL, f"{len(hosts)} kernels read it: {size} are stored once"
        )
        return
    (host,) = hosts
    yield from _reducing(setting, func, setting.program.func(host), made, size)


def _result(
    setting: _Setting, func: Func, hosts: tuple[str, ...], made: tuple[Placed, ...]
) -> Iterator[Placed]:
    """Stored on the way by the kernel that reads it, or in a kernel of its own.

    If none reads it, one that has the same elements and reads the same may compute it on the way.
    """
    what = "stored where it is read"
    if not setting.readers[func.name]:
        hosts = tuple(one for one in setting.outputs if _is_alike(setting, func, one))[:1]
        what = "computed where what it reads is loaded"
    row = _row(setting, func, setting.program.func(hosts[0]), made) if len(hosts) == 1 else None
    if row is not None:
        why = f"asked for, and {what}, for each block of {row}"
        yield Placed(func.name, ChosenPlace.FUSED, why, hosts[0], row)
    yield Placed(func.name, ChosenPlace.KERNEL, "it is asked for")


def _is_alike(setting: _Setting, func: Func, other: str) -> bool:
    """Return whether another Func has the same elements as this one, and reads what it reads.

    It goes along the same labels, if it goes along any: then both have what a loop loads.
    """
    host = setting.program.func(other)
    places = [one for one in (func, host) if one.into is not None and one.into.at is not None]
    is_apart = bool(_walked(func)) and {*_walked(func)} != {*_walked(host)}
    if is_apart or places or {*func.labels} != {*host.labels}:
        return False
    mine, its = ({one.tensor for one in reads(x.body)} for x in (func, host))
    return bool(mine & its)


def _hosts(setting: _Setting, func: str, made: tuple[Placed, ...]) -> tuple[str, ...]:
    """Return the kernels in which a Func is read."""
    where = {one.func: one for one in made}
    found: dict[str, None] = {}
    for reader in setting.readers[func]:
        one = where[reader]
        match one.how:
            case ChosenPlace.KERNEL:
                found[reader] = None
            case ChosenPlace.FUSED | ChosenPlace.ONLINE:
                found[one.host] = None
            case ChosenPlace.INLINE:
                found |= dict.fromkeys(_hosts(setting, reader, made))
    return tuple(found)


def _elementwise(
    setting: _Setting, func: Func, hosts: tuple[str, ...], made: tuple[Placed, ...], size: str
) -> Iterator[Placed]:
    """Computed again where it is read, kept in registers, or kept in memory."""
    found = (_reads_of(setting.program.func(r), func.name) for r in setting.readers[func.name])
    count = sum(map(len, found))
    if len(hosts) == 1 and count > 1:
        label = _row(setting, func, setting.program.func(hosts[0]), made)
        if label is not None:
            why = f"read {count} times: computed once, and kept where it is"
            yield Placed(func.name, ChosenPlace.FUSED, why, hosts[0], label)
    if hosts and not any({*func.labels} & {*setting.program.func(x).labels} for x in hosts):
        # What it reads may be reduced in its own loops, which those who read it do not have.
        why = f"{size} stored: it has loops that its readers lack, for all that it is made of"
        if any(_walked(setting.program.func(x)) for x in setting.below[func.name]):
            yield Placed(func.name, ChosenPlace.KERNEL, why)
    again = "read once" if count == 1 else f"computed again at each of {count} reads"
    yield Placed(func.name, ChosenPlace.INLINE, f"{again}: {size} less in memory")
    if _is_operand(setting, func):
        why = f"{size} in the order in which products want them: each block reads them again"
        yield Placed(func.name, ChosenPlace.KERNEL, why)


def _reducing(
    setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...], size: str
) -> Iterator[Placed]:
    """Inside of the loop that reads it, or before, in a kernel of its own."""
    row = _row(setting, func, host, made)
    others = [x for x in host.labels if x not in func.labels and x not in _bound(setting, host)]
    is_again = _multiplies(func) or _is_operand(setting, func)
    again = f" for each block of {' and '.join(others)}" if others and is_again else ""
    joined = tuple(_online(setting, func, host, made))
    yield from joined
    if joined:
        return  # the same with a loop of its own is among the plans that join nothing
    along = _along(setting, func, host, made)
    if along is not None:
        why = f"goes on with the loop over {along} where it is read: {size} less in memory"
        yield Placed(func.name, ChosenPlace.FUSED, why, host.name, along)
    if row is not None:
        why = f"computed where it is read, for each block of {row}: {size} less in memory"
        yield Placed(func.name, ChosenPlace.FUSED, why, host.name, row)
    inner = _inner(setting, func, host, made)
    if inner is not None:
        why = f"computed where it is read, step by step along {inner}: {size} less in memory"
        yield Placed(func.name, ChosenPlace.FUSED, why, host.name, inner)
    programs = prod(setting.sizes[label] for label in host.labels if label in func.labels)
    if row is None and inner is None:
        yield Placed(func.name, ChosenPlace.KERNEL, f"no loop of '{host.name}' has a part of it")
    elif any(label in host.labels for label in scanned_labels(func)):
        why = f"{size} stored: '{host.name}' need not have all steps of the scan at once"
        yield Placed(func.name, ChosenPlace.KERNEL, why)
    elif row is not None and _crowded(setting, func, host, made):
        why = f"{size} stored: a block has registers for the sums of one product, or is smaller"
        yield Placed(func.name, ChosenPlace.KERNEL, why)
    elif again:
        why = f"{size} stored once, and not computed again{again}"
        yield Placed(func.name, ChosenPlace.KERNEL, why)
    elif programs < 2 * setting.processors:
        why = f"{many(programs, 'row')} are too few for {setting.processors} multiprocessors"
        yield Placed(func.name, ChosenPlace.KERNEL, why)


def _is_operand(setting: _Setting, func: Func) -> bool:
    """Return whether an operand of a product is read from a Func: each block reads it again."""
    readers = (setting.program.func(name) for name in setting.readers[func.name])
    return any(inside for reader in readers for inside in _reads_of(reader, func.name))


def _crowded(setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...]) -> bool:
    """Return whether a product would share its kernel with another one, and all of these do."""
    beside = [x for x in setting.below[host.name] if x != func.name]
    products = [x for x in beside if _multiplies(setting.program.func(x))]
    apart = {one.func for one in made if one.how is ChosenPlace.KERNEL}
    return _multiplies(func) and bool(products) and apart.isdisjoint(products)


def _walked(func: Func) -> tuple[str, ...]:
    """Return the labels that one program has to walk: those of reductions and of scans."""
    return (*reduced_labels(func), *scanned_labels(func))


def _row(setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...]) -> str | None:
    """Return the innermost label that both have and that nothing in the kernel reduces over."""
    inside = [host.name, *(one.func for one in made if one.host == host.name), func.name]
    bound = {x for name in inside for x in _walked(setting.program.func(name))}
    # What is stored on the way is so as a whole, in each block of a group.
    had = {*func.labels, *(() if func.name in setting.results else _grouped(setting, func.name))}
    shared = [x for x in host.labels if x in had and x not in bound]
    return shared[-1] if shared else None


def _grouped(setting: _Setting, func: str) -> set[str]:
    """Return the labels at whose quotients a Func is read: a block of whole groups has a part."""
    return {
        group[0]
        for reader in setting.readers[func]
        for read in reads(setting.program.func(reader).body)
        if read.tensor == func
        for index in read.indices
        if (group := grouped(index)) is not None
    }


def _bound(setting: _Setting, host: Func) -> set[str]:
    return set(_walked(setting.program.func(host.name)))


def _inner(setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...]) -> str | None:
    """Return a label that the host reduces over, if only its loop, with those joined, reads it."""
    own = [x for x in reduced_labels(host) if x not in host.labels and x in func.labels]
    if not own:
        return None
    loop = {host.name, *(one.func for one in made if _is_joined(one, host.name, own[-1]))}
    return own[-1] if _readers(setting, func.name, made) <= loop else None


def _along(setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...]) -> str | None:
    """Return the label of a Func's scans if it is that of a loop which has all of its readers."""
    labels = scanned_labels(func)
    beside = {one.func for one in made if one.host == host.name and one.label in labels}
    is_one_loop = len(labels) == 1 and labels[0] in host.labels
    return (
        labels[0]
        if is_one_loop and _readers(setting, func.name, made) <= {host.name, *beside}
        else None
    )


def _is_joined(one: Placed, reader: str, label: str) -> bool:
    is_there = (one.reader, one.label) == (reader, label)
    return one.how is ChosenPlace.ONLINE and is_there


def _readers(setting: _Setting, func: str, made: tuple[Placed, ...]) -> set[str]:
    """Return the Funcs in whose loops a Func is read, itself or by way of what is inlined."""
    where = {one.func: one for one in made}
    found = set[str]()
    for reader in setting.readers[func]:
        is_inlined = where[reader].how is ChosenPlace.INLINE
        found |= _readers(setting, reader, made) if is_inlined else {reader}
    return found


def _online(
    setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...]
) -> Iterator[Placed]:
    """In the loop of a reader's reduction over the same label, which goes on with it so far.

    If two readers reduce over the label, their loops are joined already.
    """
    others = {one.func: one for one in made if one.host == host.name} | {host.name: None}
    readers = others.keys() & _readers(setting, func.name, made)
    for label in reduced_labels(func) if setting.may_join else ():
        same = [x for x in others if x in readers and label in _reduced(setting, x)]
        first = [x for x in same if (one := others[x]) is None or one.how is not ChosenPlace.ONLINE]
        joined = [x for x in same if (one := others[x]) and _is_joined(one, first[0], label)]
        if len(first) != 1 or len(joined) + 1 != len(same):
            continue
        why = f"the loop of '{first[0]}' over {label} goes on with the result so far: one loop less"
        yield Placed(func.name, ChosenPlace.ONLINE, why, host.name, label, first[0])


def _reduced(setting: _Setting, func: str) -> tuple[str, ...]:
    return reduced_labels(setting.program.func(func))


def _multiplies(func: Func) -> bool:
    return any(isinstance(node, Dot) for node in _nodes(func.body))


def _nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from _nodes(child)


def _reads_of(func: Func, name: str) -> list[bool]:
    """Yield each read of a Func, and whether it is in an operand of a product."""
    found: list[bool] = []

    def look(expr: Expr, inside: bool) -> None:
        if isinstance(expr, Read) and expr.tensor == name:
            found.append(inside)
        for child in children(expr):
            look(child, inside or isinstance(expr, Dot))

    look(func.body, False)
    return found


def with_directives(program: Program, directives: Iterable[Directive]) -> Program:
    """Return the algorithm with another schedule."""
    return replace(program, directives=tuple(directives))
