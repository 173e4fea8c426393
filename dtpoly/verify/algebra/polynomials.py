"""Prove that two numbers with products of names in them are the same everywhere on a set.

Sets cannot hold products of names. So this module rewrites both numbers until they are one
polynomial, and equal polynomials are equal numbers. Before it replaces a name or a factor by
something else, it proves that both are the same number on the set.
"""

from __future__ import annotations

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, is_affine, said
from dtpoly.verify.algebra.whole import (
    Atom,
    Either,
    Extreme,
    Floor,
    Whole,
    atoms_of,
    either,
    exchanged,
    extreme,
    name,
    negation,
    number,
    put_whole,
    sign,
)


def is_same(run: ProofRun, mine: Whole, theirs: Whole, where: Region) -> bool:
    """True if two numbers are proved to be the same everywhere on a set."""
    known = {one: value for one, value in said(where).items() if run.equal(name(one), value, where)}
    mine, theirs = put_whole(mine, known), put_whole(theirs, known)
    if _is_same(run, mine, theirs, where):
        return True
    mine, theirs = decided(run, mine, where), decided(run, theirs, where)
    return _is_same(run, mine, theirs, where)


def _is_same(run: ProofRun, mine: Whole, theirs: Whole, where: Region) -> bool:
    if is_affine(mine - theirs):
        return run.equal(mine, theirs, where)
    new: dict[Atom, Whole] = {}
    for other in atoms_of(theirs) - atoms_of(mine):
        for own in atoms_of(mine):
            factor, wanted = (Whole((((one,), 1),)) for one in (own, other))
            if is_affine(factor - wanted) and run.equal(factor, wanted, where):
                new[other] = factor
                break
    return mine == exchanged(theirs, new)


def decided(run: ProofRun, value: Whole, where: Region) -> Whole:
    """Return the number without those choices that are made in one way everywhere on a set."""
    return exchanged(value, {atom: _decided(run, atom, where) for atom in atoms_of(value)})


def _decided(run: ProofRun, atom: Atom, where: Region) -> Whole:
    match atom:
        case Extreme(largest=largest, left=left, right=right):
            left, right = decided(run, left, where), decided(run, right, where)
            apart = left - right
            if is_affine(apart):
                if run.holds(sign(apart), where):
                    return left if largest else right
                if run.holds(sign(-apart), where):
                    return right if largest else left
            return extreme(largest, left, right)
        case Either(condition=condition, yes=yes, no=no):
            if is_affine(condition):
                if run.holds(condition, where):
                    return decided(run, yes, where)
                if run.holds(negation(condition), where):
                    return decided(run, no, where)
            return either(condition, decided(run, yes, where), decided(run, no, where))
        case Floor(operand=operand, divisor=divisor):
            inside = decided(run, operand, where)
            # Such a number is always written in the same way: 1 + (a // 3) for (a + 3)
            # // 3.
            least = sum(factor for monomial, factor in inside.terms if not monomial) // divisor
            return (inside - number(least * divisor)).floor(divisor) + number(least)
        case str():
            return name(atom)
