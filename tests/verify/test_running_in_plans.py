"""Files that dtpoly wrote, with a running maximum in the place of two walks over a row.

They have what a compiler writes: a plan, loops over whole tiles with a branch for the rest, and no
promise of callers.
"""

import pytest

from dtpoly.ring.trying import Equal, tried
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import ROOT, changed, program_of, text_of

PROGRAM = program_of(ROOT / "examples/wide_softmax.dt")
# Each lane has a maximum and a sum of its own.
IN_LANES = """    top_acc = tl.full((16384,), -1.2676506002282294e30, real)
    total_acc = tl.full((16384,), 0.0, real)
    A_at_x_start = A_ptr + x_start * A_stride_0
    for y_start in tl.range(0, y_size - 16383, 16384):
        y = (y_start + tl.arange(0, 16384)).to(offset)
        A_tile = tl.load(A_at_x_start + y * A_stride_1).to(real)
        top_new = dt_max(top_acc, A_tile)
        total_acc = total_acc * tl.exp(top_acc - top_new) + tl.exp(A_tile - top_new)
        top_acc = top_new
    if not even and y_size % 16384 != 0:
        y_start = y_size - (y_size % 16384)
        y = (y_start + tl.arange(0, 16384)).to(offset)
        y_mask = y < y_size
        A_tile = tl.load(A_at_x_start + y * A_stride_1, mask=y_mask, other=0.0).to(real)
        top_new = dt_max(top_acc, tl.where(y_mask, A_tile, float("-inf")))
        e = tl.where(y_mask, tl.exp(A_tile - top_new), 0.0)
        total_acc = total_acc * tl.exp(top_acc - top_new) + e
        top_acc = top_new
    top_max = tl.reduce(top_acc, 0, dt_max)
    total_sum = tl.sum(total_acc * tl.exp(top_acc - top_max), 0)
"""
# A row has one maximum and one sum.
ROWS = (
    ("tl.full((16384,),", "tl.full((),"),
    ("dt_max(top_acc, A_tile)", "dt_max(top_acc, tl.reduce(A_tile, 0, dt_max))"),
    ("+ tl.exp(A_tile - top_new)", "+ tl.sum(tl.exp(A_tile - top_new), 0)"),
    (
        'tl.where(y_mask, A_tile, float("-inf"))',
        'tl.reduce(tl.where(y_mask, A_tile, float("-inf")), 0, dt_max)',
    ),
    ("+ e\n", "+ tl.sum(e, 0)\n"),
    ("tl.reduce(top_acc, 0, dt_max)", "top_acc"),
    ("tl.sum(total_acc * tl.exp(top_acc - top_max), 0)", "total_acc"),
)


def _text(walk: str) -> str:
    written = text_of(PROGRAM)
    begin, end = written.index("    top_acc = "), written.index("    wide_softmax_at_x_start = ")
    return written[:begin] + walk + written[end:]


def _in_rows() -> str:
    walk = IN_LANES
    for old, new in ROWS:
        walk = changed(walk, old, new, -1)
    return walk


WALKS = {"lanes": IN_LANES, "rows": _in_rows()}


@pytest.mark.parametrize("name", WALKS)
def test_it_is_proved(name: str) -> None:
    report = verify(PROGRAM, _text(WALKS[name]))
    assert [one for one in report.layers if one.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("name", WALKS)
def test_it_agrees_in_the_ring(name: str) -> None:
    assert isinstance(tried(PROGRAM, _text(WALKS[name]), "wide_softmax", 20.0), Equal)


MISTAKES = {
    "no correction": ("total_acc * tl.exp(top_acc - top_new) + tl", "total_acc + tl"),
    "no correction in the rest": ("total_acc * tl.exp(top_acc - top_new) + e", "total_acc + e"),
    "no correction in the rest of rows": (
        "total_acc * tl.exp(top_acc - top_new) + tl.sum(e",
        "total_acc + tl.sum(e",
    ),
    "the rest forgets": (
        "dt_max(top_acc, tl.where(y_mask, A_tile",
        "dt_max(A_tile, tl.where(y_mask, A_tile",
    ),
    "the rest has the old maximum": (
        "e = tl.where(y_mask, tl.exp(A_tile - top_new)",
        "e = tl.where(y_mask, tl.exp(A_tile - top_acc)",
    ),
    "the rest has no mask": (
        "e = tl.where(y_mask, tl.exp(A_tile - top_new), 0.0)",
        "e = tl.exp(A_tile - top_new)",
    ),
    "the maximum of the rest has no mask": ('tl.where(y_mask, A_tile, float("-inf"))', "A_tile"),
    "the maximum of the rest is not kept": (
        "        top_acc = top_new\n    top_max",
        "    top_max",
    ),
    "the rest is done for whole rows": ("y_size % 16384 != 0:", "y_size % 16384 == 0:"),
    "it starts with minus infinity, and no promise": ("-1.2676506002282294e30", 'float("-inf")'),
    "it starts with 0": ("-1.2676506002282294e30", "0.0"),
    "lanes are put together without correction": (
        "total_acc * tl.exp(top_acc - top_max)",
        "total_acc",
    ),
    "lanes are put together upside down": (
        "tl.exp(top_acc - top_max)",
        "tl.exp(top_max - top_acc)",
    ),
    "a nan is lost": ("dt_max(top_acc, A_tile)", "tl.maximum(top_acc, A_tile)"),
    "a tile too few": ("tl.range(0, y_size - 16383, 16384)", "tl.range(0, y_size - 16384, 16384)"),
}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "mistake"),
    [(name, one) for one, (old, _) in MISTAKES.items() for name in WALKS if old in WALKS[name]],
)
def test_a_mistake_is_not_proved(name: str, mistake: str) -> None:
    report = verify(PROGRAM, _text(changed(WALKS[name], *MISTAKES[mistake], -1)))
    assert report.verdict in (LayerVerdict.REFUTED, LayerVerdict.UNKNOWN)
