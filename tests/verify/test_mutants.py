"""Emitted texts with one mistake: each is refuted, with sizes for which it goes wrong."""

from pathlib import Path

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, Report, verify
from tests.verify.texts import ROOT, changed, program_of, text_of

MATMUL = ROOT / "examples/matmul.dt"
SOFTMAX = ROOT / "examples/softmax.dt"
THESIS = ROOT / "tests/data/thesis"
ATTENTION = THESIS / "listing_4_04_attention.dt"
SWISH = THESIS / "listing_3_14_swish_partly_fused.dt"
TILES = THESIS / "listing_3_19_sum_tensorize.dt"
FULL = THESIS / "listing_3_15_swish_tensorized.dt"
RELU = THESIS / "listing_3_10_relu_block_tensorize.dt"

# What is done, to which file, what is replaced by what; and the layer that finds it.
MUTANTS: dict[str, tuple[Path, str, str, str]] = {
    "a mask of a store is dropped": (
        *(SOFTMAX, "            mask=x_mask[:, None],\n        )\n    if", "        )\n    if"),
        "bounds",
    ),
    "a mask of a store is weakened": (
        *(
            MATMUL,
            "mask=m_mask[:, None] & n_mask[None, :],\n    )\n",
            "mask=m_mask[:, None],\n    )\n",
        ),
        "bounds",
    ),
    "a mask of a load is dropped": (
        *(MATMUL, "            mask=n_mask[None, :],\n", ""),
        "bounds",
    ),
    "what is summed is not masked": (
        *(SOFTMAX, "tl.where(y_mask[None, :], tl.exp(A_tile), 0.0)", "tl.exp(A_tile)"),
        "lanes",
    ),
    "what is summed is not masked after exp": (
        *(ATTENTION, "tl.where(l_mask[None, :], e, 0.0)", "e"),
        "value",
    ),
    "a bound is one too small": (
        *(
            SOFTMAX,
            "total_acc = tl.full((4, 512), 0.0, real)",
            "y_size = y_size - 1\n    total_acc = tl.full((4, 512), 0.0, real)",
        ),
        "stores",
    ),
    "a loop stops early": (
        *(MATMUL, "range(0, k_size - 31, 32)", "range(0, k_size - 32, 32)"),
        "value",
    ),
    "a loop goes on too long": (
        *(MATMUL, "range(0, k_size - 31, 32)", "range(0, k_size, 32)"),
        "bounds",
    ),
    "a mask reaches one too far": (
        *(SOFTMAX, "y_mask = y < y_size", "y_mask = y <= y_size"),
        "bounds",
    ),
    "the last tile is left out": (
        *(MATMUL, "if not even and k_size % 32 != 0:", "if k_size % 32 == 1:"),
        "value",
    ),
    "strides are swapped": (
        *(MATMUL, "B_ptr + n * B_stride_1", "B_ptr + n * B_stride_0"),
        "bounds",
    ),
    "strides of the result are swapped": (
        *(
            MATMUL,
            "m[:, None] * matmul_stride_0 + n[None, :] * matmul_stride_1",
            "m[:, None] * matmul_stride_1 + n[None, :] * matmul_stride_0",
        ),
        "bounds",
    ),
    "what masked lanes load is another number": (
        *(TILES, "mask=k_mask, other=0.0", "mask=k_mask, other=1.0"),
        "lanes",
    ),
    "a sum starts with another number": (
        *(MATMUL, "tl.full((128, 64), 0.0, real)", "tl.full((128, 64), 1.0, real)"),
        "value",
    ),
    "a sum is not put to what is there": (
        *(MATMUL, "tl.dot(A_tile, B_tile, matmul_acc,", "tl.dot(A_tile, B_tile,"),
        "value",
    ),
    "a barrier is missing": (
        *(
            SWISH,
            "            tl.debug_barrier()\n            tmp_swish_out_value",
            "            tmp_swish_out_value",
        ),
        "order",
    ),
    "another barrier is missing": (
        *(SWISH, "            tl.debug_barrier()\n            tl.store", "            tl.store"),
        "order",
    ),
    "a loop may be pipelined": (
        *(SWISH, ", num_stages=1", ""),
        "order",
    ),
    "the grid is too small": (
        *(SOFTMAX, '"cdiv(x, 4)"', '"x // 4"'),
        "stores",
    ),
    "the grid is too large": (
        *(SOFTMAX, '"cdiv(x, 4)"', '"cdiv(x + 4, 4)"'),
        "stores",
    ),
    "program coordinates are exchanged": (
        *(RELU, "pid // x_blocks", "pid % x_blocks"),
        "stores",
    ),
    "blocks are counted by another size": (
        *(ATTENTION, "m_start = pid * 16", "m_start = pid * 8"),
        "stores",
    ),
    "an even flag is of another number": (
        *(MATMUL, '"even": "m % 128 == 0', '"even": "m % 64 == 0'),
        "bounds",
    ),
    "a full flag is always set": (
        *(FULL, '"even": "lanes(y) == y"', '"even": "y == y"'),
        "bounds",
    ),
    "a division is another operation": (
        *(SOFTMAX, "tl.exp(A_tile) / total_sum[:, None]", "tl.exp(A_tile) * total_sum[:, None]"),
        "value",
    ),
    "another function is applied": (*(SOFTMAX, "tl.exp(A_tile)", "tl.exp2(A_tile)"), "value"),
    "a size is another label's": (
        *(ATTENTION, "tl.sqrt(tl.cast(l_size, real))", "tl.sqrt(tl.cast(k_size, real))"),
        "value",
    ),
    "sizes are given in another order": (
        *(
            ATTENTION,
            '"m_size": "m", "n_size": "n"',
            '"m_size": "n", "n_size": "m"',
        ),
        "stores",
    ),
    "a sum is rounded on the way": (
        *(SOFTMAX, "tl.sum(total_acc, 1)", "tl.sum(total_acc, 1).to(tl.float16)"),
        "value",
    ),
    "a product is computed in fewer bits": (
        *(MATMUL, 'input_precision="ieee"', 'input_precision="tf32"'),
        "value",
    ),
    "a product has fewer bits by default": (
        *(MATMUL, 'input_precision="ieee", ', ""),
        "value",
    ),
    "the type of operands is too narrow": (
        *(
            ATTENTION,
            '"stored(A, B, C)"',
            '"stored(A)"',
        ),
        "value",
    ),
}


