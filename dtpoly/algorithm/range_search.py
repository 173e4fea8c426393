"""Finds the ranges of reductions that are written as masks: `rmax(where(l <= m, e, -inf), l)`.

A reduction needs only the indices whose operand may change it. So this file asks of each condition
on indices and sizes that its operand depends on, directly or through other Funcs: if the condition
does not hold, is the operand the identity of the reduction? If it is, the condition is a range.

    scores[m, l] = where(l <= m, ..., -inf);     if l > m, a score is -inf: rmax takes l <= m
    e[m, l] = exp(scores[m, l] - top[m]);        exp(-inf - top[m]) is 0, as top[m] is a number
    total[m] = rsum(e[m, l], l);                 so rsum takes l <= m, too

The meaning of a program stays that of its masks. Two things are taken for granted, and the verifier
names both as licences: the largest of some numbers is a number, and 0 times a masked value is 0.

A row of which a mask leaves nothing has no largest element: there exp(-inf - -inf) is a nan, and
the sum over the range is 0. Such a range is weak: it is used only if the results of the program
are the same for both (`unsettled`), as 0 / 0 is a nan, too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace

from dtpoly.algorithm.affine_conditions import (
    TRUTHS,
    AllOver,
    Clause,
    KnownConditions,
    Put,
    has_data_end,
    implies,
    is_linear,
    labels_of_clauses,
    place_of_bound,
    stated,
    substituted_clause,
)
from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, category
from dtpoly.algorithm.equal_sizes import equal_sizes
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Conditions,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
    children,
    free_labels,
    walk,
)
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.value_kinds import (
    ABOVE,
    ANY,
    FINITE,
    HIGH,
    IDENTITY,
    LOW,
    NATURAL,
    ONE,
    TRUTH,
    ZERO,
    Kinds,
    applied,
    converted,
    of_number,
    reduced,
)
from dtpoly.frozen import dataclass

Reduction = Reduce | Dot
# Of labels that are reduced over and of clauses: is there an index of them for each other index?
IsFilled = Callable[[Reduction, tuple[Clause, ...]], bool]
# Funcs are followed this far; of what is further away, nothing is known.
MOST_FUNCS = 64


@dataclass(frozen=True, slots=True)
class RefusedClause:
    """A condition that does not become a range, and why."""

    clause: Clause
    why: str


MAY_CHANGE = "its operand may change something where that does not hold"
OF_ROWS = "in a row of which the mask leaves nothing, a result would not be the nan that it is"
UNLIKE = "what depends on it takes all indices, and both may share a loop only if they are alike"


@dataclass(frozen=True, slots=True)
class FoundRange:
    """The conditions outside of which the operand of a reduction changes nothing.

    `weak` ones are so except in rows of which a mask leaves nothing. If it `needs_zero`, 0 times
    a masked value counts as 0. `refused` are the conditions of which that could not be shown.
    """

    clauses: tuple[Clause, ...] = ()
    weak: tuple[Clause, ...] = ()
    needs_zero: bool = False
    refused: tuple[RefusedClause, ...] = ()

    @property
    def every(self) -> tuple[Clause, ...]:
        """Return all conditions."""
        return (*self.clauses, *self.weak)


@dataclass(frozen=True, slots=True)
class Assumed:
    """Lists the assumptions of a question: that no row is empty, that 0 times a masked value is 0.

    If sums are `narrowed`, they take only what is in their weak ranges.
    """

    rows: bool = False
    zero: bool = False
    narrowed: bool = False


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where a value is asked for: what its labels stand for, and what is known of them.

    `there` has the sizes that are not 0, and `depth` is how many reductions and reads are around.
    """

    put: Put
    known: KnownConditions
    assumed: Assumed
    there: frozenset[str] = frozenset()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class ValueFound:
    """The kinds of a value, and the rows that were assumed not to be empty."""

    kinds: Kinds
    rows: frozenset[AllOver] = frozenset()


