"""Kernel IR in, Triton text out: a function, its parameters, its grid, its instructions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine

from .breaking import WIDTH
from .functions import ATOMIC, JOIN, TEXTS, function, is_float_element
from .kernel import (
    Accumulate,
    Barrier,
    Collapse,
    Fill,
    ForLoop,
    Given,
    If,
    Instruction,
    Lanes,
    Let,
    Load,
    Mask,
    Pointer,
    Product,
    Scalar,
    Select,
    Step,
    Store,
    TileKernel,
)
from .kinds import Element
from .layout import fitted
from .value_text import (
    Text,
    address_text,
    affine_text,
    bound_text,
    compared_text,
    dtype,
    number_text,
    test_text,
    tests_text,
    value_text,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a kernel, and the statement or axis that it comes from."""

    text: str
    origin: str


def kernel_lines(kernel: TileKernel) -> list[Line]:
    """The kernel as a Triton function."""
    lines = [Line("@triton.jit", ""), Line(f"def {kernel.name}_kernel(", "")]
    for one in parameters(kernel):
        parts = [one] if len(one) + 5 <= WIDTH else one.split(", ")
        lines.extend(Line(f"    {part},", "") for part in parts)
    # A formatter would give each parameter a line; here those of a tensor share one.
    lines.append(Line("):  # fmt: skip", ""))
    lines.extend(Line(f"    # {text}", "") for text in kernel.comment)
    if uses_program(kernel):
        lines.append(Line("    program = tl.program_id(0).to(offset)", ""))
    lines.extend(Line(f"    {text}", "") for text in grid_lines(kernel))
    body = _block(kernel.body)
    lines.extend(Line(f"    {text}", one.origin) for one in body for text in fitted([one.text]))
    if not body:
        lines.append(Line("    pass", ""))
    return lines


def parameters(kernel: TileKernel) -> list[str]:
    """The parameters, one line each tensor, then sizes, then what is known at compile time."""
    found = [", ".join((pointer(t), *strides(t))) for t in kernel.tensors]
    for _, variable, element in kernel.scalars:
        wide = DType.F64 if is_float_element(element) else element
        found.append(f"{variable}: {dtype(wide)}")
    if kernel.sizes:
        found.append(", ".join(variable for _, variable in kernel.sizes))
    if kernel.shapes:
        found.append(", ".join(variable for *_, variable in kernel.shapes))
    known = [name for name, _ in kernel.counts] + [flag.name for flag in kernel.flags]
    known += [*(name for name, _ in kernel.elements), "offset"]
    return found + [f"{name}: tl.constexpr" for name in known]


def pointer(tensor: Pointer) -> str:
    """The parameter for a tensor's address."""
    return f"{tensor.variable}_ptr"


def strides(tensor: Pointer) -> tuple[str, ...]:
    """The parameters for its strides."""
    return tuple(f"{tensor.variable}_stride_{axis}" for axis in range(tensor.rank))


def uses_program(kernel: TileKernel) -> bool:
    """Whether the body needs the program's number."""
    return any(t.is_scratch for t in kernel.tensors) or any(
        "program" in line.text for line in _block(kernel.body)
    )


def grid_lines(kernel: TileKernel) -> list[str]:
    """From the program's number to where each axis of the grid starts.

    Mixed radix. A group at the edge may be short; those before it are full, so that dividing by
    a full group finds the group, and what is left is divided by the group's own size.
    """
    grid = kernel.grid
    if not grid:
        return []
    blocks = {a.label: f"{a.label}_blocks" for a in grid}
    left = dict(blocks)
    first: dict[str, str] = {}
    lines = ["pid = tl.program_id(0).to(offset)"]
    for i, axis in enumerate(grid):
        inner = {a.label for a in grid[i + 1 :]}
        labels = dict.fromkeys(a.label for a in grid)
        others = [left[x] for x in labels if x in inner and x != axis.label]
        if axis.group:
            others.insert(0, str(axis.group))
        below = " * ".join(others)
        many = f"({below})" if len(others) > 1 else below
        place = f"{axis.name}_id"
        is_last = i == len(grid) - 1
        divided = "pid" + ("" if is_last or not below else f" // {many}")
        if axis.group:
            lines.append(f"{place} = {divided}")
            if not is_last and below:
                lines.append(f"pid = pid % {many}")
            start = f"{place} * {axis.group}"
            first[axis.label] = start
            left[axis.label] = f"{axis.label}_in_group"
            lines.append(f"{left[axis.label]} = min({blocks[axis.label]} - {start}, {axis.group})")
            continue
        factor = axis.step // axis.unit
        block = divided
        if axis.label in first:
            block = f"{first[axis.label]} + {divided}"
        if factor != 1 and " " in block:
            block = f"({block})"
        lines.append(f"{axis.name} = {block}" + (f" * {factor}" if factor != 1 else ""))
        if not is_last and below:
            lines.append(f"pid = pid % {many}")
    counts = [f"{blocks[a.label]} = tl.cdiv({a.size}, {a.step})" for a in grid if not a.group]
    return _without_unused([*counts, *lines], {*blocks.values(), *left.values()})


def _without_unused(lines: list[str], names: set[str]) -> list[str]:
    """The lines without those that set one of some names which no later line needs."""
    kept: list[str] = []
    needed: set[str] = set()
    for line in reversed(lines):
        name = line.split(" ")[0]
        if name not in names or name in needed:
            kept.append(line)
            needed.update(re.findall(r"\w+", line))
    return kept[::-1]


