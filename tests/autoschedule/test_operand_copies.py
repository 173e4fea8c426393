"""Inputs that lie badly for a product are copied, where the cost model says that it pays."""

from itertools import islice

import pytest

from dtpoly.algorithm.show import show
from dtpoly.autoschedule.choose import candidates
from dtpoly.autoschedule.plans import with_directives
from dtpoly.autoschedule.schedule_text import whole_text
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled, settled
from dtpoly.autoschedule.unscheduled_source import algorithm_of
from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs
from dtpoly.source import Source
from dtpoly.verification import proved
from dtpoly.verify.proof.report import LayerVerdict
from tests.autoschedule.asked import call_of
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported

SIZES = {"m": 1024, "n": 1024, "k": 1024}


def text_of(left: str, right: str, more: str = "") -> str:
    return f"Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[{left}], B[{right}], k);{more}"


def first_of(text: str, dtype: str = "f32", device: str = "h200", /, **sizes: int) -> Settled:
    (best,) = islice(schedules(call_of(text, dtype, device, **sizes)), 1)
    return best


@pytest.mark.parametrize(
    ("left", "right", "copied"),
    [
        ("m, k", "k, n", ""),
        ("k, m", "k, n", ""),
        ("m, k", "n, k", "B_turned[k, n] = B[n, k];"),
        ("k, m", "n, k", "B_turned[k, n] = B[n, k];"),
    ],
)
def test_threads_want_columns_side_by_side(left: str, right: str, copied: str) -> None:
    best = first_of(text_of(left, right), **SIZES)
    shown = show(with_directives(best.program, ()))
    assert (copied in shown) if copied else ("turned" not in shown)
    assert all(line.why or line.directive.name == "compile" for line in best.lines)


def test_tensor_cores_want_what_is_summed_up_side_by_side() -> None:
    best = first_of(text_of("k, m", "k, n", "f.precision(tf32);"), **SIZES)
    shown = show(with_directives(best.program, ()))
    assert "A_turned[m, k] = A[k, m];" in shown
    assert "B_turned[n, k] = B[k, n];" in shown
    # Those of other GPUs, and of other dtypes, take them either way where rows are aligned.
    for words in (("f32", "a100"), ("bf16", "h200")):
        text = text_of("k, m", "k, n", "f.precision(tf32);" if words[0] == "f32" else "")
        assert len(first_of(text, *words, **SIZES).program.funcs) == 1


def test_what_is_multiplied_once_is_not_copied() -> None:
    best = first_of(text_of("m, k", "n, k"), m=16, n=8192, k=8192)
    assert len(best.program.funcs) == 1


def test_a_label_with_a_range_and_a_sum_of_labels_are_read_where_they_are() -> None:
    ranged = text_of("m, k", "n, k").replace("RVar k", "RVar k in [0, m + 1)")
    shifted = text_of("m, k", "n, k + m")
    for text in (ranged, shifted):
        every = candidates(call_of(text, **SIZES))
        assert not any(one.plan.copies for one in every)


def test_the_algorithm_that_was_given_is_computed() -> None:
    """The text is proved to compute the algorithm without the copy, and computes it."""
    given = Source("given.dt", text_of("m, k", "n, k"))
    best = first_of(given.text, **SIZES)
    text = whole_text(given, algorithm_of(given, DIRECTIVES), "For these sizes.", best)
    assert text.startswith("Func B_turned, f;")
    checked = check(Source("found.dt", text))
    assert checked.verdict is not None
    assert checked.verdict.is_legal
    made = code_of(checked.verdict.scheduled)
    algorithm = check(given).program
    assert algorithm is not None
    found = proved(algorithm, made.text, outputs(algorithm))
    assert found.report.verdict is LayerVerdict.PROVED
    sizes = {"m": 65, "n": 40, "k": 33}
    inputs = Recipe().inputs(algorithm, sizes)
    compared(imported(made.text), algorithm, ("f",), inputs, sizes)


