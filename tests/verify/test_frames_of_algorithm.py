"""Sums in frames that are the algorithm's own, and quotients that are nan where all is masked.

Mistakes are made in the texts that the compiler emits, and each is one that these two laws (lemmas
22 and 23) could hide: what is beside the maximum, what a mask leaves out, in which frame a sum is.
"""

import ast
import json
from collections import Counter
from collections.abc import Iterator

import pytest

from dtpoly.verify.algebra.evaluate import differ
from dtpoly.verify.algebra.frames import OF_DIVISION, OF_EXP, Framing
from dtpoly.verify.algebra.masked_quotients import is_nan_of_nothing
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.rows_of_nothing import are_alike
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.algebra.terms import AppliedOperation, Element, Literal, Term, Total
from dtpoly.verify.algebra.whole import Truth, name, number, within
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from dtpoly.verify.triton.frame_exponents import OF_BESIDE
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.test_online import PROGRAMS, sizes_around_tiles
from tests.verify.mutation.operators import NAMED, mutants
from tests.verify.test_online_texts import emitted
from tests.verify.texts import changed

RECIPROCAL, BIAS, FURTHER, MASKED = (
    "a reciprocal of the total",
    "a bias beside the maximum",
    "a further mask of a sum",
    "a mask of data",
)
LATER = "log-sum-exp of what comes later"
SINK = "attention with a sink"
OF_DATA = "attention with a sink of data"
OLD_TOTAL = "total_sum *= tl.exp(top_max_before - top_max)"
OLD_SUM = "f_sum *= tl.exp(top_max_before - top_max)"
LOW = '-tl.full((), float("inf"), real)'
# In which program what is replaced by what, in all places.
MISTAKES = {
    "the reciprocal is of half the total": (RECIPROCAL, "1.0 / total_sum", "2.0 / total_sum"),
    "the total is not corrected": (RECIPROCAL, OLD_TOTAL, "total_sum *= 1.0"),
    "the old maximum at the end": (
        RECIPROCAL,
        "tl.exp(A_tile - top_max[:, None]) * div",
        "tl.exp(A_tile - top_max_before[:, None]) * div",
    ),
    "the bias is left out": (BIAS, " + B_tile", " + 0.0 * B_tile"),
    "the bias has another sign": (BIAS, " + B_tile", " - B_tile"),
    "the bias is in the total, too": (
        BIAS,
        "total_sum_tile = tl.exp(A_tile - top_max[:, None])",
        "total_sum_tile = tl.exp(A_tile - top_max[:, None] + A_tile)",
    ),
    "the sum with a bias is not corrected": (BIAS, OLD_SUM, "f_sum *= 1.0"),
    "the sum with a bias is corrected by half": (
        BIAS,
        OLD_SUM,
        "f_sum *= tl.exp((top_max_before - top_max) * 0.5)",
    ),
    "the maximum has the further mask": (
        FURTHER,
        "top_max_tile = A_tile + 0.0",
        'top_max_tile = tl.where(A_tile > 0.0, A_tile, float("-inf"))',
    ),
    "the further mask is one off": (FURTHER, "> 0.0", ">= 0.0"),
    "what the further mask leaves out is 1": (
        FURTHER,
        "tl.where(B_tile > 0.0, tl.exp(A_tile - top_max[:, None]), 0.0)",
        "tl.where(B_tile > 0.0, tl.exp(A_tile - top_max[:, None]), 1.0)",
    ),
    "the further mask is missing": (
        FURTHER,
        "tl.where(B_tile > 0.0, tl.exp(A_tile - top_max[:, None]), 0.0)",
        "tl.exp(A_tile - top_max[:, None])",
    ),
    "the mask of scores is turned": (MASKED, "> 0.0", "< 0.0"),
    "a masked score is a number": (MASKED, LOW, "-1000.0"),
    "a masked score is 0": (MASKED, LOW, "0.0 * A_tile"),
    "the maximum is of all scores": (
        MASKED,
        f"top_max_tile = tl.where(B_tile > 0.0, A_tile, {LOW})",
        "top_max_tile = A_tile + 0.0",
    ),
    "the sink is larger": (SINK, "tl.exp(1.0 - top_max", "tl.exp(2.0 - top_max"),
    "the sink is in no frame": (SINK, "tl.exp(1.0 - top_max[:, None])", "tl.exp(1.0)"),
    "the sink is turned": (
        SINK,
        "tl.exp(1.0 - top_max[:, None])",
        "tl.exp(top_max[:, None] - 1.0)",
    ),
    "the sink counts twice": (SINK, "+ tl.exp(1.0", "+ 2.0 * tl.exp(1.0"),
    "the sink is missing": (SINK, "+ tl.exp(1.0", "+ 0.0 * tl.exp(1.0"),
    "the sink is that of the tile before": (
        SINK,
        "tl.exp(1.0 - top_max[:, None])",
        "tl.exp(1.0 - top_max_before[:, None])",
    ),
    "without a key it is the sink": (
        SINK,
        "f_acc = tl.full((16, n_lanes), 0.0",
        "f_acc = tl.full((16, n_lanes), 1.0",
    ),
    "the sink of data is negated": (OF_DATA, "tl.exp(s_tile", "tl.exp(-s_tile"),
    "it starts with minus infinity": (MASKED, "-1.2676506002282294e30", 'float("-inf")'),
}


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_not_proved(mistake: str) -> None:
    which, old, new = MISTAKES[mistake]
    program, text = emitted(which)
    wrong = changed(text, old, new, -1)
    ast.parse(wrong)
    assert verify(program, wrong, seconds=3).verdict is not LayerVerdict.PROVED


