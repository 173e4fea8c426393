"""Programs over every dtype: whole numbers, booleans, casts, promotion, numbers, labels."""

from itertools import product

import pytest
import torch

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, FLOATS, INTEGERS, DType
from dtpoly.algorithm.operations import OPERATIONS, REDUCTIONS, Result
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import has_errors
from dtpoly.generate import code_of
from dtpoly.reference.values import TORCH_DTYPE
from dtpoly.schedule.check import check_schedule
from dtpoly.schedule.legality import judge
from tests.codegen.inputs import Inputs, Layout, Recipe
from tests.codegen.running import Checked, compared, imported
from tests.schedule.told import read

SIZES = {"x": 5, "y": 6}
WAYS = {
    "tiles": "f.tensorize(x:2, y:4);",
    "elements": "",
    "whole rows": "f.block(x:2); f.tensorize(x:0, y:0);",
}
ONE_AXIS = {
    "tiles": "f.tensorize(y:4);",
    "partial results": "f.block(y:4); f.tensorize(x:2);",
    "elements": "",
    "rows at once": "f.block(x:2); f.tensorize(x:0, y:0);",
}
# The ordinary command takes the first way; of reductions in parts a few dtypes.
some_ways = pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way == "tiles" else pytest.mark.long) for way in WAYS]
)
IN_PARTS = (DType.BOOL, DType.I8, DType.F16, DType.F32)


def is_ordinary(dtype: DType, way: str) -> bool:
    return way == "tiles" or (way == "partial results" and dtype in IN_PARTS)


def run(text: str, inputs: Inputs | None = None, recipe: Recipe | None = None) -> Checked:
    """Run a Program at 5 by 6; what it compares is known."""
    program: Program = read(text)
    assert not has_errors(check_schedule(program))
    sizes = {label.name: SIZES[label.name] for label in program.labels}
    given = (recipe or Recipe()).inputs(program, sizes) if inputs is None else inputs
    made = code_of(judge(program).scheduled)
    module = imported(made.text)
    checked = compared(module, program, made.stages.outputs, given, sizes, layout=Layout.TRANSPOSED)
    assert checked.elements
    return checked


def numbers(dtype: DType, other: bool = False) -> torch.Tensor:
    """Numbers of either sign and 0, so that all pairs of the first few come up."""
    theirs = TORCH_DTYPE[dtype]
    few = (
        torch.tensor([0, 1, 1, 0, 1, 0])
        if dtype is DType.BOOL
        else torch.tensor([0, 3, 7, 2, 100, 5])
        if dtype is DType.U8
        else torch.tensor([0, -3, 7, 2, -100, 5])
    )
    table = few.expand(5, 6) if other else few[:5, None].expand(5, 6)
    return table.to(theirs).contiguous()


WHOLE = [o for o in OPERATIONS if o.result is Result.PROMOTED and o.name != "neg"]


@some_ways
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_operations_on_whole_numbers(dtype: DType, way: str) -> None:
    for operation in WHOLE:
        arguments = ["A[x, y]", "B[x, y]", "A[x, y] - 1"][: operation.arity]
        call = f"{operation.name}({', '.join(arguments)})"
        if operation.symbol:
            call = f" {operation.symbol} ".join(arguments)
        if operation.name == "pow":
            call = "pow(A[x, y], maximum(B[x, y], 0) % 7)"
        text = f"Func f; In A: {dtype}, B: {dtype}; RVar x, y; f[x, y] = {call}; {WAYS[way]}"
        checked = run(text, {"A": numbers(dtype), "B": numbers(dtype, True)})
        assert checked.known == checked.elements, operation.name


@some_ways
def test_operations_on_mixed_whole_numbers(way: str) -> None:
    for one, two in product((*INTEGERS, DType.BOOL), repeat=2):
        body = "A[x, y] + B[x, y] * 3 - (A[x, y] % B[x, y])"
        if {one, two} == {DType.BOOL}:
            body = "where(A[x, y], 2, 5) + B[x, y]"
        text = f"Func f; In A: {one}, B: {two}; RVar x, y; f[x, y] = {body}; {WAYS[way]}"
        checked = run(text, {"A": numbers(one), "B": numbers(two, True)})
        assert checked.known == checked.elements


@some_ways
@pytest.mark.parametrize("target", DType, ids=str)
def test_casts(target: DType, way: str) -> None:
    for source in DType:
        text = f"Func f; In A: {source}; RVar x, y; f[x, y] = cast(A[x, y], {target}); {WAYS[way]}"
        values = numbers(source).clamp(max=7) if source is DType.U8 else numbers(source)
        given = torch.where(values.double() < -3, 1, values.double())
        if target is DType.U8:
            given = given.abs()
        checked = run(text, {"A": given.to(TORCH_DTYPE[source])})
        assert checked.known == checked.elements, source


@some_ways
def test_a_cast_rounds(way: str) -> None:
    """What is between two numbers of a type is none of them any more."""
    for dtype in FLOATS:
        body = f"cast(cast(A[x, y], {dtype}), f32) - A[x, y]"
        run(f"Func f; In A: f32; RVar x, y; f[x, y] = {body}; {WAYS[way]}")
    body = "cast(A[x, y] * 2.5, i32) - cast(A[x, y] > 0, i8) + cast(A[x, y] * 1e4, i64)"
    run(f"Func f; In A: f32; RVar x, y; f[x, y] = {body}; {WAYS[way]}")


