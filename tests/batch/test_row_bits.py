"""What is proved of the bits of a row: of examples, of mutants and of kernels by hand."""

from itertools import islice
from pathlib import Path

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.bits.bit_proofs import bits_of, same_bits
from dtpoly.verify.bits.bit_report import BitsFound, BitsVerdict
from dtpoly.verify.bits.row_places import has_places
from tests.batch.bits_mutants import (
    CHANGES,
    HEADER,
    OF_THE_BATCH,
    OF_THE_ROW,
    PRODUCT,
    ROW_SUM,
    SOFTMAX,
    SUM,
    BitMutant,
    changed,
    conditional,
    text_of,
)

ROOT = Path(__file__).parents[2]
ASKED = {SOFTMAX: ("softmax", "x"), ROW_SUM: ("s", "x"), PRODUCT: ("c", "m")}
# Examples, and the label that numbers the rows of a batch.
INVARIANT = [
    *[("softmax", "x"), ("row_sum", "x"), ("layer_norm", "x"), ("rms_norm", "x")],
    *[("log_sum_exp", "x"), ("matmul", "m"), ("attention", "m")],
    *[("geglu", "x"), ("softmax_with_lse", "x"), ("layer_norm_backward", "x")],
]
SLOW = [("flash_attention", "b"), ("causal_flash_attention", "b")]
LONG = [pytest.param(*one, marks=pytest.mark.long) for one in SLOW]


def program_of(algorithm: str) -> Program:
    found = check(Source("bits.dt", algorithm)).program
    assert found is not None
    return found


def of_example(example: str, label: str) -> BitsFound:
    path = ROOT / "examples" / f"{example}.dt"
    checked = check(Source(path.name, path.read_text()))
    assert checked.program is not None
    assert checked.verdict is not None
    text = code_of(checked.verdict.scheduled, HEADER, None).text
    (func,) = [one.func for one in checked.program.directives if one.name == "compile"]
    return bits_of(checked.program, text, func, label)


def test_products_without_descriptors() -> None:
    """Two ways to load have loops of two forms, so `descriptor` is in the way of a proof."""
    text = (ROOT / "examples" / "half_matmul.dt").read_text()
    plain = [one for one in text.splitlines() if ".descriptor(" not in one and ".store(" not in one]
    checked = check(Source("plain.dt", "\n".join(plain)))
    assert checked.program is not None
    assert checked.verdict is not None
    kernels = code_of(checked.verdict.scheduled, HEADER, None).text
    found = bits_of(checked.program, kernels, "half_matmul", "m")
    assert found.verdict is BitsVerdict.PROVED, found.why


def of_mutant(mutant: BitMutant) -> BitsFound:
    func, label = ASKED[mutant.algorithm]
    return bits_of(program_of(mutant.algorithm), mutant.text, func, label)


@pytest.mark.sampled
@pytest.mark.parametrize(("example", "label"), [*INVARIANT, *LONG])
def test_bits_of_a_row_do_not_depend_on_the_batch(example: str, label: str) -> None:
    found = of_example(example, label)
    assert (found.verdict, found.is_for_places) == (BitsVerdict.PROVED, True), found.why


@pytest.mark.parametrize(
    ("example", "label", "why"),
    [
        ("softmax", "y", "how often a loop runs"),
        ("layer_norm", "y", "the number of lanes of a tile"),
        ("embedding_backward", "d", "the order of atomic operations"),
    ],
)
def test_what_depends_on_a_size_is_not_proved(example: str, label: str, why: str) -> None:
    found = of_example(example, label)
    assert found.verdict is BitsVerdict.UNKNOWN
    assert why in found.why


@pytest.mark.parametrize("algorithm", [*ASKED], ids=["softmax", "sum", "product"])
def test_the_texts_of_mutants_are_right(algorithm: str) -> None:
    found = of_mutant(BitMutant("nothing", algorithm, text_of(algorithm)))
    assert (found.verdict, found.is_for_places) == (BitsVerdict.PROVED, True)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "condition", [pytest.param(one, marks=pytest.mark.long) for one in OF_THE_BATCH]
)
def test_nothing_that_a_condition_on_the_batch_changes_is_proved(condition: str) -> None:
    for mutant in conditional((condition,)):
        assert of_mutant(mutant).verdict is not BitsVerdict.PROVED, mutant.what


def test_one_sum_that_a_condition_on_the_batch_changes_is_not_proved() -> None:
    (mutant,) = islice(conditional(("even",)), 1)
    found = of_mutant(mutant)
    assert found.verdict is not BitsVerdict.PROVED
    assert found.calls


@pytest.mark.sampled
@pytest.mark.parametrize(
    "condition", [pytest.param(one, marks=pytest.mark.long) for one in OF_THE_ROW]
)
def test_what_a_condition_on_the_row_changes_is_proved(condition: str) -> None:
    for mutant in conditional((condition,)):
        assert of_mutant(mutant).verdict is BitsVerdict.PROVED, mutant.what


