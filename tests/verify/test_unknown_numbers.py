"""Unknown numbers with facts: packed bits, best places, counted blocks, and what changes them."""

from pathlib import Path
from random import Random

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.kernels_of_data import HEAD
from tests.verify.kernels_of_unknowns import KERNELS
from tests.verify.running_data import run_watched
from tests.verify.test_data_named import proof_of_text

CHANGES = [(name, at) for name, one in KERNELS.items() for at in range(len(one.changes))]
# Sizes by label: the blocks of `m` are those of `n`.
SIZES = (
    {"r": 5, "n": 33, "m": 3, "v": 7},
    {"r": 17, "n": 16, "m": 1, "v": 1},
    {"r": 3, "n": 95, "m": 6, "v": 19},
)
ASSEMBLY = (
    HEAD
    + """\
# tensors: X[r, n], out(Y[r, n])
# verify: k[(len(r),)](X, Y, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096, reach(X) < 2**31, reach(Y) < 2**31
@triton.jit
def k(X, Y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + o
    x = tl.load(X + at, mask=o < n)
    y = tl.inline_asm_elementwise(
        "cvt.rni.f32.f32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(Y + at, y, mask=o < n)
"""
)
TEXTS = (
    "st.global.f32 [$1], $1; mov.b32 $0, $1;",
    "ld.global.f32 $0, [$1];",
    "mov.b32 $0, $1; st.shared.f32 [$1], $1;",
    "@p st.f32 [$1], $1;",
    "atom.add.f32 $0, [$1], $1;",
    "red.add.f32 [$1], $1;",
    "bar.sync 0; mov.b32 $0, $1;",
    "trap;",
    "exit;",
    "ret;",
    "bra.uni again; again: mov.b32 $0, $1;",
    "again: mov.b32 $0, $1; bra again;",
    "cp.async.ca.shared.global [$1], [$1], 4;",
    "membar.gl; mov.b32 $0, $1;",
    "call f; mov.b32 $0, $1;",
    "v_mov_b32 $0, $1",
    "mov.b32 $0, $1; }} st.f32 [$1], $1;",
    "vote.sync.ballot.b32 $0, 1, -1;",
    "/* mov */ st.f32 [$1], $1;",
    "mov.b32 $0, $1 \n st.f32 [$1], $1;",
)


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_proved(name: str) -> None:
    assert proof_of_text(KERNELS[name].text).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "at"), CHANGES)
def test_a_wrong_kernel_is_not_proved(name: str, at: int) -> None:
    old, new = KERNELS[name].changes[at]
    assert old in KERNELS[name].text
    report = proof_of_text(KERNELS[name].text.replace(old, new, 1))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("name", KERNELS)
def test_a_proved_kernel_touches_only_what_it_may(name: str, tmp_path: Path) -> None:
    for sizes in SIZES:
        run_watched(KERNELS[name], KERNELS[name].text, sizes, Random(sizes["n"]), tmp_path)


def test_assembly_that_only_computes_is_an_unknown_number() -> None:
    assert proof_of_text(ASSEMBLY).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("text", TEXTS)
def test_assembly_that_may_do_more_is_not_read(text: str) -> None:
    changed = ASSEMBLY.replace("cvt.rni.f32.f32 $0, $1;", text)
    assert proof_of_text(changed).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("word", ['"=r,m"', '"=r,r,~{memory}"', '"+r,r"'])
def test_assembly_with_operands_in_memory_is_not_read(word: str) -> None:
    report = proof_of_text(ASSEMBLY.replace('"=r,r"', word))
    assert report.verdict is not LayerVerdict.PROVED


def test_parts_of_what_is_not_stored_are_refused() -> None:
    kernel = KERNELS["divided"].text
    report = proof_of_text(kernel.replace("len(v) >= 1", "len(v) >= 1, partly(C)"))
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "though no kernel here stores anything in 'C'" in str(report)
