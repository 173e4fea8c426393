"""The trees of operations that a row is made of, in Triton's interpreter: a test of the proof.

It shares nothing with the proof. Where bits are proved to be the same, the trees of a row are the
same in each batch that is tried; and of a mutant the trees differ.
"""

from pathlib import Path

import numpy as np
import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.ring.rounding_trees import RowCall, add, first_unlike, mark, product, rows_of, summed
from dtpoly.ring.row_trials import row_that_differs
from dtpoly.source import Source
from tests.batch.bits_mutants import HEADER, PRODUCT, ROW_SUM, SOFTMAX, SUM, changed, text_of

ROOT = Path(__file__).parents[2]
BATCHES = (((1, 0), (17, 5)), ((2, 1), (5, 1)), ((9, 8), (33, 0)))
# Examples with the label of the batch, and the sizes of the others.
PROVED = {
    ("layer_norm", "x"): {"y": 70},
    ("rms_norm", "x"): {"y": 130},
    ("attention", "m"): {"k": 16, "l": 40, "n": 16},
    ("log_sum_exp", "x"): {"y": 70},
    ("geglu", "x"): {"y": 50},
}
# Changes whose trees differ, with the sizes of the other labels.
SEEN = (
    "another row is summed, too",
    "a loop ends with the batch",
    "the index of the row is added",
    "the next row is loaded",
    "the last row is loaded",
    "a mask of the batch",
    "a sum over all rows of the tile and back",
    "a product is added apart by the batch",
)
# The long batch, too, is small for the interpreter.
CONDITIONS = ("x_size > 8", "x_size % 2 == 0", "x_start >= 8", "x_size + y_size > 100")


def program_of(algorithm: str) -> Program:
    found = check(Source("trees.dt", algorithm)).program
    assert found is not None
    return found


def unlike(
    program: Program, text: str, func: str, label: str, sizes: dict[str, int]
) -> list[tuple[int, ...]]:
    """Return where trees differ, in all pairs of batches."""
    found: list[tuple[int, ...]] = []
    for (first, row), (second, row_too) in BATCHES:
        calls = (
            RowCall({**sizes, label: first}, row),
            RowCall({**sizes, label: second}, row_too),
        )
        at = first_unlike(*rows_of(program, text, func, label, calls, 1))
        if at is not None:
            found.append(at)
    return found


def test_the_mark_of_a_sum_says_how_it_is_grouped() -> None:
    a, b, c = (mark(letter) for letter in "abc")
    assert add(a, b) == add(b, a)
    assert add(add(a, b), c) != add(a, add(b, c))
    assert add(a, np.asarray(0.0)) == a


def test_the_mark_of_a_tile_has_its_shape_and_all_its_lanes() -> None:
    lanes = np.stack([mark(letter) for letter in "abcd"])
    assert summed(lanes, 0, (4,)) != summed(lanes, 0, (8,))
    assert summed(lanes, 0, (4,)) != summed(lanes[::-1], 0, (4,))
    left, right = lanes.reshape(2, 2), lanes[::-1].reshape(2, 2)
    onto = np.zeros((2, 2))
    assert (product(left, right, onto) != product(right, left, onto)).all()


@pytest.mark.parametrize(
    ("algorithm", "func", "label", "sizes"),
    [
        (SOFTMAX, "softmax", "x", {"y": 70}),
        (ROW_SUM, "s", "x", {"y": 70}),
        (PRODUCT, "c", "m", {"n": 17, "k": 40}),
    ],
)
def test_trees_are_the_same_in_each_batch(
    algorithm: str, func: str, label: str, sizes: dict[str, int]
) -> None:
    assert not unlike(program_of(algorithm), text_of(algorithm), func, label, sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("asked", [*PROVED], ids=[example for example, _ in PROVED])
def test_trees_of_examples(asked: tuple[str, str]) -> None:
    example, label = asked
    path = ROOT / "examples" / f"{example}.dt"
    checked = check(Source(path.name, path.read_text()))
    assert checked.program is not None
    assert checked.verdict is not None
    text = code_of(checked.verdict.scheduled, HEADER, None).text
    (func,) = [one.func for one in checked.program.directives if one.name == "compile"]
    assert not unlike(checked.program, text, func, label, PROVED[asked])


@pytest.mark.sampled
@pytest.mark.parametrize("what", SEEN)
def test_trees_of_changed_texts_differ(what: str) -> None:
    (mutant,) = [one for one in changed() if one.what == what]
    func, label = {SOFTMAX: ("softmax", "x"), ROW_SUM: ("s", "x"), PRODUCT: ("c", "m")}[
        mutant.algorithm
    ]
    sizes = {"n": 17, "k": 40} if mutant.algorithm == PRODUCT else {"y": 70}
    program = program_of(mutant.algorithm)
    found = unlike(program, mutant.text, func, label, sizes)
    large = RowCall({**sizes, label: 70}, 1), RowCall({**sizes, label: 2}, 1)
    if not found:
        found = [first_unlike(*rows_of(program, mutant.text, func, label, large, 1)) or ()]
    assert found[0] != ()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_trees_of_a_condition_on_the_batch_differ(condition: str) -> None:
    text = text_of(SOFTMAX)
    otherwise = f"    if {condition}:\n        total_sum = tl.sum(total_acc * 0.5, 1) * 2.0\n"
    changed_text = text.replace(SUM, SUM + otherwise)
    assert unlike(program_of(SOFTMAX), changed_text, "softmax", "x", {"y": 70})


def test_a_row_that_differs_is_found_with_its_floats() -> None:
    text = text_of(SOFTMAX)
    otherwise = "    if x_size > 8:\n        total_sum = tl.exp(tl.log(total_sum))\n"
    program, changed_text = program_of(SOFTMAX), text.replace(SUM, SUM + otherwise)
    found = row_that_differs(program, changed_text, "softmax", "x", (), 20.0)
    assert found is not None
    assert min(call.sizes["x"] for call in found.calls) <= 8
    assert max(call.sizes["x"] for call in found.calls) > 8
    assert found.floats is not None
    assert found.floats[0] != found.floats[1]
    assert row_that_differs(program, text, "softmax", "x", (), 20.0) is None