def layer_of(report: Report, name: str) -> tuple[LayerVerdict, ...]:
    return tuple(layer.verdict for layer in report.layers if layer.name == name)


@pytest.mark.sampled
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_refuted(name: str) -> None:
    path, old, new, layer = MUTANTS[name]
    program = program_of(path)
    report = verify(program, changed(text_of(program), old, new), seconds=60)
    assert LayerVerdict.REFUTED in layer_of(report, layer), report.layers
    wrong = [one for one in report.layers if one.verdict is LayerVerdict.REFUTED]
    assert all(one.line > 0 and one.why and one.example for one in wrong)


# What is told, but not refuted: no lemma is about these.
UNSURE: dict[str, tuple[Path, str, str]] = {
    "an operand of a product is transposed": (
        ATTENTION,
        "B_at_l[None, :] + k[:, None] * B_stride_0",
        "B_at_l[:, None] + k[None, :] * B_stride_0",
    ),
    "the last group of a map is taken as full": (
        *(MATMUL, "min(m_blocks - m_group_id * 8, 8)", "8"),
    ),
    "groups are of another size": (
        *(MATMUL, "m_group_id = pid // (8 * n_blocks)", "m_group_id = pid // (4 * n_blocks)"),
    ),
    "a launch only if another size is not 0": (
        *(SOFTMAX, '("cdiv(x, 4)",)', '("cdiv(x, 4)", "min(y, 1)")'),
    ),
}


@pytest.mark.parametrize("name", UNSURE)
def test_a_mistake_is_never_proved(name: str) -> None:
    path, old, new = UNSURE[name]
    program = program_of(path)
    report = verify(program, changed(text_of(program), old, new), seconds=60)
    assert LayerVerdict.UNKNOWN in layer_of(report, "value") + layer_of(report, "stores"), (
        report.layers
    )
