"""Read data as unknown whole numbers, where no values are compared: each datum has a name.

If only the accesses of a kernel are proved, a number that was loaded may be any number of its type,
or any that callers promise. A datum stays a term as long as the kernel computes with it. Where it
becomes a part of an address, a mask, a branch or a bound of a loop, it becomes a formula over names
(lemma 29 of docs/proofs.md): what it is made of is computed exactly, and all that is not understood
has a name of its own, of which nothing but its type is known. That what is computed fits its type
is noted, and proved with the other whole numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Item, Unread, as_term, is_truth
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import is_affine
from dtpoly.verify.algebra.residues import UNKNOWN
from dtpoly.verify.algebra.term_building import SIGNS, plain, whole_in
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
    Choose,
    Element,
    Literal,
    Place,
    Term,
    names,
    truth_of,
    walk,
)
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Atom,
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
from dtpoly.verify.triton.access import Computed, KernelTensor, NamedDatum
from dtpoly.verify.triton.domains import related
from dtpoly.verify.triton.kernel_state import KernelState

MARK = "datum"
WIDE = "tl.int64"
# Types of which an address takes a number as it is, in each version of Triton.
ADDED = ("tl.int8", "tl.int16", "tl.int32", "tl.int64", "tl.uint8", "tl.uint16")
# Types that the bounds of a loop may have.
COUNTED = ("tl.int32", "tl.int64", kinds.SIZE, kinds.OFFSET)
ROUNDED = ("tl.int32", "tl.int64")
JOINING = {"add": Whole.__add__, "sub": Whole.__sub__, "mul": Whole.__mul__}
MOST_SHIFT = 62
# The names of strides and of sizes end so.
SIZED = (")", "]", "_size")


def unknown(
    state: KernelState, kind: str, lanes: Iterable[str], parts: Sequence[Term] = ()
) -> Term:
    """Return a value of a type of which nothing else is known, at some lanes.

    It belongs to the place of the text where it is made, and to the iterations there. If it is a
    function of other values, these are its `parts`.
    """
    at = tuple(Place(name(one)) for one in (*lanes, *state.loops))
    own = Literal(state.run.fresh(UNKNOWN))
    return AppliedOperation(f"{UNKNOWN} {kind}", (own, *at, *parts))


def may_be(state: KernelState, item: Item, kind: str) -> Item:
    """Return a result that is data, where its type may have 32 bits or 64: 32 must hold it.

    That is noted, as for each result of 32 bits, when the number becomes a part of an access.
    """
    is_data = not isinstance(item, Whole) and not is_truth(item)
    if state.is_valued or not is_data or kind not in (kinds.SIZE, kinds.OFFSET):
        return item
    try:
        return AppliedOperation("round tl.int32", (as_term(item, 0),))
    except Unread:
        return item  # an address, or a program id


@dataclass(frozen=True, slots=True)
class DataReading:
    """Reads terms as numbers and formulas over names, where a condition holds."""

    state: KernelState
    where: Truth
    line: int
    # The tensor to whose address a term is added, if it is, and nothing else is made of it.
    tensor: str = ""

    def added(self, term: Term, tensor: str) -> Whole:
        """Return a term that is added to the address of an access, as a number over names.

        What is computed for it by sums and products alone is a part of that address, which bounds
        it (see parts_of_addresses). The same term may be used elsewhere: it is noted there again.
        """
        begun = len(self.state.numbers)
        found = replace(self, tensor=tensor).number(term, WIDE)
        self.state.numbers[begun:] = [
            replace(one, added=found) if one.tensor else one for one in self.state.numbers[begun:]
        ]
        return found

    @property
    def _apart(self) -> DataReading:
        """Return a reading of numbers that show in more than the address."""
        return replace(self, tensor="") if self.tensor else self

    def number(self, term: Term, kind: str) -> Whole:
        """Return a term of a type of whole numbers as a number over names."""
        if kind == kinds.BOOL:
            return either(self._apart.truth(term), number(1), number(0))
        found = self._number(term)
        return self._named(term, kind) if found is None else found

    def truth(self, term: Term) -> Truth:
        """Return a term of truth as a formula over names."""
        known = truth_of(term)
        if known is not None:
            return known
        match term:
            case Literal(text="0" | "1" as text):
                return TRUE if text == "1" else FALSE
            case AppliedOperation(operation="and", operands=(a, b)):
                return both(self.truth(a), self.truth(b))
            case AppliedOperation(operation="or", operands=(a, b)):
                return one_of(self.truth(a), self.truth(b))
            case AppliedOperation(operation="not", operands=(inner,)):
                return negation(self.truth(inner))
            case Choose(condition=condition, yes=yes, no=no):
                return self._of_two(condition, self.truth(yes), self.truth(no))
            case AppliedOperation(operation="where", operands=(condition, yes, no)):
                return self._of_two(self.truth(condition), self.truth(yes), self.truth(no))
            case AppliedOperation(operation=word, operands=(a, b)) if word in SIGNS:
                first, second = self._number(a), self._number(b)
                if first is not None and second is not None:
                    found = compare(SIGNS[word], first, second)
                    if is_affine(found):
                        return found
            case _:
                pass
        return compare("==", self._named(term, kinds.BOOL), number(1))

    def _of_two(self, condition: Truth, yes: Truth, no: Truth) -> Truth:
        return one_of(both(condition, yes), both(negation(condition), no))

    def _number(self, term: Term) -> Whole | None:
        """Return a term as a number; None if it may be no whole number, or is not understood."""
        match term:
            case Place(value=value):
                return value
            case Literal():
                return whole_in(plain(term))
            case Element(tensor=tensor):
                kind = self.state.arrays[tensor].kind
                is_plain = kind in kinds.LEAST and kind != kinds.BOOL
                return self._named(term, kind) if is_plain else None
            case Choose(condition=condition, yes=yes, no=no):
                return self._chosen(condition, yes, no)
            case AppliedOperation(operation="where", operands=(condition, yes, no)):
                return self._chosen(self._apart.truth(condition), yes, no)
            case AppliedOperation(operation=operation, operands=operands):
                word, _, kind = operation.partition(" ")
                if word == UNKNOWN:
                    is_plain = kind in kinds.LEAST and kind != kinds.BOOL
                    return self._named(term, kind) if is_plain else None
                if word == "round":
                    return self._rounded(term, operands[0], kind)
                if word == "cast" and kind in kinds.LEAST:
                    return self._named(term, kind)
                return self._computed(word if not kind else "", operands)
            case _:
                return None

    def _chosen(self, condition: Truth, yes: Term, no: Term) -> Whole | None:
        first, second = self._side(yes), self._side(no)
        if first is None or second is None or not is_affine(condition):
            return None
        if is_affine(first) and is_affine(second):
            return either(condition, first, second)
        # A stride by which both sides are multiplied stands before the choice, as in an address.
        times = _sizes_in_all(first, second)
        found = either(condition, _without(first, times), _without(second, times))
        for one in times.elements():
            found = found * name(one)
        return found

    def _side(self, term: Term) -> Whole | None:
        """Return a side of a choice; what a mask leaves undefined may be any number."""
        is_undefined = term == Literal("undefined")
        return (
            name(self._any(kinds.LEAST[WIDE], kinds.LARGEST[WIDE]))
            if is_undefined
            else (self._number(term))
        )

    def _rounded(self, term: Term, inner: Term, kind: str) -> Whole | None:
        """Return a number that is brought to a type: the number itself, if that type holds it."""
        if kind not in kinds.LEAST or kind == kinds.BOOL:
            return None
        found = self._number(inner)
        if found is None or kind not in ROUNDED:
            return self._named(term, kind)
        if found.constant is None and names_of(found) & self.state.data_names.keys():
            # A sum may be compared as well, and a product may be wider in the address.
            is_sum = is_affine(found)
            one = Computed(
                found,
                kind,
                self.where,
                self.line,
                is_left=is_sum,
                is_widened=not is_sum,
                tensor=self.tensor if kind == "tl.int32" else "",
            )
            self.state.numbers.append(one)
        return found

    def _computed(self, word: str, operands: Sequence[Term]) -> Whole | None:
        if word == "bitand" and (most := _mask_in(operands)) is not None:
            return self._masked(AppliedOperation(word, tuple(operands)), most)
        # Of a sum or a product, the operands are parts, too; all else shows what they are.
        inner = self if word in (*JOINING, "neg") else self._apart
        found = [inner._number(one) for one in operands]
        known = [one for one in found if one is not None]
        if len(known) != len(found):
            return None
        match word, known:
            case (("add" | "sub" | "mul"), [a, b]):
                return JOINING[word](a, b)
            case "neg", [a]:
                return -a
            case (("maximum" | "minimum"), [a, b]):
                return extreme(word == "maximum", a, b)
            case (("floordiv" | "mod" | "rem"), [a, b]) if (
                by := b.constant
            ) is not None and by > 0:
                return self._divided(word, a, by)
            case (("floordiv" | "mod" | "rem"), [a, b]) if b.constant is None:
                return self._by_size(word, AppliedOperation(word, tuple(operands)), a, b)
            case "shr", [a, b] if (by := b.constant) is not None and 0 <= by <= MOST_SHIFT:
                return a.floor(1 << by) if is_affine(a) else None
            case _:
                return None

    def _divided(self, word: str, above: Whole, by: int) -> Whole | None:
        """Return a quotient or a remainder by a number as written.

        Triton rounds towards 0, and its interpreter rounds Python's numbers down. Where the two
        differ, the result may be any number that is near enough for both.
        """
        if not is_affine(above):
            return None
        down = above.floor(by)
        is_plain = compare(">=", above, number(0))
        if word == "floordiv":
            return either(is_plain, down, down + name(self._any(0, 1)))
        return either(is_plain, above - down * by, name(self._any(1 - by, by - 1)))

    def _masked(self, term: Term, most: int) -> Whole:
        """Return a number of which only the bits of a written number are kept."""
        found = self._named(term, WIDE)
        (one,) = names_of(found)
        self.state.ranges[one] = both(
            self.state.ranges[one], within(number(0), found, number(most + 1))
        )
        return found

    def _by_size(self, word: str, term: Term, above: Whole, by: Whole) -> Whole:
        """Return a quotient or a remainder by a size of at least 1, which is proved elsewhere.

        It is not above what is divided, nor below it; a negative remainder may be rounded up.
        """
        found, zero = self._named(term, WIDE), number(0)
        ends = both(compare("<=", above, found), compare("<=", found, zero))
        if word != "floordiv":
            ends = both(compare("<", -by, found), compare("<", found, by))
        fact = one_of(
            both(compare(">=", above, zero), within(zero, found, above + 1)),
            both(compare("<", above, zero), ends),
        )
        (one,) = names_of(found)
        if is_affine(fact):
            self.state.ranges[one] = both(self.state.ranges[one], fact)
        return found

    def _any(self, low: int, high: int) -> str:
        """Return a new name for some number between two numbers."""
        state = self.state
        one = state.run.fresh(MARK)
        state.ranges[one] = within(number(low), name(one), number(high + 1))
        state.data_names[one] = NamedDatum(None)
        return one

    def _named(self, term: Term, kind: str) -> Whole:
        """Return the name of a datum. The same term is the same datum, and has the same name."""
        state, key = self.state, (term, kind)
        if key not in state.data:
            low, high = kinds.LEAST[WIDE], kinds.LARGEST[WIDE]
            if kind in kinds.LEAST:
                low, high = (
                    (0, 1) if kind == kinds.BOOL else (kinds.LEAST[kind], kinds.LARGEST[kind])
                )
            one = state.run.fresh(MARK)
            state.data[key] = one
            datum = self._datum(term)
            of_type = within(number(low), name(one), number(high + 1))
            state.ranges[one] = both(
                of_type, self._promised(term, name(one), datum), self._bounded(term, name(one))
            )
            for other, known in state.data_names.items():
                fact = related((name(one), datum), (name(other), known))
                state.ranges[one] = both(state.ranges[one], fact)
            state.data_names[one] = datum
        return name(state.data[key])

    def _bounded(self, term: Term, value: Whole) -> Truth:
        """Return what is known of an unknown number that is more than its type."""
        match term:
            case AppliedOperation(operands=(Literal(text=own), *_)) if own in self.state.bounded:
                of, fact = self.state.bounded[own]
                return put_truth(fact, {of: value})
            case _:
                return TRUE

    def _datum(self, term: Term) -> NamedDatum:
        parts = list(walk(term))
        tensors = frozenset(one.tensor for one in parts if isinstance(one, Element))
        is_free = not all(map(_is_function, parts))
        datum = NamedDatum(frozenset(names(term)), is_free, tensors)
        array = self.state.arrays[term.tensor] if isinstance(term, Element) else None
        if array is None or not isinstance(term, Element):
            return datum
        if not (array.is_distinct or array.is_ascending or array.distinct_axis is not None):
            return datum
        indices, where = self._indices(array, term), self._loaded(term)
        if indices is not None and len(indices) > 1 and where is not None:
            # Beside its axes, an index would mean an element of another row.
            inside = [within(number(0), *one) for one in zip(indices, array.shape, strict=True)]
            where = both(where, *inside)
        return replace(
            datum,
            tensor=array.name,
            indices=indices,
            where=where,
            is_distinct=array.is_distinct,
            is_ascending=array.is_ascending,
            distinct_axis=array.distinct_axis,
        )

    def _indices(self, array: KernelTensor, term: Element) -> tuple[Whole, ...] | None:
        """Return the indices of an element; None if they are not known.

        Those of a tensor with several axes are known if its address is not made of data.
        """
        if len(array.shape) > 1:
            found = tuple(one for one in term.indices if isinstance(one, Whole))
            is_known = len(found) == len(term.indices) == len(array.shape)
            return found if is_known and all(map(is_affine, (*found, *array.shape))) else None
        if array.strides[0] != number(1):
            return None
        index = number(0)
        for one in term.indices:
            index = index + (one if isinstance(one, Whole) else self._apart.number(one, WIDE))
        return (index,) if is_affine(index) else None

    def _loaded(self, term: Element) -> Truth | None:
        """Return the condition under which an element was loaded; None if it is not known."""
        held = self.state.loaded.get(term.load)
        if held is None:
            return None
        own, where = held
        if not is_affine(where) or len(own) != len(term.at):
            return None
        values = {old: new for old, new in zip(own, term.at, strict=True) if name(old) != new}
        data = names_of(where) & self.state.data_names.keys()
        if values and not all(self._is_fixed(one, values) for one in data):
            return None  # data at other lanes are other data
        return put_truth(where, values)

    def _is_fixed(self, datum: str, values: Mapping[str, Whole]) -> bool:
        """Return whether a datum is the same one where some lanes and iterations are others.

        In another iteration, what was loaded may have been stored anew.
        """
        found = self.state.data_names[datum]
        if found.names is None or found.names & values.keys():
            return False
        may_change = found.is_free or bool(found.tensors)
        return not may_change or values.keys() <= self.state.extents.keys()

    def _promised(self, term: Term, value: Whole, datum: NamedDatum) -> Truth:
        """Return what callers promise of an element, where it was loaded."""
        if not isinstance(term, Element):
            return TRUE
        array = self.state.arrays[term.tensor]
        facts = [compare(sign, value, bound) for sign, bound in array.promises]
        if array.below is not None:
            facts += [within(number(0), value, array.below)]
        if not facts and datum.tensor == "":
            return TRUE
        self.state.run.assume(Lemma.RANGE, term.tensor, array.below or number(0))
        where = self._loaded(term)
        return TRUE if where is None else one_of(negation(where), both(*facts))


def _sizes_in_all(*numbers: Whole) -> Counter[str]:
    """Return the sizes and strides that are factors of each product in some numbers."""
    products = [
        Counter(one for one in monomial if isinstance(one, str) and one.endswith(SIZED))
        for of in numbers
        for monomial, _ in of.terms
    ]
    found = products[0] if products else Counter[str]()
    for one in products[1:]:
        found = found & one
    return found


def _without(of: Whole, times: Counter[str]) -> Whole:
    """Return a number without factors that each of its products has."""
    total = number(0)
    for monomial, factor in of.terms:
        left = Counter[Atom](monomial)
        left.subtract(times)
        total = total + Whole(((tuple(left.elements()), factor),))
    return total


def _mask_in(operands: Sequence[Term]) -> int | None:
    """Return a written number from 0 on among operands; None if there is none."""
    for one in operands:
        written = whole_in(plain(one)) if isinstance(one, Literal | Place) else None
        if written is not None and written.constant is not None and written.constant >= 0:
            return written.constant
    return None


def _is_function(term: Term) -> bool:
    """Return whether a part of a term is a function of the names in it, in each program."""
    match term:
        case Carried():
            return False
        case AppliedOperation(operation=operation):
            return operation.partition(" ")[0] != UNKNOWN
        case _:
            return True


def data_of(state: KernelState, *formulas: Whole | Truth) -> tuple[str, ...]:
    """Return the names of data in formulas, and of all data that their ranges mention."""
    found: dict[str, None] = {}
    pending = [one for of in formulas for one in sorted(names_of(of))]
    seen: set[str] = set()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in state.data_names:
            found[one] = None
        if one in state.ranges:
            pending += sorted(names_of(state.ranges[one]))
    return tuple(found)


def has_data(state: KernelState, *formulas: Whole | Truth) -> bool:
    """Return whether formulas depend on data."""
    return bool(state.data_names) and bool(data_of(state, *formulas))
