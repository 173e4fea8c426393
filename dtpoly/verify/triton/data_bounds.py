"""Read loops that begin and end where data says: `for k in tl.range(first, stop, 16)`.

Nothing is known of a number that was loaded. So such a loop is read as one over all tiles of a
size, and it is proved that the rounds which it leaves out would change nothing: all that they put
to a reduction is masked (lemma 19 of docs/proofs.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.identities import is_identity
from dtpoly.verify.algebra.kernel_values import TileValue, Unread, scalar
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.term_building import SIGNS, plain, whole_in
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    Literal,
    Place,
    Term,
    Total,
    names,
    put,
    walk,
)
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    either,
    extreme,
    name,
    names_of,
    negation,
    number,
    one_of,
    put_truth,
    within,
)
from dtpoly.verify.triton.data_indices import number_ends
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.reader import Reader

# The type of bounds that are data. Counters have it, too, so that none of them wraps.
WIDE = "tl.int64"
MARK = "datum"
# More ways to choose lanes for a least number of a tile are not tried.
MOST_CHOICES = 64


@dataclass(frozen=True, slots=True)
class DataBounds:
    """The bounds of a loop, of which at least one is data; `size` is where its tiles end."""

    low: Term
    high: Term
    step: int
    size: Whole


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The rounds of a loop over all tiles that a loop with bounds from data leaves out."""

    state: KernelState
    bounds: DataBounds
    counter: str
    known: Truth

    def changes_nothing(self, operation: str, term: Term) -> bool:
        """Return whether a term is the identity of an operation in each round that is left out."""
        run = self.state.run
        run.about(self.state.line, "a round that is left out would change nothing")
        found = self._is_nothing(operation, term, self.known)
        if found:
            run.assume(Lemma.LEFT_OUT, self.counter, self.bounds.size, self.bounds.step)
        return found

    def _is_nothing(self, operation: str, term: Term, where: Truth) -> bool:
        match term:
            case AppliedOperation(operation="where", operands=(condition, yes, no)):
                is_out = self._is_nothing(operation, no, where)
                return is_out and (
                    self._never_holds(condition, where) or self._is_nothing(operation, yes, where)
                )
            case Choose(condition=condition, yes=yes, no=no):
                sides = ((yes, condition), (no, negation(condition)))
                return all(self._is_nothing(operation, a, both(where, b)) for a, b in sides)
            case Total(operation=inner, domain=domain, body=body) if inner == operation:
                return self._is_nothing(operation, body, both(where, domain))
            case AppliedOperation(operation="mul", operands=(left, right)) if operation == "add":
                return all(self._is_nothing(operation, one, where) for one in (left, right))
            case AppliedOperation(operation=outer, operands=(inner,)) if _rounds_floats(outer):
                return self._is_nothing(operation, inner, where)
            case Literal():
                return is_identity(operation, term)
            case _:
                return False

    def _never_holds(self, condition: Term, where: Truth) -> bool:
        """Return whether a condition holds in no round that is left out."""
        data = DataNumbers(self.state, {})
        index, low, high = (
            name(self.counter),
            data.number(self.bounds.low),
            data.number(self.bounds.high),
        )
        holds = data.formula(condition)
        if low is None or high is None:
            return False
        out = one_of(compare("<", index, low), compare(">=", index, high))
        facts = data.facts(sorted(names(condition)))
        return is_impossible(self.state, both(where, out, holds, facts))


