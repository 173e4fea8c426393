"""Refuse what a file may not promise of the elements of tensors, or what no call can keep.

Of promises that no call keeps, everything follows. That the promises about sizes leave some call is
asked in verify.py. Here the same is asked of data: some call has elements of which all is true that
is promised. A tensor that a kernel stores cannot have a promise at all, since then the promise
would be one about what the kernel computes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Truth, Whole, both, compare, name, number, within
from dtpoly.verify.plan.held import FunctionReading
from dtpoly.verify.plan.line_expressions import LIMIT, power_name
from dtpoly.verify.triton.access import KernelTensor, Ran
from dtpoly.verify.triton.said import Said

# No size is a larger power of two than those below 2 to this.
MOST_POWER = 31


def check_promises(
    reading: FunctionReading, runs: Sequence[Ran], inputs: Collection[str], *, is_valued: bool
) -> None:
    """Refuse a promise about elements that a kernel stores. Raises Unread.

    A result in place has the memory of an input, so a store to the one changes the other. That only
    a part of a result is needed can be said where no algorithm says what all of it is.
    """
    partly = [one.name for one in reading.arrays.values() if one.is_partly]
    if is_valued and partly:
        what = f"'partly({partly[0]})' beside an algorithm, which says what each element is"
        raise Unread(_line_of(reading.file.said, partly[0]), what)
    stored = {
        reading.into.get(access.tensor, access.tensor)
        for ran in runs
        for access in ran.accesses
        if access.kind != "load"
    }
    for one in partly:
        if reading.into.get(one, one) not in stored:
            what = f"'partly({one})', though no kernel here stores anything in '{one}'"
            raise Unread(_line_of(reading.file.said, one), what)
    promised = {one.name for one in reading.arrays.values() if one.is_promised}
    said = reading.file.said
    for one in sorted(promised - {*inputs}):
        what = f"a promise about elements of '{one}', which callers do not pass"
        raise Unread(_line_of(said, one), what)
    for ran in runs:
        for access in ran.accesses:
            tensor = reading.into.get(access.tensor, access.tensor)
            if tensor in promised and access.kind != "load":
                what = f"a promise about elements of '{tensor}', which the kernel stores"
                raise Unread(access.line, what)


def check_kept(run: ProofRun, reading: FunctionReading, facts: Truth) -> None:
    """Refuse promises that no call with elements keeps. Raises Unread."""
    _check_elements(run, reading, facts)
    _check_products(run, reading, facts)
    _check_powers(run, reading, facts)


def _check_elements(run: ProofRun, reading: FunctionReading, facts: Truth) -> None:
    """Refuse promises about elements that no number of their type keeps, for no sizes."""
    said, known = reading.file.said, facts
    for one, array in reading.arrays.items():
        if not array.is_promised:
            continue
        exists = both(*(compare(">=", size, number(1)) for size in array.shape if is_affine(size)))
        line = _line_of(said, one)
        run.about(line, f"some elements of '{one}' are as promised")
        if not _is_possible(run, facts, exists):
            continue  # other promises leave it no elements
        known = both(known, exists, _kept(one, array))
        if not _is_possible(run, known):
            raise Unread(line, f"no elements of '{one}' keep what is promised of them")
        run.has_a_point(set_of(known))


def _check_powers(run: ProofRun, reading: FunctionReading, facts: Truth) -> None:
    """Refuse that a size is a power of two where other promises leave it none."""
    for one in sorted(reading.powers):
        powers = (_power_of(one, number(1 << at)) for at in range(MOST_POWER))
        run.about(0, f"'{one}' may be a power of two")
        if not any(run.has_a_point(set_of(both(facts, power))) for power in powers):
            raise Unread(0, f"no call keeps that '{one}' is a power of two")


def _power_of(one: str, size: Whole) -> Truth:
    """Return that a size is a number, and so is the least power of two that is not below it."""
    return both(*(compare("==", name(of), size) for of in (one, power_name(name(one)))))


def _is_possible(run: ProofRun, *facts: Truth) -> bool:
    return not run.engine(set_of(both(*facts)))


def _kept(tensor: str, array: KernelTensor) -> Truth:
    """Return what two elements are like that are as promised, the least and the largest one.

    If no two elements are equal, the range between these has as many numbers as there are elements
    along any axis.
    """
    low, high = name(f"{tensor}'least"), name(f"{tensor}'largest")
    facts = [compare("<=", low, high), *_promised(array, low), *_promised(array, high)]
    if array.is_distinct:
        facts += [compare(">=", high - low, one - 1) for one in array.shape if is_affine(one)]
    if array.distinct_axis is not None and is_affine(size := array.shape[array.distinct_axis]):
        facts += [compare(">=", high - low, size - 1)]
    return both(*facts)


def _promised(array: KernelTensor, value: Whole) -> Iterator[Truth]:
    """Yield what is promised of an element, and what its type says."""
    least, largest = kinds.LEAST.get(array.kind), kinds.LARGEST.get(array.kind)
    if least is not None and largest is not None:
        yield within(number(least), value, number(largest + 1))
    for sign, bound in array.promises:
        yield compare(sign, value, bound)


def _check_products(run: ProofRun, reading: FunctionReading, facts: Truth) -> None:
    """Refuse a product that is promised to be below a number that it reaches in each call."""
    said = reading.file.said
    if not said or not _is_possible(run, facts):
        return  # no call at all is asked about elsewhere
    for product, bound in reading.below:
        least = _least_product(run, facts, _factors(product), bound)
        if least >= bound:
            what = f"no call keeps that a product is below {bound}: it is at least {least}"
            raise Unread(_line_with(said, lambda node: isinstance(node, ast.Mult)), what)
    for one in sorted(reading.near):
        array = reading.arrays[one]
        least = _least_product(run, facts, array.shape, LIMIT)
        if least >= LIMIT:
            what = f"no call keeps that '{one}' reaches less than {LIMIT}: it has {least} elements"
            raise Unread(_line_of(said, one), what)


def _least_product(run: ProofRun, facts: Truth, factors: Sequence[Whole], most: int) -> int:
    """Return a number that a product is not below in any call; no factor is looked at beyond one.

    It is the product of the least numbers that the factors have, each by itself.
    """
    least = 1
    for one in factors:
        low, high = 0, most if is_affine(one) else 0
        while low < high:
            middle = (low + high) // 2
            if _is_possible(run, facts, compare("<=", one, number(middle))):
                high = middle
            else:
                low = middle + 1
        least *= low
        if not least:
            break
    return least


def _factors(product: Whole) -> tuple[Whole, ...]:
    ((monomial, _),) = product.terms
    return tuple(Whole((((atom,), 1),)) for atom in monomial)


def _line_of(said: Sequence[Said], tensor: str) -> int:
    """Return the line that promises something of a tensor; 0 if none does."""
    return _line_with(said, lambda node: isinstance(node, ast.Name) and node.id == tensor)


def _line_with(said: Sequence[Said], is_it: Callable[[ast.AST], bool]) -> int:
    found = (
        one.line for one in said if one.word == "assume" and any(map(is_it, ast.walk(one.what)))
    )
    return next(found, 0)
