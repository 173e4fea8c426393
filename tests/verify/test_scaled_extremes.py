"""A maximum times a scale above 0 is the maximum of the products (lemma 14)."""

from functools import cache

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.running_texts import Edit, edited
from tests.verify.texts import ROOT, written

CAUSAL = ROOT / "examples/causal_flash_attention.dt"


@cache
def causal() -> tuple[Program, str]:
    program = load(Source(CAUSAL.name, CAUSAL.read_text()))
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


# Mistakes in the tile of the main loop, in that of the diagonal, and in all of them.
WRONG: dict[str, Edit] = {
    "without the scale": ("top_max_part_unscaled * mul_value", "top_max_part_unscaled"),
    "without it on the diagonal": (
        "top_max_part_3_unscaled * mul_value",
        "top_max_part_3_unscaled",
    ),
    "with it twice": (
        "top_max_part_unscaled * mul_value",
        "top_max_part_unscaled * mul_value * mul_value",
    ),
    "with another sign": ("_unscaled * mul_value", "_unscaled * -mul_value"),
    "of a smallest score": (
        "top_max_part_unscaled = tl.reduce(top_max_tile, 1, dt_max)",
        "top_max_part_unscaled = tl.min(top_max_tile, 1)",
    ),
    "of another size": (
        "top_max_part_unscaled * mul_value",
        "top_max_part_unscaled * (tl.rsqrt(tl.cast(l_size, real)) * 1.4426950408889634)",
    ),
    "less than it, squared": (
        "top_max_part_unscaled * mul_value",
        "top_max_part_unscaled * (mul_value * mul_value)",
    ),
    "of scores that have it": ("top_max_tile = scores_acc\n", "top_max_tile = scores\n"),
    "without the mask": (
        "(l_2[None, :] <= m[:, None]) & l_2_mask[None, :]",
        "l_2_mask[None, :]",
    ),
}


def test_the_text_of_an_example_has_such_maxima() -> None:
    program, text = causal()
    assert "top_max_part_unscaled * mul_value" in text
    assert verify(program, text).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", WRONG)
def test_wrong_scales_are_not_proved(name: str) -> None:
    program, text = causal()
    assert verify(program, edited(text, WRONG[name])).verdict is not LayerVerdict.PROVED


# The largest of each row, times what a size of another input says: that may be a division by 0.
OF_ROWS = """
Func f; In A, B; Var x; RVar k, z;
f[x] = rmax(A[x, k] * rsqrt(len(z)), k) + rsum(B[z], z);
f.block(x:4); f.tensorize(x:0, k:16, z:16); f.compile();
"""
LATER: tuple[Edit, ...] = (
    ("A_tile * rsqrt_value", "A_tile"),
    ("f_max = tl.reduce(f_acc, 1, dt_max)", "f_max = tl.reduce(f_acc, 1, dt_max) * rsqrt_value"),
)


def test_a_scale_that_may_be_infinite_stays_where_it_is() -> None:
    """With no z, 2 * inf is inf, but of 2 and 0 the products are inf and nan."""
    program = load(Source("rows.dt", OF_ROWS))
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text).verdict is LayerVerdict.PROVED
    late = edited(text, *LATER)
    assert verify(program, late).verdict is not LayerVerdict.PROVED
    # A size that is 0 makes -inf, the largest of no element, a nan.
    assert verify(program, late.replace("tl.rsqrt(", "tl.sqrt(")).verdict is not LayerVerdict.PROVED
    # The same with a number, which is finite.
    written = load(Source("rows.dt", OF_ROWS.replace("rsqrt(len(z))", "0.125")))
    text = code_of(judge(written, DIRECTIVES).scheduled).text
    late = edited(
        text,
        *((a.replace("rsqrt_value", "0.125"), b.replace("rsqrt_value", "0.125")) for a, b in LATER),
    )
    assert verify(written, late).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("factor", ["rsqrt(len(k))", "0.125", "(1 / len(x))"])
def test_a_factor_of_the_maximum_itself(factor: str) -> None:
    """The algorithm has it behind the maximum, and so has the kernel."""
    algorithm = f"Func f; In A; Var x; RVar k; f[x] = rmax(A[x, k], k) * {factor};"
    program = load(
        Source("of.dt", f"{algorithm} f.block(x:4); f.tensorize(x:0, k:16); f.compile();")
    )
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text).verdict is LayerVerdict.PROVED


# An infinity in the place of some scores, beside a scale that is infinite if there is no k.
BESIDE = """
Func scores, f; In Q, K; Var x; RVar l, k;
scores[x, l] = rdot(Q[x, k], K[l, k], k);
f[x] = rmax(where(l < 5, scores[x, l], inf), l) * rsqrt(len(k));
f.compile();
"""
OF_BESIDE = """\
import triton
import triton.language as tl

# verify: rows[(cdiv(len(x), 16),)](Q, K, f, len(x), len(l), len(k))
# assume: len(x) <= 2**20, len(l) <= 2**20, len(k) <= 2**20, reach(Q) < 2**31, reach(K) < 2**31


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def rows(Q, K, out, n, m, c_size):
    x = tl.program_id(0) * 16 + tl.arange(0, 16)
    scale = tl.rsqrt(tl.cast(c_size, tl.float32))
    top = tl.full((16,), float("-inf"), tl.float32)
    for start in range(0, m, 16):
        l = start + tl.arange(0, 16)
        acc = tl.full((16, 16), 0.0, tl.float32)
        for begin in range(0, c_size, 16):
            c = begin + tl.arange(0, 16)
            q_mask = (x < n)[:, None] & (c < c_size)[None, :]
            q = tl.load(Q + x[:, None] * c_size + c[None, :], mask=q_mask, other=0.0)
            k_mask = (l < m)[None, :] & (c < c_size)[:, None]
            k = tl.load(K + l[None, :] * c_size + c[:, None], mask=k_mask, other=0.0)
            acc = tl.dot(q, k, acc, input_precision="ieee")
        some = tl.where((l < 5)[None, :], acc * scale, float("inf"))
        seen = tl.where((l < m)[None, :], some, float("-inf"))
        top = larger(top, tl.reduce(seen, 1, larger))
    tl.store(out + x, top, mask=x < n)
"""
LOW: Edit = ('scale, float("inf")', 'scale, float("-inf")')
SOME_K: Edit = ("len(k) <= 2**20", "len(k) <= 2**20, len(k) >= 1")


def test_an_infinity_beside_products_of_nothing() -> None:
    """With no k the algorithm's maximum is inf * inf, and the kernel has a nan, 0 * inf."""
    program, low = (written(one) for one in (BESIDE, BESIDE.replace(" inf)", " -inf)")))
    assert verify(program, OF_BESIDE).verdict is not LayerVerdict.PROVED
    assert verify(program, edited(OF_BESIDE, SOME_K)).verdict is LayerVerdict.PROVED
    assert verify(low, edited(OF_BESIDE, LOW)).verdict is LayerVerdict.PROVED
    # A minimum has the infinity of the other sign.
    least = written(BESIDE.replace("rmax", "rmin").replace(" inf)", " -inf)"))
    text = OF_BESIDE.replace('"-inf"', '"inf"').replace("tl.maximum", "tl.minimum")
    text = edited(text, ('scale, float("inf")', 'scale, float("-inf")'))
    assert verify(least, text).verdict is not LayerVerdict.PROVED
    assert verify(least, edited(text, SOME_K)).verdict is LayerVerdict.PROVED
