"""The scores of a tile on an edge are masked once, and not again in what is made of them."""

import re
from functools import cache

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.api import parse
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.test_folded_scales import kernel_of
from tests.verify.running_texts import Edit

WINDOW = """
Func out, scores, top, e, total;
In Q, K, V;
Var m, n;
RVar k, l in [m - 20, m + 1);

scores[m, l] = rdot(Q[m, k], K[l, k], k){scale};
top[m] = rmax(scores[m, l], l);
e[m, l] = exp(scores[m, l] - reshape(top[m], m, 1));
total[m] = rsum(e[m, l], l);
out[m, n] = rdot(e[m, l], V[l, n], l) / reshape(total[m], m, 1);

out.block(m:16);
out.tensorize(m:0, n:0, k:0, l:16);
scores.fuse_at(out, l);
top.online(out, l);
e.inline();
total.online(out, l);
out.compile();
"""
SCALES = {"scaled": " * rsqrt(len(k))", "as they are": ""}
INFINITE = 'float("-inf")'


@cache
def given(name: str) -> tuple[Program, str]:
    program = load(Source("window.dt", WINDOW.format(scale=SCALES[name])))
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


@pytest.mark.parametrize("name", SCALES)
def test_one_mask_for_each_tile(name: str) -> None:
    text = kernel_of(WINDOW.format(scale=SCALES[name]))
    masked = re.findall(r"_seen(?:_\d+)? = tl\.where\(", text)
    assert len(masked) >= 2
    assert text.count("tl.where(") == len(masked)
    assert text.count(INFINITE) == len(masked)


@pytest.mark.parametrize("name", SCALES)
def test_proved(name: str) -> None:
    program, text = given(name)
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED


WRONG: dict[str, Edit] = {
    "weights of masked keys": ("tl.exp2(scores_acc_seen * ", "tl.exp2(scores_acc * "),
    "sums of masked keys": (
        "total_sum_tile = tl.exp2(scores_acc_seen",
        "total_sum_tile = tl.exp2(scores_acc",
    ),
    "a maximum of masked keys": ("top_max_tile = scores_acc_seen", "top_max_tile = scores_acc"),
    "0 in the place of -inf": (INFINITE, "0.0"),
    "inf in its place": (INFINITE, 'float("inf")'),
    "a start that is not finite": ("-1.2676506002282294e30", INFINITE),
    "without a scale": ("_unscaled * mul_value", "_unscaled"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes_are_not_proved(mistake: str) -> None:
    program, text = given("scaled")
    wrong = text.replace(*WRONG[mistake])
    assert wrong != text
    assert verify(program, wrong, seconds=30).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("size", [1, 15, 16, 17, 37, 64])
def test_it_computes_the_same(name: str, size: int) -> None:
    """With fewer keys than queries: some queries see nothing, and are 0 / 0."""
    scheduled = parse(WINDOW.format(scale=SCALES[name]))
    make = torch.Generator().manual_seed(size)
    keys = max(size // 2, 1)
    Q, K, V = (torch.randn(a, b, generator=make) for a, b in ((size, 16), (keys, 16), (keys, 5)))
    scores = Q.double() @ K.double().T / (4 if name == "scaled" else 1)
    query, key = torch.arange(size)[:, None], torch.arange(keys)[None, :]
    scores = scores.masked_fill((key > query) | (key < query - 20), float("-inf"))
    wanted = torch.softmax(scores, -1) @ V.double()
    found = scheduled(Q, K, V).double()
    assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-4, equal_nan=True)
