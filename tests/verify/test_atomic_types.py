"""Atomic sums in memory: each is rounded to the type of the element, which `atomic` asks for."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_by_hand import is_proved
from tests.verify.texts import written

TOTAL = """\
import triton
import triton.language as tl

# verify: clear[(1,)]({to})
# verify: add[(cdiv(len(i), 256),)](X, {to}, len(i))
{then}# assume: len(i) <= 2**30{more}


@triton.jit
def clear(out):
    tl.store(out, {start})


@triton.jit
def add(X, out, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    x = tl.load(X + i, mask=i < n, other={start})
    {put}


@triton.jit
def end(part, out):
    tl.store(out, tl.load(part) * 2)
"""
ADD = "tl.atomic_add(out, tl.sum(x.to(tl.float32), 0))"
EACH = "tl.atomic_add(out + 0 * i, x, mask=i < n)"


def summed(
    declared: str, of: str, put: str = ADD, directives: str = "", value: str = "rsum(X[i], i)"
) -> Report:
    """Return what is proved of an atomic sum in a Func of a type, of an input of a type."""
    program = written(
        f"Func f{declared}; In X: {of}; RVar i; f[] = {value}; f.compile(); {directives}"
    )
    return verify(program, TOTAL.format(to="f", then="", more="", start="0.0", put=put))


@pytest.mark.long
@pytest.mark.parametrize(
    ("declared", "of", "put"),
    [
        (": f16", "f32", ADD),
        (": f16", "f16", ADD),
        ("", "f16", ADD),
        (": bf16", "f32", ADD),
        ("", "bf16", ADD),
        pytest.param(*(": f16", "bf16", ADD), marks=pytest.mark.long),
        pytest.param(*(": bf16", "f16", ADD), marks=pytest.mark.long),
        pytest.param(*("", "f16", EACH), marks=pytest.mark.long),
        pytest.param(*(": f16", "f32", EACH), marks=pytest.mark.long),
        pytest.param(*("", "bf16", EACH), marks=pytest.mark.long),
        pytest.param(*(": f32", "f64", "tl.atomic_add(out, tl.sum(x, 0))"), marks=pytest.mark.long),
        pytest.param(*(": f16", "f64", "tl.atomic_add(out, tl.sum(x, 0))"), marks=pytest.mark.long),
    ],
)
def test_a_sum_in_a_narrower_type_is_not_the_algorithms(declared: str, of: str, put: str) -> None:
    assert summed(declared, of, put).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    ("declared", "of", "put"),
    [
        ("", "f32", ADD),
        (": f32", "f16", ADD),
        (": f32", "bf16", ADD),
        ("", "f64", "tl.atomic_add(out, tl.sum(x, 0))"),
        (": f32", "f16", "tl.atomic_add(out + 0 * i, x.to(tl.float32), mask=i < n)"),
    ],
)
def test_a_sum_in_the_type_of_sums_is_proved(declared: str, of: str, put: str) -> None:
    assert is_proved(summed(declared, of, put))


@pytest.mark.parametrize("of", ["f16", "f32"])
def test_it_is_where_the_program_asks_for_it(of: str) -> None:
    asked = "f.block(i:256); f.tensorize(i:256); f.atomic(i);"
    assert is_proved(summed(": f16", of, directives=asked))


@pytest.mark.long
def test_another_func_that_asks_says_nothing() -> None:
    program = written(
        "Func f: f16, g: f16; In X: f32; RVar i; f[] = rsum(X[i], i); g[] = rsum(X[i], i);"
        "f.compile(); g.compile(); g.block(i:256); g.tensorize(i:256); g.atomic(i);"
    )
    text = TOTAL.format(to="f", then="", more="", start="0.0", put=ADD)
    assert verify(program, text).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("of", ["f16", "bf16", "f32"])
def test_the_largest_of_rounded_values_is_the_largest(of: str) -> None:
    program = written(f"Func f; In X: {of}; RVar i; f[] = rmax(X[i], i); f.compile();")
    put = "tl.atomic_max(out, tl.max(x, 0))"
    text = TOTAL.format(to="f", then="", more=", finite", start='-float("inf")', put=put)
    wanted = (
        LayerVerdict.PROVED if of == "f32" else LayerVerdict.UNKNOWN
    )  # Triton has no narrower ones
    assert verify(program, text).verdict is wanted


@pytest.mark.long
@pytest.mark.parametrize(
    ("declared", "is_right"), [(": f16", False), (": bf16", False), ("", True)]
)
def test_what_a_later_launch_loads_is_such_a_sum(declared: str, is_right: bool) -> None:
    program = written(
        f"Func p{declared}, f: f32; In X: f32; RVar i;"
        "p[] = rsum(X[i], i); f[] = p[] * 2; p.compile(); f.compile();"
    )
    then = "# verify: end[(1,)](p, f)\n"
    report = verify(program, TOTAL.format(to="p", then=then, more="", start="0.0", put=ADD))
    assert (report.verdict is LayerVerdict.PROVED) == is_right


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [("f_1.atomic(i);", LayerVerdict.PROVED), ("f.atomic(j);", LayerVerdict.UNKNOWN)],
)
def test_a_func_is_not_asked_for_by_another_whose_name_begins_alike(
    asked: str, verdict: LayerVerdict
) -> None:
    program = written(
        "Func f: f16, f_1: f16, g; In X: f32; RVar i, j; f[] = rsum(X[j], j);"
        "f_1[] = rsum(X[i], i); g[] = f_1[] * 2; f.block(j:4); f_1.block(i:4);"
        f"{asked} f.compile(); g.compile();"
    )
    then = "# verify: end[(1,)](f_1, g)\n"
    text = TOTAL.format(to="f_1", then=then, more="", start="0.0", put=ADD)
    of_g = next(one for one in verify(program, text).functions if one.name == "g")
    assert of_g.verdict is verdict
