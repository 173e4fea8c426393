"""Two kernels in one launch: what is launched, and what it computes."""

from functools import cache

import pytest
import torch

from dtpoly.checking import check, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.cli.process import told_by
from tests.codegen.joined import TARGETS
from tests.codegen.plans import launches_in
from tests.codegen.running import imported

COPIES = (
    "Func f, g, h; In A, B; Var x, y; RVar k;"
    "g[x, k] = A[x, k]; h[k, y] = B[k, y]; f[x, y] = rdot(g[x, k], h[k, y], k);"
    "g.block(x:4, k:16); g.tensorize(x:0, k:0); h.block(k:8, y:8); h.tensorize(k:0, y:0);"
    "h.beside(g); f.block(x:16, y:16); f.tensorize(x:0, y:0, k:16);"
)


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", f"{text} f.compile();")), DIRECTIVES).scheduled)


@pytest.mark.sampled
@pytest.mark.parametrize("x", [0, 1, 3, 4, 5, 17])
@pytest.mark.parametrize("k", [0, 1, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("y", [1, 8, 13])
def test_a_product_of_copies(x: int, k: int, y: int) -> None:
    A, B = torch.randn(k, x).T, torch.randn(k, 2 * y)[:, ::2]
    out = torch.full((x, y), torch.nan)
    imported(generated(COPIES).text).f(A, B, out=out)
    torch.testing.assert_close(out, A @ B)


def test_there_is_one_launch_of_both() -> None:
    text = generated(COPIES).text
    first, second = launches_in(text)
    assert [first["kernel"], second["kernel"]] == ["g_h_kernel", "f_kernel"]
    assert ["before" in one for one in (first, second)] == [True, False]
    assert text.endswith("\nf = dt_function(f_plan, g_h_kernel, f_kernel)\n")


def test_names_that_the_launch_needs() -> None:
    """A source may use the names that the file has for its own functions."""
    text = (
        "Func after, programs, g_h; In even, before; Var x;"
        "after[x] = even[x] + 1.0; programs[x] = before[x] * 2.0;"
        "g_h[x] = after[x] + programs[x]; after.block(x:4); programs.block(x:2);"
        "programs.beside(after); g_h.compile();"
    )
    code = code_of(judge(load(Source("f.dt", text)), DIRECTIVES).scheduled)
    one, other = torch.randn(9), torch.randn(9)
    assert imported(code.text).g_h(one, other).equal((one + 1) + other * 2)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("g.num_warps(8);", "say the same for both"),
        ("h.num_stages(3);", "say the same for both"),
        ("h.persistent();", "remove persistent"),
        ("g.descriptor(A);", "remove descriptor"),
        ("g.early();", "remove early"),
        ("g.beside(i);", "a launch is of two kernels"),
        ("i.beside(g);", "a launch is of two kernels"),
        ("i.beside(h);", "a launch is of two kernels"),
    ],
)
def test_a_launch_of_its_own(more: str, why: str) -> None:
    text = COPIES.replace("Func f,", "Func f, i,").replace(
        "f[x, y] = rdot(g[x, k], h[k, y], k);",
        "i[x] = A[x, 0]; f[x, y] = rdot(g[x, k], h[k, y], k) + reshape(i[x], x, 1);",
    )
    assert not check(Source("f.dt", f"{text} {more} f.compile();")).diagnostics
    with pytest.raises(DtpolyError) as refused:
        generated(f"{text} {more}")
    (found,) = refused.value.diagnostics
    assert found.code == "DT300"
    assert why in found.notes[0].text


@pytest.mark.long
def test_each_gpu_has_code_for_it() -> None:
    found = told_by("tests.codegen.joined")
    launched = [(str(target), name) for target in TARGETS for name in ("g_h_kernel", "f_kernel")]
    assert [(one["target"], one["kernel"]) for one in found] == launched * 2
    assert all(one["registers"] for one in found)


@pytest.mark.parametrize(
    "text",
    [
        # One function needs the second kernel, and not the first.
        "Func f0, f1, f2, f3; In A; Var k; f0[k] = A[k] + 1.0; f1[k] = f0[k] * 2.0;"
        "f2[k] = f0[k] * 3.0; f3[k] = f1[k] + f2[k]; f0.fuse_at(f2, k, recompute);"
        "f2.beside(f0); f2.compile(); f3.compile();",
        # What is read of the other one is padded.
        "Func f, g; In A; Var x; g[x] = A[x] + 1.0; f[x] = A[x] + pad(g, 0.0)[-7];"
        "f.compile(); f.beside(g);",
        # It comes after its only reader, which reads nothing of it.
        "Func f, g; In A; Var x; f[x] = A[x] + 1.0; g[x] = A[x] + pad(f, 0.0)[-x - 1];"
        "g.compile(); f.beside(g);",
    ],
)
def test_a_function_that_needs_one_of_them(text: str) -> None:
    checked = check(Source("f.dt", text))
    assert checked.verdict is not None
    with pytest.raises(DtpolyError) as refused:
        code_of(checked.verdict.scheduled)
    (found,) = refused.value.diagnostics
    assert found.code == "DT300"
    assert "let each have its own" in found.notes[0].text
