"""Read addresses that are made of data: gathers, such as `tl.load(E_ptr + token * stride)`.

Nothing is known of a number that was loaded, but what the mask of the gather says of it. So the
access has a name in the place of the number, which stands for every number that the mask allows:
the layer `bounds` shows that all of these are inside of the tensor. The loaded value has the number
itself, as a term, and the layer `value` compares that with the algorithm's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Item, PointerValue, Unread, is_truth
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import is_affine
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.term_building import SIGNS, applied, plain, whole_in
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    Index,
    Literal,
    Place,
    Term,
    choose,
    truth_of,
)
from dtpoly.verify.algebra.whole import (
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    name,
    negation,
    number,
    one_of,
    within,
)
from dtpoly.verify.triton.access import KernelTensor
from dtpoly.verify.triton.kernel_state import KernelState

# The type in which an address is computed: what does not fit wraps as addresses do.
WIDE = "tl.int64"
# Types of which an address takes a number as it is, in each version of Triton.
NARROW = ("tl.int8", "tl.int16", "tl.int32", "tl.uint8", "tl.uint16")
UNSIGNED = "tl.uint32"
MARK = "datum"
# More conditions than that are not taken apart.
MOST_CONDITIONS = 64


@dataclass(frozen=True, slots=True)
class LoadMask:
    """A mask in two parts: a formula over names, and conditions that depend on data."""

    where: Truth = TRUE
    data: tuple[Term, ...] = ()

    def chosen(self, yes: Term, no: Term) -> Term:
        """Return one value where the mask holds, and another one elsewhere."""
        if self.data:
            holds = self.data[0]
            for one in self.data[1:]:
                holds = applied("and", (holds, one))
            yes = applied("where", (holds, yes, no))
        return choose(self.where, yes, no)


def mask_of(item: Item, line: int) -> LoadMask:
    """Return a mask taken apart. A number as a mask is true where it is not 0. Raises Unread."""
    if isinstance(item, Whole):
        return LoadMask(compare("!=", item, number(0)))
    if is_truth(item):
        return LoadMask(item)
    if not isinstance(item, Term):
        raise Unread(line, "a mask that is no truth")
    where, data, pending = TRUE, list[Term](), [item]
    for _ in range(MOST_CONDITIONS):
        if not pending:
            return LoadMask(where, tuple(data))
        one = pending.pop()
        known = truth_of(one)
        if known is not None:
            where = both(where, known)
            continue
        match one:
            case AppliedOperation(operation="and", operands=parts):
                pending += reversed(parts)
            case AppliedOperation(
                operation="ne",
                operands=(AppliedOperation(operation="and") as inner, Literal(text="0")),
            ):
                pending.append(inner)  # a truth that was made a number
            case _:
                data.append(one)
    raise Unread(line, "a mask of many conditions on data")


def with_data(
    address: PointerValue, term: Term, kind: str, line: int, *, is_valued: bool
) -> PointerValue:
    """Return an address further on by a number that is data. Raises Unread if it may wrap.

    Where no values are compared, another layer shows that it does not.
    """
    if not is_valued:
        if kind not in (WIDE, *NARROW, UNSIGNED, kinds.SIZE, kinds.OFFSET):
            raise Unread(line, "an address further on by what is no whole number of a usual type")
        held = "tl.int32" if kind in (kinds.SIZE, kinds.OFFSET) else kind
        moved = settled(held, term)
        if kind == UNSIGNED:
            # An address takes its bits as those of a number with a sign.
            moved = AppliedOperation("round tl.int32", (moved,))
        return PointerValue(address.tensor, address.offset, address.parts, (*address.data, moved))
    if kind != WIDE and not (kind in NARROW and _is_as_loaded(term)):
        what = "an address made of data that has not 64 bits, and may wrap"
        raise Unread(line, f"{what}: bring it to 64 bits first, by .to(tl.int64)")
    return PointerValue(address.tensor, address.offset, address.parts, (*address.data, term))


def _is_as_loaded(term: Term) -> bool:
    """Return whether a number that is data is used as it was loaded, or as a choice of such ones.

    Then nothing has been computed in few bits, and an address takes it with its sign.
    """
    match term:
        case Element() | Literal():
            return True
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            return _is_as_loaded(yes) and _is_as_loaded(no)
        case _:
            return False


def indices_with(
    array: KernelTensor, indices: tuple[Whole, ...], data: Sequence[Term], line: int
) -> tuple[Index, ...]:
    """Return the indices of an address: along an axis with data, the data alone. Raises Unread."""
    found: list[Index] = [*indices]
    strides = list(array.strides)
    for term in data:
        index, stride = _factors(term)
        # Of two axes with one stride it is not clear which one the number is an index of.
        axis = strides.index(stride) if stride is not None and strides.count(stride) == 1 else None
        if axis is None or index is None:
            raise Unread(line, "an address made of data that is no index times a stride")
        if found[axis] != number(0):
            raise Unread(line, "an index that is data and something else: add them up before")
        found[axis] = settled(WIDE, index)
    return tuple(found)


def _factors(term: Term) -> tuple[Term | None, Whole | None]:
    """Return the data and the stride of a product of the two; without one, the stride is 1."""
    match term:
        case AppliedOperation(operation="mul", operands=(index, Place(value=stride))):
            return index, stride
        case AppliedOperation(operation="mul", operands=(Place(value=stride), index)):
            return index, stride
        case AppliedOperation(operation="mul", operands=(index, Literal() as written)):
            return index, whole_in(plain(written))
        case _ if _is_as_loaded(term):
            return term, number(1)
        case _:
            return None, None


def named(state: KernelState, indices: Sequence[Index]) -> Mapping[Term, str]:
    """Return a new name for each number that is data, which has the range of its type.

    If it is an element of a tensor with a promise of range, it has that range, too.
    """
    data = dict.fromkeys(one for one in indices if not isinstance(one, Whole))
    names = {one: state.run.fresh(MARK) for one in data}
    for term, one in names.items():
        low, high = number_ends(state, term)
        of_type = within(number(low), name(one), number(high + 1))
        state.ranges[one] = both(of_type, _promised(state, term, name(one)))
    return names


def _promised(state: KernelState, term: Term, value: Whole) -> Truth:
    """Return what promises of range say of a number that is data.

    Where a mask kept it from being loaded it is another number, of which no promise says anything.
    """
    match term:
        case Element(tensor=tensor) if (below := state.arrays[tensor].below) is not None:
            state.run.assume(Lemma.RANGE, tensor, below)
            return within(number(0), value, below)
        case Literal() if (known := whole_in(plain(term))) is not None:
            return compare("==", value, known)
        case Choose(condition=condition, yes=yes, no=no) if is_affine(condition):
            first, second = _promised(state, yes, value), _promised(state, no, value)
            if first == second:
                return first
            return one_of(both(condition, first), both(negation(condition), second))
        case AppliedOperation(operation="where", operands=(_, yes, no)):
            return one_of(_promised(state, yes, value), _promised(state, no, value))
        case _:
            return TRUE


def number_ends(state: KernelState, term: Term) -> tuple[int, int]:
    """Return between which numbers a number that is data must be: those that its type has."""
    match term:
        case Element(tensor=tensor) if (kind := state.arrays[tensor].kind) in kinds.LEAST:
            return kinds.LEAST[kind], kinds.LARGEST[kind]
        case Literal() if (value := whole_in(plain(term))) is not None:
            return value.constant or 0, value.constant or 0
        case Choose(yes=yes, no=no) | AppliedOperation(operation="where", operands=(_, yes, no)):
            pairs = (number_ends(state, yes), number_ends(state, no))
            return min(low for low, _ in pairs), max(high for _, high in pairs)
        case _:
            return kinds.LEAST[WIDE], kinds.LARGEST[WIDE]


def limits(mask: LoadMask, names: Mapping[Term, str], line: int) -> Truth:
    """Return what a mask says of numbers that are data, as a formula over their names.

    Raises Unread if it says something else.
    """
    return both(*(_limit(one, names, line) for one in mask.data))


def _limit(condition: Term, names: Mapping[Term, str], line: int) -> Truth:
    match condition:
        case AppliedOperation(operation=operation, operands=(left, right)) if operation in SIGNS:
            first, second = _number(left, names), _number(right, names)
            if first is not None and second is not None:
                return compare(SIGNS[operation], first, second)
        case _:
            pass
    raise Unread(line, "a mask that depends on data, and not on an index of this load alone")


def _number(term: Term, names: Mapping[Term, str]) -> Whole | None:
    if term in names:
        return name(names[term])
    return whole_in(term) if isinstance(term, Place | Literal) else None
