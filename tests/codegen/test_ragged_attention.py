"""Attention of sequences of different lengths, causal or not, beside torch for each sequence."""

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.listings import ATTENTIONS
from tests.codegen.running import imported

CAUSAL = "cu[b] + m + 1, 0)"
FORMS = {"causal": CAUSAL, "whole": "cu[b + 1], 0)"}
# Empty sequences, those of one token, primes, and lengths around tiles of 64.
LENGTHS = ((1,), (0, 0), (0, 1, 0, 7, 1), (64, 65, 63), (2, 131, 0, 17))


@cache
def program(form: str) -> Program:
    text = ATTENTIONS["ragged"].read_text()
    assert CAUSAL in text
    return load(Source("ragged.dt", text.replace(CAUSAL, FORMS[form])))


@cache
def code(form: str) -> Code:
    return code_of(judge(program(form), DIRECTIVES).scheduled)


def each(form: str, cu: list[int], *given: torch.Tensor) -> torch.Tensor:
    """Return what torch computes for each sequence; other rows are 7."""
    Q, K, V = (one.double().movedim(0, 1) for one in given)
    found = torch.full_like(V, 7.0)
    for first, last in pairwise(cu):
        one, other, values = (x[None, :, first:last] for x in (Q, K, V))
        found[:, first:last] = torch.nn.functional.scaled_dot_product_attention(
            one, other, values, is_causal=form == "causal"
        )[0]
    return found.movedim(0, 1)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("form", FORMS)
def test_it_is_that_of_each_sequence(
    form: str, lengths: tuple[int, ...], dtype: torch.dtype
) -> None:
    """Two tokens more belong to no sequence. The length that is passed may be too large."""
    made = torch.Generator().manual_seed(sum(lengths))
    tokens = sum(lengths) + 2
    shapes = ((tokens, 2, 16), (tokens, 2, 16), (tokens, 2, 7))
    Q, K, V = (torch.randn(shape, generator=made).to(dtype) for shape in shapes)
    cu = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
    share = 1e-4 if dtype is torch.float32 else 0.06
    for most in (max(lengths), max(lengths) + 70):
        out = torch.full_like(V, 7.0)
        function: Any = imported(code(form).text).ragged
        assert function(out, Q, K, V, cu, m=most) is out
        wanted = each(form, [int(one) for one in cu], Q, K, V)
        torch.testing.assert_close(out.double(), wanted, rtol=share, atol=share)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_proved(form: str) -> None:
    report = verify(program(form), code(form).text, seconds=60)
    assert report.verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("form", FORMS)
def test_sequences_may_end_anywhere(form: str) -> None:
    """No content of `cu` reads or writes what is not there: rows outside are stored nowhere."""
    Q, K, V = (torch.ones(9, 2, 16), torch.ones(9, 2, 16), torch.ones(9, 2, 7))
    function: Any = imported(code(form).text).ragged
    for ends in ([-5, 3, 99], [7, 2, 2], [-(2**31), 2**31 - 1, 4], [9, 20, 30]):
        out = torch.full_like(V, 7.0)
        function(out, Q, K, V, torch.tensor(ends, dtype=torch.int32), m=20)
        assert ((out == 1) | (out == 7) | out.isnan()).all()
