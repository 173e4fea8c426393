"""Programs over every dtype: whole numbers, booleans, casts, promotion, numbers, labels."""

from collections.abc import Mapping
from itertools import product

import pytest
import torch

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, FLOATS, INTEGERS, DType
from dtpoly.algorithm.operations import OPERATIONS, REDUCTIONS, ResultRule
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.schedule.legality import judge
from dtpoly.schedule.static_checks import check_schedule
from tests.codegen.inputs import Inputs, Layout, Recipe
from tests.codegen.running import Checked, compared, imported
from tests.schedule.told import read

SIZES = {"x": 5, "y": 6, "z": 7}
WAYS = {
    "one tile": "f.tensorize(x:0, y:0);",
    "tiles": "f.tensorize(x:4, y:4);",
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
    "way", [pytest.param(way, marks=() if way == "one tile" else pytest.mark.long) for way in WAYS]
)
IN_PARTS = (DType.BOOL, DType.I8, DType.F16, DType.F32)


def is_ordinary(dtype: DType, way: str) -> bool:
    return way == "tiles" or (way == "partial results" and dtype in IN_PARTS)


def run(text: str, inputs: Inputs | None = None, recipe: Recipe | None = None) -> Checked:
    """Run a Program at 5 by 6; what it compares is known."""
    program: Program = read(text)
    assert not has_errors(check_schedule(program, DIRECTIVES))
    sizes = {label.name: SIZES[label.name] for label in program.labels}
    given = (recipe or Recipe()).inputs(program, sizes) if inputs is None else inputs
    made = code_of(judge(program, DIRECTIVES).scheduled)
    module = imported(made.text)
    outputs = made.stages.outputs
    assert set(outputs) == {func.name for func in program.funcs} or "f" in outputs
    checked = compared(module, program, outputs, given, sizes, layout=Layout.TRANSPOSED)
    assert checked.elements
    return checked


def of(name: str, way: str) -> str:
    """Directives for another Func than f, which has a kernel."""
    return f"{way.replace('f.', f'{name}.')} {name}.compile();"


def run_all(
    head: str, bodies: Mapping[str, str], way: str, inputs: Inputs | None = None
) -> Checked:
    """Run Funcs of one Program, each scheduled in the same way: a file is made once."""
    funcs = "".join(f"{name}[x, y] = {body}; {of(name, way)}\n" for name, body in bodies.items())
    return run(f"Func {', '.join(bodies)}; {head}\n{funcs}", inputs)


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


WHOLE = [o for o in OPERATIONS if o.result is ResultRule.PROMOTED and o.name != "neg"]


@pytest.mark.long
@some_ways
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_operations_on_whole_numbers(dtype: DType, way: str) -> None:
    calls: dict[str, str] = {}
    for operation in WHOLE:
        arguments = ["A[x, y]", "B[x, y]", "A[x, y] - 1"][: operation.arity]
        call = f"{operation.name}({', '.join(arguments)})"
        if operation.symbol:
            call = f" {operation.symbol} ".join(arguments)
        if operation.name == "pow":
            call = "pow(A[x, y], maximum(B[x, y], 0) % 7)"
        calls[f"f_{operation.name}"] = call
    head = f"In A: {dtype}, B: {dtype}; RVar x, y;"
    checked = run_all(head, calls, WAYS[way], {"A": numbers(dtype), "B": numbers(dtype, True)})
    assert checked.known == checked.elements


@pytest.mark.sampled
@some_ways
@pytest.mark.parametrize("one", [*INTEGERS, DType.BOOL], ids=str)
def test_operations_on_mixed_whole_numbers(one: DType, way: str) -> None:
    others = (*INTEGERS, DType.BOOL)
    bodies = {
        f"f_{two}": "where(A[x, y], 2, 5) + B_bool[x, y]"
        if {one, two} == {DType.BOOL}
        else f"A[x, y] + B_{two}[x, y] * 3 - (A[x, y] % B_{two}[x, y])"
        for two in others
    }
    head = f"In A: {one}, {', '.join(f'B_{two}: {two}' for two in others)}; RVar x, y;"
    given: Inputs = {"A": numbers(one)}
    given |= {f"B_{two}": numbers(two, True) for two in others}
    checked = run_all(head, bodies, WAYS[way], given)
    assert checked.known == checked.elements


@pytest.mark.sampled
@some_ways
@pytest.mark.parametrize("target", DType, ids=str)
def test_casts(target: DType, way: str) -> None:
    given: Inputs = {}
    for source in DType:
        values = numbers(source).clamp(max=7) if source is DType.U8 else numbers(source)
        few = torch.where(values.double() < -3, 1, values.double())
        if target is DType.U8:
            few = few.abs()
        given[f"A_{source}"] = few.to(TORCH_DTYPE[source])
    head = f"In {', '.join(f'A_{source}: {source}' for source in DType)}; RVar x, y;"
    bodies = {f"f_{source}": f"cast(A_{source}[x, y], {target})" for source in DType}
    checked = run_all(head, bodies, WAYS[way], given)
    assert checked.known == checked.elements