# Kinds of mistakes in what is computed; most of them are made in several places of a text.
OPERATORS = (
    *("`where` dropped", "`where` exchanged", "another reduction", "another function"),
    *("factor missing", "addend missing", "operands of `-` or `/` swapped", "another operation"),
    *("wrong constant", "comparison inverted", "statement dropped", "stale accumulator"),
    *("another label's mask", "`<=` for `<`", "bound one less", "not accumulated"),
)
SHARED = frozenset(("dt_function",))


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield a program, what is wrong, and the text with that mistake."""
    for which in (RECIPROCAL, BIAS, FURTHER, MASKED, LATER):
        for one in OPERATORS:
            for mutant in mutants(emitted(which)[1], SHARED, NAMED[one], 8):
                yield which, f"{one}: {mutant.what}", mutant.text


@pytest.mark.long
@pytest.mark.parametrize("part", range(16))
def test_no_mistake_that_computes_something_else_is_proved(part: int) -> None:
    """There are more than 50 of each law."""
    every = list(texts())
    assert min(Counter(which for which, _, _ in every).values()) >= 50
    for which, _, text in every[part::16]:
        program = emitted(which)[0]
        if verify(program, text, seconds=4).verdict is LayerVerdict.PROVED:
            for sizes in sizes_around_tiles(program):
                inputs = Recipe().inputs(program, sizes)
                compared(imported(text), program, ("f",), inputs, sizes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("which", "licence"), [(RECIPROCAL, OF_DIVISION), (BIAS, OF_BESIDE), (MASKED, OF_EXP)]
)
def test_its_certificate_is_accepted(which: str, licence: str) -> None:
    program, text = emitted(which)
    made = certificate(program, PROGRAMS[which], text)
    assert check_certificate(made, PROGRAMS[which], text).accepted
    (function,) = json.loads(made)["functions"]
    assert licence in function["licences"]


K = name("k")
X, Z, V = (Element(one, (K,), 0, ()) for one in "XZV")


def of(operation: str, *operands: Term) -> Term:
    return AppliedOperation(operation, operands)


def total(operation: str, body: Term) -> Term:
    return Total(operation, ("k",), within(number(0), K, name("size")), body)


TOP, OTHER = total("maximum", X), total("maximum", Z)
ABOVE = of("gt", V, Literal("0"))
E = of("exp", of("sub", of("where", ABOVE, X, Literal("-inf")), TOP))
OF_OTHER = of("exp", of("sub", of("where", ABOVE, Z, Literal("-inf")), OTHER))
ONE = Literal("1")
NAN = {
    "a quotient of sums": of("div", total("add", of("mul", E, V)), total("add", E)),
    "a value by its sum": of("div", E, total("add", E)),
    "a value times a reciprocal": of("mul", E, of("div", ONE, total("add", E))),
    "a masked value": of("div", of("where", ABOVE, E, Literal("0")), total("add", E)),
}
NO_NAN = {
    "a reciprocal alone": of("div", ONE, total("add", E)),
    "a sum alone": of("mul", total("add", E), V),
    "a quotient in two frames": of("div", total("add", E), total("add", OF_OTHER)),
    "a frame beside a quotient": of(
        "mul",
        of("div", E, total("add", E)),
        of("mul", OF_OTHER, of("exp", of("sub", OTHER, X))),
    ),
    "a number is added": of("div", of("add", E, V), total("add", E)),
    "1 where it is masked": of("div", of("where", ABOVE, E, ONE), total("add", E)),
    "a logarithm in an exponent": of(
        "div", of("exp", of("neg", of("log", total("add", E)))), total("add", E)
    ),
    "the frame is left": of("div", of("mul", E, E), total("add", E)),
}


INDEX = name("i")
S = Element("s", (INDEX,), 0, ())
NO_ROW, SOME_ROW = (within(number(0), K, one) for one in (number(0), name("size")))
LOW_TERM, STARTS = Literal("-inf"), Literal("-100000")


def sink(beside: Term, top: Term, domain: Truth = NO_ROW) -> Term:
    """Return a sum over rows by itself and the exponential of what is beside the rows."""
    rows = Total("add", ("k",), domain, X)
    return of("div", rows, of("add", rows, of("exp", of("sub", beside, top))))


ALIKE = {
    "a sink that is a number": (sink(ONE, STARTS), sink(ONE, LOW_TERM)),
    "a sink of data": (sink(S, LOW_TERM), sink(S, Total("maximum", ("k",), NO_ROW, X))),
    "a mean of nothing": (of("div", Literal("0"), Literal("0")), sink(LOW_TERM, STARTS)),
    "a logarithm of nothing": (of("log", Total("add", ("k",), NO_ROW, X)), LOW_TERM),
}
UNLIKE = {
    "two numbers": (ONE, Literal("2")),
    "one number, of which nothing is known": (of("exp", S), of("exp", S)),
    "a nan and 0": (sink(LOW_TERM, LOW_TERM), sink(ONE, STARTS)),
    "infinities of two signs": (of("log", Literal("0")), of("neg", of("log", Literal("0")))),
    "a row with elements": (sink(ONE, STARTS, SOME_ROW), sink(ONE, LOW_TERM, SOME_ROW)),
    "sinks of two tensors": (sink(S, STARTS), sink(Element("t", (INDEX,), 0, ()), STARTS)),
}
ANYWHERE = set_of(within(number(0), INDEX, name("rows")))


@pytest.mark.parametrize("which", ALIKE)
def test_terms_are_alike_without_an_element(which: str) -> None:
    assert are_alike(ProofRun(is_empty), *ALIKE[which], ANYWHERE)


@pytest.mark.parametrize("which", UNLIKE)
def test_terms_are_not_said_to_be_alike(which: str) -> None:
    assert not are_alike(ProofRun(is_empty), *UNLIKE[which], ANYWHERE)


def framing() -> Framing:
    return Framing(ProofRun(is_empty))


@pytest.mark.parametrize("which", NAN)
def test_a_quotient_of_what_is_masked_is_a_nan(which: str) -> None:
    assert is_nan_of_nothing(framing(), NAN[which])


@pytest.mark.parametrize("which", NO_NAN)
def test_other_values_may_be_numbers_where_all_is_masked(which: str) -> None:
    assert not is_nan_of_nothing(framing(), NO_NAN[which])


@pytest.mark.parametrize("size", range(1, 6))
def test_a_reciprocal_is_a_divisor(size: int) -> None:
    plain = of("exp", of("sub", X, TOP))
    parts = of("add", total("add", plain), total("add", of("mul", plain, plain)))
    term = total("add", of("mul", plain, of("div", V, of("mul", parts, Literal("2")))))
    one = framing()
    found = one.framed(term)
    point = {"size": size}
    assert OF_DIVISION in one.run.licences
    assert not differ(term, found, point, frozenset())
    assert differ(term, of("mul", found, Literal("2")), point, frozenset())
