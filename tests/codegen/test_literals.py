"""Numbers, sizes and indices beside values of every type; a Func's type, however it is fused."""

import re
from math import inf, nan
from warnings import catch_warnings, simplefilter

import pytest
import torch

from dtpoly.algorithm.dtypes import FLOATS, INTEGERS, DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.codegen.triton_text import kernel_lines
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.ir.kernel import Lanes, Step, TileKernel
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.schedule.legality import judge
from tests.codegen.allowed import allowed
from tests.codegen.floats import Floats
from tests.codegen.inputs import Inputs, Recipe
from tests.codegen.running import compared, imported
from tests.schedule.told import only, read, told

LARGEST = {dtype: 2 ** (8 * TORCH_DTYPE[dtype].itemsize - 1) for dtype in INTEGERS}
MOST = 2**63 - 1  # the largest literal
IN_PARTS = "f.compile(); f.block(k:4); f.atomic(k);"
WAYS = ("", "f.tensorize(x:4);")


def run(text: str, dtype: DType = DType.F32, inputs: Inputs | None = None, **sizes: int) -> str:
    """Run a Program; its text."""
    given = read(text)
    made = code_of(judge(given, DIRECTIVES).scheduled)
    theirs = inputs or Recipe(3, dtype).inputs(given, sizes)
    checked = compared(imported(made.text), given, made.stages.outputs, theirs, sizes)
    assert checked.known == checked.elements > 0
    return made.text


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["f8e4m3", "bf16", "f64"])
@pytest.mark.parametrize("value", ["1", "0.1", "len(x)", "x", "1 < x", "A[x]", "A[x] < 2"])
def test_a_whole_value_as_a_float(value: str, dtype: str, way: str) -> None:
    head = "" if "A" not in value else "In A: i32; "
    run(f"Func f: {dtype}; {head}Var x; f[x] = {value}; {way}", x=5)


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 6])
def test_comparisons_of_sizes_and_indices(size: int, way: str) -> None:
    numbers = ("nan", "inf", "3e+38", "-inf", "2.5", "2", "2147483648", "9223372036854775807")
    tests = [f"{one} < {n}" for one in ("x", "len(x)") for n in numbers]
    tests += ["x < len(x)", "len(x) == len(x)", "x == x", "not (len(x) <= inf)"]
    funcs = "".join(f"f{at}[x] = {test}; f{at}.compile();" for at, test in enumerate(tests))
    names = ", ".join(f"f{at}" for at in range(len(tests)))
    ways = "".join(way.replace("f.", f"f{at}.") for at in range(len(tests)))
    text = run(f"Func {names}; Var x; {funcs} {ways}", x=size)
    # Triton makes a Python number of a size that is 1, which is no value to compute with.
    assert "tl.cast(x_size, tl.int64) == tl.cast(x_size, tl.int64)" in text


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_literals_wrap_to_the_type_that_they_meet(dtype: DType) -> None:
    big = LARGEST[dtype]
    for body in (
        f"A[x] + {min(big, MOST)}",
        f"A[x] * {min(2 * big + 3, MOST)}",
        f"where(A[x] < {min(big, MOST)}, A[x], {min(3 * big + 1, MOST)})",
        f"maximum(A[x], {big - 1})",
    ):
        run(f"Func f; In A: {dtype}; Var x; f[x] = {body}; f.tensorize(x:4);", x=5)


def test_a_literal_in_registers_is_as_exact_as_its_type() -> None:
    text = run(
        "Func f: f64, g; Var x; f[x] = 0.1; g[x] = f[x] / 3; f.fuse_at(g, x); g.tensorize(x:4);",
        x=3,
    )
    assert "f = tl.full((), 0.1, tl.float64)" in text


def test_what_is_allowed_of_a_literal_beside_an_index() -> None:
    """It is rounded to f32, also in a Program of f64; beside what is f64 it is not."""
    bodies = (
        *("0.1 * x", "A[x] * maximum(x, 7.3)", "where(0.1 * x == 0.3, A[x], 0.0)"),
        *("A[x] * rmax(where(k > 1, 0.1, 0.2), k)", "A[x] * 0.1"),
    )
    funcs = "".join(f"f{at}[x] = {body}; f{at}.compile();" for at, body in enumerate(bodies))
    names = ", ".join(f"f{at}" for at in range(len(bodies)))
    text = f"Func {names}; In A: f64; Var x; RVar k; {funcs}"
    run(text, DType.F64, x=50, k=3)
    program, sizes = read(text), {"x": 50, "k": 3}
    bounds = allowed(program, Recipe(3).inputs(program, sizes), sizes)
    for at, is_rounded in ((0, True), (1, True), (3, True), (4, False)):
        found = bounds[f"f{at}"]
        assert isinstance(found, Floats)
        width = ((found.high - found.low) / found.size.clamp(min=1)).max()
        assert (width > 1e-9) == is_rounded