class DataNumbers:
    """Numbers that are data, as numbers over names: each datum that is not known has a name.

    The same datum has the same name, and this is all that is known of it but its type.

    Triton rounds a quotient towards 0, and Python rounds it down. Triton's interpreter does what
    Python does where `max(first, -1)` gives it Python's own number: then the quotient `is_down`.
    """

    def __init__(
        self, state: KernelState, known: Mapping[Term, str], *, is_down: bool = False
    ) -> None:
        self.state = state
        self.names = dict(known)
        self.is_down = is_down

    def number(self, term: Term) -> Whole | None:
        """Return a term of whole numbers as a number over names; None if it may be another."""
        match term:
            case Place(value=value):
                return value if is_affine(value) else self._named(term)
            case Literal():
                return whole_in(plain(term))
            case AppliedOperation(operation=("maximum" | "minimum") as word, operands=(a, b)):
                first, second = self.number(a), self.number(b)
                if first is None or second is None:
                    return None
                return extreme(word == "maximum", first, second)
            case AppliedOperation(
                operation="mul",
                operands=(
                    AppliedOperation(operation="floordiv", operands=(inner, Literal(text=text))),
                    Literal(text=other),
                ),
            ) if text == other and text.isdigit() and int(text) > 0:
                # Rounded towards 0, as Triton does it: so the result never wraps.
                above, by = self.number(inner), int(text)
                if above is None:
                    return None
                return above.floor(by) * by if self.is_down else _rounded(above, by)
            case Choose(condition=condition, yes=yes, no=no) if is_affine(condition):
                first, second = self.number(yes), self.number(no)
                if first is None or second is None:
                    return None
                return either(condition, first, second)
            case Element(tensor=tensor):
                is_whole = self.state.arrays[tensor].kind in kinds.LEAST
                return self._named(term) if is_whole else None
            case AppliedOperation(operation="round tl.int64", operands=(inner,)):
                # A sum may wrap, so that nothing is known of it.
                return self._named(term) if self._is_sum(inner) else None
            case AppliedOperation(operation="where", operands=(_, *parts)):
                # A question to data, as whether an index that was loaded is inside of a tensor.
                return self._named(term) if all(map(self._is_number, parts)) else None
            case Total(operation="maximum" | "minimum", body=body):
                return self._named(term) if self._is_number(body) else None
            case _:
                return None

    def _is_number(self, term: Term) -> bool:
        """Return whether a term is a whole number, without a name for anything in it."""
        return DataNumbers(self.state, self.names).number(term) is not None

    def _is_sum(self, term: Term) -> bool:
        """Return whether a term is made of whole numbers by sums and products alone."""
        match term:
            case AppliedOperation(operation="add" | "sub" | "mul" | "neg", operands=operands):
                return all(map(self._is_sum, operands))
            case _:
                return self._is_number(term)

    def _named(self, term: Term) -> Whole:
        if term not in self.names:
            self.names[term] = self.state.run.fresh(MARK)
        return name(self.names[term])

    def formula(self, condition: Term) -> Truth:
        """Return what a condition says as a formula; what is not understood counts as true."""
        match condition:
            case AppliedOperation(operation="and", operands=parts):
                return both(*map(self.formula, parts))
            case AppliedOperation(operation=word, operands=(left, right)) if word in SIGNS:
                first, second = self.number(left), self.number(right)
                if first is None or second is None:
                    return TRUE
                return compare(SIGNS[word], first, second)
            case Choose(condition=where, yes=yes, no=no) if is_affine(where):
                sides = (both(where, self.formula(yes)), both(negation(where), self.formula(no)))
                return one_of(*sides)
            case Literal(text="False"):
                return FALSE
            case _:
                return TRUE

    def facts(self, lanes: Sequence[str]) -> Truth:
        """Return what is known of the names: a least number is not above that of any lane."""
        found: list[Truth] = []
        pending = list(self.names)
        while pending:
            term = pending.pop()
            before = set(self.names)
            low, high = number_ends(self.state, term)
            found.append(within(number(low), name(self.names[term]), number(high + 1)))
            if isinstance(term, Total):
                found += self._instances(term, lanes)
            pending += [one for one in self.names if one not in before]
        return both(*found)

    def _instances(self, total: Total, lanes: Sequence[str]) -> Iterable[Truth]:
        """Yield that a least number is not above the number of a lane, for some of the lanes.

        Of data that nothing else is said of, this says nothing: such lanes are left out.
        """
        choices = list(product(lanes, repeat=len(total.bound)))
        mine = name(self.names[total])
        for choice in choices[:MOST_CHOICES]:
            values = dict(zip(total.bound, map(name, choice), strict=True))
            there = put_truth(total.domain, values)
            inside = DataNumbers(self.state, self.names, is_down=self.is_down)
            one = inside.number(put(self.state.run, total.body, values))
            if one is None or not is_affine(there):
                continue
            used = {term for term, by in inside.names.items() if by in names_of(one)}
            if used and used.isdisjoint(self.names):
                continue
            self.names = inside.names
            sign = "<=" if total.operation == "minimum" else ">="
            yield one_of(negation(there), compare(sign, mine, one))


