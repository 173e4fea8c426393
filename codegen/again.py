"""Texts of the functions that repeat the launches of an earlier, similar call of a wrapper.

A generated file contains them; `prelude` puts them there. `dt_again` surrounds a wrapper: the first
call of a kind goes through the wrapper, and what it launches is kept. A later call like it makes
the same launches for its own tensors and for new memory, without the work of the wrapper.
"""

AGAIN = {
    "dt_again": '''\
def dt_again(function):
    """A function that does for a call like one before what was launched for that.

    Like calls have tensors of the same shapes, strides and types, on one device, whose addresses
    have the same last bits; and the same numbers. The function looks at nothing else: it would
    launch the same kernels again, for these tensors and new memory.
    """
    if dt_interpreted or not dt_is_direct():
        return function
    driver, known, forward_ad = triton.runtime.driver, {}, torch.autograd.forward_ad
    is_compiling, has_modes = torch.compiler.is_compiling, torch._C._len_torch_dispatch_stack
    transform, gradients = torch._C._functorch.maybe_current_level, torch.is_grad_enabled
    traced, is_under = torch._C._get_tracing_state, torch._C._dispatch_tls_is_dispatch_key_included
    plain, parameter, strided = torch.Tensor, torch.nn.Parameter, torch.strided
    recorded, has_functions = torch._C.DispatchKey.PreDispatch, torch._C._len_torch_function_stack

    def call(*inputs, out=None, **named):
        if out is not None or named or is_compiling() or has_modes() or is_under(recorded):
            return dt_aside(function, *inputs, out=out, **named)
        if transform() is not None or traced() is not None or forward_ad._current_level >= 0:
            return dt_aside(function, *inputs)
        if has_functions() and dt_is_overridden():
            return dt_aside(function, *inputs)
        key, tensors, addresses = [], [], []
        for tensor in inputs:
            kind = type(tensor)
            if kind is plain or kind is parameter:
                if tensor.layout is not strided or tensor.is_neg():
                    return dt_aside(function, *inputs)
                if tensor.requires_grad and gradients():
                    return dt_aside(function, *inputs)
                address = tensor.data_ptr()
                if not address:  # there is nothing in it, or no memory
                    return dt_aside(function, *inputs)
                tensors.append(tensor)
                addresses.append(address)
                key += tensor.shape, tensor.stride(), tensor.dtype, tensor.device, address & 15
            elif kind is int or kind is bool:
                key += kind, tensor
            elif kind is float and tensor == tensor:  # of a NaN the key would not say all bits
                key += kind, tensor.hex()  # 0.0 is equal to -0.0
            else:
                return dt_aside(function, *inputs)
        key = tuple(key)
        found = known.get(key)
        if found is None or dt_is_watched():
            return dt_keep(known, key, function, inputs, tensors)
        device, made, hooks, launches, result = found
        if not dt_is_current(device):
            return dt_aside(function, *inputs)
        for hook in hooks:
            if hook:
                return dt_aside(function, *inputs)
        for shape, strides, dtype in made:
            tensor = dt_empty(shape, strides, dtype)
            address = tensor.data_ptr()
            if address & 15:
                return dt_aside(function, *inputs)
            tensors.append(tensor)
            addresses.append(address)
        stream = driver.active.get_current_stream(device.index)
        for run, kernel, metadata, programs, given, places, parts, _ in launches:
            given = given.copy()
            for at, which in places:
                given[at] = addresses[which]
            for at, part, which in parts:
                given[at : at + 1] = part(tensors[which])
            run(programs, 1, 1, stream, kernel, metadata, None, None, None, *given)
        return tensors[result]

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(call, name, getattr(function, name))
    call.__wrapped__ = function
    return call
''',
    "dt_aside": '''\
def dt_aside(function, /, *inputs, **named):
    """A call of which nothing is kept; nor of a call of the same thread that it interrupts."""
    seen = getattr(dt_seen, "launches", None)
    if seen is not None:
        seen.append(None)
    return function(*inputs, **named)
''',
    "dt_is_overridden": '''\
def dt_is_overridden():
    """Whether a mode may change what functions of torch do, as a default device does not."""
    modes = map(torch._C._get_function_stack_at, range(torch._C._len_torch_function_stack()))
    return any(type(mode).__module__ != "torch.utils._device" for mode in modes)
''',
    "dt_keep": '''\
def dt_keep(known, key, function, inputs, tensors):
    """A call like none before: what it launches is kept, if that may be launched again."""
    if not tensors or not tensors[0].is_cuda or not dt_is_current(tensors[0].device):
        return dt_aside(function, *inputs)
    interrupted, dt_seen.launches = getattr(dt_seen, "launches", None), []
    try:
        out = function(*inputs)
        launches = dt_seen.launches
    finally:
        dt_seen.launches = interrupted
    own = [function.__globals__.get(name) for name in function.__code__.co_names]
    if all(one is not None and one[0] in own for one in launches):
        kept = dt_launches(tensors, out, launches)
        if kept is not None:
            if len(known) >= 4096:
                known.clear()
            known[key] = tensors[0].device, *kept
    return out
''',
    "dt_launches": '''\
def dt_launches(given, out, launches):
    """What is made, launched and returned, with numbers for tensors; None if they have none."""
    tensors = [*given]
    if len({id(tensor) for tensor in tensors}) < len(tensors):
        return None  # it cannot be told which of them a kernel was given
    if not launches and out.numel():
        return None  # something else launches

    def number(tensor):
        for at, one in enumerate(tensors):
            if one is tensor:
                return at
        tensors.append(tensor)
        return len(tensors) - 1

    kept = []
    for _, programs, args, places, found, _ in launches:
        if found is None:
            return None
        _, run, kernel, metadata, parts, rest, compiled = found
        if getattr(run, "global_scratch_size", 0) or getattr(run, "profile_scratch_size", 0):
            return None  # for that, each call asks
        places = [(at, number(args[at])) for at in places]
        parts = [(at, part, number(args[at][0])) for at, part in parts]
        passed = [*args, *rest]
        for at, *_ in (*places, *parts):
            passed[at] = None
        kept.append((run, kernel, metadata, programs, passed, places, parts, compiled))
    launched = {which for *_, places, parts, _ in kept for *_, which in (*places, *parts)}
    if any(one.dim() == 0 and at not in launched for at, one in enumerate(given)):
        return None  # its value is a number, which a like call may have another of
    result, made = number(out), tensors[len(given) :]
    if any(one.data_ptr() & 15 for one in made):
        return None
    made = [(tuple(one.shape), one.stride(), one.dtype) for one in made]
    return made, [hooks for *_, hooks in launches], kept, result
''',
    "dt_empty": '''\
def dt_empty(shape, strides, dtype):
    """Memory on the current GPU: as code that torch.compile makes asks for it, which is faster."""
    make = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", None)
    if make is None:
        return torch.empty_strided(shape, strides, dtype=dtype, device="cuda")
    torch._C._cuda_setDevice(torch._C._cuda_getDevice())  # torch may have put that off
    return make(shape, strides, dtype)
''',
    "dt_seen": """\
dt_seen = threading.local()  # what a call of this thread launches, while that is to be kept
""",
}
