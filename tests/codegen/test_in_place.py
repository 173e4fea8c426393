"""Results in place: what they compute, what they refuse, and that each kernel is proved."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import load
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs, results_of
from dtpoly.schedule.legality import judge
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests import test_examples
from tests.codegen.inputs import Layout, Recipe, laid_out
from tests.codegen.running import compared, imported
from tests.oracle.cases import Case, in_place_case

PROGRAMS = {
    # One element of the old values for each new one.
    "step": (
        "Func w into W; In W, G; SIn lr; Var x; w[x] = W[x] - lr * G[x];"
        "w.block(x:32); w.tensorize(x:16); w.compile();"
    ),
    # Three results, all in place, in one kernel.
    "adam": (
        "Func p into P, m into M, v into V; In P, M, V, G; SIn rate, one, two, eps; Var x;"
        "m[x] = one * M[x] + (1 - one) * G[x]; v[x] = two * V[x] + (1 - two) * G[x] * G[x];"
        "p[x] = P[x] - rate * m[x] / (sqrt(v[x]) + eps);"
        "m.fuse_at(p, x); v.fuse_at(p, x); p.block(x:32); p.tensorize(x:16); p.compile(m, v);"
    ),
    # The residual is updated, and the result is new.
    "residual": (
        "Func y, h into R, s; In R, X, W; Var x, y0; RVar k;"
        "h[x, y0] = R[x, y0] + X[x, y0]; s[x] = rsum(h[x, k] * h[x, k], k);"
        "y[x, y0] = h[x, y0] * reshape(rsqrt(s[x] / len(k) + 0.001), x, 1) * W[y0];"
        "h.fuse_at(y, x); s.fuse_at(y, x); y.block(x:1); y.tensorize(y0:0, k:0); y.compile(h);"
    ),
    # Every row is divided by its sum: all is read before anything is stored.
    "normalized": (
        "Func w into W, s; In W; Var x, y; RVar k; s[x] = rsum(W[x, k], k);"
        "w[x, y] = W[x, y] / (1 + reshape(s[x], x, 1)); s.fuse_at(w, x);"
        "w.block(x:2); w.tensorize(x:1, y:16, k:16); w.compile();"
    ),
    # Elements move, in one program, tile after tile.
    "moved": "Func w into W; In W; Var x; w[x] = pad(W, 0)[x + 1]; w.tensorize(x:16); w.compile();",
    # Elements move both ways: a kernel before reads all of them.
    "blurred": (
        "Func w into W, z; In W; Var x; z[x] = pad(W, 0)[x + 1] + pad(W, 0)[x - 1]; w[x] = z[x];"
        "z.block(x:32); z.tensorize(x:0); w.block(x:32); w.tensorize(x:0); w.compile();"
    ),
    # Nothing reads the old values.
    "overwritten": (
        "Func w into W; In W, A; Var x; RVar k; w[x] = rsum(A[x, k], k);"
        "w.block(x:4); w.tensorize(x:0, k:16); w.compile();"
    ),
    # Partial results of a sum, and the old values in the second kernel.
    "summed in parts": (
        "Func w into W; In W, A; Var x; RVar k; w[x] = W[x] + rsum(A[x, k], k);"
        "w.block(x:4, k:32); w.tensorize(x:0, k:16); w.compile();"
    ),
    # A product is added to a matrix.
    "product": (
        "Func c into C; In C, A, B; Var x, y; RVar k;"
        "c[x, y] = C[x, y] + rdot(A[x, k], B[k, y], k);"
        "c.block(x:16, y:16); c.tensorize(x:0, y:0, k:16); c.compile();"
    ),
    # Another result reads the old values, in a kernel that comes first though it is written last.
    "read elsewhere": (
        "Func w into W, t; In W; Var x; RVar k; w[x] = W[x] * 2; t[] = rmax(W[k], k);"
        "w.block(x:32); w.tensorize(x:0); t.tensorize(k:16); w.compile(t);"
    ),
    # Two tensors change places.
    "swapped": (
        "Func a into A, b into B; In A, B; Var x; a[x] = B[x]; b[x] = A[x];"
        "b.fuse_at(a, x); a.block(x:32); a.tensorize(x:16); a.compile(b);"
    ),
}
MAIN = {"adam": "p", "residual": "y", "product": "c", "swapped": "a"}
RECIPES = [
    (DType.F32, Layout.PLAIN),
    (DType.BF16, Layout.SLICED),
    (DType.F16, Layout.TRANSPOSED),
]
SIZES = (0, 1, 3, 16, 31, 37)


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", PROGRAMS[name]))


def text(of: Program) -> str:
    verdict = judge(of, DIRECTIVES)
    assert verdict.is_legal, str(verdict)
    return code_of(verdict.scheduled).text


def module(name: str) -> Any:
    return imported(text(program(name)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_shown_program_is_read_back(name: str) -> None:
    assert load(Source("shown.dt", show(program(name)))) == program(name)


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_proved(name: str) -> None:
    found = verify(program(name), text(program(name)), seconds=60)
    said = [(one.verdict, [(x.name, x.line, x.why) for x in one.layers]) for one in found.functions]
    assert found.verdict is LayerVerdict.PROVED, said


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("dtype", "layout"), RECIPES)
def test_at_the_sizes_around_each_tile(name: str, dtype: DType, layout: Layout) -> None:
    of, made = program(name), module(name)
    labels = [label.name for label in of.labels]
    for seed, (rows, columns) in enumerate((a, b) for a in SIZES for b in SIZES):
        sizes = {label: rows if label in ("x",) else columns for label in labels}
        if name in ("normalized", "residual"):
            sizes = {label: rows if label == "x" else columns for label in labels}
        if name == "read elsewhere":
            sizes = dict.fromkeys(labels, rows)
        inputs = Recipe(seed=seed, dtype=dtype, layout=layout).inputs(of, sizes)
        if name == "adam":
            inputs["V"] = inputs["V"].abs() if isinstance(inputs["V"], torch.Tensor) else 0
        compared(made, of, (MAIN.get(name, "w"),), inputs, sizes)


EXAMPLES = {"adam_in_place": "param", "add_rms_norm_in_place": "normed", "batch_norm": "normed"}
RAGGED = [(0, 1, 3), (1, 2, 0), (2, 3, 1025), (3, 5, 7)]


def example(name: str) -> Program:
    return load(test_examples.source(name))


@pytest.mark.sampled
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("layout", [Layout.PLAIN, Layout.TRANSPOSED, Layout.SLICED])
def test_examples_are_what_torch_computes(name: str, layout: Layout) -> None:
    of = example(name)
    inputs = test_examples.given(of, seed=1)
    asked = test_examples.MEANS[name](inputs)
    read = {one.name: laid_out(inputs[one.name], layout, "cpu") for one in of.tensors}
    numbers = {one.name: float(inputs[one.name]) for one in of.scalars}
    found = getattr(imported(text(of)), EXAMPLES[name])(**read, **numbers)
    assert all(one is read[tensor] for tensor, one in _written(of, found).items())
    for one, wanted in zip(found, asked, strict=True):
        torch.testing.assert_close(one, wanted.reshape(one.shape), rtol=1e-12, atol=1e-13)


def _written(of: Program, found: tuple[torch.Tensor, ...]) -> dict[str, torch.Tensor]:
    """Return the results in place, by the inputs that they replace."""
    (results,) = results_of(of, outputs(of)).values()
    values = dict(zip(results, found, strict=True))
    return {tensor: values[func] for tensor, func in of.into.items()}


@pytest.mark.long
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize(("dtype", "layout"), RECIPES)
def test_examples_at_ragged_sizes(name: str, dtype: DType, layout: Layout) -> None:
    of = example(name)
    made = imported(text(of))
    for seed, extents in enumerate(RAGGED):
        sizes = dict(zip((label.name for label in of.labels), reversed(extents), strict=False))
        inputs = Recipe(seed=seed, dtype=dtype, layout=layout).inputs(of, sizes)
        for one in ("V",):
            value = inputs.get(one)
            inputs |= {one: value.abs()} if isinstance(value, torch.Tensor) else {}
        compared(made, of, (EXAMPLES[name],), inputs, sizes)


def given(count: int = 40) -> tuple[torch.Tensor, torch.Tensor, float]:
    return torch.arange(float(count)), torch.ones(count), 0.5


def test_the_input_is_the_result() -> None:
    made, (w, g, rate) = module("step"), given()
    version = w._version
    assert made.w(w, g, rate) is w
    assert torch.equal(w, torch.arange(40.0) - 0.5)
    assert w._version > version
    assert made.w.__doc__ == "`w[x]`; into `W`, where results go that are in place."
    assert torch.equal(g, torch.ones(40))


def test_memory_that_is_shared_is_refused() -> None:
    w, g, rate = given()
    wrong = (
        ((w, w), "'W' overlaps 'G'"),
        ((w[:20], w[10:30]), "'W' overlaps 'G'"),
        ((w[:1].expand(40), g), "'W' overlaps itself"),
        ((torch.as_strided(w, (20,), (0,)), g[:20]), "'W' overlaps itself"),
        ((w, g[:3]), "disagree on the size of 'x'"),
    )
    for arguments, words in wrong:
        with pytest.raises(ValueError, match=words):
            module("step").w(*arguments, rate)
        assert torch.equal(w, torch.arange(40.0))


def test_inputs_that_are_written_must_not_share_memory() -> None:
    whole = torch.rand(60)
    with pytest.raises(ValueError, match="'A' overlaps 'B'"):
        module("swapped").a(whole[:40], whole[20:])
    interleaved = torch.arange(20.0).reshape(10, 2)
    before = interleaved.clone()
    module("swapped").a(interleaved[:, 0], interleaved[:, 1])
    assert torch.equal(interleaved, before.flip(1))


def test_no_out_is_taken() -> None:
    w, g, rate = given()
    with pytest.raises(TypeError, match="'W' is written in place: leave out 'out'"):
        module("step").w(w, g, rate, out=torch.empty(40))


def test_no_gradient_is_lost() -> None:
    made, (w, g, rate) = module("step"), given()
    w.requires_grad_()
    with pytest.raises(RuntimeError, match="'W' requires a gradient"):
        made.w(w, g, rate)
    with torch.no_grad():
        assert made.w(w, g, rate) is w


def test_a_cache_is_appended_to_through_a_view() -> None:
    """New keys, turned by their position, go into a slice; the rest of the cache stays."""
    of = load(
        Source(
            "append.dt",
            "Func cache into K; In K, X, C, S, P; Var b, h, t, d;"
            "cache[b, h, t, d] = X[b, h, t, d] * C[t, d] + P[b, h, t, d] * S[t, d];"
            "cache.block(b:1, h:1, t:4); cache.tensorize(b:0, h:0, t:0, d:0); cache.compile();",
        )
    )
    assert verify(of, text(of), seconds=60).verdict is LayerVerdict.PROVED
    whole = torch.rand(2, 3, 50, 8, dtype=torch.float64)
    before, start, count = whole.clone(), 17, 5
    x, turned = torch.rand(2, 2, 3, count, 8, dtype=torch.float64)
    angles = torch.rand(count, 8, dtype=torch.float64)
    view = whole.narrow(2, start, count)
    assert imported(text(of)).cache(view, x, angles.cos(), angles.sin(), turned) is view
    before[:, :, start : start + count] = x * angles.cos() + turned * angles.sin()
    torch.testing.assert_close(whole, before, rtol=1e-14, atol=0)


COMPILE: Callable[..., Any] = vars(torch)["compile"]


@pytest.fixture
def compiler() -> Iterator[Callable[..., Any]]:
    torch.compiler.reset()
    yield COMPILE
    torch.compiler.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_sees_an_operator_that_writes(compiler: Callable[..., Any], backend: str) -> None:
    step, residual = module("step").w, module("residual").y

    def twice(w: torch.Tensor, g: torch.Tensor) -> Any:
        before = w * 1
        return step(step(w, g, 0.5), g, 0.5) + before

    made, (w, g, _) = compiler(twice, fullgraph=True, backend=backend), given()
    assert torch.equal(made(w, g), torch.arange(40.0) * 2 - 1)
    assert torch.equal(w, torch.arange(40.0) - 1)

    def normalized(r: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> Any:
        return residual(r, x, weight)

    r, x, weight = torch.rand(3, 8), torch.rand(3, 8), torch.rand(8)
    wanted = residual(r.clone(), x, weight)
    y, h = compiler(normalized, fullgraph=True, backend=backend)(r, x, weight)
    assert torch.equal(y, wanted[0])
    assert torch.equal(h, r + 0)
    assert torch.equal(r, wanted[1])


def test_the_operator_is_right() -> None:
    check: Callable[..., Any] = vars(torch.library)["opcheck"]
    rows = torch.rand(3, 8)
    for name, arguments in {
        "step": given(),
        "residual": (rows, torch.rand(3, 8), torch.rand(8)),
        "swapped": given()[:2],
    }.items():
        made, func = module(name), MAIN.get(name, "w")
        kernel = getattr(made, f"{func}_kernel").fn
        operator = getattr(torch.ops.dtpoly, f"{func}_{made.dt_digest(kernel)}").default
        said = str(operator._schema)
        assert said.count("!") == {"step": 1, "residual": 1, "swapped": 2}[name], said
        check(operator, arguments, test_utils=("test_schema", "test_faketensor"))


def test_what_has_no_values_and_batches() -> None:
    step = module("step").w
    w = torch.empty(40, device="meta")
    assert step(w, torch.empty(40, device="meta"), 0.5) is w
    with pytest.raises(RuntimeError, match="this writes in place: call without it"):
        torch.vmap(step, in_dims=(0, None, None))(torch.rand(2, 40), torch.ones(40), 0.5)


def test_functionalization_is_refused_by_torch() -> None:
    """It takes no operators with side effects but its own; torch.compile has another way."""
    step = module("step").w

    def pure(w: torch.Tensor, g: torch.Tensor) -> Any:
        mine = w.clone()
        return step(mine, g, 0.5) + mine

    w, g, _ = given()
    functional: Callable[..., Any] = vars(torch.func)["functionalize"]
    with pytest.raises(RuntimeError, match="We only support functionalizing operators"):
        functional(pure)(w, g)
    assert torch.equal(w, torch.arange(40.0))


def legal_case(seed: int) -> Case | None:
    """A small random program with results in place, if it is legal; larger ones take long."""
    case = in_place_case(seed)
    slow = any(one.name in ("split", "reorder", "map") for one in case.program.directives)
    if slow or len(case.program.funcs) > 3 or has_errors(check_schedule(case.program, DIRECTIVES)):
        return None
    return case if judge(case.program, DIRECTIVES).is_legal else None


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_random_programs(part: int) -> None:
    """The results are right at two sizes of each label; most are proved, and none refuted."""
    found = Counter[LayerVerdict]()
    for seed in range(500 + 120 * part, 500 + 120 * part + 120):
        case = legal_case(seed)
        if case is None:
            continue
        of = case.program
        made = text(of)
        found.update([verify(of, made, seconds=20).verdict])
        for more in (0, 1):
            sizes = {label: size + more for label, size in case.sizes.items()}
            inputs = Recipe(seed=seed).inputs(of, sizes)
            compared(imported(made), of, outputs(of), inputs, sizes, layout=Layout.SLICED)
    assert found[LayerVerdict.REFUTED] == 0
    assert found[LayerVerdict.UNKNOWN] <= 1 < found[LayerVerdict.PROVED]
