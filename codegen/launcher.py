"""Texts of the functions that launch kernels: they choose the grid, the types and the variant.

`prelude` copies those that a generated file uses into that file.
"""

# Functions about memory, lanes and numbers of programs.
ROOM = {
    "dt_blocks": '''\
def dt_blocks(tensor, block):
    """How a tensor is loaded in blocks: what a descriptor is made of, where there can be one."""
    return tensor, block, range(len(block))
''',
    "dt_blocks_at": '''\
def dt_blocks_at(tensor, block, step):
    """The same, where blocks start at multiples of a number along the last axis.

    Triton's interpreter wants multiples of 16 bytes there: blocks of nothing have no descriptor.
    """
    if dt_interpreted and step * tensor.element_size() % 16:
        block = (*block[:-1], 0)
    return dt_blocks(tensor, block)
''',
    "dt_descriptor": '''\
def dt_descriptor(tensor, block, axes):
    """What loads blocks of a tensor; None where nothing does, or where it is slow."""
    if not dt_interpreted and dt_gpu(tensor.device)[0] < 9:
        return None
    size, strides, shape = tensor.element_size(), tensor.stride(), tensor.shape
    if strides[-1] != 1 or tensor.data_ptr() % 16 or block[-1] * size < 16:
        return None
    if tensor.dtype == torch.bool or not 1 <= min(shape) <= max(shape) < (1 << 31) - (1 << 20):
        return None
    for stride, inner in zip(strides, strides[1:]):
        if stride < inner or stride * size % 16 or stride * size >= 1 << 40:
            return None
    parts = ([part[axis] for axis in axes] for part in (shape, strides, block))
    return triton.tools.tensor_descriptor.TensorDescriptor(tensor, *parts)
''',
    "dt_gpu": '''\
def dt_gpu(device, known={}):
    """The generation of a GPU of NVIDIA, 0 of others; and how many multiprocessors it has."""
    if device not in known:
        found = torch.cuda.get_device_properties(device)
        known[device] = 0 if torch.version.hip else found.major, found.multi_processor_count
    return known[device]
''',
    "dt_turned": '''\
def dt_turned(blocks, axes):
    """The same blocks with their axes in another order."""
    return (*blocks[:2], axes)
''',
    "dt_rows": '''\
def dt_rows(shape, dtype, device):
    """Memory for a tensor whose rows begin at multiples of 16 bytes, long ones at those of 128."""
    *outer, last = shape
    each = (128 if last * dtype.itemsize >= 1024 else 16) // dtype.itemsize
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
    "dt_early": '''\
def dt_early(device):
    """How a kernel is launched that waits for the one before it: early, where a GPU can do that.

    Its programs take the place of those before that have ended, while the last ones still run.
    """
    is_early = not dt_interpreted and dt_gpu(device)[0] >= 9
    return {"early": 1, "launch_pdl": 1} if is_early else {"early": 0}
''',
    "dt_specialized": '''\
def dt_specialized(most, *blocks):
    """Whether some warps load for others: where Triton can do that, and tensor cores multiply.

    They multiply floats of one type, and of 2 bytes, or of as many as are the most: what the first
    two hold. The kernel makes its descriptors itself then, in memory for which Triton asks.
    """
    if any(dt_descriptor(*one) is None for one in blocks):
        return 0
    dtype, device = blocks[0][0].dtype, blocks[0][0].device
    if blocks[1][0].dtype != dtype or not dtype.is_floating_point:
        return 0
    if dtype.itemsize not in (2, most):
        return 0
    if dt_interpreted:
        return 1
    if triton.__version__[:4] not in dt_versions or dt_gpu(device)[0] != 9:
        return 0
    asked = triton.runtime._allocation
    if isinstance(asked._allocator.get(), asked.NullAllocator):
        triton.set_allocator(lambda size, *_: torch.empty(size, dtype=torch.int8, device="cuda"))
    return 1
''',
    "dt_turns": '''\
def dt_turns(name, programs, device, each):
    """The grid of a launch whose programs take blocks in turn: as many as run at once."""
    if programs > (1 << 31) - (1 << 20):
        raise ValueError(
            f"'{name}' has {programs} blocks, and one launch does at most 2146435072: "
            "make them larger, and generate this file again"
        )
    if dt_interpreted:
        return (min(programs, 3),)
    return (min(programs, each * dt_gpu(device)[1], 1 << 20),)
''',
    "dt_turns_sparing": '''\
def dt_turns_sparing(name, programs, device, each, is_last):
    """The same, but some multiprocessors are left to the first kernel of the next panel.

    No more programs than are needed for as many rounds: more would take power, and no time off.
    """
    (most,), spared = dt_turns(name, programs, device, each), dt_spared(device)
    if not spared:
        return (most,)
    most = min(most, each * (dt_gpu(device)[1] - (0 if is_last else spared)))
    rounds = (programs + most - 1) // most
    return ((programs + rounds - 1) // rounds,)
''',
    "dt_turns_beside": '''\
def dt_turns_beside(name, programs, device, each, panel):
    """The same, but on multiprocessors that are left to it, unless nothing runs: at panel 0."""
    (most,), spared = dt_turns(name, programs, device, each), dt_spared(device)
    return (min(most, each * spared) if spared and panel else most,)
''',
    "dt_spared": '''\
def dt_spared(device):
    """How many multiprocessors are left to a kernel that runs beside another one: one of 32."""
    if dt_interpreted or dt_gpu(device)[0] < 9:
        return 0  # none does there
    return dt_gpu(device)[1] // 32
''',
    "dt_part": '''\
def dt_part(tensor, axis, start, size):
    """So many indices of an axis of a tensor: where that is not all, the call is not kept."""
    if start == 0 and size == tensor.shape[axis]:
        return tensor
    seen = getattr(dt_seen, "launches", None)
    if seen is not None:
        seen.append(None)
    return tensor.narrow(axis, start, size)
''',
}

# Functions that choose the variant which a call runs, and run it without Triton's binding.
LAUNCHER = {
    "dt_launcher": '''\
def dt_launcher(kernel, axes, blocks=(), described=None, passed=None):
    """What launches a kernel: as Triton does, or without its binding if it did so for a like call.

    Like calls have the same numbers, types, alignments of addresses, and device: all that Triton
    looks at when it chooses what to run. So it would run the same again, with the same arguments.
    """
    blocks = [kernel.arg_names.index(name) for name in blocks]

    def with_descriptors(args):
        return [described(*arg) if at in blocks else arg for at, arg in enumerate(args)]

    if dt_interpreted:
        return lambda grid, *args, **constants: dt_interpret(
            kernel, grid, with_descriptors(args), constants
        )
    is_direct, driver, known = dt_is_direct(), triton.runtime.driver, {}
    choose = dt_chooser(kernel, axes, blocks)
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
            key[at] = args[at][0].shape  # besides it only what is in the key already
        device = tensor.device
        key.append(device)
        key = tuple(key)
        found = known.get(key)
        if found is None or found[0] != tuple(constants.values()) or hooks or dt_is_watched():
            found = first(grid, args, constants)
            if found is not None:
                if len(known) >= 4096:
                    known.clear()
                known[key] = found
        else:
            _, run, function, metadata, parts, rest, _ = found
            for at, part in parts:
                given[at : at + 1] = part(args[at][0])
            stream = driver.active.get_current_stream(device.index)
            run(grid[0], 1, 1, stream, function, metadata, None, None, None, *given, *rest)
        seen = getattr(dt_seen, "launches", None)
        if seen is not None:
            seen.append((launch, grid[0], args, places, found, hooks))

    def first(grid, args, constants):
        values = tuple(constants.values())
        chosen, args, constants = choose(with_descriptors(args), constants)
        compiled = chosen[grid](*args, **constants)
        is_kept = is_direct and isinstance(compiled, triton.compiler.CompiledKernel)
        if not is_kept or hooks or dt_is_watched():
            return None
        run, parts = compiled.run, []
        if blocks:
            run, parts = passed(run, [(at, args[at]) for at in blocks])
        function, metadata = compiled.function, compiled.packed_metadata
        rest = [constants[name] for name in names[len(args) :]]
        return values, run, function, metadata, parts, rest, compiled

    return launch
''',
    "dt_in_parts": '''\
def dt_in_parts(run, descriptors):
    """What runs a kernel for other tensors like those of descriptors, and what it is passed.

    Triton takes descriptors apart in each launch, and slowly where it does so in Python: they are
    passed in parts then.
    """
    launch = getattr(run, "launch", None)
    names = getattr(getattr(launch, "__code__", None), "co_freevars", ())
    if "tensordesc_indices" not in names:
        return run, [(at, dt_passed(one)) for at, one in reversed(descriptors)]
    inner = dict(zip(names, (cell.cell_contents for cell in launch.__closure__)))
    make, described = launch.__globals__["make_tensordesc_arg"], inner["tensordesc_meta"]
    direct = object.__new__(type(run))
    vars(direct).update(vars(run), launch=inner["launcher"])
    passed = [
        (at, dt_passed(one, lambda one, metadata=metadata: make(one, metadata)))
        for (at, one), metadata in zip(descriptors, described)
    ]
    return direct, passed[::-1]
''',
    "dt_passed": '''\
def dt_passed(descriptor, in_parts=None):
    """What is passed for a tensor in place of a descriptor of another, which differs in no more."""
    if descriptor is None:
        return lambda tensor: (None,)
    kind, kept, known = type(descriptor), {**vars(descriptor), "base": None}, {}

    def passed(tensor):
        address = tensor.data_ptr()
        found = known.get(address)
        if found is None:
            one = object.__new__(kind)
            vars(one).update(kept, base=tensor)
            if in_parts is None:
                return (one,)
            if len(known) >= 64:
                known.clear()
            known[address] = found = in_parts(one)
        return found

    return passed
''',
    "dt_is_direct": '''\
def dt_is_direct():
    """Whether it is known how this version of Triton runs what it has compiled."""
    return torch.version.hip is None and triton.__version__[:4] in dt_versions
''',
    "dt_versions": """\
dt_versions = {"3.6.", "3.7.", "3.8.", "3.9."}
""",
    "dt_chooser": '''\
def dt_chooser(kernel, axes, blocks):
    """How a kernel is called, so that at most eight variants are compiled for a type of inputs.

    Where tensors are contiguous along their last axes: one, one for lines at multiples of four
    numbers, one for aligned ones, and one for aligned ones of whole blocks. One for aligned ones
    with offsets of 64 bits. Two for the first that are contiguous along others, if they are large.
    One for all that is left, with offsets of 64 bits. A truth may be passed as False: kernels test
    then what they would have been spared. Where there are descriptors, they are passed all
    together, or None for each; lines that have them and are not aligned take the place of those at
    multiples of four.
    """
    names, places = kernel.arg_names, dt_places(axes)
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
        is_whole = all(constants[name] for name in flags if name != "fours")
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
            if constants.get("specialized"):
                # Of four warps Triton makes more: as many again, and four that load.
                constants |= {"num_warps": 4} if in_blocks else {"specialized": 0}
            if not in_blocks or constants.get("specialized"):
                args = [None if at in blocks else value for at, value in enumerate(args)]
        is_four = is_flat and is_rows and not is_aligned and constants.get("fours", False)
        is_four = is_four and all(args[at].data_ptr() % 16 == 0 for at in places)
        kept = (*places, *units, *steps) if is_aligned else tuple(units)
        if is_flat and is_rows and (is_aligned or not is_wide):
            is_whole = is_whole and is_aligned and not is_wide
            kept = (*places, *units) if is_four else kept
        elif is_flat and not is_wide and any(args[at].numel() >= 1 << 16 for at in places):
            types = [str(value) for value in constants.values() if not isinstance(value, bool)]
            types += [str(args[at].dtype) for at in places]
            met, one = others.setdefault(tuple(types), {}), (tuple(lines), is_aligned, is_whole)
            met[one] = None
            if [*met].index(one) > 1:
                is_flat = False
        else:
            is_flat = False
        if not is_flat:
            kept, is_whole, is_four = (), False, False
            constants = {**constants, "offset": tl.int64}
        truths = {name: is_four if name == "fours" else is_whole for name in flags}
        return with_facts(kept, len(args)), args, {**constants, **truths}

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
}

OFFSETS = {
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
}