def test_a_power_of_a_scalar_and_a_tile() -> None:
    run("Func f; In A, B; Var x; f[x] = pow(A[], pad(B, 2)[x + 3]); f.tensorize(x:4);", x=5)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_powers_of_whole_numbers(dtype: DType) -> None:
    """They wrap; to a power below 0 only 1 and -1 give anything but 0."""
    some = [0, 1, 2, 3, 7, 65, *((250, 255) if dtype is DType.U8 else (-1, -2, -3, -128))]
    pairs = torch.cartesian_prod(*2 * [torch.tensor(some)]).to(TORCH_DTYPE[dtype])
    run(
        f"Func f; In A: {dtype}, B: {dtype}; Var x; f[x] = pow(A[x], B[x]); f.tensorize(x:8);",
        inputs={"A": pairs[:, 0], "B": pairs[:, 1]},
        x=len(pairs),
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_power_that_is_a_product_has_the_promoted_type(way: str) -> None:
    """Not that of its base, in which it may not fit."""
    head = "In A: i8, B: bool; Var x; "
    for body in ("pow(A[x], 2.0)", "pow(B[x], 2) + 1", "A[x] * pow(len(x), 3)", "pow(A[x], 2)"):
        some = {"A": torch.tensor([-128, 127, 3], dtype=torch.int8)}
        some["B"] = torch.tensor([True, False, True])
        run(f"Func f; {head} f[x] = {body}; {way}", inputs={**some}, x=3)
    text = run(f"Func f; Var x; f[x] = pow(x, 2); {way}", x=5)
    assert "tl.int64" in text.partition("tl.store")[0]


@pytest.mark.parametrize("way", WAYS)
def test_single_truths_chosen_by_a_tile(way: str) -> None:
    """Of which one may be no more than a number to Triton's interpreter."""
    body = "not where(x < 3, 1e+16 < len(x), 2 == len(x)) or A[x] < 0"
    some = {"A": torch.tensor([1.0, -1, 1, 1, -1])}
    run(f"Func f; In A; Var x; f[x] = {body}; {way}", inputs={**some}, x=5)


def test_whole_numbers_have_no_fma() -> None:
    text = run("Func f; In A: i32; Var x; f[x] = fma(A[x], 3 - A[x], len(x)); f.block(x:2);", x=5)
    assert "tl.fma" not in text


def test_lanes_that_take_steps_from_the_first_index() -> None:
    body = (Step(Lanes("x", Affine(), 4, 3), ""),)
    kernel = TileKernel("f", (), (), (), (), (), (), (), (), body)
    assert "    x = (tl.arange(0, 4) * 3).to(offset)" in [
        line.text for line in kernel_lines(kernel)
    ]


# A Func's type


@pytest.mark.sampled
@pytest.mark.parametrize("fused", ["", "f.inline();", "f.fuse_at(g, x);"])
@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("Func f; SIn a: i32;", "a"),
        ("Func f; SIn a: bool;", "a"),
        ("Func f;", "2"),
        ("Func f;", "0.3"),
        ("Func f: i8; In A: i32;", "A[x] * 100"),
        ("Func f: bf16; In A: i8;", "rsqrt(A[x] + 9)"),
        ("Func f: f64; In A: f32;", "A[x] * A[x]"),
        ("Func f: f16;", "x / 7"),
        ("Func f: f8e4m3; In A;", "A[x]"),
    ],
)
def test_a_func_has_its_type_wherever_it_is_computed(head: str, body: str, fused: str) -> None:
    read_by = "f[x] * f[x]" if "bool" not in head else "f[x]"
    run(f"{head} Func g; RVar x; f[x] = {body}; g[x] = {read_by}; g.compile(); {fused}", x=5)


def test_inlined_below_a_pad() -> None:
    run(
        "Func f, g; SIn a: i32; Var x; f[x] = a; g[x] = pad(f, 1)[x + 3] + pad(f, 7)[x];"
        "f.inline();",
        x=5,
    )


# Results that memory combines


@pytest.mark.sampled
@pytest.mark.parametrize("operation", ["rsum", "rmax", "rmin"])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, DType.BOOL], ids=str)
def test_narrow_results_are_not_combined_in_memory(dtype: DType, operation: str) -> None:
    text = f"In A: {dtype}; RVar k; f[] = {operation}(A[k], k); {IN_PARTS}"
    wide = ("i32", "i64", "f32", "f64", *(("f16", "bf16") if operation == "rsum" else ()))
    sums = ("bool", "u8", "i8", "i16") if operation == "rsum" else ()  # which are i32
    if dtype in (*wide, *sums):
        run(f"Func f; {text}", k=9)
        return
    found = only(f"Func f; {text}")
    assert (found.code, found.title) == ("DT194", f"'{operation}' has no atomic form in {dtype}")
    wider = "f32" if dtype in FLOATS else "i32"
    assert f"Func f: {wider}" in found.hint
    if dtype is not DType.BOOL:
        assert told(f"Func f: {wider}; {text}") == []
        run(f"Func f: {wider}; {text}", k=9)


