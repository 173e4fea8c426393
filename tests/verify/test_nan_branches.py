"""A tile that a range cuts is computed again if it has a nan, and other branches are not proved."""

import json
from functools import cache

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify

TRIANGLE = """Func f; In A, B; Var i, j; RVar k in [0, i + 1);
f[i, j] = rdot(A[i, k], B[k, j], k);
f.block(i:64, j:64);
f.tensorize(i:0, j:0, k:32);
f.compile();
"""
IN_HALVES = "tl.range(k_start, k_start + {})"
BAND = """Func f; In A, B; Var i, j; RVar k in [i, i + 2);
f[i, j] = rdot(A[i, k], B[k, j], k);
f.block(i:16, j:16);
f.tensorize(i:0, j:0, k:16);
f.compile();
"""
# What is wrong with a kernel, and how it comes to be.
WRONG = {
    "two nans are asked for": ("if has_nan >= 1:", "if has_nan >= 2:"),
    "a row is not masked": ("mask=(k[None, :] <= i[:, None]) & i_mask", "mask=i_mask"),
    "a row is masked one index too soon": ("k[None, :] <= i[:, None]", "k[None, :] < i[:, None]"),
    "another tile is looked at": ("(f_acc != f_acc)", "(sum_before != sum_before)"),
    "it is asked where there is none": ("(f_acc != f_acc)", "(f_acc == f_acc)"),
    "the tile is added twice": ("            f_acc = sum_before\n", "            pass\n"),
    "half of it is added again": (IN_HALVES.format(32), IN_HALVES.format(16)),
    "it is added again one index too soon": ("i_mask_2 = k_2 <= i\n", "i_mask_2 = k_2 < i\n"),
    "some rows are not looked at": (
        "tl.reduce(is_nan, 1,",
        "tl.reduce(is_nan * i_mask[:, None], 1,",
    ),
    "it is stored in the branch": (
        "            f_acc = sum_before\n",
        "            f_acc = sum_before\n            tl.store(f_ptr, 0.0)\n",
    ),
}


@cache
def made(source: str = TRIANGLE) -> tuple[Program, str]:
    checked = check(Source("triangle.dt", source))
    assert checked.program is not None
    assert checked.verdict is not None
    return checked.program, code_of(checked.verdict.scheduled).text


def test_it_is_proved_by_a_lemma() -> None:
    program, text = made()
    assert verify(program, text).verdict is LayerVerdict.PROVED
    told = certificate(program, TRIANGLE, text)
    (function,) = json.loads(told)["functions"]
    assert any(each["lemma"] == Lemma.NO_NAN for each in function["assumptions"])
    assert check_certificate(told, TRIANGLE, text).accepted


@pytest.mark.parametrize("name", [pytest.param(x, marks=pytest.mark.sampled) for x in WRONG])
def test_what_is_wrong_is_not_proved(name: str) -> None:
    program, text = made()
    old, new = WRONG[name]
    assert old in text
    assert verify(program, text.replace(old, new)).verdict is not LayerVerdict.PROVED


def test_what_is_wrong_only_in_a_branch_that_may_never_be_taken_refutes_nothing() -> None:
    # Behind the last index of k no tile has anything in it, so none has a nan.
    program, text = made(BAND)
    for old, new in (
        ("    if k_size >= i_start + 1:", "    if i_size >= i_start + 1:"),
        ("    k_mask = (k < k_size) | even\n", "    k_mask = k < k_size\n"),
        (
            "                        & ((k_2 < k_size) | even)\n                    )",
            "                        & (k_2 < k_size)\n                    )",
        ),
    ):
        assert text.count(old) >= 1
        text = text.replace(old, new, 1)
    report = verify(program, text)
    assert report.verdict is LayerVerdict.UNKNOWN
    whys = [one.why for one in report.functions[0].layers if one.verdict is not LayerVerdict.PROVED]
    assert any(why.startswith("reaches outside of axis 1 of 'A'") for why in whys)
