"""Mistakes in kernels that keep sums in the frame of a running maximum: none of them is proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.running_texts import RIGHT, algorithm_of

# What is replaced by what. A mistake is made in each text that has what is replaced.
MISTAKES: dict[str, tuple[str, str]] = {
    # The correction.
    "no correction of the sum": ("total = total * correction +", "total = total +"),
    "no correction of the product": ("        acc = acc * correction[:, None]\n", ""),
    "no correction of either": ("correction = tl.exp(top - ", "correction = tl.exp(new_top - "),
    "the correction is upside down": ("tl.exp(top - new_top)", "tl.exp(new_top - top)"),
    "a correction is made twice": (
        "acc * correction[:, None]",
        "acc * (correction * correction)[:, None]",
    ),
    "a correction is of other rows": ("correction[:, None]", "correction[None, :]"),
    "a correction is halved": ("total * correction", "total * correction * 0.5"),
    "a correction is a difference": ("tl.exp(top - new_top)", "(top - new_top)"),
    "a correction is half an exponent": ("tl.exp(top - new_top)", "tl.exp((top - new_top) * 0.5)"),
    "a correction is of the sum too": (
        "total = total * correction + tl.sum(e, 1)",
        "total = (total + tl.sum(e, 1)) * correction",
    ),
    "the product is corrected afterwards": (
        "        acc = acc * correction[:, None]\n        acc = tl.dot(e, values, acc, "
        'input_precision="ieee")\n',
        '        acc = tl.dot(e, values, acc, input_precision="ieee")\n'
        "        acc = acc * correction[:, None]\n",
    ),
    # The frame.
    "the old maximum for the new one": ("(scores - new_top[:, None]", "(scores - top[:, None]"),
    "no maximum in the exponents": ("(scores - new_top[:, None])", "(scores)"),
    "the maximum is set too early": (
        "        correction =",
        "        top = new_top\n        correction =",
    ),
    "the maximum is never set": ("        top = new_top\n", ""),
    "the maximum forgets": (
        "new_top = tl.maximum(top, tl.max(scores, 1)",
        "new_top = tl.maximum(tl.max(scores, 1), tl.max(scores, 1)",
    ),
    "the maximum stays": ("new_top = tl.maximum(top, ", "new_top = tl.maximum(top, top + 0.0 * "),
    "the maximum is a minimum": ("tl.max(scores, 1)", "tl.min(scores, 1)"),
    "the smaller one of two": ("new_top = tl.maximum(", "new_top = tl.minimum("),
    "the maximum is of what is squared": ("tl.max(scores, 1)", "tl.max(scores * scores, 1)"),
    "the maximum is a sum": ("tl.max(scores, 1)", "tl.sum(scores, 1)"),
    "the maximum is too large": ("tl.max(scores, 1)", "(tl.max(scores, 1) + 200.0)"),
    "the maximum is too small": ("tl.max(scores, 1)", "(tl.max(scores, 1) - 200.0)"),
    "the maximum is half": ("tl.max(scores, 1)", "(tl.max(scores, 1) * 0.5)"),
    "the maximum is of the products before": (
        "        new_top =",
        "        new_top = tl.maximum(top, tl.max(tl.dot(q, keys), 1))\n        old_top =",
    ),
    "the maximum starts with 0": (
        'top = tl.full((ROWS,), float("-inf")',
        "top = tl.full((ROWS,), 0.0",
    ),
    "the maximum starts with -100": (
        'top = tl.full((ROWS,), float("-inf")',
        "top = tl.full((ROWS,), -100.0",
    ),
    "the maximum starts with 2**100": (
        'top = tl.full((ROWS,), float("-inf")',
        "top = tl.full((ROWS,), 1.2676506002282294e30",
    ),
    "the maximum starts with infinity": ('(ROWS,), float("-inf")', '(ROWS,), float("inf")'),
    "the finite start is above 0": ("-1.2676506002282294e30", "1.2676506002282294e30"),
    "the finite start is 0": ("-1.2676506002282294e30", "0.0"),
    "the finite start is not low": ("-1.2676506002282294e30", "-1000000.0"),
    "the frame is the minimum in the end": ("        top = new_top\n", "        top = -new_top\n"),
    "another maximum is kept": ("        top = new_top\n", "        top = new_top + 1.0\n"),
    # The sums.
    "the sum starts with 1": (
        "total = tl.zeros((ROWS,), tl.float32)",
        "total = tl.full((ROWS,), 1.0, tl.float32)",
    ),
    "the product starts with 1": (
        "acc = tl.zeros((ROWS, COLS), tl.float32)",
        "acc = tl.full((ROWS, COLS), 1.0, tl.float32)",
    ),
    "scores are summed": ("tl.sum(e, 1)", "tl.sum(scores, 1)"),
    "the largest is taken for the sum": ("tl.sum(e, 1)", "tl.max(e, 1)"),
    "a sum is counted twice": ("tl.sum(e, 1)", "tl.sum(e + e, 1)"),
    "the sum is set anew": ("total = total * correction + tl.sum(e, 1)", "total = tl.sum(e, 1)"),
    "the product is set anew": (
        '        acc = tl.dot(e, values, acc, input_precision="ieee")',
        '        acc = tl.dot(e, values, input_precision="ieee")',
    ),
    "the product is taken away": (
        '        acc = tl.dot(e, values, acc, input_precision="ieee")',
        '        acc = acc - tl.dot(e, values, input_precision="ieee")',
    ),
    "the product is of scores": ("acc = tl.dot(e, ", "acc = tl.dot(scores, "),
    "the product is in tf32": (
        'tl.dot(e, values, acc, input_precision="ieee")',
        "tl.dot(e, values, acc)",
    ),
    "an exponential is squared": (
        "        total = total *",
        "        e = e * e\n        total = total *",
    ),
    "an exponential has another sign": ("(scores - new_top[:, None]", "(new_top[:, None] - scores"),
    # The end.
    "it is not divided": ("acc / total[:, None]", "acc"),
    "it is divided by the maximum": ("acc / total[:, None]", "acc / top[:, None]"),
    "it is divided by one more": ("acc / total[:, None]", "acc / (total + 1.0)[:, None]"),
    "it is multiplied": ("acc / total[:, None]", "acc * total[:, None]"),
    "it is divided by other rows": ("acc / total[:, None]", "acc / total[None, :]"),
    "it is corrected once more": (
        "acc / total[:, None]",
        "acc * tl.exp(top)[:, None] / total[:, None]",
    ),
    # Tiles and masks.
    "a tile too few at the end": ("range(0, l_size, BLOCK)", "range(0, l_size - BLOCK, BLOCK)"),
    "only whole tiles": ("range(0, l_size, BLOCK)", "range(0, l_size // BLOCK * BLOCK, BLOCK)"),
    "a tile too few at the start": ("range(0, l_size, BLOCK)", "range(BLOCK, l_size, BLOCK)"),
    "every second tile": ("range(0, l_size, BLOCK)", "range(0, l_size, 2 * BLOCK)"),
    "tiles overlap": ("range(0, l_size, BLOCK)", "range(0, l_size, BLOCK // 2)"),
    "a mask is one too wide": ("tl.where((l < l_size)", "tl.where((l <= l_size)"),
    "a mask is one too narrow": ("tl.where((l < l_size)", "tl.where((l < l_size - 1)"),
    "there is no mask": (
        "scores = tl.where((l < l_size)",
        "scores = tl.where((l < l_size + BLOCK)",
    ),
    "a mask leaves 0": ('scores, float("-inf"))', "scores, 0.0)"),
    "a mask leaves a number": ('scores, float("-inf"))', "scores, -10000.0)"),
    "a mask leaves infinity": ('scores, float("-inf"))', 'scores, float("inf"))'),
    "what is masked is not 0": (
        "mask=v_mask, other=0.0)",
        'mask=v_mask, other=float("inf"))',
    ),
    "what is masked is anything": ("mask=v_mask, other=0.0)", "mask=v_mask)"),
    "keys that are masked are anything": ("mask=k_mask, other=0.0)", "mask=k_mask)"),
    "the maximum is before the mask": (
        '        scores = tl.where((l < l_size)[None, :], scores, float("-inf"))\n'
        "        new_top = tl.maximum(top, tl.max(scores, 1))\n",
        "        new_top = tl.maximum(top, tl.max(scores, 1))\n"
        '        scores = tl.where((l < l_size)[None, :], scores, float("-inf"))\n',
    ),
    "values of another tile": ("v_ptr + l[:, None]", "v_ptr + (l[:, None] + BLOCK)"),
    "values are of keys": ("v_ptr + l[:, None] * v_stride", "v_ptr + l[:, None] * k_stride"),
    "keys of one tile": ("k_ptr + l[None, :]", "k_ptr + (l[None, :] - start)"),
    # Causal attention and windows.
    "the diagonal is left out": ("l[None, :] <= m[:, None]", "l[None, :] < m[:, None]"),
    "one beyond the diagonal": ("l[None, :] <= m[:, None]", "l[None, :] <= m[:, None] + 1"),
    "the other side of the diagonal": ("l[None, :] <= m[:, None]", "l[None, :] >= m[:, None]"),
    "no diagonal": (" & (l[None, :] <= m[:, None])", ""),
    "tiles end before the diagonal": ("* ROWS + ROWS), BLOCK", "* ROWS), BLOCK"),
    "tiles end one before the diagonal": ("* ROWS + ROWS), BLOCK", "* ROWS + ROWS - BLOCK), BLOCK"),
    "whole tiles reach beyond the diagonal": (
        "BLOCK * BLOCK, tl.program_id(0) * ROWS)",
        "BLOCK * BLOCK, tl.program_id(0) * ROWS + ROWS)",
    ),
    "a tile between two loops is left out": ("range(full, min", "range(full + BLOCK, min"),
    "the second loop starts over": ("range(full, min", "range(0, min"),
    "the first loop starts late": ("range(0, full,", "range(BLOCK, full,"),
    "a window is one too wide": ("l[None, :] < 100", "l[None, :] <= 100"),
    "a window is one too narrow": ("l[None, :] < 100", "l[None, :] < 99"),
    "a window has no end": (" & (m[:, None] - l[None, :] < 100)", ""),
    "a window begins a tile too late": ("* ROWS - 99)", "* ROWS - 64)"),
    # Guards.
    "a guard is of the old maximum": ("tl.where(new_top ==", "tl.where(top =="),
    "a guard is of another number": ('new_top == float("-inf")', "new_top == 0.0"),
    "a guard gives infinity": ("0.0, new_top)", 'float("-inf"), new_top)'),
    "a guard is of the exponents alone": ("tl.exp(top - safe_top)", "tl.exp(top - new_top)"),
    "a guard is of the correction alone": (
        "tl.exp(scores - safe_top[:, None])",
        "tl.exp(scores - new_top[:, None])",
    ),
    "a guard is turned": ("0.0, new_top)", "new_top, 0.0)"),
    "a guard is of both maxima": (
        "tl.exp(top - safe_top)",
        'tl.exp(tl.where(top == float("-inf"), 0.0, top) - safe_top)',
    ),
    # Scales.
    "a scale is left out": ("        scores = scores * 0.125\n", ""),
    "another scale": ("scores * 0.125", "scores * 0.25"),
    "a scale of the maximum alone": ("tl.exp(scores * 0.125 - new_top", "tl.exp(scores - new_top"),
    "a scale of the exponents alone": ("tl.max(scores, 1) * 0.125", "tl.max(scores, 1)"),
    "a scale below 0": ("0.125", "-0.125"),
    "a correction without the scale": ("(top - new_top) * 0.125", "(top - new_top)"),
    "an exponent without the scale": (
        "(scores - new_top[:, None]) * 0.125",
        "(scores - new_top[:, None])",
    ),
    # Base 2.
    "exp2: no factor": (" * 1.4426950408889634)", ")"),
    "exp2: another factor": ("1.4426950408889634", "1.4427"),
    "exp2: the factor of base 10": ("1.4426950408889634", "0.4342944819032518"),
    "exp2: exp of a correction": ("correction = tl.exp2(top", "correction = tl.exp(top"),
    "exp2: exp of scores": ("e = tl.exp2(scores", "e = tl.exp(scores"),
    "exp2: the old maximum": ("tl.exp2(scores - new_top", "tl.exp2(scores - top"),
    "exp2: another scale": ("(0.125 *", "(0.25 *"),
    "exp2: a factor of differences alone": (
        "(top - new_top) * 0.18033688011112042",
        "(top - new_top)",
    ),
    "exp2: another factor of differences": (
        "(scores - new_top[:, None]) * 0.18033688011112042",
        "(scores - new_top[:, None]) * 0.18034",
    ),
    # Types.
    "a weight in another type": ("e.to(tl.float16)", "e.to(tl.float8e5)"),
    "a weight in bf16": ("e.to(tl.float16)", "e.to(tl.bfloat16).to(tl.float16)"),
    "a correction in bf16": (
        "correction = tl.exp(top - new_top)",
        "correction = tl.exp(top - new_top).to(tl.bfloat16).to(tl.float32)",
    ),
    "a correction in f16": (
        "correction = tl.exp(top - new_top)",
        "correction = tl.exp(top - new_top).to(tl.float16).to(tl.float32)",
    ),
    "a sum in f16": ("tl.sum(e, 1)", "tl.sum(e, 1).to(tl.float16)"),
    "weights of f32 in f16": (
        'tl.dot(e, values, acc, input_precision="ieee")',
        'tl.dot(e.to(tl.float16).to(tl.float32), values, acc, input_precision="ieee")',
    ),
    "scores in f16": (
        "        new_top =",
        "        scores = scores.to(tl.float16).to(tl.float32)\n        new_top =",
    ),
    # The logarithm of the sum.
    "the maximum is taken away": ("tl.log(total) + top", "tl.log(total) - top"),
    "the logarithm alone": ("tl.log(total) + top", "tl.log(total)"),
    "another logarithm": ("tl.log(total) + top", "tl.log2(total) + top"),
    "the maximum twice": ("tl.log(total) + top", "tl.log(total) + top + top"),
    "the sum is stored without its frame": (
        "lse_ptr + m, total,",
        "lse_ptr + m, total * tl.exp(top),",
    ),
    "the maximum is stored with its sign changed": ("top_ptr + m, top,", "top_ptr + m, -top,"),
    "the sum is stored for the maximum": ("top_ptr + m, top,", "top_ptr + m, total,"),
    "rows may be empty": (", len(l) >= 1", ""),
    # Softmax.
    "softmax: no correction": ("total * tl.exp(peak - new_peak)", "total"),
    "softmax: the correction is upside down": ("peak - new_peak", "new_peak - peak"),
    "softmax: the old maximum": ("tl.exp(x - new_peak)", "tl.exp(x - peak)"),
    "softmax: the maximum is set too early": (
        "        total = total *",
        "        peak = new_peak\n        total = total *",
    ),
    "softmax: the maximum is never set": ("        peak = new_peak\n", ""),
    "softmax: the maximum forgets": ("tl.maximum(peak, ", "tl.maximum(tl.max(x, axis=0), "),
    "softmax: the maximum starts with 0": ('tl.full((), float("-inf")', "tl.full((), 0.0"),
    "softmax: the sum starts with 1": (
        "tl.full((), 0.0, tl.float32)",
        "tl.full((), 1.0, tl.float32)",
    ),
    "softmax: the sum is of values": ("tl.sum(tl.exp(x - new_peak), axis=0)", "tl.sum(x, axis=0)"),
    "softmax: masked values are 0": ('other=-float("inf")', "other=0.0"),
    "softmax: a tile too few": ("range(0, n_cols, BLOCK)", "range(0, n_cols - BLOCK, BLOCK)"),
    "softmax: a mask too wide": ("mask=cols < n_cols, other", "mask=cols <= n_cols, other"),
    "softmax: no sum": ("tl.exp(x - peak) / total", "tl.exp(x - peak)"),
    "softmax: no maximum": ("tl.exp(x - peak) / total", "tl.exp(x) / total"),
    "softmax: twice the maximum": ("tl.exp(x - peak) / total", "tl.exp(x - peak - peak) / total"),
    # Lanes, each with its own maximum.
    "lanes: no correction": ("totals * tl.exp(peaks - new_peaks)", "totals"),
    "lanes: put together without correction": ("totals * tl.exp(peaks - peak)", "totals"),
    "lanes: the correction is upside down": ("tl.exp(peaks - peak)", "tl.exp(peak - peaks)"),
    "lanes: corrected by no maximum": ("tl.exp(peaks - peak)", "tl.exp(peaks)"),
    "lanes: the smallest maximum": ("tl.max(peaks, axis=0)", "tl.min(peaks, axis=0)"),
    "lanes: the sum of maxima": ("tl.max(peaks, axis=0)", "tl.sum(peaks, axis=0)"),
    "lanes: the largest sum": ("tl.sum(totals *", "tl.max(totals *"),
    "lanes: empty lanes are nans": (
        "peaks = tl.full((BLOCK,), -1.2676506002282294e30",
        'peaks = tl.full((BLOCK,), float("-inf")',
    ),
    "lanes: they start with 0": ("-1.2676506002282294e30", "0.0"),
    "lanes: the old maximum": ("tl.exp(x - new_peaks)", "tl.exp(x - peaks)"),
    "lanes: the maximum forgets": ("tl.maximum(peaks, x)", "tl.maximum(x, x)"),
    "lanes: corrected twice": (
        "totals * tl.exp(peaks - peak)",
        "totals * tl.exp(peaks - peak) * tl.exp(peaks - peak)",
    ),
    # The least so far.
    "softmin: a maximum": ("tl.minimum(", "tl.maximum("),
    "softmin: the correction is upside down": ("new_peak - peak", "peak - new_peak"),
    "softmin: another sign": ("new_peak - x", "x - new_peak"),
    "softmin: it starts with -inf": ('tl.full((), float("inf")', 'tl.full((), float("-inf")'),
    "softmin: no correction": ("total * tl.exp(new_peak - peak)", "total"),
    # The logarithm alone.
    "lse: it is not added": ("tl.log(total) + peak)", "tl.log(total))"),
    "lse: it is taken away": ("tl.log(total) + peak)", "tl.log(total) - peak)"),
    "lse: no logarithm": ("tl.log(total) + peak)", "total + peak)"),
    "lse: the logarithm of the maximum": ("tl.log(total) + peak)", "tl.log(total + peak))"),
    "softmax: another row": ("row * in_stride + cols", "(row + 1) * in_stride + cols"),
}
# Mistakes that change nothing. In a window l is at most m, which is below the size of l.
HARMLESS = {
    (mistake, f"window, {kind}")
    for mistake in ("a mask is one too wide", "there is no mask")
    for kind in ("finite start", "guard")
} | {
    ("rows may be empty", "attention, lse, top"),
    ("rows may be empty", "attention, total, top"),
    ("scores in f16", "attention, f16"),  # the language allows it
    # Where keys end before a program's rows begin, the first loop has the last tile, and masks it.
    ("whole tiles reach beyond the end", "causal, two loops"),
    ("whole tiles reach beyond the end", "causal, two loops, finite start"),
}
# A mistake is made in so many texts: other mistakes differ more than other texts.
MOST_TEXTS = 4


def mutants() -> Iterator[tuple[str, str]]:
    """Yield the mistakes, each with the texts that it is made in, the quickest ones first."""
    for mistake, (old, _) in MISTAKES.items():
        names = (name for name, one in RIGHT.items() if old in one.text)
        usable = [name for name in names if (mistake, name) not in HARMLESS]
        for name in sorted(usable, key=lambda name: ", top" in name)[:MOST_TEXTS]:
            yield mistake, name


@pytest.mark.long
@pytest.mark.parametrize(("mistake", "name"), [*mutants()])
def test_a_mistake_is_not_proved(mistake: str, name: str) -> None:
    old, new = MISTAKES[mistake]
    one = RIGHT[name]
    report = verify(algorithm_of(one.algorithm), one.text.replace(old, new))
    assert report.verdict in (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN)
