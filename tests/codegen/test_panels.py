"""Results in panels: what is launched for each, and what comes of it."""

import re
from functools import cache

import pytest
import torch

from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.cli.process import told_by
from tests.codegen.running import imported

HEAD = "Func f, g; In A, B; Var m, n; RVar k;"
TURNED = f"{HEAD} g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k], k);"
TILES = (
    "g.block(n:8, k:16); g.tensorize(n:0, k:0); g.persistent(2);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.persistent();"
)
PRODUCT = f"{TURNED} {TILES} f.panels(n:32);"
DESCRIBED = f"{TURNED} {TILES} f.descriptor(A, g, f); f.pitch(); f.store(n:8); f.panels(n:32);"
WAIT = "        tl.extra.cuda.gdc_wait()\n"


@cache
def generated(text: str) -> Code:
    return code_of(judge(load(Source("f.dt", f"{text} f.compile();")), DIRECTIVES).scheduled)


@pytest.mark.sampled
@pytest.mark.parametrize("text", [PRODUCT, DESCRIBED], ids=["addresses", "descriptors"])
@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 97])
@pytest.mark.parametrize(("m", "k"), [(1, 1), (17, 16), (16, 0), (5, 37)])
def test_a_product_of_a_turned_side(text: str, m: int, n: int, k: int) -> None:
    for at in range(3):
        one, other = torch.randn(m, k), torch.randn(k, 2 * n)[:, ::2]
        one = one.T.contiguous().T if at == 1 else one
        other = other.contiguous() if at == 2 else other
        out = torch.full((n, m), torch.nan).T if at else torch.full((m, n), torch.nan)
        assert imported(generated(text).text).f(one, other, out=out) is out
        torch.testing.assert_close(out, one @ other)
        torch.testing.assert_close(imported(generated(text).text).f(one, other), one @ other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_types(dtype: torch.dtype) -> None:
    A, B = torch.randn(9, 20).to(dtype), torch.randn(20, 70).to(dtype)
    found = imported(generated(PRODUCT).text).f(A, B)
    assert found.dtype == dtype
    torch.testing.assert_close(found, A @ B, rtol=2e-2, atol=2e-2)


def test_an_axis_in_the_middle() -> None:
    text = (
        "Func f, g; In A, C; SIn s; Var x, y, z; g[x, y, z] = C[z, y, x] * s;"
        "f[x, y, z] = A[x, y, z] + g[x, y, z];"
        "f.block(x:2, y:4, z:4); f.tensorize(x:0, y:0, z:0);"
    )
    A, C = torch.randn(3, 11, 5), torch.randn(5, 11, 3)
    for size in (1, 3, 11, 12):
        found = imported(generated(f"{text} f.panels(y:{size});").text).f(A, C, 3.0)
        torch.testing.assert_close(found, A + C.permute(2, 1, 0) * 3.0)


def test_names_that_the_loop_needs() -> None:
    """A source may use the names that the file has for its own functions."""
    text = (
        "Func f, panel; In early, range; Var min, max; RVar part;"
        "panel[max, part] = range[part, max]; f[min, max] = rdot(early[min, part],"
        "panel[max, part], part); panel.block(max:4); f.panels(max:6);"
    )
    A, B = torch.randn(5, 7), torch.randn(7, 20)
    torch.testing.assert_close(imported(generated(text).text).f(A, B), A @ B)


def test_several_kernels_for_each_panel() -> None:
    text = (
        "Func f, g, h; In A, B; Var m, n; RVar k; g[n, k] = B[k, n]; h[k, n] = g[n, k] * 2.0;"
        "f[m, n] = rdot(A[m, k], h[k, n], k) + rsum(g[n, k], k);"
    ).replace(" + rsum(g[n, k], k)", "")
    made = generated(f"{text} f.early(); h.early(); f.panels(n:5);")
    first, middle, last = made.stages.kernels
    assert [first.is_first_of_panel, middle.is_first_of_panel] == [True, False]
    assert [middle.is_last_of_panel, last.is_last_of_panel] == [False, True]
    A, B = torch.randn(4, 6), torch.randn(6, 13)
    torch.testing.assert_close(imported(made.text).f(A, B), A @ B * 2)


def test_who_waits_for_whom() -> None:
    """The first kernel in the end, and before anything in the first panel; the last one first."""
    first, last = generated(PRODUCT).text.split("@triton.jit\n")[1:]
    head = f"    if early:\n        if panel == 0:\n    {WAIT}"
    assert re.search(rf"# Grid[^\n]*\n{re.escape(head)}", first)
    assert first.rstrip().endswith(f"    if early:\n{WAIT}".rstrip())
    head = f"    if early:\n{WAIT}        tl.extra.cuda.gdc_launch_dependents()\n"
    assert re.search(rf"# Grid[^\n]*\n{re.escape(head)}", last)


def test_memory_for_each_program_is_none_of_a_panel() -> None:
    text = (
        "Func f, g, h; In A; Var x; RVar y; g[x, y] = A[x, y] * 2.0;"
        "h[x, y] = g[x, y] + 1.0; f[x, y] = h[x, y] * g[x, y];"
        "h.fuse_at(f, x); f.block(x:4); f.panels(x:8);"
    )
    with pytest.raises(DtpolyError) as refused:
        generated(text)
    (found,) = refused.value.diagnostics
    assert found.code == "DT300"
    assert "would be made for each panel" in found.notes[0].text


@pytest.mark.long
def test_a_gpu_that_can_wait_waits_at_both_ends() -> None:
    found = told_by("tests.codegen.waiting")
    panels = [one for one in found if "panels" in one["kernel"]]
    assert len(panels) == 2 * 3
    for one in panels:
        wanted = (2 if one["kernel"].startswith("g ") else 1) if one["target"] == "cuda:90" else 0
        assert one["count"] == wanted, one
