"""Gradients of random algorithms, and the gradients of these gradients, are those of torch."""

from collections import Counter
from random import Random

import pytest
import torch

from dtpoly.algorithm.label_sizes import size_rules, sizes_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient.activity import active_names
from dtpoly.reference.run import run
from tests.gradient.comparing import Derived, Tensors, compare, derived, given, read, sizes_for
from tests.gradient.random_algorithms import KINDS, Drawn, drawn

# What may be refused: no rule, old values that are gone, sizes that nothing shows.
REFUSALS = ("DT272", "DT273", "DT274")
CASES = 25  # of a long test


def inputs_of(one: Drawn) -> Tensors:
    """Return inputs of a random algorithm."""
    labels = {label.name for label in one.program.labels}
    return given(one.program, {n: size for n, size in one.sizes.items() if n in labels})


def passed(program: Program, sizes: dict[str, int]) -> dict[str, int]:
    """Return the sizes that a call may pass."""
    rules = {rule.label for rule in size_rules(program) if rule.may_be_passed}
    return {label: size for label, size in sizes.items() if label in rules}


def derived_of(one: Drawn) -> Derived | str:
    """Return the gradient of a random algorithm, or the code of what stands in the way."""
    by = [name for name in one.by if one.of in active_names(one.program, (name,))]
    if not by:
        return "no dependence"
    try:
        return derived(one.program, one.of, ", ".join(by))
    except DtpolyError as error:
        return error.diagnostics[0].code


def outcome(kind: str, seed: int) -> str:
    """Return what became of the gradient of a random algorithm; raise if it is wrong."""
    one = drawn(kind, seed)
    found = derived_of(one)
    if isinstance(found, str):
        return found
    compare(one.program, found, inputs_of(one), one.sizes)
    return "right"


def second_outcome(kind: str, seed: int) -> str:
    """Return what became of the gradient of a gradient; raise if it is wrong."""
    one = drawn(kind, seed)
    found = derived_of(one)
    if isinstance(found, str):
        return found
    first, inputs = read(found.text), inputs_of(one)
    shapes = {t.name: tuple(inputs[t.name].shape) for t in one.program.tensors}
    known = passed(one.program, one.sizes)
    sizes = sizes_of(one.program, shapes, known)
    result = run(one.program, inputs_of(one), sizes=known, wanted=(one.of,))[one.of]
    (gift,) = found.gradient.given.values()
    generator = torch.Generator().manual_seed(seed)
    inputs[gift] = torch.randn(result.shape, generator=generator, dtype=torch.float64)
    of = Random(seed).choice(list(found.gradient.results.values()))
    by = tuple(
        declared.name
        for declared in first.inputs
        if isinstance(declared, Tensor) and declared.dtype is None
    )
    second = Drawn(first, {**one.sizes, **sizes_for(found, inputs, sizes)}, of, by)
    again = derived_of(second)
    if isinstance(again, str):
        return again
    used = {declared.name for declared in first.inputs}
    own = {name: value for name, value in inputs.items() if name in used}
    compare(first, again, own, second.sizes)
    return "right"


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_random_gradient(kind: str, seed: int) -> None:
    assert outcome(kind, seed) in ("right", "no dependence", *REFUSALS)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", range(6))
def test_many_random_gradients(kind: str, part: int) -> None:
    found = Counter(outcome(kind, 1000 + CASES * part + at) for at in range(CASES))
    assert set(found) <= {"right", "no dependence", *REFUSALS}
    assert found["right"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plain", "ranged", "dividing", "scanning", "indirect"])
def test_random_gradients_of_gradients(kind: str) -> None:
    found = Counter(second_outcome(kind, 500 + at) for at in range(CASES))
    assert set(found) <= {"right", "no dependence", *REFUSALS, "DT271"}
    assert found["right"]
