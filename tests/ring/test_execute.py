"""Every listing computes its algorithm bit for bit in the ring, and a wrong kernel does not."""

from math import ceil

import pytest

from dtpoly.algorithm.sizes import input_shapes, size_rules
from dtpoly.ring.execute import Agreement, agreement
from dtpoly.ring.interpreter import in_ring
from tests.codegen.listings import WITH_KERNELS, code, numbers, program

WRONG = {
    # A lane that is masked changes the sum that others are divided by.
    "no mask": ("tl.where(l_mask[None, :], e, 0.0)", "e"),
    "no tail": ("if not even and k_size % 16 != 0", "if k_size % 16 == 1"),
    "start": ("attention_acc = tl.full((16, 64), 0.0", "attention_acc = tl.full((16, 64), 1.0"),
    "operation": ("mm_acc / tl.sqrt", "mm_acc * tl.sqrt"),
    "twice": ("k_start = k_size - (k_size % 16)", "k_start = k_size - (k_size % 16) - 1"),
}
ATTENTION = {"m": 19, "n": 70, "k": 35, "l": 21}


def run(name: str, text: str, sizes: dict[str, int]) -> Agreement:
    """Run all wrappers of a listing's file."""
    given = program(name)
    outputs = tuple(func.name for func in given.funcs if f"\ndef {func.name}(" in text)
    assert outputs
    return agreement(given, text, outputs, sizes, 1)


def ragged(name: str) -> dict[str, int]:
    """Sizes that no tile divides, and that agree with each other."""
    given = program(name)
    sizes = {
        label: ceil(max(found, default=3) * 0.8) + 2 if max(found, default=3) < 40 else 45
        for label, found in numbers(given).items()
    } | given.fixed
    for rule in size_rules(given):
        if rule.reads:
            shapes = input_shapes(given, sizes)
            first = rule.reads[0]
            if first.tensor in shapes and first.index.is_plain:
                sizes[rule.label] = shapes[first.tensor][first.axis]
    return sizes


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_listing(name: str) -> None:
    assert not any(run(name, code(name).text, ragged(name)).differing.values())


def test_softmax_is_the_same_after_a_shift() -> None:
    """Another kernel of the same function: that exp(a + 1) is exp(a) * exp(1) is a law here."""
    text = code("listing_4_04_attention").text
    old, new = "mm_acc = tl.full((16, l_lanes), 0.0", "mm_acc = tl.full((16, l_lanes), 1.0"
    assert old in text
    tested = run("listing_4_04_attention", text.replace(old, new), ATTENTION)
    assert tested.differing == {"attention": 0}


@pytest.mark.parametrize("change", WRONG)
def test_wrong_kernel(change: str) -> None:
    old, new = WRONG[change]
    text = code("listing_4_04_attention").text
    assert old in text
    tested = run("listing_4_04_attention", text.replace(old, new), ATTENTION)
    assert tested.differing["attention"] > 0
    assert tested.first["attention"]


def test_the_operators_of_the_file_stay_its_own() -> None:
    text = code("softmax").text
    name = text.partition('dt_operator("')[2].partition('"')[0]
    assert name == "softmax"
    assert f'"{name}_in_ring"' in in_ring(text)
