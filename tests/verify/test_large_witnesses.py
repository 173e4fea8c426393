"""Certificates with more witnesses than any proof has: they are rejected before they take time."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dtpoly.verify.checker import check_certificate
from dtpoly.verify.proof.certificate import certificate
from tests.verify.texts import text_of, written

TEXT = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:16, k:32); f.compile();"
PROGRAM = written(TEXT)
KERNEL = text_of(PROGRAM)
MANY = 25_000

WAYS: dict[str, Callable[[Any], Any]] = {
    "ways": lambda ways: ways * MANY,
    "terms": lambda ways: [[[[1]] * MANY for _ in way] for way in ways],
    "terms inside": lambda ways: [[[[1, [[1]] * MANY, 2]] for _ in way] for way in ways],
    "empty ways": lambda ways: [*ways, *([[]] * MANY)],
    "numbers": lambda ways: [[*way, *([[]] * MANY)] for way in ways],
}


@pytest.mark.long
def test_the_certificate_is_accepted() -> None:
    assert check_certificate(certificate(PROGRAM, TEXT, KERNEL), TEXT, KERNEL).accepted


@pytest.mark.long
@pytest.mark.parametrize("more", WAYS.values(), ids=WAYS)
def test_more_witnesses_than_a_proof_has(more: Callable[[Any], Any]) -> None:
    document = json.loads(certificate(PROGRAM, TEXT, KERNEL))
    (function,) = document["functions"]
    assert function["witnesses"]
    function["witnesses"] = {at: more(ways) for at, ways in function["witnesses"].items()}
    checked = check_certificate(json.dumps(document), TEXT, KERNEL)
    assert not checked.accepted
    assert "more than" in checked.complaints[0]