@pytest.mark.parametrize("operation", ["rsum", "rmax"])
def test_narrow_results_of_the_caller(operation: str) -> None:
    text = f"In A; RVar k; f[] = {operation}(A[k], k); {IN_PARTS}"
    run(f"Func f; {text}", DType.F32, k=9)
    run(f"Func f: f32; {text}", DType.F8E5M2, k=9)
    with pytest.raises(TypeError, match=f"'{operation}' has no atomic form.*declare Func f: f32"):
        run(f"Func f; {text}", DType.F8E5M2, k=9)


def test_8_and_64_bits_meet_by_way_of_32() -> None:
    for head, body in (("SIn a: f64", "cast(a, f8e4m3)"), ("In A: f64", "cast(A[x], f8e5m2)")):
        text = run(f"Func f; {head}; Var x; f[x] = {body};", x=5)
        assert re.search(r"tl.float32\)[.,)]", text)
    given = read("Func f, g; In A, B; Var x; f[x] = A[x]; g[x] = B[x]; f.compile(); g.compile();")
    recipe = Recipe(1, DType.F64, dtypes={"B": DType.F8E5M2})
    module = imported(code_of(judge(given, DIRECTIVES).scheduled).text)
    for func in ("f", "g"):
        with pytest.raises(TypeError, match="have no common type: convert an input"):
            getattr(module, func)(**recipe.inputs(given, {"x": 5}))


def test_tanh_near_zero() -> None:
    for dtype in (torch.float32, torch.float64):
        values = torch.tensor([0.0, 1e-9, 0.002, -0.03, 0.15, 0.3, -0.499, 0.5, 3], dtype=dtype)
        run("Func f; In A; Var x; f[x] = tanh(A[x]);", inputs={"A": values}, x=9)


def test_tanh_is_right_to_3_units() -> None:
    given = read("Func f; In A; Var x; f[x] = tanh(A[x]); f.block(x:8192); f.tensorize(x:0);")
    bits = torch.arange(0, 0x7F800001, 0x3FFFF).int()
    around = torch.arange(-300, 300).int() + torch.tensor(0.6).view(torch.int32)
    special = torch.tensor([0.0, 1e-45, 1e-38, 8.9, 9.1, 3e38, inf]).view(torch.int32)
    sizes = torch.cat([bits, around, special]).view(torch.float32)
    values = torch.cat([sizes, -sizes, torch.tensor([nan])])
    with catch_warnings():
        simplefilter("ignore")  # numpy's: exp2 of large numbers is infinite, as it must be
        got = imported(code_of(judge(given, DIRECTIVES).scheduled).text).f(values)
    exact = torch.tanh(values.double())
    unit = torch.nextafter(exact.float().abs(), torch.tensor(2.0)) - exact.float().abs()
    assert got[-1].isnan()
    assert ((got - exact).abs() <= 3 * unit)[:-1].all()
    assert (got.signbit() == values.signbit())[:-1].all()
    assert (got[:-1].abs() <= 1).all()


CHOICE = "where(A[k] < 100, 1000000000, 0)"


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["f.tensorize(k:0);", "f.tensorize(k:8);", "f.block(k:16);", ""])
@pytest.mark.parametrize(
    "sum_",
    [
        f"rsum({CHOICE}, k)",
        f"rsum({CHOICE} * 3 + {CHOICE}, k)",
        f"rmax({CHOICE} * {CHOICE}, k)",
        f"rdot({CHOICE}, {CHOICE}, k)",
        f"rsum(-{CHOICE} - abs({CHOICE}) * 2, k)",
        "rsum(maximum(where(A[k] < 100, 2147483647, 1), 5) + where(A[k] < 3, 9, 8), k)",
    ],
)
def test_a_choice_between_numbers_has_their_type(sum_: str, way: str) -> None:
    """Triton makes 32 bits of two literals that fit; the numbers of the language have 64."""
    tiles = way.replace("16);", "16); f.tensorize(k:0);")
    run(f"Func f; In A: i32; RVar k; f[] = {sum_}; {tiles} f.compile();", k=20)


@pytest.mark.parametrize("way", ["f.tensorize(k:0);", ""])
def test_a_choice_between_floats_has_the_type_that_all_is_computed_in(way: str) -> None:
    choice = "where(A[k] < 100, 3.0, 1.0)"
    text = f"Func f: f64; In A; RVar k; f[] = rsum({choice} * {choice} * A[k], k); {way}"
    for dtype in (DType.F32, DType.F64):
        run(f"{text} f.compile();", dtype, k=20)