UNKNOWN_VALUE = ValueFound(ANY)
CHOICES = tuple(Assumed(rows, zero) for rows in (False, True) for zero in (False, True))


def operation_of(node: Reduction) -> str:
    """Return the reduction that a node is."""
    return node.operation if isinstance(node, Reduce) else "rsum"


def operand_of(node: Reduction) -> Expr:
    """Return what a reduction takes in."""
    return node.operand if isinstance(node, Reduce) else Apply("mul", (node.left, node.right))


def clauses_of(when: Conditions) -> tuple[Clause, ...]:
    """Return conditions as clauses of one sum each."""
    return tuple((one,) for one in when)


@dataclass
class RangeSearch:
    """The ranges that were found so far; each question about a Func is answered once."""

    program: Program
    ask_filled: IsFilled
    found: dict[int, tuple[Reduction, FoundRange]] = field(
        default_factory=dict[int, tuple[Reduction, FoundRange]]
    )
    answers: dict[object, ValueFound] = field(default_factory=dict[object, ValueFound])
    filled: dict[tuple[int, tuple[Clause, ...]], bool] = field(
        default_factory=dict[tuple[int, tuple[Clause, ...]], bool]
    )

    def __post_init__(self) -> None:
        self.funcs = {func.name: func for func in self.program.funcs}
        self.types = types_of(self.program)
        self.size_of = equal_sizes(self.program)
        self.fixed = frozenset(self.size_of[x] for x in self.program.fixed if x in self.size_of)

    # Ranges.

    def range_of(self, node: Reduction) -> FoundRange:
        """Return the range of a reduction of this program."""
        known = self.found.get(id(node))
        if known is None:
            self.found[id(node)] = known = (node, FoundRange())
            self.found[id(node)] = known = (node, self._searched(node))
        return known[1]

    def _searched(self, node: Reduction) -> FoundRange:
        operation = operation_of(node)
        is_scan = isinstance(node, Reduce) and node.scan is not None
        if operation not in IDENTITY or is_scan:
            return FoundRange()
        operand = operand_of(node)
        if IDENTITY[operation] in (LOW, HIGH) and self._is_narrow(operand):
            return FoundRange()
        scope = frozenset((*free_labels(node), *node.labels))
        there = self.fixed | {self.size_of[x] for x in scope if x in self.size_of}
        base = KnownConditions().also(*clauses_of(node.when))
        clauses, weak, needs_zero = list[Clause](), list[Clause](), False
        refused = list[RefusedClause]()
        for clause in self._candidates(operand, frozenset(node.labels), scope):
            if base.holds(clause):
                continue
            known = base.without((clause,))
            for assumed in CHOICES:
                at = ValuePlace({}, known, assumed, there)
                if self.value(operand, at).kinds == frozenset({IDENTITY[operation]}):
                    (weak if assumed.rows else clauses).append(clause)
                    needs_zero |= assumed.zero
                    break
            else:
                refused.append(RefusedClause(clause, MAY_CHANGE))
        taken = _strongest(clauses, ())
        return FoundRange(taken, _strongest(weak, clauses), needs_zero, tuple(refused))

    def refuse(self, node: Reduction, clauses: tuple[Clause, ...], why: str) -> None:
        """Take conditions out of the range of a reduction."""
        if not clauses:
            return
        found = self.range_of(node)
        left, weak = (
            tuple(one for one in some if one not in clauses) for some in (found.clauses, found.weak)
        )
        refused = (*found.refused, *(RefusedClause(one, why) for one in clauses))
        self.found[id(node)] = (node, FoundRange(left, weak, found.needs_zero, refused))

    def form_of(self, node: Reduction, clause: Clause) -> object:
        """Return a condition with sizes in the place of labels: it is the same for alike labels."""
        return frozenset(
            (
                frozenset((x in node.labels, self.size_of[x], c) for x, c in one.index.linear),
                frozenset((self.size_of[x], c) for x, c in one.sizes.linear),
                one.index.constant + one.sizes.constant,
            )
            for one in clause
        )

    def _is_narrow(self, operand: Expr) -> bool:
        """Return whether a value has a type that may have no infinities."""
        dtype = type_of(operand, self.types).dtype
        return dtype is not None and (category(dtype) < 2 or dtype in EIGHT_BIT_FLOATS)

    def _candidates(
        self, operand: Expr, bound: frozenset[str], scope: frozenset[str]
    ) -> tuple[Clause, ...]:
        """Return clauses of which an operand may depend, about a label that is reduced over."""
        found = list[Clause]()
        for clause in dict.fromkeys(self._clauses_in(operand, {}, 0, set())):
            labels = labels_of_clauses((clause,))
            if not is_linear(clause) or not scope.issuperset(labels) or bound.isdisjoint(labels):
                continue
            # As in a declared range, the label stands alone: `3 * k <= m` ends between indices.
            if all(abs(c) == 1 for one in clause for x, c in one.index.linear if x in bound):
                found.append(clause)
        return tuple(found)

    def _clauses_in(
        self, expr: Expr, put: Put, depth: int, seen: set[tuple[str, tuple[Affine, ...]]]
    ) -> Iterator[Clause]:
        """Yield what is stated somewhere in an expression, and in the Funcs that it reads.

        `seen` are the elements that were looked at: a chain of Funcs may read each one twice.
        """
        match expr:
            case Apply(operation=operation) if operation in TRUTHS:
                if has_data_end(expr):
                    return  # code generation finds these ends, and the others beside them
                for holds in (True, False):
                    yield from stated(expr, put, holds=holds).clauses
            case Reduce(labels=labels) | Dot(labels=labels):
                put = {**put, **{x: Affine(((f"{x}#{depth}", 1),)) for x in labels}}
            case Read(tensor=tensor, indices=indices) if tensor in self.funcs:
                func = self.funcs[tensor]
                if depth < MOST_FUNCS and not any(one.data is not None for one in indices):
                    inner = _moved(func, indices, put)
                    if (element := (tensor, tuple(inner.values()))) in seen:
                        return
                    seen.add(element)
                    for one in clauses_of(func.when):
                        yield substituted_clause(one, inner)
                    yield from self._clauses_in(func.body, inner, depth + 1, seen)
            case _:
                pass
        for child in children(expr):
            yield from self._clauses_in(child, put, depth + 1, seen)

    # Values.

    def value(self, expr: Expr, at: ValuePlace) -> ValueFound:
        """Return the kinds of a value where something is known of its labels."""
        match expr:
            case Integer(value=number) | Float(value=number):
                return ValueFound(of_number(number))
            case Size() | Index() | ProgramId():
                return ValueFound(NATURAL)
            case ScalarRead():
                return UNKNOWN_VALUE
            case Reshape(operand=operand):
                return self.value(operand, at)
            case Cast(operand=operand, dtype=dtype):
                found = self.value(operand, at)
                return replace(found, kinds=converted(found.kinds, dtype))
            case Read():
                return self._read(expr, at)
            case Reduce() | Dot():
                return self._reduction(expr, at)
            case Apply(operation="where", operands=(condition, yes, no)):
                return self._chosen(condition, yes, no, at)
            case Apply(operation=operation) if operation in TRUTHS:
                holds = self.truth(expr, at)
                return ValueFound(TRUTH if holds is None else frozenset({ONE if holds else ZERO}))
            case Apply(operation=operation, operands=operands):
                return self._applied(operation, operands, at)

    def truth(self, expr: Expr, at: ValuePlace) -> bool | None:
        """Return whether a truth holds, if that is known."""
        return truth_of(expr, at.put, at.known)

    def _chosen(self, condition: Expr, yes: Expr, no: Expr, at: ValuePlace) -> ValueFound:
        holds = self.truth(condition, at)
        if holds is not None:
            return self.value(yes if holds else no, at)
        ways = ((yes, stated(condition, at.put)), (no, stated(condition, at.put, holds=False)))
        sides = [
            self.value(one, replace(at, known=at.known.also(*said.clauses))) for one, said in ways
        ]
        return ValueFound(sides[0].kinds | sides[1].kinds, sides[0].rows | sides[1].rows)

    def _applied(self, operation: str, operands: tuple[Expr, ...], at: ValuePlace) -> ValueFound:
        found = [self.value(one, at) for one in operands]
        rows = frozenset[AllOver]().union(*(one.rows for one in found))
        kinds = tuple(one.kinds for one in found)
        if operation == "mul" and at.assumed.zero and frozenset({ZERO}) in kinds:
            return ValueFound(frozenset({ZERO}), rows)
        return ValueFound(applied(operation, kinds), rows)

    def _read(self, read: Read, at: ValuePlace) -> ValueFound:
        func = self.funcs.get(read.tensor)
        dtype = self.types[read.tensor].dtype
        if func is None or read.padding is not None or at.depth > MOST_FUNCS:
            is_whole = func is None and dtype is not None and category(dtype) < 2
            return ValueFound(FINITE) if is_whole and read.padding is None else UNKNOWN_VALUE
        if read.within or any(one.data is not None for one in read.indices):
            return UNKNOWN_VALUE
        put = _moved(func, read.indices, at.put)
        inside = replace(at, put=put, depth=at.depth + 1)
        key = (func.name, tuple(put.values()), at.known, at.assumed, at.there, at.depth)
        if key not in self.answers:
            found = self._of_func(func, inside)
            self.answers[key] = replace(found, kinds=converted(found.kinds, dtype))
        return self.answers[key]

    def _of_func(self, func: Func, at: ValuePlace) -> ValueFound:
        """Return the kinds of an element of a Func, which is 0 outside of its range."""
        when = tuple(substituted_clause(one, at.put) for one in clauses_of(func.when))
        if at.known.fails(when):
            return ValueFound(frozenset({ZERO}))
        found = self.value(func.body, replace(at, known=at.known.also(*when)))
        if all(map(at.known.holds, when)):
            return found
        return replace(found, kinds=found.kinds | {ZERO})

    def _reduction(self, node: Reduction, at: ValuePlace) -> ValueFound:
        operation = operation_of(node)
        if operation not in IDENTITY or (isinstance(node, Reduce) and node.scan is not None):
            return UNKNOWN_VALUE
        fresh = {label: f"{label}#{at.depth}" for label in node.labels}
        sizes = {fresh[label]: self.size_of[label] for label in node.labels}
        put = {**at.put, **{label: Affine(((one, 1),)) for label, one in fresh.items()}}
        known = at.known.entering(sizes)
        found = self.range_of(node)
        own = (*clauses_of(node.when), *found.clauses)
        every = (*clauses_of(node.when), *found.every)
        taken = every if at.assumed.narrowed else own
        moved = tuple(substituted_clause(one, put) for one in taken)
        if known.fails(moved):
            return ValueFound(frozenset({IDENTITY[operation]}))
        inside = replace(at, put=put, there=at.there.union(sizes.values()), depth=at.depth + 1)
        inner = self.value(operand_of(node), replace(inside, known=known.also(*moved)))
        is_there = at.there.issuperset(sizes.values())
        is_filled = is_there and self._is_filled(node, taken)
        kinds, rows = inner.kinds, inner.rows
        if operation in ("rmax", "rmin"):
            kinds = kinds & FINITE or kinds
        elif operation == "rsum" and kinds <= NATURAL and not kinds <= ABOVE:
            every = tuple(substituted_clause(one, put) for one in every)
            inner = self.value(operand_of(node), replace(inside, known=known.also(*every)))
            if inner.kinds <= ABOVE and is_there:
                is_filled = self._is_filled(node, found.every + clauses_of(node.when))
                taken, kinds, rows = found.every + clauses_of(node.when), ABOVE, rows | inner.rows
        if is_there and not is_filled and at.assumed.rows:
            is_filled, rows = True, rows | {self._row(node, taken, at.put)}
        return ValueFound(reduced(operation, kinds, is_filled=is_filled), rows)

    def _row(self, node: Reduction, clauses: tuple[Clause, ...], put: Put) -> AllOver:
        places = {x: Affine(((place_of_bound(at), 1),)) for at, x in enumerate(node.labels)}
        sizes = tuple(self.size_of[x] for x in node.labels)
        put = {**put, **places}
        return AllOver(sizes, tuple(substituted_clause(one, put) for one in clauses))

    def _is_filled(self, node: Reduction, clauses: tuple[Clause, ...]) -> bool:
        if not clauses:
            return True
        key = (id(node), clauses)
        if key not in self.filled:
            self.filled[key] = all(map(is_linear, clauses)) and self.ask_filled(node, clauses)
        return self.filled[key]

    # Rows of which a mask leaves nothing.

    def unsettled(self, func: Func, open_funcs: Iterable[str]) -> bool:
        """Return whether an element of a Func may depend on what sums over nothing are.

        `open_funcs` are the Funcs before it of which that is so.
        """
        nodes = list(walk(func.body))
        sums = (one for one in nodes if isinstance(one, Reduce | Dot))
        reads = {one.tensor for one in nodes if isinstance(one, Read)}
        if not any(self.range_of(one).weak for one in sums) and reads.isdisjoint(open_funcs):
            return False
        there = self.fixed | {self.size_of[x] for x in func.labels if x in self.size_of}
        put = {label: Affine(((label, 1),)) for label in func.labels}
        nothing = KnownConditions()
        at = ValuePlace(put, nothing, Assumed(rows=True, zero=True), there)
        for row in self.value(func.body, at).rows:
            if any("#" in label for label in labels_of_clauses(row.clauses)):
                return True
            at = ValuePlace(put, KnownConditions(all_over=row), Assumed(), there)
            ways = [
                self.value(func.body, replace(at, assumed=Assumed(narrowed=narrowed))).kinds
                for narrowed in (False, True)
            ]
            if ways[0] != ways[1] or len(ways[0]) != 1:
                return True
        return False


