"""Computes gradients of random algorithms and says of each: right, refused with a code, wrong."""

from dataclasses import replace
from random import Random

import torch

import dtpoly
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import walk
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.label_sizes import size_rules, sizes_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.show import show
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient.activity import active_names
from dtpoly.reference.run import run
from dtpoly.training.torch_operators import KNOWN
from tests.gradient.comparing import Derived, Tensors, compare, derived, given, read, sizes_for
from tests.gradient.random_algorithms import Drawn, drawn
from tests.gradient.torch_translation import Translation

# What may be refused: no rule, old values that are gone, sizes that nothing shows.
REFUSALS = ("DT272", "DT273", "DT274")
RIGHT, FREE = "right", "no dependence"
ROUNDING = 1e-9
# Random numbers have 32 bits, and so has a function of whole numbers, as in torch.
ROUNDING_OF_32 = 1e-5


def inputs_of(one: Drawn) -> Tensors:
    """Return inputs of a random algorithm, with many equal elements if it wants ties."""
    labels = {label.name for label in one.program.labels}
    found = given(one.program, {n: size for n, size in one.sizes.items() if n in labels})
    if not one.has_ties:
        return found
    return {
        name: (2 * value).round() / 2 if value.is_floating_point() else value
        for name, value in found.items()
    }


def passed(program: Program, sizes: dict[str, int]) -> dict[str, int]:
    """Return the sizes that a call may pass."""
    rules = {rule.label for rule in size_rules(program) if rule.may_be_passed}
    return {label: size for label, size in sizes.items() if label in rules}


def _dependence(one: Drawn) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the results that depend on inputs, and the inputs that reach one of them."""
    reached = {name: active_names(one.program, (name,)) for name in one.by}
    of = tuple(func for func in one.of if any(func in names for names in reached.values()))
    return of, tuple(name for name in one.by if not reached[name].isdisjoint(of))


def derived_of(one: Drawn) -> Derived | str:
    """Return the gradient of a random algorithm, or the code of what stands in the way."""
    of, by = _dependence(one)
    if not by:
        return FREE
    try:
        return derived(one.program, ", ".join(of), ", ".join(by))
    except DtpolyError as error:
        return error.diagnostics[0].code


def outcome(kind: str, seed: int) -> str:
    """Return what became of the gradient of a random algorithm; raise if it is wrong."""
    one = drawn(kind, seed)
    found = derived_of(one)
    if isinstance(found, str):
        return found
    compare(one.program, found, inputs_of(one), one.sizes)
    return RIGHT


def second_outcome(kind: str, seed: int) -> str:
    """Return what became of the gradient of a gradient; raise if it is wrong."""
    one = drawn(kind, seed)
    one = replace(one, of=one.of[:1])
    found = derived_of(one)
    if isinstance(found, str):
        return found
    first, inputs = read(found.text), inputs_of(one)
    shapes = {t.name: tuple(inputs[t.name].shape) for t in one.program.tensors}
    known = passed(one.program, one.sizes)
    sizes = sizes_of(one.program, shapes, known)
    call = {t.name: inputs[t.name] for t in one.program.tensors}
    call |= {s.name: inputs[s.name].item() for s in one.program.scalars}  # type: ignore[misc]
    result = run(one.program, call, sizes=known, wanted=one.of)[one.of[0]]
    (gift,) = found.gradient.given.values()
    generator = torch.Generator().manual_seed(seed)
    inputs[gift] = torch.randn(result.shape, generator=generator, dtype=torch.float64)
    of = Random(seed).choice(list(found.gradient.results.values()))
    by = tuple(
        declared.name
        for declared in first.inputs
        if isinstance(declared, Tensor) and declared.dtype is None
    )
    second = Drawn(first, {**one.sizes, **sizes_for(found, inputs, sizes)}, (of,), by)
    again = derived_of(second)
    if isinstance(again, str):
        return again
    used = {declared.name for declared in first.inputs}
    own = {name: value for name, value in inputs.items() if name in used}
    compare(first, again, own, second.sizes)
    return RIGHT


def kernel_outcome(kind: str, seed: int) -> str:
    """Return what became of an operator of torch for a random algorithm; raise if it is wrong.

    Its kernels run in the interpreter, with inputs that lie in memory in several ways.
    """
    one = drawn(kind, seed)
    of, by = _dependence(one)
    if not by or any(func.into is not None for func in one.program.funcs):
        return FREE
    random, inputs = Random(seed), inputs_of(one)
    shapes = {t.name: tuple(inputs[t.name].shape) for t in one.program.tensors}
    sizes = sizes_of(one.program, shapes, passed(one.program, one.sizes))
    laid = {name: _laid(random, value) for name, value in inputs.items()}
    first = {name: laid[name].detach().requires_grad_() for name in by}
    source = show(replace(one.program, directives=())) + f"{of[0]}.compile();\n"
    try:
        op = dtpoly.differentiable(dtpoly.parse(source, verify=False), of=of[0])
        values = {**laid, **first}
        call = [
            values[t.name] if isinstance(t, Tensor) or t.name in by else values[t.name].item()
            for t in one.program.inputs
        ]
        words = KNOWN[op.name].content.labels
        known = {word: sizes[label] for label, word in words.items()}
        result = op(*call, **known)
    except DtpolyError as error:
        return error.diagnostics[0].code
    leaves = {name: inputs[name].detach().clone().requires_grad_() for name in by}
    wanted = Translation(one.program, {**inputs, **leaves}, sizes).tensors[of[0]]
    if not result.requires_grad or not wanted.requires_grad or not bool(wanted.isfinite().all()):
        return FREE
    gift = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(seed)).double()
    expected = torch.autograd.grad(
        wanted, list(leaves.values()), gift, allow_unused=True, materialize_grads=True
    )
    try:
        found = torch.autograd.grad(
            result,
            list(first.values()),
            gift.to(result.dtype),
            allow_unused=True,
            materialize_grads=True,
        )
    except DtpolyError as error:
        return error.diagnostics[0].code
    rounding = ROUNDING_OF_32 if _has_32_bits(one.program) else ROUNDING
    for name, have, want in zip(by, found, expected, strict=True):
        is_known = want.isfinite() & have.isfinite()
        far = (have - want).abs()[is_known]
        scale = 1 + want.abs()[is_known]
        assert not bool((far > rounding * scale).any()), f"{source}\n{name}:\n{have}\nnot\n{want}"
    return RIGHT


def _has_32_bits(program: Program) -> bool:
    """Return whether kernels compute some part in 32 bits, though all floats given have 64."""
    types = types_of(program)
    parts = (type_of(node, types) for func in program.funcs for node in walk(func.body))
    is_part = any(one.dtype is DType.F32 and not one.weak for one in parts)
    # A Func that is made of numbers alone is stored in 32 bits.
    return is_part or any(types[func.name].dtype is DType.F32 for func in program.funcs)


def _laid(random: Random, value: torch.Tensor) -> torch.Tensor:
    """Return the same numbers in other memory: turned, a part of more, or as they are."""
    match random.randrange(3) if value.dim() else 2:
        case 0:
            return value.movedim(0, -1).contiguous().movedim(-1, 0)
        case 1:
            wide = torch.full((*value.shape[:-1], 2 * value.shape[-1] + 1), 3, dtype=value.dtype)
            part = wide[..., 1::2]
            part.copy_(value)
            return part
        case _:
            return value
