"""Kernels that a Func needs in, its Python wrapper out: sizes, checks, outputs, launches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Affine, reads
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.sizes import (
    AxisRead,
    SizeRule,
    axis_reads,
    extent_label,
    size_rules,
    used_labels,
)
from dtpoly.poly.model import Model

from .elements import Elements
from .kernel import GridAxis, Pointer, TileKernel
from .kinds import REAL, Element, Kind, Named, widest
from .names import plain
from .storage import Storage

TORCH = {
    DType.BOOL: "torch.bool",
    DType.U8: "torch.uint8",
    DType.I8: "torch.int8",
    DType.I16: "torch.int16",
    DType.I32: "torch.int32",
    DType.I64: "torch.int64",
    DType.F8E4M3: "torch.float8_e4m3fn",
    DType.F8E5M2: "torch.float8_e5m2",
    DType.F16: "torch.float16",
    DType.BF16: "torch.bfloat16",
    DType.F32: "torch.float32",
    DType.F64: "torch.float64",
}


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel and what it is launched with."""

    kernel: TileKernel
    num_warps: int | None = None
    num_stages: int | None = None


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What the wrapper of one Func is written from."""

    program: Program
    model: Model
    elements: Elements
    storage: Storage
    launched: tuple[Launched, ...]  # all that the Func needs, in order
    func: str
    name: str
    sizes: Mapping[str, str]  # label -> variable


def wrapper_lines(wrapping: Wrapping) -> list[str]:
    """The function that a caller calls."""
    program, func = wrapping.program, wrapping.program.func(wrapping.func)
    tensors = [t.name for t in program.tensors if t.name in _used_tensors(wrapping)]
    inputs = [i.name for i in program.inputs]
    passed = [rule.label for rule in _rules(wrapping) if rule.is_passed]
    keywords = ["out=None", *passed, *([] if program.tensors else ['device="cuda"'])]
    lines = [f"def {wrapping.name}({', '.join([*inputs, '*', *keywords])}):"]
    body: list[str] = [f'"""{_summary(wrapping)}"""']
    body += _check_tensors(wrapping)
    body += _sizes(wrapping)
    body += _check_sizes(wrapping)
    body += _scalars(wrapping)
    body += _types(wrapping)
    body += _outputs(wrapping)
    for one in wrapping.launched:
        body += _launch(wrapping, one)
    body.append(f"return {plain(func.name)}_out")
    del tensors
    return lines + [f"    {line}" if line else "" for line in body]


def _summary(wrapping: Wrapping) -> str:
    func = wrapping.program.func(wrapping.func)
    return f"`{func.name}[{', '.join(func.labels)}]` of the algorithm."


def _used_tensors(wrapping: Wrapping) -> set[str]:
    return {p.name for one in wrapping.launched for p in one.kernel.tensors}


def _rules(wrapping: Wrapping) -> list[SizeRule]:
    used = used_labels(wrapping.program)
    return [rule for rule in size_rules(wrapping.program) if rule.label in used]


def _device(wrapping: Wrapping) -> str:
    tensors = wrapping.program.tensors
    return f"{tensors[0].name}.device" if tensors else "device"


def _check_tensors(wrapping: Wrapping) -> Iterator[str]:
    """Ranks, dtypes, devices."""
    program = wrapping.program
    ranks = {read.tensor: len(read.indices) for func in program.funcs for read in reads(func.body)}
    for tensor in program.tensors:
        rank = ranks.get(tensor.name)
        dtype = f'"{tensor.dtype}"' if tensor.dtype else "None"
        expected = TORCH[tensor.dtype] if tensor.dtype else "None"
        yield f'dt_check("{tensor.name}", {tensor.name}, {rank}, {expected}, {dtype}, ' + (
            f"{_device(wrapping)})"
        )


def _sizes(wrapping: Wrapping) -> Iterator[str]:
    """Each label's size, from the tensor that shows it."""
    sizes = wrapping.sizes
    for rule in _rules(wrapping):
        variable = sizes[rule.label]
        if rule.is_passed:
            yield f"{variable} = {rule.label}"
            continue
        if rule.label not in rule.reads[0].index.labels:
            parts = [_sum(sizes[r.index.labels[0]], r.index.constant) for r in rule.reads]
        else:
            parts = [_largest(wrapping, r, rule.label) for r in rule.reads]
        parts = list(dict.fromkeys(parts))
        yield f"{variable} = " + (f"min({', '.join(parts)})" if len(parts) > 1 else parts[0])


