"""Tests reports of directives that change nothing: each names the cause and a way out."""

import pytest

from dtpoly.checking import load
from dtpoly.diagnostics import Diagnostic
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.useless_directives import vain

PRODUCT = (
    "Func f; In A: f16, B: f16; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:128, n:32); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.num_warps(8);"
    "f.warp_specialize();"
)
NAME_BOTH = "name both inputs and f in f.descriptor(...), or remove it"
LINES = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.block(x:1); f.tensorize(y:64);"
TWICE = (
    "Func f, t; In A; Var x; RVar y; t[x] = rsum(A[x, y], y);"
    "f[x, y] = A[x, y] / reshape(t[x], x, 1); t.fuse_at(f, x); f.alternate(y);"
)
SUMS = (
    "Func f; In A: f16, B: f16; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:32, n:32, k:64); f.tensorize(m:0, n:0, k:16); f.atomic(k); f.descriptor(A, B, f);"
)


def told(text: str) -> list[Diagnostic]:
    judged = judge(load(Source("f.dt", f"{text} f.compile();")), DIRECTIVES)
    return list(vain(judged.scheduled, code_of(judged.scheduled).stages, DIRECTIVES))


def said(text: str) -> tuple[str, str]:
    """The note and the hint of the only one."""
    (one,) = told(text)
    return one.notes[0].text, one.hint


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new", "why", "way"),
    [
        ("f.num_warps(8);", "", "num_warps(8)", "add num_warps(8), or remove it"),
        ("s(8)", "s(4)", "num_warps(8)", "instead of 4 warps take num_warps(8), or remove it"),
        (
            "rdot(A[m, k], B[k, n], k)",
            "rsum(A[m, k], k) + rsum(B[k, n], k)",
            "multiplies",
            "remove it",
        ),
        ("8);", "8); f.num_stages(1);", "of one stage", "take two stages, or remove it"),
        ("m:128", "m:64", "a block of it has 64 rows", "take blocks of 128 rows, or remove it"),
        ("A, B, f", "A, B", "through descriptors", NAME_BOTH),
        ("B, f)", "f)", "through descriptors", NAME_BOTH),
        ("B[k, n], k)", "B[k, n], k) * m", "reads nothing else row by row", "remove it"),
        ("B[k, n], k)", "B[k, n], k) + A[m, n]", "reads nothing else row by row", "remove it"),
    ],
)
def test_why_no_warps_load_for_others(old: str, new: str, why: str, way: str) -> None:
    assert not told(PRODUCT)
    assert old in PRODUCT
    found, hint = said(PRODUCT.replace(old, new))
    assert why in found
    assert hint == way


def test_a_matrix_times_itself_is_named() -> None:
    itself = PRODUCT.replace("B[k, n]", "A[n, k]").replace(", B: f16", "").replace("A, B,", "A,")
    assert said(itself.replace("n:32", "n:128"))[1] == "remove it"


def test_why_no_line_is_aligned() -> None:
    assert said(f"{LINES} f.align(A); f.persistent();") == (
        "programs that take blocks in turn have one line of 'A' after the other",
        "remove it, or persistent",
    )
    many = LINES.replace("x:1); f.tensorize(y", "x:2); f.tensorize(x:0, y")
    assert said(f"{many} f.align(A);")[1].startswith("block all other labels by 1")


def test_why_no_loop_is_turned() -> None:
    many = f"{TWICE} f.block(x:2); f.tensorize(x:0, y:64);"
    why, way = said(many)
    assert why == "no second loop over tiles of 'y' has one row at a time, and rounds in any order"
    assert way.startswith("block all other labels by 1")
    assert not told(many.replace("x:2", "x:1"))
    assert said(f"{LINES} f.alternate(y);")[1] == "remove it"


@pytest.mark.parametrize(("label", "block"), [("x", ""), ("y", "f.block(x:4);")])
def test_programs_are_numbered_along_blocks_only(label: str, block: str) -> None:
    rows = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.compile();"
    why, way = said(f"{rows} {block} f.descending({label});")
    assert why == f"programs are not numbered along blocks of '{label}'"
    assert way == "block it, or remove it"


def test_what_is_added_in_memory_is_stored_by_no_descriptor() -> None:
    assert said(SUMS) == (
        "what is added in memory is stored by no descriptor",
        "remove it, or atomic",
    )
    found = told(f"{SUMS} f.store(n:16);")
    assert {one.hint for one in found} == {"remove it, or atomic"}
    assert len(found) == 2


def test_tiles_of_numbers_that_are_no_boxes() -> None:
    scattered = "Func f; In A; Var x; f[x] = A[2 * x]; f.block(x:64); f.tensorize(x:0);"
    assert said(f"{scattered} f.descriptor(A);")[1] == "remove it"
    whole = scattered.replace("f.block(x:64); ", "").replace("2 * x", "x")
    assert said(f"{whole} f.descriptor(A);")[1] == "tensorize its labels by numbers, or remove it"