@some_ways
def test_a_cast_rounds(way: str) -> None:
    """A value between two numbers of a type becomes one of them."""
    for dtype in FLOATS:
        body = f"cast(cast(A[x, y], {dtype}), f32) - A[x, y]"
        run(f"Func f; In A: f32; RVar x, y; f[x, y] = {body}; {WAYS[way]}")
    body = "cast(A[x, y] * 2.5, i32) - cast(A[x, y] > 0, i8) + cast(A[x, y] * 1e4, i64)"
    run(f"Func f; In A: f32; RVar x, y; f[x, y] = {body}; {WAYS[way]}")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("dtype", "way"),
    [
        pytest.param(dtype, way, marks=() if is_ordinary(dtype, way) else pytest.mark.long)
        for dtype, way in product(DType, ONE_AXIS)
    ],
    ids=str,
)
def test_reductions(dtype: DType, way: str) -> None:
    lines: list[str] = []
    funcs: list[str] = []
    for reduction in REDUCTIONS:
        if way == "partial results" and not reduction.has_identity:
            continue  # there is nothing to say of an empty part
        operand = "A[x, y] > 1" if reduction.operands_are_bool else "A[x, y]"
        if reduction.operands_are_bool and dtype is DType.BOOL:
            operand = "A[x, y]"
        name = f"f_{reduction.name}"
        funcs.append(name)
        directives = of(name, ONE_AXIS[way])
        lines.append(f"{name}[x] = {reduction.name}({operand}, y); {directives}")
    text = f"Func {', '.join(funcs)}; In A: {dtype}; Var x; RVar y;\n" + "\n".join(lines)
    inexact = ("f_rsum", "f_rprod")
    checked = run(text, {"A": numbers(dtype, True)})
    assert checked.elements - checked.known <= len(inexact) * SIZES["x"]


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [d for d in DType if d is not DType.BOOL], ids=str)
def test_products(dtype: DType) -> None:
    """Also of whole numbers, which no tensor core multiplies as the language says."""
    ways = (
        "f.tensorize(x:16, z:16, k:16);",
        "f.tensorize(x:4, k:0);",
        "f.tensorize(z:0, k:8);",
        "f.block(k:8); f.tensorize(x:0, z:0);",
    )
    funcs = [f"f{number}" for number in range(len(ways))]
    lines = [
        f"{name}[x, z] = rdot(A[x, k], B[k, z], k); {of(name, way)}"
        for name, way in zip(funcs, ways, strict=True)
    ]
    head = f"Func {', '.join(funcs)}; In A: {dtype}, B: {dtype}; Var x, z; RVar k;"
    program = read("\n".join((head, *lines)))
    sizes = {"x": 17, "z": 3, "k": 18}
    given = Recipe(dtype=dtype).inputs(program, sizes)
    made = code_of(judge(program, DIRECTIVES).scheduled)
    checked = compared(imported(made.text), program, funcs, given, sizes)
    assert checked.known == checked.elements == len(funcs) * 17 * 3


@pytest.mark.sampled
@some_ways
@pytest.mark.parametrize("one", [*FLOATS, DType.I32, DType.BOOL], ids=str)
def test_promotion_of_floats(one: DType, way: str) -> None:
    others = [
        two
        for two in (*FLOATS, DType.I32, DType.BOOL)
        if one is two or not (one in EIGHT_BIT_FLOATS or two in EIGHT_BIT_FLOATS)
    ]
    head = f"In A: {one}, {', '.join(f'B_{two}: {two}' for two in others)}; RVar x, y;"
    bodies = {
        f"f_{two}": f"A[x, y] * B_{two}[x, y] + where(A[x, y] > 1, B_{two}[x, y], A[x, y])"
        for two in others
    }
    run_all(head, bodies, WAYS[way])


@some_ways
def test_dtypes_of_the_caller(way: str) -> None:
    text = f"Func f; In A, B; RVar x, y; f[x, y] = 0.1 * A[x, y] - B[x, y] / 3; {WAYS[way]}"
    for dtype, other in product((DType.F16, DType.BF16, DType.F32, DType.F64), repeat=2):
        run(text, None, Recipe(dtype=dtype, dtypes={"B": other}))


