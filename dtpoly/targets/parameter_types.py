"""Types each parameter of a kernel at given sizes and dtypes, with what Triton may know of it.

What Triton would see of a call with new, contiguous tensors.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from operator import mul

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, DType, is_float, promote
from dtpoly.algorithm.label_sizes import Sizes, input_shapes
from dtpoly.algorithm.program import Program
from dtpoly.codegen.axis_words import axis_words, plain_axes
from dtpoly.codegen.module import Generated
from dtpoly.codegen.operation_spelling import is_float_element
from dtpoly.codegen.python_names import pointer, strides
from dtpoly.codegen.specializing import most_bytes, multiplied
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import (
    BEFORE,
    EARLY,
    FOURS,
    PANEL,
    SPECIALIZED,
    Pointer,
    TileKernel,
)
from dtpoly.ir.kinds import REAL, Element, Named, ValueKind, widest
from dtpoly.poly.model import Model
from dtpoly.targets.argument import ALIGNED, CONSTANT, TYPES, ParameterType
from dtpoly.targets.arguments_of_variants import told

# Of `dt_chooser`: so many elements has a tensor for which a variant of the kernel is compiled.
LARGE = 1 << 16
BLOCK = 128  # of `dt_descriptor`: the bytes of a block are a multiple

# From there on, offsets might not fit into 32 bits.
LARGEST_SIZE, FARTHEST = 2**30 - 2**20, 2**31
ROW, LONG_ROW = 128, 1024  # bytes that rows between kernels begin at multiples of, if they are long
BYTES = {
    DType.BOOL: 1,
    DType.U8: 1,
    DType.I8: 1,
    DType.I16: 2,
    DType.I32: 4,
    DType.I64: 8,
    DType.F8E4M3: 1,
    DType.F8E5M2: 1,
    DType.F16: 2,
    DType.BF16: 2,
    DType.F32: 4,
    DType.F64: 8,
}


@dataclass(frozen=True, slots=True)
class SizedCall:
    """A call of the function: sizes of all labels, the dtype of inputs that are declared none."""

    program: Program
    model: Model
    made: Generated
    sizes: Sizes
    dtype: DType = DType.F32

    @property
    def params(self) -> dict[str, int]:
        """Return the values of the size parameters."""
        return {param: self.sizes[label] for label, param in self.model.size_of.items()}


def arguments(call: SizedCall, kernel: TileKernel) -> tuple[ParameterType, ...]:
    """Return each parameter of a kernel as Triton sees it in a launch with new tensors."""
    words = axis_words(plain_axes(call.program), call.model, kernel)
    many = (prod(shape_of(call, kernel, tensor.name)) for tensor in kernel.tensors)
    is_large = any(one >= LARGE for one in many)
    return told(kernel, words, _passed(call, kernel), is_large)


def _passed(call: SizedCall, kernel: TileKernel) -> tuple[ParameterType, ...]:
    params = call.params
    known = {variable: params[param] for param, variable in kernel.sizes}
    return (
        *_tensors(call, kernel),
        *(ParameterType(name, _scalar_type(element)) for _, name, element in kernel.scalars),
        *(_number(name, size) for name, size in known.items()),
        *(_number(name, shape_of(call, kernel, t)[axis]) for t, axis, name in kernel.shapes),
        *([_number(BEFORE, 1)] if kernel.is_beside else []),  # of which nothing is told
        *([_number(PANEL, 1)] if kernel.is_first_of_panel else []),
        *_descriptors(call, kernel),
        *(_chosen(name, _lanes(known[size])) for name, size in kernel.counts),
        *_flags(kernel, known),
        *(_chosen(name, _operand(call, kind)) for name, kind in kernel.elements),
        *([_chosen(EARLY, 1)] if kernel.is_early else []),  # whether it can be so, the target says
        *([_chosen(SPECIALIZED, int(_is_multiplied(call, kernel)))] if kernel.own else []),
        *([_chosen(FOURS, _are_fours(call, kernel))] if kernel.fours else []),
        _chosen("offset", _offset(call, kernel)),
    )


def _tensors(call: SizedCall, kernel: TileKernel) -> Iterator[ParameterType]:
    for tensor in kernel.tensors:
        dtype = dtype_of(call, tensor)
        yield ParameterType(pointer(tensor), f"*{TYPES[dtype]}", is_aligned=True)
        yield from map(_number, strides(tensor), steps_of(call, kernel, tensor))


def _flags(kernel: TileKernel, known: Mapping[str, int]) -> Iterator[ParameterType]:
    """Yield the truths about sizes that are constants at compile time."""
    for name in dict.fromkeys(flag.name for flag in kernel.flags):
        said = (flag for flag in kernel.flags if flag.name == name)
        holds = all(_holds(known[flag.size], flag.multiple) for flag in said)
        yield _chosen(name, holds)


def _are_fours(call: SizedCall, kernel: TileKernel) -> bool:
    """Return whether rows begin at multiples of four numbers, and have so many."""
    tensors = {tensor.name: tensor for tensor in kernel.tensors}
    sizes = {variable: call.params[param] for param, variable in kernel.sizes}
    numbers = (
        steps_of(call, kernel, tensors[row.tensor])[row.axis] if row.tensor else sizes[row.variable]
        for row in kernel.fours
    )
    return all(number % 4 == 0 for number in numbers)


def _descriptors(call: SizedCall, kernel: TileKernel) -> Iterator[ParameterType]:
    """Descriptors; none is a constant."""
    for one in kernel.described:
        tensor = next(tensor for tensor in kernel.tensors if tensor.name == one.tensor)
        dtype = dtype_of(call, tensor)
        shape, steps = shape_of(call, kernel, tensor.name), steps_of(call, kernel, tensor)
        if dtype is DType.BOOL or not is_described(shape, steps, one.block, BYTES[dtype]):
            yield ParameterType(one.name, CONSTANT)
        else:
            block = [one.block[axis] for axis in one.axes]
            yield ParameterType(one.name, f"tensordesc<{TYPES[dtype]}{block}>")


def _is_multiplied(call: SizedCall, kernel: TileKernel) -> bool:
    """Return whether tensor cores multiply what is described, as `dt_specialized` decides it."""
    names = multiplied(kernel)
    dtype, *others = {dtype_of(call, tensor) for tensor in kernel.tensors if tensor.name in names}
    return not others and is_float(dtype) and BYTES[dtype] in (2, most_bytes(kernel))


def is_described(
    shape: Sequence[int], steps: Sequence[int], block: Sequence[int], size: int
) -> bool:
    """Return whether the runtime makes a descriptor for a new tensor of these strides."""
    aligned = (step * size % ALIGNED == 0 for step in steps[:-1])
    is_block = block[-1] * size >= ALIGNED and prod(block) * size % BLOCK == 0
    return min(shape) > 0 and is_block and all(aligned)


def _chosen(name: str, value: int | bool | DType) -> ParameterType:
    return ParameterType(name, CONSTANT, value, is_chosen=True)


def _number(name: str, value: int) -> ParameterType:
    """Return a whole number: a 1 is a constant for Triton, and it sees what is divisible by 16."""
    if value == 1:
        return ParameterType(name, CONSTANT, 1)
    width = DType.I32 if -(2**31) <= value < 2**31 else DType.I64
    return ParameterType(name, TYPES[width], is_aligned=value % ALIGNED == 0)


def _scalar_type(element: Element) -> str:
    """Floats are passed wide; the kernel says so, too."""
    if is_float_element(element):
        return TYPES[DType.F64]
    assert isinstance(element, DType)
    return TYPES[element]


def _lanes(size: int) -> int:
    # As in the generated file: a matrix unit wants 16 at least.
    return 1 << max(size - 1, 15).bit_length()


def _holds(size: int, multiple: int) -> bool:
    return size % multiple == 0 if multiple else _lanes(size) == size


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a new tensor."""
    return tuple(max(prod(shape[axis + 1 :]), 1) for axis in range(len(shape)))