def _rounded(value: Whole, by: int) -> Whole:
    """Return a number rounded towards 0 to a multiple."""
    is_below = compare("<", value, number(0))
    return either(is_below, -((-value).floor(by) * by), value.floor(by) * by)


def _rounds_floats(operation: str) -> bool:
    """Return whether an operation rounds to a type of floats, which keeps 0 and infinities."""
    word, _, kind = operation.partition(" ")
    return word in ("round", "may") and kinds.is_float(kind)


def is_impossible(state: KernelState, condition: Truth) -> bool:
    """Return whether a condition holds at no lane of any program of a call."""
    known = both(state.facts, state.where, condition)
    known = both(known, ranged(state.digits.ranges, state.ranges, names_of(known)))
    return is_affine(known) and state.run.is_empty(set_of(known))


def data_bounds(read: Reader, over: ast.expr) -> DataBounds | None:
    """Return the bounds of a loop if one of them is data; None for other loops. Raises Unread."""
    if not isinstance(over, ast.Call) or len(over.args) not in (2, 3):
        return None
    tiles = [read.tile(one) for one in over.args]
    low, high, step = tiles if len(tiles) == 3 else (*tiles, scalar(number(1)))
    if not any(_is_data(one) for one in (low, high)):
        return None
    by = step.item.constant if isinstance(step.item, Whole) else None
    if by is None or by <= 0 or ast.unparse(over.func) != "tl.range":
        raise Unread(over.lineno, "a loop with bounds from data that has no written step")
    ends = [_bound(one, over.lineno) for one in (low, high)]
    if not any(one.kind == WIDE for one in (low, high) if _is_data(one)):
        raise Unread(over.lineno, "bounds from data that have not 64 bits: use .to(tl.int64)")
    size = _size(read.state, ends, by, over.lineno)
    return DataBounds(ends[0], ends[1], by, size)


def _is_data(tile: TileValue) -> bool:
    return not tile.axes and isinstance(tile.item, Term) and whole_in(tile.item) is None


def _bound(tile: TileValue, line: int) -> Term:
    if tile.axes or tile.is_cut or (_is_data(tile) and tile.kind != WIDE):
        raise Unread(line, "a bound of a loop that is data, and no number of 64 bits")
    if isinstance(tile.item, Whole):
        return Place(tile.item)
    if isinstance(tile.item, Term):
        return tile.item
    raise Unread(line, "a bound of a loop that is no number")


def _size(state: KernelState, ends: Sequence[Term], step: int, line: int) -> Whole:
    """Return a number of indices that has all tiles of the loop. Raises Unread if none has."""
    state.run.about(line, "bounds from data are those of tiles")
    _end_of(state, ends, step, line, is_down=True)
    high, facts = _end_of(state, ends, step, line, is_down=False)
    for one in walk(ends[1]):
        size = one.value if isinstance(one, Place) else None
        if size is not None and is_impossible(state, both(facts, compare(">", high, size))):
            return size
    raise Unread(line, "a loop whose end is data, and may be above each size")


def _end_of(
    state: KernelState, ends: Sequence[Term], step: int, line: int, *, is_down: bool
) -> tuple[Whole, Truth]:
    """Return the end of a loop, and what is known of it. Raises Unread if no tile begins it."""
    data = DataNumbers(state, {}, is_down=is_down)
    low, high = (data.number(one) for one in ends)
    if low is None or high is None:
        raise Unread(line, "a bound of a loop that is data, and that is computed in another way")
    facts = data.facts(())
    outside = one_of(compare("<", low, number(0)), compare("!=", low.modulo(step), number(0)))
    if not is_impossible(state, both(facts, outside)):
        raise Unread(line, "a loop whose start is data, and may be no multiple of its step")
    return high, facts


def check_body(state: KernelState, begun: int, barriers: int, grows: bool, line: int) -> None:
    """Refuse what a loop with bounds from data may not do. Raises Unread."""
    if grows:
        raise Unread(line, "a number that grows in a loop whose bounds are data")
    if any(one.kind != "load" for one in state.accesses[begun:]):
        raise Unread(line, "a store in a loop whose bounds are data")
    if len(state.barriers) > barriers:
        raise Unread(line, "a barrier in a loop whose bounds are data")
