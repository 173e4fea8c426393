"""Divides the scans of a Func in two: the states at the ends of parts, and scans that begin there.

    c[x, t] = scan_sum(A[x, s], s, t);
      -->
    c_parts[p, x] = rsum(A[x, t], t);                      # t is in part p
    c_start[p, x] = scan_sum(c_parts[q, x], q, p, before);
    c[x, t] = c_start[p, x] + scan_sum(A[x, s], s, t);     # s and t are in part p

So one program can have each part, and none of them waits for another one. The state of a recurrence
h = a * h + b at the end of a part is a pair: the product of its a, and the h that begins from 0.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Expr,
    Integer,
    Read,
    Reduce,
    ScanOrder,
    free_labels,
    map_children,
    walk,
)
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.operations import RECURRENCE
from dtpoly.algorithm.parted import NotInPartsError, fresh
from dtpoly.algorithm.program import Func, Label, Part, Program, scanned_labels
from dtpoly.algorithm.scans import at_results, scans_of
from dtpoly.frozen import dataclass
from dtpoly.source import Span

# The operation that puts the result in a part to the state before the part.
PUT_TO = {"rsum": "add", "rprod": "mul", "rmax": "maximum", "rmin": "minimum"}
FROM_0 = Integer(0)
PRODUCT = "rprod"


@dataclass(frozen=True, slots=True)
class AskedScan:
    """A Func whose scans along a label a directive asks for in parts of some size."""

    func: str
    label: str
    name: str  # of the label that numbers the parts
    size: int
    span: Span | None


@dataclass(frozen=True, slots=True)
class PartedScan:
    """A Program in which the scans of a Func go through parts.

    `states` are the Funcs that have the state at the end of each part, `starts` those that have the
    state before it. Of the `pairs`, the states of recurrences, the first half is a product.
    """

    program: Program
    func: str
    of: str  # the label
    label: str  # numbers its parts
    states: tuple[str, ...]
    starts: tuple[str, ...]
    pairs: Mapping[str, str]

    @property
    def made(self) -> tuple[str, ...]:
        """Return the Funcs that were made."""
        return (*self.states, *self.starts)


def scans_in_parts(program: Program, asked: AskedScan) -> PartedScan:
    """Divide all scans of a Func.

    Raises NotInPartsError if something in it does not go along with the parts.
    """
    func = program.func(asked.func)
    _check(func, asked.label)
    known = program.parts.get(asked.name, Part(asked.label, asked.size))
    if known != Part(asked.label, asked.size):
        raise NotInPartsError(func.name, f"'{asked.name}' numbers other parts in another Func")
    taken = {one.name for one in (*program.labels, *program.inputs, *program.funcs)} | {asked.name}
    making = _Making(program, func, asked, taken, fresh(f"{asked.name}.earlier", taken), [], [], {})
    scans = tuple(dict.fromkeys(scans_of(func.body)))
    begun = {one: making.begun(one) for one in scans}
    divided = replace(func, body=_replaced(func.body, begun), parted=asked.name)
    mine = (*making.states, *making.starts, divided)
    funcs = tuple(one for old in program.funcs for one in (mine if old is func else (old,)))
    part = Part(asked.label, asked.size)
    new = tuple(Label(one, reducible=True, part=part) for one in (asked.name, making.earlier))
    labels = tuple(dict.fromkeys((*program.labels, *new)))
    made = replace(program, labels=labels, funcs=funcs)
    states, starts = (tuple(one.name for one in x) for x in (making.states, making.starts))
    return PartedScan(made, func.name, asked.label, asked.name, states, starts, making.pairs)


def _check(func: Func, label: str) -> None:
    along = scanned_labels(func)
    others = [one for one in along if one != label]
    if others:
        raise NotInPartsError(func.name, f"it has a scan along '{others[0]}', too")
    if any(isinstance(one, Dot | Reduce) and label in one.labels for one in walk(func.body)):
        raise NotInPartsError(func.name, f"it also reduces over '{label}'")


@dataclass(frozen=True, slots=True)
class _Making:
    """The Funcs that are made for the scans of a Func."""

    program: Program
    func: Func
    asked: AskedScan
    taken: set[str]
    earlier: str  # numbers the parts before one
    states: list[Func]
    starts: list[Func]
    pairs: dict[str, str]

    def begun(self, scan: Reduce) -> Expr:
        """Return what a scan gives in the parts: it begins from the state before its part."""
        order, there = scan.scan, at_results(scan)
        assert order is not None
        assert isinstance(there, Reduce)
        if scan.operation == RECURRENCE:
            return self._of_recurrence(scan, order, there)
        state = self._state(Reduce(scan.operation, there.operand, (self.asked.label,)))
        read = self._read(state, self.earlier)
        after = replace(order, at=self.asked.name, is_before=True)
        start = self._start(Reduce(scan.operation, read, (self.earlier,), scan=after))
        return Apply(PUT_TO[scan.operation], (self._read(start, self.asked.name), scan), scan.span)

    def _of_recurrence(self, scan: Reduce, order: ScanOrder, there: Reduce) -> Expr:
        """Make the pairs of a recurrence, and the states before the parts."""
        label, own = self.asked.label, there.scan
        assert own is not None
        assert own.factor is not None
        product = self._state(Reduce(PRODUCT, own.factor, (label,)), "factors")
        last = replace(own, at=label, is_before=False, initial=FROM_0)
        state = self._state(Reduce(RECURRENCE, there.operand, (label,), scan=last))
        if product.labels == state.labels:
            self.pairs[product.name] = state.name
        factor, added = (self._read(one, self.earlier) for one in (product, state))
        after = replace(order, at=self.asked.name, is_before=True, factor=factor)
        start = self._start(Reduce(RECURRENCE, added, (self.earlier,), scan=after))
        return replace(scan, scan=replace(order, initial=self._read(start, self.asked.name)))

    def _state(self, body: Reduce, word: str = "parts") -> Func:
        """Make the Func that has the state at the end of each part, or a half of it."""
        made = self._func(word, body)
        self.states.append(made)
        return made

    def _start(self, body: Reduce) -> Func:
        """Make the Func that has the state before each part, in the type of a state."""
        dtype = type_of(self.states[-1].body, types_of(self.program)).dtype
        when = () if body.scan is None else body.scan.conditions(self.earlier)
        made = replace(self._func("start", replace(body, when=when)), dtype=dtype)
        self.starts.append(made)
        return made

    def _func(self, word: str, body: Expr) -> Func:
        """Make a Func with a number of a part, and with those labels that it depends on."""
        name, free = fresh(f"{self.func.name}_{word}", self.taken), free_labels(body)
        self.taken.add(name)
        kept = (one for one in self.func.labels if one in free and one != self.asked.label)
        labels = (self.asked.name, *kept)
        return Func(name, labels, body, span=self.func.span, whole=self.func.name)

    def _read(self, func: Func, part: str) -> Read:
        return Read(func.name, tuple(Affine(((one, 1),)) for one in (part, *func.labels[1:])))


def _replaced(expr: Expr, by: dict[Reduce, Expr]) -> Expr:
    if isinstance(expr, Reduce) and expr in by:
        return by[expr]
    return map_children(expr, lambda one: _replaced(one, by))
