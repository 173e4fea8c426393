"""Scans in parts of rows: `f.block(t:p/32)`, beside torch's operators and the reference."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import check, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.cli.server import Server
from tests.codegen.inputs import Data, Inputs, Layout, Recipe, laid_out, with_nans
from tests.codegen.running import compared, imported
from tests.codegen.scans_in_parts import (
    IN_PARTS,
    RECURRENCES,
    SIZES_TRIED,
    program,
    rows,
    sizes_around_parts,
)
from tests.verify.texts import text_of

F64 = torch.float64
RECIPES = [
    Recipe(1, DType.F32, Layout.PLAIN, Data.RANDOM),
    Recipe(2, DType.BF16, Layout.SLICED, Data.RANDOM),
    Recipe(3, DType.F16, Layout.TRANSPOSED, Data.ASCENDING),
    Recipe(4, DType.F64, Layout.SLICED, Data.BELOW_ZERO),
]
SHARE = {torch.float32: 2e-4, F64: 1e-11}


@cache
def text(name: str) -> str:
    return text_of(program(name))


@cache
def module(name: str) -> Any:
    return imported(text(name))


def as_factors(given: Inputs) -> Inputs:
    """Return inputs of which products stay small."""
    return {
        name: (one.to(F64) * 0.4).clamp(-0.95, 0.95).to(one.dtype)
        if isinstance(one, torch.Tensor)
        else one
        for name, one in given.items()
    }


def compare(name: str, sizes: dict[str, int], recipe: Recipe) -> None:
    """Compare a kernel with the reference; of recurrences no bounds of errors are known."""
    of, given = program(name), recipe.inputs(program(name), sizes)
    if name not in RECURRENCES:
        compared(module(name), of, ("f",), given, sizes, layout=Layout.SLICED)
        return
    values = as_factors(given)
    found, wanted = module(name).f(*values.values()), run(of, values, wanted=["f"])["f"]
    share = SHARE.get(found.dtype, 4e-2)
    torch.testing.assert_close(found.to(F64), wanted.to(F64), rtol=share, atol=share)


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", IN_PARTS)
def test_at_the_sizes_around_each_part(name: str, recipe: Recipe) -> None:
    for sizes in sizes_around_parts(program(name)):
        compare(name, sizes, recipe)


@pytest.mark.sampled
@pytest.mark.parametrize("name", IN_PARTS)
def test_at_some_sizes(name: str) -> None:
    turn = list(IN_PARTS).index(name)
    tried = [one for one in sizes_around_parts(program(name)) if one["t"] in (0, 33, 67)]
    for sizes in tried:
        compare(name, sizes, RECIPES[turn % len(RECIPES)])


BESIDE_TORCH: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sums": lambda a: a.cumsum(1),
    "products": lambda a: a.cumprod(1),
    "largest": lambda a: a.cummax(1).values,
    "smallest from the end": lambda a: a.flip(1).cummin(1).values.flip(1),
    "sums before": lambda a: a.cumsum(1) - a,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", BESIDE_TORCH)
def test_it_is_torchs_operator(name: str) -> None:
    for turn, size in enumerate(one for one in SIZES_TRIED if one):
        exact = torch.rand(3, size, generator=torch.Generator().manual_seed(size), dtype=F64) + 0.5
        layout = (Layout.PLAIN, Layout.SLICED, Layout.TRANSPOSED)[turn % 3]
        given = laid_out(exact.float(), layout)
        found = module(name).f(given)
        wanted = BESIDE_TORCH[name](given.to(F64))
        torch.testing.assert_close(found.to(F64), wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.sampled
def test_the_logarithm_of_sums_of_exponentials() -> None:
    of = load(Source("f.dt", rows("log(scan_sum(exp(A[x, s]), s, t))")))
    given = torch.randn(3, 131, generator=torch.Generator().manual_seed(1))
    wanted = given.to(F64).logcumsumexp(1)
    torch.testing.assert_close(imported(text_of(of)).f(given).to(F64), wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", ["sums", "largest", "states from 0"])
def test_a_nan_stays_from_where_it_is_on(name: str) -> None:
    given = {one.name: torch.rand(2, 100) for one in program(name).tensors}
    given["A"] = with_nans(given["A"])
    given["A"][1, :70] = 0.5
    found, own = module(name).f(*given.values()), run(program(name), given, wanted=["f"])["f"]
    assert torch.equal(found.isnan(), own.isnan())
    assert found.isnan()[0, 1:].all()
    assert not found.isnan()[1, :70].any()


def kernels_of(of: Program) -> list[tuple[str, list[str]]]:
    """Return the kernels of a Program, and the axes of their grids."""
    made = code_of(judge(of, DIRECTIVES).scheduled).stages.kernels
    return [(one.name, [axis.name for axis in one.grid]) for one in made]


def test_a_part_has_a_program() -> None:
    """The states before the parts are made by a program for each row, which waits for none."""
    parts = ["p_block", "x_start"]
    assert kernels_of(program("sums")) == [
        ("f_parts", parts),
        ("f_start", ["x_start"]),
        ("f", parts),
    ]


def test_both_halves_of_a_state_are_made_at_once() -> None:
    assert [name for name, _ in kernels_of(program("states"))] == ["f_parts", "f_start", "f"]
    body = text("states").partition("def f_parts_kernel")[2].partition("def f_start_kernel")[0]
    assert body.count("tl.load(A_") == 2  # of a whole tile, and of the last one
    assert body.count("tl.store(") == 2


def test_states_are_not_rounded() -> None:
    between = text("states").partition('"between"')[2].partition('"indices"')[0]
    assert between.count('"type(real)"') == 3


def test_sums_of_bytes_have_the_type_of_a_sum() -> None:
    given = torch.randint(-128, 128, (2, 100), dtype=torch.int8)
    found = module("sums of whole numbers").f(given)
    assert found.dtype == torch.int32
    assert torch.equal(found, given.cumsum(1).to(torch.int32))


REFUSED = {
    "scans along two labels": (
        "Func f; In A; Var x, t; RVar r, s;"
        "f[x, t] = scan_sum(A[x, s], s, t) + scan_max(A[r, t], r, x);"
        "f.block(t:p/32); f.compile();",
        ("DT239", "it has a scan along 'x', too"),
    ),
    "something over the whole row": (
        "Func f; In A; Var x; RVar s, t;"
        "f[x, t] = scan_sum(A[x, s], s, t) / rsum(A[x, t], t); f.block(t:p/32); f.compile();",
        ("DT239", "it also reduces over 't'"),
    ),
    "two numberings of one name": (
        "Func f, g; In A; Var x, t; RVar s; f[x, t] = scan_sum(A[x, s], s, t);"
        "g[x, t] = scan_sum(f[x, s], s, t); f.block(t:p/32); g.block(t:p/64); g.compile();",
        ("DT239", "'p' numbers other parts here"),
    ),
    "a copy of it is fused": (
        "Func f, g, h; In A; Var x, t; RVar s; f[x, t] = scan_sum(A[x, s], s, t);"
        "g[x, t] = f[x, t] * 2; h[x, t] = g[x, t] + f[x, t]; f.block(t:p/32);"
        "f.fuse_at(g, x); h.compile();",
        ("DT239", "it is computed inside of 'g', too"),
    ),
    "results are added": (
        rows("scan_sum(A[x, s], s, t)", schedule="f.block(t:p/32); f.atomic(t); f.compile();"),
        ("DT194", ""),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    algorithm, (code, why) = REFUSED[name]
    found = [one for one in check(Source("f.dt", algorithm)).diagnostics if one.code == code]
    assert found
    for one in found:
        assert one.span is not None
        assert one.hint
        assert not why or any(why in note.text for note in one.notes), one.notes


def test_parts_without_a_name_of_two_funcs() -> None:
    """Each Func has parts of its own size, and both are right together."""
    of = load(
        Source(
            "f.dt",
            "Func f, g; In A; Var x, t; RVar s; g[x, t] = scan_sum(A[x, s], s, t);"
            "f[x, t] = scan_max(g[x, s], s, t, reverse);"
            "g.block(x:1, t:32); g.tensorize(t:0); f.block(x:1, t:16); f.tensorize(t:0);"
            "f.compile();",
        )
    )
    made = text_of(of)
    given = torch.randn(2, 75, generator=torch.Generator().manual_seed(1))
    wanted = given.to(F64).cumsum(1).flip(1).cummax(1).values.flip(1)
    torch.testing.assert_close(imported(made).f(given).to(F64), wanted, rtol=2e-4, atol=2e-4)
    assert verify(of, made, seconds=60).verdict is LayerVerdict.PROVED


def test_the_result_takes_the_memory_of_what_it_sums() -> None:
    schedule = "f.block(x:1, t:p/32); f.tensorize(t:16, p:2); f.compile();"
    body = "f[x, t] = scan_sum(A[x, s], s, t);"
    of = load(Source("f.dt", f"Func f: f32 into A; In A: f32; Var x, t; RVar s; {body} {schedule}"))
    given = torch.randn(2, 75, generator=torch.Generator().manual_seed(1))
    wanted, made = given.to(F64).cumsum(1), text_of(of)
    assert imported(made).f(given) is given
    torch.testing.assert_close(given.to(F64), wanted, rtol=2e-4, atol=2e-4)
    assert verify(of, made, seconds=60).verdict is LayerVerdict.PROVED


NO_CODE = (
    "Func f0, f1; In A, B, C, D; Var x, y, w; RVar k, s;"
    "f0[y] = rmax(reshape(A[k], k, 1), k) * scan_prod(B[s], s, y);"
    "f1[x, y, w] = reshape(f0[y], 1, y, 1)"
    " * scan_affine(reshape(C[s], 1, 1, s), D[x, y, s], s, w, 0);"
    "f1.tensorize(x:2, y:0); f1.split(x:xi/2); f0.fuse_at(f1, x);"
    "f1.block(x:4, y:4, w:4); f1.compile();"
)


def test_a_directive_is_blamed_where_there_is_no_code() -> None:
    """Schedules without one directive are those of the algorithm that is written."""
    state = judge(load(Source("f.dt", NO_CODE)), DIRECTIVES).scheduled
    with pytest.raises(DtpolyError) as caught:
        code_of(state)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span and found.span.text) == ("DT300", "f1.split(x:xi/2)")


@pytest.mark.long
def test_a_recurrence_of_100000_steps() -> None:
    body = "Func h; In a, b; Var t; RVar s; h[t] = scan_affine(a[s], b[s], s, t, 0);"
    schedule = "h.block(t:p/16384); h.tensorize(t:8192, p:16); h.compile();"
    of = load(Source("long.dt", body + schedule))
    generator = torch.Generator().manual_seed(1)
    a = torch.rand(100_003, generator=generator) * 0.2 + 0.9
    b = torch.randn(100_003, generator=generator)
    found = imported(text_of(of)).h(a, b)
    wanted = run(of, {"a": a, "b": b})["h"]
    torch.testing.assert_close(found.to(F64), wanted, rtol=5e-4, atol=5e-4)


@pytest.mark.long
@pytest.mark.parametrize("name", IN_PARTS)
def test_each_is_proved(name: str) -> None:
    report = verify(program(name), text(name), seconds=100)
    assert [one for one in report.layers if one.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["sums", "largest before", "states before", "one row"])
def test_some_are_proved(name: str) -> None:
    assert verify(program(name), text(name), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_each_becomes_machine_code(served: Server) -> None:
    code, out, err = served("call", "tests.codegen.compiling:main", "sums", "states behind")
    assert code == 0, out + err
