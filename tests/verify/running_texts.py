"""Kernels written by hand that keep sums in the frame of a running maximum.

Two files in tests/data/running are the first of them. All others are made of these by changes that
keep them right, such as a mask of attention; each has an algorithm and sizes at which it is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from tests.verify.texts import ROOT, changed, written

FOLDER = ROOT / "tests/data/running"
SOFTMAX = (FOLDER / "softmax.py.txt").read_text()
ATTENTION = (FOLDER / "attention.py.txt").read_text()
Edit = tuple[str, str]

OF_SOFTMAX = """
Func peak, numerator, total, softmax; In logits; Var row; RVar col;
peak[row] = rmax(logits[row, col], col);
numerator[row, col] = exp(logits[row, col] - reshape(peak[row], row, 1));
total[row] = rsum(numerator[row, col], col);
softmax[row, col] = numerator[row, col] / reshape(total[row], row, 1);
"""
OF_ATTENTION = """
Func scores, top, e, total, attention; In Q, K, V; Var m, n; RVar l, k;
scores[m, l] = rdot(Q[m, k], K[l, k], k);
top[m] = rmax(scores[m, l], l);
e[m, l] = exp(scores[m, l] - reshape(top[m], m, 1));
total[m] = rsum(e[m, l], l);
attention[m, n] = rdot(e[m, l], V[l, n], l) / reshape(total[m], m, 1);
"""


def edited(text: str, *edits: Edit) -> str:
    """Return a text after changes, each in all places."""
    for old, new in edits:
        text = changed(text, old, new, -1)
    return text


# Changes of the text of attention.
START: Edit = (
    'top = tl.full((ROWS,), float("-inf"), tl.float32)',
    "top = tl.full((ROWS,), -1.2676506002282294e30, tl.float32)",
)
# Without a promise a nan must win, as it does in the language.
NO_PROMISE: tuple[Edit, ...] = (
    (", finite\n", "\n"),
    (
        "\n\n@triton.jit\ndef attention",
        "\n\n@triton.jit\ndef larger(a, b):\n"
        "    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)\n"
        "\n\n@triton.jit\ndef attention",
    ),
    ("tl.maximum(top, tl.max(scores, 1))", "larger(top, tl.reduce(scores, 1, larger))"),
)
IN_CAUSAL: Edit = (
    "tl.where((l < l_size)[None, :], scores",
    "tl.where((l < l_size)[None, :] & (l[None, :] <= m[:, None]), scores",
)
ENDS_EARLY: Edit = (
    "range(0, l_size, BLOCK)",
    "range(0, min(l_size, tl.program_id(0) * ROWS + ROWS), BLOCK)",
)
IN_WINDOW: Edit = (
    "(l[None, :] <= m[:, None])",
    "(l[None, :] <= m[:, None]) & (m[:, None] - l[None, :] < 100)",
)
BEGINS_LATE: Edit = (
    "    for start in range(0,",
    "    low = max(0, tl.program_id(0) * ROWS - 99) // BLOCK * BLOCK\n    for start in range(low,",
)
SQUARE: Edit = ("len(m) <= 2**27, len(l)", "len(m) <= len(l), len(l)")
GUARD: Edit = (
    """        correction = tl.exp(top - new_top)
        e = tl.exp(scores - new_top[:, None])""",
    """        safe_top = tl.where(new_top == float("-inf"), 0.0, new_top)
        correction = tl.exp(top - safe_top)
        e = tl.exp(scores - safe_top[:, None])""",
)
IN_F16: tuple[Edit, ...] = (
    ('tl.dot(e, values, acc, input_precision="ieee")', "tl.dot(e.to(tl.float16), values, acc)"),
    ('tl.dot(q, keys, input_precision="ieee")', "tl.dot(q, keys)"),
)
IN_BF16: Edit = ("tl.float16", "tl.bfloat16")
SCALED: Edit = (
    "        scores = tl.where",
    "        scores = scores * 0.125\n        scores = tl.where",
)
SCALED_LATE: tuple[Edit, ...] = (
    ("tl.maximum(top, tl.max(scores, 1))", "tl.maximum(top, tl.max(scores, 1) * 0.125)"),
    ("tl.exp(scores - new_top[:, None])", "tl.exp(scores * 0.125 - new_top[:, None])"),
)
SCALED_LAST: tuple[Edit, ...] = (
    ("tl.exp(scores - new_top[:, None])", "tl.exp((scores - new_top[:, None]) * 0.125)"),
    ("tl.exp(top - new_top)", "tl.exp((top - new_top) * 0.125)"),
)
# Exponentials of base 2: log2(e) is a factor of the scores, or of the differences.
IN_TWOS: tuple[Edit, ...] = (
    (
        "        scores = tl.where",
        "        scores = scores * (0.125 * 1.4426950408889634)\n        scores = tl.where",
    ),
    ("tl.exp(", "tl.exp2("),
)
IN_TWOS_LATE: tuple[Edit, ...] = (
    (
        "tl.exp(scores - new_top[:, None])",
        "tl.exp2((scores - new_top[:, None]) * 0.18033688011112042)",
    ),
    ("tl.exp(top - new_top)", "tl.exp2((top - new_top) * 0.18033688011112042)"),
)
GUARD_OF_TWOS: Edit = (
    GUARD[0].replace("tl.exp(", "tl.exp2("),
    GUARD[1].replace("tl.exp(", "tl.exp2("),
)
WITH_LSE: tuple[Edit, ...] = (
    ("#     attention, Q", "#     attention, lse, top, Q"),
    ("    out_ptr, q_ptr", "    out_ptr, lse_ptr, top_ptr, q_ptr"),
    (
        "    out_mask =",
        "    tl.store(lse_ptr + m, tl.log(total) + top, mask=m < m_size)\n"
        "    tl.store(top_ptr + m, top, mask=m < m_size)\n    out_mask =",
    ),
    (
        "reach(attention) < 2**31",
        "reach(attention) < 2**31, reach(lse) < 2**31, reach(top) < 2**31, len(l) >= 1",
    ),
)
WITH_TOTAL: tuple[Edit, ...] = (
    *WITH_LSE,
    ("tl.log(total) + top", "total"),
    ("attention, lse, top", "attention, total, top"),
    ("reach(lse)", "reach(total)"),
)
# Changes of the algorithm of attention.
CAUSAL: tuple[Edit, ...] = (
    ("scores, top", "scores, masked, top"),
    (
        "top[m] = rmax(scores",
        "masked[m, l] = where(l <= m, scores[m, l], -inf);\ntop[m] = rmax(masked",
    ),
    ("exp(scores", "exp(masked"),
)
WINDOW: Edit = ("l <= m", "l <= m and m - l < 100")
F16: Edit = ("In Q, K, V;", "In Q: f16, K: f16, V: f16;")
BF16: Edit = ("In Q, K, V;", "In Q: bf16, K: bf16, V: bf16;")
SCALE: Edit = ("K[l, k], k);", "K[l, k], k) * 0.125;")
DIVIDED: Edit = (
    "rdot(e[m, l], V[l, n], l) / reshape(total[m], m, 1)",
    "rdot(e[m, l] / reshape(total[m], m, 1), V[l, n], l)",
)
# Divided by a total, a sum over no key is 0, but 0 / 0 is a nan.
SOME_KEY: Edit = ("len(m) <= 2**27,", "len(m) <= 2**27, 1 <= len(l),")
LSE: tuple[Edit, ...] = (
    ("Func scores", "Func lse, scores"),
    ("attention[m, n]", "lse[m] = log(total[m]) + top[m];\nattention[m, n]"),
)

_CAUSAL_TEXT = edited(ATTENTION, IN_CAUSAL, ENDS_EARLY)


def _chained() -> str:
    """Return causal attention with one loop over whole tiles, and one over the diagonal."""
    begin, end = _CAUSAL_TEXT.index("    for start in range"), _CAUSAL_TEXT.index("    out_mask =")
    loop = _CAUSAL_TEXT[begin:end]
    whole = edited(
        loop,
        ("min(l_size, tl.program_id(0) * ROWS + ROWS)", "full"),
        (" & (l[None, :] <= m[:, None])", ""),
    )
    diagonal = edited(loop, ("in range(0,", "in range(full,"))
    full = "    full = min(l_size // BLOCK * BLOCK, tl.program_id(0) * ROWS)\n"
    return _CAUSAL_TEXT[:begin] + full + whole + diagonal + _CAUSAL_TEXT[end:]


def _with_rest(text: str) -> str:
    """Return attention with a loop over whole tiles, and a branch for the rest."""
    begin, end = text.index("    for start in range"), text.index("    out_mask =")
    first, body = text[begin:end].split("\n", 1)
    whole = first.replace("l_size", "l_size // BLOCK * BLOCK")
    rest = "    if l_size % BLOCK != 0:\n        start = l_size // BLOCK * BLOCK"
    return text[:begin] + "\n".join((whole, body + rest, body)) + text[end:]


# Each lane has a maximum and a sum of its own in the loop; they are put together after it.
IN_LANES: tuple[Edit, ...] = (
    ('peak = tl.full((), float("-inf")', "peaks = tl.full((BLOCK,), -1.2676506002282294e30"),
    ("total = tl.full((), 0.0", "totals = tl.full((BLOCK,), 0.0"),
    ("new_peak = tl.maximum(peak, tl.max(x, axis=0))", "new_peaks = tl.maximum(peaks, x)"),
    (
        "total = total * tl.exp(peak - new_peak) + tl.sum(tl.exp(x - new_peak), axis=0)",
        "totals = totals * tl.exp(peaks - new_peaks) + tl.exp(x - new_peaks)",
    ),
    (
        "        peak = new_peak\n",
        "        peaks = new_peaks\n    peak = tl.max(peaks, axis=0)\n"
        "    total = tl.sum(totals * tl.exp(peaks - peak), axis=0)\n",
    ),
)
# The weights of a softmin, relative to the smallest so far.
OF_LEAST: tuple[Edit, ...] = (
    ('other=-float("inf")', 'other=float("inf")'),
    ('float("-inf")', 'float("inf")'),
    ("tl.maximum", "tl.minimum"),
    ("tl.max(", "tl.min("),
    ("peak - new_peak", "new_peak - peak"),
    ("x - new_peak", "new_peak - x"),
    ("x - peak", "peak - x"),
)
SOFTMIN: tuple[Edit, ...] = (
    ("rmax", "rmin"),
    (
        "logits[row, col] - reshape(peak[row], row, 1)",
        "reshape(peak[row], row, 1) - logits[row, col]",
    ),
)
# The logarithm of the sum alone: there is no second walk.
AS_LSE: tuple[Edit, ...] = (
    ("softmax, logits", "lse, logits"),
    (" softmax.stride(0),", ""),
    ("reach(softmax) < 2**31", "reach(lse) < 2**31"),
    ("in_stride, out_stride,", "in_stride,"),
)
OF_LSE = """
Func peak, numerator, total, lse; In logits; Var row; RVar col;
peak[row] = rmax(logits[row, col], col);
numerator[row, col] = exp(logits[row, col] - reshape(peak[row], row, 1));
total[row] = rsum(numerator[row, col], col);
lse[row] = log(total[row]) + peak[row];
"""


def _lse() -> str:
    """Return a kernel that walks over a row once and stores the logarithm of its sum."""
    end = SOFTMAX.index("    for start", SOFTMAX.index("        peak = new_peak"))
    text = edited(SOFTMAX[:end], *AS_LSE)
    return text + "    tl.store(out_ptr + row, tl.log(total) + peak)\n"


@dataclass(frozen=True)
class RunningText:
    """A text, the algorithm that it is proved to compute, and sizes at which it is run."""

    algorithm: str
    text: str
    sizes: Mapping[str, int]


_OF_CAUSAL = edited(OF_ATTENTION, *CAUSAL)
_OF_WINDOW = edited(_OF_CAUSAL, WINDOW)
_WINDOW_TEXT = edited(_CAUSAL_TEXT, IN_WINDOW, BEGINS_LATE, SQUARE)
_SIZES = {"m": 70, "l": 40, "k": 20, "n": 18}
_SQUARE = {"m": 200, "l": 200, "k": 5, "n": 3}


def _attention(text: str, *edits: Edit, of: str = OF_ATTENTION) -> RunningText:
    return RunningText(of, edited(text, *edits), _SIZES)


RIGHT: Mapping[str, RunningText] = {
    "softmax": RunningText(OF_SOFTMAX, SOFTMAX, {"row": 3, "col": 300}),
    "softmax, lanes": RunningText(OF_SOFTMAX, edited(SOFTMAX, *IN_LANES), {"row": 3, "col": 300}),
    "softmin": RunningText(
        edited(OF_SOFTMAX, *SOFTMIN), edited(SOFTMAX, *OF_LEAST), {"row": 3, "col": 300}
    ),
    "log-sum-exp": RunningText(OF_LSE, _lse(), {"row": 3, "col": 300}),
    "attention": _attention(ATTENTION),
    "attention, finite start": _attention(ATTENTION, START, *NO_PROMISE),
    "attention, guard": _attention(ATTENTION, GUARD),
    "attention, f16": _attention(ATTENTION, START, *IN_F16, of=edited(OF_ATTENTION, F16)),
    "attention, no promise": _attention(ATTENTION, GUARD, *NO_PROMISE),
    "attention, bf16": _attention(
        ATTENTION, START, *IN_F16, IN_BF16, of=edited(OF_ATTENTION, BF16)
    ),
    "attention, divided before": _attention(ATTENTION, SOME_KEY, of=edited(OF_ATTENTION, DIVIDED)),
    "attention, scale": _attention(ATTENTION, SCALED, of=edited(OF_ATTENTION, SCALE)),
    "attention, scale of top": _attention(ATTENTION, *SCALED_LATE, of=edited(OF_ATTENTION, SCALE)),
    "attention, scale of differences": _attention(
        ATTENTION, *SCALED_LAST, of=edited(OF_ATTENTION, SCALE)
    ),
    "attention, exp2": _attention(ATTENTION, *IN_TWOS, of=edited(OF_ATTENTION, SCALE)),
    "attention, exp2, finite start": _attention(
        ATTENTION, START, *IN_TWOS, of=edited(OF_ATTENTION, SCALE)
    ),
    "attention, exp2, guard": _attention(
        ATTENTION, *IN_TWOS, GUARD_OF_TWOS, of=edited(OF_ATTENTION, SCALE)
    ),
    "attention, exp2 of differences": _attention(
        ATTENTION, *IN_TWOS_LATE, of=edited(OF_ATTENTION, SCALE)
    ),
    "attention, a rest": _attention(_with_rest(edited(ATTENTION, START, *NO_PROMISE))),
    "attention, a rest, f16": _attention(
        _with_rest(edited(ATTENTION, START, *IN_F16)), of=edited(OF_ATTENTION, F16)
    ),
    "causal": _attention(_CAUSAL_TEXT, of=_OF_CAUSAL),
    "causal, finite start": _attention(_CAUSAL_TEXT, START, of=_OF_CAUSAL),
    "causal, two loops": _attention(_chained(), of=_OF_CAUSAL),
    "causal, two loops, finite start": _attention(_chained(), START, of=_OF_CAUSAL),
    "window, finite start": RunningText(_OF_WINDOW, edited(_WINDOW_TEXT, START), _SQUARE),
    "window, guard": RunningText(_OF_WINDOW, edited(_WINDOW_TEXT, GUARD), _SQUARE),
    "attention, lse, top": _attention(ATTENTION, *WITH_LSE, of=edited(OF_ATTENTION, *LSE)),
    "attention, lse, top, finite start": _attention(
        ATTENTION, START, *WITH_LSE, of=edited(OF_ATTENTION, *LSE)
    ),
    "attention, total, top": _attention(ATTENTION, *WITH_TOTAL),
    "attention, total, top, finite start": _attention(ATTENTION, START, *WITH_TOTAL),
}
# All is as in the text that is right, but where a program's first tile has none of the elements of
# a row, the first maximum of the row is minus infinity, and less itself that is a nan.
WINDOW_OF_NANS = RunningText(_OF_WINDOW, _WINDOW_TEXT, _SQUARE)


@cache
def algorithm_of(text: str) -> Program:
    """Return the Program of an algorithm without a schedule."""
    return written(text)