def _sum(name: str, number: int) -> str:
    return name if not number else f"{name} {'+' if number > 0 else '-'} {abs(number)}"


def _extent(wrapping: Wrapping, read: AxisRead) -> str:
    label = extent_label(wrapping.program, read.tensor, read.axis)
    return wrapping.sizes[label] if label else f"{read.tensor}.shape[{read.axis}]"


def _largest(wrapping: Wrapping, read: AxisRead, label: str) -> str:
    """The largest size of a label for which a read stays inside."""
    extent = _extent(wrapping, read)
    if read.index.is_plain:
        return extent
    low, high = _reach(wrapping, read.index, label)
    coefficient = dict(read.index.terms)[label]
    return f"dt_fit({extent}, {low}, {high}, {coefficient})"


def _reach(wrapping: Wrapping, index: Affine, without: str | None) -> tuple[str, str]:
    """The smallest and the largest value of an index, but for one label."""
    low, high = [str(index.constant)], [str(index.constant)]
    for label, coefficient in index.terms:
        if label != without:
            part = f"{coefficient} * max({wrapping.sizes[label]} - 1, 0)"
            (high if coefficient > 0 else low).append(part)
    return " + ".join(low), " + ".join(high)


def _check_sizes(wrapping: Wrapping) -> Iterator[str]:
    """Where tensors disagree, by name and with the sizes seen."""
    program, sizes = wrapping.program, wrapping.sizes
    decided = {rule.label: rule for rule in _rules(wrapping)}
    done: set[tuple[str, int, Affine]] = set()
    for read in axis_reads(program):
        if extent_label(program, read.tensor, read.axis) is not None:
            continue
        key = (read.tensor, read.axis, read.index)
        if key in done:
            continue
        done.add(key)
        extent = _extent(wrapping, read)
        if read.index.is_plain:
            (label,) = read.index.labels
            rule = decided[label]
            if rule.reads and (rule.reads[0].tensor, rule.reads[0].axis) == key[:2]:
                continue
            source = str(rule.reads[0]) if rule.reads else f"{label}="
            yield f"if {extent} != {sizes[label]}:"
            yield (
                f'    raise dt_disagree("{label}", "{source}", {sizes[label]}, "{read}", {extent})'
            )
        else:
            low, high = _reach(wrapping, read.index, None)
            labels = [sizes[label] for label in read.index.labels]
            guard = " and ".join(labels)
            yield f"if {f'{guard} and ' if guard else ''}not 0 <= {low} <= {high} < {extent}:"
            yield f'    raise dt_outside("{read.tensor}", {read.axis}, {extent}, {high})'


def _scalars(wrapping: Wrapping) -> Iterator[str]:
    """Scalars as Python numbers: 0-d tensors are read."""
    for scalar in wrapping.program.scalars:
        kind = "int" if scalar.dtype and not is_float(scalar.dtype) else "float"
        yield f"{scalar.name} = {kind}({scalar.name})"


def promoted(kind: Kind) -> str:
    """The torch dtype that values of a kind are stored in."""
    parts = [f"{name}.dtype" for name in sorted(kind.callers)]
    if kind.dtype is not None:
        parts.append(TORCH[kind.dtype])
    text = parts[0]
    for part in parts[1:]:
        text = f"torch.promote_types({text}, {part})"
    return text


def _types(wrapping: Wrapping) -> Iterator[str]:
    """The dtypes that kernels are compiled with."""
    program = wrapping.program
    needed = {name: kind for one in wrapping.launched for name, kind in one.kernel.elements}
    callers = [t.name for t in program.tensors if t.dtype is None]
    if REAL.name in needed:
        wide = widest(program) is DType.F64 or any(t.dtype is DType.F64 for t in program.tensors)
        inputs = ", ".join(f"{name}.dtype" for name in callers)
        yield (
            f"{REAL.name} = tl.float64"
            if wide
            else f"{REAL.name} = tl.float64 if torch.float64 in ({inputs},) else tl.float32"
        )
    for name, kind in sorted(needed.items()):
        if kind is not None:
            yield f"{name} = dt_operand({promoted(kind)}, {REAL.name})"


