"""Functions with several results: what they compute, what they take as `out=`, what torch sees."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of, outputs, results_of
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.schedule.legality import judge
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.running import compared, imported
from tests.oracle.cases import Case, returning_case

BLOCKS = "f.block(x:4); f.tensorize(x:0, y:16);"
PROGRAMS = {
    # A result that is read inside, and one that the Func does not read.
    "read and not read": (
        "Func f, t, u; In A; Var x; RVar y; t[x] = rmax(A[x, y], y); u[x] = t[x] * 2;"
        "f[x, y] = A[x, y] - reshape(t[x], x, 1); t.fuse_at(f, x); u.fuse_at(f, x);"
        f"f.compile(t, u); {BLOCKS}"
    ),
    # Another result is as large as the Func itself, and summed on the way.
    "a sum and its rows": (
        "Func f, s, h; In A, B; Var x; RVar y; h[x, y] = A[x, y] + B[x, y];"
        "s[x] = rsum(h[x, y] * h[x, y], y); f[x, y] = h[x, y] * reshape(s[x], x, 1);"
        "h.fuse_at(f, x); s.fuse_at(f, x); f.compile(h, s);"
        "f.block(x:1); f.tensorize(y:0);"
    ),
    # Elements in lanes; one function has three results of one shape.
    "elements": (
        "Func f, g, h; In A, B; Var x; g[x] = A[x] * 2 + B[x]; h[x] = g[x] * g[x];"
        "f[x] = h[x] + A[x]; g.fuse_at(f, x); h.fuse_at(f, x); f.compile(h, g);"
        "f.block(x:32); f.tensorize(x:16);"
    ),
    # Kernels of their own: one function launches three.
    "apart": (
        "Func f, g, h; In A; Var x, y; RVar k; g[x] = rsum(A[x, k], k); h[y] = rmax(A[k, y], k);"
        "f[x, y] = A[x, y] * 2; f.compile(g, h); f.block(x:4); f.tensorize(x:0, y:16);"
        "g.tensorize(k:16); h.tensorize(y:16);"
    ),
    # Another kernel reads from memory what the first one stores.
    "read by another kernel": (
        "Func f, t, u; In A; Var x; RVar y; t[x] = rsum(A[x, y], y);"
        "f[x, y] = A[x, y] + reshape(t[x], x, 1); u[] = rmax(t[y], y);"
        f"t.fuse_at(f, x); f.compile(u, t); {BLOCKS}"
    ),
    # The result lacks a label of the blocks, whose size is known: the first block stores it.
    "stored by the first block": (
        "Func f, t; In A; Var x, y: 40; RVar k: 40; t[x] = rsum(A[x, k], k);"
        "f[x, y] = A[x, y] * reshape(t[x], x, 1); t.fuse_at(f, x); f.compile(t);"
        "f.block(x:4, y:16); f.tensorize(x:0, y:0, k:16);"
    ),
    # The other result is summed beside the host's own sum; that one is summed in parts.
    "two sums": (
        "Func f, q; In A; Var x; RVar k; q[x] = rsum(A[x, k] * A[x, k], k);"
        "f[x] = rsum(A[x, k], k); q.fuse_at(f, x); f.compile(q);"
        "f.block(x:4, k:32); f.tensorize(x:0, k:16);"
    ),
}
SQUARE = ("apart", "read by another kernel")  # all labels have one size
RECIPES = [
    (DType.F32, Layout.PLAIN, Layout.PLAIN),
    (DType.BF16, Layout.TRANSPOSED, Layout.SLICED),
    (DType.F16, Layout.SLICED, Layout.TRANSPOSED),
]
SIZES = (0, 1, 3, 4, 5, 31, 37)


def program(name: str) -> Program:
    return load(Source(f"{name}.dt", PROGRAMS[name]))


def text(of: Program) -> str:
    return code_of(judge(of, DIRECTIVES).scheduled).text


def module(name: str) -> Any:
    return imported(text(program(name)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_result_is_proved(name: str) -> None:
    found = verify(program(name), text(program(name)), seconds=60)
    assert [(one.name, one.verdict) for one in found.functions] == [("f", LayerVerdict.PROVED)]


def rectangles(name: str) -> list[dict[str, int]]:
    """Rows and columns around tiles and blocks."""
    labels, fixed = [label.name for label in program(name).labels], program(name).fixed
    found: dict[tuple[int, ...], dict[str, int]] = {}
    for rows, columns in product(SIZES, SIZES):
        if name not in SQUARE or rows == columns:
            sizes = {label: rows if label == "x" else columns for label in labels} | fixed
            found.setdefault(tuple(sizes.values()), sizes)
    return list(found.values())


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("dtype", "layout", "out"), RECIPES)
def test_at_the_sizes_around_each_tile(
    name: str, dtype: DType, layout: Layout, out: Layout
) -> None:
    of, made = program(name), module(name)
    for seed, sizes in enumerate(rectangles(name)):
        inputs = Recipe(seed=seed, dtype=dtype, layout=layout).inputs(of, sizes)
        checked = compared(made, of, ("f",), inputs, sizes, layout=out)
        assert checked.known == checked.elements


A = torch.arange(15.0).reshape(3, 5)


def test_results_come_in_the_order_of_the_file() -> None:
    assert results_of(program("read and not read"), ["f"]) == {"f": ("f", "t", "u")}
    found: Any = module("read and not read").f(A)
    assert isinstance(found, tuple)
    f, t, u = module("read and not read").f(A)
    assert [tuple(one.shape) for one in (f, t, u)] == [(3, 5), (3,), (3,)]
    assert torch.equal(t, A.amax(1))
    assert torch.equal(u, A.amax(1) * 2)


def test_they_go_into_a_tuple() -> None:
    f = module("read and not read").f
    out = tuple(torch.full_like(one, torch.nan) for one in f(A))
    found = f(A, out=out)
    assert all(one is given for one, given in zip(found, out, strict=True))
    assert all(torch.equal(one, given) for one, given in zip(f(A), out, strict=True))


ROWS = torch.empty(3)
WRONG: list[tuple[Any, type[Exception], str]] = [
    (ROWS, TypeError, "'out' must be a tuple of 3 tensors, one for each result"),
    ((torch.empty(3, 5), ROWS), TypeError, "'out' must be a tuple of 3 tensors"),
    ([torch.empty(3, 5), ROWS, torch.empty(3)], TypeError, "'out' must be a tuple of 3 tensors"),
    ((torch.empty(3, 5), 1, ROWS), TypeError, r"'out\[1\]' must be a tensor, not int"),
    ((torch.empty(3, 5), ROWS, ROWS), ValueError, r"'out\[2\]' overlaps 'out\[1\]'"),
    ((A, ROWS, torch.empty(3)), ValueError, r"'out\[0\]' overlaps 'A'"),
    ((torch.empty(3, 5), ROWS.double(), ROWS), ValueError, r"'out\[1\]' is torch.float64 \(3,\)"),
]


@pytest.mark.parametrize(("out", "error", "words"), WRONG)
def test_another_out_is_refused(out: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        module("read and not read").f(A, out=out)


def test_a_result_may_be_empty_where_another_is_not() -> None:
    """A sum of nothing is 0, and the kernel is launched for it."""
    rows, sums, whole = module("a sum and its rows"), torch.ones(3, 0), torch.ones(0, 3)
    f, h, s = rows.f(sums, sums)
    assert (f.shape, h.shape, s.tolist()) == ((3, 0), (3, 0), [0.0, 0.0, 0.0])
    assert [one.numel() for one in rows.f(whole, whole)] == [0, 0, 0]


def test_what_it_says_of_itself() -> None:
    said = module("read and not read").f.__doc__
    assert said == "`f[x, y]`, `t[x]`, `u[x]`; into those of `out`, if they are given."


COMPILE: Callable[..., Any] = vars(torch)["compile"]


@pytest.fixture
def compiler() -> Iterator[Callable[..., Any]]:
    torch.compiler.reset()
    yield COMPILE
    torch.compiler.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_sees_one_operator(compiler: Callable[..., Any], backend: str) -> None:
    f = module("read and not read").f
    asked = f(A)

    def into_out(a: torch.Tensor, out: tuple[torch.Tensor, ...]) -> Any:
        return f(a, out=out)

    new = compiler(f, fullgraph=True, backend=backend)
    assert all(map(torch.equal, new(A), asked))
    into = compiler(into_out, fullgraph=True, backend=backend)
    out = tuple(torch.full_like(one, torch.nan) for one in asked)
    into(A, out)
    assert all(map(torch.equal, out, asked))


def test_the_operator_is_right() -> None:
    made = module("read and not read")
    operator = getattr(torch.ops.dtpoly, f"f_{made.dt_digest(made.f_kernel.fn)}").default
    check: Callable[..., Any] = vars(torch.library)["opcheck"]
    check(operator, (A,), test_utils=("test_schema", "test_faketensor"))


def test_shapes_without_values_and_batches() -> None:
    f = module("read and not read").f
    found = f(A.to("meta"))
    assert [tuple(one.shape) for one in found] == [(3, 5), (3,), (3,)]
    many = torch.vmap(f)(torch.stack([A, A + 1]))
    assert [tuple(one.shape) for one in many] == [(2, 3, 5), (2, 3), (2, 3)]
    assert torch.equal(many[1][1], (A + 1).amax(1))


def test_dtypes_are_their_own() -> None:
    of = load(
        Source(
            "t.dt",
            "Func q: i8, s; In A: bf16; Var x; RVar y; s[x] = rmax(abs(A[x, y]), y);"
            "q[x, y] = cast(A[x, y] / reshape(s[x], x, 1) * 127, i8); s.fuse_at(q, x);"
            f"q.compile(s); {BLOCKS.replace('f.', 'q.')}",
        )
    )
    q, s = imported(text(of)).q(A.bfloat16() + 1)
    assert (q.dtype, s.dtype) == (torch.int8, TORCH_DTYPE[DType.BF16])


def legal_case(seed: int) -> Case | None:
    """A random program some of whose functions have several results, if it is legal."""
    case = returning_case(seed)
    if has_errors(check_schedule(case.program, DIRECTIVES)):
        return None  # it has a primitive of a user's
    return case if judge(case.program, DIRECTIVES).is_legal else None


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_random_programs(part: int) -> None:
    """The results are right at two sizes of each label; most are proved, and none refuted."""
    found = Counter[LayerVerdict]()
    for seed in range(5000 + 40 * part, 5000 + 40 * part + 40):
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