def _offset(call: SizedCall, kernel: TileKernel) -> DType:
    """Return the type of offsets that the runtime chooses: 64 bits only where 32 may be too few."""
    if max(call.params.values(), default=0) >= LARGEST_SIZE:
        return DType.I64
    for tensor in kernel.tensors:
        shape = shape_of(call, kernel, tensor.name)
        reach = sum(map(mul, shape, contiguous(shape)))
        if reach >= FARTHEST and prod(shape) * BYTES[dtype_of(call, tensor)] >= FARTHEST:
            return DType.I64
    return DType.I32


# Shapes


def shape_of(call: SizedCall, kernel: TileKernel, tensor: str) -> tuple[int, ...]:
    """Return the shape of a tensor in memory; of scratch, with the programs in front."""
    array = call.model.arrays.get(tensor)
    if array is None:
        return input_shapes(call.program, call.sizes)[tensor]
    scratch = call.made.storage.scratch.get(tensor)
    if scratch is None:
        # Elements that go to places lie in the memory of an input, or of what sums begin with,
        # which may have other axes.
        at = call.model.places.get(tensor)
        if at is not None:
            return shape_of(call, kernel, at.tensor)
        return tuple(_extent(call, dim) for dim in array.dims)
    kept = (_extent(call, one.label) if one.count is None else one.count for one in scratch.extents)
    return programs(call, kernel), *kept


