"""A proof of what no call does proves anything, so a certificate of one is rejected."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dtpoly.verify.algebra.proof_run import Obligation, ProofRun
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.checker.scripts import MOST_LINES
from dtpoly.verify.proof.certificate import certificate, text_of
from dtpoly.verify.proof.obligations import attempts
from dtpoly.verify.proof.report import LayerVerdict
from tests.verify.forgeries import base_of
from tests.verify.texts import ROOT, written

ALGORITHM = "Func f;\nIn A;\nVar x;\nf[x] = A[x] + 1.0;\n"
KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def k(a_ptr, o_ptr, n, B: tl.constexpr):
    x = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(a_ptr + x, mask=x < n)
    tl.store(o_ptr + x, a + 1.0, mask=x < n)


# verify: k[(cdiv(len(x), 64),)](A, f, len(x), B=64)
# assume: len(x) <= 2**30
"""
WRONG = KERNEL.replace("+ 1.0", "+ 7.0")
# Each is kept by no call; the last one since no tile has so many lanes.
CONTRADICTIONS = {
    "too small and too large": WRONG.replace("2**30", "2**30, len(x) >= 2**31"),
    "two remainders": WRONG.replace("2**30", "2**30, len(x) % 8 == 0, len(x) % 8 == 4"),
    "below 0": WRONG.replace("2**30", "-1"),
    "what a tile asks for": WRONG.replace("2**30", "2**30, len(x) >= 2**21")
    .replace("tl.program_id(0) * B + ", "")
    .replace("cdiv(len(x), 64)", "1")
    .replace("B=64", "B=next_power_of_2(len(x))"),
}
Document = dict[str, Any]


def test_what_is_right_has_points_that_are_checked() -> None:
    made = certificate(written(ALGORITHM), ALGORITHM, KERNEL)
    (function,) = json.loads(made)["functions"]
    assert [one["what"].split(",")[0] for one in function["inhabited"]] == [
        "some call keeps what is assumed",
        "some call is accepted",
    ]
    checked = check_certificate(made, ALGORITHM, KERNEL)
    assert checked.accepted
    assert checked.decided == len(function["obligations"]) + 2


def unchanged(document: Document) -> None:
    """Leave the certificate of the lying engine as it is."""
    assert document


def not_listed(document: Document) -> None:
    document["functions"][0]["inhabited"] = []


def not_empty(document: Document) -> None:
    """Drop the claims that sets are empty which must have a point."""
    function = document["functions"][0]
    points = {one["set"] for one in function["inhabited"]}
    function["obligations"] = [o for o in function["obligations"] if o["empty"] not in points]


@pytest.mark.parametrize("change", [unchanged, not_listed, not_empty])
@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_promises_that_no_call_keeps_prove_nothing(
    name: str, change: Callable[[Document], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = CONTRADICTIONS[name]

    def lies(run: ProofRun, region: Any) -> bool:
        run.inhabited.append(Obligation(run.part, run.line, run.what, region))
        return True

    with monkeypatch.context() as patch:
        patch.setattr(ProofRun, "has_a_point", lies)
        found = attempts(written(ALGORITHM), kernel, 60.0, lambda _: is_empty)
    layers = [layer for one in found for layer in one.function.layers]
    # The lie is all that a proof needs; else the certificate would be rejected for another reason.
    assert all(layer.verdict is LayerVerdict.PROVED for layer in layers)
    document = json.loads(text_of(found, ALGORITHM, kernel))
    change(document)
    checked = check_certificate(json.dumps(document), ALGORITHM, kernel)
    assert not checked.accepted
    assert checked.complaints


@pytest.mark.long
def test_witnesses_that_multiply_are_given_up() -> None:
    base = base_of(ROOT / "examples" / "attention.dt")
    document = base.document()
    (function,) = document["functions"]
    for at, ways in function["witnesses"].items():
        # Some are of sets that are made of others, so the ways of both are tried together.
        function["witnesses"][at] = ways * 50
    checked = check_certificate(json.dumps(document), base.dt, base.kernel)
    assert not checked.accepted
    assert any(f"more than {MOST_LINES} parts" in one for one in checked.complaints)


def test_a_certificate_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dtpoly.verify.checker.SECONDS_FOR_ALL", -1.0)
    made = certificate(written(ALGORITHM), ALGORITHM, KERNEL)
    checked = check_certificate(made, ALGORITHM, KERNEL)
    assert (checked.accepted, checked.decided) == (False, 0)
    assert checked.not_decided > 0
    assert all("take too long" in one for one in checked.complaints[:-1])
