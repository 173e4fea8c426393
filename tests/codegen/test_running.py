"""Mistakes planted in generated files are found: no test of this folder passes by itself."""

import re
from collections.abc import Callable

import pytest

from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.listings import code, program
from tests.codegen.running import Wrong, compared, imported

Change = Callable[[str], str]
OUTSIDE = "outside of every tensor"
# What lies behind a tensor may be the result, which other programs write.
RACE = "nothing orders the two"


def without(pattern: str, by: str = "", count: int = 1) -> Change:
    """Return the text with some matches of a pattern replaced; it must have one."""

    def change(text: str) -> str:
        changed, found = re.subn(pattern, by, text, count=count)
        assert found, pattern
        return changed

    return change


# Listing, what is wrong in its file, sizes that show it, and what is said.
PLANTED: dict[str, tuple[str, Change, dict[str, int], str]] = {
    "a load without a mask": (
        "listing_4_02_softmax",
        without(r"mask=x_mask\[:, None\],\s+other=0\.0,"),
        {"x": 5, "y": 513},
        f"{OUTSIDE}|{RACE}",
    ),
    "a store without a mask": (
        "listing_3_10_relu_block_tensorize",
        without(r"(?s)(tl\.store\((?:(?!mask).)*),\s*mask=[^)]*?,?\n", r"\1\n", 0),
        {"x": 5, "y": 129},
        OUTSIDE,
    ),
    "a mask that lets one more through": (
        "listing_3_19_sum_tensorize",
        without(r"k < k_size", "k <= k_size"),
        {"x": 3, "k": 17},
        OUTSIDE,
    ),
    "a mask that keeps the last one out": (
        "listing_3_19_sum_tensorize",
        without(r"k < k_size", "k < k_size - 1"),
        {"x": 3, "k": 17},
        "is",
    ),
    "a sum that forgets what was before": (
        "listing_3_19_sum_tensorize",
        without(r"sum_out_acc \+=", "sum_out_acc ="),
        {"x": 3, "k": 33},
        "is",
    ),
    "no identity for lanes without an element": (
        "listing_4_02_softmax",
        without(r"tl\.where\((\w+)\[None, :\], (.*), 0\.0\)", r"\2"),
        {"x": 5, "y": 129},
        "is",
    ),
    "axes mixed up": (
        "listing_4_03_2mm",
        without("A_ptr, A_stride_0, A_stride_1,", "A_ptr, A_stride_1, A_stride_0,"),
        {"m": 17, "n": 5, "k": 17, "l": 3},
        "is|outside",
    ),
    "an operand forgotten": (
        "listing_3_01_add",
        without(r"\+ B_tile", "+ A_tile"),
        {"x": 3, "y": 64},
        "is",
    ),
    "accumulated in half precision": (
        "listing_3_19_sum_tensorize",
        without(r"def dt_real\(.*:\n", r"\g<0>    return tl.float16\n"),
        {"x": 3, "k": 131},
        "is",
    ),
    "a column that is not written": (
        "listing_3_05_relu",
        without(r"tl\.range\(0, y_size\)", "tl.range(1, y_size)"),
        {"x": 3, "y": 2},
        "is nan",
    ),
    "the last block is missing": (
        "listing_3_08_relu_block",
        without(r'"programs": \("(.*?)"', r'"programs": ("\1 - 1"'),
        {"x": 17, "y": 3},
        "is nan",
    ),
    "another value for the padding": (
        "listing_4_04_attention",
        without(r"/ tl\.sqrt\(tl\.cast\(l_size, real\)\)", "/ tl.sqrt(tl.cast(k_size, real))"),
        {"m": 5, "n": 5, "k": 17, "l": 3},
        "is",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str) -> None:
    listing, change, sizes, told = PLANTED[name]
    text = code(listing).text
    outputs = code(listing).stages.outputs
    recipe = Recipe(layout=Layout.SLICED, data=Data.RANDOM)
    inputs = recipe.inputs(program(listing), sizes)
    compared(imported(text), program(listing), outputs, inputs, sizes)
    with pytest.raises(Exception, match=told) as found:
        compared(imported(change(text)), program(listing), outputs, inputs, sizes)
    said = str(found.value)
    assert isinstance(found.value, Wrong) or OUTSIDE in said or RACE in said


def test_a_write_between_the_elements_of_an_output_is_found() -> None:
    listing, sizes = "listing_3_05_relu", {"x": 3, "y": 2}
    outputs = code(listing).stages.outputs
    wrong = without(r"y \* relu_out_stride_1", "y")(code(listing).text)
    inputs = Recipe().inputs(program(listing), sizes)
    for watched, told in ((True, OUTSIDE), (False, "writes beside its output|is nan")):
        with pytest.raises(Exception, match=told):
            compared(
                imported(wrong),
                program(listing),
                outputs,
                inputs,
                sizes,
                layout=Layout.SLICED,
                watched=watched,
            )