def steps_of(call: SizedCall, kernel: TileKernel, tensor: Pointer) -> tuple[int, ...]:
    """Return the strides of a new tensor; between kernels, rows may be pitched."""
    shape = shape_of(call, kernel, tensor.name)
    described = {one.tensor for other in call.made.kernels for one in other.described}
    is_between = tensor.name in call.model.arrays and tensor.name not in call.made.results
    is_pitched = tensor.name in call.made.pitched and bool(shape)
    if tensor.is_scratch or not (is_pitched or (is_between and tensor.name in described)):
        return contiguous(shape)
    size = BYTES[dtype_of(call, tensor)]
    each = (ROW if shape[-1] * size >= LONG_ROW else ALIGNED) // size
    return contiguous((*shape[:-1], -(-shape[-1] // each) * each))


def _extent(call: SizedCall, dim: str) -> int:
    part = call.model.parts.get(dim)
    if part is None:
        return call.sizes[dim]
    return -(-call.sizes[part.of] // part.size)


def programs(call: SizedCall, kernel: TileKernel) -> int:
    """Return how many programs a launch has."""
    params = call.params
    known = {variable: params[param] for param, variable in kernel.sizes}
    return prod(-(-known[axis.size] // axis.step) for axis in kernel.grid if not axis.group)


# Dtypes


def dtype_of(call: SizedCall, tensor: Pointer) -> DType:
    """Return the dtype of a tensor in memory."""
    made, name = call.made, tensor.name
    array = call.model.arrays.get(name)
    # What is no Func's value as the caller sees it is kept as it is computed; so are parts.
    is_of_part = array is not None and not call.model.parts.keys().isdisjoint(array.dims)
    if array is not None and (tensor.is_scratch or is_of_part or array.func != name):
        return _computed(call, made.elements.of(name))
    return promoted(made.elements.kinds[name], call.dtype)


def promoted(kind: ValueKind, given: DType) -> DType:
    """Return the dtype in which values of a kind are stored."""
    parts = ([given] if kind.callers else []) + ([kind.dtype] if kind.dtype else [])
    dtype = parts[0]
    for part in parts[1:]:
        both = promote(dtype, part)
        assert both is not None, "which dtypes meet was checked"
        dtype = both
    return dtype


def real(call: SizedCall) -> DType:
    """Return the type of numbers that are computed from inputs without a dtype."""
    declared: Mapping[str, DType | None] = {t.name: t.dtype for t in call.program.tensors}
    given = {dtype or call.dtype for dtype in declared.values()}
    is_wide = widest(call.program) is DType.F64 or DType.F64 in given
    return DType.F64 if is_wide else DType.F32


def _computed(call: SizedCall, element: Element) -> DType:
    if isinstance(element, Named):
        assert element == REAL, element
        return real(call)
    return element


def _operand(call: SizedCall, kind: ValueKind | None) -> DType:
    """Return the type that the plan's entry says: `real`, or that in which operands meet."""
    if kind is None or real(call) is DType.F64:
        return real(call)
    dtype = promoted(kind, call.dtype)
    assert is_float(dtype)
    return DType.F16 if dtype in EIGHT_BIT_FLOATS else dtype
