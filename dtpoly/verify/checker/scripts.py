"""Write the question whether a set has a point as SMT-LIB, in the arithmetic of whole numbers.

A projection inside of a set that is taken away cannot be asked about directly. It is replaced by
the set at the witnesses that the certificate gives, which takes away less. So if nothing is left
even then, nothing is left of the real set either; a wrong witness proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.notation import plain
from dtpoly.verify.algebra.regions import Join, Meet, Minus, Region, Twins, WhereTrue, Without
from dtpoly.verify.algebra.whole import (
    All,
    Atom,
    Either,
    Extreme,
    Floor,
    Not,
    Sign,
    Some,
    Truth,
    Whole,
    names_of,
)

# Far more lines than any proof has needed so far. A limit is needed, because witnesses inside of
# witnesses multiply.
MOST_LINES = 20_000
Witness = Callable[[Without], Sequence[tuple[Whole, ...]] | None]


class OpenError(Exception):
    """No question can be asked about the set; the message says why."""


@dataclass(frozen=True, eq=False)
class Substitution:
    """The terms that stand for some names; every other name is an unknown of its own."""

    terms: Mapping[str, str] = field(default_factory=dict[str, str])


NOTHING = Substitution()


@dataclass
class Script:
    """The lines of an SMT-LIB script; each number and each formula is defined once, by name."""

    witness: Witness
    lines: list[str] = field(default_factory=list[str])
    unknowns: dict[str, str] = field(default_factory=dict[str, str])
    done: dict[tuple[Whole | Truth, Substitution], str] = field(
        default_factory=dict[tuple[Whole | Truth, Substitution], str]
    )

    def unknown(self, name: str) -> str:
        """Return the unknown for a name.

        Two names that are written alike would become one unknown, so they are refused.
        """
        written = f"${plain(name)}"
        if self.unknowns.setdefault(written, name) != name:
            raise OpenError("two names are written alike")
        return written

    def fresh(self, name: str) -> str:
        """Return a new unknown, which differs from all others."""
        written = f"${plain(name)}!{len(self.unknowns)}"
        self.unknowns[written] = name
        return written

    def defined(self, sort: str, text: str) -> str:
        """Define a name for an expression, and return that name."""
        if len(self.lines) >= MOST_LINES:
            raise OpenError(f"with its witnesses it has more than {MOST_LINES} parts")
        name = f"t{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () {sort} {text})")
        return name

    def whole(self, of: Whole, put: Substitution) -> str:
        """Return a term for a number."""
        put = put if not names_of(of).isdisjoint(put.terms) else NOTHING
        if (of, put) not in self.done:
            parts = [self.product(monomial, factor, put) for monomial, factor in of.terms]
            text = "0" if not parts else parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
            self.done[of, put] = self.defined("Int", text)
        return self.done[of, put]

    def product(self, monomial: Sequence[Atom], factor: int, put: Substitution) -> str:
        """Return a term for a product of atoms and a factor."""
        count = str(factor) if factor >= 0 else f"(- {-factor})"
        parts = [self.atom(one, put) for one in monomial]
        parts = parts if factor == 1 and parts else [count, *parts]
        return parts[0] if len(parts) == 1 else f"(* {' '.join(parts)})"

    def atom(self, of: Atom, put: Substitution) -> str:
        """Return a term for a name, a quotient, an extreme or a choice."""
        match of:
            case str():
                return put.terms[of] if of in put.terms else self.unknown(of)
            case Floor(operand=operand, divisor=divisor):
                # `div` of SMT-LIB rounds down if the divisor is positive.
                return f"(div {self.whole(operand, put)} {divisor})"
            case Extreme(largest=largest, left=left, right=right):
                a, b = self.whole(left, put), self.whole(right, put)
                return f"(ite ({'>=' if largest else '<='} {a} {b}) {a} {b})"
            case Either(condition=condition, yes=yes, no=no):
                where = self.truth(condition, put)
                return f"(ite {where} {self.whole(yes, put)} {self.whole(no, put)})"

    def truth(self, of: Truth, put: Substitution) -> str:
        """Return a term for a formula."""
        put = put if not names_of(of).isdisjoint(put.terms) else NOTHING
        if (of, put) not in self.done:
            self.done[of, put] = self.defined("Bool", self.condition(of, put))
        return self.done[of, put]

    def condition(self, of: Truth, put: Substitution) -> str:
        """Return the text of a formula, without defining a name for it."""
        match of:
            case Sign(operand=operand, exactly=exactly):
                return f"({'=' if exactly else '>='} {self.whole(operand, put)} 0)"
            case Not(operand=operand):
                return f"(not {self.truth(operand, put)})"
            case All(parts=parts):
                return f"(and true {' '.join(self.truth(one, put) for one in parts)})"
            case Some(parts=parts):
                return f"(or false {' '.join(self.truth(one, put) for one in parts)})"

    def point(self, of: Region, put: Substitution, is_taken_away: bool) -> str:
        """Return a term that says that the point at hand lies in a set.

        `is_taken_away` says that the set stands on the right of a difference: there a projection
        needs witnesses, while elsewhere the names that are projected out are simply new unknowns.
        """
        match of:
            case WhereTrue(truth=truth):
                return self.truth(truth, put)
            case Meet(left=left, right=right):
                return self.both("and", left, right, put, is_taken_away)
            case Join(left=left, right=right):
                return self.both("or", left, right, put, is_taken_away)
            case Minus(left=left, right=right):
                there = self.point(left, put, is_taken_away)
                away = self.point(right, put, not is_taken_away)
                return self.defined("Bool", f"(and {there} (not {away}))")
            case Without(of=inner, gone=gone) if is_taken_away:
                ways = self.witness(of)
                if ways is None:
                    raise OpenError("a projection has no witness")
                found: list[str] = []
                for way in ways:
                    values = [self.whole(one, put) for one in way]
                    chosen = Substitution({**put.terms, **dict(zip(gone, values, strict=True))})
                    found.append(self.point(inner, chosen, is_taken_away))
                return self.defined("Bool", f"(or false {' '.join(found)})")
            case Without(of=inner, gone=gone):
                chosen = Substitution({**put.terms, **{one: self.fresh(one) for one in gone}})
                return self.point(inner, chosen, is_taken_away)
            case Twins(of=inner, new=new):
                terms = {old: self.atom(one, put) for old, one in new}
                other = self.point(inner, Substitution({**put.terms, **terms}), is_taken_away)
                one = self.point(inner, put, is_taken_away)
                return self.defined("Bool", f"(and {one} {other} {self.truth(of.apart, put)})")
            case _:
                raise TypeError(of)

    def both(
        self, word: str, left: Region, right: Region, put: Substitution, is_taken_away: bool
    ) -> str:
        """Return a term that joins what two sets say of the point by `and` or by `or`."""
        parts = (self.point(one, put, is_taken_away) for one in (left, right))
        return self.defined("Bool", f"({word} {' '.join(parts)})")


def script_of(region: Region, witness: Witness) -> str:
    """Return a script of SMT-LIB that can be satisfied if the set has a point."""
    script = Script(witness)
    point = script.point(region, NOTHING, False)
    unknowns = [f"(declare-const {one} Int)" for one in script.unknowns]
    return "\n".join([*unknowns, *script.lines, f"(assert {point})"])