def helpers(kernels: Sequence[TileKernel]) -> list[str]:
    """The texts of the functions that kernels call, in a fixed order."""
    text = "\n".join(line.text for kernel in kernels for line in kernel_lines(kernel))
    found = [name for name in TEXTS if f"{name}(" in text or f" {name})" in text]
    return [f"@triton.jit\n{TEXTS[name]}" for name in found]


def _block(body: tuple[Step, ...]) -> list[Line]:
    return [line for step in body for line in _lines(step.instruction, step.origin)]


def _lines(one: Instruction, origin: str) -> list[Line]:
    match one:
        case ForLoop(body=body) | If(body=body):
            inner = [Line(f"    {line.text}", line.origin) for line in _block(body)]
            return [Line(_head(one), origin), *inner]
        case Collapse():
            return [Line(text, origin) for text in _collapse(one)]
        case _:
            return [Line(_line(one), origin)]


def _head(one: ForLoop | If) -> str:
    if isinstance(one, If):
        tests = " and ".join(map(compared_text, one.conditions))
        return f"if {tests}:"
    extra = ", num_stages=1" if not one.is_pipelined else ""
    extra += f", loop_unroll_factor={one.unroll}" if one.unroll > 1 else ""
    steps = f", {one.step}" if one.step != 1 or extra else ""
    ends = f"{bound_text(one.start)}, {bound_text(one.stop)}"
    return f"for {one.name} in tl.range({ends}{steps}{extra}):"


def _line(
    one: (
        Lanes
        | Mask
        | Let
        | Scalar
        | Given
        | Fill
        | Load
        | Store
        | Accumulate
        | Select
        | Product
        | Barrier
    ),
) -> str:
    match one:
        case Lanes(name=name, start=start, count=count, step=step):
            lanes = f"tl.arange(0, {count})" + (f" * {step}" if step != 1 else "")
            if start != Affine():
                lanes = f"({affine_text(start, ())[0]} + {lanes})"
            return f"{name} = {lanes}.to(offset)"
        case Mask(name=name, test=test):
            return f"{name} = {test_text(test, test.axes)[0]}"
        case Let(name=name, value=value, axes=axes):
            return f"{name} = {value_text(value, axes)[0]}"
        case Scalar(name=name, value=number):
            return f"{name} = {bound_text(number)}"
        case Given(name=name, dtype=element):
            return f"{name} = tl.full((), {name}, {dtype(element)})"
        case Fill(name=name, shape=shape, value=start, dtype=element):
            dims = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
            return f"{name} = tl.full({dims}, {number_text(start, element)}, {dtype(element)})"
        case Load():
            return _load(one)
        case Store():
            return _store(one)
        case Accumulate(name=name, reduction=reduction, value=value, axes=axes, dtype=element):
            return _accumulate(name, reduction, value_text(value, axes, element), element)
        case Select():
            join = JOIN[one.reduction][0]
            better, at = value_text(one.value, one.axes)[0], value_text(one.at, one.axes)[0]
            both = f"{one.name}, {one.index}"
            return f"{both} = {join}({both}, {better}, {at})"
        case Product():
            left = value_text(one.left, one.left_axes)[0]
            right = value_text(one.right, one.right_axes)[0]
            precision = f', input_precision="{one.precision or "ieee"}"'
            out = f", out_dtype={dtype(one.dtype)}" if one.dtype is not DType.F32 else ""
            return f"{one.name} = tl.dot({left}, {right}, {one.name}{precision}{out})"
        case Barrier():
            return "tl.debug_barrier()"
        case _:
            assert_never(one)


def _load(one: Load) -> str:
    mask = tests_text(one.conditions, one.axes)
    rest = f", mask={mask}" if mask else ""
    if mask and one.other is not None:
        rest += f", other={number_text(one.other, one.dtype)}"
    return f"{one.name} = tl.load({address_text(one.tensor, one.indices, one.axes)}{rest})"


def _store(one: Store) -> str:
    mask = tests_text(one.conditions, one.axes)
    rest = f", mask={mask}" if mask else ""
    address = address_text(one.tensor, one.indices, one.axes)
    value = value_text(one.value, one.axes)[0]
    if one.atomic is None:
        return f"tl.store({address}, {value}{rest})"
    return f'{ATOMIC[one.atomic]}({address}, {value}{rest}, sem="relaxed")'


def _accumulate(name: str, reduction: str, value: Text, element: Element) -> str:
    match reduction:
        case "rsum":
            return f"{name} += {value[0]}"
        case "rprod":
            return f"{name} *= {value[0]}"
        case "rany":
            return f"{name} |= {value[0]}"
        case "rall":
            return f"{name} &= {value[0]}"
        case _:
            return f"{name} = {function(JOIN[reduction], element)}({name}, {value[0]})"


def _collapse(one: Collapse) -> list[str]:
    lines: list[str] = []
    axes, source = one.axes, one.source
    gone = [axis for axis in reversed(axes) if axis not in one.kept]
    for number, axis in enumerate(gone):
        at = axes.index(axis)
        axes = tuple(a for a in axes if a != axis)
        if one.index is not None:
            join = JOIN[one.reduction][0]
            is_last = number == len(gone) - 1 and not one.keeps_value
            names = f"_, {one.name}" if is_last else f"{one.source}, {one.index}"
            lines.append(f"{names} = tl.reduce(({one.source}, {one.index}), {at}, {join})")
            continue
        match one.reduction:
            case "rsum":
                reduced = f"tl.sum({source}, {at})"
            case _:
                reduced = f"tl.reduce({source}, {at}, {JOIN[one.reduction][0]})"
        lines.append(f"{one.name} = {reduced}")
        source = one.name
    return lines
