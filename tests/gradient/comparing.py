"""Compares derived gradients with two that were found in other ways: torch's, and differences."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.label_sizes import size_rules, sizes_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.show import show, show_definition
from dtpoly.autoschedule.unscheduled_source import algorithm_of
from dtpoly.checking import understand
from dtpoly.diagnostics import Severity
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.format import format_source
from dtpoly.frontend.parse import parse
from dtpoly.gradient.differentiate import Gradient, differentiated
from dtpoly.gradient.text import gradient_text
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.source import Source
from tests.gradient.torch_translation import Translation

Tensors = dict[str, torch.Tensor]
STEP = 1e-6
ROUNDING = 2.0**-52


@dataclass(frozen=True)
class Derived:
    """A gradient as it was derived, as text, and as what is read from the text again."""

    gradient: Gradient
    text: str
    program: Program


def read(text: str) -> Program:
    """Read an algorithm without its schedule."""
    return algorithm_of(Source("test.dt", text), DIRECTIVES).program


def derived(program: Program, of: str, by: str) -> Derived:
    """Derive a gradient; its text checks clean, is formatted, and says what was derived."""
    names = tuple(one.strip() for one in by.split(","))
    gradient = differentiated(program, tuple(one.strip() for one in of.split(",")), names)
    text = gradient_text(gradient, "test.dt")
    source = Source("gradient.dt", text)
    assert format_source(source) == text
    parsed = parse(source)
    checked = understand(parsed.file, parsed.found)
    own = parse(Source("test.dt", show(program)))
    said = {one.code for one in understand(own.file, own.found).diagnostics}
    wrong = [
        one
        for one in checked.diagnostics
        if one.severity is Severity.ERROR
        or (one.severity is Severity.WARNING and one.code not in said)
    ]
    assert not wrong, f"{text}\n{wrong}"
    assert checked.program is not None
    assert len(checked.program.funcs) == len(gradient.program.funcs)
    for one in gradient.program.funcs:
        other = checked.program.func(one.name)
        assert one == other, f"{show_definition(one)}\n{one}\nis not\n{other}"
    return Derived(gradient, text, checked.program)


def given(program: Program, sizes: Mapping[str, int], seed: int = 0) -> Tensors:
    """Make up inputs in 64 bits."""
    doubles = {one.name: DType.F64 for one in program.inputs}
    made = random_inputs(program, sizes, seed, doubles)
    return {
        name: one if isinstance(one, torch.Tensor) else _number(one) for name, one in made.items()
    }


def _number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.int64)


def sizes_for(one: Derived, inputs: Tensors, known: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes that a call of a gradient must pass."""
    own = dict(known)
    for name, result in one.gradient.results.items():
        func = one.program.func(result)
        if func.into is not None:
            func = one.program.func(func.into.tensor)
        own.update(zip(func.labels, inputs[name].shape, strict=True))
    passed = {rule.label for rule in size_rules(one.program) if rule.is_passed}
    return {label: size for label, size in own.items() if label in passed}


def compare(
    program: Program, one: Derived, inputs: Tensors, known: Mapping[str, int] | None = None
) -> None:
    """Assert that a gradient is torch's, and that differences agree with it."""
    doubles = {
        name: tensor.double() if tensor.is_floating_point() else tensor
        for name, tensor in inputs.items()
    }
    shapes = {t.name: tuple(doubles[t.name].shape) for t in program.tensors}
    rules = {rule.label for rule in size_rules(program) if rule.may_be_passed}
    passed = {label: size for label, size in (known or {}).items() if label in rules}
    sizes = sizes_of(program, shapes, passed)
    by = tuple(one.gradient.results)
    leaves = {name: doubles[name].clone().requires_grad_() for name in by}
    translation = Translation(program, {**doubles, **leaves}, sizes)
    tensors = translation.tensors
    if any(bool(tensors[func.name].isnan().any()) for func in program.funcs):
        return  # what is no number has no derivative
    generator = torch.Generator().manual_seed(1)
    gifts = {
        name: torch.randn(tensors[name].shape, generator=generator, dtype=torch.float64)
        for name in one.gradient.given
    }
    wanted = _of_torch(tensors, leaves, gifts)
    used = {one.name for one in one.program.inputs}
    call = {name: doubles[name] for name in doubles if name in used}
    call |= {new: gifts[name] for name, new in one.gradient.given.items() if new in used}
    found = run(
        one.program,
        {name: _as_declared(one.program, name, value) for name, value in call.items()},
        sizes=sizes_for(one, doubles, sizes),
        wanted=tuple(one.gradient.results.values()),
    )
    for name, want in zip(by, wanted, strict=True):
        have = found[one.gradient.results[name]]
        assert have.shape == want.shape, f"{one.text}\n{name}: {have.shape}, not {want.shape}"
        # What `where` does not choose may be infinite, and torch multiplies its gradient by 0.
        is_unclear = want.isnan()
        if translation.has_infinities:
            # With masks torch may multiply 0 by an infinity where a range computes nothing, and so
            # may a gradient where torch does not. An infinite result has no derivative at all.
            is_unclear = is_unclear | have.isnan() | want.isinf()
        have, want = (torch.where(is_unclear, 0, side) for side in (have, want))
        close = torch.allclose(have, want, rtol=1e-8, atol=1e-8, equal_nan=True)
        close = close or _is_sensitive(program, doubles, sizes, gifts, (name, have, want))
        assert close, f"{one.text}\n{name}:\n{have}\nis not\n{want}"