def truth_of(expr: Expr, put: Put, known: KnownConditions) -> bool | None:
    """Return whether a truth holds where conditions are known, if that follows from them."""
    match expr:
        case Reshape(operand=operand):
            return truth_of(operand, put, known)
        case Apply(operation="not", operands=(inner,)):
            holds = truth_of(inner, put, known)
            return None if holds is None else not holds
        case Apply(operation="and" | "or" as operation, operands=operands):
            sides = [truth_of(one, put, known) for one in operands]
            decides = operation == "or"
            if decides in sides:
                return decides
            if None not in sides:
                return not decides
        case _:
            pass
    said, other = stated(expr, put), stated(expr, put, holds=False)
    if known.fails(said.clauses):
        return False
    if known.fails(other.clauses) or (said.is_all and all(map(known.holds, said.clauses))):
        return True
    return None


def _moved(func: Func, indices: tuple[Affine, ...], put: Put) -> dict[str, Affine]:
    """Return what the labels of a Func stand for where it is read."""
    return {x: one.substitute(put) for x, one in zip(func.labels, indices, strict=True)}


def _strongest(clauses: list[Clause], others: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return clauses without those that others imply."""
    kept = list[Clause]()
    for one in clauses:
        if not any(implies(other, one) for other in (*kept, *others)):
            kept = [other for other in kept if not implies(one, other)] + [one]
    return tuple(kept)