@pytest.mark.parametrize(
    ("dtype", "way"),
    [
        pytest.param(dtype, way, marks=() if is_ordinary(dtype, way) else pytest.mark.long)
        for dtype, way in product(DType, ONE_AXIS)
    ],
    ids=str,
)
def test_reductions(dtype: DType, way: str) -> None:
    for reduction in REDUCTIONS:
        if way == "partial results" and not reduction.has_identity:
            continue  # there is nothing to say of an empty part
        operand = "A[x, y] > 1" if reduction.operands_are_bool else "A[x, y]"
        if reduction.operands_are_bool and dtype is DType.BOOL:
            operand = "A[x, y]"
        text = (
            f"Func f; In A: {dtype}; Var x; RVar y; "
            f"f[x] = {reduction.name}({operand}, y); {ONE_AXIS[way]}"
        )
        checked = run(text, {"A": numbers(dtype, True)})
        if reduction.name not in ("rsum", "rprod"):
            assert checked.known == checked.elements, reduction.name


@pytest.mark.parametrize("dtype", [d for d in DType if d is not DType.BOOL], ids=str)
def test_products(dtype: DType) -> None:
    """Also of whole numbers, which no tensor core multiplies as the language says."""
    for tiles in ("", "f.tensorize(x:16, z:16, k:16);", "f.tensorize(x:4, k:0);", "f.block(k:4);"):
        text = (
            f"Func f; In A: {dtype}, B: {dtype}; Var x, z; RVar k; "
            f"f[x, z] = rdot(A[x, k], B[k, z], k); {tiles}"
        )
        program = read(text)
        sizes = {"x": 17, "z": 3, "k": 18}
        given = Recipe(dtype=dtype).inputs(program, sizes)
        made = code_of(judge(program).scheduled)
        checked = compared(imported(made.text), program, ("f",), given, sizes)
        assert checked.known == checked.elements


@some_ways
def test_promotion_of_floats(way: str) -> None:
    for one, two in product((*FLOATS, DType.I32, DType.BOOL), repeat=2):
        if one is not two and (one in EIGHT_BIT_FLOATS or two in EIGHT_BIT_FLOATS):
            continue
        body = "A[x, y] * B[x, y] + where(A[x, y] > 1, B[x, y], A[x, y])"
        text = f"Func f; In A: {one}, B: {two}; RVar x, y; f[x, y] = {body}; {WAYS[way]}"
        run(text)
    # Of dtypes that the caller chooses.
    text = f"Func f; In A, B; RVar x, y; f[x, y] = 0.1 * A[x, y] - B[x, y] / 3; {WAYS[way]}"
    for dtype, other in product((DType.F16, DType.BF16, DType.F32, DType.F64), repeat=2):
        run(text, None, Recipe(dtype=dtype, dtypes={"B": other}))


@some_ways
def test_numbers(way: str) -> None:
    """A number only changes the category of a tensor's type."""
    head = "Func f; In A: i8, B: f16; SIn a: i32, b: f64, c: bool, d; RVar x, y; "
    for body in (
        "A[x, y] * a + len(x)",
        "A[x, y] * b - 0.1",
        "where(c, A[x, y] + 1, A[x, y] - a)",
        "B[x, y] * a * b + d",
        "B[x, y] / len(y) + pow(d, 2)",
        "maximum(B[x, y], d) + minimum(a, 2) + sqrt(a)",
        "where(c and B[x, y] > b, x, y + a)",
        "exp(A[x, y]) + sigmoid(d)",
    ):
        run(f"{head} f[x, y] = {body}; {WAYS[way]}")


@some_ways
def test_labels_and_sizes(way: str) -> None:
    head = "Func f; In A: i16; RVar x, y; "
    for body in (
        "x * 10 + y - len(x)",
        "where(y <= x, A[x, y], -7)",
        "A[x, y] * x + y % 4",
        "x / len(y) + cdiv(x * y, 4)",
        "(x - 2) * 3000000000 + y",
        "x * 4611686018427387904 + y",
        "(x == y) or (x + 1 < y and not (y == 5))",
        "A[x, y] + 9007199254740993 > 9007199254740992 + A[x, y]",
        "pow(x - 2, y)",
    ):
        checked = run(f"{head} f[x, y] = {body}; {WAYS[way]}")
        assert checked.known == checked.elements, body


@some_ways
@pytest.mark.parametrize("declared", DType, ids=str)
def test_a_declared_result(declared: DType, way: str) -> None:
    for source in DType:
        if declared is DType.BOOL and source is not DType.BOOL:
            continue
        if declared in INTEGERS and source in FLOATS:
            continue
        text = f"Func f: {declared}; In A: {source}; RVar x, y; f[x, y] = A[x, y]; {WAYS[way]}"
        run(text, {"A": numbers(source).to(torch.int64).clamp(0, 7).to(TORCH_DTYPE[source])})


def test_a_declared_result_between_kernels_is_rounded() -> None:
    """Another kernel reads what was stored; so a fused one must not be far from it either."""
    for declared in FLOATS:
        for way in ("", "g.fuse_at(f, x);", "g.inline();"):
            text = (
                f"Func f, g: {declared}; In A: f32; RVar x, y; g[x, y] = A[x, y] / 3; "
                f"f[x, y] = cast(g[x, y], f32) * 2; f.tensorize(y:4); f.compile(); {way}"
            )
            run(text)
