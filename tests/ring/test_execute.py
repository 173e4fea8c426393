"""Every listing computes its algorithm bit for bit in the ring, and a wrong kernel does not."""

from math import ceil

import pytest

from dtpoly.algorithm.expressions import Reduce, walk
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes, size_rules
from dtpoly.algorithm.operations import LIST
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.plan.runtime_text import runtime_text
from dtpoly.ring.interpreter import in_ring
from dtpoly.ring.ring_execution import Agreement, agreement
from dtpoly.schedule.legality import judge
from tests.codegen.calls import text
from tests.codegen.listings import COMPARED, NAMES, code, numbers, program
from tests.codegen.plans import plans_in

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
    """Run all functions of a listing's file."""
    given = program(name)
    outputs = tuple(plans_in(text))
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
    return filled(given, {}, sizes)


def has_lists(name: str) -> bool:
    """Return whether a listing has a list of the largest: elements of the ring have no order."""
    nodes = (node for func in program(name).funcs for node in walk(func.body))
    return any(isinstance(node, Reduce) and node.operation == LIST for node in nodes)


IN_RING = (
    *(name for name in NAMES if not has_lists(name)),
    *(pytest.param(name, marks=pytest.mark.long) for name in COMPARED if not has_lists(name)),
)


@pytest.mark.long
@pytest.mark.parametrize("name", IN_RING)
def test_listing(name: str) -> None:
    assert not any(run(name, code(name).text, ragged(name)).differing.values())


def test_a_file_that_imports_the_runtime() -> None:
    """The memory of its results is watched, too."""
    of = program("listing_4_04_attention")
    imports = code_of(judge(of, DIRECTIVES).scheduled, carries_runtime=False).text
    assert "from dtpoly.runtime import" in imports
    assert not any(
        agreement(of, imports, tuple(plans_in(imports)), ATTENTION, 1).differing.values()
    )


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


def test_the_file_has_wide_floats_and_the_same_runtime() -> None:
    before = text("Func f: f32; In A: f16; Var x; f[x] = A[x] + 1.5; f.compile();")
    after = in_ring(before)
    assert runtime_text() in before
    assert runtime_text() in after
    (one,), (other,) = plans_in(before).values(), plans_in(after).values()
    assert (one["inputs"]["A"], one["results"]["f"]["dtype"]) == (("f16", 1), "f32")
    assert (other["inputs"]["A"], other["results"]["f"]["dtype"]) == (("f64", 1), "f64")
