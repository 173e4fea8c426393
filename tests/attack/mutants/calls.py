"""Makes calls to run a subject with: ragged sizes, layouts, types and special values."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, product
from math import prod

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import input_shapes, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.verify.plan.callers import is_finite, typed
from dtpoly.verify.triton.said import Said, said_in
from tests.attack.mutants.subjects import Subject
from tests.codegen.inputs import Data, Inputs, Layout, Recipe
from tests.codegen.running import Expected, expected
from tests.verify.mutation.execution import sizes_near

# Numbers at the ends of what their types hold, infinities, and NaN.
SPECIAL = (float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 1e-45, 3e38, 65504.0)
RECIPES = (
    (Recipe(1), Layout.PLAIN),
    (Recipe(2, DType.F16, Layout.TRANSPOSED), Layout.TRANSPOSED),
    (Recipe(3, DType.F32, Layout.SLICED, Data.ASCENDING), Layout.SLICED),
    (Recipe(4, DType.F64, Layout.PLAIN, Data.BELOW_ZERO), Layout.PLAIN),
    (Recipe(5, DType.BF16, Layout.SLICED), Layout.TRANSPOSED),
    (Recipe(6, DType.F32, Layout.EXPANDED, Data.BELOW_ZERO), Layout.SLICED),
    (Recipe(7, DType.F32, Layout.TRANSPOSED, Data.SOME_NAN), Layout.PLAIN),
    (Recipe(8, DType.F16, Layout.PLAIN, Data.BELOW_ZERO), Layout.SLICED),
    (Recipe(9, DType.F64, Layout.TRANSPOSED), Layout.SLICED),
    (Recipe(10, DType.F8E5M2, Layout.PLAIN), Layout.PLAIN),
)
# One call in this many has special numbers.
SPECIAL_EVERY = 4
MOST_CALLS, MOST_TRIED = 14, 30
MOST_ELEMENTS = 200_000


@dataclass(frozen=True, eq=False)
class Call:
    """Sizes and inputs, and the right results for them."""

    sizes: Mapping[str, int]
    inputs: Inputs
    out: Layout
    known: Expected
    told: str

    @property
    def has_odd_types(self) -> bool:
        """True if some types are ones for which the interpreter has faults."""
        odd = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
        tensors = (value for value in self.inputs.values() if isinstance(value, torch.Tensor))
        return any(one.dtype in odd for one in tensors)


def calls(subject: Subject) -> Iterator[Call]:
    """Return calls to try; for a hand-written kernel these satisfy what its file says."""
    planned = _by_hand(subject) if subject.is_handwritten else _emitted(subject)
    for count, (program, sizes, inputs, layout, told) in enumerate(planned):
        if count >= MOST_TRIED:
            return
        if count % SPECIAL_EVERY == SPECIAL_EVERY - 1:
            inputs, told = special(inputs), f"{told}, special numbers"
        try:
            known = expected(program, inputs, sizes)
        except (DtpolyError, TypeError, RuntimeError):
            continue
        yield Call(sizes, inputs, layout, known, told)


Planned = tuple[Program, Mapping[str, int], Inputs, Layout, str]


def _emitted(subject: Subject) -> Iterator[Planned]:
    program, case = subject.program, subject.case
    recipes = cycle(RECIPES)
    if case is not None:
        yield _planned(program, case.sizes, case.recipe, case.out)
        recipes = cycle((*((case.recipe, out) for out in tuple(Layout)[:3]), *RECIPES))
    some = [sizes for sizes in sizes_near(program) if _is_small(program, sizes)]
    for sizes, (recipe, out) in zip(cycle(some), recipes, strict=False):
        try:
            yield _planned(program, sizes, recipe, out)
        except (DtpolyError, TypeError, RuntimeError):
            continue


def _is_small(program: Program, sizes: Mapping[str, int]) -> bool:
    shapes = [*input_shapes(program, sizes).values()]
    shapes += [tuple(sizes[label] for label in func.labels) for func in program.funcs]
    return all(prod(shape) <= MOST_ELEMENTS for shape in shapes)


def _planned(program: Program, sizes: Mapping[str, int], recipe: Recipe, out: Layout) -> Planned:
    told = f"{', '.join(f'{one}={size}' for one, size in sizes.items())}; {recipe}, out {out}"
    return program, sizes, recipe.inputs(program, sizes), out, told


def _by_hand(subject: Subject) -> Iterator[Planned]:
    program = typed(subject.program)
    said = said_in(subject.text)
    asked = " ".join(one.text for one in said if one.word == "verify")
    numbers = sorted({int(one) for one in re.findall(r"\b\d+\b", asked) if 1 < int(one) <= 2048})
    steps = _promised_steps(said)
    for at, sizes in enumerate(_sizes_by_hand(program, numbers, steps)):
        inputs = _inputs_by_hand(program, sizes, asked, at, said)
        told = ", ".join(f"{one}={size}" for one, size in sizes.items())
        yield program, sizes, inputs, Layout.PLAIN, f"{told}; seed {at}"


def _promised_steps(said: tuple[Said, ...]) -> dict[str, int]:
    """Return numbers that the sizes are multiples of in every call, as the file promises."""
    promised = " ".join(one.text for one in said if one.word == "assume")
    found = re.findall(r"\blen\((\w+)\) % (\d+) == 0", promised)
    return {label: int(step) for label, step in found}


def _sizes_by_hand(
    program: Program, numbers: list[int], steps: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    labels = sorted(used_labels(program))
    near = [1, 3, 17, *(one + by for one in numbers for by in (-1, 0, 1, 5))]
    wanted: list[tuple[int, ...]] = [(3, 5, 2, 7), (17, 20, 13, 11), (1,) * 4, (0, 3, 3, 3)]
    wanted += [(3, 0, 3, 3), (5, 129, 3, 2), (33, 2, 40, 5)]
    wanted += [(one + 1, one + 1, one + 1, one + 1) for one in numbers]
    wanted += product(near[:6], near[-6:], (3, 5), (2,))
    seen: list[dict[str, int]] = []
    for one in wanted:
        sizes = {
            label: -(-one[at % 4] // steps.get(label, 1)) * steps.get(label, 1)
            for at, label in enumerate(labels)
        }
        try:
            shapes = input_shapes(program, sizes).values()
        except DtpolyError:
            continue
        if sizes not in seen and all(prod(shape) <= 20_000 for shape in shapes):
            seen.append(sizes)
            yield sizes


def _inputs_by_hand(
    program: Program, sizes: Mapping[str, int], asked: str, seed: int, said: tuple[Said, ...]
) -> Inputs:
    """Return numbers far from each other; rows may be apart if the file names its strides."""
    generator = torch.Generator().manual_seed(seed)
    found: Inputs = {}
    for name, shape in input_shapes(program, sizes).items():
        values = 3 * torch.randn(shape, generator=generator)
        values = -values.abs() - 0.1 if seed % 3 == 2 else values
        dtype = next(one.dtype for one in program.tensors if one.name == name)
        assert dtype is not None
        found[name] = strided(name, values.to(TORCH_DTYPE[dtype]), asked)
    found |= {scalar.name: 0.5 for scalar in program.scalars}
    if is_finite(said):
        return found
    return special(found) if seed % SPECIAL_EVERY == 1 else found


def strided(name: str, tensor: torch.Tensor, asked: str) -> torch.Tensor:
    """Return the values with strides that a caller may have, if the file asks for strides."""
    if tensor.dim() < 2 or f"{name}.stride(" not in asked:
        return tensor.contiguous()
    wide = torch.full((*tensor.shape[:-1], tensor.shape[-1] + 5), 100.0).to(tensor.dtype)
    wide[..., : tensor.shape[-1]] = tensor
    return wide[..., : tensor.shape[-1]]


def special(inputs: Inputs) -> Inputs:
    """Make every seventh element special: infinite, NaN, or at an end of its type."""
    found: Inputs = {}
    for name, value in inputs.items():
        if not isinstance(value, torch.Tensor) or not value.numel() or 0 in value.stride():
            found[name] = value
            continue
        made = value.clone()
        flat = torch.arange(made.numel()).reshape(made.shape)
        if made.is_floating_point():
            ends = torch.tensor(SPECIAL).to(made.dtype)
        elif made.dtype == torch.bool:
            ends = torch.tensor([True, False])
        else:
            info = torch.iinfo(made.dtype)
            ends = torch.tensor([info.min, info.max, info.min + 1, 0], dtype=made.dtype)
        made = torch.where(flat % 7 == 3, ends[flat // 7 % len(ends)], made.to(ends.dtype))
        # The values stay in their memory, so that their strides are kept.
        value.copy_(made)
        found[name] = value
    return found
