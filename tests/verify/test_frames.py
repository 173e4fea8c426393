"""Terms with frames in front of sums have the same value, and frames cancel only where they may."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from dtpoly.verify.algebra.evaluate import differ
from dtpoly.verify.algebra.frame_terms import is_frame
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.numerals import nearest
from dtpoly.verify.algebra.powers_of_two import LOG2_E, natural, without_factor
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    Literal,
    Term,
    Total,
    choose,
)
from dtpoly.verify.algebra.whole import Truth, compare, name, number, within

K = name("k")
MASK: Truth = compare("<=", K, name("m"))


def of(operation: str, *operands: Term) -> Term:
    return AppliedOperation(operation, operands)


def element(tensor: str) -> Element:
    return Element(tensor, (K,), 0, ())


def total(operation: str, body: Term) -> Term:
    return Total(operation, ("k",), within(number(0), K, name("size")), body)


X, V = element("X"), element("V")
MASKED = choose(MASK, X, Literal("-inf"))
TOP = total("maximum", X)
TOP_OF_MASKED = of("maximum", Literal("-10000000000000000000000"), total("maximum", MASKED))
FRAMES = (TOP, TOP_OF_MASKED)


def random_value(random_: random.Random, depth: int) -> Term:
    """Return a value over k: an exponential, or a product or sum of values."""
    frame = random_.choice(FRAMES)
    x = random_.choice((X, MASKED, of("mul", X, Literal("1/2"))))
    match random_.randrange(5 if depth else 2):
        case 0:
            return of("exp", of("sub", x, frame))
        case 1:
            return of("exp", of("mul", of("sub", x, frame), Literal("1/2")))
        case 2:
            return of("mul", random_value(random_, depth - 1), V)
        case 3:
            both = (random_value(random_, depth - 1) for _ in range(2))
            return of(random_.choice(("mul", "add")), *both)
        case _:
            inner = random_value(random_, depth - 1)
            return of("div", inner, total("add", of("exp", of("sub", X, TOP))))


def random_result(random_: random.Random) -> Term:
    """Return a value without k: a quotient of sums, a logarithm beside a frame, a correction."""
    first, second = (total("add", random_value(random_, 2)) for _ in range(2))
    match random_.randrange(4):
        case 0:
            return of("div", first, second)
        case 1:
            return of("add", of("log", of("exp", of("sub", TOP, TOP_OF_MASKED))), TOP)
        case 2:
            return of("add", of("log", second), random_.choice(FRAMES))
        case _:
            return of("mul", first, of("exp", of("sub", *random_.sample(FRAMES, 2))))


@pytest.mark.parametrize("seed", range(150))
def test_the_value_stays(seed: int) -> None:
    random_ = random.Random(seed)
    term = random_result(random_)
    framed = Framing(ProofRun(is_empty)).framed(term)
    point = {"size": random_.randrange(1, 6), "m": random_.randrange(0, 5)}
    assert not differ(term, framed, point, frozenset())
    assert differ(term, of("mul", framed, Literal("2")), point, frozenset())


def test_frames_cancel() -> None:
    run = ProofRun(is_empty)
    e = of("exp", of("sub", X, TOP))
    quotient = of("div", total("add", of("mul", e, V)), total("add", e))
    plain = of("exp", X)
    wanted = of("div", total("add", of("mul", plain, V)), total("add", plain))
    assert Framing(run).framed(quotient) == wanted
    assert list(run.licences) == ["exp(a + b) is exp(a) * exp(b)"]


def test_a_frame_that_is_bound_stays() -> None:
    """A maximum that looks at a bound name is no matter of the sum as a whole."""
    own = of("maximum", X, total("maximum", X))
    term = total("add", of("exp", of("sub", V, own)))
    framed = Framing(ProofRun(is_empty)).framed(term)
    assert isinstance(framed, Total)


def test_zero_times_what_is_left_open_stays() -> None:
    weight = of("exp", of("sub", MASKED, TOP_OF_MASKED))
    value = choose(MASK, V, Literal("undefined"))
    framed = Framing(ProofRun(is_empty)).framed(total("add", of("mul", weight, value)))
    assert "undefined" in str(framed)
    assert "undefined" not in str(Framing(ProofRun(is_empty)).framed(total("add", weight)))


@pytest.mark.parametrize("test", [MASK, of("gt", V, Literal("0"))])
def test_zero_divided_by_a_sum_is_kept(test: Truth | Term) -> None:
    """The sum may be 0, so that the quotient is a nan."""
    weights = total("add", of("exp", of("sub", X, TOP)))
    quotient = of("div", Literal("0"), total("add", V))
    divided = of("div", weights, total("add", V))

    def chosen(yes: Term, no: Term) -> Term:
        return of("where", test, yes, no) if isinstance(test, Term) else choose(test, yes, no)

    def framed(term: Term) -> Term:
        return Framing(ProofRun(is_empty)).framed(term)

    assert framed(of("add", weights, quotient)) != framed(weights)
    assert framed(of("sub", weights, quotient)) != framed(weights)
    assert framed(chosen(weights, quotient)) != framed(chosen(weights, Literal("0")))
    kept = framed(chosen(divided, Literal("0")))
    assert not (isinstance(kept, AppliedOperation) and kept.operation == "div")


def test_what_is_a_frame() -> None:
    guard = of("where", of("eq", TOP, Literal("-inf")), Literal("0"), TOP)
    assert is_frame(TOP)
    assert is_frame(guard)
    assert not is_frame(X)
    assert not is_frame(of("maximum", X, V))
    assert not is_frame(of("where", of("eq", TOP, Literal("-inf")), Literal("-inf"), TOP))
    assert not is_frame(Choose(MASK, TOP, X))


@pytest.mark.parametrize("k", ["1", "1/8", "1/2", "3", "-1", "7/64"])
@pytest.mark.parametrize("kind", ["tl.float32", "tl.float64"])
def test_a_factor_of_log2_e_is_found(k: str, kind: str) -> None:
    factor = nearest(Fraction(k) * LOG2_E, kind)
    assert factor is not None
    assert without_factor(factor) == Fraction(k)
    found = natural(of("mul", X, Literal(str(factor))))
    assert found is not None
    assert not differ(found, of("mul", X, Literal(k)), {"k": 0}, frozenset())


def test_other_factors_are_not_found() -> None:
    for value in ("1", "1/2", "1443/1000", "-1"):
        assert natural(of("mul", X, Literal(value))) is None