def _shape(names: Sequence[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _outputs(wrapping: Wrapping) -> Iterator[str]:
    """The result, and what kernels leave for other kernels."""
    program, storage = wrapping.program, wrapping.storage
    func = program.func(wrapping.func)
    shape = _shape([wrapping.sizes[label] for label in func.labels])
    kind = wrapping.elements.kinds[func.name]
    inputs = _shape([t.name for t in program.tensors])
    name = f"{plain(func.name)}_out"
    device = _device(wrapping)
    yield f"{name} = dt_out(out, {shape}, {promoted(kind)}, {device}, {inputs})"
    yield f"if not {name}.numel():"
    yield f"    return {name}"
    written = {p.name for one in wrapping.launched for p in one.kernel.tensors if p.is_written}
    for array in written - {func.name} - set(storage.scratch):
        dims = wrapping.model.arrays[array].dims
        shape = _shape([_dim(wrapping, dim) for dim in dims])
        yield f"{_variable(array)} = torch.empty({shape}, dtype={_held(wrapping, array)}, " + (
            f"device={device})"
        )


def _dim(wrapping: Wrapping, dim: str) -> str:
    """The extent of an array along a label, or how many parts there are."""
    part = wrapping.model.parts.get(dim)
    if part is None:
        return wrapping.sizes[dim]
    return f"-(-{wrapping.sizes[part.of]} // {part.size})"


def _variable(array: str) -> str:
    return f"{plain(array)}_out"


def _held(wrapping: Wrapping, array: str) -> str:
    """The torch dtype of an array in memory: a Func's own, else that which it is computed in."""
    is_func = wrapping.model.arrays[array].func == array
    if is_func:
        return promoted(wrapping.elements.kinds[array])
    return _torch(wrapping.elements.of(array))


def _torch(element: Element) -> str:
    if isinstance(element, Named):
        return f"dt_torch[{element.name}]"
    return TORCH[element]


def _launch(wrapping: Wrapping, one: Launched) -> Iterator[str]:
    """One kernel: scratch, grid, arguments."""
    kernel = one.kernel
    known = {variable: _size_of(wrapping, param) for param, variable in kernel.sizes}
    blocks = (_blocks(axis, known[axis.size]) for axis in kernel.grid if not axis.group)
    programs = " * ".join(blocks) or "1"
    indent = ""
    is_many = bool(kernel.grid)
    if is_many:
        yield f"programs = {programs}"
        yield "if programs:"
        indent = "    "
    for pointer in kernel.tensors:
        if pointer.is_scratch:
            scratch = wrapping.storage.scratch[pointer.name]
            dims = ["programs" if is_many else "1"] + [
                str(e.count) if e.count is not None else _dim(wrapping, e.label)
                for e in scratch.extents
            ]
            yield (
                f"{indent}{_variable(pointer.name)} = torch.empty({_shape(dims)}, "
                f"dtype={_torch(wrapping.elements.of(pointer.name))}, "
                f"device={_device(wrapping)})"
            )
    arguments = [_argument(wrapping, pointer) for pointer in kernel.tensors]
    yield f"{indent}{kernel.name}_kernel[({'programs' if is_many else '1'},)]("
    for name in arguments:
        yield f"{indent}    {name}, *{name}.stride(),"
    for name, _, _ in kernel.scalars:
        yield f"{indent}    {name},"
    if kernel.sizes:
        labels = {param: label for label, param in wrapping.model.size_of.items()}
        yield f"{indent}    {', '.join(wrapping.sizes[labels[s]] for s, _ in kernel.sizes)},"
    for tensor, axis, _ in kernel.shapes:
        yield f"{indent}    {tensor}.shape[{axis}],"
    for name, size in kernel.counts:
        yield f"{indent}    {name}=dt_lanes({known[size]}),"
    for flag in kernel.flags:
        size = known[flag.size]
        text = f"{size} % {flag.multiple} == 0" if flag.multiple else f"dt_lanes({size}) == {size}"
        yield f"{indent}    {flag.name}={text},"
    for name, _ in kernel.elements:
        yield f"{indent}    {name}={name},"
    yield f"{indent}    offset=dt_offset({', '.join(arguments)}),"
    if one.num_warps is not None:
        yield f"{indent}    num_warps={one.num_warps},"
    if one.num_stages is not None:
        yield f"{indent}    num_stages={one.num_stages},"
    yield f"{indent})"


def _size_of(wrapping: Wrapping, param: str) -> str:
    label = next(label for label, p in wrapping.model.size_of.items() if p == param)
    return wrapping.sizes[label]


def _argument(wrapping: Wrapping, pointer: Pointer) -> str:
    is_input = pointer.name not in wrapping.model.arrays
    return pointer.name if is_input else _variable(pointer.name)


def _blocks(axis: GridAxis, size: str) -> str:
    return f"-(-{size} // {axis.step})" if axis.step != 1 else size
