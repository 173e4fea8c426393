"""Decides which Func could be inlined, fused, or computed in a kernel of its own, and why."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from itertools import islice
from math import prod

from dtpoly.algorithm.expressions import Dot, Expr, Read, children
from dtpoly.algorithm.program import (
    Directive,
    Func,
    Program,
    in_order,
    producers,
    reduced_labels,
)
from dtpoly.algorithm.sizes import Sizes
from dtpoly.algorithm.substitute import inlined
from dtpoly.amounts import amount, many
from dtpoly.frozen import dataclass
from dtpoly.schedule.facts import Fact, Fused, Inlined
from dtpoly.schedule.primitives import Primitives, saying

MOST = 12  # plans that are looked at


class How(Enum):
    """Where a Func is computed."""

    KERNEL = "in a kernel of its own"
    FUSED = "inside of a loop of another one"
    INLINE = "wherever it is read"


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a Func is computed, and why there."""

    func: str
    how: How
    why: str
    host: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A place for each Func that is needed, producers first."""

    placed: tuple[Placed, ...]

    @property
    def kernels(self) -> tuple[tuple[str, ...], ...]:
        """The Funcs of each kernel, its own last."""
        hosts = [one.func for one in self.placed if one.how is How.KERNEL]
        return tuple((*self.fused_into(host), host) for host in hosts)

    def fused_into(self, host: str) -> tuple[str, ...]:
        """Return the Funcs that are computed inside of a kernel, producers first."""
        return tuple(one.func for one in self.placed if one.host == host)

    def find(self, func: str) -> Placed:
        """Where a Func is."""
        return next(one for one in self.placed if one.func == func)

    def substituted(self, program: Program) -> Program:
        """The Program in which what is inlined stands where it was read; for looking at it."""
        for one in self.placed:
            if one.how is How.INLINE:
                program = inlined(program, one.func)
        return program


def directive_of(placed: Placed, primitives: Primitives) -> Directive | None:
    """Return the directive that puts a Func there; a kernel of its own needs none."""
    match placed.how:
        case How.KERNEL:
            return None
        case How.INLINE:
            fact: Fact = Inlined(placed.func)
        case How.FUSED:
            fact = Fused(placed.func, placed.host, placed.label)
    return next(one.directive() for one in saying(fact, primitives))


@dataclass(frozen=True)
class _Setting:
    program: Program
    outputs: tuple[str, ...]
    sizes: Sizes
    width: int  # bytes of an element, of what has no dtype
    processors: int
    readers: Mapping[str, tuple[str, ...]]
    below: Mapping[str, tuple[str, ...]]


def plans(
    program: Program, outputs: Iterable[str], sizes: Sizes, width: int, processors: int
) -> tuple[Plan, ...]:
    """Plans worth looking at; the first ones move least between kernels."""
    wanted = tuple(outputs)
    needed = in_order(program, wanted)
    below = producers(program)
    readers = {
        func.name: tuple(other.name for other in needed if func.name in below[other.name])
        for func in needed
    }
    setting = _Setting(program, wanted, sizes, width, processors, readers, below)
    found = _plans(setting, tuple(reversed(needed)), ())
    return tuple(islice(found, MOST))


def _plans(setting: _Setting, left: tuple[Func, ...], made: tuple[Placed, ...]) -> Iterator[Plan]:
    """Consumers first, so that each producer finds in which kernels it is read."""
    if not left:
        yield Plan(made)
        return
    for placed in _choices(setting, left[0], made):
        yield from _plans(setting, left[1:], (placed, *made))


def _choices(setting: _Setting, func: Func, made: tuple[Placed, ...]) -> Iterator[Placed]:
    if func.name in setting.outputs:
        yield Placed(func.name, How.KERNEL, "it is asked for")
        return
    hosts = _hosts(setting, func.name, made)
    size = amount(prod(setting.sizes[label] for label in func.labels) * setting.width)
    if not reduced_labels(func):
        yield from _elementwise(setting, func, hosts, made, size)
        return
    if len(hosts) != 1:
        yield Placed(func.name, How.KERNEL, f"{len(hosts)} kernels read it: {size} are stored once")
        return
    (host,) = hosts
    yield from _reducing(setting, func, setting.program.func(host), made, size)


def _hosts(setting: _Setting, func: str, made: tuple[Placed, ...]) -> tuple[str, ...]:
    """The kernels in which a Func is read."""
    where = {one.func: one for one in made}
    found: dict[str, None] = {}
    for reader in setting.readers[func]:
        one = where[reader]
        match one.how:
            case How.KERNEL:
                found[reader] = None
            case How.FUSED:
                found[one.host] = None
            case How.INLINE:
                found |= dict.fromkeys(_hosts(setting, reader, made))
    return tuple(found)


def _elementwise(
    setting: _Setting, func: Func, hosts: tuple[str, ...], made: tuple[Placed, ...], size: str
) -> Iterator[Placed]:
    """Computed again where it is read, kept in registers, or kept in memory."""
    reads = [_reads_of(setting.program.func(r), func.name) for r in setting.readers[func.name]]
    count = sum(len(one) for one in reads)
    is_operand = any(inside for one in reads for inside in one)
    if len(hosts) == 1 and count > 1:
        label = _row(setting, func, setting.program.func(hosts[0]), made)
        if label is not None:
            why = f"read {count} times: computed once, and kept where it is"
            yield Placed(func.name, How.FUSED, why, hosts[0], label)
    if hosts and not any({*func.labels} & {*setting.program.func(x).labels} for x in hosts):
        # What it reads may be reduced in its own loops, which those who read it do not have.
        why = f"{size} stored: it has loops that its readers lack, for all that it is made of"
        if any(reduced_labels(setting.program.func(x)) for x in setting.below[func.name]):
            yield Placed(func.name, How.KERNEL, why)
    again = "read once" if count == 1 else f"computed again at each of {count} reads"
    yield Placed(func.name, How.INLINE, f"{again}: {size} less in memory")
    if is_operand:
        why = f"{size} in the order in which products want them: each block reads them again"
        yield Placed(func.name, How.KERNEL, why)


def _reducing(
    setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...], size: str
) -> Iterator[Placed]:
    """Inside of the loop that reads it, or before, in a kernel of its own."""
    row = _row(setting, func, host, made)
    others = [x for x in host.labels if x not in func.labels and x not in _bound(setting, host)]
    again = f" for each block of {' and '.join(others)}" if others and _multiplies(func) else ""
    if row is not None:
        why = f"computed where it is read, for each block of {row}: {size} less in memory"
        yield Placed(func.name, How.FUSED, why, host.name, row)
    inner = _inner(setting, func, host)
    if inner is not None:
        why = f"computed where it is read, step by step along {inner}: {size} less in memory"
        yield Placed(func.name, How.FUSED, why, host.name, inner)
    programs = prod(setting.sizes[label] for label in host.labels if label in func.labels)
    if row is None and inner is None:
        yield Placed(func.name, How.KERNEL, f"no loop of '{host.name}' has a part of it")
    elif again:
        why = f"{size} stored once, and not computed again{again}"
        yield Placed(func.name, How.KERNEL, why)
    elif programs < 2 * setting.processors:
        why = f"{many(programs, 'row')} are too few for {setting.processors} multiprocessors"
        yield Placed(func.name, How.KERNEL, why)


def _row(setting: _Setting, func: Func, host: Func, made: tuple[Placed, ...]) -> str | None:
    """The innermost label that both have and that nothing in the kernel reduces over."""
    inside = [host.name, *(one.func for one in made if one.host == host.name), func.name]
    bound = {x for name in inside for x in reduced_labels(setting.program.func(name))}
    shared = [x for x in host.labels if x in func.labels and x not in bound]
    return shared[-1] if shared else None


def _bound(setting: _Setting, host: Func) -> set[str]:
    return set(reduced_labels(setting.program.func(host.name)))


def _inner(setting: _Setting, func: Func, host: Func) -> str | None:
    """A label that the host reduces over, if it alone reads the Func."""
    if setting.readers[func.name] != (host.name,):
        return None
    own = [x for x in reduced_labels(host) if x not in host.labels and x in func.labels]
    return own[-1] if own else None


def _multiplies(func: Func) -> bool:
    return any(isinstance(node, Dot) for node in _nodes(func.body))


def _nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from _nodes(child)


def _reads_of(func: Func, name: str) -> list[bool]:
    """Each read of a Func, and whether it is in an operand of a product."""
    found: list[bool] = []

    def look(expr: Expr, inside: bool) -> None:
        if isinstance(expr, Read) and expr.tensor == name:
            found.append(inside)
        for child in children(expr):
            look(child, inside or isinstance(expr, Dot))

    look(func.body, False)
    return found


def with_directives(program: Program, directives: Iterable[Directive]) -> Program:
    """The algorithm with another schedule."""
    return replace(program, directives=tuple(directives))
