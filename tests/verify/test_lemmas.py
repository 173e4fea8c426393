"""The lemmas of docs/proofs.md, on small numbers; and texts that would be proved without them."""

from itertools import product
from operator import add, mul, sub

import pytest

from dtpoly.verify.algebra.kernel_values import Radix
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.term_building import applied, as_truth, literal, rounded
from dtpoly.verify.algebra.terms import AppliedOperation, Element, Literal, Term
from dtpoly.verify.algebra.type_kinds import LARGEST, LEAST
from dtpoly.verify.algebra.whole import TRUE, Truth, Whole, name, number, put_truth, put_whole
from dtpoly.verify.proof.verify import LayerVerdict, Report, verify
from dtpoly.verify.triton.digits import Digits
from tests.verify.texts import changed, text_of, written


def asking_nothing() -> ProofRun:
    """Return a run that makes new names; no question is answered."""
    return ProofRun(lambda _: False)


def holds(of: Truth, values: dict[str, int]) -> bool:
    return put_truth(of, {one: number(value) for one, value in values.items()}) == TRUE


SMALL = range(5)


@pytest.mark.parametrize(("above", "below"), list(product(SMALL, SMALL)))
def test_a_program_id_is_its_quotient_and_its_rest(above: int, below: int) -> None:
    """Lemma 1, as it is coded: the ranges of both coordinates hold just what there is."""
    run = asking_nothing()
    digits = Digits(run)
    radix = Radix(run.fresh("pid"), (name("a"), name("b")))
    parts = digits.cut(radix, name("b"))
    assert parts is not None
    high, low = (str(part.plain) for part in parts if isinstance(part, Whole))
    there = {(p // below, p % below) for p in range(above * below)}
    sizes = {"a": above, "b": below}
    said = {
        (q, r)
        for q, r in product(range(-2, 6), repeat=2)
        if holds(digits.ranges[high], {**sizes, high: q})
        and holds(digits.ranges[low], {**sizes, low: r})
    }
    assert said == there
    assert len(there) == above * below


@pytest.mark.parametrize(("above", "below", "group"), list(product(SMALL, SMALL, (2, 3))))
def test_a_program_id_is_its_group_and_its_rest(above: int, below: int, group: int) -> None:
    """Lemma 2: the last group may be smaller."""
    run = asking_nothing()
    digits = Digits(run)
    radix = Radix(run.fresh("pid"), (name("a"), name("b")))
    parts = digits.cut(radix, name("b") * group)
    assert parts is not None
    first, rest = parts
    assert isinstance(first, Whole)
    assert isinstance(rest, Radix)
    divisor = group * below
    there = {(p // divisor, p % divisor) for p in range(above * below)}
    coordinate = str(first.plain)
    said: set[tuple[int, int]] = set()
    for g in range(-2, 6):
        values = {"a": above, "b": below, coordinate: g}
        if not holds(digits.ranges[coordinate], values):
            continue
        extent = 1
        for one in rest.extents:
            found = put_whole(one, {n: number(value) for n, value in values.items()}).constant
            assert found is not None
            assert found >= 0
            extent *= found
        said.update((g, q) for q in range(extent))
    assert said == there
    assert len(there) == above * below


def test_an_id_is_taken_apart_by_one_number() -> None:
    run = asking_nothing()
    digits = Digits(run)
    radix = Radix(run.fresh("pid"), (name("a"), name("b")))
    assert digits.cut(radix, name("b")) is not None
    assert digits.cut(radix, name("a")) is None
    assert digits.cut(Radix(run.fresh("pid"), (name("a"), name("b"))), name("c")) is None


TILES = written(
    "Func f; In A; Var x, y; f[x, y] = A[x, y] * 2;"
    "f.block(x:4, y:4); f.tensorize(x:0, y:0); f.compile();"
)
SUMS = written(
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);"
    "f.block(x:4); f.tensorize(x:0, k:128); f.compile();"
)
PID = "pid = tl.program_id(0)"
# 16 programs where both sizes are 1, and by the lemma none.
NEGATIVE = """@triton.jit
def g_kernel(
    t_ptr, t_stride_0,
    x_size, y_size,
    offset: tl.constexpr,
):
    pid = tl.program_id(0)
    a = pid // (y_size - 5)
    tl.store(t_ptr + 7 * t_stride_0, 1.0, mask=a >= x_size - 5)


"""
LAUNCH = """        {
            "kernel": "g_kernel",
            "func": "f",
            "programs": ("x - 5", "y - 5"),
            "tensors": {"t": "_"},
            "numbers": {"x_size": "x", "y_size": "y"},
        },
"""
BETWEEN = '    "between": {"t": {"shape": ("1",), "dtype": "A"}},\n'


def layer(report: Report, wanted: str) -> LayerVerdict:
    return next(one.verdict for one in report.layers if one.name == wanted)


def test_a_grid_of_negative_numbers_is_not_read() -> None:
    text = changed(text_of(TILES), "f_plan = {\n", f"{NEGATIVE}f_plan = {{\n{BETWEEN}")
    text = changed(text, '    "launches": [\n', f'    "launches": [\n{LAUNCH}')
    text = changed(text, "dt_function(f_plan, ", "dt_function(f_plan, g_kernel, ")
    report = verify(TILES, text)
    assert layer(report, "bounds") is LayerVerdict.UNKNOWN
    assert "may be negative" in report.layers[0].why


TYPES = {
    "a size is not looked at": ('"indices": ("x", "y")', '"indices": ("x",)'),
    "no size is looked at": ('    "indices": ("x", "y"),\n', ""),
    "other sizes are looked at": ('"indices": ("x", "y")', '"indices": ("min(x, y)",)'),
    "a program id has 32 bits": (f"{PID}.to(offset)", PID),
}


@pytest.mark.parametrize("change", TYPES)
def test_what_may_not_fit_is_not_proved(change: str) -> None:
    """Calls for which each goes wrong have more than 2**31 elements: inputs may be expanded."""
    report = verify(TILES, changed(text_of(TILES), *TYPES[change]))
    assert layer(report, "overflow") is not LayerVerdict.PROVED


def test_the_size_of_a_sum_is_looked_at() -> None:
    """A sum over more than 2**31 elements that are one element in memory."""
    report = verify(SUMS, changed(text_of(SUMS), '"indices": ("x", "k")', '"indices": ("x",)'))
    assert layer(report, "overflow") is LayerVerdict.REFUTED


FIXED = written("Func f; In A; Var x; f[x] = A[3, x]; f.compile();")


def test_a_fixed_index_is_widened_before_it_is_multiplied() -> None:
    """Four rows that are 2**30 elements apart."""
    text = changed(text_of(FIXED), "tl.cast(3, offset) * A_stride_0", "3 * A_stride_0")
    assert layer(verify(FIXED, text), "overflow") is LayerVerdict.UNKNOWN


ADDRESS = "f_ptr + x[:, None] * f_stride_0 +"
PARTS = "f_ptr + x[:, None] * f_stride_0 * 1000000 - x[:, None] * f_stride_0 * 999999 +"


def test_no_part_of_an_address_is_larger_than_the_whole() -> None:
    """Lemma 5: of parts that are not negative none is, and each has its own 32 bits."""
    report = verify(TILES, changed(text_of(TILES), ADDRESS, PARTS))
    assert layer(report, "overflow") is LayerVerdict.UNKNOWN
    assert layer(report, "bounds") is LayerVerdict.PROVED


def test_nothing_is_concluded_from_comparing_strides() -> None:
    """It holds of numbers, and not of what 32 bits hold of them."""
    word = "tl.cast(f_stride_0, offset)"
    always = f"({word} * 2000000 > {word} * 1999999 + ({word} - 1))"
    text = changed(text_of(TILES), "(x < x_size) | even", f"((x < x_size) | even) & {always}")
    assert verify(TILES, text).verdict is LayerVerdict.UNKNOWN


def test_these_texts_are_proved_as_they_are() -> None:
    for one in (TILES, SUMS, FIXED):
        assert verify(one, text_of(one)).verdict is LayerVerdict.PROVED


RESIDUES = {"add": add, "sub": sub, "mul": mul}


@pytest.mark.parametrize("operation", RESIDUES)
@pytest.mark.parametrize(
    ("outer", "inner"), list(product(("tl.int8", "tl.uint8", "tl.int16"), repeat=2))
)
def test_what_wraps_inside_of_what_wraps(operation: str, outer: str, inner: str) -> None:
    """Lemma 6, as it is coded: left out is only what changes no residue."""
    element = Element("A", (), 0, ())
    wrapped = rounded(inner, applied("mul", [element, element]))
    inside = AppliedOperation(operation, (wrapped, element))
    assert isinstance(wrapped, AppliedOperation)
    is_left_out = rounded(outer, inside) == AppliedOperation(
        f"round {outer}", (AppliedOperation(operation, (wrapped.operands[0], element)),)
    )
    by = RESIDUES[operation]
    is_same = all(
        wraps(outer, by(wraps(inner, a * a), a)) == wraps(outer, by(a * a, a))
        for a in range(LEAST[inner], LARGEST[inner] + 1, 5)
    )
    assert is_left_out == is_same


def wraps(kind: str, value: int) -> int:
    return (value - LEAST[kind]) % (LARGEST[kind] - LEAST[kind] + 1) + LEAST[kind]


@pytest.mark.parametrize("kind", ["tl.int8", "tl.uint8", "tl.int16"])
def test_a_number_stays_if_its_type_has_it(kind: str) -> None:
    for value in (-32769, -32768, -129, -128, -1, 0, 127, 128, 255, 256, 32767, 32768):
        stays = rounded(kind, literal(value)) == literal(value)
        assert stays == (wraps(kind, value) == value)


def test_a_truth_that_was_kept_as_a_number_is_that_truth() -> None:
    """0 and 1 are bits beside truths, and nothing else is; `not` of 1 is another number than 0."""
    kept, other = (Element(tensor, (), 0, ()) for tensor in ("B", "A"))

    def asked(truth: Term, one: int = 1) -> Term | None:
        return as_truth(applied("where", [truth, literal(one), literal(0)]), {"B"})

    assert asked(kept) == kept
    assert asked(AppliedOperation("or", (literal(0), kept))) == AppliedOperation(
        "or", (Literal("False"), kept)
    )
    assert asked(AppliedOperation("and", (literal(1), kept))) == AppliedOperation(
        "and", (Literal("True"), kept)
    )
    assert asked(kept, 2) is None
    for wrong in (
        other,
        AppliedOperation("or", (kept, other)),
        AppliedOperation("and", (kept, literal(3))),
        AppliedOperation("not", (literal(1),)),
        AppliedOperation("add", (kept, kept)),
    ):
        assert asked(wrong) is None
    number_of = applied("where", [kept, literal(1), literal(0)])
    assert as_truth(AppliedOperation("add", (number_of, literal(0))), {"B"}) == kept
    assert as_truth(AppliedOperation("add", (number_of, literal(1))), {"B"}) is None