@pytest.mark.parametrize("mutant", [*changed()], ids=[one[0] for one in CHANGES])
def test_no_changed_text_is_proved(mutant: BitMutant) -> None:
    assert of_mutant(mutant).verdict is not BitsVerdict.PROVED


@pytest.mark.parametrize(
    ("kernel", "func", "label"),
    [
        ("softmax", "softmax", "row"),
        ("softmax_persistent", "softmax", "row"),
        ("matmul", "C", "m"),
    ],
)
def test_kernels_by_hand(kernel: str, func: str, label: str) -> None:
    folder = ROOT / "tests" / "data" / "handwritten"
    program = program_of((folder / f"{kernel}.dt").read_text())
    text = (folder / f"{kernel}.py.txt").read_text()
    found = bits_of(program, text, func, label)
    assert found.verdict is BitsVerdict.PROVED, found.why


def test_where_the_place_of_a_row_matters() -> None:
    shifted = "Func f; In A; Var x; f[x] = pad(A, 0)[x + 1] * 2; f.compile();"
    ranged = "Func f; In A; Var x; RVar k in [0, x + 1); f[x] = rsum(A[k], k); f.compile();"
    plain = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();"
    places = [has_places(program_of(one), "f", "x") for one in (shifted, ranged, plain)]
    assert places == [True, True, False]


def test_a_function_of_the_file_is_not_one_of_triton() -> None:
    text = text_of(SOFTMAX)
    own = "@triton.jit\ndef exp2(a):\n    return tl.exp2(a) * 1.0\n\n\n"
    kernel = "@triton.jit\ndef softmax_kernel"
    text = text.replace(kernel, own + kernel)
    mixed = "    if x_size > 8:\n        total_sum = exp2(total_sum)\n    else:\n"
    mixed += "        total_sum = tl.exp2(total_sum)\n"
    found = bits_of(program_of(SOFTMAX), text.replace(SUM, SUM + mixed), "softmax", "x")
    assert found.verdict is BitsVerdict.UNKNOWN
    assert "in one call" in found.why, found.why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("total_sum.to(tl.float32, fp_downcast_rounding='rtz')", "total_sum.to(tl.float32)"),
        ("tl.cast(total_sum, tl.float32, 'rtz')", "tl.cast(total_sum, tl.float32)"),
        ("tl.extra.cuda.libdevice.exp2(total_sum)", "tl.exp2(total_sum)"),
    ],
)
def test_an_option_that_is_not_read_is_no_proof(one: str, other: str) -> None:
    mixed = f"    if x_size > 8:\n        total_sum = {one}\n    else:\n"
    mixed += f"        total_sum = {other}\n"
    found = bits_of(program_of(SOFTMAX), text_of(SOFTMAX).replace(SUM, SUM + mixed), "softmax", "x")
    assert found.verdict is BitsVerdict.UNKNOWN


def test_a_loop_whose_bounds_are_data_is_not_followed() -> None:
    found = of_example("ragged_sum", "b")
    assert found.verdict is BitsVerdict.UNKNOWN


def test_two_files_have_one_algorithm() -> None:
    other = SOFTMAX.replace("In A;", "In A: f16;")
    programs = program_of(SOFTMAX), program_of(other)
    found = same_bits(programs, (text_of(SOFTMAX), text_of(other)), "softmax")
    assert found.verdict is BitsVerdict.UNKNOWN
    assert "other algorithms" in found.why


def test_two_files_have_the_same_types() -> None:
    text = text_of(SOFTMAX)
    other = text.replace('"types": {"real": "real(A)"}', '"types": {"real": "stored(A)"}')
    assert other != text
    programs = program_of(SOFTMAX), program_of(SOFTMAX)
    found = same_bits(programs, (text, other), "softmax")
    assert found.verdict is BitsVerdict.UNKNOWN
    assert "types" in found.why


def test_a_label_that_no_result_has() -> None:
    found = bits_of(program_of(SOFTMAX), text_of(SOFTMAX), "softmax", "z")
    assert found.verdict is BitsVerdict.UNKNOWN
    assert "no result" in found.why


def test_a_label_that_is_fixed_has_no_other_size() -> None:
    algorithm = SOFTMAX.replace("Var x;", "Var x: 8;")
    found = bits_of(program_of(algorithm), text_of(algorithm), "softmax", "x")
    assert found.verdict is BitsVerdict.UNKNOWN
    assert "no size of its own" in found.why


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("softmax.block(x:4);", "softmax.block(x:4);"), BitsVerdict.PROVED),
        (("y:32", "y:64"), BitsVerdict.UNKNOWN),
        (("softmax.compile", "softmax.num_warps(8); softmax.compile"), BitsVerdict.UNKNOWN),
    ],
)
def test_two_files_with_the_same_bits(change: tuple[str, str], verdict: BitsVerdict) -> None:
    other = SOFTMAX.replace(*change)
    programs = program_of(SOFTMAX), program_of(other)
    found = same_bits(programs, (text_of(SOFTMAX), text_of(other)), "softmax")
    assert found.verdict is verdict, found.why