def _of_torch(tensors: Tensors, leaves: Tensors, gifts: Tensors) -> tuple[torch.Tensor, ...]:
    """Return the gradients by leaves of results that are given gifts, as torch computes them."""
    reached = {name: tensors[name] for name in gifts if tensors[name].requires_grad}
    return torch.autograd.grad(
        list(reached.values()),
        list(leaves.values()),
        [gifts[name] for name in reached],
        allow_unused=True,
        materialize_grads=True,
    )


def _is_sensitive(
    program: Program,
    inputs: Tensors,
    sizes: Mapping[str, int],
    gifts: Tensors,
    found: tuple[str, torch.Tensor, torch.Tensor],
) -> bool:
    """Return whether torch's gradient moves as far if inputs move by about their rounding.

    The sine of a number of 12 digits is such a result: nobody can say which one is right.
    """
    name, have, want = found
    moved = torch.zeros_like(want)
    for seed in range(4):
        generator = torch.Generator().manual_seed(seed)
        near = {
            key: value * (1 + ROUNDING * torch.randn(value.shape, generator=generator).double())
            if value.is_floating_point()
            else value
            for key, value in inputs.items()
        }
        leaf = near[name].clone().requires_grad_()
        tensors = Translation(program, {**near, name: leaf}, sizes).tensors
        (other,) = _of_torch(tensors, {name: leaf}, gifts)
        moved = moved.maximum((other - want).abs())
    return bool(((have - want).abs() <= 100 * moved + 1e-8).all())


def _as_declared(program: Program, name: str, value: torch.Tensor) -> torch.Tensor | float:
    declared = next(one for one in program.inputs if one.name == name)
    if not isinstance(declared, Tensor):
        return value.item()
    if declared.dtype is None or not is_float(declared.dtype) or declared.dtype is DType.F64:
        return value
    raise AssertionError("compare algorithms without dtypes of floats")


def compare_with_differences(
    program: Program, one: Derived, inputs: Tensors, known: Mapping[str, int] | None = None
) -> None:
    """Assert that a step in a random direction changes the result as a gradient says."""
    doubles = {n: t.double() if t.is_floating_point() else t for n, t in inputs.items()}
    shapes = {t.name: tuple(doubles[t.name].shape) for t in program.tensors}
    rules = {rule.label for rule in size_rules(program) if rule.may_be_passed}
    passed = {label: size for label, size in (known or {}).items() if label in rules}
    generator = torch.Generator().manual_seed(2)
    of = tuple(one.gradient.given)

    def at(moved: Tensors) -> Tensors:
        call = {name: _as_declared(program, name, value) for name, value in moved.items()}
        return run(program, call, sizes=passed, wanted=of)

    gifts = {
        name: torch.randn(out.shape, generator=generator, dtype=torch.float64)
        for name, out in at(doubles).items()
    }
    used = {one.name for one in one.program.inputs}
    call = {name: doubles[name] for name in doubles if name in used}
    call |= {new: gifts[name] for name, new in one.gradient.given.items() if new in used}
    found = run(
        one.program,
        {name: _as_declared(one.program, name, value) for name, value in call.items()},
        sizes=sizes_for(one, doubles, sizes_of(program, shapes, passed)),
        wanted=tuple(one.gradient.results.values()),
    )
    for name, result in one.gradient.results.items():
        shape = doubles[name].shape
        way = torch.randn(shape, generator=generator, dtype=torch.float64)
        up = at({**doubles, name: doubles[name] + STEP * way})
        down = at({**doubles, name: doubles[name] - STEP * way})
        change = sum(float(((up[f] - down[f]) / (2 * STEP) * gifts[f]).sum()) for f in of)
        said = float((found[result] * way).sum())
        size = 1 + abs(said) + float((found[result] * way).abs().sum())
        assert abs(change - said) <= 1e-5 * size, f"{one.text}\n{name}: {change}, not {said}"