TAPS = "out[z, f, x, y] = rdot({0}[z, {1}], W[f, c, r, s], c, r, s);"
PADDED = TAPS.format("pad(X, 0)", "c, x + r - 1, y + s - 1")
STRIDED = TAPS.format("X", "c, 2 * x + r, 2 * y + s")
PICTURES = "Func out; In X, W; Var z, f, x, y; RVar c, r: 3, s: 3;\n"
LARGE = {"z": 16, "f": 128, "c": 128, "x": 56, "y": 56}


def copied_in(text: str, dtype: str, /, **sizes: int) -> set[str]:
    """The copies, as they are written, of the best candidate."""
    best = min(candidates(call_of(text, dtype, **sizes)), key=lambda one: one.score)
    return {f"{one.func}[{', '.join(one.kept)}]" for one in best.plan.copies}


@pytest.mark.parametrize(
    "body", [PADDED, pytest.param(STRIDED, marks=pytest.mark.long)], ids=["padded", "strided"]
)
def test_windows_are_read_from_copies_with_the_channels_innermost(body: str) -> None:
    """A tile of a window begins anywhere in a row; along the channels it begins where rows do."""
    found = copied_in(PICTURES + body, "f16", **LARGE)
    assert found == {"X_turned[z, x2, x3, c]", "W_turned[f, r, s, c]"}


def test_rows_that_are_not_aligned_are_copied_to_rows_that_are() -> None:
    found = copied_in(text_of("m, k", "n, k"), "f16", m=4096, n=4096, k=1001)
    assert found == {"A_aligned[m, k]", "B_aligned[n, k]"}
    assert not copied_in(text_of("m, k", "n, k"), "f16", m=4096, n=4096, k=1024)


@pytest.mark.long
@pytest.mark.parametrize("body", [PADDED, STRIDED], ids=["padded", "strided"])
def test_with_copies_of_windows_the_algorithm_that_was_given_is_computed(body: str) -> None:
    given = Source("given.dt", PICTURES + body)
    call = call_of(given, "f16", **LARGE)
    algorithm = check(given).program
    assert algorithm is not None
    one = next(settled(call, (one for one in candidates(call) if one.plan.copies)))
    assert isinstance(one, Settled)
    text = whole_text(given, algorithm_of(given, DIRECTIVES), "For these sizes.", one)
    checked = check(Source("found.dt", text))
    assert checked.verdict is not None
    assert checked.verdict.is_legal
    made = code_of(checked.verdict.scheduled)
    found = proved(algorithm, made.text, outputs(algorithm))
    assert found.report.verdict is LayerVerdict.PROVED
    sizes = {"z": 2, "f": 32, "c": 16, "x": 5, "y": 6, "r": 3, "s": 3}
    inputs = Recipe().inputs(algorithm, sizes)
    compared(imported(made.text), algorithm, ("out",), inputs, sizes)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_sides_that_lie_along_a_label_of_the_batch_are_copied(dtype: str) -> None:
    """A program of one index of c would load one element of each line."""
    text = "Func f; In A, B; Var i, j, c; RVar k; f[i, j, c] = rdot(A[i, k, c], B[j, k, c], k);"
    precision = "f.precision(tf32);" if dtype == "f32" else ""
    best = first_of(text + precision, dtype, i=256, j=256, k=256, c=64)
    shown = show(with_directives(best.program, ()))
    assert "A_turned[i, c, k] = A[i, k, c];" in shown
    assert "B_turned[j, c, k] = B[j, k, c];" in shown
    # With c in front, they are read where they are.
    turned = text.replace("[i, j, c]", "[c, i, j]").replace("k, c]", "k]")
    turned = turned.replace("A[i", "A[c, i").replace("B[j", "B[c, j")
    best = first_of(turned + precision, "bf16", i=256, j=256, k=256, c=64)
    assert len(best.program.funcs) == 1
