"""Model kernels that shift their lanes to where memory is aligned, for lines that begin anywhere.

`dt_shift(first, stride, unit)` is some number from 0 to unit - 1. It is the same for the same first
element, and it is 0 unless the stride is 1. `dt_line` is the first element less that shift. Nothing
else is known of a shift, and nothing else is needed (lemma 8 of docs/proofs.md): so it becomes a
name that stands for the shift of the program at hand. This is sound only where programs are told
apart by more than their shifts; `check` looks at that when the kernel has been run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dtpoly.verify.algebra.kernel_values import TileValue, Unread, Value, scalar
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.terms import Case, names
from dtpoly.verify.algebra.whole import Whole, name, names_of, number, within
from dtpoly.verify.triton.access import Dividend, KernelAccess, KernelTensor, Shift
from dtpoly.verify.triton.kernel_state import KernelState

MARK = "shifted"
MEANINGS = ("shift", "line")


def is_shift(one: str) -> bool:
    """True for the name of a shift."""
    return one.split(".")[0] == MARK


def called(state: KernelState, meaning: str, values: list[Value], line: int) -> Value:
    """Return what a call of `dt_shift` or `dt_line` gives."""
    match values:
        case [
            TileValue(axes=(), item=Whole() as first, kind=kind),
            TileValue(axes=(), item=Whole() as stride),
            TileValue(axes=(), item=Whole() as unit),
        ]:
            shift = name(_named(state, first, stride, unit, line))
            return scalar(shift if meaning == "shift" else first - shift, kind)
        case _:
            raise Unread(line, "a shift of what is no line")


def _named(state: KernelState, first: Whole, stride: Whole, unit: Whole, line: int) -> str:
    """Return the name of a shift; the same line always has the same name."""
    along, by = stride.plain, unit.constant
    if along is None or ".stride(" not in along or by is None or by <= 0 or by & (by - 1):
        raise Unread(line, "a shift that is not one to a power of two along a stride")
    if state.loops or state.over_programs:
        raise Unread(line, "a shift in a loop")
    # Each program has one line: everything that the line may depend on is the same in all
    # lanes.
    if names_of(first) & {*state.ranges, *state.digits.numbers}:
        raise Unread(line, "a shift that is not the same in all lanes of a program")
    shift = Shift(first, along, by)
    for known, of in state.shifts.items():
        if of == shift:
            return known
    for monomial, coefficient in first.terms:
        if coefficient < 0:
            raise Unread(line, "a line that begins at a difference")
        for atom in monomial:
            if not (isinstance(atom, str) and ".stride(" in atom):
                factor = Whole((((atom,), 1),))
                state.divided.append(Dividend(factor, None, state.here(), line))
    one = state.run.fresh(MARK)
    state.shifts[one] = shift
    state.ranges[one] = within(number(0), name(one), number(by))
    state.run.assume(Lemma.SHIFT, one, first, along, by)
    return one


def along_strides(shifts: Mapping[str, Shift], array: KernelTensor, offset: Whole) -> Whole:
    """Return the offset with `shift * stride` in place of `shift`.

    Both are the same number, because the shift is 0 or the stride is 1.
    """
    strides = {stride.plain for stride in array.strides}
    for one in names_of(offset) & shifts.keys():
        along = shifts[one].stride
        if along in strides:
            alone = sum(factor for monomial, factor in offset.terms if monomial == (one,))
            offset = offset + (name(one) * name(along) - name(one)) * alone
    return offset


def unshifted(shifts: Mapping[str, Shift], part: Whole) -> Whole:
    """Return the largest number that a part of an address can be.

    For a part that is the beginning of a line less its shift, that is the beginning of the line.
    """
    for one in names_of(part) & shifts.keys():
        if part + name(one) == shifts[one].first:
            return shifts[one].first
    return part


def check(state: KernelState) -> None:
    """Refuse shifts if an element does not tell which program's shifts they are. Raises Unread.

    In all accesses to a tensor that the kernel writes, each coordinate of the program that a line
    depends on must be an index by itself, of the same axis. Then one element has one shift.
    """
    if not state.shifts:
        return
    programs = state.digits.all()
    firsts = (of.first for of in state.shifts.values())
    depend = frozenset[str]().union(*map(names_of, firsts)) & programs.keys()
    written = {access.tensor for access in state.accesses if access.kind != "load"}
    for tensor in sorted(written):
        accesses = [access for access in state.accesses if access.tensor == tensor]
        line = accesses[0].line
        if any(access.kind not in ("load", "store") for access in accesses):
            raise Unread(line, "shifted lanes, and atomic operations")
        for one in sorted(depend):
            if not _is_told(one, accesses):
                raise Unread(line, f"'{tensor}' does not tell whose shifted lanes stored it")


def _is_told(program: str, accesses: Iterable[KernelAccess]) -> bool:
    """True if some axis is indexed by the coordinate of the program alone."""
    axes = zip(*(access.indices for access in accesses), strict=True)
    return any(all(index.plain == program for index in axis) for axis in axes)


def check_cases(cases: Iterable[Case], line: int) -> None:
    """Refuse stored values that depend on the shift of the program that stored them."""
    for _, where, value in cases:
        if any(map(is_shift, (*names_of(where), *names(value)))):
            raise Unread(line, "a value of shifted lanes that is loaded again")
