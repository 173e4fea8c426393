"""Exponentials of a running maximum are powers of two where a scale takes the factor."""

import pytest
import torch

from dtpoly.api import parse

ATTENTION = """
Func out, scores, top, e, total;
In Q, K, V{inputs};
Var m, n;
RVar k, l;

scores[m, l] = {scores};
top[m] = rmax(scores[m, l], l);
e[m, l] = exp(scores[m, l] - reshape(top[m], m, 1));
total[m] = rsum(e[m, l], l);
out[m, n] = {out};

out.block(m:16);
out.tensorize(m:0, n:0, k:0, l:16);
scores.fuse_at(out, l);
top.online(out, l);
e.inline();
total.online(out, l);
out.compile();
"""
PRODUCT = "rdot(Q[m, k], K[l, k], k)"
LOG_SUM_EXP = """
Func out, scores, top;
In Q, K;
Var m;
RVar k, l;

scores[m, l] = rdot(Q[m, k], K[l, k], k) * rsqrt(len(k));
top[m] = rmax(scores[m, l], l);
out[m] = log(rsum(exp(scores[m, l] - reshape(top[m], m, 1)), l)) + top[m];

out.block(m:16);
out.tensorize(m:0, k:0, l:16);
scores.fuse_at(out, l);
top.online(out, l);
out.compile();
"""
SUM = "rdot(e[m, l], V[l, n], l) / reshape(total[m], m, 1)"
SCALED = {
    "by a size": f"{PRODUCT} * rsqrt(len(k))",
    "by a number": f"0.125 * {PRODUCT}",
    "by a scalar": f"{PRODUCT} * c",
    "twice": f"(0.5 * {PRODUCT}) * rsqrt(len(k))",
    "of a sum with a scale": f"({PRODUCT} + Q[m, 0]) * rsqrt(len(k))",
}
AS_THEY_ARE = {
    "not scaled": PRODUCT,
    "by another number for each query": f"{PRODUCT} * Q[m, 0]",
    "with a bias behind it": f"{PRODUCT} * 0.125 + Q[m, 0]",
    "capped": f"tanh({PRODUCT} * 0.125)",
}


def text_of(scores: str, out: str = SUM) -> str:
    return ATTENTION.format(scores=scores, out=out, inputs="; SIn c" if "* c" in scores else "")


def expected(scores: str, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    product = Q @ K.T
    found = {
        "by a size": product / Q.shape[1] ** 0.5,
        "by a number": 0.125 * product,
        "by a scalar": product * -1.5,
        "twice": 0.5 * product / Q.shape[1] ** 0.5,
        "of a sum with a scale": (product + Q[:, :1]) / Q.shape[1] ** 0.5,
        "not scaled": product,
        "by another number for each query": product * Q[:, :1],
        "with a bias behind it": product * 0.125 + Q[:, :1],
        "capped": torch.tanh(product * 0.125),
    }[scores]
    return torch.softmax(found, -1) @ V


def kernel_of(text: str) -> str:
    """Return the kernel of a schedule, without the functions that it calls."""
    made = parse(text, verify=False).source
    return made[made.index("def out_kernel(") :].split("\n@", 1)[0]


@pytest.mark.sampled
@pytest.mark.parametrize("name", SCALED)
def test_a_scale_takes_the_factor(name: str) -> None:
    text = kernel_of(text_of(SCALED[name]))
    assert "1.4426950408889634" in text
    assert "tl.exp2(" in text
    assert "tl.exp(" not in text


@pytest.mark.sampled
@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_others_stay_as_they_are(name: str) -> None:
    text = kernel_of(text_of(AS_THEY_ARE[name]))
    assert "tl.exp(" in text
    assert "exp2" not in text


def test_a_maximum_that_is_needed_itself_has_no_factor() -> None:
    text = kernel_of(LOG_SUM_EXP)
    assert "tl.exp(" in text
    assert "exp2" not in text


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*SCALED, *AS_THEY_ARE])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 40])
def test_it_computes_the_same(name: str, size: int) -> None:
    scheduled = parse(text_of({**SCALED, **AS_THEY_ARE}[name]))
    make = torch.Generator().manual_seed(size)
    Q, K, V = (
        torch.randn(a, b, generator=make) * 4
        for a, b in ((size, 16), (size + 3, 16), (size + 3, 5))
    )
    given = (Q, K, V, -1.5) if "* c" in SCALED.get(name, "") else (Q, K, V)
    wanted = expected(name, Q.double(), K.double(), V.double())
    assert torch.allclose(scheduled(*given).double(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("condition", ["scores[m, l] > 0.25", "abs(scores[m, l]) < 1"])
def test_a_condition_looks_at_scores_without_the_factor(condition: str) -> None:
    """It once compared scores that had the factor already."""
    text = (
        text_of(f"{PRODUCT} * rsqrt(len(k))")
        .replace("Func out,", "Func out, masked,")
        .replace("rmax(scores[m, l]", "rmax(masked[m, l]")
        .replace("exp(scores[m, l]", "exp(masked[m, l]")
        .replace("top[m] =", f"masked[m, l] = where({condition}, scores[m, l], -inf);\ntop[m] =")
        .replace("top.online", "masked.inline();\ntop.online")
    )
    make = torch.Generator().manual_seed(3)
    Q, K, V = (torch.randn(a, b, generator=make) for a, b in ((17, 16), (20, 16), (20, 5)))
    scores = Q.double() @ K.double().T / 4
    taken = scores > 0.25 if ">" in condition else scores.abs() < 1
    wanted = torch.softmax(scores.masked_fill(~taken, float("-inf")), -1) @ V.double()
    assert taken.any(-1).all()
    found = parse(text, verify=False)(Q, K, V)
    assert torch.allclose(found.double(), wanted, rtol=1e-4, atol=1e-4)