@some_ways
def test_numbers(way: str) -> None:
    """A number only changes the category of a tensor's type."""
    head = "In A: i8, B: f16; SIn a: i32, b: f64, c: bool, d; RVar x, y;"
    bodies = (
        "A[x, y] * a + len(x)",
        "A[x, y] * b - 0.1",
        "where(c, A[x, y] + 1, A[x, y] - a)",
        "B[x, y] * a * b + d",
        "B[x, y] / len(y) + pow(d, 2)",
        "maximum(B[x, y], d) + minimum(a, 2) + sqrt(a)",
        "where(c and B[x, y] > b, x, y + a)",
        "exp(A[x, y]) + sigmoid(d)",
        "B[x, y] + pow(2.75, reshape(2)) + pow(3, reshape(3))",
        "x * pow(2.75, reshape(2)) - pow(reshape(2), 3)",
        "A[x, y] * cast(2147483648, i8) + cast(300, i8) - cast(-129, i8) + cast(-1, u8)",
    )
    run_all(head, {f"f{at}": body for at, body in enumerate(bodies)}, WAYS[way])


def test_partial_results_are_as_wide_as_the_whole() -> None:
    """64 to the sixth is 2**36: what wraps in 32 bits must not be seen in 64."""
    given: Inputs = {"A": torch.full((6,), 64, dtype=torch.int8)}
    given["B"] = torch.zeros(5, dtype=torch.int64)
    head = "Func f; In A: i8, B: i64; Var x; RVar y;"
    for body in ("rprod(A[y], y)", "rprod(A[y], y) / 3", "cast(rprod(A[y], y), i64)"):
        run(f"{head} f[x] = {body} + B[x]; f.block(y:4);", given)


def test_a_sum_of_sums_is_wider_than_these() -> None:
    """Of sums of 32 bits it has 64, with parts and without."""
    values = (torch.arange(5 * 6 * 7) % 5 + 120).reshape(5, 6, 7)
    given: Inputs = {"A": values.to(torch.int8)}
    head = "Func f; In A: i8; Var x; RVar y, z; f[x] = rsum(rsum(A[x, y, z] * 100, z) * 9000, y);"
    for way in ("f.tensorize(x:2);", "f.block(y:4);", "f.block(z:4);"):
        run(f"{head} {way}", given)


def test_a_number_without_a_type_is_a_float() -> None:
    """Its value decides no types: a whole one is computed with as others are."""
    given: Inputs = {"A": torch.arange(5, dtype=torch.int32), "s": 2}
    checked = run("Func f; In A: i32; SIn s; Var x; f[x] = A[x] * s; f.tensorize(x:0);", given)
    assert checked.elements == 5


@some_ways
def test_labels_and_sizes(way: str) -> None:
    bodies = (
        "x * 10 + y - len(x)",
        "where(y <= x, A[x, y], -7)",
        "A[x, y] * x + y % 4",
        "x / len(y) + cdiv(x * y, 4)",
        "(x - 2) * 3000000000 + y",
        "x * 4398046511103 + 9007199254740993 + y",
        "(x == y) or (x + 1 < y and not (y == 5))",
        "A[x, y] + 9007199254740993 > 9007199254740992 + A[x, y]",
        "pow(x - 2, y)",
    )
    funcs = {f"f{at}": body for at, body in enumerate(bodies)}
    checked = run_all("In A: i16; RVar x, y;", funcs, WAYS[way])
    assert checked.known == checked.elements


@pytest.mark.sampled
@some_ways
@pytest.mark.parametrize("declared", DType, ids=str)
def test_a_declared_result(declared: DType, way: str) -> None:
    sources = [
        source
        for source in DType
        if (declared is not DType.BOOL or source is DType.BOOL)
        and not (declared in INTEGERS and source in FLOATS)
    ]
    inputs = ", ".join(f"A_{source}: {source}" for source in sources)
    funcs = ", ".join(f"f_{source}: {declared}" for source in sources)
    lines = [
        f"f_{source}[x, y] = A_{source}[x, y]; {of(f'f_{source}', WAYS[way])}" for source in sources
    ]
    given: Inputs = {
        f"A_{source}": numbers(source).to(torch.int64).clamp(0, 7).to(TORCH_DTYPE[source])
        for source in sources
    }
    run("\n".join((f"Func {funcs}; In {inputs}; RVar x, y;", *lines)), given)


@pytest.mark.long
def test_a_declared_result_between_kernels_is_rounded() -> None:
    """Another kernel reads what was stored; so a fused one must not be far from it either."""
    for declared in FLOATS:
        for way in ("", "g.fuse_at(f, x);", "g.inline();"):
            text = (
                f"Func f, g: {declared}; In A: f32; RVar x, y; g[x, y] = A[x, y] / 3; "
                f"f[x, y] = cast(g[x, y], f32) * 2; f.tensorize(y:4); f.compile(); {way}"
            )
            run(text)
