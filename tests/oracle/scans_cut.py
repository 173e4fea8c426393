"""Divides scans that a block cuts into parts, before kernels are looked for.

`c.block(t:p/64)` cuts the label t along which c scans. Then the algorithm is another one:

    c_parts[p, x] = rsum(A[x, t], t);                      # t is in part p
    c_start[p, x] = scan_sum(c_parts[q, x], q, p, before);
    c[x, t] = c_start[p, x] + scan_sum(A[x, s], s, t);     # s and t are in part p

The state of a recurrence at the end of a part is a pair: the product of its factors, and what its
steps make of 0, one after another.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Expr,
    Index,
    Read,
    Reduce,
    Reshape,
    ScanOrder,
    divided,
    free_labels,
    map_children,
    walk,
)
from dtpoly.algorithm.operations import RECURRENCE
from dtpoly.algorithm.program import Func, Label, reduced_labels, scanned_labels
from tests.oracle.parts import in_part
from tests.oracle.said import Fusion, Said, Settings, Unclear
from tests.oracle.statements import put_in


@dataclass(frozen=True, slots=True)
class _Cut:
    """A Func whose scans are cut: along which label, and what numbers the parts."""

    func: Func
    label: str
    number: str
    size: int


@dataclass(frozen=True, slots=True)
class _Made:
    """The Funcs that are made for the scans of a Func, and the first halves of pairs."""

    states: dict[str, Func]
    starts: dict[str, Func]
    pairs: dict[str, str]

    def named(self, word: str, cut: _Cut) -> str:
        """Return a name that none of them has."""
        taken, name, count = {*self.states, *self.starts}, f"{cut.func.name}_{word}", 2
        while name in taken:
            name, count = f"{cut.func.name}_{word}_{count}", count + 1
        return name


def with_cut_scans(said: Said) -> Said:
    """Return what is said of the algorithm in which scans that blocks cut are in parts."""
    for func in said.program.funcs:
        settings = said.settings[func.name]
        for label in settings.blocks.keys() & {*scanned_labels(func)}:
            number = settings.partials.get(label, f"{label}.part")
            said = _cut(said, _Cut(func, label, number, settings.blocks[label]))
    return said


def _check(said: Said, cut: _Cut) -> None:
    func = cut.func
    if {*scanned_labels(func)} != {cut.label} or func.when or func.into is not None:
        raise Unclear(f"{func.name} has scans along several labels, a range or a place")
    if any(isinstance(one, Dot | Reduce) and cut.label in one.labels for one in walk(func.body)):
        raise Unclear(f"{func.name} also reduces over {cut.label}")
    if func.name in said.inlined or any(one.func == func.name for one in said.fusions):
        raise Unclear(f"copies of {func.name} would have parts")
    if said.settings[func.name].rewrites:
        raise Unclear(f"users' primitives would rewrite the kernels of {func.name}")
    if said.settings[func.name].blocks.keys() & ({*reduced_labels(func)} - {*func.labels}):
        raise Unclear(f"partial results of {func.name} would be those of parts of its scan")
    if any(cut.number in one.labels for one in said.program.funcs):
        raise Unclear(f"{cut.number} numbers the parts of several scans")


def _cut(said: Said, cut: _Cut) -> Said:
    _check(said, cut)
    made, program = _Made({}, {}, {}), said.program
    scans = dict.fromkeys(
        one for one in walk(cut.func.body) if isinstance(one, Reduce) and one.scan is not None
    )
    begun = {one: _begun(one, cut, made) for one in scans}
    own = replace(cut.func, body=_replaced(cut.func.body, begun))
    mine = (*made.states.values(), *made.starts.values(), own)
    funcs = tuple(x for one in program.funcs for x in (mine if one is cut.func else (one,)))
    labels = (*program.labels, Label(cut.number, reducible=True), Label(_earlier(cut), True))
    into = {one.consumer for one in said.fusions}
    # What is fused into the scan goes to one loop of a kernel, and these would be two.
    pairs = {} if cut.func.name in into else made.pairs
    functions = said.returned.get(cut.func.name, set()) | ({cut.func.name} & said.wanted)
    returned = dict(said.returned) | {one: set(functions) for one in pairs}
    returned |= {one: {*functions} for one in pairs.values()}
    fusions = list(_fusions(said.fusions, cut, made))
    fusions += [Fusion(one, other, cut.number, False) for one, other in pairs.items()]
    settings = _settings(said, cut, made)
    return Said(
        replace(program, funcs=funcs, labels=labels),
        settings,
        said.inlined,
        said.wanted,
        returned,
        fusions,
        said.merging,
    )


def _earlier(cut: _Cut) -> str:
    return f"{cut.number}.earlier"


def _begun(scan: Reduce, cut: _Cut, made: _Made) -> Expr:
    """Return what a scan is in the parts: it begins from the state before its part."""
    order = scan.scan
    assert order is not None
    (label,) = scan.labels
    there = _renamed(scan.operand, label, cut.label)
    when = in_part(cut.label, cut.number, cut.size)
    factors: Func | None = None
    if order.factor is not None:
        factor = _renamed(order.factor, label, cut.label)
        body: Expr = Reduce("rprod", factor, (cut.label,), when=when)
        factors = _state(body, cut, made, "factors")
        last = replace(order, at=cut.label, is_before=False, factor=factor)
        body = Reduce(RECURRENCE, there, (cut.label,), when=when, scan=last)
    else:
        body = Reduce(scan.operation, there, (cut.label,), when=when)
    state = _state(body, cut, made, "parts")
    after = replace(order, at=cut.number, is_before=True)
    if factors is not None:
        after = replace(after, factor=_read(factors, Affine(((_earlier(cut), 1),))))
        if factors.labels == state.labels:
            made.pairs[factors.name] = state.name
    start = _start(scan, _read(state, Affine(((_earlier(cut), 1),))), after, cut, made)
    # In which program an element is says which part it is in.
    element = _read(start, divided("//", Affine(((cut.label, 1),)), cut.size))
    return Apply("add", (element, scan))


def _state(body: Expr, cut: _Cut, made: _Made, word: str) -> Func:
    kept = [one for one in cut.func.labels if one in free_labels(body) and one != cut.label]
    func = Func(made.named(word, cut), (cut.number, *kept), body)
    made.states[func.name] = func
    return func


def _start(scan: Reduce, state: Expr, after: ScanOrder, cut: _Cut, made: _Made) -> Func:
    when = after.conditions(_earlier(cut))
    body = Reduce(scan.operation, state, (_earlier(cut),), when=when, scan=after)
    kept = [one for one in cut.func.labels if one in free_labels(body) and one != cut.label]
    func = Func(made.named("start", cut), (cut.number, *kept), body)
    made.starts[func.name] = func
    return func


def _read(func: Func, part: Affine) -> Read:
    return Read(func.name, (part, *(Affine(((one, 1),)) for one in func.labels[1:])))


def _renamed(expr: Expr, old: str, new: str) -> Expr:
    """Return an expression at another label."""
    expr = map_children(expr, lambda one: _renamed(one, old, new))
    match expr:
        case Index(label=label) if label == old:
            return Index(new)
        case Read(indices=indices):
            put = {old: Affine(((new, 1),))}
            return replace(expr, indices=tuple(put_in(one, put) for one in indices))
        case Reshape(axes=axes):
            return replace(expr, axes=tuple(new if one == old else one for one in axes))
        case _:
            return expr


def _replaced(expr: Expr, by: Mapping[Reduce, Expr]) -> Expr:
    if isinstance(expr, Reduce) and expr in by:
        return by[expr]
    return map_children(expr, lambda one: _replaced(one, by))


def _settings(said: Said, cut: _Cut, made: _Made) -> dict[str, Settings]:
    """Return what is said of each Func: what is said of parts, of the scan of the states."""
    found, old = dict(said.settings), said.settings[cut.func.name]
    plain = {label: size for label, size in old.blocks.items() if label != cut.label}

    def without(label: str) -> Settings:
        tiles = {key: size for key, size in old.tiles.items() if key[1] != label}
        splits = {of: one for of, one in old.splits.items() if of != label}
        order = tuple(one for one in old.order if one != label)
        return Settings(dict(plain), splits=splits, order=order, tiles=tiles)

    for name in made.states:
        found[name] = without(cut.number)
        found[name].blocks[cut.number] = 1
        found[name].walks[cut.label] = (cut.number, cut.size)
    for name in made.starts:
        found[name] = without(cut.label)
    mine = found[cut.func.name] = without(cut.number)
    mine.blocks[cut.label] = cut.size
    mine.partials.update(old.partials)
    mine.scan_parts[cut.label] = cut.size
    return found


def _fusions(fusions: list[Fusion], cut: _Cut, made: _Made) -> Iterator[Fusion]:
    for one in fusions:
        if one.consumer != cut.func.name:
            yield one
            continue
        if one.loop != cut.number:
            yield from (replace(one, consumer=state) for state in made.states)
            yield one
        if one.loop != cut.label:
            yield from (replace(one, consumer=start) for start in made.starts)
