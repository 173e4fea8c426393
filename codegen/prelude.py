"""The text of a file in, what its wrappers share out: the checks and small sums that they use."""

import re
from collections.abc import Mapping

IMPORTS = """\
import torch
import triton
import triton.language as tl
"""

DESCRIPTORS = "import triton.tools.tensor_descriptor\n"

# By name, in the order of the file. A constant or a function may use others.
SHARED = {
    "dt_interpreted": """\
dt_interpreted = triton.knobs.runtime.interpret  # kernels run on the CPU: TRITON_INTERPRET=1
""",
    "dt_floats": """\
dt_floats = {
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
}
""",
    "dt_torch": """\
dt_torch = {tl.float32: torch.float32, tl.float64: torch.float64}
""",
    "dt_triton": """\
dt_triton = {
    torch.float8_e4m3fn: tl.float8e4nv,
    torch.float8_e5m2: tl.float8e5,
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
}
""",
    "dt_is_traced": '''\
def dt_is_traced(*tensors):
    """Whether torch is to see one operator: it compiles, records, transforms, wants shapes."""
    if torch.compiler.is_compiling():
        return True
    if torch.autograd.forward_ad._current_level >= 0:
        dt_refuse_tangents(tensors)
    if torch._C._functorch.maybe_current_level() is not None:
        needs_grad = any(getattr(tensor, "requires_grad", False) for tensor in tensors)
        return not (needs_grad and torch.is_grad_enabled())  # that is refused below
    if torch._C._len_torch_dispatch_stack():
        return True
    for tensor in tensors:
        if type(tensor) is not torch.Tensor and dt_is_special(tensor):
            return True
    if tensors and getattr(tensors[0], "is_meta", False):
        return all(getattr(tensor, "is_meta", False) for tensor in tensors)
    return False
''',
    "dt_is_special": '''\
def dt_is_special(tensor):
    """Whether it is of a class that says itself what operators do, such as a DTensor."""
    own = getattr(type(tensor), "__torch_dispatch__", None)
    return own is not None and own is not torch.Tensor.__torch_dispatch__
''',
    "dt_refuse_tangents": '''\
def dt_refuse_tangents(tensors):
    """No derivative is lost in forward mode either."""
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            if torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
                raise RuntimeError("an input has a tangent, and this function has no derivative")
''',
    "dt_check": '''\
def dt_check(name, tensor, rank, dtypes, device=None):
    """Refuse a tensor that the kernels are not for; its device is where they run."""
    if (
        isinstance(tensor, torch.Tensor)
        and tensor.dim() == rank
        and tensor.dtype in dtypes
        and tensor.layout == torch.strided
        and not tensor.is_neg()
        and not (tensor.requires_grad and torch.is_grad_enabled())
        and (tensor.is_cuda or (dt_interpreted and tensor.is_cpu))
        and (device is None or tensor.device == device)
    ):
        return tensor.device
    raise dt_wrong(name, tensor, rank, dtypes, device)
''',
    "dt_wrong": '''\
def dt_wrong(name, tensor, rank, dtypes, device):
    """What is wrong with a tensor."""
    if not isinstance(tensor, torch.Tensor):
        return TypeError(f"'{name}' must be a tensor, not {type(tensor).__name__}")
    if tensor.layout != torch.strided:
        return TypeError(f"'{name}' is {tensor.layout}: pass {name}.to_dense()")
    if tensor.dim() != rank:
        shape = tuple(tensor.shape)
        return ValueError(f"'{name}' must have {rank} dimensions, but its shape is {shape}")
    if dtypes is dt_floats and tensor.dtype not in dtypes:
        return TypeError(
            f"'{name}' is {tensor.dtype}, and without a declared dtype it must be a float: "
            f"declare one, as in `In {name}: i32;`, and generate this file again"
        )
    if tensor.dtype not in dtypes:
        return TypeError(f"'{name}' is {tensor.dtype}, but is declared {dtypes[0]}")
    if device is not None and tensor.device != device:
        return ValueError(f"'{name}' is on {tensor.device}, but others are on {device}")
    if not tensor.is_cuda and not (dt_interpreted and tensor.is_cpu):
        return ValueError(
            f"'{name}' is on {tensor.device}: move it to a GPU, or start Python with "
            "TRITON_INTERPRET=1, and kernels run on the CPU in Triton's interpreter"
        )
    if tensor.is_neg():
        return TypeError(f"'{name}' is stored with its sign flipped: pass {name}.resolve_neg()")
    return RuntimeError(
        f"'{name}' requires a gradient, and there is no backward of this function: "
        f"call it under torch.no_grad(), or pass {name}.detach()"
    )
''',
    "dt_device": '''\
def dt_device(device, out=None):
    """The device that was asked for, with its number."""
    if device is None and isinstance(out, torch.Tensor):
        device = out.device
    device = torch.device(device or ("cpu" if dt_interpreted else "cuda"))
    if device.type != "cuda" and not (dt_interpreted and device.type == "cpu"):
        raise ValueError(f"kernels do not run on {device}: pass device='cuda'")
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device
''',
    "dt_is_current": '''\
def dt_is_current(device):
    """Whether this is the device that kernels are launched on."""
    return dt_interpreted or device.index == torch.cuda.current_device()
''',
    "dt_float": '''\
def dt_float(name, number):
    """A number as a float."""
    if type(number) is float:
        return number
    number = dt_number(name, number)
    if not isinstance(number, (int, float)):
        raise TypeError(f"'{name}' must be a number, not {number!r}")
    return float(number)
''',
    "dt_int": '''\
def dt_int(name, number, least, most):
    """A whole number that is not out of range."""
    number = dt_number(name, number)
    if not isinstance(number, int):
        raise TypeError(f"'{name}' must be a whole number, not {number!r}")
    if not least <= number <= most:
        raise ValueError(f"'{name}' is {number}, but must be from {least} to {most}")
    return int(number)
''',
    "dt_bool": '''\
def dt_bool(name, number):
    """True or False."""
    number = dt_number(name, number)
    if not isinstance(number, bool):
        raise TypeError(f"'{name}' must be True or False, not {number!r}")
    return number
''',
    "dt_number": '''\
def dt_number(name, number):
    """A number as Python's own, also out of a tensor or an array without axes."""
    if getattr(number, "shape", None) != ():
        return number
    if getattr(number, "requires_grad", False) and torch.is_grad_enabled():
        raise RuntimeError(
            f"'{name}' requires a gradient, and there is no backward of this function: "
            f"call it under torch.no_grad(), or pass {name}.item()"
        )
    return number.item()
''',
    "dt_fit": '''\
def dt_fit(extent, low, high, coefficient):
    """The largest size of a label for which an index stays inside of an axis.

    From low to high is what the index is where that label is 0.
    """
    if low < 0 or high >= extent:
        return 0
    if coefficient > 0:
        return (extent - 1 - high) // coefficient + 1
    return low // -coefficient + 1
''',
    "dt_disagree": '''\
def dt_disagree(label, size, source, other, other_source):
    """The tensors disagree on a size."""
    return ValueError(
        f"the tensors disagree on the size of '{label}': "
        f"it is {size} {source}, but {other} {other_source}"
    )
''',
    "dt_other_shape": '''\
def dt_other_shape(name, tensor, *axes):
    """A tensor disagrees with others on the size of a label."""
    for axis, (label, size, source) in enumerate(axes):
        if tensor.shape[axis] != size:
            seen = f"by {name}.shape[{axis}]"
            return dt_disagree(label, size, source, tensor.shape[axis], seen)
''',
    "dt_outside": '''\
def dt_outside(name, axis, extent, index, reached):
    """A tensor is read outside."""
    return ValueError(
        f"'{name}' is read outside of axis {axis}: {name}.shape[{axis}] is {extent}, "
        f"and {index} reaches {reached}"
    )
''',
    "dt_nothing": '''\
def dt_nothing(reduction, label):
    """Of nothing there is no index of an extreme."""
    return ValueError(f"'{reduction}' has nothing to choose from: the size of '{label}' is 0")
''',
    "dt_promoted": '''\
def dt_promoted(names, *dtypes):
    """The dtype that holds the values of several."""
    total = dtypes[0]
    for dtype in dtypes[1:]:
        if dtype != total:
            if 1 in (dtype.itemsize, total.itemsize):
                raise TypeError(f"no dtype holds both {total} and {dtype}, of {names}: convert one")
            total = torch.promote_types(total, dtype)
    return total
''',
    "dt_real": '''\
def dt_real(*dtypes):
    """The type in which floats are computed; a GPU converts none of 8 bits to one of 64."""
    if torch.float64 not in dtypes:
        return tl.float32
    for dtype in dtypes:
        if dtype.itemsize == 1:
            raise TypeError(f"{dtype} and {torch.float64} have no common type: convert an input")
    return tl.float64
''',
    "dt_operand": '''\
def dt_operand(dtype, real):
    """The type in which the operands of a product meet: f16 holds every value of 8 bits."""
    if real == tl.float64:
        return real
    return tl.float16 if dtype.itemsize == 1 else dt_triton[dtype]
''',
    "dt_check_atomic": '''\
def dt_check_atomic(name, operation, dtype):
    """Refuse a type in which memory cannot combine partial results."""
    if dtype.itemsize < (2 if operation == "rsum" else 4):
        raise TypeError(
            f"'{name}' would be {dtype}, and '{operation}' has no atomic form in that: "
            f"declare Func {name}: f32, or take the atomic out, and generate this file again"
        )
''',
    "dt_check_out": '''\
def dt_check_out(out, shape, dtype, device, inputs):
    """Refuse an `out` that is not as the result is, or that shares memory with itself or inputs."""
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"'out' must be a tensor, not {type(out).__name__}")
    if (out.shape, out.dtype, out.device, out.layout) != (shape, dtype, device, torch.strided):
        raise ValueError(
            f"'out' is {out.dtype} {tuple(out.shape)} on {out.device}, "
            f"but the result is {dtype} {shape} on {device}"
        )
    if out.is_neg() or (out.requires_grad and torch.is_grad_enabled()):
        raise dt_wrong("out", out, out.dim(), (dtype,), device)
    reach = 0
    for stride, size in () if out.is_contiguous() else sorted(zip(out.stride(), shape)):
        if size > 1 and stride <= reach:
            raise ValueError(f"'out' overlaps itself: shape {shape}, strides {out.stride()}")
        reach += (size - 1) * stride
    for name, tensor in inputs.items():
        if dt_overlap(out, tensor):
            raise ValueError(f"'out' overlaps '{name}': pass a tensor with memory of its own")
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)
''',
    "dt_overlap": '''\
def dt_overlap(one, two):
    """Whether some byte belongs to both; also if that takes too long to find out."""
    first, second = one.untyped_storage(), two.untyped_storage()
    start, other_start = first.data_ptr(), second.data_ptr()
    if start + first.nbytes() <= other_start or other_start + second.nbytes() <= start:
        return False
    if not one.numel() or not two.numel():
        return False
    steps = {1: [1 - two.element_size(), one.element_size() - 1]}
    for tensor, sign in ((one, 1), (two, -1)):
        for size, stride in zip(tensor.shape, tensor.stride()):
            bounds = steps.setdefault(stride * tensor.element_size(), [0, 0])
            bounds[sign > 0] += sign * (size - 1)
    return dt_reaches(two.data_ptr() - one.data_ptr(), sorted(steps.items(), reverse=True))
''',
    "dt_reaches": '''\
def dt_reaches(distance, steps):
    """Whether strides, the largest first, times numbers between bounds can add up to a distance."""
    (stride, (least, most)), rest = steps[0], steps[1:]
    if stride == 0:
        return distance == 0
    low = distance - sum(s * bounds[1] for s, bounds in rest)
    high = distance - sum(s * bounds[0] for s, bounds in rest)
    first, last = max(least, -(-low // stride)), min(most, high // stride)
    if not rest or last - first > 100:
        return first <= last
    return any(dt_reaches(distance - stride * n, rest) for n in range(first, last + 1))
''',
    "dt_blocks": '''\
def dt_blocks(tensor, block):
    """A descriptor that loads blocks of a tensor; None where there is none, or where it is slow."""
    if not dt_interpreted and (
        torch.version.hip or torch.cuda.get_device_properties(tensor.device).major < 9
    ):
        return None
    size, strides, shape = tensor.element_size(), tensor.stride(), tensor.shape
    if strides[-1] != 1 or tensor.data_ptr() % 16 or block[-1] * size < 16:
        return None
    if tensor.dtype == torch.bool:
        return None
    for extent, stride, inner in zip(shape, strides, (*strides[1:], 1)):
        if not 1 <= extent < (1 << 31) - (1 << 20) or stride < inner:
            return None
    if any(stride * size % 16 for stride in strides[:-1]):
        return None
    descriptor = triton.tools.tensor_descriptor.TensorDescriptor
    return descriptor(tensor, list(shape), list(strides), list(block))
''',
    "dt_turned": '''\
def dt_turned(blocks, axes):
    """The same descriptor, if there is one, with its axes in another order."""
    if blocks is None:
        return None
    shape, strides, block = blocks.shape, blocks.strides, blocks.block_shape
    parts = ([part[axis] for axis in axes] for part in (shape, strides, block))
    return type(blocks)(blocks.base, *parts)
''',
    "dt_rows": '''\
def dt_rows(shape, dtype, device):
    """Memory for a tensor, each row of which begins at a multiple of 16 bytes."""
    *outer, last = shape
    each = 16 // dtype.itemsize
    rows = torch.empty((*outer, -(-last // each) * each), dtype=dtype, device=device)
    return rows[..., :last]
''',
    "dt_lanes": '''\
def dt_lanes(size):
    """The power of two that holds a size; a matrix unit wants 16 at least."""
    return 1 << max(size - 1, 15).bit_length()
''',
    "dt_too_large": '''\
def dt_too_large(name, elements, advice):
    """A tile has more elements than Triton allows."""
    return ValueError(
        f"a tile of '{name}' would have {elements} elements, and Triton's limit is 1048576: "
        f"write {advice} and generate this file again"
    )
''',
    "dt_grid": '''\
def dt_grid(name, programs):
    """The grid of a launch."""
    if programs > 2147483647:
        raise ValueError(
            f"'{name}' would need {programs} programs, and a grid has at most 2147483647: "
            "give each a larger block, and generate this file again"
        )
    return (programs,)
''',
    "dt_turns": '''\
def dt_turns(name, programs, device, each):
    """The grid of a launch whose programs take blocks in turn: as many as run at once."""
    if programs > (1 << 31) - (1 << 20):
        raise ValueError(
            f"'{name}' has {programs} blocks, and one launch does at most 2146435072: "
            "make them larger, and generate this file again"
        )
    if device.type == "cpu":
        return (min(programs, 3),)
    units = torch.cuda.get_device_properties(device).multi_processor_count
    return (min(programs, each * units, 1 << 20),)
''',
    "dt_launcher": '''\
def dt_launcher(kernel, axes, blocks=()):
    """What launches a kernel: as Triton does, or without its binding if it did so for a like call.

    Like calls have the same numbers, types, alignments of addresses, and device: all that Triton
    looks at when it chooses what to run. So it would run the same again, with the same arguments.
    """
    if dt_interpreted:
        return lambda grid, *args, **constants: kernel[grid](*args, **constants)
    # Of these versions it is known how they run what they have compiled.
    is_direct = torch.version.hip is None and triton.__version__[:4] in dt_versions
    choose, driver, known = dt_chooser(kernel, axes, blocks), triton.runtime.driver, {}
    blocks = [kernel.arg_names.index(name) for name in blocks]
    names, places, hooks = kernel.arg_names, dt_places(axes), dt_hooks(kernel)
    types = kernel.fn.__annotations__
    floats = [at for at, name in enumerate(names) if types.get(name) == tl.float64]

    def launch(grid, *args, **constants):
        given, key, low = list(args), list(args), 0
        for at in places:
            tensor = args[at]
            given[at] = address = tensor.data_ptr()
            key[at] = tensor.dtype
            low |= address
        for at in floats:
            key[at] = None  # on its value nothing depends
        if low & 15:
            key += [given[at] & 15 for at in places]
        for at in blocks:
            key[at] = args[at] is not None  # it says nothing that its tensor does not
        device = tensor.device
        key.append(device)
        key = tuple(key)
        found = known.get(key)
        values = tuple(constants.values())
        if found is not None and found[0] == values and not hooks and not dt_is_watched():
            _, run, function, metadata, rest, no_blocks, _ = found
            for at in no_blocks:
                given[at] = None
            stream = driver.active.get_current_stream(device.index)
            run(grid[0], 1, 1, stream, function, metadata, None, None, None, *given, *rest)
            return
        chosen, args, constants = choose(args, constants)
        compiled = chosen[grid](*args, **constants)
        is_kept = is_direct and isinstance(compiled, triton.compiler.CompiledKernel)
        if is_kept and not hooks and not dt_is_watched():
            if len(known) >= 4096:
                known.clear()
            rest = [constants[name] for name in names[len(args) :]]
            run, function, metadata = compiled.run, compiled.function, compiled.packed_metadata
            no_blocks = [at for at in blocks if args[at] is None]
            known[key] = values, run, function, metadata, rest, no_blocks, compiled

    return launch
''',
    "dt_versions": """\
dt_versions = {"3.6.", "3.7.", "3.8.", "3.9."}
""",
    "dt_chooser": '''\
def dt_chooser(kernel, axes, blocks):
    """How a kernel is called, so that at most eight variants are compiled for a type of inputs.

    Where tensors are contiguous along their last axes: one, one for aligned ones, and one for
    aligned ones of whole blocks. Two for the first that are contiguous along others, if they are
    large. One for all that is left. With offsets of 64 bits: one for aligned ones, one for all.
    A truth may be passed as False: kernels test then what they would have been spared. Where there
    are descriptors: one more, of tensors in lines that are not aligned; but one less of the others.
    They are passed all together, or None for each.
    """
    names, places = kernel.arg_names, dt_places(axes)
    blocks = [names.index(name) for name in blocks]
    axes, functions, others = [line.split() for line in axes], {}, {}

    def with_facts(kept, count):
        if kept not in functions:
            rest = [at for at in range(count) if at not in kept]
            made = triton.jit(kernel.fn, do_not_specialize=rest)
            made.pre_run_hooks = dt_hooks(kernel)
            functions[kept] = made
        return functions[kept]

    def choose(args, constants):
        flags = [name for name, value in constants.items() if isinstance(value, bool)]
        is_whole = all(constants[name] for name in flags)
        is_wide = constants["offset"] == tl.int64
        lines = []  # of each tensor the axis along which it is contiguous
        for at, lengths in zip(places, axes):
            strides = args[at + 1 : at + 1 + len(lengths)]
            lines.append(max((n for n, stride in enumerate(strides) if stride == 1), default=None))
        is_flat = all(line is not None or not lengths for line, lengths in zip(lines, axes))
        is_rows = all(line == len(lengths) - 1 for line, lengths in zip(lines, axes) if lengths)
        units = [at + 1 + line for at, line in zip(places, lines) if line is not None]
        steps = dt_steps(places, axes, names, lines)
        is_aligned = all(args[at].data_ptr() % 16 == 0 for at in places)
        is_aligned = is_aligned and all(args[at] % 16 == 0 for at in steps)
        if blocks:
            in_blocks = is_flat and is_rows and not is_wide
            in_blocks = in_blocks and all(args[at] is not None for at in blocks)
            is_aligned = is_aligned and (in_blocks or is_wide)
            if not in_blocks:
                args = [None if at in blocks else value for at, value in enumerate(args)]
        kept = (*places, *units, *steps) if is_aligned else tuple(units)
        if is_flat and is_rows and (is_aligned or not is_wide):
            is_whole = is_whole and is_aligned and not is_wide
        elif is_flat and not is_wide and any(args[at].numel() >= 1 << 16 for at in places):
            types = [str(value) for value in constants.values() if not isinstance(value, bool)]
            types += [str(args[at].dtype) for at in places]
            met, one = others.setdefault(tuple(types), {}), (tuple(lines), is_aligned, is_whole)
            met[one] = None
            if [*met].index(one) > (not blocks):
                kept, is_whole = (), False
        else:
            kept, is_whole = (), False
        constants = {**constants, **{name: is_whole for name in flags}}
        return with_facts(kept, len(args)), args, constants

    return choose
''',
    "dt_hooks": '''\
def dt_hooks(kernel):
    """What is to be called before each launch: the same list for all variants."""
    return getattr(kernel, "pre_run_hooks", [])
''',
    "dt_places": '''\
def dt_places(axes):
    """Where a kernel takes tensors: each is followed by its strides."""
    places = [0]
    for line in axes:
        places.append(places[-1] + 1 + len(line.split()))
    return places[:-1]
''',
    "dt_steps": '''\
def dt_steps(places, axes, names, lines):
    """Where a kernel takes strides between lines, and how long lines are."""
    several = any(len(lengths) > 1 for lengths in axes)
    steps, sizes = [], {}
    for at, lengths, line in zip(places, axes, lines):
        for axis, length in enumerate(lengths):
            if axis != line and length != "-":
                steps.append(at + 1 + axis)
            elif axis == line and length in names and len(lengths) > several:
                sizes[names.index(length)] = None
    return [*steps, *sizes]
''',
    "dt_is_watched": '''\
def dt_is_watched():
    """Whether something that was set in Triton is to see launches, or to change kernels."""
    runtime = triton.knobs.runtime
    first, last = runtime.launch_enter_hook, runtime.launch_exit_hook
    return bool(
        getattr(first, "calls", first)
        or getattr(last, "calls", last)
        or runtime.debug
        or runtime.add_stages_inspection_hook
        or triton.knobs.compilation.instrumentation_mode
    )
''',
    "dt_offset": '''\
def dt_offset(largest, *tensors, sizes=()):
    """The type of offsets and indices: 64 bits only where 32 might not be enough."""
    if largest >= (1 << 30) - (1 << 20):
        # Triton takes a size below 2**31 as 32 bits, and the end of its last tile may be beyond.
        for size in (largest, *sizes, *(size for tensor in tensors for size in tensor.shape)):
            if (1 << 31) - (1 << 20) <= size < 1 << 31:
                raise ValueError(f"a size of {size} is too near to 2**31: split the work")
        return tl.int64
    for tensor in tensors:
        if tensor.untyped_storage().nbytes() >= 1 << 31:
            if sum(n * stride for n, stride in zip(tensor.shape, tensor.stride())) >= 1 << 31:
                return tl.int64
    return tl.int32
''',
    "dt_operator": '''\
def dt_operator(name, run, like, arguments):
    """The wrapper as operators of torch, for torch.compile; the one for `out=` returns nothing."""

    def run_into(out, *given, **named):
        run(*given, out=out, **named)

    def like_into(out, *given, **named):
        pass

    if not hasattr(torch.ops.dtpoly, name):  # this text may be imported more than once
        into = f"(Tensor(a!) out, {arguments}) -> ()"
        new = torch.library.custom_op(
            f"dtpoly::{name}", run, mutates_args=(), schema=f"({arguments}) -> Tensor"
        )
        new.register_fake(like)
        old = torch.library.custom_op(
            f"dtpoly::{name}_out", run_into, mutates_args=("out",), schema=into
        )
        old.register_fake(like_into)
    new, old = getattr(torch.ops.dtpoly, name), getattr(torch.ops.dtpoly, f"{name}_out")

    def call(out, *given, **named):
        if out is None:
            return new.default(*given, **named)
        old.default(out, *given, **named)
        return out

    return call
''',
    "dt_operator_with_numbers": '''\
def dt_operator_with_numbers(name, run, like, arguments, with_tensors):
    """The same where there are numbers: of one in a tensor, nobody knows the value in a graph."""
    call = dt_operator(name, run, like, arguments)
    call_with_tensors = dt_operator(f"{name}_tensors", run, like, with_tensors)
    both = zip(arguments.split(", "), with_tensors.split(", "))
    numbers = [at for at, (one, other) in enumerate(both) if one != other]

    def choose(out, *given, **named):
        if all(isinstance(given[at], (int, float)) for at in numbers):
            return call(out, *given, **named)
        given = list(given)
        for at in numbers:
            dtype = torch.float64 if isinstance(given[at], float) else None
            given[at] = torch.as_tensor(given[at], dtype=dtype)
        return call_with_tensors(out, *given, **named)

    return choose
''',
}

WORD = re.compile(r"\bdt_\w+")


def shared_by(text: str, known: Mapping[str, str] = SHARED) -> list[str]:
    """The parts that a text uses, and those that they use, in a fixed order."""
    needed: set[str] = set()
    pending = [text]
    while pending:
        found = set(WORD.findall(pending.pop())) & known.keys() - needed
        needed |= found
        pending += [known[name] for name in found]
    return [part for name, part in known.items() if name in needed]
